"""TensorFlow's functions on tensors that scripts around records use, for NumPy values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..base.casting import numbers_as
from ..dtypes import DType, DTypeLike, as_dtype, string
from ..errors import InvalidArgumentError
from .columns.bytes_array import BytesArray
from .columns.conversion import as_array
from .columns.sparse import SparseTensor
from .columns.typed import as_ndarray, check_kinds
from .elements.nests import normalize, returned

_Lengths: TypeAlias = int | Sequence[int] | npt.NDArray[Any]


def _value(value: object) -> npt.NDArray[Any] | BytesArray:
    return value if isinstance(value, BytesArray) else as_ndarray(normalize(value))


def _result(array: npt.NDArray[Any] | BytesArray) -> Any:
    return array[()] if isinstance(array, np.ndarray) and array.ndim == 0 else array


def constant(
    value: object, dtype: DTypeLike | None = None, shape: _Lengths | None = None, name: str | None = None
) -> Any:
    """Return a NumPy value: Python ints become int32, floats float32, str bytes, unless `dtype` is given.

    Args:
      shape: the shape of the result; a single value fills it.

    >>> import tfrecord_fast as tf
    >>> tf.constant([1, 2])
    array([1, 2], dtype=int32)
    """
    if dtype is None:
        array = np.asarray(_value(value))
    else:
        array = as_array(
            normalize(value) if as_dtype(dtype) == string else value, as_dtype(dtype).as_numpy_dtype, "value"
        )
    if shape is not None:
        array = np.full(shape, array) if array.size == 1 else array.reshape(shape)
    return _result(array)


def convert_to_tensor(
    value: object, dtype: DTypeLike | None = None, dtype_hint: DTypeLike | None = None, name: str | None = None
) -> Any:
    """Return a NumPy value as `constant` does.

    >>> convert_to_tensor([1, 2], "float32").dtype.name
    'float32'
    """
    return constant(value, dtype)


def cast(x: object, dtype: DTypeLike, name: str | None = None) -> Any:
    """Cast the values of an array or SparseTensor to another dtype.

    >>> import tfrecord_fast as tf
    >>> tf.cast([1.8, 2.2], tf.int32)
    array([1, 2], dtype=int32)
    """
    if isinstance(x, SparseTensor):
        return SparseTensor(x.indices, _cast(np.asarray(x.values), as_dtype(dtype)), x.dense_shape)
    return _result(_cast(np.asarray(_value(x)), as_dtype(dtype)))


def _cast(values: npt.NDArray[Any], dtype: DType) -> npt.NDArray[Any]:
    if values.dtype.hasobject != (dtype == string):
        name = "string" if values.dtype.hasobject else values.dtype.name
        raise TypeError(f"Cast {name} to {dtype.name} is not supported")
    return values if dtype == string else numbers_as(values, dtype.as_numpy_dtype)


def reshape(tensor: object, shape: _Lengths, name: str | None = None) -> Any:
    """Reshape the values; one length may be -1.

    Raises:
      errors.InvalidArgumentError: the numbers of values differ.

    >>> import tfrecord_fast as tf
    >>> tf.reshape([1, 2, 3, 4], [2, -1]).tolist()
    [[1, 2], [3, 4]]
    """
    array = _value(tensor)
    lengths = [int(length) for length in np.atleast_1d(np.asarray(shape, dtype=np.int64))]
    try:
        return _result(array.reshape(lengths))
    except ValueError as error:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {array.size} values, but the requested shape is {lengths}"
        ) from error


def shape(input: object, out_type: DTypeLike = "int32", name: str | None = None) -> npt.NDArray[Any]:
    """Return the shape as a 1-D array (int32 by default).

    >>> shape([[1, 2, 3]]).tolist()
    [1, 3]
    """
    return np.array(_value(input).shape, dtype=as_dtype(out_type).as_numpy_dtype)


def expand_dims(input: object, axis: int, name: str | None = None) -> npt.NDArray[Any]:
    """Insert an axis of length 1.

    >>> expand_dims([1, 2], axis=0).shape
    (1, 2)
    """
    return np.expand_dims(np.asarray(_value(input)), axis)


def squeeze(input: object, axis: int | Sequence[int] | None = None, name: str | None = None) -> Any:
    """Remove the axes of length 1, or only the given ones, whose length must be 1.

    >>> squeeze([[1, 2]]).tolist()
    [1, 2]
    """
    axes = axis if axis is None or isinstance(axis, int) else tuple(axis)
    return _result(np.squeeze(np.asarray(_value(input)), axis=axes))


def transpose(a: object, perm: Sequence[int] | None = None, name: str | None = None) -> npt.NDArray[Any]:
    """Permute the axes; reverse them by default.

    >>> transpose([[1, 2], [3, 4]]).tolist()
    [[1, 3], [2, 4]]
    """
    return np.transpose(np.asarray(_value(a)), perm)


def stack(values: Iterable[object], axis: int = 0, name: str | None = None) -> npt.NDArray[Any]:
    """Stack arrays of one shape along a new axis.

    Python's numbers take the dtype of the arrays among them. By themselves they are float32 if one is a float, else
    int32, or int64 if a value needs it.

    Raises:
      TypeError: strings and numbers; a float among arrays of integers.

    >>> import tfrecord_fast as tf
    >>> tf.stack([1, 2.5]).dtype
    dtype('float32')
    """
    return np.stack(_arrays(values, "a stack"), axis=axis)


def concat(values: Iterable[object], axis: int, name: str | None = None) -> npt.NDArray[Any]:
    """Concatenate arrays along an axis, with the dtypes and errors of `stack`.

    >>> concat([[1, 2], [3]], axis=0).tolist()
    [1, 2, 3]
    """
    return np.concatenate(_arrays(values, "a concatenation"), axis=axis)


def _arrays(values: Iterable[object], what: str) -> list[npt.NDArray[Any]]:
    """Convert values to arrays; Python's numbers take the dtype of the arrays, or float32 if one is a float."""
    values = list(values)
    arrays = [np.asarray(_value(value)) for value in values]
    check_kinds(arrays, what)
    plain = [_is_plain(value) for value in values]
    others = {array.dtype for array, is_plain in zip(arrays, plain, strict=True) if not is_plain}
    if not others and any(array.dtype == np.float32 for array in arrays):
        others = {np.dtype(np.float32)}
    if len(others) != 1 or not any(plain):
        return arrays
    (dtype,) = others
    return [
        as_array(value, dtype, what) if is_plain else array
        for value, array, is_plain in zip(values, arrays, plain, strict=True)
    ]


