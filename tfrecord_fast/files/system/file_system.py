"""Files by name, as in `tf.io.gfile`: in the local file system, or by URL in an object store.

`storage_options` are for the stores of URLs: credentials, an endpoint, `anon`. None: taken from the environment.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidArgumentError
from ...typing import BytesLike, PathLike
from ...values.columns.strings import as_bytes
from ..naming.addresses import public_url
from ..naming.location import location_of
from ..naming.patterns import begins_with_a_pattern, matching_paths
from ..stores.objects import glob_urls
from . import remote_files as remote
from .drafts import complete_file, errors_named
from .url_reader import open_url
from .url_writer import UrlWriter

Options = Mapping[str, Any] | None  # `storage_options`

_COPIED = 1 << 20  # bytes at a time


class GFile:
    """A file that is opened when it is first used; text in UTF-8 or, with "b" in the mode, bytes.

    Sizes and positions count bytes, also for text. The file iterates over its lines.

    Args:
      name: path or URL.
      mode: "r", "w", "a", "r+", "w+", "x", each also with "b". URLs support only "r", "w" and "x", since objects are
        written as a whole. "x" does not replace a file.
      storage_options: for a URL's store: credentials, an endpoint, `anon`. None: taken from the environment.

    An object appears, complete, at `close`. After an exception in a context manager, or if the file is never closed,
    nothing appears; a local file keeps the bytes written so far.

    Raises:
      FileNotFoundError, FileExistsError, OSError: when used.
      errors.InvalidArgumentError: when used: an unknown URL scheme, or appending to a URL.

    >>> import os, tempfile, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> with tf.io.gfile.GFile(path, "w") as file:
    ...     file.write("one")
    >>> tf.io.gfile.GFile(path).read()
    'one'
    """

    def __init__(self, name: PathLike, mode: str = "r", *, storage_options: Mapping[str, Any] | None = None) -> None:
        self.name = name
        self.mode = mode
        self._options = storage_options
        self._file: Any = None
        self._url: UrlWriter | None = None

    def _opened(self) -> Any:
        if self._file is None:
            name, is_url = location_of(self.name)
            if not is_url:
                self._file = open(name, self.mode.replace("b", "").replace("t", "") + "b")
            else:
                opened = open_url(name, self.mode, self._options)
                self._url = opened if isinstance(opened, UrlWriter) else None
                # A raw file may return fewer bytes than requested.
                self._file = io.BufferedReader(opened) if self._url is None else opened
        return self._file

    def _shown(self, content: bytes) -> Any:
        return content if "b" in self.mode else content.decode()

    def read(self, n: int = -1) -> Any:
        """Read the next `n` bytes; by default, all the rest.

        Raises:
          UnicodeDecodeError: the bytes of a text file end within a character.
        """
        return self._shown(self._opened().read(n))

    def readline(self) -> Any:
        r"""Read the next line, with its "\n", but without any "\r", as TensorFlow does."""
        return self._shown(self._opened().readline().replace(b"\r", b""))

    def readlines(self) -> list[Any]:
        """Read all remaining lines."""
        return list(self)

    def write(self, file_content: str | bytes) -> None:
        """Write bytes-like objects, or str as UTF-8."""
        with self._named():
            self._opened().write(as_bytes(file_content, "file_content"))

    def seek(self, offset: int = 0, whence: int = 0) -> None:
        """Move to a position in the file."""
        self._opened().seek(offset, whence)

    def seekable(self) -> bool:
        """Return True, as TensorFlow does."""
        return True

    def tell(self) -> int:
        """Return the position in the file."""
        return int(self._opened().tell())

    def size(self) -> int:
        """Return the file's size in bytes."""
        return stat(self.name, storage_options=self._options).length

    def flush(self) -> None:
        """Write buffered data."""
        if self._file is not None:
            with self._named():
                self._file.flush()

    def close(self) -> None:
        """Close the file; its next use opens it again."""
        if self._file is not None:
            with self._named():
                self._file.close()
            self._file = self._url = None

    def _named(self) -> AbstractContextManager[None]:
        return errors_named({None: public_url(location_of(self.name).name)})

    def __enter__(self) -> GFile:
        if self.mode[0] != "r":
            self._opened()
        return self

    def __exit__(self, error_class: type[BaseException] | None, *exception: object) -> None:
        if error_class is not None and self._url is not None:
            self._url.discard()
        self.close()

    def __del__(self) -> None:
        url: UrlWriter | None = getattr(self, "_url", None)
        if url is not None:
            url.drop()

    def __iter__(self) -> GFile:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def next(self) -> Any:
        """Return the next line, or raise StopIteration at the end."""
        return next(self)


