"""Elements of datasets: nested tuples and dicts of NumPy values, normalised, stacked, sliced and mapped over.

The semantics are those of tf.data's nests: tuples, named tuples, dicts and instances of attrs classes are structure, a
list is one array.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ... import _core
from ...dtypes import as_dtype, string
from ...errors import InvalidArgumentError
from ..columns.ragged import RaggedTensor
from ..columns.sparse import SparseTensor
from ..columns.strings import object_array
from ..columns.typed import AS_IS, as_ndarray, typed
from .attrs_classes import attribute_names, attrs_like, is_attrs, items_of
from .composites import sparse_rows, stack_rows
from .specs import DatasetSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec


def normalize(value: Any) -> Any:
    """Return a value as an element: Python numbers and lists get the dtypes that TensorFlow chooses, str is bytes."""
    cls = type(value)
    if cls in AS_IS:
        return value
    if cls is dict:
        return {key: normalize(item) for key, item in value.items()}
    if cls is np.ndarray:
        return typed(value)
    if isinstance(value, tuple):
        lengths: Any = getattr(value, "as_list", None)
        if lengths is not None:  # a TensorShape is one value
            return np.array(lengths(), np.int32)
        return _tuple_like(value, [normalize(item) for item in value])
    if cls is list and any(hasattr(type(item), "row_splits") for item in value):
        return stack(value)
    if isinstance(value, Mapping):
        return _mapping_like(value, {key: normalize(item) for key, item in value.items()})
    if is_attrs(value):
        return attrs_like(value, [normalize(item) for item in items_of(value)])
    return typed(value)


def returned(value: Any) -> Any:
    """Return the result of a function as an element. A list at the top is a tuple there."""
    return normalize(tuple(value) if type(value) is list else value)


def leaves(value: Any) -> list[Any]:
    """Return the components of a structure, in TensorFlow's order: those of a dict by key."""
    if isinstance(value, Mapping):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if _is_structure(value):
        return [leaf for item in _items(value) for leaf in leaves(item)]
    return [value]


def parallel(like: Any, other: Any, what: str, none_spreads: bool = False) -> list[Any]:
    """Return the components of `other`, which has the structure of `like`, in the order of `leaves`.

    With `none_spreads`, None instead of a structure is None for each of its components.
    """
    return [component for _, component in _parallel(like, other, what, "", none_spreads)]


def places(value: Any) -> list[str]:
    """Return the name of each component, in the order of `leaves`: "component ['a'][0]", or "an element" for one."""
    return [name for name, _ in _parallel(value, value, "", "")]


def _parallel(like: Any, other: Any, what: str, path: str, none_spreads: bool = False) -> list[tuple[str, Any]]:
    name = f"component {path}" if path else "an element"
    if other is None and none_spreads:
        return [(name, None)] * len(leaves(like))
    if isinstance(like, Mapping):
        if not isinstance(other, Mapping) or other.keys() != like.keys():
            raise InvalidArgumentError(f"{what}: {name} is a dict with the keys {sorted(like)}, got {other!r:.200}")
        pairs = [(like[key], other[key], f"[{key!r}]") for key in sorted(like)]
    elif not _is_structure(like):
        return [(name, other)]
    else:
        if not _fits(like, other):
            expected = f"is of the class {type(like).__name__}" if is_attrs(like) else f"has {len(like)} items"
            raise InvalidArgumentError(f"{what}: {name} {expected}, got {other!r:.200}")
        names = attribute_names(type(like)) if is_attrs(like) else getattr(like, "_fields", None)
        steps = [f"[{i}]" for i in range(len(like))] if names is None else [f".{name}" for name in names]
        pairs = list(zip(_items(like), _items(other), steps, strict=True))
    return [leaf for a, b, step in pairs for leaf in _parallel(a, b, what, path + step, none_spreads)]


def pack(like: Any, components: Iterable[Any]) -> Any:
    """Return the structure of `like`, with these components in the order of `leaves`."""
    return _packed(like, iter(components))


