"""Caches of what is made of dicts of features, found by the content of the dicts.

A frozen copy is what `_core.find` compares a dict with: lists and arrays are copied, since a script may change them in
place. A value of an unknown class is frozen as a cell, and equals only the same object.
"""

from __future__ import annotations

from types import CellType
from typing import Any

import numpy as np

_CACHE_SIZE = 128
_IMMUTABLE = (bool, int, float, str, bytes, type(None))

Entries = tuple[tuple[Any, ...], ...]


def frozen(value: Any) -> Any:
    """Return the frozen copy of a dict of features, a tuple of its keys and values in turn, or of groups."""
    if type(value) is dict:
        return tuple(part for key, item in value.items() for part in (key, frozen(item)))
    try:
        return _frozen(value)
    except _UnknownClassError:
        return CellType(value)


def thawed(features: tuple[Any, ...]) -> dict[Any, Any]:
    """Return the features of a frozen dict."""
    values = (item.cell_contents if type(item) is CellType else item for item in features[1::2])
    return dict(zip(features[::2], values, strict=True))


def added(entries: Entries, *entry: Any) -> Entries:
    """Return the entries of a cache with a new one: the frozen parts, then what they are found for."""
    return (entry, *entries[: _CACHE_SIZE - 1])


class _UnknownClassError(Exception):
    pass


def _frozen(value: Any) -> Any:
    cls = type(value)
    if cls in _IMMUTABLE or isinstance(value, type | np.dtype) or hasattr(cls, "as_numpy_dtype"):
        return value
    if cls is list:
        return [_frozen(item) for item in value]
    if isinstance(value, tuple) and cls.__iter__ is tuple.__iter__:
        return tuple.__new__(cls, map(_frozen, value))
    if isinstance(value, np.generic) and cls.__module__ == "numpy":
        return value
    if cls is np.ndarray and not value.dtype.hasobject and value.flags.c_contiguous:
        return value.copy()
    raise _UnknownClassError
