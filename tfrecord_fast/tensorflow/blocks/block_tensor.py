"""Block tensors: one tensor per record, seen as the tensor of a single record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...values.blocks.columns import Column, Dense, Items, Sparse, Strings, Uneven
from ...values.columns.bytes_array import BytesArray
from ..tensors import tensor as tensors
from ..tensors.sparse_tensor import SparseTensor
from ..tensors.tensor import Tensor
from ..tensors.tensor_dtypes import DType, array_dtype, named
from ..tensors.tensor_shape import TensorShape
from ..tensors.wrapping import register_unwrapper, register_wrapper, unwrap, wrap
from .frames import Frame, NotOnBlocksError, SplitError, current, needs_records, required

_OPERATORS = (
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul and rand or ror "
    "xor rxor lt le gt ge eq ne neg abs invert getitem"
).split()


class BlockValue:
    """One value per record, in the frame that it was computed in.

    Args:
      column: the values of the frame's records.
    """

    __slots__ = ("column", "frame")
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # NumPy leaves operators to this class

    column: Column
    frame: Frame

    def selected(self) -> Column:
        """Return the values for the records that operations work on now."""
        self.check_thread()
        return required().select(self.column, self.frame)

    def check_thread(self) -> None:
        """Take note, if another thread uses the tensor, that the function needs single records."""
        if current.frame is None:
            self.frame.call.interruption = NotOnBlocksError("a tensor is used on another thread")

    def alone(self) -> Any:
        """Return the value of the only record, if operations work on a single one; else raise."""
        self.check_thread()
        frame = current.frame
        if frame is not None and frame.is_single:
            return wrap(frame.select(self.column, self.frame).row(0))
        raise needs_records("Python asks for a tensor's array")

    def numpy(self) -> Any:
        """Return the value of the only record; a block has none."""
        return self.alone().numpy()

    def _array(self) -> Any:
        return self.alone()._array()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.alone(), dtype)

    # ---- Values that Python asks for: if the records differ, the block splits ----

    def _common(self) -> Any:
        column = self.selected()
        if isinstance(column, Dense) and column.array.ndim == 1:
            array = column.array
            if array.dtype == object or array.dtype.kind == "V":
                values = [array[number] for number in range(len(array))]
            elif not len(array) or (array == array[0]).all():
                return wrap(array[0])
            else:
                values = array.tolist()
        else:
            values = list(column)
            if not all(isinstance(value, bytes | np.generic) for value in values):
                return self.alone()
        if any(value != values[0] for value in values):
            raise required().interrupt(SplitError(values))
        return wrap(next(iter(column)))

    def _truth(self) -> bool:
        column = self.selected()
        if isinstance(column, Dense) and column.array.ndim == 1 and column.array.dtype != object:
            truths = column.array.astype(bool)
        else:
            truths = np.array([bool(wrap(value)) for value in column])
        if truths.all() or not truths.any():
            return bool(truths[0])
        raise required().interrupt(SplitError(truths.tolist()))

    def __bool__(self) -> bool:
        return self._truth()

    def __int__(self) -> int:
        return int(self._common())

    def __float__(self) -> float:
        return float(self._common())

    def __index__(self) -> int:
        return self._common().__index__()  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        raise needs_records("a tensor is pickled")


class BlockTensor(BlockValue, Tensor):
    """Dense tensors or strings, one per record."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @property
    def shape(self) -> Any:
        column = self.selected()
        if isinstance(column, Dense):
            return TensorShape(column.shape)
        if isinstance(column, Strings):
            return TensorShape(column.source.shape[1:] if isinstance(column.source, BytesArray) else ())
        assert isinstance(column, Uneven)
        shapes = column.shapes
        differ = (shapes != shapes[:1]).any(axis=0)
        lengths = [None if differs else int(length) for length, differs in zip(shapes[0], differ, strict=True)]
        return _UnevenShape.of(lengths, shapes) if differ.any() else TensorShape(lengths)

    def get_shape(self) -> TensorShape:
        return self.shape  # type: ignore[no-any-return]

    def set_shape(self, shape: Any) -> None:
        check_shapes(self, shape, ValueError, "Tensor's shape {} is not compatible with supplied shape {}.")

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def dtype(self) -> DType:
        column = self.selected()
        if isinstance(column, Dense):
            return array_dtype(np.empty(0, column.dtype))
        return named("string") if isinstance(column, Strings) else array_dtype(np.empty(0, column.dtype))  # type: ignore[attr-defined]

    def __len__(self) -> int:
        lengths = self.shape
        if not len(lengths):
            raise TypeError("Scalar tensor has no `len()`")
        return int(lengths[0])

    def __iter__(self) -> Iterator[Any]:
        if not len(self.shape):
            raise TypeError("Cannot iterate over a scalar tensor.")
        return iter([self[number] for number in range(len(self))])

    def __repr__(self) -> str:
        return "<tf.Tensor: one per record>" if current.frame is None else repr(self.alone())

    def __str__(self) -> str:
        return str(self.alone())

    def __format__(self, spec: str) -> str:
        return format(self.alone(), spec)


