"""Specs of components: shapes, with None for unknown lengths, and dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...dtypes import float32, int64

if TYPE_CHECKING:
    from typing_extensions import Self


class _Spec(NamedTuple):
    shape: Any
    dtype: Any
    name: str | None


class TensorSpec(_Spec):
    """Shape and dtype of one component of elements; None for an unknown length.

    >>> import tfrecord_fast as tf
    >>> TensorSpec([None, 3], tf.float32)
    TensorSpec(shape=(None, 3), dtype=tfrecord_fast.float32, name=None)
    """

    __slots__ = ()

    def __new__(cls, shape: Any = None, dtype: Any = float32, name: str | None = None) -> Self:
        return super().__new__(cls, tuple(shape) if isinstance(shape, list) else shape, dtype, name)


class SparseTensorSpec(TensorSpec):
    """Dense shape and dtype of a SparseTensor."""

    __slots__ = ()


class RaggedTensorSpec(TensorSpec):
    """Shape and dtype of a RaggedTensor, the number of its ragged dimensions, and the dtype of its row splits."""

    ragged_rank: int
    row_splits_dtype: Any

    def __new__(
        cls, shape: Any = None, dtype: Any = float32, ragged_rank: int | None = None, row_splits_dtype: Any = int64
    ) -> RaggedTensorSpec:
        spec = super().__new__(cls, shape, dtype)
        spec.ragged_rank = len(shape or (0, 0)) - 1 if ragged_rank is None else ragged_rank
        spec.row_splits_dtype = row_splits_dtype
        return spec

    def __reduce__(self) -> Any:
        return type(self), (self.shape, self.dtype, self.ragged_rank, self.row_splits_dtype)


class DatasetSpec(TensorSpec):
    """Spec of the elements of a dataset that is a component."""

    element_spec: Any

    def __new__(cls, element_spec: Any) -> DatasetSpec:
        spec = super().__new__(cls, (), None)
        spec.element_spec = element_spec
        return spec

    def __reduce__(self) -> Any:
        return type(self), (self.element_spec,)


def batch_spec(spec: TensorSpec, length: int | None) -> TensorSpec:
    """Return the spec of `length` such components, stacked."""
    shape = (length, *spec.shape)
    if isinstance(spec, RaggedTensorSpec):
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank + 1, spec.row_splits_dtype)
    return (SparseTensorSpec if isinstance(spec, SparseTensorSpec) else TensorSpec)(shape, spec.dtype)


def row_spec(spec: TensorSpec) -> TensorSpec:
    if isinstance(spec, RaggedTensorSpec) and spec.ragged_rank > 1:
        return RaggedTensorSpec(spec.shape[1:], spec.dtype, spec.ragged_rank - 1, spec.row_splits_dtype)
    return (SparseTensorSpec if isinstance(spec, SparseTensorSpec) else TensorSpec)(spec.shape[1:], spec.dtype)


def with_any_lengths(spec: TensorSpec) -> TensorSpec:
    return TensorSpec((None,) * len(spec.shape), spec.dtype) if type(spec) is TensorSpec else spec
