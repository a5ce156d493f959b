"""What a user may name as a file, and how the core opens it.

The core takes a file as a plain path or as a `CoreFile`.
"""

from __future__ import annotations

import functools
import io
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from . import _core
from ._convert import plain
from .errors import InvalidArgumentError

__all__ = [
    "COMPRESSION_TYPES",
    "CoreFile",
    "FileObject",
    "check_compression_type",
    "core_files",
    "flatten",
    "is_url",
    "open_url",
    "stream_files",
    "temporary_beside",
]


class CoreFile(NamedTuple):
    """A file as the core takes it.

    `name` is opened if there is no `opener`; else it is only named in errors, and what `opener()` returns is read: a
    binary file object, a descriptor, or an object with the buffer protocol.
    """

    name: bytes
    opener: Callable[[], Any] | None = None


COMPRESSION_TYPES = ("", "GZIP", "ZLIB", "ZSTD")

_ENCODING, _ERRORS = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()


def check_compression_type(compression_type: str | None) -> str | None:
    """Returns it; raises ValueError where it is neither None nor one of COMPRESSION_TYPES."""
    if isinstance(compression_type, bytes):
        compression_type = compression_type.decode()
    if compression_type is not None and compression_type not in COMPRESSION_TYPES:
        known = ", ".join(repr(name) for name in COMPRESSION_TYPES)
        raise ValueError(f"unknown compression_type {compression_type!r}; expected None or one of {known}")
    return compression_type


def is_url(path: str) -> bool:
    """Whether the path names a file system of fsspec: `scheme://…`."""
    scheme, colon, _ = path.partition("://")
    return bool(colon) and scheme.replace("+", "").replace("::", "").isalnum() and len(scheme) > 1


def open_url(url: str, mode: str) -> BinaryIO:
    """Opens a URL with fsspec; says so where that is not installed."""
    file: BinaryIO = _fsspec().open(url, mode).open()
    return file


def _fsspec() -> Any:
    try:
        import fsspec
    except ImportError:
        raise ImportError("URLs need fsspec: pip install 'tfrecord_fast[fsspec]'") from None
    return fsspec


def flatten(filenames: Any) -> list[Any]:
    """A flat list of paths and readable objects, in order; raises for what can't be a file.

    Objects with `read` become FileObjects, which can be read again.

    Raises:
      TypeError: an element is neither a path nor readable.
      ValueError: `filenames` is an iterator, which could be read only once.
    """
    if _is_one_file(filenames):
        return [FileObject(filenames) if hasattr(filenames, "read") else filenames]
    if isinstance(filenames, Iterator):
        raise ValueError("filenames is an iterator, which can be read only once; pass a list")
    filenames = plain(filenames)
    if isinstance(filenames, np.ndarray):
        filenames = filenames.ravel().tolist()
    elif _is_one_file(filenames):  # a tensor of one
        return [filenames]
    if not isinstance(filenames, Iterable) or isinstance(filenames, dict):
        raise TypeError(f"filenames must be paths (str, bytes, PathLike), got {type(filenames).__name__}")
    elements: list[Any] = list(filenames)
    if _core._are_plain_paths(elements):  # tens of thousands, perhaps
        return elements
    return [file for element in elements for file in flatten(element)]


def _is_one_file(value: Any) -> bool:
    return isinstance(value, (str, bytes, bytearray, memoryview, os.PathLike, FileObject)) or hasattr(value, "read")


def core_files(files: list[Any]) -> list[CoreFile]:
    """Resolves globs and URLs in a list that `flatten` made.

    Raises:
      FileNotFoundError: a pattern matches nothing. That a plain path names no file shows when it is opened.
    """
    if _core._are_plain_paths(files):
        return [CoreFile(file.encode(_ENCODING, _ERRORS)) for file in files]
    return [found for file in files for found in _core_files_of(file)]


def temporary_beside(path: str) -> str:
    """The name of a file that is written first and gets the name `path` when it is complete; nobody else uses it."""
    folder, name = os.path.split(path)
    stem = os.fsdecode(os.fsencode(name)[:180])  # names have at most 255 bytes
    return os.path.join(folder, f".{stem}.{os.getpid()}-{os.urandom(4).hex()}.tmp")


