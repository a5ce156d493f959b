"""Batches made on several threads before they are asked for, in their order."""

from __future__ import annotations

import concurrent.futures
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from ...base.process import Origin

__all__ = ["Ahead"]

_END = object()


class Ahead(Iterator[Any]):
    """`map(make, elements)`, of which up to `most` are made or being made ahead, on `threads` threads.

    An error comes in the place of the element that it is about.
    """

    def __init__(self, elements: Iterator[Any], make: Callable[[Any], Any], threads: int, most: int) -> None:
        self._line = _Line(elements, make)
        self._most = max(most, 1)
        self._pool = concurrent.futures.ThreadPoolExecutor(threads, "tfrecord_fast keras")
        self._asked: list[concurrent.futures.Future[tuple[int, Any]]] = []
        self._made: dict[int, Any] = {}  # by number: those that came before their turn
        self._next = 0
        weakref.finalize(self, _end, self._pool, Origin()).atexit = False

    def __next__(self) -> Any:
        while len(self._asked) + len(self._made) < self._most or not (self._asked or self._made):
            self._asked.append(self._pool.submit(self._line.make_next))
        while self._next not in self._made:
            number, made = self._asked[0].result()  # if a signal ends the wait, nothing is lost
            del self._asked[0]
            self._made[number] = made
        made = self._made.pop(self._next)
        if made is _END:
            self._made[self._next] = _END
            raise StopIteration
        self._next += 1
        if isinstance(made, _Failed):
            raise made.error
        return made


def _end(pool: concurrent.futures.ThreadPoolExecutor, origin: Origin) -> None:
    if origin.is_here():
        pool.shutdown(wait=False, cancel_futures=True)


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

    def make_next(self) -> tuple[int, Any]:
        """The next element that no thread has taken: its number, and what is made of it."""
        with self._lock:
            number = self._taken
            self._taken += 1
            try:
                element = next(self._elements, _END)
            except Exception as error:
                return number, _Failed(error)
        if element is _END:
            return number, _END
        try:
            return number, self._make(element)
        except Exception as error:
            return number, _Failed(error)
