"""`tf.io` of the face."""

from . import gfile_v2 as gfile
from .fallback import face_names
from .ops.coding import (
    decode_and_crop_jpeg,
    decode_base64,
    decode_compressed,
    decode_csv,
    deserialize_many_sparse,
    encode_base64,
    extract_jpeg_shape,
    is_jpeg,
    serialize_sparse,
)

__all__ = [
    "decode_and_crop_jpeg",
    "decode_base64",
    "decode_compressed",
    "decode_csv",
    "deserialize_many_sparse",
    "encode_base64",
    "extract_jpeg_shape",
    "gfile",
    "is_jpeg",
    "serialize_sparse",
]

_names = face_names(__name__, "tf.io", "tfrecord_fast.io", left_out="gfile")
__getattr__ = _names.getattr
__dir__ = _names.dir
