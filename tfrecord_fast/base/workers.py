"""Threads of Python: daemons that are told to end when the process does, and pools of them that make calls."""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from .process import Origin
from .ranks import dividing, is_dividing

T = TypeVar("T")

_AFTER_STOPPED = 0.5  # seconds


class NoThreadError(RuntimeError):
    """The system has no thread for this process."""


class Stopped(BaseException):
    """Raised at exit in a thread that does not end by itself."""


def start_thread(
    target: Callable[..., None],
    *arguments: Any,
    name: str,
    stop: Callable[[], None] = lambda: None,
    patience: float | None = None,
) -> threading.Thread:
    """Start a daemon thread, which is ended at exit.

    Args:
      stop: tells the thread to end. It keeps what it holds alive as long as the thread lives.
      patience: how many seconds the thread is waited for at exit; then `Stopped` is raised in it. None: until it ends.

    Raises:
      NoThreadError: the system has no more threads for this process.
    """
    thread = threading.Thread(target=_run, args=(target, arguments, is_dividing()), name=name, daemon=True)
    _running[thread] = stop, patience
    try:
        thread.start()
    except RuntimeError:
        del _running[thread]
        raise NoThreadError("can't start new thread") from None
    return thread


def _run(target: Callable[..., None], arguments: tuple[Any, ...], is_divided: bool) -> None:
    try:
        with suppress(Stopped), dividing(is_divided):
            target(*arguments)
    finally:
        _running.pop(threading.current_thread(), None)


_running: dict[threading.Thread, tuple[Callable[[], None], float | None]] = {}
os.register_at_fork(after_in_child=_running.clear)
_ending = False


def is_ending() -> bool:
    """Return True once the interpreter ends, so that waiting for other threads is in vain."""
    return _ending


@atexit.register
def _stop_all() -> None:
    """End all threads. One that is in the core when the interpreter ends would take the process down."""
    global _ending
    _ending = True
    running, began = list(_running.items()), time.monotonic()
    for _, (stop, _) in running:
        stop()
    started = [(thread, patience) for thread, (_, patience) in running if thread.ident is not None]
    for thread, patience in started:
        thread.join(None if patience is None else max(0.0, began + patience - time.monotonic()))
    alive = [thread for thread, _ in started if thread.is_alive()]
    for thread in alive:  # it makes an element that takes long, or never comes
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Stopped))
    until = time.monotonic() + _AFTER_STOPPED
    for thread in alive:
        thread.join(max(0.0, until - time.monotonic()))


_Work = SimpleQueue[tuple[Any, ...] | None]  # of `make_call`'s arguments


class Workers:
    """Up to `most` threads that make calls in the order in which they are submitted.

    They hold nothing of their owner, which can stop them when it is dropped.
    """

    def __init__(self, most: int, name: str, patience: float | None = None) -> None:
        self._most, self._name, self._patience = most, name, patience
        self._work: _Work = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._origin = Origin()

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Return the future of a call; for one thread at a time."""
        number = len(self._threads)
        if number < self._most:
            name = f"{self._name}_{number}"
            try:
                thread = start_thread(_make_calls, self._work, name=name, stop=self.stop, patience=self._patience)
                self._threads.append(thread)
            except NoThreadError:
                if number == 0:
                    raise
        future: Future[T] = Future()
        self._work.put((future, function, *arguments))
        return future

    def map(self, function: Callable[[Any], T], items: Iterable[Any]) -> Iterator[T]:
        """Return the results in order. All calls are submitted at once; without any thread, they are made here."""
        items = list(items)
        try:
            waiting = deque(self.submit(function, item) for item in items)
        except NoThreadError:
            return map(function, items)
        return (waiting.popleft().result() for _ in items)

    def stop(self) -> None:
        """Cancel the calls that have not begun; a thread ends when its call has."""
        if not self._origin.is_here():
            return
        with suppress(Empty):
            while True:
                call = self._work.get_nowait()
                if call is not None:
                    call[0].cancel()
        self.end()

    def end(self) -> None:
        """Let threads end when all calls are made; there will be no more."""
        self._work.put(None)

    def join(self) -> None:
        """Wait until the threads have ended; they have been stopped."""
        for thread in self._threads if self._origin.is_here() else []:
            thread.join()


def _make_calls(work: _Work) -> None:
    while (call := work.get()) is not None:
        make_call(*call)
        del call  # before it waits
    work.put(None)  # for the next thread: one may have started whose start a signal handler interrupted


def make_call(future: Future[T], function: Callable[..., T], *arguments: Any) -> None:
    """Make a call, and put into its future what it returns or raises."""
    try:
        future.set_result(function(*arguments))
    except Stopped:
        raise
    except BaseException as error:
        future.set_exception(error)