class BlockComposite(BlockValue):
    """SparseTensors, RaggedTensors or other values, one per record. `isinstance` sees the class of the values."""

    __slots__ = ()
    __hash__ = None

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        column = self.column
        return SparseTensor if isinstance(column, Sparse) else type(wrap(column.row(0)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        column = self.selected()
        if isinstance(column, Sparse):
            if name == "values":
                return block_value(column.values, required())
            if name == "dense_shape" and isinstance(column.values, Uneven):
                return block_value(Dense(column.values.shapes), required())
            if name == "dtype" and isinstance(column.values, Uneven):
                return array_dtype(np.empty(0, column.values.dtype))
        if callable(getattr(type(wrap(column.row(0))), name, None)):
            return lambda *args, **kwargs: _operate(_call_method, self, name, *args, **kwargs)
        return _operate(getattr, self, name)

    def __repr__(self) -> str:
        return f"<{self.__class__.__name__}: one per record>" if current.frame is None else repr(self.alone())

    def __str__(self) -> str:
        return str(self.alone())


def _call_method(value: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    return getattr(value, name)(*args, **kwargs)


_OPERATION: list[Callable[..., Any]] = []


def set_operation(operate: Callable[..., Any]) -> None:
    """Set the function that calls an operation on blocks."""
    _OPERATION[:] = [operate]


def _operate(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return _OPERATION[0](function, *args, **kwargs)


def _operator(name: str) -> Callable[..., Any]:
    of_tensors = getattr(Tensor, name)

    def operate(*args: Any) -> Any:
        return _operate(of_tensors, *args)

    def operate_any(value: Any, *args: Any) -> Any:
        return _operate(_call_method, value, name, *args)

    setattr(BlockTensor, name, operate)
    setattr(BlockComposite, name, operate_any)
    return of_tensors  # type: ignore[no-any-return]


OPERATORS = {name: _operator(f"__{name}__") for name in _OPERATORS}


def block_value(column: Column, frame: Frame) -> Any:
    """Return the block tensor of a column."""
    if frame.call.count == 1:
        frame.call.row_bytes = max(frame.call.row_bytes, column.value_bytes())
    if isinstance(column, Dense | Strings | Uneven):
        value: Any = BlockTensor.__new__(BlockTensor)
    else:
        assert isinstance(column, Sparse | Items)
        value = BlockComposite.__new__(BlockComposite)
    value.column, value.frame = column, frame
    return value


def is_block_value(value: Any) -> bool:
    return type(value) is BlockTensor or type(value) is BlockComposite


# ---- Shapes ----


class _UnevenShape(TensorShape):
    """A shape of which the records share the rank. If Python asks for lengths, the block splits."""

    _shapes: Any

    @classmethod
    def of(cls, lengths: list[int | None], shapes: Any) -> _UnevenShape:
        shape: Any = cls(lengths)
        shape._shapes = shapes
        return shape  # type: ignore[no-any-return]

    def _split(self, *args: Any, **kwargs: Any) -> Any:
        raise required().interrupt(SplitError(list(map(tuple, self._shapes.tolist()))))

    def __getitem__(self, key: Any) -> Any:
        lengths = tuple.__getitem__(self, key)
        if lengths is None or (isinstance(lengths, tuple) and None in tuple(lengths)):
            return self._split()
        return lengths

    __iter__ = __eq__ = __ne__ = __add__ = __radd__ = __contains__ = _split
    as_list = num_elements = is_fully_defined = is_compatible_with = assert_is_compatible_with = _split
    dims = property(_split)
    __hash__ = None  # type: ignore[assignment]


def check_shapes(tensor: BlockTensor, shape: Any, error: type[Exception], message: str) -> None:
    """Raise an error unless the tensors of all records are compatible with a shape."""
    have = tensor.shape
    if not isinstance(have, _UnevenShape):
        if not have.is_compatible_with(shape):
            raise required().interrupt(error(message.format(have, TensorShape(shape))))
        return
    expected = TensorShape(shape)
    if expected.rank is None:
        return
    shapes = have._shapes
    if expected.rank != shapes.shape[1] or any(
        length is not None and (shapes[:, axis] != length).any() for axis, length in enumerate(expected)
    ):
        raise required().interrupt(error(message.format(have, expected)))


def _refuse(value: Any) -> Any:
    return unwrap(value.alone())


register_wrapper(BlockTensor, lambda value: value)
register_wrapper(BlockComposite, lambda value: value)
register_unwrapper(BlockTensor, _refuse)
register_unwrapper(BlockComposite, _refuse)
tensors.LEFT_TO_OTHERS.update((BlockTensor, BlockComposite))
