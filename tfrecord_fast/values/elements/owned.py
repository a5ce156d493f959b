"""Who may write to an element's arrays: what can be seen again is read-only, and functions get arrays of their own."""

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

__all__ = ["copied", "read_only", "renewed", "snapshot", "writable"]

_Array = npt.NDArray[Any]


def read_only(element: Any) -> Any:
    """The same element in new dicts and tuples, with read-only views of its arrays."""
    return _with_arrays(_view, element)


def snapshot(element: Any) -> Any:
    """As `read_only`, with copies of those arrays that somebody could still write to."""
    return _with_arrays(_kept, element)


def copied(element: Any) -> Any:
    """The same element in new dicts and tuples, with copies of its arrays."""
    return _with_arrays(np.copy, element)


def writable(element: Any) -> Any:
    """The same element in new dicts and tuples, with copies of its read-only arrays: a function may work in place."""
    return _with_arrays(_own, element)


def renewed(element: Any) -> Any:
    """The same element in new dicts and tuples, from which things may be taken."""
    return map_leaves(_itself, element) if isinstance(element, tuple | Mapping) or is_attrs(element) else element


def _itself(leaf: Any) -> Any:
    return leaf


def _with_arrays(function: Callable[[_Array], _Array], element: Any) -> Any:
    if type(element) in AS_IS:
        return element

    def one(leaf: Any) -> Any:
        if isinstance(leaf, np.ndarray):
            return function(leaf)
        return _composite(function, leaf) if isinstance(leaf, SparseTensor | RaggedTensor) else leaf

    return map_leaves(one, element)


def _composite(function: Callable[[_Array], _Array], tensor: Any) -> Any:
    """A SparseTensor or RaggedTensor with `function` applied to each of its arrays."""
    made = copy(tensor)
    for name in type(tensor).__slots__:
        part = getattr(made, name)
        if part is not None:
            setattr(made, name, _with_arrays(function, part))
    return made


def _view(array: _Array) -> _Array:
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def _own(array: _Array) -> _Array:
    return array if array.flags.writeable else array.copy()


def _kept(array: _Array) -> _Array:
    return array if _is_fixed(array) else _view(array.copy())


def _is_fixed(array: _Array) -> bool:
    """Whether nobody can write to the array's memory: a read-only file mapped to memory is not copied, for example."""
    base: Any = array
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return False
        base = base.base
    return base is None or isinstance(base, bytes | mmap.mmap)
