"""`tf.ragged`: RaggedTensors made of lists and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...values.composites import stack_ragged
from ...values.ragged import RaggedTensor as Plain
from .. import border
from ..composites import RaggedTensor
from ..types import as_dtype
from .arguments import array_of, tensor
from .arrays import constant as dense_constant
from .arrays import convert_to_tensor
from .filled import range as dense_range
from .picked import boolean_mask as dense_boolean_mask
from .picked import gather
from .rows import stack_rows

__all__ = ["boolean_mask", "constant", "range", "row_splits_to_segment_ids", "stack"]


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """Nested lists as a RaggedTensor; a tensor if nothing is ragged.

    Args:
      ragged_rank: how many dimensions are ragged; by default all but the first.
      inner_shape: of the values below those.
    """
    given = border.lowered(pylist)
    given = given.tolist() if isinstance(given, np.ndarray) else given
    depth = _depth(given)
    if not depth and not ragged_rank and not inner_shape:
        return dense_constant(given, dtype)
    rank = ragged_rank if ragged_rank is not None else depth - 1 - len(inner_shape or ())
    if rank < 0:
        raise ValueError(
            f"pylist has a depth of {depth}, which does not fit ragged_rank={ragged_rank}, inner_shape={inner_shape}"
        )
    if rank == 0:
        return dense_constant(given, dtype)
    kind = as_dtype(row_splits_dtype).as_numpy_dtype
    return RaggedTensor(_nested(given, rank, dtype, kind, inner_shape))


def _depth(value: Any) -> int:
    if not isinstance(value, list | tuple | np.ndarray):
        return 0
    return 1 + max(map(_depth, value), default=0)


def _nested(rows: Any, rank: int, dtype: Any, kind: Any, inner_shape: Any) -> Plain:
    for row in rows:
        if not isinstance(row, list | tuple | np.ndarray):
            raise ValueError(f"all scalar values must have the same nesting depth, got {row!r:.100}")
    splits = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(kind)
    flat = [item for row in rows for item in row]
    if rank > 1:
        return Plain.from_row_splits(_nested(flat, rank - 1, dtype, kind, inner_shape), splits)
    shape = (len(flat), *(inner_shape or ()))
    if flat:
        values = array_of(dense_constant(flat, dtype))
    else:
        values = np.zeros(shape, dtype=as_dtype("float32" if dtype is None else dtype).as_numpy_dtype)
    if inner_shape is not None and values.shape != shape:
        raise ValueError(f"inner_shape={inner_shape} does not fit values of shape {values.shape[1:]}")
    return Plain.from_row_splits(values, splits)


def range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = "int64",
) -> RaggedTensor:
    """For each start and limit the numbers between; none where the limit is on the other side."""
    if limits is None:
        starts, limits = 0, starts
    first, last, step = np.broadcast_arrays(*np.atleast_1d(array_of(starts), array_of(limits), array_of(deltas)))
    rows = [
        array_of(dense_range(start, limit if (limit > start) == (delta > 0) else start, delta, dtype))
        for start, limit, delta in zip(first, last, step, strict=True)
    ]
    kind = as_dtype(row_splits_dtype).as_numpy_dtype
    start, limit = (np.zeros((), one.dtype) for one in (first, last))
    nothing = array_of(dense_range(start, limit, np.ones((), step.dtype), dtype))
    values = np.concatenate([nothing, *rows])
    return RaggedTensor(Plain.from_row_lengths(values, np.array([*map(len, rows)], dtype=kind)))


def stack(values: Any, axis: int = 0, name: str | None = None) -> RaggedTensor:
    """Tensors of different lengths as rows."""
    if axis != 0 and not any(isinstance(value, RaggedTensor) for value in values):
        raise ValueError(f"ragged.stack of tensors has axis 0, got {axis}")
    return stack_rows(list(values), axis)


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The values where the mask is true, row by row."""
    masks = mask.plain if isinstance(mask, RaggedTensor) else array_of(mask)
    if len(masks.shape) == 1:
        if isinstance(data, RaggedTensor) and len(masks) != len(data.plain):
            raise ValueError(f"a mask of {len(masks)} rows for {len(data.plain)} rows")
        chosen = np.flatnonzero(np.asarray(masks))
        return gather(data, chosen) if isinstance(data, RaggedTensor) else dense_boolean_mask(data, masks)
    rows = list(data.plain if isinstance(data, RaggedTensor) else array_of(data))
    made = [
        border.lowered(boolean_mask(border.raised(row), border.raised(chosen)))
        for row, chosen in zip(rows, masks, strict=True)
    ]
    return RaggedTensor(stack_ragged(made))


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Any:
    """For each value the number of its row."""
    given = array_of(convert_to_tensor(splits, dtype_hint="int64"))
    made = np.repeat(np.arange(len(given) - 1), np.diff(given))
    return tensor(made.astype(given.dtype if out_type is None else as_dtype(out_type).as_numpy_dtype))