def _packed(like: Any, components: Iterator[Any]) -> Any:
    if isinstance(like, Mapping):
        items = {key: _packed(like[key], components) for key in sorted(like)}
        return _mapping_like(like, {key: items[key] for key in like})
    if _is_structure(like):
        return _like(like, [_packed(item, components) for item in _items(like)])
    return next(components)


def map_leaves(function: Callable[..., Any], first: Any, *others: Any) -> Any:
    if isinstance(first, Mapping):
        for other in others:
            _check(isinstance(other, Mapping) and other.keys() == first.keys(), "keys", first, other)
        items = {key: map_leaves(function, item, *(other[key] for other in others)) for key, item in first.items()}
        return _mapping_like(first, items)
    if _is_structure(first):
        for other in others:
            _check(_fits(first, other), "classes" if is_attrs(first) else "lengths", first, other)
        columns = zip(_items(first), *map(_items, others), strict=True)
        return _like(first, [map_leaves(function, *items) for items in columns])
    return function(first, *others)


def _is_structure(value: Any) -> bool:
    return (isinstance(value, tuple) and not isinstance(value, TensorSpec)) or is_attrs(value)


def _items(value: Any) -> Any:
    return items_of(value) if is_attrs(value) else value


def _fits(first: Any, other: Any) -> bool:
    """Return True if `other`, which may be a list, has as many items; attrs classes must be the same."""
    if is_attrs(first) or is_attrs(other):
        return type(other) is type(first)
    return isinstance(other, tuple | list) and len(other) == len(first)


def _like(like: Any, items: Iterable[Any]) -> Any:
    return attrs_like(like, items) if is_attrs(like) else _tuple_like(like, items)


def _tuple_like(like: tuple[Any, ...], items: Iterable[Any]) -> Any:
    return type(like)(*items) if hasattr(like, "_fields") else tuple(items)


