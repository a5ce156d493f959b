"""Telling what a handler of a signal has raised from what is wrong with files."""

from __future__ import annotations

import threading

from ..errors import TFRecordError

__all__ = ["is_of_signal"]


def is_of_signal(error: Exception) -> bool:
    """Whether a signal's handler may have raised it, and not the files or their records."""
    if threading.current_thread() is not threading.main_thread() or isinstance(error, TFRecordError | MemoryError):
        return False
    return not isinstance(error, OSError) or error.errno is None
