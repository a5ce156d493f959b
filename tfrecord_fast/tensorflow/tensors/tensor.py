"""Tensors: arrays and byte strings with TensorFlow's methods.

An `ArrayTensor` is an ndarray and a `BytesTensor` is bytes. `Strings` are byte strings that stay in the records until
they are read.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...values.columns.strings import object_array
from . import arithmetic
from .tensor_dtypes import DType, array_dtype, named
from .tensor_shape import TensorShape

_UNDEFINED = "Tensor.{} is undefined when eager execution is enabled."


LEFT_TO_OTHERS: set[type] = set()  # classes whose own operators take tensors


def _operate(operation: Any, tensor: Tensor, other: Any, swapped: bool = False) -> Any:
    cls = type(other)
    if cls in LEFT_TO_OTHERS or cls.__module__.startswith("tensorflow."):
        return NotImplemented  # TensorFlow's operator follows its gradients
    result = operation(tensor._array(), other, swapped)
    return result if result is NotImplemented else as_tensor(np.asarray(result))


def _operator(operation: arithmetic.Operation, swapped: bool = False) -> Callable[[Any, Any], Any]:
    def operate(tensor: Any, other: Any) -> Any:
        return _operate(operation, tensor, other, swapped)

    return operate


class Tensor:
    """Base class of tensors, for `isinstance(x, tf.Tensor)`."""

    __slots__ = ()
    device = "/job:localhost/replica:0/task:0/device:CPU:0"

    # ---- Value ----

    def numpy(self) -> Any:
        """Return the value without TensorFlow's methods: an ndarray, a NumPy scalar or bytes."""
        raise NotImplementedError

    def _array(self) -> np.ndarray[Any, Any]:
        """Return the value as an ndarray; byte strings are objects."""
        raise NotImplementedError

    @property
    def shape(self) -> Any:
        """The lengths, as a TensorShape."""
        return TensorShape(self._array().shape)

    @property
    def dtype(self) -> Any:
        """The DType."""
        return array_dtype(self._array())

    def get_shape(self) -> TensorShape:
        """Return the lengths, as a TensorShape."""
        return TensorShape(self._array().shape)

    def set_shape(self, shape: Any) -> None:
        """Raise ValueError if the tensor has another shape."""
        if not self.get_shape().is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.get_shape()} is not compatible with supplied shape {TensorShape(shape)}."
            )

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Raise NotImplementedError: sessions do not exist here."""
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're looking for?"
        )

    def ref(self) -> Reference:
        """Return a reference, which can be a key of a dict."""
        return Reference(self)

    def cpu(self) -> Any:
        """Return the tensor itself."""
        return self

    gpu = cpu

    def __getattr__(self, name: str) -> Any:
        if name in ("name", "op", "graph", "consumers", "value_index"):
            raise AttributeError(_UNDEFINED.format(name))
        raise AttributeError(f"'Tensor' object has no attribute {name!r}")

    # ---- Text ----

    def _text(self, show: Callable[[Any], str]) -> str:
        array = self._array()
        if array.ndim == 0 and array.dtype.kind not in "OSUTb":
            return str(array)
        text = show(array.item() if array.ndim == 0 else array)
        return f"\n{text}" if "\n" in text else text

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.get_shape()}, dtype={self.dtype.name}, numpy={self._text(repr)}>"

    def __str__(self) -> str:
        return f"tf.Tensor({self._text(str)}, shape={self.get_shape()}, dtype={self.dtype.name})"

    def __format__(self, spec: str) -> str:
        return format(self.numpy(), spec)

    # ---- Operators ----

    __add__, __radd__ = _operator(arithmetic.add), _operator(arithmetic.add, swapped=True)
    __sub__, __rsub__ = _operator(arithmetic.subtract), _operator(arithmetic.subtract, swapped=True)
    __mul__, __rmul__ = _operator(arithmetic.multiply), _operator(arithmetic.multiply, swapped=True)
    __truediv__, __rtruediv__ = _operator(arithmetic.divide), _operator(arithmetic.divide, swapped=True)
    __floordiv__, __rfloordiv__ = _operator(arithmetic.floordiv), _operator(arithmetic.floordiv, swapped=True)
    __mod__, __rmod__ = _operator(arithmetic.mod), _operator(arithmetic.mod, swapped=True)
    __pow__, __rpow__ = _operator(arithmetic.power), _operator(arithmetic.power, swapped=True)
    __matmul__, __rmatmul__ = _operator(arithmetic.matmul), _operator(arithmetic.matmul, swapped=True)
    __and__ = __rand__ = _operator(arithmetic.bitwise_and)
    __or__ = __ror__ = _operator(arithmetic.bitwise_or)
    __xor__ = __rxor__ = _operator(arithmetic.bitwise_xor)
    __lt__, __le__ = _operator(arithmetic.less), _operator(arithmetic.less_equal)
    __gt__, __ge__ = _operator(arithmetic.greater), _operator(arithmetic.greater_equal)

    def __eq__(self, other: Any) -> Any:
        return False if other is None else _operate(arithmetic.equal, self, other)

    def __ne__(self, other: Any) -> Any:
        return True if other is None else _operate(arithmetic.not_equal, self, other)

    def __neg__(self) -> Any:
        return as_tensor(np.asarray(arithmetic.with_sign("Neg", np.negative, self._array())))

    def __abs__(self) -> Any:
        return as_tensor(np.asarray(arithmetic.with_sign("Abs", np.abs, self._array())))

    def __invert__(self) -> Any:
        return as_tensor(np.asarray(arithmetic.invert(self._array())))

    # ---- Items ----

    def __getitem__(self, key: Any) -> Any:
        array = self._array()
        if array.ndim == 0 and any(index not in (None, Ellipsis) for index in (key if type(key) is tuple else (key,))):
            raise InvalidArgumentError("Attempting to slice scalar input.")
        try:
            return as_tensor(array[_as_index(key)])
        except IndexError as error:
            raise InvalidArgumentError(f"slice index out of bounds: {error}") from None

    def __iter__(self) -> Iterator[Any]:
        array = self._array()
        if array.ndim == 0:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return map(as_tensor, array)

    def __len__(self) -> int:
        array = self._array()
        if array.ndim == 0:
            raise TypeError("Scalar tensor has no `len()`")
        return len(array)


Tensor.__hash__ = None  # type: ignore[assignment]


class ArrayTensor(Tensor, np.ndarray):  # type: ignore[misc]
    """An array with TensorFlow's methods, made by `as_tensor`."""

    __hash__ = None

    # Tensors are immutable: `x += 1` makes another tensor.
    __iadd__ = Tensor.__add__
    __isub__ = Tensor.__sub__
    __imul__ = Tensor.__mul__
    __itruediv__ = Tensor.__truediv__
    __ifloordiv__ = Tensor.__floordiv__
    __imod__ = Tensor.__mod__
    __ipow__ = Tensor.__pow__
    __imatmul__ = Tensor.__matmul__
    __iand__ = Tensor.__and__
    __ior__ = Tensor.__or__  # type: ignore[assignment]
    __ixor__ = Tensor.__xor__

    def _array(self) -> np.ndarray[Any, Any]:
        return _new_view(self)

    def numpy(self) -> Any:
        if not self.ndim:
            return _item(self, ())
        # A script may write into the array, so it gets a copy of an element that is kept.
        view = _new_view(self)
        return view if view.flags.writeable else view.copy()

    def plain(self) -> Any:
        """Return the plain value, which the package never writes into."""
        return _new_view(self) if self.ndim else _item(self, ())

    @property
    def shape(self) -> Any:
        return TensorShape(_shape_of(self))

    @shape.setter
    def shape(self, value: Any) -> None:
        _set_shape_of(self, value)

    @property
    def dtype(self) -> Any:
        return array_dtype(_new_view(self))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        operation = _OPERATORS.get(ufunc)
        if operation is not None and method == "__call__" and not kwargs:
            first, second = inputs
            tensor = first if isinstance(first, Tensor) else second
            return _operate(operation, tensor, second if tensor is first else first, swapped=tensor is not first)
        if "out" in kwargs:
            kwargs["out"] = tuple(map(_as_array, kwargs["out"]))
        result = getattr(ufunc, method)(*map(_as_array, inputs), **kwargs)
        return tuple(map(as_tensor, result)) if isinstance(result, tuple) else as_tensor(result)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return func(*_as_arrays(args), **{name: _as_arrays(value) for name, value in kwargs.items()})

    def __bool__(self) -> bool:
        return bool(self.size) and bool(_new_view(self))

    def __reduce__(self) -> Any:
        return as_tensor, (_new_view(self),)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError("'Tensor' object does not support item assignment")


