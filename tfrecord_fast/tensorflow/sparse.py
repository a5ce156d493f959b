"""`tf.sparse` of the face."""

from .composites import SparseTensor
from .fallback import face_names
from .ops.sparses import concat, expand_dims, from_dense, reorder, reset_shape, reshape, slice, to_indicator

__all__ = [
    "SparseTensor",
    "concat",
    "expand_dims",
    "from_dense",
    "reorder",
    "reset_shape",
    "reshape",
    "slice",
    "to_indicator",
]

_names = face_names(__name__, "tf.sparse", "tfrecord_fast.sparse")
__getattr__ = _names.getattr
__dir__ = _names.dir
