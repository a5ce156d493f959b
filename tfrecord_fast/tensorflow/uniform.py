"""RaggedTensors of the face: rows that are known to be of one length, and other values in the same rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..values.columns.ragged import RaggedTensor

__all__ = [
    "UniformRows", "merged", "partition_of", "rows_at", "uniform_rows", "with_rows_of", "with_splits_of",
    "without_lengths",
]  # fmt: skip


class UniformRows(RaggedTensor):
    """Rows of one length, which is known even if there are no rows. Only the face has them."""

    __slots__ = ("length",)

    def __init__(self, values: Any, row_splits: Any, length: int) -> None:
        self.values, self.row_splits, self.length = values, row_splits, length

    @property
    def shape(self) -> tuple[int | None, ...]:
        return (len(self), self.length, *self.values.shape[1:])

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return UniformRows(found.values, found.row_splits, self.length) if isinstance(key, slice) else found

    def __reduce__(self) -> tuple[Callable[..., RaggedTensor], tuple[Any, ...]]:
        return UniformRows, (self.values, self.row_splits, self.length)


def uniform_rows(values: Any, length: int, count: int, dtype: Any = np.int64) -> UniformRows:
    """So many rows of one length."""
    return UniformRows(values, np.arange(count + 1, dtype=dtype) * np.dtype(dtype).type(length), length)


def with_rows_of(plain: RaggedTensor, values: Any) -> RaggedTensor:
    """Other values in the same rows.

    Raises:
      ValueError: the values are ragged, and count their rows in another dtype.
      errors.InvalidArgumentError: there are more or fewer of them.
    """
    if isinstance(values, RaggedTensor) and values.row_splits.dtype != plain.row_splits.dtype:
        raise ValueError(
            f"values must have row_splits of the same dtype: {plain.row_splits.dtype}, not {values.row_splits.dtype}"
        )
    if len(values) != plain.row_splits[-1]:
        raise InvalidArgumentError(f"{plain.row_splits[-1]} values make these rows, got {len(values)}")
    if isinstance(plain, UniformRows):
        return UniformRows(values, plain.row_splits, plain.length)
    return RaggedTensor.from_row_splits(values, plain.row_splits, validate=False)


def with_splits_of(plain: RaggedTensor, dtype: Any) -> RaggedTensor:
    """The same rows, counted in another dtype."""
    values = with_splits_of(plain.values, dtype) if isinstance(plain.values, RaggedTensor) else plain.values
    splits = plain.row_splits.astype(dtype)
    if isinstance(plain, UniformRows):
        return UniformRows(values, splits, plain.length)
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def without_lengths(plain: RaggedTensor) -> RaggedTensor:
    """As the package knows it: rows whose lengths may differ."""
    values = without_lengths(plain.values) if isinstance(plain.values, RaggedTensor) else plain.values
    if values is plain.values and not isinstance(plain, UniformRows):
        return plain
    return RaggedTensor.from_row_splits(values, plain.row_splits, validate=False)


def rows_at(values: Any, places: Any) -> Any:
    """The rows of a RaggedTensor, or the slices of an array, at these places."""
    if not isinstance(values, RaggedTensor):
        return np.asarray(values)[places]
    splits = np.asarray(values.row_splits)
    starts, lengths = splits[:-1][places], np.diff(splits)[places]
    inner = np.concatenate([np.zeros(0, np.int64), *map(np.arange, starts, starts + lengths)]).astype(np.int64)
    made = RaggedTensor.from_row_lengths(rows_at(values.values, inner), lengths)
    return UniformRows(made.values, made.row_splits, values.length) if isinstance(values, UniformRows) else made


def partition_of(value: Any) -> Any:
    """Row splits, lengths and the like: they are int32 or int64, and other integers become int64."""
    given = np.asarray(value)
    return given.astype(np.int64) if given.dtype.kind in "iu" and given.dtype != np.int32 else value


def merged(plain: Any, outer: int, inner: int) -> Any:
    """The dimensions from one axis to another as one.

    Raises:
      ValueError: there are no such axes, or not in this order.
    """
    rank = len(plain.shape)
    if not (-rank <= outer < rank and -rank <= inner < rank):
        raise ValueError(f"outer_axis={outer} and inner_axis={inner} must be axes of {rank} dimensions")
    first, last = outer % rank, inner % rank
    if first > last:
        raise ValueError(f"outer_axis={outer} must be less than or equal to inner_axis={inner}")
    for _ in range(last - first):
        plain = _merged_with_next(plain, first)
    return plain


def _merged_with_next(plain: Any, axis: int) -> Any:
    if not isinstance(plain, RaggedTensor):
        given = np.asarray(plain)
        lengths = given.shape
        return given.reshape(*lengths[:axis], lengths[axis] * lengths[axis + 1], *lengths[axis + 2 :])
    values = plain.values
    if axis == 0:
        return values
    if axis > 1:
        return with_rows_of(plain, _merged_with_next(values, axis - 1))
    if isinstance(values, RaggedTensor):
        splits, below = values.row_splits[plain.row_splits], values.values
    else:
        splits = plain.row_splits * plain.row_splits.dtype.type(values.shape[1])
        below = _merged_with_next(values, 0)
    return RaggedTensor.from_row_splits(below, splits, validate=False)
