"""Conversion between plain values and tensors: `wrap` what scripts get, `unwrap` what the package gets."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..._core import RecordBatch, find
from ...examples.features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature
from ...examples.parsing import contents
from ...values.columns.bytes_array import BytesArray
from ...values.elements.attrs_classes import attrs_like, is_attrs, items_of
from ...values.elements.specs import TensorSpec as PlainSpec
from .arithmetic import convert
from .columns import Columns, wrap_columns
from .tensor import ArrayTensor, BytesTensor, Strings, as_tensor

Converter = Callable[[Any], Any]
_FEATURES = (FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature)
_unwrappers: dict[type, Converter] = {}


def register_wrapper(cls: type, wrapper: Converter) -> None:
    """Set the function that converts plain values of a class for scripts."""
    _wrappers[cls] = wrapper


def register_unwrapper(cls: type, unwrapper: Converter) -> None:
    """Set the function that converts values of a class for the package."""
    _unwrappers[cls] = unwrapper


def wrap(value: Any) -> Any:
    """Convert a plain value, or structure of values, to tensors."""
    cls = type(value)
    wrapper = _wrappers.get(cls)
    if wrapper is not None:
        return wrapper(value)
    if isinstance(value, np.ndarray | np.generic):
        return as_tensor(np.asarray(value))
    if isinstance(value, tuple):
        items = map(wrap, value)
        return cls(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, Mapping):
        return _mapping_like(value, {key: wrap(item) for key, item in value.items()})
    return attrs_like(value, map(wrap, items_of(value))) if is_attrs(value) else value


def unwrap(value: Any) -> Any:
    """Convert tensors in a structure to plain values; return the same object if it holds none."""
    cls = type(value)
    unwrapper = _unwrappers.get(cls)
    if unwrapper is not None:
        return unwrapper(value)
    if cls in _PLAIN:
        return value
    if isinstance(value, tuple):
        items = [unwrap(item) for item in value]
        if _are_same(items, value):
            return value
        return cls(*items) if hasattr(value, "_fields") else tuple(items)
    if cls is list:
        items = [unwrap(item) for item in value]
        if _are_same(items, value):
            return value
        return _as_one_array(items) if ArrayTensor in map(type, value) else items
    if isinstance(value, Mapping):
        items = [unwrap(item) for item in value.values()]
        return value if _are_same(items, value.values()) else _mapping_like(value, dict(zip(value, items, strict=True)))
    if is_attrs(value):
        before = items_of(value)
        items = [unwrap(item) for item in before]
        return value if _are_same(items, before) else attrs_like(value, items)
    return value


def _as_one_array(items: list[Any]) -> Any:
    """Join arrays of one dtype and shape, and numbers among them, into one array; return other lists unchanged."""
    arrays = [np.asarray(item) for item in items if isinstance(item, np.ndarray | np.generic)]
    first = arrays[0]
    if any(array.dtype != first.dtype for array in arrays):
        dtypes = sorted({str(array.dtype) for array in arrays})
        raise TypeError(f"the tensors of a list must have one dtype, got {', '.join(dtypes)}")
    if any(array.shape != first.shape for array in arrays):
        return items
    if len(arrays) == len(items):
        return np.array(items, first.dtype)
    if first.shape or not all(isinstance(item, int | float | np.generic | np.ndarray) for item in items):
        return items
    return np.array([convert(item, first.dtype) for item in items], first.dtype)


def _are_same(items: list[Any], others: Iterable[Any]) -> bool:
    return all(map(operator.is_, items, others))


_PLAIN = frozenset({int, float, str, bytes, bool, type(None), np.ndarray})


def _mapping_like(mapping: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    cls: Any = type(mapping)
    if cls is dict:
        return items
    try:
        return cls(items)
    except TypeError:
        return items


def wrap_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the package as a function that takes and returns tensors."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        # A BytesTensor is bytes for the package: no copy.
        arguments = [argument if type(argument) is BytesTensor else unwrap(argument) for argument in args]
        if not kwargs:
            return wrap(function(*arguments))
        return wrap(function(*arguments, **{name: unwrap(value) for name, value in kwargs.items()}))

    return call


def _wrap_number(value: Any) -> Any:
    return ArrayTensor(_as_array(value))


def _unchanged(value: Any) -> Any:
    return value


_as_array = np.asarray
_NUMBERS = tuple(np.dtype(code).type for code in "?bBhHiIlLqQefdFD")

_wrappers: dict[type, Converter] = {
    bytes: BytesTensor,
    np.ndarray: as_tensor,
    RecordBatch: Strings,
    BytesArray: Strings,
    list: lambda value: [wrap(item) for item in value],
    dict: lambda value: wrap_columns(value, wrap),
    PlainSpec: _unchanged,
    **{cls: _wrap_number for cls in _NUMBERS},
    **{cls: _unchanged for cls in (int, float, str, bool, type(None), ArrayTensor, BytesTensor, Columns, Strings)},
}


# Dicts of features without tensors, found by their content: scripts pass one, or make it anew, for each record.
_features: contents.Entries = ()


def _unwrap_dict(value: dict[Any, Any]) -> dict[Any, Any]:
    global _features
    features: dict[Any, Any] | None = find(_features, value)
    if features is not None:
        return features
    if value and isinstance(next(iter(value.values())), _FEATURES):
        frozen = contents.frozen(value)
        features = {key: unwrap(item) for key, item in contents.thawed(frozen).items()}
        _features = contents.added(_features, frozen, features)
        return features
    items = {key: unwrap(item) for key, item in value.items()}
    return value if _are_same(list(items.values()), value.values()) else items


# Values that a script can't change. Others, such as a list in a dict, are searched again.
_IMMUTABLE = frozenset({ArrayTensor, BytesTensor, Strings, bytes, np.ndarray, RecordBatch, BytesArray, *_NUMBERS})


_unwrappers |= {
    dict: _unwrap_dict,
    Columns: lambda columns: columns.plain(unwrap, _IMMUTABLE),
    ArrayTensor: ArrayTensor.plain,
    BytesTensor: bytes,
    Strings: lambda strings: strings.source,
}
