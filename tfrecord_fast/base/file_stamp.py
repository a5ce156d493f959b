"""Detecting that a local file was written to or replaced."""

from __future__ import annotations

import os
from builtins import bytes as bytes_
from typing import NamedTuple


class FileStamp(NamedTuple):
    """Size and times of a file: two stamps of one path are equal if the file was not written to in between.

    A user can set the modification time back, but only the system sets the change time.
    """

    bytes: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, file: str | bytes_ | int) -> FileStamp:
        """Return the stamp of a path or of an open descriptor; raises as `os.stat` does."""
        return cls.from_status(os.stat(file))

    @classmethod
    def from_status(cls, status: os.stat_result) -> FileStamp:
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns)
