"""`tf.keras`: Keras 3, if it is installed, else TensorFlow's. Its methods take the datasets of `tf.data`.

Its modules can be imported: `from tfrecord_fast.tensorflow.keras.layers import Dense`. The files are Keras' own.
"""

from __future__ import annotations

import sys
from typing import Any

from . import keras_backend as backend
from .dataset_methods import keras_package

sys.modules[f"{__name__}.backend"] = backend


def __getattr__(name: str) -> Any:
    if name == "__path__":  # read when a module of Keras is imported
        return keras_package().__path__
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(keras_package(), name)


def __dir__() -> list[str]:
    return [*dir(keras_package()), "backend"]