_OPERATORS: dict[Any, Any] = {  # for NumPy's numbers and arrays on the left of a tensor
    np.add: arithmetic.add,
    np.subtract: arithmetic.subtract,
    np.multiply: arithmetic.multiply,
    np.true_divide: arithmetic.divide,
    np.floor_divide: arithmetic.floordiv,
    np.remainder: arithmetic.mod,
    np.power: arithmetic.power,
    np.matmul: arithmetic.matmul,
    np.bitwise_and: arithmetic.bitwise_and,
    np.bitwise_or: arithmetic.bitwise_or,
    np.bitwise_xor: arithmetic.bitwise_xor,
    np.equal: arithmetic.equal,
    np.not_equal: arithmetic.not_equal,
}
_item = np.ndarray.__getitem__
_shape_of = np.ndarray.shape.__get__
_set_shape_of = np.ndarray.shape.__set__  # type: ignore[attr-defined]


def _new_view(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.ndarray.view(array, np.ndarray)


class BytesTensor(Tensor, bytes):
    """A byte string with TensorFlow's methods. As bytes, it can be a key of a dict."""

    def _array(self) -> np.ndarray[Any, Any]:
        return object_array([bytes(self)], ())

    def numpy(self) -> bytes:
        return bytes(self)

    @property
    def shape(self) -> Any:
        return _SCALAR

    def get_shape(self) -> TensorShape:
        return _SCALAR

    @property
    def ndim(self) -> int:
        """The number of dimensions: 0."""
        return 0

    @property
    def dtype(self) -> DType:
        return named("string")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self._array() if dtype is None else self._array().astype(dtype)

    def __hash__(self) -> int:
        return bytes.__hash__(self)

    def __reduce__(self) -> Any:
        return BytesTensor, (bytes(self),)

    def __int__(self) -> int:
        # NumPy mistakes a subclass of bytes for an int8 and calls this: np.array(tf.constant("3")) would be 3.
        raise TypeError("NumPy cannot convert a string tensor; pass its `.numpy()`")

    # The same as for bytes, which scripts expect after `.numpy()`.
    __len__ = bytes.__len__
    __iter__ = bytes.__iter__

    def __getitem__(self, key: Any) -> Any:
        if key is None or key is Ellipsis or isinstance(key, tuple):
            return Tensor.__getitem__(self, key)
        return bytes.__getitem__(self, key)

    __mod__ = bytes.__mod__


_SCALAR = TensorShape([])


class Strings(Tensor):
    """Byte strings of a batch that stay in the records, or in the buffers of a column.

    Args:
      source: a RecordBatch or a BytesArray.
    """

    __slots__ = ("source",)

    def __init__(self, source: Any) -> None:
        self.source = source

    def _array(self) -> np.ndarray[Any, Any]:
        return np.asarray(self.source)

    numpy = _array

    @property
    def shape(self) -> Any:
        return TensorShape(getattr(self.source, "shape", None) or (len(self.source),))

    def get_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def dtype(self) -> DType:
        return named("string")

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice) and key.step in (None, 1):
            return Strings(self.source[key])
        return super().__getitem__(key)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self._array() if dtype is None else self._array().astype(dtype)

    def __bool__(self) -> bool:
        return bool(self._array())

    def __reduce__(self) -> Any:
        return Strings, (self.source,)


