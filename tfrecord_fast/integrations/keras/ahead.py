"""Batches made on several threads before they are asked for, in their order."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

from ...base.workers import Workers

__all__ = ["Ahead"]

_END = object()


class Ahead(Iterator[Any]):
    """`map(make, elements)`, of which up to `most` are made or being made ahead, on `threads` threads.

    An error comes in the place of the element that it is about.
    """

    def __init__(self, elements: Iterator[Any], make: Callable[[Any], Any], threads: int, most: int) -> None:
        self._line = _Line(elements, make)
        self._most = max(most, 1)
        self._workers = Workers(threads, "tfrecord_fast keras")
        self._asked = 0  # for so many, of which nothing is known yet; if a signal disturbs the count, it is too low
        self._made: dict[int, Any] = {}  # by number: those that came before their turn
        self._next = 0
        weakref.finalize(self, self._workers.stop).atexit = False

    def __next__(self) -> Any:
        while self._asked + len(self._made) < self._most or not (self._asked or self._made):
            self._workers.submit(self._line.make_next)
            self._asked += 1
        while self._next not in self._made:
            for number, made in self._line.results:  # not `get`: after a call, a signal could take the result away
                self._made[number] = made
                self._asked -= 1
                break
        made = self._made[self._next]
        if made is _END:
            raise StopIteration
        failed = isinstance(made, _Failed)
        del self._made[self._next]  # from here on, there is no call
        self._next += 1
        if failed:
            error = made.error
            del made
            try:
                raise error
            finally:
                del error  # its traceback holds this frame
        return made


class _Failed:
    def __init__(self, error: Exception) -> None:
        self.error = error


class _Line:
    """Where the threads take elements from; it doesn't know who waits for them, so that one that nobody has can end."""

    def __init__(self, elements: Iterator[Any], make: Callable[[Any], Any]) -> None:
        self._elements = elements
        self._make = make
        self._lock = threading.Lock()
        self._taken = 0
        self._results: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        self.results = iter(self._results.get, None)

    def make_next(self) -> None:
        """Takes the next element that no thread has taken, and puts its number and what is made of it into results."""
        with self._lock:
            number = self._taken
            self._taken += 1
            made = self._attempt(next, self._elements, _END)
        if made is not _END and not isinstance(made, _Failed):
            made = self._attempt(self._make, made)
        self._results.put((number, made))
        del made  # the traceback of its error holds this frame, which called the one that it passed

    @staticmethod
    def _attempt(function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            return _Failed(error)
