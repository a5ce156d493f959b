"""Rules of items, slices and conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...values.blocks.columns import Constant, Uneven, joined, starts_of
from ...values.elements.nests import map_leaves
from ..ops.arguments import as_array, integer
from ..tensors.tensor import Tensor, as_tensor, checked_index, plain_array
from ..tensors.wrapping import wrap
from .block_tensor import block_value, is_block_value
from .calls import columns_of, has_block_values, selected
from .elementwise import dense, dense_array, elementwise, uneven
from .frames import Frame, entered, needs_records

Operation = Callable[..., Any]


def getitem(function: Operation, frame: Frame, value: Any, key: Any) -> Any:
    keys = key if isinstance(key, tuple | list) else (key,)
    if not is_block_value(value):
        return NotImplemented
    column = selected(value, frame)
    array = dense_array(column)
    if array is not None and not _has_block_index(keys):
        mask = plain_array(key)
        if isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.ndim:
            return NotImplemented
        if array.ndim == 1 and any(index is not None and index is not Ellipsis for index in keys):
            return NotImplemented
        return dense(array[tuple([slice(None), *map(checked_index, keys)])], frame)
    if isinstance(column, Uneven) and column.rank == 1 and len(keys) == 1:
        return _vector_item(column, keys[0], frame)
    if array is not None and len(keys) == 1 and array.ndim == 2 and isinstance(keys[0], slice):
        shapes = np.full((len(array), 1), array.shape[1])
        if array.flags.c_contiguous:
            vectors = Uneven.of_flat(array.reshape(-1), np.arange(len(array)) * array.shape[1], shapes)
            return _vector_item(vectors, keys[0], frame)
    return NotImplemented


def _has_block_index(keys: Any) -> bool:
    return any(
        has_block_values((index.start, index.stop, index.step) if isinstance(index, slice) else (index,))
        for index in keys
    )


def _vector_item(column: Uneven, key: Any, frame: Frame) -> Any:
    """Return an item, or a slice of step 1, of vectors whose lengths differ."""
    flat, starts, shapes = column.parts()
    lengths = shapes[:, 0]
    if key is Ellipsis:
        return block_value(column, frame)
    if isinstance(key, slice):
        if key.step is not None and (is_block_value(key.step) or checked_index(key.step) != 1):
            return NotImplemented
        bounds = [_bound(bound, lengths, frame) for bound in (key.start, key.stop)]
        if any(bound is NotImplemented for bound in bounds):
            return NotImplemented
        first = np.zeros_like(lengths) if bounds[0] is None else bounds[0]
        last = lengths if bounds[1] is None else bounds[1]
        return uneven(flat, starts + first, np.maximum(last - first, 0)[:, None], frame)
    if key is None or is_block_value(key):
        return NotImplemented
    index = int(checked_index(key))
    if (index >= lengths).any() or (-index > lengths).any():
        return NotImplemented
    return dense(flat[starts + (index if index >= 0 else lengths + index)], frame)


def _bound(bound: Any, lengths: Any, frame: Frame) -> Any:
    """Return a slice's bound as positions from 0 to the lengths; None if there is none."""
    if bound is None:
        return None
    if is_block_value(bound):
        array = dense_array(selected(bound, frame))
        if array is None or array.ndim != 1 or array.dtype.kind not in "iu":
            return NotImplemented
        positions = array.astype(np.int64)
    else:
        positions = np.full(len(lengths), int(checked_index(bound)), np.int64)
    return np.clip(np.where(positions < 0, positions + lengths, positions), 0, lengths)


