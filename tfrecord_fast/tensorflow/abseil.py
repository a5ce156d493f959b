"""`tf.app` and `tf.flags` of TensorFlow 1, which are Abseil's."""

from __future__ import annotations

import sys
from typing import Any

from ..base.optional import optional


class _App:
    @staticmethod
    def run(main: Any = None, argv: Any = None) -> None:
        """Parse the flags, call `main`, by default that of the script, and end the process."""
        function = sys.modules["__main__"].main if main is None else main
        optional("absl.app", "tf.app needs Abseil").run(function, argv)

    @property
    def flags(self) -> Any:
        return optional("absl.flags", "tf.app.flags needs Abseil")


class _Flags:
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(optional("absl.flags", "tf.flags needs Abseil"), name)


app, flags = _App(), _Flags()
