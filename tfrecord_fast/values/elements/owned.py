"""Ownership of an element's arrays: those that are yielded again are read-only, and functions get their own copies."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from ..columns.ragged import RaggedTensor
from ..columns.sparse import SparseTensor
from ..columns.typed import AS_IS
from .attrs_classes import is_attrs
from .nests import map_leaves

_Array = npt.NDArray[Any]


def read_only(element: Any) -> Any:
    return _with_arrays(_view, element)


def snapshot(element: Any) -> Any:
    """Return the element as `read_only` does, with copies of arrays that other code could still write to."""
    return _with_arrays(_frozen, element)


def copied(element: Any) -> Any:
    return _with_arrays(np.copy, element)


def writable(element: Any) -> Any:
    """Return the element in new dicts and tuples, with copies of its read-only arrays, for functions that write."""
    return _with_arrays(_own, element)


def renewed(element: Any) -> Any:
    """Return the element in new dicts and tuples, which may be changed."""
    return (
        map_leaves(lambda leaf: leaf, element) if isinstance(element, tuple | Mapping) or is_attrs(element) else element
    )


def _with_arrays(function: Callable[[_Array], _Array], element: Any) -> Any:
    if type(element) in AS_IS:
        return element

    def converted(leaf: Any) -> Any:
        if isinstance(leaf, np.ndarray):
            return function(leaf)
        return _composite(function, leaf) if isinstance(leaf, SparseTensor | RaggedTensor) else leaf

    return map_leaves(converted, element)


def _composite(function: Callable[[_Array], _Array], tensor: Any) -> Any:
    result = copy(tensor)
    for name in type(tensor).__slots__:
        value = getattr(result, name)
        if value is not None:
            setattr(result, name, _with_arrays(function, value))
    return result


def _view(array: _Array) -> _Array:
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def _own(array: _Array) -> _Array:
    return array if array.flags.writeable else array.copy()


def _frozen(array: _Array) -> _Array:
    return array if _is_immutable(array) else _view(array.copy())


def _is_immutable(array: _Array) -> bool:
    """Return True if no code can write to the array's memory, such as a file mapped read-only."""
    base: Any = array
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return False
        base = base.base
    return base is None or isinstance(base, bytes | mmap.mmap)
