"""Iterators of nodes. After an error, `next()` continues with the element after it, as TensorFlow's do."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ....base.handlers import raised_by_handler
from ....errors import InvalidArgumentError
from ....values.elements.nests import kind_of, normalize, rows
from ....values.elements.owned import read_only, renewed, snapshot, writable
from .turns import Raising, Turns

__all__ = [
    "Chained",
    "Concatenated",
    "Filling",
    "Interleaved",
    "InterleavedAhead",
    "Repeated",
    "Scanned",
    "Shuffled",
    "Windowed",
    "Zipped",
]

_END = object()


class Windowed(Turns):
    """The elements with the numbers start, start + step, … below stop; an error has no number."""

    def __init__(self, elements: Iterator[Any], start: int, stop: int | None, step: int) -> None:
        super().__init__()
        self._elements = elements
        self._wanted = start
        self._stop = stop
        self._step = step
        self._place = 0

    def _next(self) -> Any:
        if self._stop is not None and self._wanted >= self._stop:
            raise StopIteration
        while True:
            element = next(self._elements)
            self._place += 1
            if self._place > self._wanted:
                self._wanted += self._step
                return element


class Chained(Turns):
    """The elements of one iterable of each element, one after the other."""

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
    """What `start()` iterates over, `count` times; if that is negative, endlessly, or until it gives no element."""

    def __init__(self, start: Callable[[], Iterator[Any]], count: int) -> None:
        super().__init__()
        self._start = start
        self._left = count
        self._current: Iterator[Any] | None = None
        self._some = True

    def _next(self) -> Any:
        while True:
            if self._current is None:
                if self._left == 0 or not self._some:
                    raise StopIteration
                self._left, self._some = self._left - 1, self._left > 0  # a bounded repeat also repeats nothing
                self._current = self._start()
            element = next(self._current, _END)
            if element is not _END:
                self._some = True
                return element
            self._current = None


class Shuffled(Turns):
    """Draws from a buffer of the next `size` elements."""

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
        place = self._below(len(buffer))
        buffer[place], buffer[-1] = buffer[-1], buffer[place]
        return buffer.pop()


class Interleaved(Turns):
    """`block_length` elements in turn of each of the `cycle_length` iterables that are open at a time."""

    def __init__(
        self, elements: Iterator[Any], open_: Callable[[Any], Iterable[Any]], cycle_length: int, block_length: int
    ) -> None:
        super().__init__()
        self._opened = _opened(elements, open_)
        self._slots: list[Iterator[Any] | None] = [None] * cycle_length
        self._block_length = block_length
        self._slot = 0
        self._given = 0
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
            self._given += 1
            if self._given == self._block_length:
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
        self._given = 0


class InterleavedAhead(Interleaved):
    """The same, where iterables are opened before their turn: one that ends gives its place, and its turn is over.

    If there is none for its place, the block that it began goes on with the next one, as in TensorFlow.
    """

    _filled = 0  # of the places, before the first element

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
                self._given += 1
                if self._given == self._block_length:
                    self._advance()
                return element
            begun = self._given
            if current is not None:
                self._open_next()
            goes_on = self._slots[self._slot] is None
            self._advance()
            self._given = begun if goes_on else 0
        raise StopIteration

    def _open_next(self) -> None:
        """Fill the slot; an error has its place, as an iterable that raises it would have."""
        try:
            self._slots[self._slot] = next(self._opened, None)
        except Exception as error:
            if raised_by_handler(error):
                raise
            self._slots[self._slot] = Raising(error)


class Zipped(Turns):
    """Lists of the elements of several iterators side by side, up to the end of the shortest.

    An error takes the place of a whole list, so that the others stay side by side.
    """

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
    """The elements of iterators that `starts` start, one after the other.

    Raises:
      TypeError: when an iterator's first element is not of the kind of the first iterator's; that is the end.
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
        kind = kind_of(element)
        if self._kind is not None and kind != self._kind:
            self._current, self._opened = None, iter(())
            raise TypeError(f"Incompatible dataset elements: {self._kind} vs. {kind}")
        self._kind, self._checked = kind, True


class Scanned(Turns):
    """The results of `function(state, element)`, which gives the next state and a result.

    What it gives and takes is its own: a state may be written to, and given as a result, too.
    """

    def __init__(self, elements: Iterator[Any], state: Any, function: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self._elements = elements
        self._state = snapshot(state)
        self._function = function

    def _next(self) -> Any:
        pair = tuple(self._function(writable(self._state), next(self._elements)))
        if len(pair) != 2:
            raise InvalidArgumentError(f"the function of scan must return a state and a result, got {len(pair)} values")
        state, result = normalize(pair)
        self._state = snapshot(state)
        return result


class Filling(Turns):
    """Elements that are kept: `keep` is called with the list of them once `is_last` says so, or there are no more.

    What raises is not kept, as in TensorFlow.

    Args:
      is_last: whether the element of a number, from 1 on, is known to be the last; asked when it has come.
    """

    def __init__(
        self, elements: Iterator[Any], is_last: Callable[[int], bool], keep: Callable[[list[Any]], None]
    ) -> None:
        super().__init__()
        self._elements = elements
        self._is_last = is_last
        self._keep = keep
        self._kept: list[Any] = []

    def _next(self) -> Any:
        for element in self._elements:
            kept = read_only(element)
            self._kept.append(kept)
            if self._is_last(len(self._kept)):
                self._keep(self._kept)
            return renewed(kept)
        self._keep(self._kept)
        raise StopIteration


def _opened(elements: Iterable[Any], open_: Callable[[Any], Iterable[Any]]) -> Iterator[Iterator[Any]]:
    """Return the iterators of what `open_` makes of the elements. An element with which it fails is skipped."""
    return map(lambda element: iter(open_(element)), elements)
