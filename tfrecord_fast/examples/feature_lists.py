"""Feature lists of SequenceExamples: rows of steps, each step a value, a list or an array."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .. import _core
from ..errors import InvalidArgumentError
from ..typing import Integers
from .arrow_columns import of_node
from .column import Column, FeatureList, Splits, naming, nest
from .columns import column_of, of_sequence

__all__ = ["as_feature_list"]


def as_feature_list(key: object, value: Any, lengths: Integers | None = None) -> FeatureList:
    """One feature list of a SequenceExample: rows of steps, each step a value, a list or an array.

    `lengths`: how many steps of each row count, in a dense array `[n, longest, …]`.
    """
    with naming(key, "feature list"):
        return _feature_list_of(value, lengths)


def _feature_list_of(value: Any, lengths: Integers | None) -> FeatureList:
    if lengths is not None:
        return _of_padded(value, np.asarray(lengths, np.int64))
    if getattr(value, "row_steps", None) is not None:  # a SparseTensor of parse_sequence_example
        splits = np.asarray(value.row_splits, np.int64)
        return _checked(nest(splits, column_of(value.values)), np.asarray(value.row_steps, np.int64))
    if hasattr(value, "row_splits") and hasattr(value, "values"):
        return _checked(column_of(value.values), np.asarray(value.row_splits, np.int64))
    if isinstance(value, np.ndarray) and value.dtype.kind == "O" and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, list | tuple):
        return _of_nested_lists(list(value))
    if isinstance(value, np.ndarray) or (hasattr(value, "shape") and len(value.shape) > 1):
        return _of_padded(value, None)
    if hasattr(value, "__arrow_c_array__"):
        node = _core.arrow_array(*value.__arrow_c_array__())
        if node.kind == "list":
            return _checked(of_node(node.child), node.splits)._replace(row_valid=node.valid)
        if node.kind == "fixed":
            steps = np.arange(node.rows + 1, dtype=np.int64) * node.size
            return _checked(of_node(node.child), steps)._replace(row_valid=node.valid)
    wanted = "rows of steps (a RaggedTensor, nested lists, an array [n, steps, …])"
    raise TypeError(f"expected {wanted}, got {type(value).__name__}")


def _of_padded(value: Any, lengths: Splits | None) -> FeatureList:
    if len(value.shape) < 2:
        raise TypeError("expected rows of steps, got one value per row")
    rows, longest = value.shape[:2]
    items = column_of(value.reshape(rows * longest, *value.shape[2:]))
    if lengths is None:
        return FeatureList(items, np.arange(rows + 1, dtype=np.int64) * longest)
    if lengths.shape != (rows,) or (rows and (lengths.min() < 0 or lengths.max() > longest)):
        raise InvalidArgumentError(f"lengths: expected {rows} numbers of 0 to {longest}")
    places = np.nonzero(np.arange(longest) < lengths[:, None])
    kept = column_of(value[places])
    steps = np.zeros(rows + 1, np.int64)
    np.cumsum(lengths, out=steps[1:])
    return FeatureList(kept, steps)


def _of_nested_lists(rows: list[Any]) -> FeatureList:
    for row in rows:
        if row is not None and (isinstance(row, str | bytes) or not hasattr(row, "__len__")):
            raise TypeError(f"expected rows of steps, got a row of type {type(row).__name__}")
    missing = np.fromiter((row is None for row in rows), bool, len(rows))
    lengths = [0 if row is None else len(row) for row in rows]
    steps = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths, out=steps[1:])
    items = of_sequence(list(itertools.chain.from_iterable(row for row in rows if row is not None)))
    return FeatureList(items, steps, (~missing).astype(np.uint8) if missing.any() else None)


def _checked(items: Column, steps: Splits) -> FeatureList:
    steps = np.array(steps, np.int64)  # a copy: the core reads them again, and no one may have changed them by then
    if len(steps) == 0 or steps[0] < 0 or steps[-1] > items.rows or np.any(steps[1:] < steps[:-1]):
        raise InvalidArgumentError(f"row splits must ascend from 0 to at most {items.rows}, the number of steps")
    return FeatureList(items, steps)
