"""`tf.flags` of TensorFlow 1: Abseil's flags."""

from __future__ import annotations

from typing import Any

from ..base.optional import optional

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(optional("absl.flags", "tf.flags needs Abseil"), name)
