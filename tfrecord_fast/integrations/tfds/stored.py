"""Lists that TFDS stores in an Example for a feature: the features to parse, and the rows of their columns.

A value in fewer than two sequences is one list under the feature's name. In two or more, it is one list of all values
(`NAME/ragged_flat_values`) and one of row lengths for each sequence but the outermost (`NAME/ragged_row_lengths_0`, …).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...dtypes import as_dtype, int64, string
from ...errors import InvalidArgumentError
from ...examples.features import FixedLenFeature, RaggedFeature
from ...values.columns.bytes_array import BytesArray
from ...values.columns.ragged import RaggedTensor, ragged_of
from .features import Shape

_MOST_VALUES = 1 << 48  # of one feature in one example

Columns = Mapping[str, Any]

# Bytes, a NumPy scalar, an ndarray (of objects, for strings) or a RaggedTensor; or a dict of these by part.
Raw = Any


class Stored(NamedTuple):
    """A list of values in the Example.

    `lengths` are those of the sequences around the feature, the outermost first, and `shape` is that of one value.
    `default` replaces a missing value; None: no value may be missing.
    """

    key: str
    lengths: Shape
    shape: Shape
    dtype: np.dtype[Any]
    default: Any = None

    @property
    def rank(self) -> int:
        """The number of sequences around the feature."""
        return len(self.lengths)

    @property
    def is_fixed(self) -> bool:
        """True if all examples have the same number of values, so that the column is one array."""
        return self.rank < 2 and None not in (*self.lengths, *self.shape)

    def check(self) -> None:
        """Check that TFDS can store such values. Raises errors.InvalidArgumentError."""
        if math.prod(length or 1 for length in (*self.lengths, *self.shape)) >= _MOST_VALUES:
            raise InvalidArgumentError(f"feature {self.key!r}: too many values: {(*self.lengths, *self.shape)}")
        unknown = [*self.lengths, *self.shape].count(None) if self.rank < 2 else 1 + self.shape.count(None)
        if unknown > 1:
            raise InvalidArgumentError(
                f"feature {self.key!r}: values of the shape {(*self.lengths, *self.shape)} can't be separated"
            )

    def features(self) -> dict[str, Any]:
        # TFDS stores the bits of a uint64.
        dtype = string if self.dtype == object else int64 if self.dtype == np.uint64 else as_dtype(self.dtype)
        if self.rank >= 2:
            lengths = (f"{self.key}/ragged_row_lengths_{i}" for i in range(self.rank - 1))
            row_lengths = {key: RaggedFeature(int64, row_splits_dtype=int64) for key in lengths}
            return {**row_lengths, f"{self.key}/ragged_flat_values": RaggedFeature(dtype, row_splits_dtype=int64)}
        if self.is_fixed:
            shape: list[Any] = [*self.lengths, *self.shape]
            return {self.key: FixedLenFeature(shape, dtype, self.default)}
        return {self.key: RaggedFeature(dtype, row_splits_dtype=int64)}

    def column(self, columns: Columns) -> Any:
        """Return the column of a batch, if `is_fixed`: an ndarray or BytesArray `[n, *lengths, *shape]`."""
        return _unsigned(columns[self.key], self.dtype)

    def rows(self, columns: Columns) -> Callable[[int], Raw]:
        """Return a function that returns the value of a row of a batch, or raises ValueError."""
        if self.rank >= 2:
            return self._ragged_rows(columns)
        column = columns[self.key]
        if not self.is_fixed:
            return self._list_rows(column)
        if isinstance(column, BytesArray):
            return column.__getitem__ if column.ndim == 1 else lambda row: np.asarray(column[row])
        column = _unsigned(column, self.dtype)
        return column.__getitem__ if column.ndim == 1 else lambda row: column[row].copy()

    def _list_rows(self, column: Any) -> Callable[[int], Raw]:
        shape = [-1 if length is None else length for length in (*self.lengths, *self.shape)]
        values, splits = _unsigned(column.values, self.dtype), column.row_splits.tolist()

        def of_row(row: int) -> Raw:
            return _shaped(_array(values[splits[row] : splits[row + 1]]), shape)

        return of_row

    def _ragged_rows(self, columns: Columns) -> Callable[[int], Raw]:
        lengths = [columns[f"{self.key}/ragged_row_lengths_{i}"] for i in range(self.rank - 1)]
        flat = columns[f"{self.key}/ragged_flat_values"]
        values, splits = _unsigned(flat.values, self.dtype), flat.row_splits.tolist()
        shape = [-1, *(length or 0 for length in self.shape)]

        def of_row(row: int) -> Raw:
            value: Any = values[splits[row] : splits[row + 1]]
            value = value if isinstance(value, BytesArray) else _shaped(value.copy(), shape)
            for level, level_lengths in reversed(list(enumerate(lengths))):
                counts = level_lengths[row]
                expected = self.lengths[level + 1]
                if expected is not None and (counts != expected).any():
                    raise InvalidArgumentError(f"expected rows of {expected} values, got {counts.tolist()}")
                value = RaggedTensor.from_row_lengths(value, counts)
            if self.lengths[0] not in (None, len(value)):
                raise InvalidArgumentError(f"expected {self.lengths[0]} rows, got {len(value)}")
            return value

        return of_row


def raw_slice(raw: Raw, key: int | slice) -> Raw:
    """Return an element along the outermost axis, or a slice."""
    if isinstance(raw, dict):
        return {name: raw_slice(values, key) for name, values in raw.items()}
    return _array(raw[key])


def flat_of(raw: RaggedTensor) -> np.ndarray[Any, np.dtype[Any]]:
    values: np.ndarray[Any, np.dtype[Any]] = _array(raw.flat_values)
    return values


def with_flat(raw: RaggedTensor, values: Any) -> RaggedTensor:
    for splits in reversed(raw.nested_row_splits):
        values = ragged_of(values, splits)
    result: RaggedTensor = values
    return result


def _array(values: Any) -> Any:
    return np.asarray(values) if isinstance(values, BytesArray) else values


def _unsigned(values: Any, dtype: np.dtype[Any]) -> Any:
    return values.view(np.uint64) if dtype == np.uint64 else values


def _shaped(values: Any, shape: list[int]) -> Any:
    known = math.prod(length for length in shape if length >= 0)
    if -1 in shape and known == 0:
        shape = [0 if length < 0 else length for length in shape]
    try:
        return values.reshape(shape)
    except ValueError:
        expected = tuple(None if length < 0 else length for length in shape)
        raise InvalidArgumentError(f"{len(values)} values don't fit the shape {expected}") from None
