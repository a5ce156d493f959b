"""Cuts the values of a RaggedFeature into inner rows by its partitions.

Partitions count within each record, so for a batch they are shifted to count in the values of all records. The results
are TensorFlow's, with one exception: a partition that does not fit the values of its record always raises. TensorFlow
without `validate=True` would lose or repeat values, or move them to another record.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...dtypes import as_dtype
from ...errors import InvalidArgumentError
from ...typing import Column, Records
from ...values.columns.ragged import RaggedTensor, ragged_of
from ..features import KeyedPartition, Partition, RaggedFeature
from .fitting import check_fit, check_fits, without_first


class _TooManyRows(InvalidArgumentError):
    """All records together have too many rows, so the error names none of them."""


class RowError(Exception):
    """A record that does not fit, found while composing results. The caller has the batch to locate it."""

    def __init__(self, key: object, row: int, message: str) -> None:
        super().__init__(key, row, message)
        self.row = row
        self.text = f"feature {key!r}: {message}"

    def located(self, records: Records | None) -> InvalidArgumentError:
        """Return the error to raise. With records, it names the file and the record, as the core's errors do."""
        if records is not None:
            try:
                _core.fail_at(records, self.row, self.text)
            except InvalidArgumentError as error:
                return error
        return InvalidArgumentError(self.text)


def partition_single(key: object, feature: RaggedFeature, values: Column, results: dict[Any, Column]) -> Column:
    dtype = as_dtype(feature.row_splits_dtype).as_numpy_dtype
    try:
        for partition in reversed(feature.partitions):
            if isinstance(values, RaggedTensor) and not len(values.row_splits):
                raise InvalidArgumentError("a nested ragged dimension has empty row_splits")
            if isinstance(partition, KeyedPartition):
                check_fit(partition, np.asarray(results[partition.key]), len(values), feature.validate, dtype)
            if isinstance(partition, RaggedFeature.UniformRowLength):
                length = _uniform_length(partition, dtype)
                if isinstance(values, RaggedTensor):
                    values = RaggedTensor.from_uniform_row_length(values, length, dtype)
                else:
                    values = _reshape(values, length, single=True)
            else:
                by: Any = np.asarray(results[partition.key]).astype(dtype)
                values = _MAKERS[type(partition).__name__](values, by, feature.validate)
    except InvalidArgumentError as error:
        raise RowError(key, 0, str(error)) from None
    return values


def partition_batch(
    key: object, feature: RaggedFeature, values: RaggedTensor, results: dict[Any, Column], item: str
) -> RaggedTensor:
    """Cut the values of a batch of records into rows. With "step" as `item`, it is the steps of one record."""
    try:
        return _partition(feature, values, results, feature.validate)
    except _TooManyRows as error:
        raise InvalidArgumentError(f"feature {key!r}: {error}") from None
    except InvalidArgumentError as error:
        keys = [partition.key for partition in feature.partitions if isinstance(partition, KeyedPartition)]
        for row in range(len(values)):  # find the row that the error is about
            alone = slice(row, row + 1)
            try:
                _partition(feature, values[alone], {name: results[name][alone] for name in keys}, strict=True)
            except InvalidArgumentError as cause:
                raise (
                    RowError(key, 0, f"step {row}: {cause}") if item == "step" else RowError(key, row, str(cause))
                ) from None
        raise InvalidArgumentError(f"feature {key!r}: {error}") from None


def _partition(feature: RaggedFeature, values: RaggedTensor, results: dict[Any, Column], strict: bool) -> RaggedTensor:
    outer = None
    rows: Any = values
    if rows.ragged_rank > 1:
        outer = rows.row_splits
        rows = rows.values
    for partition in reversed(feature.partitions):
        by: Any = None
        if not isinstance(partition, RaggedFeature.UniformRowLength):
            by = results[partition.key]
            if outer is not None:
                if not np.array_equal(outer, by.row_splits):
                    raise InvalidArgumentError(
                        f"values and partitions are not aligned: expected {outer[-1]} steps in {partition.key!r}, "
                        f"got {by.row_splits[-1]}"
                    )
                by = by.values
            if len(by) != len(rows):
                raise InvalidArgumentError(f"expected a partition of {len(rows)} rows, got {len(by)}")
            check_fits(partition, by, rows.row_splits, strict)
            by = ragged_of(by.values.astype(rows.row_splits.dtype, copy=False), by.row_splits)
        rows = _cut(partition, rows, by, feature.validate)
    return rows if outer is None else ragged_of(rows, outer)


