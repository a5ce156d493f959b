"""`tf.random` of the face."""

from .fallback import face_names
from .ops.randoms import (
    categorical,
    gamma,
    normal,
    poisson,
    set_seed,
    shuffle,
    stateless_normal,
    stateless_uniform,
    truncated_normal,
    uniform,
)

__all__ = [
    "categorical",
    "gamma",
    "normal",
    "poisson",
    "set_seed",
    "shuffle",
    "stateless_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
]

_names = face_names(__name__, "tf.random")
__getattr__ = _names.getattr
__dir__ = _names.dir
