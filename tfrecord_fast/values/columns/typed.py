"""Python values as NumPy values, in the dtypes that TensorFlow chooses: ints int32, floats float32, str bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from .bytes_array import BytesArray
from .conversion import refuse_masked, unmasked
from .strings import as_bytes, object_array, strings

_NUMBERS = (np.int64, np.int32, np.float32, np.float64, np.uint8, np.int16, np.int8, np.uint16, np.uint32, np.uint64)
_SAFE = float(np.finfo(np.float32).max)
_EXACT = 2.0**53  # below which float64 holds all integers
AS_IS = frozenset({bytes, type(None), np.bool_, *_NUMBERS, np.float16, _core.RecordBatch, BytesArray})


def typed(value: Any) -> Any:
    """Return a number, string, list or array as a NumPy value or bytes; every other value as it is."""
    cls = type(value)
    if cls in AS_IS:
        return value
    if cls is np.ndarray:
        return bytes_objects(value) if value.dtype.kind in "USOT" else value
    if cls is bool:
        return np.bool_(value)
    if cls is int:
        return np.int32(value) if -(1 << 31) <= value < 1 << 31 else np.int64(value)
    if cls is float:
        return np.float32(value) if -_SAFE < value < _SAFE else _narrowed(np.asarray(value), np.float32)[()]
    if cls is complex:
        return np.complex128(value)
    if cls is str:
        return value.encode()
    if cls is list:
        return _array(value)
    if cls is range:
        return _array(list(value))
    if isinstance(value, np.ma.MaskedArray):
        return typed(unmasked(value))
    if isinstance(value, bytes | str | bytearray) or (cls is memoryview and value.format in ("B", "b", "c")):
        return as_bytes(value)
    if isinstance(value, np.generic):
        return value
    if hasattr(value, "numpy"):
        return value.numpy()  # another library's tensor
    return _foreign(value) if hasattr(cls, "__array__") and not hasattr(cls, "row_splits") else value


def _foreign(value: Any) -> npt.NDArray[Any]:
    """Return a data frame, a series or another library's array as an ndarray."""
    array = np.asarray(value)
    return strings(array) if array.dtype.kind in "OSUT" else array


def as_ndarray(value: Any) -> npt.NDArray[Any]:
    """Return a typed value as an array; bytes as an object array, since NumPy's 'S' dtype drops zeros at the end."""
    return object_array([bytes(value)], ()) if isinstance(value, bytes) else np.asarray(value)


def as_values(values: object) -> Any:
    """Return the values of a tensor as an ndarray, a BytesArray or a RaggedTensor."""
    if (type(values) is np.ndarray and values.dtype.kind not in "USOT") or hasattr(values, "flat_values"):
        return values
    if isinstance(values, BytesArray):
        return values
    return as_ndarray(typed(list(values) if isinstance(values, tuple) else values))


def check_kinds(arrays: list[npt.NDArray[Any]], what: str) -> None:
    """Raise TypeError for arrays of strings among numbers, and for integers among floats that cannot hold them."""
    dtypes = {array.dtype for array in arrays}
    if len(dtypes) == 1:
        return
    names = ", ".join(sorted(map(str, dtypes)))
    if len({dtype.hasobject for dtype in dtypes}) > 1:
        raise TypeError(f"{what} has strings and numbers: {names}")
    has_long = any(dtype.kind in "iu" and dtype.itemsize == 8 for dtype in dtypes)
    if has_long and np.result_type(*dtypes) in (np.float64, np.complex128):
        for array in arrays:
            if array.dtype.kind in "iu" and (np.abs(array.astype(np.float64)) >= _EXACT).any():
                raise TypeError(f"{what} of {names}: the floats cannot hold all of the integers")


def bytes_objects(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.dtype.kind == "T":
        return strings(array)  # which refuses nulls
    if array.dtype.kind == "O" and all(type(item) is bytes for item in array.flat):
        return array
    items = array.ravel().tolist()
    return object_array([item.encode() if isinstance(item, str) else item for item in items], array.shape)


def _array(values: list[Any]) -> npt.NDArray[Any]:
    """Return a list as one array, in the dtype that TensorFlow chooses."""
    leaf: Any = values
    while type(leaf) in (list, tuple) and len(leaf):
        leaf = leaf[0]
    if isinstance(leaf, bytes | str | bytearray):
        return strings(values)
    refuse_masked(values)
    array = np.asarray(values)
    if array.dtype.kind in "SU":  # NumPy turns numbers among strings into strings
        return strings(values)
    is_number = isinstance(leaf, int | float | np.number | np.bool_)
    if is_number and (array.dtype.kind == "O" or _has_rounded(array, values, leaf)):
        raise TypeError(f"a list must have numbers that fit int64, in rows of one length, got {values!r:.100}")
    if isinstance(leaf, bool | np.bool_) and array.dtype.kind in "iufc":
        raise TypeError(f"a list must not have both bools and numbers, got {values!r:.100}")
    if isinstance(leaf, np.floating) and array.dtype.kind == "f":
        return _narrowed(array, leaf.dtype)  # the first value sets the precision
    if array.size == 0 and type(leaf) is list:
        return array.astype(np.float32)
    if array.dtype == np.int64 and isinstance(leaf, int | np.integer):
        fits = array.size == 0 or (array.min() >= -(1 << 31) and array.max() < 1 << 31)
        return array.astype(np.int32) if fits else array
    if array.dtype == np.float64 and type(leaf) in (float, int):
        return _narrowed(array, np.float32)
    return bytes_objects(array) if array.dtype.kind == "O" else array


def _narrowed(array: npt.NDArray[Any], dtype: Any) -> npt.NDArray[Any]:
    """Cast floats to a dtype that may be narrower."""
    if array.dtype == dtype:
        return array
    with np.errstate(over="ignore"):
        narrowed = array.astype(dtype)
    overflows = np.isinf(narrowed) & ~np.isinf(array)
    if overflows.any():
        raise ValueError(f"{array[overflows][0]!r} is too large for {np.dtype(dtype).name}")
    return narrowed


def _has_rounded(array: npt.NDArray[Any], values: list[Any], leaf: Any) -> bool:
    """Return True if NumPy turned a list of integers into floats because one of them does not fit int64."""
    if array.dtype != np.float64 or not isinstance(leaf, int | np.integer) or not (np.abs(array) >= 2.0**63).any():
        return False
    return all(isinstance(item, int | np.integer) for item in np.asarray(values, object).flat)
