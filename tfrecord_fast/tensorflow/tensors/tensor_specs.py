"""Descriptions of values that do not exist yet: TensorSpec, SparseTensorSpec, RaggedTensorSpec, DatasetSpec."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...values.columns import ragged, sparse
from ...values.elements import nests, specs
from ..fallback import tf_module
from .ragged_tensor import RaggedTensor
from .sparse_tensor import SparseTensor
from .tensor import Tensor
from .tensor_dtypes import DType, as_dtype
from .tensor_shape import TensorShape
from .wrapping import unwrap


class TypeSpec:
    """Base class of specs."""

    shape: TensorShape
    dtype: DType

    def _fields(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return True if a value, or the values of another spec, can have this spec."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else as_spec(unwrap(spec_or_value))
        return type(other) is type(self) and self.dtype == other.dtype and self.shape.is_compatible_with(other.shape)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __reduce__(self) -> Any:
        return type(self), self._fields()


class TensorSpec(TypeSpec):
    """The shape and dtype of a tensor."""

    value_type = Tensor

    def __init__(self, shape: Any = None, dtype: Any = "float32", name: str | None = None) -> None:
        self.shape = TensorShape(shape)
        self.dtype: DType = as_dtype(dtype)
        self.name = name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """Return the spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """Return the same spec with another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    def _fields(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.name

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


class SparseTensorSpec(TypeSpec):
    """The dense shape and the dtype of a SparseTensor."""

    value_type = SparseTensor

    def __init__(self, shape: Any = None, dtype: Any = "float32") -> None:
        self.shape = TensorShape(shape)
        self.dtype: DType = as_dtype(dtype)

    def _fields(self) -> tuple[Any, ...]:
        return self.shape, self.dtype

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self.shape!r}, {self.dtype!r})"


class RaggedTensorSpec(TypeSpec):
    """The shape and dtype of a RaggedTensor, and the number of its ragged dimensions."""

    value_type = RaggedTensor

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = "float32",
        ragged_rank: int | None = None,
        row_splits_dtype: Any = "int64",
        flat_values_spec: Any = None,
    ) -> None:
        self.shape = TensorShape(shape)
        self.dtype: DType = as_dtype(dtype)
        self.row_splits_dtype: DType = as_dtype(row_splits_dtype)
        rank = self.shape.rank
        self.ragged_rank = ragged_rank if ragged_rank is not None else (rank or 2) - 1
        if rank is not None and ragged_rank is not None and ragged_rank >= rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}).")
        self.flat_values_spec = flat_values_spec

    def _fields(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.ragged_rank, self.row_splits_dtype

    def __repr__(self) -> str:
        return f"RaggedTensorSpec({self.shape!r}, {self.dtype!r}, {self.ragged_rank}, {self.row_splits_dtype!r})"


class DatasetSpec(TypeSpec):
    """The element_spec of a dataset that is a component of an element."""

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self.element_spec = element_spec
        self.shape = TensorShape(dataset_shape)

    @property
    def value_type(self) -> type:
        """The class of such values."""
        return tf_module("data").Dataset  # type: ignore[no-any-return]

    def _fields(self) -> tuple[Any, ...]:
        return self.element_spec, self.shape

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, {self.shape!r})"


def as_spec(value: Any) -> Any:
    """Return the structure of a plain value, with a spec in place of each component."""

    def convert(leaf: Any) -> Any:
        if isinstance(leaf, sparse.SparseTensor):
            return SparseTensorSpec(leaf.shape, leaf.dtype)
        if isinstance(leaf, ragged.RaggedTensor):
            return RaggedTensorSpec(leaf.shape, leaf.dtype, leaf.ragged_rank, leaf.row_splits.dtype)
        if isinstance(leaf, specs.SparseTensorSpec):
            return SparseTensorSpec(leaf.shape, leaf.dtype)
        if isinstance(leaf, specs.RaggedTensorSpec):
            return RaggedTensorSpec(leaf.shape, leaf.dtype, leaf.ragged_rank, leaf.row_splits_dtype)
        if isinstance(leaf, specs.DatasetSpec):
            return DatasetSpec(as_spec(leaf.element_spec))
        if isinstance(leaf, specs.TensorSpec):
            return TensorSpec(leaf.shape, leaf.dtype, leaf.name)
        plain = nests.spec_of(
            leaf
            if isinstance(leaf, np.ndarray | np.generic | bytes) or hasattr(leaf, "shape")
            else nests.normalize(leaf)
        )
        try:
            return TensorSpec(plain.shape, plain.dtype)
        except TypeError:  # any other Python object
            return plain

    return nests.map_leaves(convert, value)
