"""NumPy arrays and Python sequences as Columns."""

from __future__ import annotations

import array as python_arrays
import functools
import itertools
import math
from collections import UserString
from collections.abc import Mapping, Sequence, Set
from datetime import date, time, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import InvalidArgumentError
from ...values.columns.bytes_array import BytesArray
from ...values.columns.strings import has_buffer
from .column import Column, both, nest, nest_fixed, nulls

_NUMERIC = {"bool", "float16", "bfloat16", "float32", "float64"}
_NUMERIC |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_STRINGS = (str, bytes, bytearray, memoryview)
_PLAIN = frozenset({int, float, bool, type(None), str, bytes, list, tuple, np.int64, np.float32, np.float64})
_SIZED = frozenset({list, tuple, np.ndarray, BytesArray, _core.RecordBatch})
_INTEGERS = (int, np.integer, np.bool_)
_BEYOND = "an integer that int64 does not hold"

Array = npt.NDArray[Any]


# ---- Arrays ----


@functools.lru_cache(maxsize=64)
def _dtype_name(dtype: np.dtype[Any]) -> str:
    return str(dtype.name)  # which NumPy computes each time


def array_column(array: Array) -> Column:
    if isinstance(array, np.ma.MaskedArray):
        return _masked_column(array)
    if array.ndim == 0:
        raise TypeError("expected a column with one value per row, got a single value")
    array = np.asarray(array)  # without a subclass's methods
    rows = len(array)
    if array.dtype.kind == "O":
        if array.ndim == 1:
            return sequence_column(array.tolist())
        if array.size == 0:
            return nulls(rows)  # of unknown type
        return nest_fixed(rows, array.size // rows, sequence_column(array.ravel().tolist()))
    count = math.prod(array.shape[1:])
    if array.dtype.kind == "T":
        views, valid = _core.views_of_objects(_texts(array.ravel()))
        column = Column("string", views, rows * count, valid=valid)
        return column if array.ndim == 1 else nest_fixed(rows, count, column)
    if array.dtype.kind == "U":
        array = np.char.encode(array, "utf-8")
    if array.dtype.kind == "S":
        return Column("string", _core.views_of_fixed(np.ascontiguousarray(array).ravel()), rows, count)
    name = _dtype_name(array.dtype)
    if name not in _NUMERIC:
        raise TypeError(f"an Example cannot hold values of dtype {name}; convert it, as with astype or view(np.int64)")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return Column(name, np.require(array, requirements=["C", "A"]).reshape(-1), rows, count)


def _texts(array: Array) -> list[str | None]:
    return [text if isinstance(text, str) else None for text in array.tolist()]


def _masked_column(array: np.ma.MaskedArray[Any, Any]) -> Column:
    column = array_column(np.asarray(array.filled(_filler(array)) if array.dtype.kind == "O" else array.data))
    if array.size == 0:
        return column
    mask = np.ma.getmaskarray(array).reshape(len(array), -1)
    masked = np.asarray(mask.all(axis=1))
    torn = np.nonzero(mask.any(axis=1) & ~masked)[0]
    if len(torn):
        raise InvalidArgumentError(f"row {int(torn[0])} is masked in part; only a whole row can be null")
    return column._replace(valid=both(column.valid, np.asarray(~masked, np.uint8)))


def _filler(array: np.ma.MaskedArray[Any, Any]) -> Any:
    """Return a value that is not masked, so that filling with it keeps the type."""
    kept = array.compressed()
    return kept[0] if len(kept) else None


# ---- Sequences ----


def sequence_column(sequence: Sequence[Any]) -> Column:
    values = sequence if type(sequence) in (list, tuple) else list(sequence)
    rows = len(values)
    first = next((value for value in values if value is not None), None)
    if first is None:
        return nulls(rows)
    if not isinstance(first, _STRINGS):
        plain, types = uncovered(values)
        if plain is not values:
            return sequence_column(plain)
        if isinstance(first, int | float | np.generic):
            return _number_column(values, types)
        if not _is_buffer(first):
            return _list_column(values, types)
    try:
        views, valid = _core.views_of_objects(values)
    except TypeError:
        plain, _ = uncovered(values)
        if plain is values:
            raise
        return sequence_column(plain)
    return Column("string", views, rows, valid=valid)


def uncovered(values: Sequence[Any]) -> tuple[Sequence[Any], set[type]]:
    """Replace masks, tensors, 0-d arrays and the nulls of NumPy and pandas by plain values.

    Returns the values, or themselves if there was nothing to replace, and the set of their original types.
    """
    types = set(map(type, values))
    if types <= _PLAIN:
        return values, types
    covers = {cls for cls in types if _may_cover(cls)}
    if not any(type(value) in covers and _covers(value) for value in values):
        return values, types
    return [_uncover(value) if type(value) in covers else value for value in values], types


def _may_cover(cls: type) -> bool:
    if cls in _PLAIN or issubclass(cls, np.generic):
        return False
    return issubclass(cls, np.ndarray) or _is_pandas_null(cls) or hasattr(cls, "numpy") or _is_jax_array(cls)


def _is_pandas_null(cls: type) -> bool:
    return cls.__name__ in ("NAType", "NaTType") and cls.__module__.partition(".")[0] == "pandas"


def _is_jax_array(cls: type) -> bool:
    """Check for the type of JAX arrays, which also export buffers."""
    return cls.__name__ == "ArrayImpl" and cls.__module__.partition(".")[0] in ("jax", "jaxlib")


def _covers(value: Any) -> bool:
    if not isinstance(value, np.ndarray) or value.ndim == 0 or isinstance(value, np.ma.MaskedArray):
        return True
    return value.ndim == 1 and value.dtype.kind == "T"


def _uncover(value: Any) -> Any:
    if isinstance(value, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(value)
        if value.size and mask.all():
            return None
        if mask.any():
            raise InvalidArgumentError("a value is masked inside a list; only a whole row can be null")
        value = np.asarray(value.data)
    if isinstance(value, np.ndarray):
        return _texts(value) if value.ndim == 1 and value.dtype.kind == "T" else value[()]
    if _is_pandas_null(type(value)):
        return None
    array = np.asarray(value) if _is_jax_array(type(value)) else value.numpy()  # another library's tensor
    return array[()] if isinstance(array, np.ndarray) else array


def is_missing(value: object) -> bool:
    """Return True for None, pandas' NA and NaT, and an array whose values are all masked."""
    if isinstance(value, np.ma.MaskedArray):
        return bool(value.size and np.ma.getmaskarray(value).all())
    return value is None or _is_pandas_null(type(value))


def _is_buffer(value: object) -> bool:
    """Return True for a buffer of bytes, not for an array of numbers."""
    if isinstance(value, np.ndarray | python_arrays.array) or hasattr(value, "_length_"):  # the last: ctypes arrays
        return False
    return has_buffer(value)


# ---- Numbers ----


def _number_column(values: Sequence[Any], types: set[type]) -> Column:
    valid = None
    if type(None) in types:
        first = next(value for value in values if value is not None)
        valid = np.fromiter((value is not None for value in values), np.uint8, len(values))
        values = [first if value is None else value for value in values]
    types = types - {type(None)}
    if any(issubclass(cls, np.timedelta64) for cls in types):  # a subclass of np.integer
        raise TypeError("an Example cannot hold values of type timedelta64")
    if not all(issubclass(cls, int | float | np.generic) and not issubclass(cls, str | bytes) for cls in types):
        names = ", ".join(sorted(cls.__name__ for cls in types))
        raise TypeError(f"a list has values of more than one kind: {names}; convert them to one")
    array = np.asarray(values)
    if all(issubclass(cls, _INTEGERS) for cls in types):
        if array.dtype.kind not in "iub":  # NumPy turned them into floats or objects
            array = _as_int64(values)
    elif any(issubclass(cls, _INTEGERS) for cls in types):
        _check_exact([value for value in values if isinstance(value, _INTEGERS)])
    if array.ndim != 1 or _dtype_name(array.dtype) not in _NUMERIC:
        raise TypeError(f"an Example cannot hold values of dtype {array.dtype.name}")
    return array_column(array)._replace(valid=valid)


def _as_int64(values: Sequence[Any]) -> Array:
    try:
        return np.array([int(value) for value in values], np.int64)
    except OverflowError:
        raise OverflowError(_BEYOND) from None


def _check_exact(integers: Sequence[Any]) -> None:
    """Refuse integers among floats that float32, the type of a float list, cannot hold."""
    for value in integers:
        try:
            exact = int(np.float32(int(value))) == value
        except OverflowError:
            exact = False
        if not exact:
            raise InvalidArgumentError(f"the integer {value} among floats does not fit the float32 of a float list")


# ---- Lists ----


def _list_column(values: Sequence[Any], types: set[type]) -> Column:
    for cls in types - {list, tuple, type(None)}:
        if issubclass(cls, Mapping | Set | UserString) or hasattr(cls, "dense_shape") or hasattr(cls, "columns"):
            raise TypeError(f"an Example cannot hold values of type {cls.__name__}")
        # `hasattr(cls, "__len__")` is True for an Enum, whose class has a length.
        if issubclass(cls, _STRINGS) or not any("__len__" in vars(base) for base in cls.__mro__):
            if types - {cls, type(None)}:
                raise TypeError(f"a column has both lists and a single value ({cls.__name__})")
            remedy = "; write dates and times as integers" if issubclass(cls, date | time | timedelta) else ""
            raise TypeError(f"an Example cannot hold values of type {cls.__name__}{remedy}")
    valid = None
    if type(None) in types:
        valid = np.fromiter((value is not None for value in values), np.uint8, len(values))
        values = [() if value is None else value for value in values]
    if not types <= _SIZED | {type(None)}:
        values = [as_sized(row) for row in values]
    rest = [row for row in values if not isinstance(row, np.ndarray) or row.dtype.kind in "OSUT"]
    if not rest:
        lengths = [row.size for row in values]
        child = array_column(_joined([row.reshape(-1) for row in values]))
    elif len(rest) < len(values) and not any(len(row) or _has_strings(row) for row in rest):  # hollow
        lengths = [row.size if isinstance(row, np.ndarray) else 0 for row in values]
        numbers = [row for row in values if isinstance(row, np.ndarray) and row.dtype.kind not in "OSUT"]
        child = array_column(_joined([row.reshape(-1) for row in numbers]))
    else:
        lengths = [len(row) for row in values]
        flat = list(itertools.chain.from_iterable(values))
        if all(map(_is_hollow, flat)) and not any(map(_has_strings, values)):
            return nulls(len(values))  # of unknown type
        child = sequence_column(flat) if flat else Column("string", _core.views_of_objects([])[0], 0)
    splits = np.zeros(len(values) + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    return nest(splits, child)._replace(valid=valid)


def as_sized(row: Any) -> Any:
    """Return a row as a list or array, whose length is the number of its values."""
    if type(row) in _SIZED:
        return row
    return np.asarray(row) if isinstance(row, np.ndarray) else list(row)


def _has_strings(row: Any) -> bool:
    return isinstance(row, _core.BytesArrayBase) or (isinstance(row, np.ndarray) and row.dtype.kind in "SUT")


def _is_hollow(row: Any) -> bool:
    return isinstance(row, list | tuple) and all(map(_is_hollow, row))


def _joined(arrays: list[Array]) -> Array:
    """Concatenate numeric arrays without changing integers."""
    arrays = [array for array in arrays if array.size] or arrays[:1]
    dtypes = {array.dtype for array in arrays}
    if len(dtypes) > 1:
        integers = [array for array in arrays if array.dtype.kind in "iub"]
        if len(integers) < len(arrays):
            for array in integers:
                _check_exact(array.tolist())
        elif np.result_type(*dtypes).kind == "f":  # int64 and uint64
            if any(array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max for array in arrays):
                raise OverflowError(_BEYOND)
            arrays = [array.astype(np.int64) for array in arrays]
    return np.concatenate(arrays)
