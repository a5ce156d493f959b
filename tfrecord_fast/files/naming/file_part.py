"""A byte range of a file, to divide work among processes or machines."""

from __future__ import annotations

import errno
import os
from builtins import bytes as bytes_
from dataclasses import dataclass, replace

from .addresses import public_url


@dataclass(frozen=True)
class FilePart:
    """The records of a file that begin in [begin, end). ShardReader accepts it as a file, except with
    `global_shuffle`. It can be pickled.

    If the file has changed (size, modification time or version) when it is read, OSError (ESTALE) is raised.

    Attributes:
      file: a path or a URL, which may contain credentials; `str` shows it without them.
      bytes: the size of the whole file.
      version: of a local file, its modification time in nanoseconds; of an object, its version in the store, or None if
        the store has no versions.
      begin, end: byte offsets between records, in the uncompressed data. `end` None: the whole file.
      first_record: the number of the record at `begin`.
      records: the number of records, or None if unknown. A pickle of a whole file does not contain it.
      checkpoint: for a byte range of a compressed file, how to start decompression before `begin`.
    """

    file: str
    bytes: int
    version: str | int | None = None
    begin: int = 0
    end: int | None = None
    first_record: int = 0
    records: int | None = None
    checkpoint: bytes_ | None = None

    def __str__(self) -> str:
        name = public_url(self.file)
        return name if self.end is None else f"{name}[{self.begin}:{self.end}]"

    def __repr__(self) -> str:
        return f"<FilePart {self}>"

    def __reduce__(self) -> tuple[type[FilePart], tuple[object, ...]]:
        # Without attribute names: there may be a hundred thousand ranges.
        whole = (self.file, self.bytes, self.version)
        if self.end is None:
            return FilePart, whole
        part = (*whole, self.begin, self.end, self.first_record, self.records)
        return FilePart, part if self.checkpoint is None else (*part, self.checkpoint)

    @property
    def part_bytes(self) -> int:
        """The size of the byte range; of a whole file, as stored."""
        return self.bytes if self.end is None else self.end - self.begin

    def cut(self, begin: int, end: int, first_record: int, records: int, checkpoint: bytes_ | None = None) -> FilePart:
        """Return another byte range of the same file."""
        return replace(self, begin=begin, end=end, first_record=first_record, records=records, checkpoint=checkpoint)

    def check_local(self) -> None:
        """Raise OSError (ESTALE) if the local file has changed, or as `os.stat` does if it is gone."""
        status = os.stat(self.file)
        if (status.st_size, status.st_mtime_ns) != (self.bytes, self.version):
            raise changed_since(self.file)


def changed_since(name: str) -> OSError:
    return OSError(errno.ESTALE, "the file has changed since it was divided into byte ranges", public_url(name))
