"""From columns to what Keras takes on its backend."""

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

__all__ = ["Leaves", "Ragged"]

Ragged: TypeAlias = Literal["ragged", "padded"] | int

_OTHERWISE = "make numbers of it in a transform, or leave it out with columns=[…]"


class Leaves:
    """Makes, of the leaves of a batch, what Keras takes. Anything that is not this package's is left as it is.

    Args:
      ragged, features, label_key: of the dataset.

    Raises:
      errors.InvalidArgumentError: `ragged` is none of its values; when called: Keras has nothing for a leaf on this
        backend, or a row is too long.
    """

    def __init__(self, ragged: Ragged, features: Any, label_key: Any) -> None:
        is_length = isinstance(ragged, int) and not isinstance(ragged, bool) and ragged > 0
        if not is_length and ragged not in ("ragged", "padded"):
            raise InvalidArgumentError(f'ragged is "ragged", "padded" or a length above 0, got {ragged!r}')
        self._ragged = ragged
        self._is_sparse = _kinds(features)
        self._label_key = label_key

    def __call__(self, batch: Any) -> Any:
        if not isinstance(batch, tuple | list) or hasattr(batch, "_fields"):
            return self._leaf(batch, None, "the batch")
        label = self._label_key
        places = [("x", None), ("y" if label is None else f"feature {label!r}", label), ("sample_weight", None)]
        parts = [self._leaf(part, key, place) for part, (place, key) in zip(batch, places, strict=False)]
        return type(batch)([*parts, *batch[3:]])

    def _leaf(self, leaf: Any, key: object, place: str) -> Any:
        """What is found under `key`, at that place of a batch."""
        if isinstance(leaf, np.ndarray):
            return self._array(leaf, place)
        if isinstance(leaf, Mapping):
            return {name: self._leaf(value, name, f"feature {name!r}") for name, value in leaf.items()}
        if isinstance(leaf, tuple | list):
            parts = [self._leaf(part, key, f"{place}[{i}]") for i, part in enumerate(leaf)]
            return type(leaf)(*parts) if hasattr(leaf, "_fields") else type(leaf)(parts)
        if is_attrs(leaf):
            return attrs_like(leaf, [self._leaf(part, key, f"{place}[{i}]") for i, part in enumerate(items_of(leaf))])
        if isinstance(leaf, BytesArray):
            return self._strings(leaf, place)
        if isinstance(leaf, RecordBatch):
            return self._strings(leaf.tolist(), place)
        if isinstance(leaf, RaggedTensor):
            return self._of_ragged(leaf, place)
        if isinstance(leaf, SparseTensor):
            return self._of_sparse(leaf, key, place)
        return leaf

    def _array(self, array: npt.NDArray[Any], place: str) -> Any:
        if array.dtype.hasobject or array.dtype.kind in "SUT":
            return self._strings(array, place)
        backend = keras.backend.backend()
        if backend == "jax" and array.dtype.kind in "iu" and array.dtype.itemsize == 8:
            _check_fits(array, place)
        # PyTorch's tensors share the memory, and can be written to whatever the array says.
        if backend == "torch" and not array.flags.writeable:
            return array.copy()
        return array

    def _strings(self, strings: Any, place: str) -> Any:
        if keras.backend.backend() != "tensorflow":
            _refuse(place, "has strings", f"takes numbers only: {_OTHERWISE}")
        array = np.asarray(strings, object)
        return _tensorflow().constant(array, _tensorflow().string, array.shape)

    def _of_ragged(self, column: RaggedTensor, place: str) -> Any:
        if isinstance(self._ragged, int):
            return self._array(_to_length(column, self._ragged, place), place)
        if self._ragged == "padded":
            return self._array(to_dense(column), place)
        if keras.backend.backend() != "tensorflow":
            why = f'takes arrays only: ragged="padded" gives dense ones, filled up with zeros; or {_OTHERWISE}'
            _refuse(place, "has rows of different lengths", why)
        flat = self._leaf(column.flat_values, None, place)
        return _tensorflow().RaggedTensor.from_nested_row_splits(flat, column.nested_row_splits, validate=False)

    def _of_sparse(self, column: SparseTensor, key: object, place: str) -> Any:
        # VarLenFeatures come in the same type, without indices of their own.
        if not self._is_sparse.get(key, column.has_indices):
            rows = RaggedTensor.from_row_splits(column.values, column.row_splits, validate=False)
            if column.row_steps is not None:
                rows = RaggedTensor.from_row_splits(rows, column.row_steps, validate=False)
            return self._of_ragged(rows, place)
        backend = keras.backend.backend()
        if backend not in ("tensorflow", "jax"):
            _refuse(
                place, "is sparse", "takes dense arrays only: make one in a transform, with sparse.to_dense(column)"
            )
        values = self._leaf(column.values, None, place)
        if backend == "tensorflow":
            return _tensorflow().sparse.SparseTensor(column.indices, values, column.dense_shape)
        if max(column.shape, default=0) > np.iinfo(np.int32).max:
            _refuse(place, f"has the shape {list(column.shape)}", "has int32 indices")
        jax, sparse = _jax(), optional("jax.experimental.sparse", "SparseFeatures need JAX")
        with jax.default_device(jax.local_devices(backend="cpu")[0]):
            return sparse.BCOO((values, column.indices), shape=column.shape, indices_sorted=True)


def _kinds(features: Any) -> dict[Any, bool]:
    """Of each feature whether it is a SparseFeature; nothing if the features are not known."""
    parts = features if isinstance(features, tuple | list) else [features]
    return {
        key: "index_key" in getattr(feature, "_fields", ())
        for part in parts
        if isinstance(part, Mapping)
        for key, feature in part.items()
    }


def _tensorflow() -> Any:
    return optional("tensorflow", "Keras' backend needs TensorFlow")


def _jax() -> Any:
    return optional("jax", "Keras' backend needs JAX")


def _check_fits(array: npt.NDArray[Any], place: str) -> None:
    """JAX cuts integers of 64 bits to their lower half."""
    if not array.size or _jax().config.jax_enable_x64:
        return
    limits = np.iinfo(np.int32 if array.dtype.kind == "i" else np.uint32)
    for value in (int(array.min()), int(array.max())):
        if not limits.min <= value <= limits.max:
            why = f"has {limits.dtype} unless jax_enable_x64 is set; or make smaller numbers of it in a transform"
            _refuse(place, f"has the value {value}", why)


def _to_length(column: RaggedTensor, length: int, place: str) -> npt.NDArray[Any]:
    dense = to_dense(column)
    if dense.shape[1] > length:
        row = int(column.row_lengths().argmax())
        raise InvalidArgumentError(f"{place}: row {row} of the batch has {dense.shape[1]} values, and ragged={length}")
    padded = np.full((len(dense), length, *dense.shape[2:]), b"" if dense.dtype.hasobject else 0, dense.dtype)
    padded[:, : dense.shape[1]] = dense
    return padded


def _refuse(place: str, what: str, why: str) -> NoReturn:
    raise InvalidArgumentError(f"{place} {what}, and Keras on {keras.backend.backend()} {why}")
