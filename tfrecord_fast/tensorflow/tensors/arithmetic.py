"""Operators on arrays with TensorFlow's types: both operands have one dtype, which Python numbers take over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...values.columns.typed import as_ndarray, typed
from .tensor_dtypes import array_dtype, as_dtype

_Array = np.ndarray[Any, Any]
Operation = Callable[[_Array, Any, bool], Any]
_FITTING = {"b": "b", "i": "i", "u": "iu", "f": "biuf", "c": "biufc"}  # kinds of Python values, by the dtype's kind
_LONG = {"float32": "float", "float64": "double", "float16": "half"}


def convert(value: Any, dtype: Any) -> _Array:
    """Convert a value that is not a tensor to an array: NumPy numbers are cast, Python numbers must fit."""
    target = as_dtype(dtype)
    if _fits(value, target.dtype):
        return np.array(value, target.dtype)
    if value is None:
        raise ValueError("Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.")
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind not in "OSUT" and target != "string":
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(value).astype(target.as_numpy_dtype)
    if target == "string":
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufc":
            raise ValueError(f"Failed to convert a NumPy array of {value.dtype} to a Tensor of strings.")
        array = as_ndarray(typed(list(value) if isinstance(value, tuple) else value))
        if array.size and array.dtype.kind != "O":
            raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype string")
        return array if array.size else array.astype(object)
    array = np.asarray(value)
    if target == "uint64" and array.dtype.kind == "f":  # NumPy's result for integers on both sides of 2**63
        objects = np.asarray(value, dtype=object)
        if all(isinstance(number, int) and 0 <= number < 2**64 for number in objects.ravel()):
            array = objects.astype(np.uint64)
    allowed = _FITTING["f" if target == "bfloat16" else target.dtype.kind]
    if target.name in ("int32", "int64"):
        allowed += "b"
    is_integer = target.is_integer and array.dtype.kind in "iu"
    if array.size and array.dtype.kind not in allowed and not is_integer:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {_LONG.get(target.name, target.name)}")
    with np.errstate(over="ignore"):
        return array.astype(target.as_numpy_dtype)


def _fits(value: Any, dtype: np.dtype[Any]) -> bool:
    """Return True for a Python number that surely fits; the checks of others take ten times as long."""
    cls, kind = type(value), dtype.kind
    if kind in "fc":
        return (cls is float or cls is int) and -10000 < value < 10000
    return cls is int and kind in "iu" and (0 if kind == "u" else -127) <= value < 1 << (8 * dtype.itemsize - 1)


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "_array") or (hasattr(value, "numpy") and hasattr(value, "dtype"))


def _tensor_array(value: Any) -> _Array:
    array: _Array = value._array() if hasattr(value, "_array") else as_ndarray(value.numpy())
    return array


def _other(array: _Array, other: Any, name: str, hint: bool = False) -> _Array:
    """Return the other operand as an array of the same dtype.

    Args:
      hint: raises the operation's error, not the conversion's, if a Python value has another dtype.
    """
    dtype = array_dtype(array)
    if _fits(other, array.dtype):
        return np.array(other, array.dtype)
    if hasattr(other, "row_splits"):  # a RaggedTensor has its own operators
        return NotImplemented  # type: ignore[no-any-return]
    if _is_tensor(other):
        operand = _tensor_array(other)
    else:
        try:
            return convert(_tensor_list(other), dtype)
        except TypeError:
            if not hint:
                raise
            operand = as_ndarray(typed(list(other) if isinstance(other, tuple) else other))
    if array_dtype(operand) != dtype:
        raise _mismatch(name, dtype, array_dtype(operand))
    return operand


def _tensor_list(value: Any) -> Any:
    """Replace the tensors in nested lists by plain values."""
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
    dtype = array_dtype(array)
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
    """Return an operation on two arrays of dtypes of these kinds."""

    def operation(array: _Array, other: Any, swapped: bool) -> Any:
        operand = _other(array, other, name, hint and not swapped)
        if operand is NotImplemented:
            return operand
        _refuse(name, array, kinds)
        return _run(name, function, operand, array) if swapped else _run(name, function, array, operand)

    return operation


_NUMBERS = "iufcV"


def _add(first: _Array, second: _Array) -> Any:
    total = np.add(first, second)
    # The sum of scalars is bytes: an array of NumPy's own strings would lose its trailing zeros.
    return as_ndarray(total) if isinstance(total, bytes) else total


def _floor_divide(first: _Array, second: _Array) -> Any:
    _refuse_zero(first, second)
    return np.floor_divide(first, second) if second.dtype.kind in "iu" else np.floor(np.divide(first, second))


def _modulo(first: _Array, second: _Array) -> Any:
    _refuse_zero(first, second)
    return np.mod(first, second)


def _refuse_zero(dividend: _Array, divisor: _Array) -> None:
    if dividend.size and divisor.dtype.kind in "iu" and not np.all(divisor):
        raise InvalidArgumentError("Integer division by zero")


def _raise_to_power(first: _Array, second: _Array) -> Any:
    if first.size and second.dtype.kind == "i" and np.any(second < 0):
        raise InvalidArgumentError("Integers to negative integer powers are not allowed")
    return np.power(first, second)


add = binary("AddV2", _add, "iufcVO", hint=True)
subtract = binary("Sub", np.subtract, _NUMBERS)
multiply_numbers = binary("Mul", np.multiply, _NUMBERS)
floordiv = binary("FloorDiv", _floor_divide, "iufV")
mod = binary("FloorMod", _modulo, "iufV")
power = binary("Pow", _raise_to_power, "ifcV")


def multiply(array: _Array, other: Any, swapped: bool) -> Any:
    """Multiply; where an operand is of bools, compute `and`."""
    if hasattr(other, "row_splits"):
        return NotImplemented
    is_bool = _is_tensor(other) and _tensor_array(other).dtype.kind == "b"
    if not is_bool and array.dtype.kind != "b":
        return multiply_numbers(array, other, swapped)
    operand = _tensor_array(other) if _is_tensor(other) else as_ndarray(typed(other))
    if operand.dtype.kind == "O" or array.dtype.kind == "O":
        raise _mismatch("LogicalAnd", array_dtype(array), array_dtype(operand))
    return _run("LogicalAnd", np.logical_and, array, _as_bools(operand))


def _as_bools(array: _Array) -> _Array:
    """Return the truth of numbers; integers are cut to int32 first, as in TensorFlow."""
    with np.errstate(invalid="ignore"):
        return array.astype(np.int32).astype(bool) if array.dtype.kind in "iu" else array.astype(bool)


def with_sign(name: str, function: Callable[[Any], Any], array: _Array) -> Any:
    """Call a function of numbers that have a sign."""
    _refuse(name, array, "ifcV")
    return function(array)


def invert(array: _Array) -> Any:
    """Invert bits or truth values."""
    _refuse("Invert", array, "biu")
    return np.invert(array)


_matmul = binary("MatMul", np.matmul, _NUMBERS)


def matmul(array: _Array, other: Any, swapped: bool) -> Any:
    """Multiply matrices, or batches of them."""
    operand = _other(array, other, "MatMul")
    if operand is NotImplemented:
        return operand
    if array.ndim < 2 or operand.ndim < 2:
        raise InvalidArgumentError(f"In[0] and In[1] ndims must be == 2: {min(array.ndim, operand.ndim)} [Op:MatMul]")
    try:
        return _matmul(array, operand, swapped)
    except ValueError as error:
        raise InvalidArgumentError(f"Matrix size-incompatible: {error} [Op:MatMul]") from None


def divide(array: _Array, other: Any, swapped: bool) -> Any:
    """Divide; integers of at most 16 bits become float32, wider ones float64."""
    dtype = array_dtype(array)
    try:
        operand = _other(array, other, "RealDiv", hint=True)
    except InvalidArgumentError:
        mismatch = array_dtype(_tensor_array(other) if _is_tensor(other) else as_ndarray(typed(other)))
        raise TypeError(f"`x` and `y` must have the same dtype, got {dtype!r} != {mismatch!r}.") from None
    if operand is NotImplemented:
        return operand
    if array.dtype.kind in "bO":
        raise TypeError(f"Invalid dtype {dtype!r} in __truediv__.")
    if array.dtype.kind in "iu":
        wide = np.float32 if array.dtype.itemsize <= 2 else np.float64
        array, operand = array.astype(wide), operand.astype(wide)
    return _run("RealDiv", np.divide, operand, array) if swapped else _run("RealDiv", np.divide, array, operand)


def _equality(name: str, function: Callable[..., Any], otherwise: bool) -> Operation:
    """Return a comparison, whose result is `otherwise` if the shapes do not fit."""

    def operation(array: _Array, other: Any, swapped: bool) -> Any:
        operand = _other(array, other, name)
        if operand is NotImplemented:
            return operand
        try:
            np.broadcast_shapes(array.shape, operand.shape)
        except ValueError:
            return otherwise
        return np.asarray(function(array, operand), dtype=bool)

    return operation


equal = _equality("Equal", np.equal, False)
not_equal = _equality("NotEqual", np.not_equal, True)
less = binary("Less", np.less, "iufV")
less_equal = binary("LessEqual", np.less_equal, "iufV")
greater = binary("Greater", np.greater, "iufV")
greater_equal = binary("GreaterEqual", np.greater_equal, "iufV")
bitwise_and = binary("AndV2", np.bitwise_and, "biu")
bitwise_or = binary("OrV2", np.bitwise_or, "biu")
bitwise_xor = binary("Xor", np.bitwise_xor, "biu")
