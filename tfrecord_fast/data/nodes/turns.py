"""How threads share an iterator: they take turns, so that each element is given once, to one of them.

What keeps something from one `next()` to the next takes turns; what does not, such as `map` and `filter` over an
iterator that does, needs none, so that functions are called by several threads at once.
"""

from __future__ import annotations

import os
import threading
import weakref
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

__all__ = ["AnError", "InTurn", "Turns", "take_turns"]


class _Lost:
    """In the place of a lock that a thread held which is not in this process."""

    def __enter__(self) -> None:
        raise RuntimeError(
            "another thread was using this iterator when the process was forked; after a fork, start a new one"
        )

    def __exit__(self, *_: object) -> None:
        pass


_all: weakref.WeakSet[Any] = weakref.WeakSet()


def take_turns(iterator: Any) -> None:
    """Gives it a lock, `_turn`, for which a forked process does not wait in vain."""
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


class Turns(Iterator[Any]):
    """An iterator whose `_next()` is called by one thread at a time, and not by itself.

    Raises:
      RuntimeError: when a function that `next()` calls asks the same iterator for an element.
    """

    def __init__(self) -> None:
        self._turn: Any
        take_turns(self)
        self._inside = False

    def __next__(self) -> Any:
        with self._turn:
            if self._inside:
                raise RuntimeError("a function asked the iterator that is calling it for an element")
            try:
                self._inside = True
                return self._next()
            finally:
                self._inside = False

    @abstractmethod
    def _next(self) -> Any:
        """The next element; raises StopIteration at the end."""


class AnError(Iterator[Any]):
    """No elements, but an error in the place of the first."""

    def __init__(self, error: BaseException) -> None:
        self._error: BaseException | None = error

    def __next__(self) -> Any:
        error, self._error = self._error, None
        if error is None:
            raise StopIteration
        raise error


class InTurn(Turns):
    """The elements of an iterator that several threads could not share by themselves."""

    def __init__(self, elements: Iterator[Any]) -> None:
        super().__init__()
        self._elements = elements

    def _next(self) -> Any:
        return next(self._elements)
