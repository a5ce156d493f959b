"""Elements of datasets: nested tuples and dicts of NumPy values; how they are made, stacked and taken apart.

The semantics are those of tf.data's nests: tuples, named tuples and dicts are structure, a list is one array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from ..dtypes import as_dtype, float32, string
from ..errors import InvalidArgumentError
from .composites import sparse_rows, stack_rows
from .strings import object_array
from .typed import AS_IS, as_ndarray, check_kinds, typed

__all__ = [
    "TensorSpec",
    "column_length",
    "leaves",
    "map_leaves",
    "normalize",
    "returned",
    "rows",
    "spec_of",
    "stack",
]


class TensorSpec(NamedTuple):
    """Shape and dtype of one component of elements; None for a length that is not known."""

    shape: Any = None
    dtype: Any = float32
    name: str | None = None


def normalize(value: Any) -> Any:
    """The element that a value means: Python numbers and lists become NumPy's as TensorFlow types them, str bytes."""
    kind = type(value)
    if kind in AS_IS:
        return value
    if kind is dict:
        return {key: normalize(item) for key, item in value.items()}
    if isinstance(value, tuple):
        items = [normalize(item) for item in value]
        return kind(*items) if hasattr(kind, "_fields") else tuple(items)
    if kind is list and any(hasattr(item, "row_splits") for item in value):
        return stack(value)
    return typed(value)


def returned(value: Any) -> Any:
    """The element that a function's result means: there, a list at the top is a tuple."""
    return normalize(tuple(value) if type(value) is list else value)


def leaves(value: Any) -> list[Any]:
    """The components of a structure, in TensorFlow's order: of a dict by key."""
    if isinstance(value, Mapping):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if isinstance(value, tuple) and not isinstance(value, TensorSpec):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def map_leaves(function: Callable[..., Any], first: Any, *others: Any) -> Any:
    """The structure of `first`, with `function` applied to each component and the others' in the same place."""
    if isinstance(first, Mapping):
        return {key: map_leaves(function, item, *(other[key] for other in others)) for key, item in first.items()}
    if isinstance(first, tuple) and not isinstance(first, TensorSpec):
        items = [map_leaves(function, *item) for item in zip(first, *others, strict=True)]
        return type(first)(*items) if hasattr(first, "_fields") else tuple(items)
    return function(first, *others)


# ---- Batches ----


def stack(elements: list[Any]) -> Any:
    """One element with a new first axis, from elements of the same structure and shapes.

    Raises:
      errors.InvalidArgumentError: their shapes or structures differ.
    """
    first = elements[0]
    if isinstance(first, Mapping):
        _same(all(isinstance(e, Mapping) and e.keys() == first.keys() for e in elements), "keys", elements)
        return {key: stack([element[key] for element in elements]) for key in first}
    if isinstance(first, tuple):
        _same(all(isinstance(e, tuple) and len(e) == len(first) for e in elements), "lengths", elements)
        columns = [stack(list(column)) for column in zip(*elements, strict=True)]
        return type(first)(*columns) if hasattr(first, "_fields") else tuple(columns)
    if first is None:
        return None
    if hasattr(first, "row_splits"):
        return stack_rows(elements)
    return _stack_arrays(elements)


def _same(same: bool, what: str, elements: list[Any]) -> None:
    if not same:
        raise InvalidArgumentError(f"elements of one batch differ in the {what} of their structure: {elements[:2]!r} …")


def _stack_arrays(elements: list[Any]) -> Any:
    first = elements[0]
    if isinstance(first, bytes) and all(isinstance(element, bytes) for element in elements):
        return object_array(elements, (len(elements),))
    if isinstance(first, np.generic):
        if all(type(element) is type(first) for element in elements):
            return np.array(elements, dtype=first.dtype)
    elif not isinstance(first, bytes) and not hasattr(first, "__array__"):
        column = np.empty(len(elements), dtype=object)
        for row, element in enumerate(elements):
            column[row] = element
        return column
    arrays = [as_ndarray(element) for element in elements]
    for row, array in enumerate(arrays):
        if array.shape != arrays[0].shape:
            raise InvalidArgumentError(
                "Cannot batch tensors with different shapes in component 0. "
                f"First element had shape {list(arrays[0].shape)} and element {row} had shape {list(array.shape)}."
            )
    check_kinds(arrays, "a batch")
    return np.stack(arrays)


# ---- Rows ----


def column_length(value: object) -> int:
    """The length of the first axis, which all components share.

    Raises:
      ValueError: their lengths differ, or one has no axis.
    """
    lengths = set()
    for leaf in leaves(value):
        if leaf is None:
            continue
        if isinstance(leaf, bytes | np.generic) or not hasattr(leaf, "__len__"):
            raise InvalidArgumentError(f"a scalar has no rows: {leaf!r}")
        lengths.add(len(leaf))
    if len(lengths) != 1:
        raise InvalidArgumentError(f"Dimensions {sorted(lengths)} are not compatible: components differ in length")
    return lengths.pop()


def rows(value: Any) -> Iterator[Any]:
    """The element's slices along its first axis."""
    length = column_length(value)
    if isinstance(value, Mapping):
        keys = list(value)
        return (
            dict(zip(keys, row, strict=True)) for row in zip(*(_rows(value[key], length) for key in keys), strict=True)
        )
    if isinstance(value, tuple):
        made = zip(*(_rows(item, length) for item in value), strict=True)
        return (type(value)(*row) for row in made) if hasattr(value, "_fields") else made
    return iter(_rows(value, length))


def _rows(value: Any, length: int) -> Iterable[Any]:
    if value is None:
        return [None] * length
    if isinstance(value, Mapping | tuple):
        return rows(value)
    if hasattr(value, "dense_shape"):
        return sparse_rows(value)
    column: Iterable[Any] = value
    return column


# ---- Specs ----


def spec_of(value: Any) -> Any:
    """The structure, with a TensorSpec in place of each component."""

    def one(leaf: Any) -> TensorSpec:
        if isinstance(leaf, bytes):
            return TensorSpec((), string)
        if isinstance(leaf, _core.RecordBatch):
            return TensorSpec((len(leaf),), string)
        try:
            dtype: Any = as_dtype(leaf.dtype)
        except (AttributeError, TypeError):
            dtype = type(leaf)
        return TensorSpec(tuple(getattr(leaf, "shape", ())), dtype)

    return map_leaves(one, value)
