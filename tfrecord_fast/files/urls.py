"""Files named by a URL, through fsspec (the extra `fsspec`)."""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
import warnings
import weakref
from typing import Any, NamedTuple

from ..base.optional import optional
from ..base.process import Origin
from ..errors import InvalidArgumentError
from ..typing import PathLike

__all__ = ["Place", "UrlWriter", "file_system_of", "glob_urls", "matching_urls", "open_url", "place_of"]

# `scheme://…`, after any number of `scheme::`. One letter is a drive.
_URL = re.compile(r"([A-Za-z][\w.+-]*::)*[A-Za-z][\w.+-]+://")
_LOCAL = "file://"

# What is written there shows under its name at once. Elsewhere, in object stores, it appears when it is closed.
_SHOW_PARTS = {"arrow_hdfs", "ftp", "hdfs", "memory", "sftp", "smb", "ssh", "webhdfs"}


class Place(NamedTuple):
    """Where a name leads: to a URL, or to a local path, which comes without `file://`."""

    name: str
    is_url: bool


def place_of(path: PathLike) -> Place:
    """The one answer to the question whether a name is a URL. A scheme that is not known shows when the URL is used."""
    name = os.fsdecode(path)
    if name.startswith(_LOCAL):
        return Place(name[len(_LOCAL) :], is_url=False)
    return Place(name, is_url=_URL.match(name) is not None)


def open_url(url: str, mode: str) -> Any:
    """Opens a URL for bytes; to be written, as a UrlWriter.

    Raises:
      errors.InvalidArgumentError: no file system has the URL's scheme.
    """
    mode = mode.replace("b", "").replace("t", "") + "b"
    if mode in ("wb", "ab", "xb"):
        return UrlWriter(url, mode)
    system, path = file_system_of(url)
    file = system.open(path, mode)
    with contextlib.suppress(AttributeError):  # a file that takes no attributes keeps what it needs by itself
        file.its_system = system  # a dropped archive, such as zip://, closes what its files are read from
    return file


def file_system_of(url: str) -> tuple[Any, str]:
    """fsspec's file system of a URL, and the path in it.

    Raises:
      errors.InvalidArgumentError: no file system has the URL's scheme.
    """
    core = optional("fsspec", "URLs need fsspec").core
    try:
        system, path = core.url_to_fs(url)
    except ValueError as error:
        raise InvalidArgumentError(f"{url}: no file system for this URL: {error}") from None
    return system, path


def glob_urls(pattern: str) -> list[str]:
    """The URLs that match, sorted. As in a local file system, a pattern that does not begin with a dot matches no name
    that does."""
    system, inner = file_system_of(pattern)
    found: list[str] = sorted(system.unstrip_protocol(name) for name in system.glob(inner))
    if posixpath.basename(inner).startswith("."):
        return found
    return [url for url in found if not posixpath.basename(url).startswith(".")]


def matching_urls(url: str) -> list[str]:
    """The URL; for a pattern, the URLs that match it, sorted.

    Raises:
      FileNotFoundError: a pattern matches nothing.
    """
    if not any(c in url for c in "*?["):
        return [url]
    urls = glob_urls(url)
    if not urls:
        raise FileNotFoundError(2, "no file matches the pattern", url)
    return urls


class UrlWriter:
    """A URL that is written, as a binary file object. It appears under its name, complete, when it is closed.

    `discard` leaves what was there before. So do being dropped and the end of the process, with a warning: nobody can
    tell whether all was written. What is written after that goes nowhere.
    """

    def __init__(self, url: str, mode: str = "wb") -> None:
        self._system, self._path = file_system_of(url)
        self._draft = None
        if mode == "wb" and not _SHOW_PARTS.isdisjoint(_protocols(self._system)):
            folder, _, name = self._path.rpartition("/")
            self._draft = f"{folder}/.{name}.{os.urandom(8).hex()}.tmp"
        self._file = self._system.open(self._draft or self._path, mode)
        self._complete = False
        # Unlike __del__, it runs before the file's own, which would complete the file, and when the interpreter exits.
        self._open = weakref.finalize(self, _drop, url, Origin(), self._system, self._file, self._draft)

    @property
    def closed(self) -> bool:
        """Whether it was closed or discarded."""
        return not self._open.alive

    def readable(self) -> bool:
        """False."""
        return False

    def writable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """False."""
        return False

    def write(self, data: bytes | memoryview) -> int:
        """Takes all the bytes."""
        if self._open.alive:
            try:
                self._file.write(data)
            except BaseException:
                self.discard()  # nobody knows what it has taken
                raise
        elif self._complete:
            raise ValueError("I/O operation on closed file.")
        return memoryview(data).nbytes

    def tell(self) -> int:
        """How many bytes were written."""
        return int(self._file.tell())

    def flush(self) -> None:
        """What is written shows when the file is closed, not before."""

    def close(self) -> None:
        """Completes the file. Further calls do nothing."""
        if self._open.detach() is None:
            return
        try:
            self._file.close()
            if self._draft is not None:
                self._system.mv(self._draft, self._path)
            self._complete = True
        except BaseException:
            _abandon(Origin(), self._system, self._file, self._draft)
            raise

    def discard(self) -> None:
        """Writes nothing under the name. Does nothing to a file that was closed."""
        found = self._open.detach()
        if found is not None:
            _abandon(*found[2][1:])

    def drop(self) -> None:
        """As `discard`, with a warning."""
        if self._open.alive:
            self._open()


def _protocols(system: Any) -> set[str]:
    protocol = system.protocol
    return {protocol} if isinstance(protocol, str) else set(protocol)


def _drop(url: str, origin: Origin, system: Any, file: Any, draft: str | None) -> None:
    _abandon(origin, system, file, draft)
    if origin.is_here():
        warnings.warn(f"{url}: not closed, so nothing was written", RuntimeWarning, stacklevel=3)


def _abandon(origin: Origin, system: Any, file: Any, draft: str | None) -> None:
    """Of a file in the process that a fork was made from, nothing is touched."""
    if origin.is_here():
        with contextlib.suppress(Exception):
            file.discard()
    with contextlib.suppress(Exception):
        file.closed = True  # or else the file completes itself when it is dropped
    if draft is not None and origin.is_here():
        with contextlib.suppress(Exception):
            file.close()
        with contextlib.suppress(Exception):
            system.rm_file(draft)
