"""Iterators of nodes. After an error, `next()` continues with the element after it, as TensorFlow's do."""

from __future__ import annotations

import random
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from ...values.nests import rows, stack

__all__ = ["Batches", "Chained", "Ignoring", "Interleaved", "Repeated", "Shuffled", "Windowed", "Windows"]

_END = object()


class Batches(Iterator[Any]):
    """Stacked runs of elements."""

    def __init__(
        self,
        elements: Iterator[Any],
        size: int,
        drop_remainder: bool,
        join: Callable[[list[Any]], Any] = stack,
    ) -> None:
        self._elements = elements
        self._size = size
        self._drop_remainder = drop_remainder
        self._join = join

    def __next__(self) -> Any:
        run: list[Any] = []
        try:
            run.extend(islice(self._elements, self._size))
        except Exception:
            # The error takes the place of the batch: the rest of its elements are skipped.
            self._pass_over(self._size - len(run) - 1)
            raise
        if not run or (self._drop_remainder and len(run) < self._size):
            raise StopIteration
        return self._join(run)

    def _pass_over(self, count: int) -> None:
        for _ in range(count):
            try:
                next(self._elements)
            except StopIteration:
                return
            except Exception:
                continue


class Windowed(Iterator[Any]):
    """The elements with the numbers start, start + step, … below stop; an error has no number."""

    def __init__(self, elements: Iterator[Any], start: int, stop: int | None, step: int) -> None:
        self._elements = elements
        self._next = start
        self._stop = stop
        self._step = step
        self._place = 0

    def __next__(self) -> Any:
        if self._stop is not None and self._next >= self._stop:
            raise StopIteration
        while True:
            element = next(self._elements)
            self._place += 1
            if self._place > self._next:
                self._next += self._step
                return element


class Chained(Iterator[Any]):
    """The elements of one iterable of each element, one after the other."""

    def __init__(self, elements: Iterator[Any], open_: Callable[[Any], Iterable[Any]] = rows) -> None:
        self._elements = elements
        self._open = open_
        self._current: Iterator[Any] | None = None

    def __next__(self) -> Any:
        while True:
            if self._current is None:
                self._current = iter(self._open(next(self._elements)))
            element = next(self._current, _END)
            if element is not _END:
                return element
            self._current = None


class Repeated(Iterator[Any]):
    """What `start()` iterates over, `count` times; if that is negative, endlessly, or until it gives no element."""

    def __init__(self, start: Callable[[], Iterator[Any]], count: int) -> None:
        self._start = start
        self._left = count
        self._current: Iterator[Any] | None = None
        self._some = True

    def __next__(self) -> Any:
        while True:
            if self._current is None:
                if self._left == 0 or not self._some:
                    raise StopIteration
                self._left -= 1
                self._some = self._left >= 0  # a bounded repeat asks again if there was nothing
                self._current = self._start()
            element = next(self._current, _END)
            if element is not _END:
                self._some = True
                return element
            self._current = None


class Shuffled(Iterator[Any]):
    """Draws from a buffer of the next `size` elements."""

    def __init__(self, elements: Iterator[Any], size: int, seed: int) -> None:
        self._elements = elements
        self._size = size
        self._below = random.Random(seed).randrange
        self._buffer: list[Any] = []
        self._ended = False

    def __next__(self) -> Any:
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


class Interleaved(Iterator[Any]):
    """`block_length` elements in turn of each of the `cycle_length` iterables that are open at a time."""

    def __init__(
        self, elements: Iterator[Any], open_: Callable[[Any], Iterable[Any]], cycle_length: int, block_length: int
    ) -> None:
        self._elements = elements
        self._open = open_
        self._slots: list[Iterator[Any] | None] = [None] * cycle_length
        self._block_length = block_length
        self._slot = 0
        self._given = 0
        self._ended = False

    def __next__(self) -> Any:
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
        element = next(self._elements, _END) if not self._ended else _END
        if element is _END:
            self._ended = True
            self._advance()
        else:
            self._slots[self._slot] = iter(self._open(element))

    def _advance(self) -> None:
        self._slot = (self._slot + 1) % len(self._slots)
        self._given = 0


class Windows(Iterator[list[Any]]):
    """Lists of `size` elements, `stride` apart, each of which starts `shift` elements after the one before."""

    def __init__(self, elements: Iterator[Any], size: int, shift: int, stride: int, drop_remainder: bool) -> None:
        self._elements = elements
        self._size = size
        self._shift = shift
        self._stride = stride
        self._drop_remainder = drop_remainder
        self._buffer: deque[Any] = deque()
        self._ahead = 0  # elements to skip before the next window, if shift is more than a window spans

    def __next__(self) -> list[Any]:
        span = (self._size - 1) * self._stride + 1
        for _ in islice(self._elements, self._ahead):
            self._ahead -= 1
        self._buffer.extend(islice(self._elements, span - len(self._buffer)))
        if not self._buffer or (self._drop_remainder and len(self._buffer) < span):
            raise StopIteration
        window = list(islice(self._buffer, 0, None, self._stride))
        passed = min(self._shift, len(self._buffer))
        for _ in range(passed):
            self._buffer.popleft()
        self._ahead = self._shift - passed
        return window


class Ignoring(Iterator[Any]):
    """Skips elements that raise when they are made; ends if an error ends the elements below it, too."""

    def __init__(self, elements: Iterator[Any], log_warning: bool) -> None:
        self._elements = elements
        self._log_warning = log_warning

    def __next__(self) -> Any:
        while True:
            try:
                return next(self._elements)
            except StopIteration:
                raise
            except Exception as error:
                if self._log_warning:
                    warnings.warn(f"an element was skipped: {error}", stacklevel=2)
