"""Feature lists of SequenceExamples: rows of steps, each step a value, a list or an array."""

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
from .arrow_columns import of_node, refuse_objects
from .column import Column, FeatureList, Flags, Splits, all_splits, naming, nest_all
from .columns import column_of
from .sequences import bare, listed, of_sequence

__all__ = ["as_feature_list"]

_NO_ROWS = (str, bytes, bytearray, memoryview, Mapping, Set)


def as_feature_list(key: object, value: Any, lengths: Integers | None = None) -> FeatureList:
    """One feature list of a SequenceExample: rows of steps, each step a value, a list or an array.

    `lengths`: how many steps of each row count, in a dense array `[n, longest, …]`.
    """
    with naming(key, "feature list"):
        return _feature_list_of(value, lengths)


def _feature_list_of(value: Any, lengths: Integers | None) -> FeatureList:
    if lengths is not None:
        return _of_padded(_padded(value), lengths)
    if isinstance(value, SparseTensor) and (value.row_steps is not None or len(value.dense_shape) == 3):
        row_steps, splits = steps_of(value)
        return _of_splits(row_steps, nest_all(splits, column_of(value.values)))
    if hasattr(value, "row_splits") and hasattr(value, "values"):
        return _of_splits(value.row_splits, column_of(value.values))
    if isinstance(value, np.ndarray) and value.dtype.kind == "O" and value.ndim == 1:
        value = value.tolist()  # what is masked becomes None
    if isinstance(value, list | tuple):
        return _of_nested_lists(list(value))
    if isinstance(value, np.ndarray) or (hasattr(value, "shape") and len(value.shape) > 1):
        return _of_padded(_padded(value), None)
    if hasattr(value, "__arrow_c_array__"):
        refuse_objects(value)
        node = _core.arrow_array(*value.__arrow_c_array__())
        if node.kind == "list":
            return _checked(of_node(node.child), node.splits)._replace(row_valid=node.valid)
        if node.kind == "fixed":
            steps = np.arange(node.rows + 1, dtype=np.int64) * node.size
            return _checked(of_node(node.child), steps)._replace(row_valid=node.valid)
    wanted = "rows of steps (a RaggedTensor, nested lists, an array [n, steps, …])"
    raise TypeError(f"expected {wanted}, got {type(value).__name__}")


# ---- Arrays ----


def _padded(value: Any) -> Any:
    """An array or BytesArray with an axis of rows and one of steps."""
    if not isinstance(value, np.ndarray | BytesArray):
        if not hasattr(value, "__array__"):
            raise TypeError(f"expected an array of padded steps, got {type(value).__name__}")
        value = np.asarray(value)
    if value.ndim < 2:
        raise TypeError("expected rows of steps, got one value per row")
    return value


def _of_padded(value: Any, lengths: Integers | None) -> FeatureList:
    rows, longest = value.shape[:2]
    counts = np.full(rows, longest, np.int64) if lengths is None else _lengths_of(lengths, rows, longest)
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


def _lengths_of(lengths: Integers, rows: int, longest: int) -> Splits:
    given = plain(lengths)
    refuse_masked(given, "a length")
    array = np.asarray(given)
    if array.size and array.dtype.kind not in "iu":
        raise InvalidArgumentError(f"lengths: expected integers, got {array.dtype}: {lengths!r:.100}")
    if array.shape != (rows,) or (rows and (array.min() < 0 or array.max() > longest)):
        raise InvalidArgumentError(f"lengths: expected {rows} numbers of 0 to {longest}, got {lengths!r:.100}")
    return array.astype(np.int64)


def _unmasked_rows(value: np.ma.MaskedArray[Any, Any], counts: Splits) -> Flags:
    """1 for the rows that are not masked; the steps that count must be masked all or not at all."""
    rows, longest = value.shape[:2]
    mask = np.ma.getmaskarray(value).reshape(rows, longest, -1)
    counted = np.broadcast_to((np.arange(longest) < counts[:, None])[:, :, None], mask.shape)
    some = (mask & counted).any(axis=(1, 2))
    masked = some & (mask | ~counted).all(axis=(1, 2))
    torn = np.nonzero(some & ~masked)[0]
    if len(torn):
        raise InvalidArgumentError(
            f"row {int(torn[0])} is masked in part: only a whole row can be left out; padding needs `lengths`"
        )
    return np.asarray(~masked, np.uint8)


# ---- Lists and splits ----


def _of_nested_lists(given: list[Any]) -> FeatureList:
    rows, _ = bare(given)
    for row in rows:
        if row is not None and (isinstance(row, _NO_ROWS) or not hasattr(row, "__len__") or hasattr(row, "columns")):
            raise TypeError(f"expected rows of steps, got a row of type {type(row).__name__}")
    missing = np.fromiter((row is None for row in rows), bool, len(rows))
    rows = [None if row is None else listed(row) for row in rows]
    lengths = [0 if row is None else len(row) for row in rows]
    steps = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths, out=steps[1:])
    items = of_sequence(list(itertools.chain.from_iterable(row for row in rows if row is not None)))
    return _of_splits(steps, items)._replace(row_valid=(~missing).astype(np.uint8) if missing.any() else None)


def _of_splits(steps: Any, items: Column) -> FeatureList:
    return FeatureList(items, all_splits(steps, items, "steps"))


def _checked(items: Column, steps: Splits) -> FeatureList:
    """Of Arrow's lists, which may leave values out."""
    steps = np.array(steps, np.int64)  # a copy: the core reads them again, and no one may have changed them by then
    if len(steps) == 0 or steps[0] < 0 or steps[-1] > items.rows or np.any(steps[1:] < steps[:-1]):
        raise InvalidArgumentError(f"row splits must ascend from 0 to at most {items.rows}, the number of steps")
    return FeatureList(items, steps)