def _mapping_like(like: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    """Return the items in a mapping of that type, or in a dict if its class does not take a dict."""
    cls: Any = type(like)
    if cls is dict:
        return items
    if isinstance(like, defaultdict):
        return defaultdict(like.default_factory, items)
    try:
        return cls(items)
    except TypeError:
        return items


def _check(same: bool, what: str, first: Any, other: Any) -> None:
    if not same:
        raise InvalidArgumentError(f"structures differ in their {what}: {first!r:.200} and {other!r:.200}")


# ---- Batches ----


def stack(elements: list[Any]) -> Any:
    """Stack elements of the same structure, types and shapes into one element with a new first axis.

    Raises:
      errors.InvalidArgumentError: shapes, types or structures differ.
    """
    first = elements[0]
    if isinstance(first, Mapping):
        for element in elements:
            _check(isinstance(element, Mapping) and element.keys() == first.keys(), "keys", first, element)
        return _mapping_like(first, {key: stack([element[key] for element in elements]) for key in first})
    if isinstance(first, tuple) or is_attrs(first):
        for element in elements:
            same = type(element) is type(first) and (is_attrs(first) or len(element) == len(first))
            _check(same, "lengths or types", first, element)
        return _like(first, [stack(list(column)) for column in zip(*map(_items, elements), strict=True)])
    if first is None or hasattr(type(first), "row_splits"):
        for element in elements:
            _check(type(element) is type(first), "types", first, element)
        return None if first is None else stack_rows(elements)
    for element in elements:
        _check(not hasattr(type(element), "row_splits"), "types", first, element)
    return _stack_arrays(elements)


def _stack_arrays(elements: list[Any]) -> Any:
    first = elements[0]
    if isinstance(first, bytes):
        for element in elements:
            _check(isinstance(element, bytes), "types", first, element)
        return object_array(elements, (len(elements),))
    if isinstance(first, np.generic):
        if all(type(element) is type(first) for element in elements):
            return np.array(elements, dtype=first.dtype)
    elif not hasattr(first, "__array__"):
        column = np.empty(len(elements), dtype=object)
        for row, element in enumerate(elements):
            column[row] = element
        return column
    arrays = same_kinds(elements)
    for row, array in enumerate(arrays):
        if array.shape != arrays[0].shape:
            raise InvalidArgumentError(
                "Cannot batch tensors with different shapes in component 0. "
                f"First element had shape {list(arrays[0].shape)} and element {row} had shape {list(array.shape)}."
            )
    return np.stack(arrays)


def same_kinds(elements: list[Any]) -> list[np.ndarray[Any, Any]]:
    """Return elements as arrays, whose dtypes may differ only in ways that change no value."""
    arrays = [as_ndarray(element) for element in elements]
    dtypes = {array.dtype for array in arrays}
    if len(dtypes) > 1:
        kinds = {"i" if dtype.kind == "u" else dtype.kind for dtype in dtypes}
        if len(kinds) > 1 or np.result_type(*dtypes).kind not in (kinds | {"u"}):
            raise InvalidArgumentError(
                f"elements of one batch differ in their dtypes: {', '.join(sorted(map(str, dtypes)))}"
            )
    return arrays


# ---- Rows ----


def column_length(value: object) -> int:
    """Return the length of the first axis, which all components share."""
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


def rows(value: Any, length: int | None = None) -> Iterator[Any]:
    """Yield the element's slices along its first axis, whose length is `length` if set."""
    return _sliced(value, column_length(value) if length is None else length)


def _sliced(value: Any, length: int) -> Iterator[Any]:
    if isinstance(value, Mapping) and value:
        keys = list(value)
        columns = zip(*(_rows(value[key], length) for key in keys), strict=True)
        return map(lambda row: _mapping_like(value, dict(zip(keys, row, strict=True))), columns)
    if (isinstance(value, tuple) or is_attrs(value)) and _items(value):
        columns = zip(*(_rows(item, length) for item in _items(value)), strict=True)
        return columns if type(value) is tuple else map(lambda row: _like(value, row), columns)
    return iter(_rows(value, length))


def _rows(value: Any, length: int) -> Iterable[Any]:
    is_nest = isinstance(value, Mapping | tuple) or is_attrs(value)
    if value is None or (is_nest and not (items_of(value) if is_attrs(value) else value)):
        return [value] * length
    if is_nest:
        return _sliced(value, length)
    if hasattr(value, "dense_shape"):
        return sparse_rows(value)
    column: Iterable[Any] = value
    return column


# ---- Specs ----


def spec_of(value: Any) -> Any:

    def leaf_spec(leaf: Any) -> TensorSpec:
        if isinstance(leaf, SparseTensor):
            return SparseTensorSpec(tuple(map(int, leaf.dense_shape)), as_dtype(leaf.dtype))
        if isinstance(leaf, RaggedTensor):
            shape = (len(leaf), *leaf.shape[1:])
            return RaggedTensorSpec(shape, as_dtype(leaf.dtype), leaf.ragged_rank, as_dtype(leaf.row_splits.dtype))
        if isinstance(leaf, bytes):
            return TensorSpec((), string)
        if isinstance(leaf, _core.RecordBatch):
            return TensorSpec((len(leaf),), string)
        if hasattr(leaf, "element_spec"):
            return DatasetSpec(leaf.element_spec)
        try:
            dtype: Any = as_dtype(leaf.dtype)
        except (AttributeError, TypeError):
            dtype = type(leaf)
        return TensorSpec(tuple(getattr(leaf, "shape", ())), dtype)

    return map_leaves(leaf_spec, value)


def kind_of(element: Any) -> Any:
    """Return the structure of an element and the dtypes of its components, which a dataset's elements share."""
    if isinstance(element, Mapping):
        return {key: kind_of(element[key]) for key in sorted(element)}
    if isinstance(element, TensorSpec):
        return getattr(element.dtype, "name", element.dtype)
    if isinstance(element, tuple):
        return (getattr(element, "_fields", ()), *map(kind_of, element))
    if is_attrs(element):
        return ((type(element).__qualname__, *attribute_names(type(element))), *map(kind_of, items_of(element)))
    name = kind_of(spec_of(element))
    return f"{type(element).__name__} of {name}" if hasattr(type(element), "row_splits") else name
