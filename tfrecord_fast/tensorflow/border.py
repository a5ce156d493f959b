"""The border: values of the package become tensors on their way out, and tensors its values on their way in."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._core import RecordBatch
from ..values.bytes_array import BytesArray
from ..values.nests import TensorSpec as PlainSpec
from .tensors import ArrayTensor, BytesTensor, Strings, tensor_of

__all__ = ["lifted", "lowered", "on_arrival", "on_departure", "raised"]

Arrival = Callable[[Any], Any]
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
    return value


def lowered(value: Any) -> Any:
    """The value, or structure of values, as the package takes it."""
    kind = type(value)
    found = _lowerers.get(kind)
    if found is not None:
        return found(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, tuple):
        items = map(lowered, value)
        return kind(*items) if hasattr(value, "_fields") else tuple(items)
    if kind is list:
        return [lowered(item) for item in value]
    if isinstance(value, Mapping):
        return _mapping(value, {key: lowered(item) for key, item in value.items()})
    return value


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
        taken = [lowered(argument) for argument in args]
        return raised(function(*taken, **{name: lowered(value) for name, value in kwargs.items()}))

    return of_tensors


def _of_list(value: list[Any]) -> list[Any]:
    return [raised(item) for item in value]


def _itself(value: Any) -> Any:
    return value


_raisers: dict[type, Arrival] = {
    bytes: BytesTensor,
    np.ndarray: tensor_of,
    RecordBatch: Strings,
    BytesArray: Strings,
    list: _of_list,
    PlainSpec: _itself,
    **{kind: _itself for kind in (int, float, str, bool, type(None), ArrayTensor, BytesTensor, Strings)},
}


def _source(strings: Strings) -> Any:
    return strings.source


_lowerers |= {ArrayTensor: ArrayTensor.numpy, BytesTensor: bytes, Strings: _source}
