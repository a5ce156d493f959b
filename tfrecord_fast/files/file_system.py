"""Files by name, as `tf.io.gfile` handles them: in the local file system, or by URL through fsspec."""

from __future__ import annotations

import glob as _glob
import os
import shutil
from collections.abc import Iterable, Iterator
from typing import Any

from ..typing import PathLike
from ..values.strings import as_bytes
from .urls import file_system_of, is_url, open_url

__all__ = [
    "GFile",
    "copy",
    "exists",
    "glob",
    "isdir",
    "join",
    "listdir",
    "makedirs",
    "mkdir",
    "remove",
    "rename",
    "rmtree",
    "stat",
    "walk",
]


def _path(path: PathLike) -> str:
    return os.fsdecode(os.fspath(path))


class GFile:
    """A file that is opened when it is first used; text or, with "b" in the mode, bytes.

    Args:
      name: path or URL.
      mode: "r", "w", "a", "r+", "w+", each also with "b".

    Raises:
      FileNotFoundError, OSError: when used.

    >>> import os, tempfile, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> with tf.io.gfile.GFile(path, "w") as file:
    ...     file.write("one")
    >>> tf.io.gfile.GFile(path).read()
    'one'
    """

    def __init__(self, name: PathLike, mode: str = "r") -> None:
        self.name = name
        self.mode = mode
        self._file: Any = None

    def _opened(self) -> Any:
        if self._file is None:
            path = _path(self.name)
            encoding = None if "b" in self.mode else "utf-8"
            self._file = (open_url if is_url(path) else open)(path, self.mode, encoding=encoding)
        return self._file

    def read(self, n: int = -1) -> Any:
        """The next `n` characters or bytes; by default, all the rest."""
        return self._opened().read(n)

    def readline(self) -> Any:
        """The next line, with its newline."""
        return self._opened().readline()

    def readlines(self) -> list[Any]:
        """All the remaining lines."""
        return list(self._opened())

    def write(self, file_content: str | bytes) -> None:
        """Appends to the file: str, or, where the mode has a "b", bytes-like objects and str as UTF-8."""
        self._opened().write(as_bytes(file_content, "file_content") if "b" in self.mode else file_content)

    def seek(self, offset: int = 0, whence: int = 0) -> None:
        """Moves to a position in the file."""
        self._opened().seek(offset, whence)

    def tell(self) -> int:
        """The position in the file."""
        return int(self._opened().tell())

    def size(self) -> int:
        """The file's size in bytes."""
        return stat(self.name).length

    def flush(self) -> None:
        """Writes what is buffered."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Closes the file; its next use opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> GFile:
        if self.mode[0] != "r":
            self._opened()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._opened())


class _Stat:
    """`length` in bytes, `mtime_nsec`, `is_directory`."""

    def __init__(self, length: int, mtime_nsec: int, is_directory: bool) -> None:
        self.length = length
        self.mtime_nsec = mtime_nsec
        self.is_directory = is_directory


def exists(path: PathLike) -> bool:
    """Whether a file or folder of that name exists."""
    name = _path(path)
    if is_url(name):
        system, inner = file_system_of(name)
        return bool(system.exists(inner))
    return os.path.exists(name)


def isdir(path: PathLike) -> bool:
    """Whether a folder of that name exists."""
    name = _path(path)
    if is_url(name):
        system, inner = file_system_of(name)
        return bool(system.isdir(inner))
    return os.path.isdir(name)


def glob(pattern: PathLike | Iterable[PathLike]) -> list[str]:
    """The names that match a pattern, or any of several, sorted."""
    patterns = [pattern] if isinstance(pattern, str | bytes | os.PathLike) else list(pattern)
    return [name for one in patterns for name in _glob_one(_path(one))]


def _glob_one(pattern: str) -> list[str]:
    if is_url(pattern):
        system, inner = file_system_of(pattern)
        return sorted(system.unstrip_protocol(name) for name in system.glob(inner))
    found = sorted(_glob.glob(pattern))
    # As TensorFlow names them.
    return [os.path.join(".", name) for name in found] if _glob.has_magic(pattern.split(os.sep)[0]) else found


def listdir(path: PathLike) -> list[str]:
    """The names in a folder, without the folder's own.

    Raises:
      FileNotFoundError: the folder does not exist.
    """
    name = _path(path)
    if is_url(name):
        system, inner = file_system_of(name)
        return sorted(os.path.basename(entry.rstrip("/")) for entry in system.ls(inner, detail=False))
    return sorted(os.listdir(name))


def makedirs(path: PathLike) -> None:
    """Creates a folder, and its parents if they are missing; it may exist already."""
    name = _path(path)
    if is_url(name):
        system, inner = file_system_of(name)
        system.makedirs(inner, exist_ok=True)
    else:
        os.makedirs(name, exist_ok=True)


def mkdir(path: PathLike) -> None:
    """Creates a folder in an existing one; it may exist already.

    Raises:
      FileExistsError: a file has that name.
    """
    name = _path(path)
    if not os.path.isdir(name):
        os.mkdir(name)


def remove(path: PathLike) -> None:
    """Deletes a file."""
    name = _path(path)
    if is_url(name):
        system, inner = file_system_of(name)
        system.rm_file(inner)
    else:
        os.remove(name)


def rmtree(path: PathLike) -> None:
    """Deletes a folder and everything in it."""
    name = _path(path)
    if is_url(name):
        system, inner = file_system_of(name)
        system.rm(inner, recursive=True)
    else:
        shutil.rmtree(name)


def rename(src: PathLike, dst: PathLike, overwrite: bool = False) -> None:
    """Gives a file another name.

    Raises:
      FileExistsError: `dst` exists, and `overwrite` is False.
    """
    _check_free(dst, overwrite)
    os.replace(_path(src), _path(dst))


def copy(src: PathLike, dst: PathLike, overwrite: bool = False) -> None:
    """Copies a file.

    Raises:
      FileExistsError: `dst` exists, and `overwrite` is False.
    """
    _check_free(dst, overwrite)
    with GFile(src, "rb") as source, GFile(dst, "wb") as target:
        shutil.copyfileobj(source, target)


def _check_free(dst: PathLike, overwrite: bool) -> None:
    if not overwrite and exists(dst):
        raise FileExistsError(17, "file already exists", _path(dst))


def stat(path: PathLike) -> _Stat:
    """Size in bytes (`length`), time of the last modification (`mtime_nsec`), and whether it is a folder."""
    name = _path(path)
    if is_url(name):
        system, inner = file_system_of(name)
        info = system.info(inner)
        return _Stat(int(info.get("size") or 0), 0, info.get("type") == "directory")
    found = os.stat(name)
    return _Stat(found.st_size, found.st_mtime_ns, os.path.isdir(name))


def join(path: PathLike, *paths: PathLike) -> str:
    """The parts as one path."""
    return os.path.join(_path(path), *(_path(part) for part in paths))


def walk(top: PathLike) -> Iterable[tuple[str, list[str], list[str]]]:
    """(folder, names of folders in it, names of files in it) for a folder and every folder below it."""
    return os.walk(_path(top))
