"""Python's values as NumPy's, typed as TensorFlow types them: ints are int32, floats float32, str is bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from .bytes_array import BytesArray
from .conversion import refuse_masked, unmasked
from .strings import as_bytes, object_array, strings

__all__ = ["AS_IS", "as_ndarray", "as_values", "bytes_objects", "check_kinds", "typed"]

_NUMBERS = (np.int64, np.int32, np.float32, np.float64, np.uint8, np.int16, np.int8, np.uint16, np.uint32, np.uint64)
_SAFE = float(np.finfo(np.float32).max)
_EXACT = 2.0**53  # below which float64 holds all integers
AS_IS = frozenset({bytes, type(None), np.bool_, *_NUMBERS, np.float16, _core.RecordBatch, BytesArray})


def typed(value: Any) -> Any:
    """A number, string, list or array as NumPy's value or bytes; anything else as it is."""
    kind = type(value)
    if kind in AS_IS:
        return value
    if kind is np.ndarray:
        return bytes_objects(value) if value.dtype.kind in "USOT" else value
    if kind is bool:
        return np.bool_(value)
    if kind is int:
        return np.int32(value) if -(1 << 31) <= value < 1 << 31 else np.int64(value)
    if kind is float:
        return np.float32(value) if -_SAFE < value < _SAFE else _narrowed(np.asarray(value), np.float32)[()]
    if kind is str:
        return value.encode()
    if kind is list:
        return _array(value)
    if kind is range:
        return _array(list(value))
    if isinstance(value, np.ma.MaskedArray):
        return typed(unmasked(value))
    if isinstance(value, bytes | str | bytearray) or (kind is memoryview and value.format in ("B", "b", "c")):
        return as_bytes(value)
    if isinstance(value, np.generic):
        return value
    if hasattr(value, "numpy"):
        return value.numpy()  # another library's tensor
    return _foreign(value) if hasattr(kind, "__array__") and not hasattr(value, "row_splits") else value


def _foreign(value: Any) -> npt.NDArray[Any]:
    """A data frame, a series or another library's array as NumPy's, which may be rows of several columns."""
    array = np.asarray(value)
    return strings(array) if array.dtype.kind in "OSUT" else array


def as_ndarray(value: Any) -> npt.NDArray[Any]:
    """A typed value as an array; bytes as an object array, as NumPy's own would end before their zeros."""
    return object_array([bytes(value)], ()) if isinstance(value, bytes) else np.asarray(value)


def as_values(values: object) -> Any:
    """The values of a tensor: an ndarray, a BytesArray or a RaggedTensor."""
    if (type(values) is np.ndarray and values.dtype.kind not in "USOT") or hasattr(values, "flat_values"):
        return values
    if isinstance(values, BytesArray):
        return values
    return as_ndarray(typed(list(values) if isinstance(values, tuple) else values))


def check_kinds(arrays: list[npt.NDArray[Any]], what: str) -> None:
    """Raises TypeError if some of the arrays are strings and others numbers, of which NumPy would make strings, or if
    integers are among floats that don't hold them."""
    dtypes = {array.dtype for array in arrays}
    if len(dtypes) == 1:
        return
    names = ", ".join(sorted(map(str, dtypes)))
    if len({dtype.hasobject for dtype in dtypes}) > 1:
        raise TypeError(f"{what} of strings and numbers: {names}")
    has_long = any(dtype.kind in "iu" and dtype.itemsize == 8 for dtype in dtypes)
    if has_long and np.result_type(*dtypes) in (np.float64, np.complex128):
        for array in arrays:
            if array.dtype.kind in "iu" and (np.abs(array.astype(np.float64)) >= _EXACT).any():
                raise TypeError(f"{what} of {names}: its floats don't hold all of the integers")


def bytes_objects(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of strings of any kind as an object array of bytes."""
    if array.dtype.kind == "T":
        return strings(array)  # no text stands for a null
    if array.dtype.kind == "O" and all(type(item) is bytes for item in array.flat):
        return array
    items = array.ravel().tolist()
    return object_array([item.encode() if isinstance(item, str) else item for item in items], array.shape)


def _array(values: list[Any]) -> npt.NDArray[Any]:
    """A list as one array, typed as TensorFlow types it."""
    leaf: Any = values
    while type(leaf) in (list, tuple) and len(leaf):
        leaf = leaf[0]
    if isinstance(leaf, bytes | str | bytearray):
        return strings(values)
    refuse_masked(values)
    array = np.asarray(values)
    if array.dtype.kind in "SU":  # of numbers, too, NumPy makes strings
        return strings(values)
    is_number = isinstance(leaf, int | float | np.number | np.bool_)
    if is_number and (array.dtype.kind == "O" or _has_rounded(array, values, leaf)):
        raise TypeError(f"no array of numbers, or one that int64 does not hold: {values!r:.100}")
    if isinstance(leaf, bool | np.bool_) and array.dtype.kind in "iufc":
        raise TypeError(f"no array of bools and numbers: {values!r:.100}")
    if isinstance(leaf, np.floating) and array.dtype.kind == "f":
        return _narrowed(array, leaf.dtype)  # the first one says how exact they are
    if array.size == 0 and type(leaf) is list:
        return array.astype(np.float32)
    if array.dtype == np.int64 and isinstance(leaf, int | np.integer):
        fits = array.size == 0 or (array.min() >= -(1 << 31) and array.max() < 1 << 31)
        return array.astype(np.int32) if fits else array
    if array.dtype == np.float64 and type(leaf) in (float, int):
        return _narrowed(array, np.float32)
    return bytes_objects(array) if array.dtype.kind == "O" else array


def _narrowed(array: npt.NDArray[Any], dtype: Any) -> npt.NDArray[Any]:
    """The floats in a dtype that may be narrower.

    Raises:
      ValueError: one of them is finite, but too large for it.
    """
    if array.dtype == dtype:
        return array
    with np.errstate(over="ignore"):
        made = array.astype(dtype)
    if (np.isinf(made) & ~np.isinf(array)).any():
        raise ValueError(f"too large for {np.dtype(dtype).name}: {array[np.isinf(made) & ~np.isinf(array)][0]!r}")
    return made


def _has_rounded(array: npt.NDArray[Any], values: list[Any], leaf: Any) -> bool:
    """Whether NumPy has made floats of integers alone, since int64 does not hold one of them."""
    if array.dtype != np.float64 or not isinstance(leaf, int | np.integer) or not (np.abs(array) >= 2.0**63).any():
        return False
    return all(isinstance(item, int | np.integer) for item in np.asarray(values, object).flat)
