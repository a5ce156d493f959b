"""Whole files, as `tf.io` reads and writes them."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...typing import BytesLike, PathLike
from ...values.columns.strings import as_bytes
from ..naming.location import location_of
from .file_system import GFile, Options, glob, makedirs

__all__ = ["matching_files", "read_file", "write_file"]


def read_file(filename: PathLike, name: str | None = None, *, storage_options: Options = None) -> bytes:
    """All bytes of a file.

    Raises:
      FileNotFoundError, OSError: it can't be read.

    >>> import os, tempfile, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "deep", "a.txt")
    >>> tf.io.write_file(path, "one")
    >>> tf.io.read_file(path)
    b'one'
    """
    with GFile(filename, "rb", storage_options=storage_options) as file:
        content: bytes = file.read()
    return content


def write_file(
    filename: PathLike, contents: BytesLike | str, name: str | None = None, *, storage_options: Options = None
) -> None:
    """Writes bytes, or str as UTF-8, to a file or URL, and creates the folders that are missing.

    Raises:
      OSError: it can't be written.
      errors.InvalidArgumentError: a URL whose scheme is not known.
      TypeError: contents that are not bytes-like; then nothing was created.
    """
    content = as_bytes(contents, "contents")
    name, is_url = location_of(filename)
    folder = os.path.dirname(name)
    if folder and not (is_url and folder.endswith(":")):  # of a URL that is only a scheme and a name
        makedirs(folder, storage_options=storage_options)
    with GFile(filename, "wb", storage_options=storage_options) as file:
        file.write(content)


def matching_files(
    pattern: PathLike | Sequence[PathLike], name: str | None = None, *, storage_options: Options = None
) -> npt.NDArray[np.object_]:
    """An object array of the names (bytes) that match a glob pattern, or any of several; sorted."""
    found = sorted({path.encode() for path in glob(pattern, storage_options=storage_options)})
    names = np.empty(len(found), dtype=object)
    names[:] = found
    return names
