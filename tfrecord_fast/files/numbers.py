"""Record numbers, offsets and sizes as the core takes them: int64, never wrapped around."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from ..typing import Integers

__all__ = ["as_integers"]


def as_integers(values: Integers, name: str) -> NDArray[np.int64]:
    """An int64 array [n]; raises TypeError for anything but integers, and never wraps a large one around."""
    given = values if isinstance(values, np.ndarray | Sequence) else list(values)
    array = np.asarray(given)
    if array.dtype.kind == "f" and array is not given:  # NumPy may make floats of Python's large integers
        array = np.array(given, object)
    if array.ndim != 1:
        raise TypeError(f"`{name}` must have one dimension, got shape {array.shape}")
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind == "i" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        return np.ascontiguousarray(array, np.int64)
    if array.dtype.kind in "uO":
        return np.array([_integer(value) for value in array.tolist()], np.int64)
    raise TypeError(f"`{name}` must be integers, got {array.dtype}")


def _integer(key: SupportsIndex) -> int:
    try:
        number = operator.index(key)
    except TypeError:
        raise TypeError(f"record indices are integers or slices, not {type(key).__name__}") from None
    if not -(2**63) <= number < 2**63:
        raise IndexError(f"record index {number} is out of range")
    return number
