"""The contract of an object store, and the checks of the answers of all stores.

A store does no retries and no caching. Its methods block, and several threads may call them at the same time.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from .errors import NO_SIZE, call, changed, os_error

Buffer = Any  # an object with the buffer protocol: contiguous bytes, format B


class Version(str):
    """A version of an object: the entity tag, or, without one, the time of the last change and the size.

    As a str it is compared for equality. `fits` compares it with an answer that may lack a tag or a time.
    """

    tag: str | None
    time: float | None
    size: int

    @classmethod
    def of(cls, tag: str | None, time: float | None, size: int) -> Version | None:
        """Return the version; None without a tag and a time."""
        if not tag and time is None:
            return None
        version = cls(tag or f"modified {time:.6f}, {size} bytes")
        version.tag, version.time, version.size = tag, time, size
        return version

    def fits(self, tag: str | None, time: float | None, size: int | None) -> bool:
        """Return True if another answer may be about the same content: by size, and by tags, or by times without tags.

        Some servers send the tag only with the whole object; times come with or without fractions. None is unknown.
        """
        if size not in (None, self.size):
            return False
        if self.tag and tag:
            return self.tag == tag
        if self.time is None or time is None or self.time == time:
            return True
        return int(self.time) == int(time) and (self.time.is_integer() or time.is_integer())


class ObjectInfo(NamedTuple):
    """An object in a store. `version` differs for every content of one name; None if the store has no versions."""

    url: str
    size: int
    version: str | None


class Store(Protocol):
    """Objects by their keys; `find_store` returns the key of a URL with the store.

    All methods raise FileNotFoundError, PermissionError, TimeoutError, ConnectionError or another OSError, with the
    object's URL as `filename` and without credentials. ConnectionError and TimeoutError are worth a retry; other errors
    will come again.
    """

    def url(self, key: str) -> str:
        """Return the URL of an object, without credentials."""

    def info(self, key: str) -> ObjectInfo:
        """Return size and version, by one request."""

    def read(
        self, key: str, start: int, end: int, *, version: str | None = None, timeout: float | None = None
    ) -> Buffer:
        """Return the bytes [start, end), by one request; raise ConnectionError if the connection breaks before the end.

        Raises:
          OSError: (ESTALE) the object has another version than `version`.
        """

    def read_head(self, key: str, most: int, *, timeout: float | None = None) -> tuple[Buffer, ObjectInfo]:
        """Return at most the first `most` bytes, with size and version; if possible, by one request."""

    def pieces(
        self, key: str, start: int, end: int, *, version: str | None = None, timeout: float | None = None
    ) -> Iterator[Buffer]:
        """Yield the bytes [start, end) as they arrive; bytes that came before an error are valid."""

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Yield the objects whose key begins with `prefix`, in the order of their keys."""

    def folders(self, prefix: str) -> tuple[Sequence[str], Sequence[ObjectInfo]]:
        """Return the folders (as keys) and objects directly under a prefix that ends in "/" or is empty."""

    def upload(self, key: str, *, overwrite: bool = True, beside: int = 1) -> Upload:
        """Begin to write an object, which appears when the upload is completed.

        `beside` uploads run at the same time and share the memory for upload parts.

        Raises (here or in `complete`):
          FileExistsError: the object exists, and `overwrite` is False.
        """

    def delete(self, key: str) -> None:
        """Delete an object."""

    def move(self, source: str, target: str) -> None:
        """Rename an object, if necessary by a copy."""

    def is_folder(self, key: str) -> bool:
        """Return True if there is anything below the key, or an empty folder."""

    def make_folder(self, key: str, *, parents: bool) -> None:
        """Create a folder, which may exist already. Stores without folders do nothing."""

    def delete_below(self, key: str) -> None:
        """Delete a folder and everything below it."""


class Answer(NamedTuple):
    """An answer to a request for a range: the bytes [start, end) of an object.

    `size` is that of the object. It, `tag` and `time` are None if the answer lacks them.
    """

    start: int
    end: int
    size: int | None
    tag: str | None
    time: float | None
    pieces: Iterable[Buffer]


