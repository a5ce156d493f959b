"""`tf.compat.v2`: `tf` itself, for scripts that import it under this name."""

from typing import Any

from ..fallback import tf_module

__all__ = tf_module().__all__


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name != "__version__":
        raise AttributeError(name)
    return getattr(tf_module(), name)


def __dir__() -> list[str]:
    return dir(tf_module())
