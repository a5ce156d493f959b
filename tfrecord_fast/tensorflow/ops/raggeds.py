"""`tf.ragged`: RaggedTensors made of lists and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...values.columns.ragged import RaggedTensor as Plain
from .. import border
from ..composites import RaggedTensor, rows_of_tensor
from ..types import as_dtype
from ..uniform import rows_at, with_rows_of, without_lengths
from .arguments import array_of, tensor
from .arrays import constant as dense_constant
from .arrays import convert_to_tensor
from .filled import range as dense_range
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
    given = [array_of(starts), array_of(limits), array_of(deltas)]
    if len({one.shape for one in given if one.ndim}) > 1 or any(one.ndim > 1 for one in given):
        raise InvalidArgumentError("starts, limits and deltas are scalars, or vectors of one length [Op:RaggedRange]")
    first, last, step = np.broadcast_arrays(*np.atleast_1d(*given))
    rows = [
        array_of(dense_range(start, limit if (limit > start) == (delta > 0) else start, delta, dtype))
        for start, limit, delta in zip(first, last, step, strict=True)
    ]
    none = dense_range(np.zeros((), first.dtype), np.zeros((), last.dtype), np.ones((), step.dtype), dtype)
    lengths = np.array([*map(len, rows)], as_dtype(row_splits_dtype).as_numpy_dtype)
    return RaggedTensor(Plain.from_row_lengths(np.concatenate([array_of(none), *rows]), lengths))


def stack(values: Any, axis: int = 0, name: str | None = None) -> RaggedTensor:
    """Tensors of different lengths as rows."""
    if axis != 0 and not any(isinstance(value, RaggedTensor) for value in values):
        raise ValueError(f"ragged.stack of tensors has axis 0, got {axis}")
    return stack_rows(list(values), axis)


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The values, or slices, where the mask is true: what is left of each row stays a row."""
    given = data.plain if isinstance(data, RaggedTensor) else array_of(data)
    chosen = mask.plain if isinstance(mask, RaggedTensor) else array_of(mask, "bool")
    if len(chosen.shape) == 0:
        raise ValueError("mask cannot be scalar.")
    return border.raised(_masked(given, chosen))


def _masked(data: Any, mask: Any) -> Any:
    if isinstance(mask, Plain):
        rows = data if isinstance(data, Plain) else rows_of_tensor(data, ragged_rank=mask.ragged_rank).plain
        if isinstance(data, Plain) and data.row_splits.dtype != mask.row_splits.dtype:
            raise ValueError(f"row_splits of data are {data.row_splits.dtype}, of the mask {mask.row_splits.dtype}")
        if not np.array_equal(rows.row_splits, mask.row_splits):
            raise InvalidArgumentError("Inputs must have identical ragged splits")
        inner = _masked(rows.values, mask.values)
        if isinstance(mask.values, Plain) or np.ndim(mask.values) > 1:
            return with_rows_of(rows, inner)
        return Plain.from_row_splits(inner, _splits_left(rows, np.asarray(mask.values)), validate=False)
    if isinstance(data, Plain):
        if mask.ndim > 1:
            rank = min(data.ragged_rank, mask.ndim - 1)
            return _masked(data, rows_of_tensor(mask, ragged_rank=rank).plain)
        if len(mask) != len(data):
            raise ValueError(f"a mask of {len(mask)} values for {len(data)} rows")
        return without_lengths(rows_at(data, np.flatnonzero(mask)))
    if mask.shape != data.shape[: mask.ndim]:
        raise ValueError(f"Shapes {data.shape[: mask.ndim]} and {mask.shape} are incompatible")
    if mask.ndim == 1:
        return np.asarray(data)[mask]
    rank = mask.ndim - 1
    rows = rows_of_tensor(np.asarray(data), ragged_rank=rank).plain
    return without_lengths(_masked(rows, rows_of_tensor(mask, ragged_rank=rank).plain))


def _splits_left(rows: Plain, mask: Any) -> Any:
    """Where the rows end among the values that the mask leaves."""
    counts = np.concatenate([np.zeros(1, np.int64), np.cumsum(mask)])
    return counts[rows.row_splits].astype(rows.row_splits.dtype)


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Any:
    """For each value the number of its row."""
    given = array_of(convert_to_tensor(splits, dtype_hint="int64"))
    made = np.repeat(np.arange(len(given) - 1), np.diff(given))
    return tensor(made.astype(given.dtype if out_type is None else as_dtype(out_type).as_numpy_dtype))
