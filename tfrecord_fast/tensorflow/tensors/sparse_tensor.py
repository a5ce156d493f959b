"""SparseTensor: the package's, with tensors for components."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...values.columns import sparse
from .tensor_dtypes import DType, as_dtype
from .tensor_shape import TensorShape
from .wrapping import register_unwrapper, register_wrapper, unwrap, wrap


class SparseTensor:
    """Values and their indices in a dense tensor."""

    __slots__ = ("plain",)

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self.plain = sparse.SparseTensor(*map(unwrap, (indices, values, dense_shape)))

    @classmethod
    def of(cls, plain: sparse.SparseTensor) -> SparseTensor:
        """Wrap a SparseTensor of the package."""
        tensor = cls.__new__(cls)
        tensor.plain = plain
        return tensor

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """Make a SparseTensor of (indices, values, dense_shape)."""
        return cls(*sparse_tensor_value)

    @property
    def indices(self) -> Any:
        """int64 `[number of values, number of dimensions]`, in row-major order."""
        return wrap(self.plain.indices)

    @property
    def values(self) -> Any:
        """`[number of values]`."""
        return wrap(self.plain.values)

    @property
    def dense_shape(self) -> Any:
        """int64 `[number of dimensions]`: the lengths of the dense tensor."""
        return wrap(self.plain.dense_shape)

    @property
    def row_splits(self) -> Any:
        """int64: the index of each row's first value, and the number of values."""
        return wrap(self.plain.row_splits)

    @property
    def shape(self) -> TensorShape:
        """The dense shape, as a TensorShape."""
        return TensorShape(self.plain.shape)

    def get_shape(self) -> TensorShape:
        """Return the dense shape, as a TensorShape."""
        return self.shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return as_dtype(self.plain.dtype)

    def __mul__(self, other: Any) -> SparseTensor:
        """Multiply the values by a number; products with arrays are left to TensorFlow."""
        if np.ndim(other):
            raise TypeError("a SparseTensor can only be multiplied by a number")
        return self.with_values(self.values * other)

    def __truediv__(self, other: Any) -> SparseTensor:
        if np.ndim(other):
            raise TypeError("a SparseTensor can only be divided by a number")
        return self.with_values(self.values / other)

    def with_values(self, new_values: Any) -> SparseTensor:
        """Return other values at the same indices."""
        return SparseTensor(self.plain.indices, new_values, self.plain.dense_shape)

    def numpy(self) -> Any:
        """Return the package's SparseTensor of NumPy values."""
        return self.plain

    def __len__(self) -> int:
        return len(self.plain)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.indices, self.values, self.dense_shape))

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self.indices!s}, values={self.values!s}, dense_shape={self.dense_shape!s})"

    def __reduce__(self) -> Any:
        return SparseTensor.of, (self.plain,)


register_wrapper(sparse.SparseTensor, SparseTensor.of)
register_unwrapper(SparseTensor, SparseTensor.numpy)
