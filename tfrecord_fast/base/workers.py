"""Threads that are started and waited for by a thread in which handlers of signals run.

Handlers run on the main thread, after any call, and what they raise (KeyboardInterrupt, say) leaves `Thread.start`, a
ThreadPoolExecutor or a Future half done: threads that nobody ends at exit, or that never start. Here they can raise
anywhere: a thread is started by another one, and what is waited for is in a queue.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from .process import Origin

__all__ = ["NoThreadError", "Pending", "Workers", "has_started"]

T = TypeVar("T")


class NoThreadError(RuntimeError):
    """The system has no thread for this process."""


def has_started(thread: threading.Thread) -> bool:
    """After starting it, or finding it started; False if the system has no more threads for this process.

    If a handler's exception comes out, the thread starts or does not: ask again.
    """
    if threading.current_thread() is not threading.main_thread():
        return _start(thread)
    started = Pending(_start, (thread,))
    try:
        _thread.start_new_thread(started.make, ())
    except _thread.error:
        return False
    return started.result()


_starting = threading.Lock()  # taken by threads in which no handlers run


def _after_fork() -> None:
    global _starting
    _starting = threading.Lock()  # a thread that is not in this process may have held it


os.register_at_fork(after_in_child=_after_fork)


def _start(thread: threading.Thread) -> bool:
    with _starting:
        if thread.ident is None:
            try:
                thread.start()
            except RuntimeError:
                return False
    return True


class Pending(Generic[T]):
    """What a call will have given."""

    def __init__(self, function: Callable[..., T], arguments: tuple[Any, ...]) -> None:
        self._call: tuple[Callable[..., T], tuple[Any, ...]] | None = (function, arguments)
        self._outcome: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self._outcomes = iter(self._outcome.get, None)
        self._known: tuple[Any, BaseException | None] | None = None

    def make(self) -> None:
        """Makes the call; what it was made of is dropped."""
        assert self._call is not None
        (function, arguments), self._call = self._call, None
        try:
            self._outcome.put((function(*arguments), None))
        except BaseException as error:
            self._outcome.put((None, error))
            del self, function, arguments  # the error's traceback holds this frame

    def drop(self) -> None:
        """The call is not made: whoever waits for it gets an error."""
        self._call = None
        self._outcome.put((None, RuntimeError("the call was dropped before it began")))

    def result(self) -> T:
        """What the call gave or raised, when it has ended; if a signal ends the wait, ask again. For one thread."""
        if self._known is None:
            for outcome in self._outcomes:  # not `get`: after a call, a signal could take the outcome away
                self._known = outcome
                del outcome
                break
        assert self._known is not None
        result, error = self._known
        if error is not None:
            try:
                raise error
            finally:
                del self, result, error
        return result  # type: ignore[no-any-return]


_Work = SimpleQueue[Pending[Any] | None]
_all: weakref.WeakSet[Workers] = weakref.WeakSet()


class Workers:
    """Up to `most` threads that make calls in the order in which they come in; at exit, calls that run are waited for.

    Threads hold nothing of their owner, so that one that nobody has can stop them.
    """

    def __init__(self, most: int, name: str) -> None:
        self._work: _Work = SimpleQueue()
        self._threads = [
            threading.Thread(target=_make_all, args=(self._work,), name=f"{name}_{number}", daemon=True)
            for number in range(most)
        ]
        self._begun = 0  # of the threads, the first ones
        self._origin = Origin()
        _all.add(self)

    def submit(self, function: Callable[..., T], *arguments: Any) -> Pending[T]:
        """Raises NoThreadError if there is no thread at all to make the call."""
        if self._begun < len(self._threads):
            if has_started(self._threads[self._begun]):
                self._begun += 1
            elif self._begun == 0:
                raise NoThreadError("can't start new thread")
        pending = Pending(function, arguments)
        self._work.put(pending)
        return pending

    def map(self, function: Callable[[Any], T], items: Iterable[Any]) -> Iterator[T]:
        """The results in order; all calls are submitted at once."""
        waiting = deque(self.submit(function, item) for item in items)
        return (waiting.popleft().result() for _ in range(len(waiting)))

    def stop(self) -> None:
        """Drops the calls that have not begun; a thread ends when its call has."""
        if not self._origin.is_here():
            return
        with contextlib.suppress(Empty):
            while True:
                dropped = self._work.get_nowait()
                if dropped is not None:
                    dropped.drop()
        for _ in self._threads:
            self._work.put(None)

    def end(self) -> None:
        """There are no more calls: threads end when those that came in are made."""
        for _ in self._threads:
            self._work.put(None)

    def join(self) -> None:
        """Waits until the threads have ended; they have been stopped."""
        for thread in self._threads if self._origin.is_here() else []:
            if thread.ident is not None:
                thread.join()


def _make_all(work: _Work) -> None:
    while (pending := work.get()) is not None:
        pending.make()
        del pending  # before it waits


@atexit.register
def _stop_all() -> None:
    """A thread that is in the core when the interpreter ends would take the process down."""
    workers = list(_all)
    for one in workers:
        one.stop()
    for one in workers:
        one.join()
