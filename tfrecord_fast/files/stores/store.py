"""What a store of objects has to do for the readers and writers: the contract that each kind of store fulfils.

A store knows nothing of TFRecords, of retries or of caches. Its methods block, and may be called from several threads
at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

__all__ = ["Buffer", "ObjectInfo", "Store", "Upload"]

Buffer = Any  # an object with the buffer protocol: contiguous bytes, format B


class ObjectInfo(NamedTuple):
    """An object in a store.

    `version` tells two contents of one name apart: the entity tag where the store has one, else what it has in place
    of it (a time and a size), else None.
    """

    url: str
    size: int
    version: str | None


class Store(Protocol):
    """Objects by their keys, which are what `find_store` gives with the store.

    All methods raise FileNotFoundError, PermissionError, TimeoutError, ConnectionError or another OSError, with the
    object's URL as `filename` and nothing of a credential in it. Errors that may go away by themselves (a connection
    that broke, a server that is busy) are ConnectionError or TimeoutError, all others will come again.
    """

    def url(self, key: str) -> str:
        """The URL of an object, without credentials."""
        ...

    def info(self, key: str) -> ObjectInfo:
        """Size and version, by one request."""
        ...

    def read(
        self, key: str, start: int, end: int, *, version: str | None = None, timeout: float | None = None
    ) -> Buffer:
        """The bytes [start, end) by one request: all of them, or, if the connection broke, ConnectionError.

        Raises:
          OSError: (ESTALE) the object's version is not `version`, if one is given and the store can tell.
        """
        ...

    def read_head(self, key: str, most: int, *, timeout: float | None = None) -> tuple[Buffer, ObjectInfo]:
        """The first `most` bytes, or all if there are fewer, with size and version; by one request if that can be."""
        ...

    def pieces(
        self, key: str, start: int, end: int, *, version: str | None = None, timeout: float | None = None
    ) -> Iterator[Buffer]:
        """As `read`, piece by piece as the bytes arrive: what came before an error can be kept."""
        ...

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """The objects whose key begins with `prefix`, page by page, in the order of their keys."""
        ...

    def folders(self, prefix: str) -> tuple[Sequence[str], Sequence[ObjectInfo]]:
        """What lies directly under a prefix that ends in "/" (or is empty): keys of folders, and objects."""
        ...

    def upload(self, key: str, *, overwrite: bool = True, beside: int = 1) -> Upload:
        """Begins to write an object, which appears when the upload is completed.

        `beside` uploads go on at the same time, and share the memory for parts.

        Raises (here or by `complete`):
          FileExistsError: it exists, and `overwrite` is False.
        """
        ...

    def delete(self, key: str) -> None:
        """Deletes an object."""
        ...

    def copy(self, source: str, target: str) -> None:
        """Copies an object within the store."""
        ...

    def move(self, source: str, target: str) -> None:
        """Gives an object another key; where a store can't, by a copy."""
        ...

    def is_folder(self, key: str) -> bool:
        """Whether anything lies below the key; also an empty folder, where there are folders."""
        ...

    def make_folder(self, key: str, *, parents: bool) -> None:
        """Makes a folder, which may exist, where there are folders; else this does nothing."""
        ...

    def delete_below(self, key: str) -> None:
        """Deletes all objects whose keys begin with `key` and a "/", and the folder."""
        ...


class Upload(Protocol):
    """An object that is being written. One thread at a time calls."""

    def write(self, data: Buffer) -> None:
        """Takes all the bytes. Parts are sent in the background; an error of an earlier part is raised here or by
        `complete`."""
        ...

    def complete(self) -> None:
        """The object appears, or this raises and there is what was there before."""
        ...

    def abort(self) -> None:
        """Nothing appears, and nothing of it stays in the store. Never raises; does nothing after `complete`."""
        ...
