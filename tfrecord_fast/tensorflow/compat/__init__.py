"""`tf.compat` of the face: conversions between str and bytes; `v1`, TensorFlow 1's names, and `v2`, the face itself."""

from typing import Any

from ...values.text import as_bytes, as_str, as_str_any, as_text, path_to_str
from ..fallback import face_names, part_of_face

__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "path_to_str", "v1", "v2"]
_names = face_names(__name__, "tf.compat")
__dir__ = _names.dir


def __getattr__(name: str) -> Any:
    if name == "v2":
        return part_of_face()
    if name == "v1":
        return part_of_face("compat.v1")
    return _names.getattr(name)
