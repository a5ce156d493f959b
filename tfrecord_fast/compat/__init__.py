"""`tf.compat`: conversions between str and bytes; and `tf.compat.v1`, TensorFlow 1's names."""

from ..values.text import as_bytes, as_str, as_str_any, as_text, path_to_str
from . import v1

__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "path_to_str", "v1"]