class _Stat:
    """`length` in bytes, `mtime_nsec`, `is_directory`."""

    def __init__(self, length: int, mtime_nsec: int, is_directory: bool) -> None:
        self.length = length
        self.mtime_nsec = mtime_nsec
        self.is_directory = is_directory


def exists(path: PathLike, *, storage_options: Options = None) -> bool:
    """Return True if a file or folder of that name exists."""
    name, is_url = location_of(path)
    return remote.exists(name, storage_options) if is_url else os.path.exists(name)


def isdir(path: PathLike, *, storage_options: Options = None) -> bool:
    """Return True if a folder of that name exists. An object store has a folder if there is an object below it."""
    name, is_url = location_of(path)
    return remote.isdir(name, storage_options) if is_url else os.path.isdir(name)


def glob(pattern: PathLike | Iterable[PathLike], *, storage_options: Options = None) -> list[str]:
    r"""Return the names that match a pattern, or any of several, sorted.

    `*` matches any text within a folder, `?` one character, `[…]` one of the characters, `[!…]` or `[^…]` any other
    one. Wildcards do not match a leading dot. In a local path `\*` is the character itself. In a URL, `**` as the name
    of a folder matches any number of folders.
    """
    patterns = [pattern] if isinstance(pattern, str | bytes | os.PathLike) else list(pattern)
    return [name for each in patterns for name in _matches(each, storage_options)]


def _matches(path: PathLike, options: Options) -> list[str]:
    pattern, is_url = location_of(path)
    if is_url:
        return glob_urls(pattern, options)
    paths = matching_paths(pattern, escapes=True)
    # TensorFlow adds the "./".
    return [os.path.join(".", name) for name in paths] if begins_with_a_pattern(pattern) else paths


def listdir(path: PathLike, *, storage_options: Options = None) -> list[str]:
    """Return the names in a folder, without the folder itself.

    Raises:
      FileNotFoundError: the folder does not exist.
    """
    name, is_url = location_of(path)
    return remote.listdir(name, storage_options) if is_url else sorted(os.listdir(name))


def makedirs(path: PathLike, *, storage_options: Options = None) -> None:
    """Create a folder and its missing parents; it may exist already. Object stores need no folders."""
    name, is_url = location_of(path)
    if is_url:
        remote.make_folder(name, storage_options, parents=True)
    else:
        os.makedirs(name, exist_ok=True)


def mkdir(path: PathLike, *, storage_options: Options = None) -> None:
    """Create a folder in an existing one; it may exist already. Object stores need no folders.

    Raises:
      FileExistsError: a file has that name.
    """
    name, is_url = location_of(path)
    if is_url:
        remote.make_folder(name, storage_options, parents=False)
    elif not os.path.isdir(name):
        os.mkdir(name)


def remove(path: PathLike, *, storage_options: Options = None) -> None:
    """Delete a file."""
    name, is_url = location_of(path)
    if is_url:
        remote.remove(name, storage_options)
    else:
        os.remove(name)


def rmtree(path: PathLike, *, storage_options: Options = None) -> None:
    """Delete a folder and everything in it. Of a symbolic link, only the link is deleted; `path` must not be a link."""
    name, is_url = location_of(path)
    if is_url:
        remote.rmtree(name, storage_options)
    else:
        name = name.rstrip("/") or name  # "link/" would be the folder that the link leads to
        if os.path.islink(name):  # Python 3.14 refuses it without a message
            raise NotADirectoryError(errno.ENOTDIR, "a symbolic link, not a folder; delete it with remove()", name)
        shutil.rmtree(name)