def where(function: Operation, frame: Frame, condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    if x is None or y is None:
        return NotImplemented
    return elementwise(function, frame, condition, x, y)


def boolean_mask(function: Operation, frame: Frame, tensor: Any, mask: Any, axis: Any = None, name: Any = None) -> Any:
    if not is_block_value(tensor) or not is_block_value(mask) or axis not in (None, 0):
        return NotImplemented
    columns = selected(tensor, frame), selected(mask, frame)
    arrays = [dense_array(column) for column in columns]
    if arrays[0] is not None and arrays[1] is not None:
        values, flags = arrays[0], arrays[1]
        if flags.dtype != np.bool_ or flags.ndim != 2 or values.shape != flags.shape:
            return NotImplemented
        sizes, kept = flags.sum(axis=1), values[flags]
    else:
        vectors, masks = columns
        if not (isinstance(vectors, Uneven) and isinstance(masks, Uneven) and masks.dtype == np.bool_):
            return NotImplemented
        if vectors.rank != 1 or not np.array_equal(vectors.shapes, masks.shapes):
            return NotImplemented
        chosen = masks.compact()
        kept = vectors.compact()[chosen]
        counts = np.concatenate([np.zeros(1, np.int64), np.cumsum(chosen)])
        ends = np.cumsum(masks.sizes)
        sizes = counts[ends] - counts[ends - masks.sizes]
    return uneven(kept, starts_of(sizes), sizes[:, None], frame)


def gather(
    function: Operation,
    frame: Frame,
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
    name: Any = None,
) -> Any:
    if has_block_values((axis, batch_dims)) or batch_dims:
        return NotImplemented
    number = 0 if axis is None else integer(axis)
    if is_block_value(params):
        array = dense_array(selected(params, frame))
        if array is None or has_block_values((indices,)) or not -array.ndim < number < array.ndim - 1:
            return NotImplemented
        return dense(function(as_tensor(array), indices, None, number if number < 0 else number + 1), frame)
    if number or not isinstance(params, Tensor | np.ndarray | list | tuple) or has_block_values((params,)):
        return NotImplemented
    column = selected(indices, frame) if is_block_value(indices) else None
    array = None if column is None else dense_array(column)
    if array is not None:
        return dense(function(params, as_tensor(array)), frame)
    if isinstance(column, Uneven) and as_array(params).ndim == 1:
        flat, starts, shapes = column.compact(), starts_of(column.sizes), column.shapes
        return uneven(as_array(function(params, as_tensor(flat))), starts, shapes, frame)
    return NotImplemented


# ---- Conditions ----


def cond(
    function: Operation,
    frame: Frame,
    pred: Any,
    true_fn: Any = None,
    false_fn: Any = None,
    name: Any = None,
    **old: Any,
) -> Any:
    """Call each function for the records whose condition is true or false, and merge the results."""
    first, second = true_fn or old.get("fn1"), false_fn or old.get("fn2")
    truths = _truths(pred, frame) if callable(first) and callable(second) else None
    if truths is None:
        return NotImplemented
    return _merged([(truths, first), (~truths, second)], frame)


def case(
    function: Operation,
    frame: Frame,
    pred_fn_pairs: Any,
    default: Any = None,
    exclusive: Any = False,
    strict: Any = False,
    name: Any = "case",
) -> Any:
    pairs = list(pred_fn_pairs.items() if hasattr(pred_fn_pairs, "items") else pred_fn_pairs)
    left = np.ones(frame.count, bool)
    branches: list[tuple[Any, Any]] = []
    for condition, branch in pairs:
        truths = _truths(condition, frame)
        if truths is None or (exclusive and (truths & ~left).any()):
            return NotImplemented
        branches.append((truths & left, branch))
        left &= ~truths
    if left.any() and default is None:
        return NotImplemented
    return _merged([*branches, (left, default)], frame)


def _truths(value: Any, frame: Frame) -> Any:
    """Return the truth of a scalar for each record, or None."""
    if not is_block_value(value):
        return np.full(frame.count, bool(as_array(value)))
    array = dense_array(selected(value, frame))
    return array.astype(bool) if array is not None and array.ndim == 1 and array.dtype != object else None


def _merged(branches: list[tuple[Any, Any]], frame: Frame) -> Any:
    results, groups = [], []
    for truths, branch in branches:
        rows = np.flatnonzero(truths)
        if not len(rows):
            continue
        if len(rows) == frame.count:
            return branch()
        part = Frame(frame.call, rows, frame)
        with entered(part):
            results.append((branch(), part))
        groups.append(rows)
    order = np.empty(frame.count, np.int64)
    order[np.concatenate(groups)] = np.arange(frame.count)
    first = results[0][0]
    if first is None and all(result is None for result, _ in results):
        return None
    try:
        return map_leaves(
            lambda *leaves: _merged_leaf(leaves, [part for _, part in results], order, frame),
            *(_as_structure(result) for result, _ in results),
        )
    except Exception:
        raise needs_records("the branches of a condition differ in structure") from None


def _as_structure(value: Any) -> Any:
    """Return a branch's result with its lists as tuples, as TensorFlow's graphs have them."""
    return tuple(value) if type(value) is list else value


def _merged_leaf(values: Any, parts: list[Frame], order: Any, frame: Frame) -> Any:
    column = joined([columns_of(value, part) for value, part in zip(values, parts, strict=True)])
    return wrap(column.value) if isinstance(column, Constant) else block_value(column.take(order), frame)