def _is_plain(value: object) -> bool:
    """Return True for a number of Python's, or nested lists of them."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return type(value) in (bool, int, float)


def one_hot(
    indices: object,
    depth: int,
    on_value: npt.ArrayLike = 1,
    off_value: npt.ArrayLike = 0,
    axis: int = -1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> npt.NDArray[Any]:
    """Return a row of `depth` values for each index: `on_value` there, `off_value` elsewhere; float32 by default.

    >>> import tfrecord_fast as tf
    >>> tf.one_hot([1, 3], 3).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    positions = np.asarray(_value(indices))
    target = np.float32 if dtype is None else as_dtype(dtype).as_numpy_dtype
    rows: npt.NDArray[Any] = np.where(positions[..., None] == np.arange(depth), on_value, off_value).astype(target)
    return rows if axis == -1 else np.moveaxis(rows, -1, axis)


def numpy_function(
    func: Callable[..., Any], inp: Iterable[object], Tout: object = None, stateful: bool = True, name: str | None = None
) -> Any:
    """Call the function, and return its result as NumPy values.

    >>> numpy_function(np.cumsum, [np.array([1, 2])], "int64").tolist()
    [1, 3]
    """
    return returned(func(*inp))


def py_function(func: Callable[..., Any], inp: Iterable[object], Tout: object = None, name: str | None = None) -> Any:
    """Call the function as `numpy_function` does.

    >>> py_function(lambda a: a + 1, [np.array([1, 2])], "int64").tolist()
    [2, 3]
    """
    return numpy_function(func, inp, Tout)
