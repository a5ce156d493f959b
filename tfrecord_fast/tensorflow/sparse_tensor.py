"""SparseTensor of the face: the package's, whose parts come as tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..values.columns import sparse
from . import border
from .shapes import TensorShape
from .types import DType, as_dtype

__all__ = ["SparseTensor", "SparseTensorValue"]


class SparseTensor:
    """Values, and their places in a dense tensor.

    Args:
      indices: int64 `[number of values, number of dimensions]`.
      values: `[number of values]`.
      dense_shape: int64 `[number of dimensions]`.
    """

    __slots__ = ("plain",)

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self.plain = sparse.SparseTensor(*map(border.lowered, (indices, values, dense_shape)))

    @classmethod
    def of(cls, plain: sparse.SparseTensor) -> SparseTensor:
        """The tensor around one of the package."""
        made = cls.__new__(cls)
        made.plain = plain
        return made

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """Of (indices, values, dense_shape)."""
        return cls(*sparse_tensor_value)

    @property
    def indices(self) -> Any:
        """int64 `[number of values, number of dimensions]`, in row-major order."""
        return border.raised(self.plain.indices)

    @property
    def values(self) -> Any:
        """The values."""
        return border.raised(self.plain.values)

    @property
    def dense_shape(self) -> Any:
        """int64: the lengths of the dense tensor."""
        return border.raised(self.plain.dense_shape)

    @property
    def row_splits(self) -> Any:
        """int64: where the values of each row begin and end."""
        return border.raised(self.plain.row_splits)

    @property
    def shape(self) -> TensorShape:
        """The lengths, as a TensorShape."""
        return TensorShape(self.plain.shape)

    def get_shape(self) -> TensorShape:
        """The lengths, as a TensorShape."""
        return self.shape

    @property
    def dtype(self) -> DType:
        """Of the values."""
        return as_dtype(self.plain.dtype)

    def __mul__(self, other: Any) -> SparseTensor:
        """The values times a number; arrays are TensorFlow's business."""
        if np.ndim(other):
            raise TypeError("a SparseTensor is multiplied by a number only")
        return self.with_values(self.values * other)

    def __truediv__(self, other: Any) -> SparseTensor:
        if np.ndim(other):
            raise TypeError("a SparseTensor is divided by a number only")
        return self.with_values(self.values / other)

    def with_values(self, new_values: Any) -> SparseTensor:
        """Other values in the same places."""
        return SparseTensor(self.plain.indices, new_values, self.plain.dense_shape)

    def numpy(self) -> Any:
        """The tensor with NumPy's values, as of the package."""
        return self.plain

    def __len__(self) -> int:
        return len(self.plain)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.indices, self.values, self.dense_shape))

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self.indices!s}, values={self.values!s}, dense_shape={self.dense_shape!s})"

    def __reduce__(self) -> Any:
        return SparseTensor.of, (self.plain,)


SparseTensorValue = SparseTensor


border.on_departure(sparse.SparseTensor, SparseTensor.of)
border.on_arrival(SparseTensor, SparseTensor.numpy)
