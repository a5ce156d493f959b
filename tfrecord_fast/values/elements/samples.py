"""Made-up elements of a given spec."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...dtypes import as_dtype
from ..columns.ragged import RaggedTensor
from ..columns.sparse import SparseTensor
from .nests import map_leaves
from .specs import DatasetSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec


def sample_of(spec: Any, length: int) -> Any:
    """Return an element of that spec, with `length` for unknown lengths and for numbers.

    So two samples of different lengths show what depends on values.
    """
    return map_leaves(lambda leaf: _component(leaf, length), spec)


def _component(spec: TensorSpec, length: int) -> Any:
    shape = tuple(length if size is None else size for size in spec.shape)
    dtype: Any = as_dtype(spec.dtype).as_numpy_dtype
    if isinstance(spec, SparseTensorSpec):
        indices = np.zeros((1 if all(shape) else 0, len(shape)), np.int64)
        return SparseTensor(indices, _full((len(indices),), dtype, length), np.array(shape, np.int64))
    if isinstance(spec, RaggedTensorSpec):
        lengths, inner = shape[: spec.ragged_rank + 1], shape[spec.ragged_rank + 1 :]
        tensor = _full((int(np.prod(lengths)), *inner), dtype, length)
        splits_dtype = np.dtype(as_dtype(spec.row_splits_dtype).as_numpy_dtype)
        for depth in range(spec.ragged_rank, 0, -1):
            splits = np.arange(int(np.prod(lengths[:depth])) + 1) * lengths[depth]
            tensor = RaggedTensor.from_row_splits(tensor, splits.astype(splits_dtype))
        return tensor
    array = _full(shape, dtype, length)
    return array if shape else array[()]


def _full(shape: tuple[int, ...], dtype: Any, length: int) -> Any:
    if np.dtype(dtype) == object:
        array = np.empty(shape, object)
        array[...] = bytes(16 * length)  # fits `decode_raw` of any dtype
        return array
    return np.full(shape, length).astype(dtype)


def common_spec(first: Any, other: Any) -> Any:
    """Merge two specs: lengths that differ become unknown. Specs that differ in more give `first`."""
    try:
        return map_leaves(_common, first, other)
    except (TypeError, ValueError):
        return first


def _common(first: Any, other: Any) -> Any:
    if type(first) is not type(other) or first.dtype != other.dtype or len(first.shape) != len(other.shape):
        return first
    lengths = [a if a == b else None for a, b in zip(first.shape, other.shape, strict=True)]
    is_sparse = isinstance(first, SparseTensorSpec)  # its shape is known as a whole, or not at all
    return _with_shape(first, [None] * len(lengths) if is_sparse and None in lengths else lengths)


def unsure(specs: Any) -> Any:
    """Return the specs with unknown lengths of sparse and ragged components, which vary between elements."""
    return map_leaves(
        lambda spec: spec if type(spec) is TensorSpec else _with_shape(spec, [None] * len(spec.shape)), specs
    )


def _with_shape(spec: TensorSpec, lengths: Iterable[int | None]) -> TensorSpec:
    if isinstance(spec, RaggedTensorSpec):
        inner = tuple(spec.shape)[spec.ragged_rank + 1 :]
        shape = (*tuple(lengths)[: spec.ragged_rank + 1], *inner)
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank, spec.row_splits_dtype)
    return spec if isinstance(spec, DatasetSpec) else type(spec)(tuple(lengths), spec.dtype, spec.name)
