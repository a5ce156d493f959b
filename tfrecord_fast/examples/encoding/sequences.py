"""NumPy's arrays and Python's sequences as columns, whatever their elements are."""

from __future__ import annotations

import array as python_arrays
import functools
import itertools
import math
from collections import UserString
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import InvalidArgumentError
from ...values.columns.bytes_array import BytesArray
from .column import Column, both, nest, nest_fixed, nulls

__all__ = ["bare", "is_missing", "listed", "of_array", "of_sequence"]

_NUMERIC = {"bool", "float16", "bfloat16", "float32", "float64"}
_NUMERIC |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_STRINGS = (str, bytes, bytearray, memoryview)
_AS_THEY_ARE = frozenset({int, float, bool, type(None), str, bytes, list, tuple, np.int64, np.float32, np.float64})
_HONEST = frozenset({list, tuple, np.ndarray, BytesArray, _core.RecordBatch})
_INTEGERS = (int, np.integer, np.bool_)
_BEYOND = "an integer that int64 does not hold"

Array = npt.NDArray[Any]


# ---- Arrays ----


@functools.lru_cache(maxsize=64)
def _name_of(dtype: np.dtype[Any]) -> str:
    return str(dtype.name)  # which NumPy works out each time


def of_array(array: Array) -> Column:
    if isinstance(array, np.ma.MaskedArray):
        return _of_masked(array)
    if array.ndim == 0:
        raise TypeError("expected a column with one value per row, got a single value")
    array = np.asarray(array)  # not what a subclass says of it
    rows = len(array)
    if array.dtype.kind == "O":
        if array.ndim == 1:
            return of_sequence(array.tolist())
        if array.size == 0:
            return nulls(rows)  # nothing tells the kind
        return nest_fixed(rows, array.size // rows, of_sequence(array.ravel().tolist()))
    count = math.prod(array.shape[1:])
    if array.dtype.kind == "T":
        views, valid = _core.views_of_objects(_texts(array.ravel()))
        column = Column("string", views, rows * count, valid=valid)
        return column if array.ndim == 1 else nest_fixed(rows, count, column)
    if array.dtype.kind == "U":
        array = np.char.encode(array, "utf-8")
    if array.dtype.kind == "S":
        return Column("string", _core.views_of_fixed(np.ascontiguousarray(array).ravel()), rows, count)
    name = _name_of(array.dtype)
    if name not in _NUMERIC:
        raise TypeError(f"no values of dtype {name} in an Example")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return Column(name, np.require(array, requirements=["C", "A"]).reshape(-1), rows, count)


def _texts(array: Array) -> list[str | None]:
    """The elements of a StringDType array; None for its nulls, which may be anything."""
    return [text if isinstance(text, str) else None for text in array.tolist()]


def _of_masked(array: np.ma.MaskedArray[Any, Any]) -> Column:
    column = of_array(np.asarray(array.filled(_filler(array)) if array.dtype.kind == "O" else array.data))
    if array.size == 0:
        return column
    mask = np.ma.getmaskarray(array).reshape(len(array), -1)
    masked = np.asarray(mask.all(axis=1))
    torn = np.nonzero(mask.any(axis=1) & ~masked)[0]
    if len(torn):
        raise InvalidArgumentError(f"row {int(torn[0])} is masked in part: only a whole row can be left out")
    return column._replace(valid=both(column.valid, np.asarray(~masked, np.uint8)))


def _filler(array: np.ma.MaskedArray[Any, Any]) -> Any:
    """A value of the same kind as those that are not masked, which tells the array's kind."""
    kept = array.compressed()
    return kept[0] if len(kept) else None


# ---- Sequences ----


def of_sequence(given: Sequence[Any]) -> Column:
    values = given if type(given) in (list, tuple) else list(given)  # a subclass may say that it has more, or less
    rows = len(values)
    first = next((value for value in values if value is not None), None)
    if first is None:
        return nulls(rows)
    if not isinstance(first, _STRINGS):
        without, kinds = bare(values)
        if without is not values:
            return of_sequence(without)
        if isinstance(first, int | float | np.generic):
            return _of_numbers(values, kinds)
        if not _is_buffer(first):
            return _of_lists(values, kinds)
    try:
        views, valid = _core.views_of_objects(values)
    except TypeError:
        without, _ = bare(values)
        if without is values:
            raise
        return of_sequence(without)
    return Column("string", views, rows, valid=valid)


def bare(values: Sequence[Any]) -> tuple[Sequence[Any], set[type]]:
    """The values without masks, tensors, arrays of no dimension, NumPy's nulls and pandas', and numbers that say they
    are others; and their types. Themselves if they have none of these.
    """
    kinds = set(map(type, values))
    if kinds <= _AS_THEY_ARE:
        return values, kinds
    odd = {kind for kind in kinds if _may_hide_a_value(kind)}
    if not any(type(value) in odd and _hides_a_value(value) for value in values):
        return values, kinds
    return [_uncovered(value) if type(value) in odd else value for value in values], kinds


def _may_hide_a_value(kind: type) -> bool:
    if kind in _AS_THEY_ARE or issubclass(kind, np.generic):
        return False
    return (
        issubclass(kind, np.ndarray | int | float)
        or _is_pandas_null(kind)
        or hasattr(kind, "numpy")
        or _is_of_jax(kind)
    )


def _is_pandas_null(kind: type) -> bool:
    """Whether it is the type of pandas.NA or pandas.NaT."""
    return kind.__name__ in ("NAType", "NaTType") and kind.__module__.partition(".")[0] == "pandas"


def _is_of_jax(kind: type) -> bool:
    """Whether it is the type of JAX's arrays, which are buffers, too."""
    return kind.__name__ == "ArrayImpl" and kind.__module__.partition(".")[0] in ("jax", "jaxlib")


def _hides_a_value(value: Any) -> bool:
    if not isinstance(value, np.ndarray) or value.ndim == 0 or isinstance(value, np.ma.MaskedArray):
        return True
    return value.ndim == 1 and value.dtype.kind == "T"


def _uncovered(value: Any) -> Any:
    if isinstance(value, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(value)
        if value.size and mask.all():
            return None
        if mask.any():
            raise InvalidArgumentError("a value is masked inside a list: only a whole row can be left out")
        value = np.asarray(value.data)
    if isinstance(value, np.ndarray):
        return _texts(value) if value.ndim == 1 and value.dtype.kind == "T" else value[()]
    if isinstance(value, int):
        return int.__index__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if _is_pandas_null(type(value)):
        return None
    array = np.asarray(value) if _is_of_jax(type(value)) else value.numpy()  # another library's tensor
    return array[()] if isinstance(array, np.ndarray) else array


def is_missing(value: object) -> bool:
    """Whether a row with this as its value lacks the key: None, pandas' NA and NaT, an array of which all is masked."""
    if isinstance(value, np.ma.MaskedArray):
        return bool(value.size and np.ma.getmaskarray(value).all())
    return value is None or _is_pandas_null(type(value))


def _is_buffer(value: object) -> bool:
    """Whether it is a buffer, and not one of numbers that are listed in it."""
    if isinstance(value, np.ndarray | python_arrays.array) or hasattr(value, "_length_"):  # the last: ctypes'
        return False
    try:
        memoryview(value)  # type: ignore[arg-type]
    except (TypeError, BufferError):
        return False
    return True


# ---- Numbers ----


def _of_numbers(values: Sequence[Any], kinds: set[type]) -> Column:
    valid = None
    if type(None) in kinds:
        first = next(value for value in values if value is not None)
        valid = np.fromiter((value is not None for value in values), np.uint8, len(values))
        values = [first if value is None else value for value in values]
    kinds = kinds - {type(None)}
    if any(issubclass(kind, np.timedelta64) for kind in kinds):  # NumPy counts it among the integers
        raise TypeError("no values of type (timedelta64) in an Example")
    if not all(issubclass(kind, int | float | np.generic) and not issubclass(kind, str | bytes) for kind in kinds):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(f"values of more than one kind in a list: {names}")
    array = np.asarray(values)
    if all(issubclass(kind, _INTEGERS) for kind in kinds):
        if array.dtype.kind not in "iub":  # NumPy made floats or objects of them
            array = _as_int64(values)
    elif any(issubclass(kind, _INTEGERS) for kind in kinds):
        _check_exact([value for value in values if isinstance(value, _INTEGERS)])
    if array.ndim != 1 or _name_of(array.dtype) not in _NUMERIC:
        raise TypeError(f"no values of dtype {array.dtype.name} in an Example")
    return of_array(array)._replace(valid=valid)


def _as_int64(values: Sequence[Any]) -> Array:
    try:
        return np.array([int(value) for value in values], np.int64)
    except OverflowError:
        raise OverflowError(_BEYOND) from None


def _check_exact(integers: Sequence[Any]) -> None:
    """Refuses integers among floats that the float32 of a float list would change."""
    for value in integers:
        try:
            exact = int(np.float32(int(value))) == value
        except OverflowError:
            exact = False
        if not exact:
            raise InvalidArgumentError(f"the integer {value} among floats, which a float list can't hold")


# ---- Lists ----


def _of_lists(values: Sequence[Any], kinds: set[type]) -> Column:
    """From rows that are lists, arrays or None."""
    for kind in kinds - {list, tuple, type(None)}:
        if issubclass(kind, Mapping | Set | UserString) or hasattr(kind, "dense_shape") or hasattr(kind, "columns"):
            raise TypeError(f"no values of type {kind.__name__} in an Example")
        # An Enum has no length: its class has one.
        if issubclass(kind, _STRINGS) or not any("__len__" in vars(base) for base in kind.__mro__):
            others = kinds - {kind, type(None)}
            what = "lists and a single value" if others else "no values of type"
            raise TypeError(f"{what} ({kind.__name__}) in " + ("one column" if others else "an Example"))
    valid = None
    if type(None) in kinds:
        valid = np.fromiter((value is not None for value in values), np.uint8, len(values))
        values = [() if value is None else value for value in values]
    if not kinds <= _HONEST | {type(None)}:
        values = [listed(row) for row in values]
    rest = [row for row in values if not isinstance(row, np.ndarray) or row.dtype.kind in "OSUT"]
    if not rest:
        lengths = [row.size for row in values]
        child = of_array(_joined([row.reshape(-1) for row in values]))
    elif len(rest) < len(values) and not any(len(row) or _is_of_strings(row) for row in rest):  # which tell nothing
        lengths = [row.size if isinstance(row, np.ndarray) else 0 for row in values]
        numbers = [row for row in values if isinstance(row, np.ndarray) and row.dtype.kind not in "OSUT"]
        child = of_array(_joined([row.reshape(-1) for row in numbers]))
    else:
        lengths = [len(row) for row in values]
        flat = list(itertools.chain.from_iterable(values))
        if all(map(_is_hollow, flat)) and not any(map(_is_of_strings, values)):
            return nulls(len(values))  # nothing tells the kind
        child = of_sequence(flat) if flat else Column("string", _core.views_of_objects([])[0], 0)
    splits = np.zeros(len(values) + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    return nest(splits, child)._replace(valid=valid)


def listed(row: Any) -> Any:
    """A row as one that has as many values as it says, whatever it inherits.

    Raises:
      TypeError: it gives more or fewer values than it says it has.
    """
    if type(row) in _HONEST:
        return row
    if isinstance(row, np.ndarray):
        return np.asarray(row)
    values = list(itertools.islice(row, len(row) + 1))
    if len(values) != len(row):
        more = "more" if len(values) > len(row) else len(values)
        raise TypeError(f"a {type(row).__name__} that says it has {len(row)} values and gives {more}")
    return values


def _is_of_strings(row: Any) -> bool:
    return isinstance(row, _core.BytesArrayBase) or (isinstance(row, np.ndarray) and row.dtype.kind in "SUT")


def _is_hollow(row: Any) -> bool:
    """Whether it is a list, and so is all that it holds, at any depth."""
    return isinstance(row, list | tuple) and all(map(_is_hollow, row))


def _joined(arrays: list[Array]) -> Array:
    """Numeric arrays end to end, of which integers stay what they are."""
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
