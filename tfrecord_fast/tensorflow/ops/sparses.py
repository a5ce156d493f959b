"""`tf.sparse`: SparseTensors made, joined and reshaped."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ..composites import SparseTensor
from ..types import dtype_of
from .arguments import array_of, integer, lengths_of, tensor

__all__ = ["concat", "expand_dims", "from_dense", "reorder", "reset_shape", "reshape", "slice", "to_indicator"]


def _parts(sparse: SparseTensor) -> tuple[Any, Any, Any]:
    return sparse.plain.indices, np.asarray(sparse.plain.values), sparse.plain.dense_shape


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"axis={axis} is out of bounds: expected {-rank} <= axis < {rank}")
    return axis % rank


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The values that are not 0, or not empty."""
    given = array_of(tensor)
    places = np.argwhere(given != (b"" if given.dtype.kind == "O" else 0))
    return SparseTensor(places, given[tuple(places.T)], np.array(given.shape))


def concat(axis: int, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None) -> SparseTensor:
    """One after the other along an axis."""
    parts = [_parts(one) for one in sp_inputs]
    place = _axis(axis, len(parts[0][2]))
    if len({dtype_of(part[1]) for part in parts}) > 1:
        raise InvalidArgumentError("SparseTensors of several dtypes [Op:SparseConcat]")
    shapes = np.array([part[2] for part in parts])
    others = np.delete(shapes, place, axis=1)
    if not expand_nonconcat_dims and (others != others[0]).any():
        raise InvalidArgumentError(f"Input shapes should match except along axis {axis} [Op:SparseConcat]")
    starts = np.concatenate([[0], np.cumsum(shapes[:, place])])
    moved = []
    for (indices, _, _), start in zip(parts, starts, strict=False):
        one = indices.copy()
        one[:, place] += start
        moved.append(one)
    shape = shapes.max(axis=0)
    shape[place] = starts[-1]
    return reorder(SparseTensor(np.concatenate(moved), np.concatenate([part[1] for part in parts]), shape))


def reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """In row-major order."""
    indices, values, shape = _parts(sp_input)
    order = np.lexsort(indices.T[::-1])
    return SparseTensor(indices[order], values[order], shape)


def reset_shape(sp_input: SparseTensor, new_shape: Any = None) -> SparseTensor:
    """In a larger dense shape; by default in the smallest that holds the values."""
    indices, values, shape = _parts(sp_input)
    if new_shape is None:
        return SparseTensor(indices, values, indices.max(axis=0, initial=-1) + 1)
    wanted = np.array(lengths_of(new_shape), dtype=np.int64)
    if len(wanted) != len(shape) or (wanted < shape).any():
        raise InvalidArgumentError(f"new_shape {wanted.tolist()} is too small for {shape.tolist()}")
    return SparseTensor(indices, values, wanted)


def reshape(sp_input: SparseTensor, shape: Any, name: str | None = None) -> SparseTensor:
    """The values at the same places of another shape, of which one length may be -1."""
    indices, values, before = _parts(sp_input)
    total = int(np.prod(before))
    wanted = list(lengths_of(shape))
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


def expand_dims(sp_input: SparseTensor, axis: Any = None, name: str | None = None) -> SparseTensor:
    """One more axis, of length 1."""
    indices, values, shape = _parts(sp_input)
    place = _axis(-1 if axis is None else integer(axis), len(shape) + 1)
    return SparseTensor(np.insert(indices, place, 0, axis=1), values, np.insert(shape, place, 1))


def slice(sp_input: SparseTensor, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The part from `start`, of at most `size`."""
    indices, values, shape = _parts(sp_input)
    begin = np.array(lengths_of(start))
    lengths = np.clip(np.minimum(np.array(lengths_of(size)), shape - begin), 0, None)
    inside = ((indices >= begin) & (indices < begin + lengths)).all(axis=1)
    return SparseTensor(indices[inside] - begin, values[inside], lengths)


def to_indicator(sp_input: SparseTensor, vocab_size: int, name: str | None = None) -> Any:
    """Bools: which values each row has."""
    indices, values, shape = _parts(sp_input)
    values = values.astype(np.int64)
    if len(values) and not 0 <= values.min() <= values.max() < vocab_size:
        raise InvalidArgumentError(f"values are not in [0, {vocab_size})")
    made = np.zeros((*shape[:-1], vocab_size), dtype=bool)
    made[tuple([*indices[:, :-1].T, values])] = True
    return tensor(made)
