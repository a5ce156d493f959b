"""Conversion of the arguments of functions on tensors to arrays, and of their results to tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...values.columns.typed import as_ndarray, typed
from ..tensors.arithmetic import convert
from ..tensors.ragged_tensor import RaggedTensor
from ..tensors.tensor import ArrayTensor, Tensor, as_tensor, plain_array
from ..tensors.tensor_dtypes import DType, array_dtype, as_dtype
from ..tensors.wrapping import unwrap

Array = np.ndarray[Any, Any]


def as_array(value: Any, dtype: Any = None) -> Array:
    """Convert a value to an array, of `dtype` if set, else of the dtype that TensorFlow chooses for Python values."""
    if type(value) is ArrayTensor:
        array = value.array
        if dtype is None:
            return array
    elif isinstance(value, Tensor):
        array = as_ndarray(plain_array(value))
    elif isinstance(value, RaggedTensor):
        raise ValueError(f"a RaggedTensor is not supported here, even if its rows have one length: {value!r:.100}")
    elif hasattr(value, "numpy") and hasattr(value, "dtype"):
        array = as_ndarray(value.numpy())
    elif isinstance(value, list | tuple) and _holds_tensors(value):
        dtype = common_dtype(value) if dtype is None else dtype
        return np.stack([as_array(item, dtype) for item in value])
    elif dtype is not None:
        return convert(value, dtype)
    else:
        plain = unwrap(list(value) if isinstance(value, tuple | range) else value)
        array = as_ndarray(typed(plain))
    if array.dtype.kind == "O" and array.size and not isinstance(array.ravel()[0], bytes):
        raise ValueError(f"Attempt to convert a value ({value!r:.100}) with an unsupported type to a Tensor.")
    if dtype is not None and array_dtype(array) != as_dtype(dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor with dtype "
            f"{array_dtype(array).name}: {value!r:.200}"
        )
    return array


def _holds_tensors(values: list[Any] | tuple[Any, ...]) -> bool:
    classes = set(map(type, values))
    if any(issubclass(cls, Tensor) or hasattr(cls, "numpy") for cls in classes):
        return True
    return any(issubclass(cls, list | tuple) for cls in classes) and any(
        _holds_tensors(item) for item in values if isinstance(item, list | tuple)
    )


def common_dtype(value: Any) -> Any:
    """Return the dtype of the tensors in a list, or None."""
    if not isinstance(value, list | tuple):
        return None
    dtypes: list[Any] = [item.dtype if isinstance(item, Tensor) else common_dtype(item) for item in value]
    known = [dtype for dtype in dtypes if dtype is not None]
    if any(dtype != known[0] for dtype in known):
        raise InvalidArgumentError(
            f"the tensors of a list must have one dtype, got {sorted({dtype.name for dtype in known})}"
        )
    return known[0] if known else None


def as_arrays(*values: Any) -> list[Array]:
    """Convert several values to arrays of one dtype: that of the first tensor or array, which Python numbers adopt."""
    if {*map(type, values)} == {ArrayTensor}:
        arrays = [value.array for value in values]
        if len({array.dtype for array in arrays}) == 1:
            return arrays
    known = [value for value in values if isinstance(value, Tensor) or hasattr(value, "numpy")]
    if not known:
        known = [value for value in values if isinstance(value, np.ndarray | np.generic)]
    if not known:
        arrays = [as_array(value) for value in values]
        if len({array.dtype for array in arrays}) > 1:
            widest: DType = array_dtype(arrays[0])
            return [convert(value, widest) for value in values]
        return arrays
    dtype = array_dtype(as_array(known[0]))
    arrays = []
    for number, value in enumerate(values):
        if isinstance(value, Tensor) or hasattr(value, "numpy"):
            array = as_array(value)
            if array_dtype(array) != dtype:
                raise InvalidArgumentError(
                    f"expected tensor #{number} to be of type {dtype.name}, but it is of type {array_dtype(array).name}"
                )
            arrays.append(array)
        else:
            arrays.append(convert(unwrap(value), dtype))
    return arrays


def tensor(value: Any) -> Any:
    """Return the tensor of an array, a NumPy scalar or bytes."""
    return as_tensor(value if isinstance(value, bytes) else np.asarray(value))


def tensors(values: Iterable[Any]) -> list[Any]:
    return [tensor(value) for value in values]


def named(function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def integer(value: Any) -> int:
    """Convert a number, which may be a tensor, to a Python int."""
    if isinstance(value, int):
        return int(value)
    array = as_array(value)
    if array.dtype.kind not in "iu":
        raise TypeError(f"expected an integer, got {array_dtype(array).name}: {value!r:.100}")
    return int(array.item())


def as_axes(axis: Any) -> Any:
    if axis is None or isinstance(axis, int):
        return axis
    array = as_array(axis)
    return int(array) if array.ndim == 0 else tuple(int(number) for number in array)


def is_list_of_integers(value: Any) -> bool:
    """Return True for a 1-D integer array, or an empty one, and for a list with tensors, which are cast."""
    if isinstance(value, list | tuple) and any(isinstance(item, Tensor) for item in value):
        return True
    array = as_array(value)
    return array.ndim == 1 and (not array.size or array.dtype.kind in "iu")


def as_lengths(shape: Any) -> tuple[int, ...]:
    """Convert a shape, which may be a tensor or hold tensors, to Python ints. Tensors in a list may hold floats."""
    if isinstance(shape, int):
        return (int(shape),)
    if isinstance(shape, list | tuple):
        return tuple(int(length) if isinstance(length, Tensor) else integer(length) for length in shape)
    array = as_array(shape)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"lengths must be integers, got {array_dtype(array).name}: {shape!r:.100}")
    return (int(array),) if array.ndim == 0 else tuple(int(length) for length in array)
