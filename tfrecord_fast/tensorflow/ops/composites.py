"""`tf.sparse` and `tf.ragged`: SparseTensors and RaggedTensors made and reshaped."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...values.columns.ragged import RaggedTensor as Plain
from ..tensors.ragged_tensor import RaggedTensor
from ..tensors.sparse_tensor import SparseTensor
from ..tensors.tensor_dtypes import as_dtype
from ..tensors.wrapping import unwrap
from .arguments import as_array, as_lengths
from .arrays import constant


def _parts(sparse: SparseTensor) -> tuple[Any, Any, Any]:
    return sparse.plain.indices, np.asarray(sparse.plain.values), sparse.plain.dense_shape


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """Return the values that are not 0, or not empty."""
    array = as_array(tensor)
    indices = np.argwhere(array != (b"" if array.dtype.kind == "O" else 0))
    return SparseTensor(indices, array[tuple(indices.T)], np.array(array.shape))


def reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Sort the values in row-major order."""
    indices, values, shape = _parts(sp_input)
    order = np.lexsort(indices.T[::-1])
    return SparseTensor(indices[order], values[order], shape)


def reset_shape(sp_input: SparseTensor, new_shape: Any = None) -> SparseTensor:
    """Change the dense shape to a larger one, or by default to the smallest that holds the values."""
    indices, values, shape = _parts(sp_input)
    if new_shape is None:
        return SparseTensor(indices, values, indices.max(axis=0, initial=-1) + 1)
    wanted = np.array(as_lengths(new_shape), dtype=np.int64)
    if len(wanted) != len(shape) or (wanted < shape).any():
        raise InvalidArgumentError(f"new_shape {wanted.tolist()} is too small for {shape.tolist()}")
    return SparseTensor(indices, values, wanted)


def reshape(sp_input: SparseTensor, shape: Any, name: str | None = None) -> SparseTensor:
    """Reshape the dense tensor; one length may be -1."""
    indices, values, before = _parts(sp_input)
    total = int(np.prod(before))
    wanted = list(as_lengths(shape))
    if -1 in wanted:
        known = int(np.prod([length for length in wanted if length != -1]))
        wanted[wanted.index(-1)] = total // known if known else 0
    if int(np.prod(wanted)) != total:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {total} dense values, but the requested shape has "
            f"{int(np.prod(wanted))} [Op:SparseReshape]"
        )
    flat = np.ravel_multi_index(tuple(indices.T), tuple(before)) if len(indices) else np.zeros(0, np.int64)
    places = np.stack(np.unravel_index(flat, wanted), axis=1) if len(flat) else np.zeros((0, len(wanted)), np.int64)
    return SparseTensor(places, values, np.array(wanted))


def slice(sp_input: SparseTensor, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """Return the slice from `start`, of at most `size`."""
    indices, values, shape = _parts(sp_input)
    begin = np.array(as_lengths(start))
    lengths = np.clip(np.minimum(np.array(as_lengths(size)), shape - begin), 0, None)
    inside = ((indices >= begin) & (indices < begin + lengths)).all(axis=1)
    return SparseTensor(indices[inside] - begin, values[inside], lengths)


# ---- RaggedTensors ----


def ragged_constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """Convert nested lists to a RaggedTensor, or to a tensor if no dimension is ragged.

    Args:
      ragged_rank: the number of ragged dimensions; by default all but the first.
      inner_shape: the shape of the values below those.
    """
    items = unwrap(pylist)
    items = items.tolist() if isinstance(items, np.ndarray) else items
    depth = _depth(items)
    if not depth and not ragged_rank and not inner_shape:
        return constant(items, dtype)
    rank = ragged_rank if ragged_rank is not None else depth - 1 - len(inner_shape or ())
    if rank < 0:
        raise ValueError(
            f"pylist has a depth of {depth}, which does not fit ragged_rank={ragged_rank}, inner_shape={inner_shape}"
        )
    if rank == 0:
        return constant(items, dtype)
    splits_dtype = as_dtype(row_splits_dtype).as_numpy_dtype
    return RaggedTensor(_nested(items, rank, dtype, splits_dtype, inner_shape))


def _depth(value: Any) -> int:
    if not isinstance(value, list | tuple | np.ndarray):
        return 0
    return 1 + max(map(_depth, value), default=0)


def _nested(rows: Any, rank: int, dtype: Any, splits_dtype: Any, inner_shape: Any) -> Plain:
    for row in rows:
        if not isinstance(row, list | tuple | np.ndarray):
            raise ValueError(f"all scalar values must have the same nesting depth, got {row!r:.100}")
    splits = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(splits_dtype)
    flat = [item for row in rows for item in row]
    if rank > 1:
        return Plain.from_row_splits(_nested(flat, rank - 1, dtype, splits_dtype, inner_shape), splits)
    shape = (len(flat), *(inner_shape or ()))
    if flat:
        values = as_array(constant(flat, dtype))
    else:
        values = np.zeros(shape, dtype=as_dtype("float32" if dtype is None else dtype).as_numpy_dtype)
    if inner_shape is not None and values.shape != shape:
        raise ValueError(f"inner_shape={inner_shape} does not fit values of shape {values.shape[1:]}")
    return Plain.from_row_splits(values, splits)
