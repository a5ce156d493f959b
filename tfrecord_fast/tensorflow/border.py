"""The border: values of the package become tensors on their way out, and tensors its values on their way in."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .._core import RecordBatch, unchanged
from ..examples.features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature
from ..values.columns.bytes_array import BytesArray
from ..values.elements.attrs_classes import attrs_like, is_attrs, items_of
from ..values.elements.specs import TensorSpec as PlainSpec
from .arithmetic import converted
from .columns import Columns, columns_of
from .tensors import ArrayTensor, BytesTensor, Strings, tensor_of

__all__ = ["lifted", "lowered", "on_arrival", "on_departure", "raised"]

Arrival = Callable[[Any], Any]
_FEATURES = (FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature)
_lowerers: dict[type, Arrival] = {}


def on_departure(kind: type, raiser: Arrival) -> None:
    """Says what values of a type become for scripts."""
    _raisers[kind] = raiser


def on_arrival(kind: type, lowerer: Arrival) -> None:
    """Says what the package gets in place of a type of the face."""
    _lowerers[kind] = lowerer


def raised(value: Any) -> Any:
    """The value, or structure of values, as scripts get it."""
    kind = type(value)
    found = _raisers.get(kind)
    if found is not None:
        return found(value)
    if isinstance(value, np.ndarray | np.generic):
        return tensor_of(np.asarray(value))
    if isinstance(value, tuple):
        items = map(raised, value)
        return kind(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, Mapping):
        return _mapping(value, {key: raised(item) for key, item in value.items()})
    return attrs_like(value, map(raised, items_of(value))) if is_attrs(value) else value


def lowered(value: Any) -> Any:
    """The value, or structure of values, as the package takes it; the same object if no tensor is in it.

    A dict of features stays the one that the package knows the plan of.
    """
    kind = type(value)
    found = _lowerers.get(kind)
    if found is not None:
        return found(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, tuple):
        items = [lowered(item) for item in value]
        if _are_same(items, value):
            return value
        return kind(*items) if hasattr(value, "_fields") else tuple(items)
    if kind is list:
        items = [lowered(item) for item in value]
        if _are_same(items, value):
            return value
        return _one_array(items) if ArrayTensor in map(type, value) else items
    if isinstance(value, Mapping):
        items = [lowered(item) for item in value.values()]
        return value if _are_same(items, value.values()) else _mapping(value, dict(zip(value, items, strict=True)))
    if is_attrs(value):
        given = items_of(value)
        items = [lowered(item) for item in given]
        return value if _are_same(items, given) else attrs_like(value, items)
    return value


def _one_array(items: list[Any]) -> Any:
    """A list of tensors of one dtype and shape, and of numbers, as a tensor of these; any other list as it is."""
    arrays = [np.asarray(item) for item in items if isinstance(item, np.ndarray | np.generic)]
    first = arrays[0]
    if any(array.dtype != first.dtype for array in arrays):
        raise TypeError(f"a list of tensors of dtypes {', '.join(sorted({str(array.dtype) for array in arrays}))}")
    if any(array.shape != first.shape for array in arrays):
        return items
    if len(arrays) == len(items):
        return np.array(items, first.dtype)
    if first.shape or not all(isinstance(item, int | float | np.generic | np.ndarray) for item in items):
        return items
    return np.array([converted(item, first.dtype) for item in items], first.dtype)


def _are_same(items: list[Any], others: Iterable[Any]) -> bool:
    return all(map(operator.is_, items, others))


_PLAIN = frozenset({int, float, str, bytes, bool, type(None), np.ndarray})


def _mapping(like: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    kind: Any = type(like)
    if kind is dict:
        return items
    try:
        return kind(items)
    except TypeError:
        return items


def lifted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the package as one that takes and gives tensors."""

    @functools.wraps(function)
    def of_tensors(*args: Any, **kwargs: Any) -> Any:
        # A byte string is one for the package, too; no copy.
        taken = [argument if type(argument) is BytesTensor else lowered(argument) for argument in args]
        if not kwargs:
            return raised(function(*taken))
        return raised(function(*taken, **{name: lowered(value) for name, value in kwargs.items()}))

    return of_tensors


def _of_list(value: list[Any]) -> list[Any]:
    return [raised(item) for item in value]


def _of_dict(value: dict[Any, Any]) -> Columns:
    return columns_of(value, raised)


def _of_number(value: Any) -> Any:
    return _as_array(value).view(ArrayTensor)


def _itself(value: Any) -> Any:
    return value


_as_array = np.asarray
_NUMBERS = tuple(np.dtype(code).type for code in "?bBhHiIlLqQefdFD")

_raisers: dict[type, Arrival] = {
    bytes: BytesTensor,
    np.ndarray: tensor_of,
    RecordBatch: Strings,
    BytesArray: Strings,
    list: _of_list,
    dict: _of_dict,
    PlainSpec: _itself,
    **{kind: _of_number for kind in _NUMBERS},
    **{kind: _itself for kind in (int, float, str, bool, type(None), ArrayTensor, BytesTensor, Columns, Strings)},
}


def _source(strings: Strings) -> Any:
    return strings.source


# Dicts of features that have no tensor in them, by identity, with their keys and values: scripts give the same dict for
# each record. What a snapshot holds stays alive, so no other object can have taken its place.
_CACHE_SIZE = 128
_features: dict[int, tuple[object, ...]] = {}


def _of_plain_dict(value: dict[Any, Any]) -> dict[Any, Any]:
    known = _features.get(id(value))
    if known is not None and unchanged(value, known):
        return value
    items = {key: lowered(item) for key, item in value.items()}
    if not _are_same(list(items.values()), value.values()):
        return items
    if value and isinstance(next(iter(value.values())), _FEATURES):
        while len(_features) >= _CACHE_SIZE:
            _features.pop(next(iter(_features)), None)
        _features[id(value)] = tuple(part for item in value.items() for part in item)
    return value


def _of_columns(columns: Columns) -> dict[Any, Any]:
    return columns.plain(lowered, _SEALED)


# What a script can't change. Others, such as a list in a dict, are looked through again.
_SEALED = frozenset({ArrayTensor, BytesTensor, Strings, bytes, np.ndarray, RecordBatch, BytesArray, *_NUMBERS})


_lowerers |= {
    dict: _of_plain_dict,
    Columns: _of_columns,
    ArrayTensor: ArrayTensor.plain,
    BytesTensor: bytes,
    Strings: _source,
}
