"""Elements of datasets: nested tuples and dicts of NumPy values; how they are made, stacked and taken apart.

The semantics are those of tf.data's nests: tuples, named tuples and dicts are structure, a list is one array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from ..bytes_array import BytesArray
from ..dtypes import float32
from ..errors import InvalidArgumentError

__all__ = [
    "TensorSpec",
    "call",
    "column_length",
    "leaves",
    "map_leaves",
    "normalize",
    "returned",
    "rows",
    "spec_of",
    "stack",
]

_NUMBERS = (np.int64, np.int32, np.float32, np.float64, np.uint8, np.int16, np.int8, np.uint16, np.uint32, np.uint64)
_AS_IS = frozenset({bytes, type(None), np.bool_, *_NUMBERS, np.float16, _core.RecordBatch, BytesArray})


class TensorSpec(NamedTuple):
    """Shape and dtype of one component of elements; None for a length that is not known."""

    shape: Any = None
    dtype: Any = float32
    name: str | None = None


def normalize(value: Any) -> Any:
    """The element that a value means: Python numbers and lists become NumPy's as TensorFlow types them, str bytes."""
    kind = type(value)
    if kind in _AS_IS:
        return value
    if kind is np.ndarray:
        return _bytes_array(value) if value.dtype.kind in "USO" else value
    if kind is dict:
        return {key: normalize(item) for key, item in value.items()}
    if isinstance(value, tuple):
        items = [normalize(item) for item in value]
        return kind(*items) if hasattr(kind, "_fields") else tuple(items)
    if kind is bool:
        return np.bool_(value)
    if kind is int:
        return np.int32(value) if -(1 << 31) <= value < 1 << 31 else np.int64(value)
    if kind is float:
        return np.float32(value)
    if kind is str:
        return value.encode()
    if kind is list:
        return _array(value)
    if hasattr(value, "numpy") and not isinstance(value, np.generic):
        return value.numpy()  # another library's tensor
    return value


def returned(value: Any) -> Any:
    """The element that a function's result means: a list at the top is a tuple there."""
    return normalize(tuple(value) if type(value) is list else value)


def _bytes_array(array: np.ndarray[Any, Any]) -> Any:
    if array.dtype.kind == "O" and all(type(item) is bytes for item in array.flat):
        return array
    made = np.empty(array.shape, dtype=object)
    for place, item in enumerate(array.flat):
        made.flat[place] = item.encode() if isinstance(item, str) else bytes(item) if array.dtype.kind == "S" else item
    return made


def _array(values: list[Any]) -> Any:
    """One array of a list, typed as TensorFlow types it."""
    if any(hasattr(item, "row_splits") for item in values):
        return stack(values)
    leaf: Any = values
    while type(leaf) in (list, tuple) and len(leaf):
        leaf = leaf[0]
    if isinstance(leaf, bytes | str):
        return _bytes_array(np.array(values, dtype=object))
    array = np.asarray(values)
    if array.size == 0 and type(leaf) is list:
        return array.astype(np.float32)
    if array.dtype == np.int64 and type(leaf) is int:
        fits = array.size == 0 or (array.min() >= -(1 << 31) and array.max() < 1 << 31)
        return array.astype(np.int32) if fits else array
    if array.dtype == np.float64 and type(leaf) in (float, int):
        return array.astype(np.float32)
    return _bytes_array(array) if array.dtype.kind in "USO" else array


def name_of(function: Any) -> str:
    """What repr calls a function."""
    return str(getattr(function, "__qualname__", type(function).__name__)).rpartition(".")[2]


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose StopIteration is an error and not the end of the elements."""

    def guard(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except StopIteration as error:
            raise _stopped(function) from error

    return guard


def _stopped(function: Callable[..., Any]) -> InvalidArgumentError:
    return InvalidArgumentError(f"the function {name_of(function)} raised StopIteration")


def call(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """The function as one of a single element: a tuple is unpacked into its arguments."""

    def of_element(element: Any) -> Any:
        try:
            return returned(function(*element) if type(element) is tuple else function(element))
        except StopIteration as error:
            raise _stopped(function) from error

    return of_element


def leaves(value: Any) -> list[Any]:
    """The components of a structure, in TensorFlow's order: of a dict by key."""
    if isinstance(value, Mapping):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if isinstance(value, tuple) and not isinstance(value, TensorSpec):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def map_leaves(function: Callable[..., Any], first: Any, *others: Any) -> Any:
    """The structure of `first` with `function` of each component, and of the others' in the same place."""
    if isinstance(first, Mapping):
        return {key: map_leaves(function, item, *(other[key] for other in others)) for key, item in first.items()}
    if isinstance(first, tuple) and not isinstance(first, TensorSpec):
        items = [map_leaves(function, *item) for item in zip(first, *others, strict=True)]
        return type(first)(*items) if hasattr(first, "_fields") else tuple(items)
    return function(first, *others)


# ---- Batches ----


def stack(elements: list[Any]) -> Any:
    """One element with a new first axis, of elements alike.

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
        from ._rows import stack_rows

        return stack_rows(elements)
    return _stack_arrays(elements)


def _same(same: bool, what: str, elements: list[Any]) -> None:
    if not same:
        raise InvalidArgumentError(f"elements of one batch differ in the {what} of their structure: {elements[:2]!r} …")


def _stack_arrays(elements: list[Any]) -> Any:
    first = elements[0]
    if isinstance(first, bytes):
        column = np.empty(len(elements), dtype=object)
        column[:] = elements
        return column
    if isinstance(first, np.generic):
        if all(type(element) is type(first) for element in elements):
            return np.array(elements, dtype=first.dtype)
    elif not hasattr(first, "__array__"):
        column = np.empty(len(elements), dtype=object)
        for row, element in enumerate(elements):
            column[row] = element
        return column
    arrays = [np.asarray(element) for element in elements]
    for row, array in enumerate(arrays):
        if array.shape != arrays[0].shape:
            raise InvalidArgumentError(
                "Cannot batch tensors with different shapes in component 0. "
                f"First element had shape {list(arrays[0].shape)} and element {row} had shape {list(array.shape)}."
            )
    return np.stack(arrays)


# ---- Rows ----


def column_length(value: Any) -> int:
    """The length of the first axis, which all components share.

    Raises:
      ValueError: they do not, or one has no axis.
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


def _rows(value: Any, length: int) -> Any:
    if value is None:
        return [None] * length
    if isinstance(value, Mapping | tuple):
        return rows(value)
    if hasattr(value, "dense_shape"):
        from ._rows import sparse_rows

        return sparse_rows(value)
    return value


# ---- Specs ----


def spec_of(value: Any) -> Any:
    """The structure with a TensorSpec for each component."""
    from .. import dtypes

    def one(leaf: Any) -> TensorSpec:
        if isinstance(leaf, bytes):
            return TensorSpec((), dtypes.string)
        if isinstance(leaf, _core.RecordBatch):
            return TensorSpec((len(leaf),), dtypes.string)
        try:
            dtype: Any = dtypes.as_dtype(leaf.dtype)
        except (AttributeError, TypeError):
            dtype = type(leaf)
        return TensorSpec(tuple(getattr(leaf, "shape", ())), dtype)

    return map_leaves(one, value)
