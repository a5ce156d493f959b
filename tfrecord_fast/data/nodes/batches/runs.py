"""Iterators of batches and windows. After an error, `next()` continues, as in TensorFlow."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any

from ....base.handlers import raised_by_handler
from ....errors import DataLossError, FailedPreconditionError
from ....values.elements.nests import stack
from ..base.turns import Turns

_END = object()
_RAISED_ALWAYS = (DataLossError, FailedPreconditionError)  # also from skipped elements: they may be the last error


class Batches(Turns):
    """Stacked runs of elements.

    An error replaces its batch: the next call skips the batch's other elements. Without `skips_rest`, the next batch
    starts right after the error, as in TensorFlow's padded_batch; so it does after an element that `check` rejects.
    """

    def __init__(
        self,
        elements: Iterator[Any],
        size: int,
        drop_remainder: bool,
        join: Callable[[list[Any]], Any] = stack,
        skips_rest: bool = True,
        check: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__()
        self._elements = elements
        self._size = size
        self._drop_remainder = drop_remainder
        self._join = join
        self._check = check
        self._skips_rest = skips_rest
        self._after_rejected: list[Any] = []
        self._missed = 0  # elements still to skip

    def _next(self) -> Any:
        if self._missed:
            self._skip()
        run, self._after_rejected = self._after_rejected, []
        try:
            run.extend(islice(self._elements, self._size - len(run)))
        except Exception:
            if self._skips_rest:
                self._missed = self._size - len(run) - 1
            raise
        if len(run) < self._size:
            self._elements = iter(())  # ask nothing of it again
        if not run or (self._drop_remainder and len(run) < self._size):
            raise StopIteration
        if self._check is not None:
            self._check_all(run, self._check)
        return self._join(run)

    def _check_all(self, run: list[Any], check: Callable[[Any], Any]) -> None:
        for number, element in enumerate(run, 1):
            try:
                check(element)
            except Exception:
                self._after_rejected = run[number:]
                raise

    def _skip(self) -> None:
        while self._missed:
            self._missed -= 1
            try:
                next(self._elements)
            except StopIteration:
                self._missed = 0
            except Exception as error:
                if isinstance(error, _RAISED_ALWAYS) or raised_by_handler(error):
                    raise


class Rebatched(Batches):
    """Stacked runs of elements, whose sizes alternate; after an error, the next run has the same size."""

    def __init__(self, elements: Iterator[Any], sizes: list[int], drop_remainder: bool) -> None:
        super().__init__(elements, sizes[0], drop_remainder, skips_rest=False)
        self._sizes = cycle([*sizes[1:], sizes[0]])

    def _next(self) -> Any:
        batch = super()._next()
        self._size = next(self._sizes)
        return batch


class _Failed:
    """Entry of a window's buffer in place of an element that raised."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Windows(Turns):
    """Lists of `size` elements, `stride` apart, each `shift` elements after the previous one.

    An element that raises counts like any other; its windows raise the error.
    """

    def __init__(self, elements: Iterator[Any], size: int, shift: int, stride: int, drop_remainder: bool) -> None:
        super().__init__()
        self._elements = elements
        self._size = size
        self._shift = shift
        self._stride = stride
        self._drop_remainder = drop_remainder
        self._buffer: deque[Any] = deque()
        self._ahead = 0  # elements to skip before the next window, if `shift` exceeds a window's span

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