def rename(src: PathLike, dst: PathLike, overwrite: bool = False, *, storage_options: Options = None) -> None:
    """Rename a file. In an object store, the object is copied.

    Raises:
      FileExistsError: `dst` exists, and `overwrite` is False.
      errors.InvalidArgumentError: `dst` is in another file system.
    """
    _check_free(dst, overwrite, storage_options)
    old, new = location_of(src), location_of(dst)
    if not old.is_url and not new.is_url:
        os.replace(old.name, new.name)
    elif not (old.is_url and new.is_url and remote.rename(old.name, new.name, storage_options)):
        raise InvalidArgumentError(
            f"{public_url(old.name)} can't be renamed to {public_url(new.name)} in another file system; copy it instead"
        )


def copy(src: PathLike, dst: PathLike, overwrite: bool = False, *, storage_options: Options = None) -> None:
    """Copy a file. The copy appears, or replaces another file, once it is complete.

    Raises:
      FileExistsError: `dst` exists, and `overwrite` is False.
    """
    _check_free(dst, overwrite, storage_options)
    (source_name, source_is_url), (name, is_url) = location_of(src), location_of(dst)
    if is_url and source_is_url and remote.is_same_object(source_name, name, storage_options):
        return
    with GFile(src, "rb", storage_options=storage_options) as source:
        source.read(0)  # fail before the target is created
        if is_url:
            with GFile(name, "wb" if overwrite else "xb", storage_options=storage_options) as target:
                shutil.copyfileobj(source, target, _COPIED)
        else:
            with complete_file(name) as written, open(written, "wb") as file:
                shutil.copyfileobj(source, file, _COPIED)


def _check_free(dst: PathLike, overwrite: bool, options: Options) -> None:
    if not overwrite and exists(dst, storage_options=options):
        raise FileExistsError(errno.EEXIST, "file already exists", public_url(location_of(dst).name))


def stat(path: PathLike, *, storage_options: Options = None) -> _Stat:
    """Return an object with `length` (bytes), `mtime_nsec` (modification time; 0 for a URL) and `is_directory`."""
    name, is_url = location_of(path)
    if is_url:
        size = remote.size(name, storage_options)
        return _Stat(size or 0, 0, size is None)
    status = os.stat(name)
    return _Stat(status.st_size, status.st_mtime_ns, os.path.isdir(name))


def join(path: PathLike, *paths: PathLike) -> str:
    """Join path components."""
    return os.path.join(os.fsdecode(path), *map(os.fsdecode, paths))


def walk(
    top: PathLike,
    topdown: bool = True,
    onerror: Callable[[OSError], object] | None = None,
    *,
    storage_options: Options = None,
) -> Iterable[tuple[str, list[str], list[str]]]:
    """Yield (folder, names of folders in it, names of files in it) for a folder and every folder below it.

    Args:
      topdown: yield a folder before the folders in it; otherwise after them.
      onerror: called with the error of a folder that can't be listed and is skipped; it may raise.
    """
    name, is_url = location_of(top)
    if is_url:
        return remote.walk(name, storage_options, topdown, onerror)
    return os.walk(name, topdown, onerror)


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

    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "new", "a.txt")
    >>> write_file(path, b"text")
    >>> read_file(path)
    b'text'
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
    """Return an object array of the names (bytes) that match a glob pattern, or any of several; sorted.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> write_file(os.path.join(folder, "a.txt"), b"")
    >>> [os.path.basename(path) for path in matching_files(os.path.join(folder, "*.txt"))]
    [b'a.txt']
    """
    matches = sorted({path.encode() for path in glob(pattern, storage_options=storage_options)})
    names = np.empty(len(matches), dtype=object)
    names[:] = matches
    return names
