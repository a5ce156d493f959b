"""`tf.compat.v1.io`: `tf.io`, and the iterator over records."""

from __future__ import annotations

from typing import Any

from .. import io as _io
from ..python_io import tf_record_iterator

__all__ = ["tf_record_iterator"]


def __getattr__(name: str) -> Any:
    return getattr(_io, name)
