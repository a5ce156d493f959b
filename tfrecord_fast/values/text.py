"""Between str and bytes, by TensorFlow's names."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "path_to_str"]


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """bytes of bytes-like or str.

    Raises:
      TypeError: anything else.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes | bytearray):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """str of bytes or str.

    Raises:
      TypeError: anything else.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """str of anything."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """The path as str, where it is a PathLike."""
    return as_str_any(os.fspath(path)) if isinstance(path, os.PathLike) else path
