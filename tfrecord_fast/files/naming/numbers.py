"""Flags, record numbers, offsets and sizes, checked for the core; large integers never wrap around."""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from ...base.record_format import MAX_RECORD_BYTES
from ...errors import InvalidArgumentError
from ...typing import Integers

_MOST = (1 << 63) - 1  # the largest integer in the core


def as_integers(values: Integers, name: str) -> NDArray[np.int64]:
    """Convert to an int64 array of one dimension."""
    sequence = values if isinstance(values, np.ndarray | Sequence) else list(values)
    array = np.asarray(sequence)
    if array.dtype.kind == "f" and array is not sequence:  # NumPy may convert large integers to floats
        array = np.array(sequence, object)
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
        raise TypeError(f"record indices must be integers or slices, not {type(key).__name__}") from None
    if not -(2**63) <= number < 2**63:
        raise IndexError(f"record index {number} is out of range")
    return number


def max_record_size(max_record_bytes: int | None) -> int | None:
    if max_record_bytes is None:
        return None
    limit = _index("max_record_bytes", max_record_bytes)
    if limit < 0:
        raise InvalidArgumentError(f"max_record_bytes must be at least 0, got {limit}")
    return min(limit, MAX_RECORD_BYTES)


def as_seed(seed: int | None) -> int:
    """Return a seed modulo 2**64; a random one for None."""
    if seed is None:
        return int.from_bytes(os.urandom(8), "little")
    return _index("seed", seed) % (1 << 64)


def _index(name: str, value: SupportsIndex) -> int:
    try:
        if not isinstance(value, bool | np.bool_):  # True would be a size of one
            return operator.index(value)
    except TypeError:
        pass
    raise TypeError(f"{name} must be an integer, got {type(value).__name__}")


def at_least(least: int, name: str, value: int) -> int:
    value = _index(name, value)
    if value < least:
        raise InvalidArgumentError(f"{name} must be at least {least}, got {value}")
    if value > _MOST:
        raise InvalidArgumentError(f"{name} must be below 2**63, got {value}")
    return value


def as_flag(name: str, value: object) -> bool:
    """Convert a flag: a bool (also NumPy's), 0 or 1.

    Raises:
      TypeError: any other value, such as "no", which is true in Python.
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer) and value in (0, 1):
        return bool(value)
    raise TypeError(f"{name} must be True or False, got {value!r:.60}")
