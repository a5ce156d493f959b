"""The contract of an object store, for readers and writers.

A store does no retries and no caching. Its methods block, and several threads may call them at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

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

    def fits(self, tag: str | None, time: float | None, size: int) -> bool:
        """Return True if another answer may be about the same content: by tags, or, if one has none, by time and size.

        Some servers send the tag only with the whole object; times come with or without fractions.
        """
        if self.tag and tag:
            return self.tag == tag
        return self.size == size and (self.time is None or time is None or int(self.time) == int(time))


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


class Upload(Protocol):
    """An object that is being written by one thread at a time."""

    def write(self, data: Buffer) -> None:
        """Take all the bytes. Upload parts are sent in the background; their errors are raised here or by
        `complete`."""

    def complete(self) -> None:
        """Make the object appear, or raise and leave the previous object."""

    def abort(self) -> None:
        """Remove the incomplete upload. Never raises; does nothing after `complete`."""
