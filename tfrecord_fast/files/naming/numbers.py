"""Record numbers, offsets and sizes as the core takes them: never wrapped around; and what says yes or no."""

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

__all__ = ["as_flag", "as_integers", "as_seed", "at_least", "max_record_size"]

_MOST = (1 << 63) - 1  # of what the core takes


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


def max_record_size(max_record_bytes: int | None) -> int | None:
    """`max_record_bytes` as the core takes it.

    Raises:
      errors.InvalidArgumentError: it is negative.
      TypeError: it is no integer.
    """
    if max_record_bytes is None:
        return None
    most = _index("max_record_bytes", max_record_bytes)
    if most < 0:
        raise InvalidArgumentError(f"max_record_bytes must be at least 0, got {most}")
    return min(most, MAX_RECORD_BYTES)


def as_seed(seed: int | None) -> int:
    """A seed as the core takes it: drawn if there is none."""
    if seed is None:
        return int.from_bytes(os.urandom(8), "little")
    return operator.index(seed) % (1 << 64)


def _index(name: str, value: SupportsIndex) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {type(value).__name__}") from None


def at_least(least: int, name: str, value: int) -> int:
    """An argument as the core takes it.

    Raises:
      errors.InvalidArgumentError: it is less, or 2**63 or more.
      TypeError: it is no integer.
    """
    value = _index(name, value)
    if value < least:
        raise InvalidArgumentError(f"{name} must be at least {least}, got {value}")
    if value > _MOST:
        raise InvalidArgumentError(f"{name} must be below 2**63, got {value}")
    return value


def as_flag(name: str, value: object) -> bool:
    """An argument that says yes or no: a bool, NumPy's too, or 0 or 1.

    Raises:
      TypeError: it is something else, such as "no", which Python takes for true.
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer) and value in (0, 1):
        return bool(value)
    raise TypeError(f"{name} must be True or False, got {value!r:.60}")
