"""Indexes of compressed local files, kept in a folder: to build one, the whole file is decompressed."""

from __future__ import annotations

import contextlib
import hashlib
import os

from ... import _core
from ...base.file_stamp import FileStamp
from ...base.record_format import FRAME_BYTES
from ...base.side_files import read_regular, replace_regular, user_cache
from ...errors import InvalidArgumentError
from ...typing import PathLike
from .core_files import local_path

_WORTH_KEEPING = 1 << 20  # bytes of a compressed file; a smaller one is quickly indexed again
_MOST_BYTES = 1 << 30  # of all indexes in the user's cache folder; the oldest are removed
_SUFFIX = ".tfrindex"


class IndexCache:
    """A folder of indexes. An index is valid while the size and the times of its file are unchanged.

    Args:
      cache: a folder; True is the user's cache folder; False keeps nothing.

    Errors of the folder are ignored.
    """

    def __init__(self, cache: bool | PathLike = True) -> None:
        self._is_shared = cache is True
        self._folder = ""
        if cache is not False:
            self._folder = user_cache("indexes") if cache is True else os.fsdecode(local_path(cache))
        self._names: frozenset[str] = frozenset()
        with contextlib.suppress(OSError):
            self._names = frozenset(os.listdir(self._folder)) if self._folder else frozenset()

    def load(self, path: str, max_record_bytes: int | None = None) -> tuple[_core.RecordIndex | None, str]:
        """Return the index of a file, if it is there and no record is too large, and the name for a new one."""
        name = _name(path) if self._folder else ""
        with contextlib.suppress(OSError, InvalidArgumentError):
            if name in self._names:
                index = _core.RecordIndex.parse(read_regular(os.path.join(self._folder, name), _MOST_BYTES))
                fits = max_record_bytes is None or index.sizes().max(initial=0) - FRAME_BYTES <= max_record_bytes
                if fits and index.checkpoints():  # unlike a text that was left there
                    return index, name
        return None, name

    def keep(self, path: str, name: str, index: _core.RecordIndex) -> None:
        """Keep the index of a compressed file under the name that the file had before it was read."""
        if not self._folder or not index.checkpoints() or index.file_bytes() < _WORTH_KEEPING:
            return
        with contextlib.suppress(OSError):
            if _name(path) != name:
                return
            packed = index.pack()
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            if self._is_shared:
                _make_room(self._folder, _MOST_BYTES - len(packed))
            replace_regular(os.path.join(self._folder, name), packed)


def _name(path: str) -> str:
    identity = repr((os.path.abspath(path), *FileStamp.of(path)))
    return hashlib.sha256(os.fsencode(identity)).hexdigest()[:32] + _SUFFIX


def _make_room(folder: str, limit: int) -> None:
    """Remove the oldest files until the others have at most `limit` bytes."""
    with os.scandir(folder) as entries:
        kept = [(entry.stat(follow_symlinks=False), entry.path) for entry in entries]
    kept.sort(key=lambda entry: entry[0].st_mtime_ns)
    excess = sum(status.st_size for status, _ in kept) - limit
    for status, path in kept:
        if excess <= 0:
            return
        os.unlink(path)
        excess -= status.st_size