def as_tensor(value: Any) -> Any:
    """Return the tensor of a NumPy value, bytes, or an array of byte strings."""
    cls = type(value)
    if cls is bytes:
        return BytesTensor(value)
    if isinstance(value, Tensor):
        return value
    if cls is np.ndarray or isinstance(value, np.generic):
        array = np.asarray(value)
        if array.ndim == 0 and array.dtype.kind == "O" and isinstance(array[()], bytes):
            return BytesTensor(array[()])
        return array.view(ArrayTensor)
    return value


def plain_array(value: Any) -> Any:
    """Return the plain value of a tensor; 0-d arrays become scalars."""
    if isinstance(value, ArrayTensor):
        return value.plain()
    return value.numpy() if isinstance(value, Tensor) else value


def _as_array(value: Any) -> Any:
    return value._array() if isinstance(value, Tensor) else value


def _as_arrays(values: Any) -> Any:
    if isinstance(values, list | tuple):
        return type(values)(map(_as_arrays, values)) if not hasattr(values, "_fields") else values
    return _as_array(values)


class Reference:
    """A key of a dict for a tensor, equal to other references to the same tensor."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def deref(self) -> Any:
        """Return the tensor."""
        return self._tensor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._tensor is other._tensor

    def __hash__(self) -> int:
        return id(self._tensor)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._tensor!r}>"


# ---- Indices ----


def _as_index(key: Any) -> Any:
    """Convert a key of TensorFlow's to NumPy's: a list means a tuple, and arrays of numbers are refused."""
    mask = plain_array(key)
    if isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.ndim:
        return mask
    return tuple(checked_index(index) for index in (key if isinstance(key, list | tuple) else (key,)))


def checked_index(index: Any) -> Any:
    """Return one index, without tensors; raise TypeError unless it is an integer, slice, ellipsis or None."""
    if index is None or index is Ellipsis:
        return index
    if isinstance(index, slice):
        bounds = (index.start, index.stop, index.step)
        return slice(*(None if bound is None else operator.index(plain_array(bound)) for bound in bounds))
    number = plain_array(index)
    if np.ndim(number) or not hasattr(number, "__index__") or np.asarray(number).dtype == np.bool_:
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
            f"are valid indices, got {index!r:.100}"
        )
    return number
