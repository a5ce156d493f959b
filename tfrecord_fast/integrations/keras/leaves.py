"""Conversion of columns to the types that Keras takes on its backend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NoReturn, TypeAlias

import keras
import numpy as np
import numpy.typing as npt

from ..._core import RecordBatch
from ...base.optional import optional
from ...errors import InvalidArgumentError
from ...values.columns.bytes_array import BytesArray
from ...values.columns.ragged import RaggedTensor
from ...values.columns.sparse import SparseTensor, to_dense
from ...values.elements.attrs_classes import attrs_like, is_attrs, items_of

Ragged: TypeAlias = Literal["ragged", "padded"] | int

_OTHERWISE = "convert it to numbers in a transform, or leave it out with columns=[…]"


class Leaves:
    """Converter of the leaves of a batch for Keras. Values of types foreign to this package stay as they are."""

    def __init__(self, ragged: Ragged, features: Any, label_key: Any) -> None:
        is_length = isinstance(ragged, int) and not isinstance(ragged, bool) and ragged > 0
        if not is_length and ragged not in ("ragged", "padded"):
            raise InvalidArgumentError(f'ragged must be "ragged", "padded" or a length above 0, got {ragged!r}')
        self._ragged = ragged
        self._is_sparse = _sparse_keys(features)
        self._label_key = label_key

    def __call__(self, batch: Any) -> Any:
        if not isinstance(batch, tuple | list) or hasattr(batch, "_fields"):
            return self._leaf(batch, None, "the batch")
        label = self._label_key
        names = [("x", None), ("y" if label is None else f"feature {label!r}", label), ("sample_weight", None)]
        leaves = [self._leaf(leaf, key, name) for leaf, (name, key) in zip(batch, names, strict=False)]
        return type(batch)([*leaves, *batch[3:]])

    def _leaf(self, leaf: Any, key: object, name: str) -> Any:
        """Convert the value that a batch has under `key`; errors call it `name`."""
        if isinstance(leaf, np.ndarray):
            return self._array(leaf, name)
        if isinstance(leaf, Mapping):
            return {key: self._leaf(value, key, f"feature {key!r}") for key, value in leaf.items()}
        if isinstance(leaf, tuple | list):
            items = [self._leaf(item, key, f"{name}[{i}]") for i, item in enumerate(leaf)]
            return type(leaf)(*items) if hasattr(leaf, "_fields") else type(leaf)(items)
        if is_attrs(leaf):
            return attrs_like(leaf, [self._leaf(item, key, f"{name}[{i}]") for i, item in enumerate(items_of(leaf))])
        if isinstance(leaf, BytesArray):
            return self._strings(leaf, name)
        if isinstance(leaf, RecordBatch):
            return self._strings(leaf.tolist(), name)
        if isinstance(leaf, RaggedTensor):
            return self._ragged_column(leaf, name)
        if isinstance(leaf, SparseTensor):
            return self._sparse_column(leaf, key, name)
        return leaf

    def _array(self, array: npt.NDArray[Any], name: str) -> Any:
        if array.dtype.hasobject or array.dtype.kind in "SUT":
            return self._strings(array, name)
        backend = keras.backend.backend()
        if backend == "jax" and array.dtype.kind in "iu" and array.dtype.itemsize == 8:
            _check_fits(array, name)
        # PyTorch's tensors share the memory, and can be written to even if the array is read-only.
        if backend == "torch" and not array.flags.writeable:
            return array.copy()
        return array

    def _strings(self, strings: Any, name: str) -> Any:
        if keras.backend.backend() != "tensorflow":
            _refuse(name, "has strings", f"takes numbers only: {_OTHERWISE}")
        array = np.asarray(strings, object)
        return _tensorflow().constant(array, _tensorflow().string, array.shape)

    def _ragged_column(self, column: RaggedTensor, name: str) -> Any:
        if isinstance(self._ragged, int):
            return self._array(_to_length(column, self._ragged, name), name)
        if self._ragged == "padded":
            return self._array(to_dense(column), name)
        if keras.backend.backend() != "tensorflow":
            why = f'takes arrays only: ragged="padded" pads them with zeros; or {_OTHERWISE}'
            _refuse(name, "has rows of different lengths", why)
        flat = self._leaf(column.flat_values, None, name)
        return _tensorflow().RaggedTensor.from_nested_row_splits(flat, column.nested_row_splits, validate=False)

    def _sparse_column(self, column: SparseTensor, key: object, name: str) -> Any:
        # VarLenFeatures have the same type, without indices.
        if not self._is_sparse.get(key, column.has_indices):
            rows = RaggedTensor.from_row_splits(column.values, column.row_splits, validate=False)
            if column.row_steps is not None:
                rows = RaggedTensor.from_row_splits(rows, column.row_steps, validate=False)
            return self._ragged_column(rows, name)
        backend = keras.backend.backend()
        if backend not in ("tensorflow", "jax"):
            _refuse(
                name, "is sparse", "takes dense arrays only: convert it in a transform, with sparse.to_dense(column)"
            )
        values = self._leaf(column.values, None, name)
        if backend == "tensorflow":
            return _tensorflow().sparse.SparseTensor(column.indices, values, column.dense_shape)
        if max(column.shape, default=0) > np.iinfo(np.int32).max:
            _refuse(name, f"has the shape {list(column.shape)}", "has int32 indices")
        jax, sparse = _jax(), optional("jax.experimental.sparse", "SparseFeatures need JAX")
        with jax.default_device(jax.local_devices(backend="cpu")[0]):
            return sparse.BCOO((values, column.indices), shape=column.shape, indices_sorted=True)


def _sparse_keys(features: Any) -> dict[Any, bool]:
    """Map each key to True if its feature is a SparseFeature. Empty if the features are not known."""
    groups = features if isinstance(features, tuple | list) else [features]
    return {
        key: "index_key" in getattr(feature, "_fields", ())
        for group in groups
        if isinstance(group, Mapping)
        for key, feature in group.items()
    }


def _tensorflow() -> Any:
    return optional("tensorflow", "Keras' backend needs TensorFlow")


def _jax() -> Any:
    return optional("jax", "Keras' backend needs JAX")


def _check_fits(array: npt.NDArray[Any], name: str) -> None:
    """Check that JAX, which cuts 64-bit integers to their lower half, changes no value."""
    if not array.size or _jax().config.jax_enable_x64:
        return
    limits = np.iinfo(np.int32 if array.dtype.kind == "i" else np.uint32)
    for value in (int(array.min()), int(array.max())):
        if not limits.min <= value <= limits.max:
            why = f"has {limits.dtype} unless jax_enable_x64 is set; or convert it to smaller numbers in a transform"
            _refuse(name, f"has the value {value}", why)


def _to_length(column: RaggedTensor, length: int, name: str) -> npt.NDArray[Any]:
    dense = to_dense(column)
    if dense.shape[1] > length:
        row = int(column.row_lengths().argmax())
        raise InvalidArgumentError(f"{name}: row {row} of the batch has {dense.shape[1]} values, and ragged={length}")
    padded = np.full((len(dense), length, *dense.shape[2:]), b"" if dense.dtype.hasobject else 0, dense.dtype)
    padded[:, : dense.shape[1]] = dense
    return padded


def _refuse(name: str, what: str, why: str) -> NoReturn:
    raise InvalidArgumentError(f"{name} {what}, and Keras on {keras.backend.backend()} {why}")
