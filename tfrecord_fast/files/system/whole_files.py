"""`tf.io.read_file`, `write_file` and `matching_files`."""

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
    """Read all bytes of a file.

    Raises:
      FileNotFoundError, OSError: the file can't be read.

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
    """Write bytes, or str as UTF-8, to a file or URL. Missing folders are created.

    Raises:
      OSError: the file can't be written.
      errors.InvalidArgumentError: an unknown URL scheme.
      TypeError: contents are neither bytes-like nor str. Nothing is created.
    """
    content = as_bytes(contents, "contents")
    name, is_url = location_of(filename)
    folder = os.path.dirname(name)
    if folder and not (is_url and folder.endswith(":")):  # a URL of a scheme and a name only
        makedirs(folder, storage_options=storage_options)
    with GFile(filename, "wb", storage_options=storage_options) as file:
        file.write(content)


def matching_files(
    pattern: PathLike | Sequence[PathLike], name: str | None = None, *, storage_options: Options = None
) -> npt.NDArray[np.object_]:
    """Return an object array of the names (bytes) that match a glob pattern, or any of several; sorted."""
    matches = sorted({path.encode() for path in glob(pattern, storage_options=storage_options)})
    names = np.empty(len(matches), dtype=object)
    names[:] = matches
    return names
