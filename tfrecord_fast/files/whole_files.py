"""Whole files, as `tf.io` reads and writes them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .file_system import GFile, glob, makedirs

__all__ = ["matching_files", "read_file", "write_file"]


def read_file(filename: Any, name: str | None = None) -> bytes:
    """All bytes of a file.

    Args:
      filename: str, bytes, PathLike, or a URL that fsspec opens.

    Raises:
      FileNotFoundError, OSError.

    >>> import os, tempfile, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "deep", "a.txt")
    >>> tf.io.write_file(path, "one")
    >>> tf.io.read_file(path)
    b'one'
    """
    with GFile(filename, "rb") as file:
        content: bytes = file.read()
    return content


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Makes a file of bytes, or of str as UTF-8, and the folders around it where they are missing.

    Raises:
      OSError.
    """
    folder = os.path.dirname(os.fsdecode(filename))
    if folder:
        makedirs(folder)
    with GFile(filename, "wb") as file:
        file.write(contents.encode() if isinstance(contents, str) else bytes(contents))


def matching_files(pattern: Any, name: str | None = None) -> Any:
    """An object array of the names (bytes) that match a glob pattern, or any of several; sorted."""
    found = sorted({path.encode() for path in glob(pattern)})
    names = np.empty(len(found), dtype=object)
    names[:] = found
    return names
