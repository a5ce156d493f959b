"""A part of a file, as whoever divides work among processes or machines hands it on."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, replace

from .addresses import public_url

__all__ = ["FilePart"]


@dataclass(frozen=True)
class FilePart:
    """The records of a file that begin in [begin, end). ShardReader takes it as a file, except with
    `global_shuffle`; it pickles.

    The file is the one that was looked at when the part was made: if it has another size, time of modification or
    version when it is read, that is an OSError (ESTALE).

    Attributes:
      file: a path or a URL, which may hold credentials; `str` shows it without them.
      bytes: of the whole file.
      version: what tells the file's content from another of the same name: of a local file, its time of modification in
        nanoseconds; of an object, what the store says; None if it says nothing.
      begin, end: offsets of bytes between records; `end` None: the whole file, which alone may be compressed.
      first_record: the number of the record at `begin`.
      records: how many records the part has, if that is known; of a whole file, a pickle does not have it.
    """

    file: str
    bytes: int
    version: str | int | None = None
    begin: int = 0
    end: int | None = None
    first_record: int = 0
    records: int | None = None

    def __str__(self) -> str:
        name = public_url(self.file)
        return name if self.end is None else f"{name}[{self.begin}:{self.end}]"

    def __repr__(self) -> str:
        return f"<FilePart {self}>"

    def __reduce__(self) -> tuple[type[FilePart], tuple[object, ...]]:
        # Short, without the names of attributes: there may be a hundred thousand.
        whole = (self.file, self.bytes, self.version)
        return FilePart, whole if self.end is None else (*whole, self.begin, self.end, self.first_record, self.records)

    @property
    def part_bytes(self) -> int:
        """The bytes of the part, as they are stored."""
        return self.bytes if self.end is None else self.end - self.begin

    def cut(self, begin: int, end: int, first_record: int, records: int) -> FilePart:
        """A part of the same file."""
        return replace(self, begin=begin, end=end, first_record=first_record, records=records)

    def check_local(self) -> None:
        """Raises OSError (ESTALE) if the local file is another than it was; as `os.stat` if it is gone."""
        found = os.stat(self.file)
        if (found.st_size, found.st_mtime_ns) != (self.bytes, self.version):
            raise changed_since(self.file)


def changed_since(name: str) -> OSError:
    """The error about a file that is not what it was when it was divided."""
    return OSError(errno.ESTALE, "the file has changed since it was divided into parts", public_url(name))
