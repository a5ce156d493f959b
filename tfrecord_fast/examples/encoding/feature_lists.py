"""Feature lists of SequenceExamples: rows of steps, where a step is a value, a list or an array."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from ... import _core
from ...errors import InvalidArgumentError
from ...typing import Integers
from ...values.columns.bytes_array import BytesArray
from ...values.columns.conversion import plain, refuse_masked
from ...values.columns.sparse import SparseTensor, steps_of
from .arrow_columns import node_column, refuse_objects
from .column import Column, FeatureList, Flags, Splits, all_splits, check_splits, naming, nest_all
from .columns import column_of
from .sequences import as_sized, sequence_column, uncovered

_NO_ROWS = (str, bytes, bytearray, memoryview, Mapping, Set)


def as_feature_list(key: object, value: Any, lengths: Integers | None = None) -> FeatureList:
    """Convert a value to a feature list; errors name the `key`.

    `lengths` are the numbers of steps of the rows, for a dense array `[n, longest, …]`.
    """
    with naming(key, "feature list"):
        return _feature_list(value, lengths)


def _feature_list(value: Any, lengths: Integers | None) -> FeatureList:
    if lengths is not None:
        return _padded_list(_padded(value), lengths)
    if isinstance(value, SparseTensor) and (value.row_steps is not None or len(value.dense_shape) == 3):
        row_steps, splits = steps_of(value)
        return _split_list(row_steps, nest_all(splits, column_of(value.values)))
    if hasattr(value, "row_splits") and hasattr(value, "values"):
        return _split_list(value.row_splits, column_of(value.values))
    if isinstance(value, np.ndarray) and value.dtype.kind == "O" and value.ndim == 1:
        value = value.tolist()  # masked rows become None
    if isinstance(value, list | tuple):
        return _nested_list(list(value))
    if isinstance(value, np.ndarray) or (hasattr(value, "shape") and len(value.shape) > 1):
        return _padded_list(_padded(value), None)
    if hasattr(value, "__arrow_c_array__"):
        refuse_objects(value)
        node = _core.arrow_array(*value.__arrow_c_array__())
        if node.kind == "list":
            return _arrow_list(node_column(node.child), node.splits)._replace(row_valid=node.valid)
        if node.kind == "fixed":
            steps = np.arange(node.rows + 1, dtype=np.int64) * node.size
            return _arrow_list(node_column(node.child), steps)._replace(row_valid=node.valid)
    expected = "rows of steps (a RaggedTensor, nested lists, an array [n, steps, …])"
    raise TypeError(f"expected {expected}, got {type(value).__name__}")


# ---- Arrays ----


def _padded(value: Any) -> Any:
    """Return an array or BytesArray with an axis of rows and an axis of steps."""
    if not isinstance(value, np.ndarray | BytesArray):
        if not hasattr(value, "__array__"):
            raise TypeError(f"expected an array of padded steps, got {type(value).__name__}")
        value = np.asarray(value)
    if value.ndim < 2:
        raise TypeError("expected rows of steps, got one value per row")
    return value


def _padded_list(value: Any, lengths: Integers | None) -> FeatureList:
    rows, longest = value.shape[:2]
    counts = np.full(rows, longest, np.int64) if lengths is None else _step_counts(lengths, rows, longest)
    row_valid = None
    if isinstance(value, np.ma.MaskedArray):
        row_valid = _unmasked_rows(value, counts)
        counts = counts * row_valid
        value = value.data
    steps = np.zeros(rows + 1, np.int64)
    np.cumsum(counts, out=steps[1:])
    if steps[-1] == rows * longest:
        items = value.reshape(rows * longest, *value.shape[2:])
    else:
        items = value[np.nonzero(np.arange(longest) < counts[:, None])]
    return FeatureList(column_of(items), steps, row_valid)


def _step_counts(lengths: Integers, rows: int, longest: int) -> Splits:
    lengths = plain(lengths)
    refuse_masked(lengths, "a length")
    array = np.asarray(lengths)
    if array.size and array.dtype.kind not in "iu":
        raise InvalidArgumentError(f"lengths: expected integers, got {array.dtype}: {lengths!r:.100}")
    if array.shape != (rows,) or (rows and (array.min() < 0 or array.max() > longest)):
        raise InvalidArgumentError(f"lengths: expected {rows} numbers of 0 to {longest}, got {lengths!r:.100}")
    return array.astype(np.int64)


def _unmasked_rows(value: np.ma.MaskedArray[Any, Any], counts: Splits) -> Flags:
    """Return 1 for unmasked rows, 0 for masked ones. A row's steps must be masked all, or not at all."""
    rows, longest = value.shape[:2]
    mask = np.ma.getmaskarray(value).reshape(rows, longest, -1)
    counted = np.broadcast_to((np.arange(longest) < counts[:, None])[:, :, None], mask.shape)
    some = (mask & counted).any(axis=(1, 2))
    masked = some & (mask | ~counted).all(axis=(1, 2))
    torn = np.nonzero(some & ~masked)[0]
    if len(torn):
        raise InvalidArgumentError(
            f"row {int(torn[0])} is masked in part; only a whole row can be null, and padding needs `lengths`"
        )
    return np.asarray(~masked, np.uint8)


# ---- Lists and splits ----


def _nested_list(values: list[Any]) -> FeatureList:
    rows, _ = uncovered(values)
    for row in rows:
        if row is not None and (isinstance(row, _NO_ROWS) or not hasattr(row, "__len__") or hasattr(row, "columns")):
            raise TypeError(f"expected rows of steps, got a row of type {type(row).__name__}")
    missing = np.fromiter((row is None for row in rows), bool, len(rows))
    rows = [None if row is None else as_sized(row) for row in rows]
    lengths = [0 if row is None else len(row) for row in rows]
    steps = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths, out=steps[1:])
    items = sequence_column(list(itertools.chain.from_iterable(row for row in rows if row is not None)))
    return _split_list(steps, items)._replace(row_valid=(~missing).astype(np.uint8) if missing.any() else None)


def _split_list(steps: Any, items: Column) -> FeatureList:
    return FeatureList(items, all_splits(steps, items, "steps"))


def _arrow_list(items: Column, steps: Splits) -> FeatureList:
    """Make a feature list of Arrow's lists, which may leave values out."""
    steps = np.array(steps, np.int64)  # a copy, which another thread cannot change after the check
    check_splits(steps, items, "steps")
    return FeatureList(items, steps)