def _cut(partition: Partition, rows: RaggedTensor, by: RaggedTensor | None, validate: bool) -> RaggedTensor:
    name = type(partition).__name__
    if isinstance(partition, RaggedFeature.UniformRowLength) or by is None:
        assert isinstance(partition, RaggedFeature.UniformRowLength)
        return _cut_uniform(_uniform_length(partition, rows.row_splits.dtype), rows, validate)
    if name == "RowSplits":
        by = without_first(by)
    if name in ("RowSplits", "RowLimits"):
        limits = by.values + np.repeat(rows.row_starts(), by.row_lengths())
        return ragged_of(RaggedTensor.from_row_limits(rows.values, limits, validate), by.row_splits)
    if name == "RowStarts":
        starts = by.values + np.repeat(rows.row_starts(), by.row_lengths())
        return ragged_of(RaggedTensor.from_row_starts(rows.values, starts, validate), by.row_splits)
    if name == "RowLengths":
        return ragged_of(RaggedTensor.from_row_lengths(rows.values, by.values, validate), by.row_splits)
    counts = _row_counts(by)
    before = np.cumsum(counts, dtype=counts.dtype) - counts
    rowids = by.values + np.repeat(before, by.row_lengths())
    inner = RaggedTensor.from_value_rowids(rows.values, rowids, validate)
    return RaggedTensor.from_row_lengths(inner, counts, validate)


def _row_counts(by: RaggedTensor) -> npt.NDArray[Any]:
    """Return the number of rows that the ids of each record make; the sum must fit the dtype of row splits."""
    dtype = by.values.dtype
    count = np.zeros(len(by), np.int64)
    full = np.nonzero(by.row_lengths() > 0)[0]
    if len(full):
        count[full] = np.maximum(np.maximum.reduceat(by.values, by.row_splits[full]).astype(np.int64) + 1, 0)
    total = count.sum(dtype=float)  # which does not wrap
    if total > np.iinfo(dtype).max:
        raise _TooManyRows(
            f"the row ids make {total:.0f} rows, but row splits of {dtype.name} count up to {np.iinfo(dtype).max}"
        )
    return count.astype(dtype)


def _uniform_length(partition: RaggedFeature.UniformRowLength, dtype: npt.DTypeLike) -> int:
    length, most = int(partition.length), int(np.iinfo(dtype).max)
    if length > most:
        raise InvalidArgumentError(
            f"a uniform row length must be at most {most}, as row splits are {np.dtype(dtype).name}, got {length}"
        )
    return length


def _cut_uniform(length: int, rows: RaggedTensor, validate: bool) -> RaggedTensor:
    if length <= 0:
        raise InvalidArgumentError(f"a uniform row length must be positive, got {length}")
    lengths = rows.row_lengths()
    if (lengths % length).any():
        count = lengths[np.nonzero(lengths % length)[0][0]]
        raise InvalidArgumentError(f"{count} values cannot be cut into rows of {length}")
    splits = rows.row_splits // rows.row_splits.dtype.type(length)
    if rows.ragged_rank > 1:
        inner: Any = RaggedTensor.from_uniform_row_length(rows.values, length, rows.row_splits.dtype.type, validate)
    else:
        inner = _reshape(rows.values, length)
    return RaggedTensor.from_row_splits(inner, splits, validate)


def _reshape(values: Any, length: int, single: bool = False) -> Any:
    count = len(values)
    inner = (length, *values.shape[1:])
    if single and length >= 0 and 0 in inner and not values.size:
        # For one record, TensorFlow ignores the dimensions that are 0; for a batch it divides by the length.
        return values.reshape((_product(values.shape) // _product(inner), *inner))
    if length <= 0 or count % length:
        raise InvalidArgumentError(f"{count} values cannot be cut into rows of {length}")
    return values.reshape((count // length, *inner))


def _product(lengths: tuple[int, ...]) -> int:
    return math.prod(length for length in lengths if length)


_MAKERS = {
    "RowSplits": RaggedTensor.from_row_splits,
    "RowLengths": RaggedTensor.from_row_lengths,
    "RowStarts": RaggedTensor.from_row_starts,
    "RowLimits": RaggedTensor.from_row_limits,
    "ValueRowIds": RaggedTensor.from_value_rowids,
}
