"""`tf.app` of TensorFlow 1: Abseil's `app`, and its flags."""

from __future__ import annotations

import sys
from typing import Any

from ..base.optional import optional

__all__ = ["run"]


def run(main: Any = None, argv: Any = None) -> None:
    """Parses the flags, calls `main`, by default that of the script, and ends the process."""
    found = sys.modules["__main__"].main if main is None else main
    optional("absl.app", "tf.app needs Abseil").run(found, argv)


def __getattr__(name: str) -> Any:
    if name == "flags":
        return optional("absl.flags", "tf.app.flags needs Abseil")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
