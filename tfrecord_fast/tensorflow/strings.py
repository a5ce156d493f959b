"""`tf.strings` of the face."""

from .fallback import face_names
from .ops.strings import (
    as_string,
    bytes_split,
    format,
    join,
    length,
    lower,
    reduce_join,
    regex_full_match,
    regex_replace,
    split,
    strip,
    substr,
    to_hash_bucket_fast,
    to_number,
    unicode_split,
    upper,
)

__all__ = [
    "as_string",
    "bytes_split",
    "format",
    "join",
    "length",
    "lower",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "split",
    "strip",
    "substr",
    "to_hash_bucket_fast",
    "to_number",
    "unicode_split",
    "upper",
]

_names = face_names(__name__, "tf.strings")
__getattr__ = _names.getattr
__dir__ = _names.dir
