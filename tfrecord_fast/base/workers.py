"""Threads that make calls, and are ended with the process."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from .process import Origin

__all__ = ["NoThreadError", "Workers", "has_started"]

T = TypeVar("T")


class NoThreadError(RuntimeError):
    """The system has no thread for this process."""


def has_started(thread: threading.Thread) -> bool:
    """Start the thread; return False if the system has no more threads for this process."""
    try:
        thread.start()
    except RuntimeError:
        return False
    return True


_Work = SimpleQueue[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]] | None]
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

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Return the future of a call. Raises NoThreadError if there is no thread at all to make it."""
        if self._begun < len(self._threads):
            if has_started(self._threads[self._begun]):
                self._begun += 1
            elif self._begun == 0:
                raise NoThreadError("can't start new thread")
        future: Future[T] = Future()
        self._work.put((future, function, arguments))
        return future

    def map(self, function: Callable[[Any], T], items: Iterable[Any]) -> Iterator[T]:
        """The results in order; all calls are submitted at once."""
        waiting = deque(self.submit(function, item) for item in items)
        return (waiting.popleft().result() for _ in range(len(waiting)))

    def stop(self) -> None:
        """Drops the calls that have not begun; a thread ends when its call has."""
        if not self._origin.is_here():
            return
        with suppress(Empty):
            while True:
                dropped = self._work.get_nowait()
                if dropped is not None:
                    dropped[0].cancel()
        self.end()

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
    while (call := work.get()) is not None:
        future, function, arguments = call
        del call
        try:
            future.set_result(function(*arguments))
        except BaseException as error:
            future.set_exception(error)
        del future, function, arguments  # before it waits


@atexit.register
def _stop_all() -> None:
    """A thread that is in the core when the interpreter ends would take the process down."""
    workers = list(_all)
    for one in workers:
        one.stop()
    for one in workers:
        one.join()