def stream_files(files: list[Any]) -> list[str] | list[CoreFile]:
    """The same for a `RecordStream`, which takes plain paths as they are."""
    return files if _core._are_plain_paths(files) else core_files(files)


def _core_files_of(file: Any) -> list[CoreFile]:
    if isinstance(file, (bytearray, memoryview)):
        return [CoreFile(b"<memory>", lambda: file)]
    if isinstance(file, FileObject):
        return [CoreFile(file.label, file.open)]
    path = os.fsdecode(file)
    if "\0" in path:
        raise ValueError(f"embedded null byte in the path {path!r}")  # as open() says
    if path.startswith("file://"):
        path = path[len("file://") :]
    if is_url(path):
        return _url_files(path)
    if any(c in path for c in "*?[") and not os.path.exists(path):
        import glob

        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise FileNotFoundError(2, "no file matches the pattern", path)
        return [CoreFile(name.encode(_ENCODING, _ERRORS)) for name in found]
    return [CoreFile(os.fsencode(path))]


class FileObject:
    """A file object of the user's: each reading begins where the object stood when it was given.

    Where it can't go back there is one reading; the second raises InvalidArgumentError.
    """

    def __init__(self, file: Any, start: int | None = None) -> None:
        self.file = file
        self.start = _position(file) if start is None else start
        name = getattr(file, "name", None)
        self.label = os.fsencode(name) if isinstance(name, (str, bytes)) else b"<stream>"
        self._was_read = False
        self._lock = threading.Lock()

    def open(self) -> Any:
        """What the core reads."""
        if self.start is None:
            if self._was_read:
                raise InvalidArgumentError(
                    f"{os.fsdecode(self.label)}: this file object can't seek, so it can be read only once"
                )
            self._was_read = True
        if type(self.file) is io.FileIO:
            # Unbuffered, so that the descriptor's position is the file's: read without Python.
            if self.start is not None:
                self.file.seek(self.start)
            return self.file.fileno()
        return _Borrowed(self.file, self.start, self._lock)

    def __reduce__(self) -> tuple[Any, ...]:
        return FileObject, (self.file, self.start)

    def __repr__(self) -> str:
        return repr(self.file)


def _position(file: Any) -> int | None:
    """Where the file stands; None where it can't be brought back there."""
    try:
        can_seek = file.seekable() if hasattr(file, "seekable") else hasattr(file, "seek")
        position = file.tell() if can_seek else None
    except (AttributeError, OSError, ValueError):  # a closed file says so when it is read
        return None
    return position if isinstance(position, int) else None


class _Borrowed:
    """One reading of a file object, which is not closed at its end. Others may read the object meanwhile."""

    def __init__(self, file: Any, start: int | None, lock: threading.Lock) -> None:
        readinto = getattr(file, "readinto1", None) or getattr(file, "readinto", None)
        if start is None:
            if readinto is not None:
                self.readinto = readinto
            self.read = file.read
            return
        self._seek, self._position, self._lock = file.seek, start, lock
        if readinto is not None:
            self.readinto = functools.partial(self._at_position, readinto, int)
        self.read = functools.partial(self._at_position, file.read, len)

    def _at_position(self, read: Callable[[Any], Any], size: Callable[[Any], int], argument: Any) -> Any:
        with self._lock:
            self._seek(self._position)
            got = read(argument)
            self._position += 0 if got is None else size(got)
            return got


def _url_files(url: str) -> list[CoreFile]:
    urls = [url]
    if any(c in url for c in "*?["):
        file_system, pattern = _fsspec().core.url_to_fs(url)
        urls = sorted(file_system.unstrip_protocol(name) for name in file_system.glob(pattern))
        if not urls:
            raise FileNotFoundError(2, "no file matches the pattern", url)
    return [CoreFile(name.encode(), functools.partial(open_url, name, "rb")) for name in urls]
