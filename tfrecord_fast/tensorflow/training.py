"""Keras' methods take the face's datasets, as they take TensorFlow's: `fit`, `evaluate`, `predict` and `adapt`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from ..values.elements.nests import map_leaves
from .fallback import of_package
from .specs import RaggedTensorSpec, SparseTensorSpec
from .theirs import theirs_of

__all__ = ["teach_keras", "to_tensorflow"]

_OF_MODELS = ("fit", "evaluate", "predict")
_OF_DATA = ("x", "validation_data", "data")  # the arguments that may be a dataset
_ADAPTING = ("Discretization", "IntegerLookup", "Normalization", "StringLookup", "TextVectorization")


def teach_keras(kind: type, plain: Callable[[Any], Any]) -> None:
    """Lets Keras' methods take datasets of a class, if Keras has been imported. Only once for each Keras.

    Args:
      kind: the class.
      plain: makes of such a dataset one of the package's.
    """
    keras: Any = sys.modules.get("keras")
    model = getattr(keras, "Model", None)  # None while Keras is being imported
    if model is None or hasattr(model.fit, "takes_datasets"):
        return

    def fed(value: Any) -> Any:
        if not isinstance(value, kind):
            return value
        if keras.backend.backend() == "tensorflow":
            return to_tensorflow(value)
        return of_package("tfrecord_fast.integrations.keras").TFRecordPyDataset(plain(value))

    for name in _OF_MODELS:
        setattr(model, name, _taking(getattr(model, name), fed))
    for name in _ADAPTING:
        layer = getattr(keras.layers, name, None)
        if layer is not None:
            layer.adapt = _taking(layer.adapt, fed)


def _taking(method: Callable[..., Any], fed: Callable[[Any], Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def of_datasets(self: Any, *args: Any, **kwargs: Any) -> Any:
        named = {name: fed(value) if name in _OF_DATA else value for name, value in kwargs.items()}
        return method(self, *map(fed, args), **named)

    of_datasets.takes_datasets = True  # type: ignore[attr-defined]
    return of_datasets


def to_tensorflow(dataset: Any) -> Any:
    """A `tf.data.Dataset` of TensorFlow's over the face's."""
    theirs = of_package("tensorflow")

    def spec(one: Any) -> Any:
        shape, dtype = one.shape.as_list() if one.shape.rank is not None else None, one.dtype.name
        if isinstance(one, SparseTensorSpec):
            return theirs.SparseTensorSpec(shape, dtype)
        if isinstance(one, RaggedTensorSpec):
            return theirs.RaggedTensorSpec(shape, dtype, one.ragged_rank, one.row_splits_dtype.name)
        return theirs.TensorSpec(shape, dtype)

    made = theirs.data.Dataset.from_generator(
        lambda: map(theirs_of, dataset),
        output_signature=map_leaves(spec, dataset.element_spec),
    )
    count = int(dataset.cardinality())
    return made if count == -2 else made.apply(theirs.data.experimental.assert_cardinality(count))
