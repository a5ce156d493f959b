"""`tf.keras` of the face: Keras 3, if it is installed, whose methods take the face's datasets."""

from typing import Any

from .datasets import Dataset, plain_of
from .fallback import is_installed, of_package, of_tensorflow
from .training import teach_keras

_keras = of_package("keras") if is_installed("keras") else of_tensorflow("tf.keras")
teach_keras(Dataset, plain_of)


def __getattr__(name: str) -> Any:
    return getattr(_keras, name)


def __dir__() -> list[str]:
    return dir(_keras)
