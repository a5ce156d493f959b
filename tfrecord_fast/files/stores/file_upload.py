"""Writing a file of a file system of fsspec, which appears when it is complete."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import Any

from ...base.process import Origin
from .errors import call
from .store import Buffer

__all__ = ["FileUpload"]

# What is written there shows under its name at once. Elsewhere, in object stores, it appears when it is closed.
_SHOW_PARTS = {"arrow_hdfs", "file", "ftp", "hdfs", "local", "memory", "sftp", "smb", "ssh", "webdav", "webhdfs"}


class FileUpload:
    """A file that is being written, as `Upload` says. Where parts would show, it is written under a hidden name."""

    def __init__(self, system: Any, url: str, key: str, overwrite: bool) -> None:
        self._system, self._url, self._key, self._overwrite = system, url, key, overwrite
        self._origin = Origin()
        self._done = False
        self._check_free()
        self._draft = None
        if not _SHOW_PARTS.isdisjoint(_protocols(system)):
            folder, slash, name = key.rpartition("/")
            self._draft = f"{folder}{slash}.{name}.{os.urandom(8).hex()}.tmp"
        self._file = call(url, system.open, self._draft or key, "wb")

    def _check_free(self) -> None:
        if not self._overwrite and call(self._url, self._system.exists, self._key):
            raise FileExistsError(errno.EEXIST, "the object exists already", self._url)

    def write(self, data: Buffer) -> None:
        call(self._url, self._file.write, data)

    def complete(self) -> None:
        self._check_free()
        call(self._url, self._file.close)
        if self._draft is not None:
            call(self._url, self._system.mv, self._draft, self._key)
        self._done = True

    def abort(self) -> None:
        """Of a file in the process that a fork was made from, nothing is touched."""
        if self._done:
            return
        self._done = True
        here = self._origin.is_here()
        if here:
            with contextlib.suppress(Exception):
                self._file.discard()
        with contextlib.suppress(Exception):
            self._file.closed = True  # or else the file completes itself when it is dropped
        if self._draft is not None and here:
            with contextlib.suppress(Exception):
                self._file.close()
            with contextlib.suppress(Exception):
                self._system.rm_file(self._draft)


def _protocols(system: Any) -> set[str]:
    """Those of the file system, and of the one that it stands in front of (a cache, a folder)."""
    protocol, behind = system.protocol, getattr(system, "fs", None)
    found = {protocol} if isinstance(protocol, str) else set(protocol)
    return found if behind is None or behind is system else found | _protocols(behind)
