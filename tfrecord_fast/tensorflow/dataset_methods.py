"""Methods of Keras and of TensorFlow's strategies, which take the datasets of `tf.data`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..values.elements.nests import map_leaves
from .fallback import from_tensorflow, import_package, installed, is_installed, tf_module
from .interop import to_tensorflow_value
from .tensors.tensor_specs import RaggedTensorSpec, SparseTensorSpec

_MODEL_METHODS = ("fit", "evaluate", "predict")
_DATASET_ARGUMENTS = ("x", "validation_data", "data", "dataset", "dataset_fn")
_ADAPTING_LAYERS = ("Discretization", "IntegerLookup", "Normalization", "StringLookup", "TextVectorization")


def keras_package() -> Any:
    """Return what TensorFlow calls `tf.keras`: Keras 3 with the names that it keeps for older scripts."""
    if is_installed("keras"):
        keras = import_package("keras._tf_keras.keras")
    elif installed():
        keras = from_tensorflow("tf.keras")
    else:
        raise ModuleNotFoundError("tf.keras needs Keras 3: pip install keras, and jax or torch for its backend")
    teach_keras()
    return keras


def teach_keras() -> None:
    """Let Keras' methods take datasets of `tf.data`, once for each Keras, if Keras has been imported."""
    keras: Any = sys.modules.get("keras")
    model = getattr(keras, "Model", None)  # None while Keras is being imported
    if model is None or hasattr(model.fit, "takes_datasets"):
        return

    def convert(value: Any) -> Any:
        datasets = tf_module("data.datasets")
        if not isinstance(value, datasets.Dataset):
            return value
        if keras.backend.backend() == "tensorflow":
            return to_tensorflow(value)
        return import_package("tfrecord_fast.integrations.keras").TFRecordPyDataset(datasets.plain_dataset(value))

    for name in _MODEL_METHODS:
        setattr(model, name, _taking_datasets(getattr(model, name), convert))
    for name in _ADAPTING_LAYERS:
        layer = getattr(keras.layers, name, None)
        if layer is not None:
            layer.adapt = _adapt(layer.adapt)


def _adapt(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return `adapt`, which looks for TensorFlow's datasets: this package's, where TensorFlow is not installed."""
    if not installed():
        return with_globals(method, {**method.__globals__, "tf": tf_module()})
    return _taking_datasets(method, _to_tensorflow_if_ours)


def _to_tensorflow_if_ours(value: Any) -> Any:
    return to_tensorflow(value) if isinstance(value, tf_module("data.datasets").Dataset) else value


def teach_strategies() -> None:
    """Let the strategies of `tf.distribute` take datasets of `tf.data`, where TensorFlow is installed."""
    strategy = import_package("tensorflow").distribute.Strategy
    if hasattr(strategy.experimental_distribute_dataset, "takes_datasets"):
        return

    def convert_result(value: Any) -> Any:
        return (lambda *args: _to_tensorflow_if_ours(value(*args))) if callable(value) else value

    names = {"experimental_distribute_dataset": _to_tensorflow_if_ours}
    names |= {"distribute_datasets_from_function": convert_result}
    for name, convert in names.items():
        owner = next(cls for cls in strategy.__mro__ if name in vars(cls))
        setattr(owner, name, _taking_datasets(vars(owner)[name], convert))


def with_globals(function: Any, names: dict[str, Any]) -> Callable[..., Any]:
    """Return a copy of a function that finds its global names in another dict."""
    copied = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    copied.__kwdefaults__ = function.__kwdefaults__
    return functools.update_wrapper(copied, function)


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
