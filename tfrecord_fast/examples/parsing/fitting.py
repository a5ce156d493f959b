"""Checks that partitions fit the values they cut into rows: each value of a record is in one of its rows, in order.

Without `validate`, rows may end after the last value of the batch, as in TensorFlow: no value is lost or moved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidArgumentError
from ...values.columns.ragged import RaggedTensor, ragged_of
from ..features import KeyedPartition, RaggedFeature

_Integers = npt.NDArray[Any]


def check_fit(partition: KeyedPartition, by: _Integers, count: int, strict: bool, dtype: npt.DTypeLike) -> None:
    """Raise errors.InvalidArgumentError unless the partition `by` of one record fits `count` values.

    If not `strict`, rows may reach past the last value, as in TensorFlow. `dtype` is that of row splits.
    """
    if isinstance(partition, RaggedFeature.RowSplits) and len(by) and by[0] != 0:
        raise InvalidArgumentError(f"invalid partition: row_splits {partition.key!r} must start with 0, got {by[0]}")
    ends = np.array([0, count], dtype)
    check_fits(partition, ragged_of(by, np.array([0, len(by)])), ends, strict)


def check_fits(partition: KeyedPartition, by: RaggedTensor, splits: _Integers, strict: bool) -> None:
    """Check the partitions of several records as `check_fit` does; `splits` are the row splits of their values."""
    name = type(partition).__name__
    if name == "RowSplits":
        by = without_first(by)
    if name == "ValueRowIds":
        _check_row_ids(partition, np.asarray(by.values), splits.dtype)
    counts = np.diff(splits.astype(np.int64))
    room = np.zeros(len(counts), np.int64)  # the distance that rows may reach past the record's last value
    if not strict:
        room[splits[1:] == splits[-1]] = np.iinfo(splits.dtype).max - int(splits[-1])
    wrong = np.nonzero(~_fits(name, by, counts, room))[0]
    if len(wrong):
        row = int(wrong[0])
        raise InvalidArgumentError(f"invalid partition: {_misfit(partition, np.asarray(by[row]), int(counts[row]))}")


def _check_row_ids(partition: KeyedPartition, ids: _Integers, dtype: np.dtype[Any]) -> None:
    """Refuse ids beyond the dtype of row splits, which would wrap to those of other rows."""
    most = np.iinfo(dtype).max  # the number of rows is one more than the last id
    too_large = ids[ids >= most]
    if len(too_large):
        raise InvalidArgumentError(
            f"invalid partition: ValueRowIds {partition.key!r} must be below {most}, as row splits are {dtype.name}, "
            f"got {too_large[0]}"
        )


def _misfit(partition: KeyedPartition, by: _Integers, count: int) -> str:
    values: list[int] = by.tolist()
    if isinstance(partition, RaggedFeature.RowLengths) and min(values, default=0) >= 0:
        return f"row_lengths must sum to {count}, the number of values, got {sum(values)}"
    shown = ", ".join(map(str, values[:10])) + (", …" if len(values) > 10 else "")
    after = " after the first" if isinstance(partition, RaggedFeature.RowSplits) else ""
    return f"{type(partition).__name__} {partition.key!r} does not fit {count} values: [{shown}]{after}"


def _fits(name: str, by: RaggedTensor, counts: _Integers, room: _Integers) -> npt.NDArray[np.bool_]:
    """Return for each record whether its partition of class `name` fits."""
    values = np.asarray(by.values, np.int64)
    lengths = by.row_lengths().astype(np.int64)
    row_of = np.repeat(np.arange(len(lengths)), lengths)
    if name == "RowLengths":
        inside = _all((values >= 0) & (values <= (counts + room)[row_of]), row_of, len(lengths))
        sums = np.zeros(len(lengths))  # floats don't overflow, and are exact where it matters
        np.add.at(sums, row_of, np.where(inside[row_of], values, 0))
        return np.asarray(inside & (sums >= counts) & (sums <= counts + room))
    ascends = np.ones(len(values), np.bool_)
    ascends[1:] = (values[1:] >= values[:-1]) | (row_of[1:] != row_of[:-1])
    fits = _all(ascends, row_of, len(lengths))
    if name == "ValueRowIds":
        return np.asarray(fits & (lengths == counts) & _all(values >= 0, row_of, len(lengths)))
    full = lengths > 0
    fits &= full | (counts == 0)
    first, last = values[by.row_starts()[full]], values[by.row_limits()[full] - 1]
    reaches = last <= (counts + room)[full]
    fits[full] &= reaches & (first == 0 if name == "RowStarts" else (first >= 0) & (last >= counts[full]))
    return fits


def _all(flags: npt.NDArray[np.bool_], row_of: _Integers, rows: int) -> npt.NDArray[np.bool_]:
    result = np.ones(rows, np.bool_)
    result[row_of[~flags]] = False
    return result


def without_first(by: RaggedTensor) -> RaggedTensor:
    lengths = by.row_lengths()
    keep = np.ones(len(by.values), dtype=bool)
    keep[by.row_starts()[lengths > 0]] = False
    return RaggedTensor.from_row_lengths(by.values[keep], np.maximum(lengths - 1, 0), validate=False)
