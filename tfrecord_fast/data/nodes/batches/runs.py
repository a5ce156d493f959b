"""Iterators that put several elements together: batches and windows. See iterators.py for what errors do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any

from ....base.handlers import raised_by_handler
from ....errors import DataLossError, FailedPreconditionError
from ....values.elements.nests import stack
from ..base.turns import Turns

__all__ = ["Batches", "Rebatched", "Windows"]

_END = object()
_TOLD = (DataLossError, FailedPreconditionError)  # wherever they are met, since nothing else may come after them


class Batches(Turns):
    """Stacked runs of elements.

    An error takes the place of its batch: the next call passes over the rest of its elements. Without `passes_over`,
    the next batch starts right after it, as TensorFlow's padded_batch has it; so it does after an element that `check`
    refuses.
    """

    def __init__(
        self,
        elements: Iterator[Any],
        size: int,
        drop_remainder: bool,
        join: Callable[[list[Any]], Any] = stack,
        passes_over: bool = True,
        check: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__()
        self._elements = elements
        self._size = size
        self._drop_remainder = drop_remainder
        self._join = join
        self._check = check
        self._passes_over = passes_over
        self._after_refused: list[Any] = []
        self._missed = 0  # elements that are still to be passed over

    def _next(self) -> Any:
        if self._missed:
            self._pass_over()
        run, self._after_refused = self._after_refused, []
        try:
            run.extend(islice(self._elements, self._size - len(run)))
        except Exception:
            if self._passes_over:
                self._missed = self._size - len(run) - 1
            raise
        if not run or (self._drop_remainder and len(run) < self._size):
            raise StopIteration
        if self._check is not None:
            self._check_all(run, self._check)
        return self._join(run)

    def _check_all(self, run: list[Any], check: Callable[[Any], Any]) -> None:
        for place, element in enumerate(run, 1):
            try:
                check(element)
            except Exception:
                self._after_refused = run[place:]
                raise

    def _pass_over(self) -> None:
        while self._missed:
            self._missed -= 1
            try:
                next(self._elements)
            except StopIteration:
                self._missed = 0
            except Exception as error:
                if isinstance(error, _TOLD) or raised_by_handler(error):
                    raise


class Rebatched(Batches):
    """Stacked runs of elements, whose sizes take turns; a run that was an error is tried again with its size."""

    def __init__(self, elements: Iterator[Any], sizes: list[int], drop_remainder: bool) -> None:
        super().__init__(elements, sizes[0], drop_remainder, passes_over=False)
        self._sizes = cycle([*sizes[1:], sizes[0]])

    def _next(self) -> Any:
        made = super()._next()
        self._size = next(self._sizes)
        return made


class _Failed:
    """In a window's buffer, the place of an element that raised."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Windows(Turns):
    """Lists of `size` elements, `stride` apart, each of which starts `shift` elements after the one before.

    An element that raises has its place like any other: windows that it is in raise its error.
    """

    def __init__(self, elements: Iterator[Any], size: int, shift: int, stride: int, drop_remainder: bool) -> None:
        super().__init__()
        self._elements = elements
        self._size = size
        self._shift = shift
        self._stride = stride
        self._drop_remainder = drop_remainder
        self._buffer: deque[Any] = deque()
        self._ahead = 0  # elements to skip before the next window, if shift is more than a window spans

    def _next(self) -> list[Any]:
        span = (self._size - 1) * self._stride + 1
        while self._ahead and self._element() is not _END:
            self._ahead -= 1
        while len(self._buffer) < span and (element := self._element()) is not _END:
            self._buffer.append(element)
        if not self._buffer or (self._drop_remainder and len(self._buffer) < span):
            raise StopIteration
        window = list(islice(self._buffer, 0, None, self._stride))
        passed = min(self._shift, len(self._buffer))
        for _ in range(passed):
            self._buffer.popleft()
        self._ahead = self._shift - passed
        for element in window:
            if isinstance(element, _Failed):
                raise element.error
        return window

    def _element(self) -> Any:
        try:
            return next(self._elements, _END)
        except Exception as error:
            if raised_by_handler(error):
                raise
            return _Failed(error)
