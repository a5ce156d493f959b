"""What is known of components before there are any: shapes, with None for a length that is not known, and dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...dtypes import float32, int64

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "DatasetSpec",
    "RaggedTensorSpec",
    "SparseTensorSpec",
    "TensorSpec",
    "batch_spec",
    "row_spec",
    "with_any_lengths",
]


class _Spec(NamedTuple):
    shape: Any
    dtype: Any
    name: str | None


class TensorSpec(_Spec):
    """Shape and dtype of one component of elements; None for a length that is not known."""

    __slots__ = ()

    def __new__(cls, shape: Any = None, dtype: Any = float32, name: str | None = None) -> Self:
        return super().__new__(cls, tuple(shape) if isinstance(shape, list) else shape, dtype, name)


class SparseTensorSpec(TensorSpec):
    """Of a SparseTensor: its dense shape."""

    __slots__ = ()


class RaggedTensorSpec(TensorSpec):
    """Of a RaggedTensor: with how many of its dimensions are ragged, and the dtype of its row splits."""

    ragged_rank: int
    row_splits_dtype: Any

    def __new__(
        cls, shape: Any = None, dtype: Any = float32, ragged_rank: int | None = None, row_splits_dtype: Any = int64
    ) -> RaggedTensorSpec:
        made = super().__new__(cls, shape, dtype)
        made.ragged_rank = len(shape or (0, 0)) - 1 if ragged_rank is None else ragged_rank
        made.row_splits_dtype = row_splits_dtype
        return made

    def __reduce__(self) -> Any:
        return type(self), (self.shape, self.dtype, self.ragged_rank, self.row_splits_dtype)


class DatasetSpec(TensorSpec):
    """Of a dataset among the components: what its elements are."""

    element_spec: Any

    def __new__(cls, element_spec: Any) -> DatasetSpec:
        made = super().__new__(cls, (), None)
        made.element_spec = element_spec
        return made

    def __reduce__(self) -> Any:
        return type(self), (self.element_spec,)


def batch_spec(spec: TensorSpec, length: int | None) -> TensorSpec:
    """Of so many such components, stacked."""
    shape = (length, *spec.shape)
    if isinstance(spec, RaggedTensorSpec):
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank + 1, spec.row_splits_dtype)
    return (SparseTensorSpec if isinstance(spec, SparseTensorSpec) else TensorSpec)(shape, spec.dtype)


def row_spec(spec: TensorSpec) -> TensorSpec:
    """Of one row of such a component."""
    if isinstance(spec, RaggedTensorSpec) and spec.ragged_rank > 1:
        return RaggedTensorSpec(spec.shape[1:], spec.dtype, spec.ragged_rank - 1, spec.row_splits_dtype)
    return (SparseTensorSpec if isinstance(spec, SparseTensorSpec) else TensorSpec)(spec.shape[1:], spec.dtype)


def with_any_lengths(spec: TensorSpec) -> TensorSpec:
    """The same, with lengths that are not known."""
    return TensorSpec((None,) * len(spec.shape), spec.dtype) if type(spec) is TensorSpec else spec
