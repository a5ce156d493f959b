"""Sparse and ragged components: stacked into batches, and taken apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import DataLossError, InvalidArgumentError
from ..columns.bytes_array import BytesArray
from ..columns.ragged import RaggedTensor, ragged_of
from ..columns.sparse import SparseTensor, check_indices, restored
from ..columns.typed import check_kinds
from .attrs_classes import is_attrs


def stack_rows(elements: list[Any]) -> SparseTensor | RaggedTensor:
    if isinstance(elements[0], SparseTensor):
        return _stack_sparse(elements)
    return stack_ragged(elements)


def stack_ragged(elements: list[Any]) -> RaggedTensor:
    """Make a RaggedTensor with the elements as rows: arrays of one rank, or RaggedTensors."""
    lengths = np.array([len(element) for element in elements], dtype=np.int64)
    splits = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return ragged_of(_concatenate(elements), splits)


def sparse_row(element: Any, shape: list[int | None]) -> npt.NDArray[Any]:
    """Return the element as an array; raise an error if it cannot be a row of that shape."""
    if isinstance(element, tuple | dict | SparseTensor | RaggedTensor) or is_attrs(element):
        raise TypeError(f"sparse_batch needs elements of one array, got {type(element).__name__}")
    array: npt.NDArray[Any] = np.asarray(element)
    if array.ndim != len(shape):
        raise InvalidArgumentError(
            f"Input element had shape ({[*array.shape]}) that is incompatible with the row shape ({shape})."
        )
    if any(most is not None and length > most for length, most in zip(array.shape, shape, strict=True)):
        raise DataLossError(
            message=f"Input element had shape ({[*array.shape]}) that is larger than the row shape ({shape})."
        )
    return array


def sparse_of_arrays(elements: list[Any], shape: list[int | None]) -> SparseTensor:
    """Make a SparseTensor with the elements as rows of that shape, with all their values, including zeros."""
    arrays = _of_one_kind([sparse_row(element, shape) for element in elements])
    rows = [np.indices(array.shape).reshape(array.ndim, -1).T for array in arrays]
    indices = np.empty((sum(array.size for array in arrays), len(shape) + 1), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(arrays)), [array.size for array in arrays])
    indices[:, 1:] = np.concatenate(rows)
    longest = np.max([array.shape for array in arrays], axis=0) if shape else []
    lengths = [int(most if length is None else length) for most, length in zip(longest, shape, strict=True)]
    return SparseTensor(indices, np.concatenate([array.ravel() for array in arrays]), [len(arrays), *lengths])


def _of_one_kind(arrays: list[Any]) -> list[Any]:
    """Check the dtypes as `check_kinds` does; arrays without values take the dtype of the others."""
    filled = [array.dtype for array in arrays if array.size]
    arrays = [array if array.size or not filled else array.astype(filled[0]) for array in arrays]
    check_kinds(arrays, "a batch")
    return arrays


def _concatenate(rows: list[Any]) -> Any:
    if isinstance(rows[0], RaggedTensor):
        starts = np.cumsum([0, *(int(row.row_splits[-1] - row.row_splits[0]) for row in rows)])
        splits = [row.row_splits[1:] - row.row_splits[0] + start for row, start in zip(rows, starts, strict=False)]
        dtype = rows[0].row_splits.dtype
        values = _concatenate([row.values[int(row.row_splits[0]) : int(row.row_splits[-1])] for row in rows])
        return ragged_of(values, np.concatenate([np.zeros(1, np.int64), *splits]).astype(dtype))
    arrays = _of_one_kind([np.asarray(row) for row in rows])
    if len({array.shape[1:] for array in arrays}) > 1 and len({array.ndim for array in arrays}) == 1:
        return stack_ragged([inner for array in arrays for inner in array])  # lengths differ from array to array
    return np.concatenate(arrays)


def _stack_sparse(elements: list[SparseTensor]) -> SparseTensor:
    rank = len(elements[0].dense_shape)
    for row, element in enumerate(elements):
        if len(element.dense_shape) != rank:
            raise InvalidArgumentError(
                f"Cannot batch sparse tensors of different ranks: element 0 has rank {rank}, element {row} rank "
                f"{len(element.dense_shape)}"
            )
    counts = np.array([len(element.values) for element in elements], dtype=np.int64)
    indices = np.empty((int(counts.sum()), rank + 1), dtype=np.int64)
    indices[:, 0] = np.repeat(np.arange(len(elements)), counts)
    indices[:, 1:] = np.concatenate([element.indices for element in elements])
    shape = np.max([element.dense_shape for element in elements], axis=0)
    values = _concatenate([element.values for element in elements])
    splits, steps = _stacked_steps(elements, rank)
    return restored(indices, values, [len(elements), *shape.tolist()], splits, steps)


def _stacked_steps(elements: list[SparseTensor], rank: int) -> Any:
    """Return row splits and row steps of a batch of feature lists; (None, None) for other tensors."""
    if rank != 2 or any(element.row_steps is None for element in elements):
        return None, None
    lengths = np.concatenate([np.diff(element.row_splits) for element in elements])
    steps = [len(element.row_splits) - 1 for element in elements]
    return np.cumsum([0, *lengths], dtype=np.int64), np.cumsum([0, *steps], dtype=np.int64)


def sparse_rows(tensor: SparseTensor) -> Iterator[SparseTensor]:
    """Yield the slices of a SparseTensor along its first axis; each keeps the lengths of the other axes."""
    if len(tensor.dense_shape) < 2:
        raise InvalidArgumentError("a SparseTensor of one dimension has scalars as rows, which cannot be sparse")
    indices = tensor.indices
    check_indices(indices, tuple(tensor.dense_shape.tolist()))
    splits = np.searchsorted(indices[:, 0], np.arange(len(tensor) + 1)).tolist()
    values = tensor.values if isinstance(tensor.values, BytesArray) else np.asarray(tensor.values)
    for start, end in pairwise(splits):
        yield SparseTensor(indices[start:end, 1:], values[start:end], tensor.dense_shape[1:])