class CheckedReads:
    """The reading half of a Store over its `request`: no byte is passed on that the answer does not place in the range.

    Servers and proxies may ignore a range, return another one, or break off.
    """

    def url(self, key: str) -> str:
        raise NotImplementedError

    def info(self, key: str) -> ObjectInfo:
        raise NotImplementedError

    def request(self, key: str, start: int, end: int, version: str | None, streams: bool) -> Answer:
        """Ask for a range, once. An answer with the whole object is one of its bytes from 0; `streams` asks for small
        pieces."""
        raise NotImplementedError

    def read(
        self, key: str, start: int, end: int, *, version: str | None = None, timeout: float | None = None
    ) -> Buffer:
        return call(self.url(key), self._read, key, start, end, version)

    def _read(self, key: str, start: int, end: int, version: str | None, answer: Answer | None = None) -> Buffer:
        pieces = list(self._pieces(key, start, end, version, False, answer))
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def read_head(self, key: str, most: int, *, timeout: float | None = None) -> tuple[Buffer, ObjectInfo]:
        try:
            return call(self.url(key), self._read_head, key, most)
        except (FileNotFoundError, PermissionError, ConnectionError, TimeoutError):
            raise
        except OSError:  # some servers refuse ranges, or ranges of an empty object, or report no size
            pass
        info = self.info(key)
        return self.read(key, 0, min(most, info.size), version=info.version, timeout=timeout), info

    def _read_head(self, key: str, most: int) -> tuple[Buffer, ObjectInfo]:
        answer = self.request(key, 0, most, None, False)
        if answer.size is None:
            raise OSError(errno.ENOTSUP, NO_SIZE)
        info = ObjectInfo(self.url(key), answer.size, Version.of(answer.tag, answer.time, answer.size))
        return self._read(key, 0, min(most, answer.size), info.version, answer), info

    def pieces(
        self, key: str, start: int, end: int, *, version: str | None = None, timeout: float | None = None
    ) -> Iterator[Buffer]:
        try:
            yield from self._pieces(key, start, end, version, True)
            return
        except Exception as error:
            failure = os_error(error, self.url(key))
        raise failure

    def _pieces(
        self, key: str, start: int, end: int, version: str | None, streams: bool, answer: Answer | None = None
    ) -> Iterator[Buffer]:
        url = self.url(key)
        while start < end:
            answer = answer or self.request(key, start, end, version, streams)
            _check(answer, url, start, end, version)
            position = answer.start
            for piece in answer.pieces:
                inside = memoryview(piece)[max(0, start - position) : max(0, end - position)]
                position += len(piece)
                if position > answer.end:
                    raise OSError(errno.EIO, "the store returned more bytes than it announced", url)
                start += len(inside)
                if len(inside) > 0:
                    yield inside
                if start == end:
                    return
            if position < answer.end:
                raise ConnectionError(errno.ECONNRESET, "the answer was cut off", url)
            answer = None  # the answer announced fewer bytes than requested: ask for the rest


def _check(answer: Answer, url: str, start: int, end: int, version: str | None) -> None:
    if isinstance(version, Version):
        fits = version.fits(answer.tag, answer.time, answer.size)
    else:
        fits = version in (None, Version.of(answer.tag, answer.time, answer.size or 0))
    if not fits or (answer.size is not None and answer.size < end):
        raise changed(url)
    if not answer.start <= start < answer.end:
        shown = f"bytes {answer.start}-{answer.end - 1}" if answer.start < answer.end else "nothing"
        raise OSError(errno.EIO, f"the store returned {shown} instead of bytes {start}-{end - 1}", url)


class Upload(Protocol):
    """An object that is being written by one thread at a time."""

    def write(self, data: Buffer) -> None:
        """Take all the bytes. Upload parts are sent in the background; their errors are raised here or by
        `complete`."""

    def complete(self) -> None:
        """Make the object appear, or raise and leave the previous object."""

    def abort(self) -> None:
        """Remove the incomplete upload. Never raises; does nothing after `complete`."""
