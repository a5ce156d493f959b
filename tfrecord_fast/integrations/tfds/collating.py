"""Values of several examples as one array with one more axis, padded if their shapes differ."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...values.columns.bytes_array import BytesArray
from ...values.columns.ragged import RaggedTensor, ragged_of


def stacked(values: list[Any], name: str) -> Any:
    """Collate the values of a feature in n examples.

    Returns:
      `[n, …]`: an ndarray or a BytesArray, in which arrays of different shapes are padded with 0 or b"" to the longest
      along each axis; or a RaggedTensor with one more ragged dimension. Other values: a list.
    """
    first = values[0]
    if isinstance(first, dict):
        return {key: stacked([value[key] for value in values], name) for key in first}
    if isinstance(first, bytes):
        return BytesArray(values)
    if isinstance(first, RaggedTensor):
        return ragged_of(_concatenated(values), np.cumsum([0, *map(len, values)]))
    if not isinstance(first, np.ndarray | np.generic):
        return values
    if len({value.ndim for value in values}) > 1:
        raise InvalidArgumentError(f"feature {name!r}: values of {sorted({value.ndim for value in values})} dimensions")
    if len({value.shape for value in values}) == 1:
        array = np.stack(values)
    else:
        array = _padded(values)
    return BytesArray(array) if array.dtype == object else array


def _padded(values: list[Any]) -> Any:
    shape = np.max([value.shape for value in values], axis=0)
    dtype = np.result_type(*(value.dtype for value in values))
    array = np.full((len(values), *shape), b"", dtype) if dtype.hasobject else np.zeros((len(values), *shape), dtype)
    for row, value in zip(array, values, strict=True):
        row[tuple(map(slice, value.shape))] = value
    return array


def _concatenated(columns: list[Any]) -> Any:
    if not isinstance(columns[0], RaggedTensor):
        if isinstance(columns[0], BytesArray):
            return BytesArray(list(chain.from_iterable(column.tolist() for column in columns)))
        return np.concatenate(columns)
    lengths = np.concatenate([column.row_lengths() for column in columns])
    splits = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    return ragged_of(_concatenated([column.values for column in columns]), splits)
