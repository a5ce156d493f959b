"""What a store of objects has to do for the readers and writers: the contract that each kind of store fulfils.

A store knows nothing of TFRecords, of retries or of caches. Its methods block, and may be called from several threads
at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

__all__ = ["Buffer", "ObjectInfo", "Store", "Upload", "Version"]

Buffer = Any  # an object with the buffer protocol: contiguous bytes, format B


class Version(str):
    """What tells two contents of one name apart: the entity tag, or, where there is none, the time of the last change
    and the size. It is a text; `fits` needs the rest, which it has from the store's answer."""

    tag: str | None
    time: float | None
    size: int

    @classmethod
    def of(cls, tag: str | None, time: float | None, size: int) -> Version | None:
        """None if there is neither a tag nor a time."""
        if not tag and time is None:
            return None
        found = cls(tag or f"modified {time:.6f}, {size} bytes")
        found.tag, found.time, found.size = tag, time, size
        return found

    def fits(self, tag: str | None, time: float | None, size: int) -> bool:
        """Whether what another answer says may be of the same content: by the tags, or, where one has none, by times
        and sizes. Some servers say the tag of the whole, and none with a part; times come with or without fractions."""
        if self.tag and tag:
            return self.tag == tag
        return self.size == size and (self.time is None or time is None or int(self.time) == int(time))


class ObjectInfo(NamedTuple):
    """An object in a store.

    `version` tells two contents of one name apart; None if the store says nothing that does.
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
