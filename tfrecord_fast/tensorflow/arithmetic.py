"""Operators on arrays with TensorFlow's types: both sides have one dtype, and Python's numbers take the tensor's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..values.columns.typed import as_ndarray, typed
from .types import as_dtype, dtype_of

__all__ = [
    "Operation",
    "add",
    "bitwise",
    "compare",
    "converted",
    "divide",
    "equal",
    "floordiv",
    "inverted",
    "matmul",
    "mod",
    "multiply",
    "multiply_numbers",
    "not_equal",
    "power",
    "signed",
    "subtract",
]

_Array = np.ndarray[Any, Any]
Operation = Callable[[_Array, Any, bool], Any]
_FITTING = {"b": "b", "i": "i", "u": "iu", "f": "biuf", "c": "biufc"}  # kinds of Python's values, by the dtype's kind
_LONG = {"float32": "float", "float64": "double", "float16": "half"}


def converted(value: Any, dtype: Any) -> _Array:
    """What is not a tensor yet, as an array of that dtype: numbers of NumPy are cast, those of Python have to fit.

    Raises:
      TypeError: a Python value of another kind.
      ValueError: None.
    """
    wanted = as_dtype(dtype)
    if value is None:
        raise ValueError("Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.")
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind not in "OSUT" and wanted != "string":
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(value).astype(wanted.as_numpy_dtype)
    if wanted == "string":
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufc":
            raise ValueError(f"Failed to convert a NumPy array of {value.dtype} to a Tensor of strings.")
        array = as_ndarray(typed(list(value) if isinstance(value, tuple) else value))
        if array.size and array.dtype.kind != "O":
            raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype string")
        return array if array.size else array.astype(object)
    array = np.asarray(value)
    if wanted == "uint64" and array.dtype.kind == "f":  # what NumPy makes of integers on both sides of 2**63
        given = np.asarray(value, dtype=object)
        if all(isinstance(one, int) and 0 <= one < 2**64 for one in given.ravel()):
            array = given.astype(np.uint64)
    kind = array.dtype.kind
    allowed = _FITTING["f" if wanted == "bfloat16" else wanted.dtype.kind]
    if wanted.name in ("int32", "int64"):
        allowed += "b"
    if array.size and kind not in allowed and not (wanted.is_integer and kind in "iu"):
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {_LONG.get(wanted.name, wanted.name)}")
    with np.errstate(over="ignore"):
        return array.astype(wanted.as_numpy_dtype)


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "_array") or (hasattr(value, "numpy") and hasattr(value, "dtype"))


def _tensor_array(value: Any) -> _Array:
    found: _Array = value._array() if hasattr(value, "_array") else as_ndarray(value.numpy())
    return found


def _other(array: _Array, other: Any, name: str, hint: bool = False) -> _Array:
    """The other side as an array of the same dtype.

    Args:
      hint: whether another dtype of Python's value is the operation's error, and not the conversion's.
    """
    dtype = dtype_of(array)
    if hasattr(other, "row_splits"):  # it has operators of its own
        return NotImplemented  # type: ignore[no-any-return]
    if _is_tensor(other):
        made = _tensor_array(other)
    else:
        try:
            return converted(_tensor_list(other), dtype)
        except TypeError:
            if not hint:
                raise
            made = as_ndarray(typed(list(other) if isinstance(other, tuple) else other))
    if dtype_of(made) != dtype:
        raise _mismatch(name, dtype, dtype_of(made))
    return made


def _tensor_list(value: Any) -> Any:
    """Lists in which tensors stand, without them."""
    if isinstance(value, list | tuple):
        return [_tensor_list(item) for item in value]
    return _tensor_array(value)[()] if _is_tensor(value) and not isinstance(value, np.generic | np.ndarray) else value


def _mismatch(name: str, first: Any, second: Any) -> InvalidArgumentError:
    names = [_LONG.get(dtype.name, dtype.name) for dtype in (first, second)]
    return InvalidArgumentError(
        f"cannot compute {name} as input #1(zero-based) was expected to be a {names[0]} tensor but is a {names[1]} "
        f"tensor [Op:{name}]"
    )


def _refuse(name: str, array: _Array, kinds: str) -> None:
    dtype = dtype_of(array)
    if array.dtype.kind not in kinds:
        raise InvalidArgumentError(
            f"Value for attr 'T' of {_LONG.get(dtype.name, dtype.name)} is not in the list of allowed values "
            f"[Op:{name}]"
        )


def _run(name: str, function: Callable[..., Any], first: _Array, second: _Array) -> Any:
    try:
        with np.errstate(all="ignore"):
            return function(first, second)
    except ValueError as error:
        if "broadcast" not in str(error):
            raise
        raise InvalidArgumentError(
            f"Incompatible shapes: {list(first.shape)} vs. {list(second.shape)} [Op:{name}]"
        ) from None


def binary(name: str, function: Callable[..., Any], kinds: str, hint: bool = False) -> Operation:
    def operation(array: _Array, other: Any, swapped: bool) -> Any:
        made = _other(array, other, name, hint and not swapped)
        if made is NotImplemented:
            return made
        _refuse(name, array, kinds)
        return _run(name, function, made, array) if swapped else _run(name, function, array, made)

    operation.__doc__ = f"{name} of two arrays."
    return operation


_NUMBERS = "iufcV"


def _added(first: _Array, second: _Array) -> Any:
    made = np.add(first, second)
    # Of scalars it is bytes, whose zeros at the end an array of NumPy's own strings would lose.
    return as_ndarray(made) if isinstance(made, bytes) else made


def _floored(first: _Array, second: _Array) -> Any:
    _refuse_zero(first, second)
    return np.floor_divide(first, second) if second.dtype.kind in "iu" else np.floor(np.divide(first, second))


def _rest(first: _Array, second: _Array) -> Any:
    _refuse_zero(first, second)
    return np.mod(first, second)


def _refuse_zero(divided: _Array, divisor: _Array) -> None:
    if divided.size and divisor.dtype.kind in "iu" and not np.all(divisor):
        raise InvalidArgumentError("Integer division by zero")


def _raised(first: _Array, second: _Array) -> Any:
    if first.size and second.dtype.kind == "i" and np.any(second < 0):
        raise InvalidArgumentError("Integers to negative integer powers are not allowed")
    return np.power(first, second)


add = binary("AddV2", _added, "iufcVO", hint=True)
subtract = binary("Sub", np.subtract, _NUMBERS)
multiply_numbers = binary("Mul", np.multiply, _NUMBERS)
floordiv = binary("FloorDiv", _floored, "iufV")
mod = binary("FloorMod", _rest, "iufV")
power = binary("Pow", _raised, "ifcV")


def multiply_or_and(array: _Array, other: Any, swapped: bool) -> Any:
    """Mul; of bools, and of anything with bools, `and`."""
    if hasattr(other, "row_splits"):
        return NotImplemented
    is_bool = _is_tensor(other) and _tensor_array(other).dtype.kind == "b"
    if not is_bool and array.dtype.kind != "b":
        return multiply_numbers(array, other, swapped)
    made = _tensor_array(other) if _is_tensor(other) else as_ndarray(typed(other))
    if made.dtype.kind == "O" or array.dtype.kind == "O":
        raise _mismatch("LogicalAnd", dtype_of(array), dtype_of(made))
    return _run("LogicalAnd", np.logical_and, array, _cut(made))


def _cut(array: _Array) -> _Array:
    """Which numbers are true once they are int32."""
    with np.errstate(invalid="ignore"):
        return array.astype(np.int32).astype(bool) if array.dtype.kind in "iu" else array.astype(bool)


def signed(name: str, function: Callable[[Any], Any], array: _Array) -> Any:
    """A function of numbers that have a sign."""
    _refuse(name, array, "ifcV")
    return function(array)


def inverted(array: _Array) -> Any:
    """The other bits, or the other truth values."""
    _refuse("Invert", array, "biu")
    return np.invert(array)


multiply = multiply_or_and
_matmul = binary("MatMul", np.matmul, _NUMBERS)


def matmul(array: _Array, other: Any, swapped: bool) -> Any:
    """MatMul of two arrays of at least two dimensions."""
    made = _other(array, other, "MatMul")
    if made is NotImplemented:
        return made
    if array.ndim < 2 or made.ndim < 2:
        raise InvalidArgumentError(f"In[0] and In[1] ndims must be == 2: {min(array.ndim, made.ndim)} [Op:MatMul]")
    try:
        return _matmul(array, made, swapped)
    except ValueError as error:
        raise InvalidArgumentError(f"Matrix size-incompatible: {error} [Op:MatMul]") from None


def divide(array: _Array, other: Any, swapped: bool) -> Any:
    """RealDiv: integers are divided as floats, those of at most 16 bits as float32, others as float64."""
    dtype = dtype_of(array)
    try:
        made = _other(array, other, "RealDiv", hint=True)
    except InvalidArgumentError:
        given = _tensor_array(other) if _is_tensor(other) else as_ndarray(typed(other))
        raise TypeError(f"`x` and `y` must have the same dtype, got {dtype!r} != {dtype_of(given)!r}.") from None
    if made is NotImplemented:
        return made
    if array.dtype.kind in "bO":
        raise TypeError(f"Invalid dtype {dtype!r} in __truediv__.")
    if array.dtype.kind in "iu":
        wide = np.float32 if array.dtype.itemsize <= 2 else np.float64
        array, made = array.astype(wide), made.astype(wide)
    return _run("RealDiv", np.divide, made, array) if swapped else _run("RealDiv", np.divide, array, made)


def bitwise(name: str, function: Callable[..., Any]) -> Operation:
    """An operator on bits: of integers, or of bools."""
    return binary(name, function, "biu")


def compare(name: str, function: Callable[..., Any]) -> Operation:
    """A comparison of numbers."""
    return binary(name, function, "iufV")


def equal(array: _Array, other: Any, swapped: bool = False) -> Any:
    """Equal; False where shapes do not fit."""
    return _equality("Equal", np.equal, False, array, other)


def not_equal(array: _Array, other: Any, swapped: bool = False) -> Any:
    """NotEqual; True where shapes do not fit."""
    return _equality("NotEqual", np.not_equal, True, array, other)


def _equality(name: str, function: Callable[..., Any], otherwise: bool, array: _Array, other: Any) -> Any:
    made = _other(array, other, name)
    if made is NotImplemented:
        return made
    try:
        np.broadcast_shapes(array.shape, made.shape)
    except ValueError:
        return otherwise
    return np.asarray(function(array, made), dtype=bool)
