"""Iterators that threads may share: one thread at a time takes an element.

Iterators that keep state from one `next()` to the next take turns. Others, such as `map` and `filter` over an iterator
that takes turns, need no lock, so several threads call their functions at once.
"""

from __future__ import annotations

import os
import threading
import weakref
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from ....base.process import Origin

REENTERED = "next() was called on an iterator from within a function that this iterator is running"


class _Lost:
    """Replacement for a lock that was held by a thread which a fork has left behind."""

    def __enter__(self) -> None:
        raise RuntimeError("another thread was using this iterator when the process forked; create a new iterator")

    def __exit__(self, *_: object) -> None:
        pass


_all: weakref.WeakSet[Any] = weakref.WeakSet()


def take_turns(iterator: Any) -> None:
    """Set the iterator's lock, `_turn`, for which a forked process never waits in vain."""
    iterator._turn = threading.RLock()
    _all.add(iterator)


def _after_fork() -> None:
    for iterator in list(_all):
        turn = iterator._turn
        if isinstance(turn, _Lost):
            continue
        if turn.acquire(blocking=False):
            turn.release()
        else:
            iterator._turn = _Lost()


os.register_at_fork(after_in_child=_after_fork)


def check_process(origin: Origin) -> None:
    """Check that an iterator is used by the process that created it: a fork leaves its threads behind."""
    if not origin.is_here():
        raise RuntimeError("this iterator was created in another process; after a fork, create a new one")


class Turns(Iterator[Any]):
    """An iterator whose `_next()` is called by one thread at a time, and not by itself."""

    def __init__(self) -> None:
        self._turn: Any
        take_turns(self)
        self._inside = False

    def __next__(self) -> Any:
        with self._turn:
            if self._inside:
                raise RuntimeError(REENTERED)
            try:
                self._inside = True
                return self._next()
            finally:
                self._inside = False

    @abstractmethod
    def _next(self) -> Any:
        """Return the next element, or raise StopIteration."""


class Raising(Iterator[Any]):
    """An iterator whose first `next()` raises an error; then it ends."""

    def __init__(self, error: BaseException) -> None:
        self._error: BaseException | None = error

    def __next__(self) -> Any:
        error, self._error = self._error, None
        if error is None:
            raise StopIteration
        raise error


class InTurn(Turns):
    """The elements of an iterator that threads can't share as it is."""

    def __init__(self, elements: Iterator[Any]) -> None:
        super().__init__()
        self._elements = elements

    def _next(self) -> Any:
        return next(self._elements)
