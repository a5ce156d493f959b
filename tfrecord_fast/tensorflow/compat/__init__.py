"""`tf.compat`: conversions between str and bytes; `v1`, TensorFlow 1's names, and `v2`, which is `tf` itself."""

from typing import Any

from ...values.text import as_bytes, as_str, as_str_any, as_text, path_to_str
from ..fallback import tf_module
from ..modules import module_lazy_names

__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "path_to_str", "v1", "v2"]
_names = module_lazy_names(__name__, {}, "tf.compat")
__dir__ = _names.dir


def __getattr__(name: str) -> Any:
    if name in ("v1", "v2"):
        return tf_module("compat.v1" if name == "v1" else "")
    return _names.getattr(name)
