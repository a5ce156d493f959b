"""Plain RaggedTensors: rows known to have one length, other values in the same rows, axes merged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...values.columns.ragged import RaggedTensor


class UniformRows(RaggedTensor):
    """Rows of one length, known even without rows. Only `tfrecord_fast.tensorflow` has them."""

    __slots__ = ("length",)

    def __init__(self, values: Any, row_splits: Any, length: int) -> None:
        self.values, self.row_splits, self.length = values, row_splits, length

    @property
    def shape(self) -> tuple[int | None, ...]:
        return (len(self), self.length, *self.values.shape[1:])

    def __getitem__(self, key: Any) -> Any:
        item = super().__getitem__(key)
        return UniformRows(item.values, item.row_splits, self.length) if isinstance(key, slice) else item

    def __reduce__(self) -> tuple[Callable[..., RaggedTensor], tuple[Any, ...]]:
        return UniformRows, (self.values, self.row_splits, self.length)


def uniform_rows(values: Any, length: int, count: int, dtype: Any = np.int64) -> UniformRows:
    return UniformRows(values, np.arange(count + 1, dtype=dtype) * np.dtype(dtype).type(length), length)


def with_same_rows(plain: RaggedTensor, values: Any) -> RaggedTensor:
    if isinstance(values, RaggedTensor) and values.row_splits.dtype != plain.row_splits.dtype:
        raise ValueError(
            f"values must have row_splits of the same dtype: {plain.row_splits.dtype}, not {values.row_splits.dtype}"
        )
    if len(values) != plain.row_splits[-1]:
        raise InvalidArgumentError(f"these rows need {plain.row_splits[-1]} values, got {len(values)}")
    if isinstance(plain, UniformRows):
        return UniformRows(values, plain.row_splits, plain.length)
    return RaggedTensor.from_row_splits(values, plain.row_splits, validate=False)


def with_splits_dtype(plain: RaggedTensor, dtype: Any) -> RaggedTensor:
    values = with_splits_dtype(plain.values, dtype) if isinstance(plain.values, RaggedTensor) else plain.values
    splits = plain.row_splits.astype(dtype)
    if isinstance(plain, UniformRows):
        return UniformRows(values, splits, plain.length)
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def without_uniform_lengths(plain: RaggedTensor) -> RaggedTensor:
    """Return the same rows as the package's own class, whose lengths may differ."""
    values = without_uniform_lengths(plain.values) if isinstance(plain.values, RaggedTensor) else plain.values
    if values is plain.values and not isinstance(plain, UniformRows):
        return plain
    return RaggedTensor.from_row_splits(values, plain.row_splits, validate=False)


def rows_at(values: Any, indices: Any) -> Any:
    """Return the rows of a RaggedTensor, or the slices of an array, at these indices."""
    if not isinstance(values, RaggedTensor):
        return np.asarray(values)[indices]
    splits = np.asarray(values.row_splits)
    starts, lengths = splits[:-1][indices], np.diff(splits)[indices]
    inner = np.concatenate([np.zeros(0, np.int64), *map(np.arange, starts, starts + lengths)]).astype(np.int64)
    rows = RaggedTensor.from_row_lengths(rows_at(values.values, inner), lengths)
    return UniformRows(rows.values, rows.row_splits, values.length) if isinstance(values, UniformRows) else rows


def as_partition(value: Any) -> Any:
    """Convert row splits, lengths and the like to int64, unless they are int32 or int64."""
    array = np.asarray(value)
    return array.astype(np.int64) if array.dtype.kind in "iu" and array.dtype != np.int32 else value


def merge_axes(plain: Any, outer: int, inner: int) -> Any:
    rank = len(plain.shape)
    if not (-rank <= outer < rank and -rank <= inner < rank):
        raise ValueError(f"outer_axis={outer} and inner_axis={inner} must be axes of {rank} dimensions")
    first, last = outer % rank, inner % rank
    if first > last:
        raise ValueError(f"outer_axis={outer} must be less than or equal to inner_axis={inner}")
    for _ in range(last - first):
        plain = _merge_with_next(plain, first)
    return plain


def _merge_with_next(plain: Any, axis: int) -> Any:
    if not isinstance(plain, RaggedTensor):
        array = np.asarray(plain)
        lengths = array.shape
        return array.reshape(*lengths[:axis], lengths[axis] * lengths[axis + 1], *lengths[axis + 2 :])
    values = plain.values
    if axis == 0:
        return values
    if axis > 1:
        return with_same_rows(plain, _merge_with_next(values, axis - 1))
    if isinstance(values, RaggedTensor):
        splits, below = values.row_splits[plain.row_splits], values.values
    else:
        splits = plain.row_splits * plain.row_splits.dtype.type(values.shape[1])
        below = _merge_with_next(values, 0)
    return RaggedTensor.from_row_splits(below, splits, validate=False)
