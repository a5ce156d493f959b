"""Tensors: arrays and byte strings with TensorFlow's methods.

An `ArrayTensor` holds an ndarray and a `BytesTensor` is bytes. `Strings` are byte strings that stay in the records
until they are read. To NumPy and the libraries above it, tensors are what TensorFlow's are: objects with `__array__`.
A subclass of ndarray would break their code, which reads NumPy's `dtype` and `shape` from each ndarray.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...values.columns.strings import object_array
from . import arithmetic
from .tensor_dtypes import DType, array_dtype, named
from .tensor_shape import TensorShape

_UNDEFINED = "Tensor.{} is undefined when eager execution is enabled."
_NOT_AN_ARRAY = "'Tensor' object has no attribute '{0}'; call `.numpy()` for an ndarray, which has it"


def _absent(name: str, message: str) -> property:
    """Return a property that does not exist: `__getattr__` would slow down each look NumPy takes at a tensor."""

    def absent(tensor: Any) -> Any:
        raise AttributeError(message.format(name))

    return property(absent)


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

    name, op, graph, consumers, value_index = (
        _absent(name, _UNDEFINED) for name in ("name", "op", "graph", "consumers", "value_index")
    )
    astype, clip, data, ravel, size, tolist, T = (
        _absent(name, _NOT_AN_ARRAY) for name in ("astype", "clip", "data", "ravel", "size", "tolist", "T")
    )

    # ---- NumPy ----

    __array_priority__ = 100  # an ndarray on the left of an operator leaves the operation to the tensor

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self._array().view()
        return array if dtype is None and not copy else np.array(array, dtype=dtype, copy=copy)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array().ndim

    def __bool__(self) -> bool:
        array = self._array()
        return bool(array.size) and bool(array)

    def __int__(self) -> int:
        return int(self._array())

    def __float__(self) -> float:
        return float(self._array())

    def __complex__(self) -> complex:
        return complex(self._array())

    def __index__(self) -> int:
        return operator.index(self._array())

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


class ArrayTensor(Tensor):
    """The tensor of an array that is never written into, made by `as_tensor`."""

    __slots__ = ("__weakref__", "array")

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        if _is_new_to_jax and "jax" in sys.modules:
            _register_with_jax(sys.modules["jax"])

    def _array(self) -> np.ndarray[Any, Any]:
        return self.array

    def numpy(self) -> Any:
        array = self.array
        if not array.ndim:
            return array[()]
        # A script may write into the array, so it gets a copy of an element that is kept.
        return array.view() if array.flags.writeable else array.copy()

    def plain(self) -> Any:
        """Return the plain value, which the package never writes into."""
        return self.array if self.array.ndim else self.array[()]

    def __jax_array__(self) -> Any:
        return sys.modules["jax"].numpy.asarray(self.array)

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __reduce__(self) -> Any:
        return as_tensor, (self.array,)


_is_new_to_jax = True


def _register_with_jax(jax: Any) -> None:
    """Let functions that JAX compiles take tensors: inside, they are JAX's own arrays.

    JAX accepts an object with `__jax_array__` in other functions only.
    """
    global _is_new_to_jax
    if hasattr(jax, "tree_util") and hasattr(jax, "numpy"):  # otherwise, it is being imported
        _is_new_to_jax = False
        jax.tree_util.register_pytree_node(
            ArrayTensor, lambda tensor: ((tensor.array,), None), lambda _, children: children[0]
        )


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
    def dtype(self) -> DType:
        return named("string")

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

    def __reduce__(self) -> Any:
        return Strings, (self.source,)


def as_tensor(value: Any) -> Any:
    """Return the tensor of a NumPy value, bytes, or an array of byte strings."""
    cls = type(value)
    if cls is np.ndarray:
        if value.ndim == 0 and value.dtype.kind == "O" and isinstance(value[()], bytes):
            return BytesTensor(value[()])
        return ArrayTensor(value)
    if cls is bytes:
        return BytesTensor(value)
    return as_tensor(np.asarray(value)) if isinstance(value, np.generic) else value


def plain_array(value: Any) -> Any:
    """Return the plain value of a tensor; 0-d arrays become scalars."""
    if isinstance(value, ArrayTensor):
        return value.plain()
    return value.numpy() if isinstance(value, Tensor) else value


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
