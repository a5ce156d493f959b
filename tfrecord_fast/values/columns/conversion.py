"""Users' values as arrays of a given dtype: defaults, paddings, the values that a generator yields."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidArgumentError
from .strings import strings

_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}  # from bool to integers to floats; never back


def plain(value: Any) -> Any:
    """Return the NumPy value of another library's tensor; every other value as it is."""
    return value.numpy() if hasattr(value, "numpy") and not isinstance(value, np.ndarray | np.generic) else value


def as_array(value: Any, dtype: npt.DTypeLike, what: str = "default_value") -> npt.NDArray[Any]:
    """Return `value` as an array of that NumPy dtype; strings as an object array of bytes.

    As in TensorFlow, bools may become numbers, and NumPy's floats integers if they are whole. Unlike in TensorFlow,
    nothing is truncated silently.
    """
    value = plain(value)
    target = np.dtype(dtype)
    if target.hasobject:
        if isinstance(value, np.ndarray) and not value.size:
            return value.astype(object)
        return strings(value, what)
    refuse_masked(value, what)
    array = np.asarray(value)
    if array.dtype == target:
        return array
    if not array.size and array.dtype.kind not in "OSU":
        return array.astype(target)
    code = array.dtype.kind
    rank = 2 if array.dtype.name == "bfloat16" else _RANK.get(code, 9)
    target_rank = _RANK.get(target.kind, 2)
    if code == "O" and all(type(item) is int for item in array.flat):
        if target_rank == 1:
            raise ValueError(f"{what} {value!r} is out of range for {target.name}")
        array, rank = array.astype(np.float64), 1
    whole = rank == 2 and target_rank == 1 and isinstance(value, np.ndarray | np.generic)
    if (rank > target_rank and not whole) or (target_rank == 0 and rank != 0):
        raise TypeError(f"{what} {value!r} cannot be converted to {target.name}")
    if rank <= 1 or target_rank != 1:
        converted = array.astype(target)
    else:
        with np.errstate(invalid="ignore"):
            converted = array.astype(target)
    if target_rank == 1 and not (converted == array).all():
        if whole and not np.array_equal(np.rint(array), array):
            raise TypeError(f"{what} {value!r} cannot be converted to {target.name}")
        raise ValueError(f"{what} {value!r} is out of range for {target.name}")
    return converted


def fill_value(value: object, dtype: npt.DTypeLike, what: str = "default_value") -> Any:
    """Return one value of that NumPy dtype for numpy.full; 0 or b"" for None. A string in an array keeps its zeros."""
    if value is None:
        return b"" if np.dtype(dtype).hasobject else 0
    array = as_array(value, dtype, what)
    if array.ndim:
        raise ValueError(f"{what} must be a scalar, got {value!r}")
    return array if array.dtype.hasobject else array[()]


def unmasked(value: npt.NDArray[Any], what: str = "a value") -> npt.NDArray[Any]:
    """Return an array without its mask."""
    if not isinstance(value, np.ma.MaskedArray):
        return value
    if np.ma.getmaskarray(value).any():
        raise InvalidArgumentError(f"{what} is masked: {value!r}")
    return np.asarray(value.data)


def refuse_masked(values: object, what: str = "a value") -> None:
    """Raise errors.InvalidArgumentError for a masked entry in nested lists, which NumPy would turn into NaN or 0."""
    if isinstance(values, np.ma.MaskedArray):
        unmasked(values, what)
    elif isinstance(values, list | tuple):
        if any(issubclass(cls, list | tuple | np.ma.MaskedArray) for cls in set(map(type, values))):
            for value in values:
                refuse_masked(value, what)
