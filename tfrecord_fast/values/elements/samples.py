"""Made-up elements, by what is known of real ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...dtypes import as_dtype
from ..columns.ragged import RaggedTensor
from ..columns.sparse import SparseTensor
from .nests import map_leaves
from .specs import DatasetSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec

__all__ = ["common_spec", "sample_of", "unsure"]


def sample_of(spec: Any, length: int) -> Any:
    """An element of that spec, with `length` in place of lengths that are not known. Numbers are `length`, too, so that
    two samples show what depends on values."""
    return map_leaves(lambda leaf: _one(leaf, length), spec)


def _one(spec: TensorSpec, length: int) -> Any:
    shape = tuple(length if one is None else one for one in spec.shape)
    kind: Any = as_dtype(spec.dtype).as_numpy_dtype
    if isinstance(spec, SparseTensorSpec):
        indices = np.zeros((1 if all(shape) else 0, len(shape)), np.int64)
        return SparseTensor(indices, _full((len(indices),), kind, length), np.array(shape, np.int64))
    if isinstance(spec, RaggedTensorSpec):
        lengths, inner = shape[: spec.ragged_rank + 1], shape[spec.ragged_rank + 1 :]
        made = _full((int(np.prod(lengths)), *inner), kind, length)
        splits = np.dtype(as_dtype(spec.row_splits_dtype).as_numpy_dtype)
        for depth in range(spec.ragged_rank, 0, -1):
            rows = int(np.prod(lengths[:depth]))
            made = RaggedTensor.from_row_splits(made, (np.arange(rows + 1) * lengths[depth]).astype(splits))
        return made
    made = _full(shape, kind, length)
    return made if shape else made[()]


def _full(shape: tuple[int, ...], kind: Any, length: int) -> Any:
    if np.dtype(kind) == object:
        made = np.empty(shape, object)
        made[...] = bytes(16 * length)  # what fits `decode_raw` of any dtype
        return made
    return np.full(shape, length).astype(kind)


def common_spec(first: Any, other: Any) -> Any:
    """What both have in common: lengths in which they differ are not known. `first`, if they differ in more."""
    try:
        return map_leaves(_common, first, other)
    except (TypeError, ValueError):
        return first


def _common(first: Any, other: Any) -> Any:
    if type(first) is not type(other) or first.dtype != other.dtype or len(first.shape) != len(other.shape):
        return first
    lengths = [one if one == two else None for one, two in zip(first.shape, other.shape, strict=True)]
    is_sparse = isinstance(first, SparseTensorSpec)  # its shape is a tensor: known as a whole, or not
    return _with_shape(first, [None] * len(lengths) if is_sparse and None in lengths else lengths)


def unsure(specs: Any) -> Any:
    """The same, with lengths of sparse and ragged components not known: one element says nothing of others."""
    return map_leaves(
        lambda spec: spec if type(spec) is TensorSpec else _with_shape(spec, [None] * len(spec.shape)), specs
    )


def _with_shape(spec: TensorSpec, lengths: Iterable[int | None]) -> TensorSpec:
    if isinstance(spec, RaggedTensorSpec):
        inner = tuple(spec.shape)[spec.ragged_rank + 1 :]
        shape = (*tuple(lengths)[: spec.ragged_rank + 1], *inner)
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank, spec.row_splits_dtype)
    return spec if isinstance(spec, DatasetSpec) else type(spec)(tuple(lengths), spec.dtype, spec.name)
