"""Iterators that nodes share. After an error, `next()` continues with the following element, as in TensorFlow."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ....base.handlers import raised_by_handler
from ....values.elements.nests import kind_of, rows
from .turns import Raising, Turns

_END = object()


class Windowed(Turns):
    """The elements number start, start + step, … below stop; an error has no number."""

    def __init__(self, elements: Iterator[Any], start: int, stop: int | None, step: int) -> None:
        super().__init__()
        self._elements = elements
        self._wanted = start
        self._stop = stop
        self._step = step
        self._position = 0

    def _next(self) -> Any:
        if self._stop is not None and self._wanted >= self._stop:
            raise StopIteration
        while True:
            element = next(self._elements)
            self._position += 1
            if self._position > self._wanted:
                self._wanted += self._step
                return element


class Chained(Turns):
    """The elements of an iterable per element, one iterable after the other."""

    def __init__(self, elements: Iterator[Any], open_: Callable[[Any], Iterable[Any]] = rows) -> None:
        super().__init__()
        self._opened = _opened(elements, open_)
        self._current: Iterator[Any] | None = None

    def _next(self) -> Any:
        while True:
            if self._current is None:
                self._current = next(self._opened, None)
            if self._current is None:
                raise StopIteration
            element = next(self._current, _END)
            if element is not _END:
                return element
            self._current = None


class Repeated(Turns):
    """The elements of `start()`, `count` times. A negative count: endlessly, or until `start()` has no elements.

    With `skips_empty`, an endless repetition ends only if no epoch has had elements.
    """

    def __init__(self, start: Callable[[], Iterator[Any]], count: int, skips_empty: bool = False) -> None:
        super().__init__()
        self._start = start
        self._left = count
        self._skips_empty = skips_empty
        self._current: Iterator[Any] | None = None
        self._some_elements = False

    def _next(self) -> Any:
        while True:
            if self._current is None:
                if self._left == 0 or (self._left < -1 and not self._some_elements):
                    raise StopIteration
                self._left -= 1  # a count also repeats nothing
                self._some_elements = self._some_elements and self._skips_empty
                self._current = self._start()
            element = next(self._current, _END)
            if element is not _END:
                self._some_elements = True
                return element
            self._current = None


class Shuffled(Turns):
    """Elements drawn at random from a buffer of the next `size` ones."""

    def __init__(self, elements: Iterator[Any], size: int, seed: int) -> None:
        super().__init__()
        self._elements = elements
        self._size = size
        self._below = random.Random(seed).randrange
        self._buffer: list[Any] = []
        self._ended = False

    def _next(self) -> Any:
        buffer = self._buffer
        while not self._ended and len(buffer) < self._size:
            element = next(self._elements, _END)
            if element is _END:
                self._ended = True
            else:
                buffer.append(element)
        if not buffer:
            raise StopIteration
        index = self._below(len(buffer))
        buffer[index], buffer[-1] = buffer[-1], buffer[index]
        return buffer.pop()


class Interleaved(Turns):
    """`block_length` elements in turn from each of `cycle_length` open iterables."""

    def __init__(
        self, elements: Iterator[Any], open_: Callable[[Any], Iterable[Any]], cycle_length: int, block_length: int
    ) -> None:
        super().__init__()
        self._opened = _opened(elements, open_)
        self._slots: list[Iterator[Any] | None] = [None] * cycle_length
        self._block_length = block_length
        self._slot = 0
        self._in_block = 0
        self._ended = False

    def _next(self) -> Any:
        while not self._ended or any(slot is not None for slot in self._slots):
            current = self._slots[self._slot]
            if current is None:
                self._fill()
                continue
            element = next(current, _END)
            if element is _END:
                self._slots[self._slot] = None
                self._advance()
                continue
            self._in_block += 1
            if self._in_block == self._block_length:
                self._advance()
            return element
        raise StopIteration

    def _fill(self) -> None:
        opened = None if self._ended else next(self._opened, None)
        if opened is None:
            self._ended = True
            self._advance()
        else:
            self._slots[self._slot] = opened

    def _advance(self) -> None:
        self._slot = (self._slot + 1) % len(self._slots)
        self._in_block = 0


class InterleavedAhead(Interleaved):
    """Like Interleaved, with iterables opened ahead. When one ends, its slot is refilled, and its turn ends.

    If none is left for the slot, its block continues with the next slot, as in TensorFlow.
    """

    _filled = 0  # slots, before the first element

    def _next(self) -> Any:
        while self._filled < len(self._slots):
            self._slot = self._filled
            self._open_next()
            self._filled += 1
            self._slot = 0
        while any(slot is not None for slot in self._slots):
            current = self._slots[self._slot]
            element = _END if current is None else next(current, _END)
            if element is not _END:
                self._in_block += 1
                if self._in_block == self._block_length:
                    self._advance()
                return element
            begun = self._in_block
            if current is not None:
                self._open_next()
            continues = self._slots[self._slot] is None
            self._advance()
            self._in_block = begun if continues else 0
        raise StopIteration

    def _open_next(self) -> None:
        """Fill the slot; an error fills it like an iterable that raises the error."""
        try:
            self._slots[self._slot] = next(self._opened, None)
        except Exception as error:
            if raised_by_handler(error):
                raise
            self._slots[self._slot] = Raising(error)


class Zipped(Turns):
    """Lists of one element per iterator, up to the end of the shortest; an error replaces a whole list."""

    def __init__(self, iterators: list[Iterator[Any]]) -> None:
        super().__init__()
        self._iterators = iterators

    def _next(self) -> list[Any]:
        elements: list[Any] = []
        fault: Exception | None = None
        for iterator in self._iterators:
            try:
                elements.append(next(iterator))
            except StopIteration:
                self._iterators = []
                break
            except Exception as error:
                if raised_by_handler(error):
                    raise
                fault = fault or error
        if fault is not None:
            raise fault
        if not self._iterators:
            raise StopIteration
        return elements


class Concatenated(Turns):
    """The elements of the iterators that `starts` create, one after the other.

    Raises:
      TypeError: an iterator's first element differs in kind from the first iterator's; the iteration ends.
    """

    def __init__(self, starts: Iterable[Callable[[], Iterator[Any]]]) -> None:
        super().__init__()
        self._opened = _opened(starts, lambda start: start())
        self._current: Iterator[Any] | None = None
        self._kind: Any = None
        self._checked = False

    def _next(self) -> Any:
        while True:
            if self._current is None:
                self._current, self._checked = next(self._opened, None), False
            if self._current is None:
                raise StopIteration
            element = next(self._current, _END)
            if element is _END:
                self._current = None
                continue
            if not self._checked:
                self._check(element)
            return element

    def _check(self, element: Any) -> None:
        element_kind = kind_of(element)
        if self._kind is not None and element_kind != self._kind:
            self._current, self._opened = None, iter(())
            raise TypeError(f"Incompatible dataset elements: {self._kind} vs. {element_kind}")
        self._kind, self._checked = element_kind, True


def _opened(elements: Iterable[Any], open_: Callable[[Any], Iterable[Any]]) -> Iterator[Iterator[Any]]:
    """Iterate over `open_(element)` as iterators; after an error of `open_`, with the next element."""
    return map(lambda element: iter(open_(element)), elements)
