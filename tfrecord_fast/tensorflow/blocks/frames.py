"""Frames: the records of a block that operations work on at the moment."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from ...values.blocks.columns import Column


class NotOnBlocksError(BaseException):
    """A function needs single records. Not an Exception, so that scripts do not catch it."""


class SplitError(BaseException):
    """Python asks for a value that differs among the records.

    Args:
      values: one value per record.
    """

    def __init__(self, values: list[Any]) -> None:
        super().__init__("the records of a block differ in a value that Python asks for")
        self.values = values
        self._frame = current.frame

    def rows(self, frame: Frame) -> list[int]:
        """Return the numbers that the records have in `frame`, from which theirs were selected."""
        within = self._frame
        if within is None:
            raise NotOnBlocksError("a value is asked for outside of the function")
        rows = np.arange(within.count)
        while within is not frame:
            if within.parent is None:
                raise NotOnBlocksError("a value is asked for outside of the function")
            rows, within = within.rows[rows], within.parent
        return rows.tolist()  # type: ignore[no-any-return]


class Call:
    """A call of a script's function on a block.

    Args:
      count: the records of the whole block.
      number: of the function, the iteration and the block, which random numbers depend on.
    """

    def __init__(self, count: int, number: tuple[int, int, int]) -> None:
        self.count = count
        self.number = number
        self.draws = 0  # random operations so far
        self.row_bytes = 0  # of the largest value of a record, in a call for a single one
        self.interruption: BaseException | None = None  # raised, but perhaps caught by the script


class Frame:
    """Some of the records of a block.

    Args:
      parent: the frame that the records are selected from.
      rows: the numbers of the records in the parent.
      is_single: operations get the values of the only record.
    """

    def __init__(
        self, call: Call, rows: npt.NDArray[np.int64], parent: Frame | None = None, is_single: bool = False
    ) -> None:
        self.call = call
        self.parent = parent
        self.rows = rows
        self.count = len(rows)
        self.is_single = is_single
        self._selected: dict[int, tuple[Column, Column]] = {}

    def numbers(self) -> npt.NDArray[np.int64]:
        """Return the numbers of the records in the whole block."""
        return self.rows if self.parent is None else self.parent.numbers()[self.rows]

    def select(self, column: Column, frame: Frame) -> Column:
        """Return the column of a tensor of `frame`, for the records of this frame."""
        if frame is self:
            return column
        if self.parent is None:
            raise NotOnBlocksError("a tensor is used outside of the call that made it")
        known = self._selected.get(id(column))
        if known is None:
            known = self._selected[id(column)] = column, self.parent.select(column, frame).take(self.rows)
        return known[1]

    def interrupt(self, error: BaseException) -> BaseException:
        """Return an error to raise, and keep it in case the script catches it."""
        self.call.interruption = error
        return error


class _Current(threading.local):
    frame: Frame | None = None


current = _Current()


@contextmanager
def entered(frame: Frame | None) -> Iterator[None]:
    """Let operations work on the records of a frame; None: on ordinary tensors."""
    before, current.frame = current.frame, frame
    try:
        yield
    finally:
        current.frame = before


def required() -> Frame:
    """Return the current frame.

    Raises:
      TypeError: a script keeps a tensor and uses it later. Here, as in TensorFlow's graphs, it has no value then.
    """
    frame = current.frame
    if frame is None:
        raise TypeError(_OUT_OF_SCOPE)
    return frame


def needs_records(reason: str) -> BaseException:
    """Return the error for something that needs single records."""
    frame = current.frame
    return TypeError(_OUT_OF_SCOPE) if frame is None else frame.interrupt(NotOnBlocksError(reason))


_OUT_OF_SCOPE = (
    "a tensor of a function of map or filter is used outside of that function: return it from the function, or call "
    "`.numpy()` on it there"
)
