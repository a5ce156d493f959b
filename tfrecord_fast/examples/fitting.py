"""Whether partitions fit the values they cut into rows: each value of a record in one of its rows, and in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidArgumentError
from ..values.ragged import RaggedTensor, ragged_of
from .features import KeyedPartition, RaggedFeature

__all__ = ["check_fit", "check_fits", "without_first"]

_Integers = npt.NDArray[Any]


def check_fit(partition: KeyedPartition, by: _Integers, count: int) -> None:
    """Raises errors.InvalidArgumentError unless the partition `by` of one record makes rows of `count` values."""
    if isinstance(partition, RaggedFeature.RowSplits) and len(by) and by[0] != 0:
        raise InvalidArgumentError(f"invalid partition: row_splits must start with 0, {partition.key!r} with {by[0]}")
    check_fits(partition, ragged_of(by, np.array([0, len(by)])), np.array([count]))


def check_fits(partition: KeyedPartition, by: RaggedTensor, counts: _Integers) -> None:
    """As `check_fit`, for the partitions of several records, whose numbers of values are `counts`."""
    kind = type(partition).__name__
    if kind == "RowSplits":
        by = without_first(by)
    wrong = np.nonzero(~_fits(kind, by, counts.astype(np.int64)))[0]
    if len(wrong):
        row = int(wrong[0])
        shown = np.asarray(by[row])[:10].tolist()
        more = ", …" if len(by[row]) > 10 else ""
        raise InvalidArgumentError(
            f"invalid partition: {kind} {partition.key!r} does not fit {counts[row]} values: "
            f"{str(shown)[:-1]}{more}]{' after the first' if kind == 'RowSplits' else ''}"
        )


def _fits(kind: str, by: RaggedTensor, counts: _Integers) -> npt.NDArray[np.bool_]:
    """Of each record."""
    values = np.asarray(by.values, np.int64)
    lengths = by.row_lengths().astype(np.int64)
    row_of = np.repeat(np.arange(len(lengths)), lengths)
    if kind == "RowLengths":
        inside = _all(~((values < 0) | (values > counts[row_of])), row_of, len(lengths))
        sums = np.zeros(len(lengths), np.int64)
        np.add.at(sums, row_of, np.where(inside[row_of], values, 0))
        return np.asarray(inside & (sums == counts))
    ascends = np.ones(len(values), np.bool_)
    ascends[1:] = (values[1:] >= values[:-1]) | (row_of[1:] != row_of[:-1])
    fits = _all(ascends, row_of, len(lengths))
    if kind == "ValueRowIds":
        return np.asarray(fits & (lengths == counts) & _all(values >= 0, row_of, len(lengths)))
    full = lengths > 0
    fits &= full | (counts == 0)
    first, last = values[by.row_starts()[full]], values[by.row_limits()[full] - 1]
    ends = (first == 0) & (last <= counts[full]) if kind == "RowStarts" else (first >= 0) & (last == counts[full])
    fits[full] &= ends
    return fits


def _all(flags: npt.NDArray[np.bool_], row_of: _Integers, rows: int) -> npt.NDArray[np.bool_]:
    """Of each row, whether all of its flags are set."""
    result = np.ones(rows, np.bool_)
    result[row_of[~flags]] = False
    return result


def without_first(by: RaggedTensor) -> RaggedTensor:
    """The rows, each without its first value."""
    lengths = by.row_lengths()
    keep = np.ones(len(by.values), dtype=bool)
    keep[by.row_starts()[lengths > 0]] = False
    return RaggedTensor.from_row_lengths(by.values[keep], np.maximum(lengths - 1, 0), validate=False)
