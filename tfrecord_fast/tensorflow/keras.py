"""`tf.keras`: Keras 3, if it is installed, else TensorFlow's. Its methods take the datasets of `tf.data`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from ..values.elements.nests import map_leaves
from .fallback import from_tensorflow, import_package, is_installed, tf_module
from .interop import to_tensorflow_value
from .tensors.tensor_specs import RaggedTensorSpec, SparseTensorSpec

_MODEL_METHODS = ("fit", "evaluate", "predict")
_DATASET_ARGUMENTS = ("x", "validation_data", "data")
_ADAPTING_LAYERS = ("Discretization", "IntegerLookup", "Normalization", "StringLookup", "TextVectorization")


def teach_keras(dataset_class: type, plain: Callable[[Any], Any]) -> None:
    """Let Keras' methods take datasets of a class, once for each Keras, if Keras has been imported.

    Args:
      plain: converts such a dataset into one of `tfrecord_fast.data`.
    """
    keras: Any = sys.modules.get("keras")
    model = getattr(keras, "Model", None)  # None while Keras is being imported
    if model is None or hasattr(model.fit, "takes_datasets"):
        return

    def convert(value: Any) -> Any:
        if not isinstance(value, dataset_class):
            return value
        if keras.backend.backend() == "tensorflow":
            return to_tensorflow(value)
        return import_package("tfrecord_fast.integrations.keras").TFRecordPyDataset(plain(value))

    for name in _MODEL_METHODS:
        setattr(model, name, _taking_datasets(getattr(model, name), convert))
    for name in _ADAPTING_LAYERS:
        layer = getattr(keras.layers, name, None)
        if layer is not None:
            layer.adapt = _taking_datasets(layer.adapt, convert)


def _taking_datasets(method: Callable[..., Any], convert: Callable[[Any], Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        named = {name: convert(value) if name in _DATASET_ARGUMENTS else value for name, value in kwargs.items()}
        return method(self, *map(convert, args), **named)

    call.takes_datasets = True  # type: ignore[attr-defined]
    return call


def to_tensorflow(dataset: Any) -> Any:
    """Return a dataset of TensorFlow's with the same elements."""
    tensorflow = import_package("tensorflow")

    def convert(spec: Any) -> Any:
        shape, dtype = spec.shape.as_list() if spec.shape.rank is not None else None, spec.dtype.name
        if isinstance(spec, SparseTensorSpec):
            return tensorflow.SparseTensorSpec(shape, dtype)
        if isinstance(spec, RaggedTensorSpec):
            return tensorflow.RaggedTensorSpec(shape, dtype, spec.ragged_rank, spec.row_splits_dtype.name)
        return tensorflow.TensorSpec(shape, dtype)

    elements = tensorflow.data.Dataset.from_generator(
        lambda: map(to_tensorflow_value, dataset),
        output_signature=map_leaves(convert, dataset.element_spec),
    )
    count = int(dataset.cardinality())
    return elements if count == -2 else elements.apply(tensorflow.data.experimental.assert_cardinality(count))


def _keras() -> Any:
    keras = import_package("keras") if is_installed("keras") else from_tensorflow("tf.keras")
    datasets = tf_module("data.datasets")
    teach_keras(datasets.Dataset, datasets.plain_dataset)
    return keras


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_keras(), name)


def __dir__() -> list[str]:
    return dir(_keras())
