"""How many records files have, remembered here and on disk."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import stat
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...base.file_stamp import FileStamp
from ...base.threads import default_threads
from ...base.workers import Workers
from ...errors import InvalidArgumentError
from ...typing import PathLike
from ..naming.file_objects import FileObject
from ..stores import StoreSettings
from ..stores.objects import StoredObject
from ..stores.store import Version
from ..streams.core_files import DEFAULT_SETTINGS, CoreFile
from ..streams.fetching import open_stream
from ..streams.local_paths import local_path
from ..streams.random_access import infos_of
from ..streams.shard_lists import ListedCount, listed_counts
from ..system.temporary import complete_file

__all__ = ["Counts", "RecordCounts", "refuse_streams"]

_VERSION = 2
_WORTH_KEEPING = 16 << 20  # bytes of a file; smaller ones are quickly counted again
_FILES_AT_ONCE = 16  # whose indexes are in memory
_BATCH = 4096

_Identity = str | tuple[str, str]


class Counts(NamedTuple):
    """How many records files have.

    Of a file that damage is dropped from, that does not tell how many of them each part has where records are divided:
    `damaged` has such files by their number, and for each a function (parts, i) -> how many records are read of those
    whose index leaves the remainder i when divided by `parts`.
    """

    records: NDArray[np.int64]  # [files]
    begins: NDArray[np.int64]  # [files]: the number of the first one in its whole file; 0 but for parts of files
    damaged: Mapping[int, Callable[[int, int], int]] = {}


def _begin_of(file: str | CoreFile) -> int:
    return 0 if isinstance(file, str) or file.part is None else file.part[1]


class _Version(NamedTuple):
    """Size and version of an object; a store without versions has the size alone."""

    bytes: int
    version: str | None


def _is_unchanged(then: FileStamp | _Version, now: FileStamp | _Version | None) -> bool:
    """Compare stamps. Different requests may spell one version in different ways."""
    if isinstance(then, _Version) and isinstance(now, _Version):
        old, new = then.version, now.version
        if isinstance(old, Version) and isinstance(new, Version):
            return then.bytes == now.bytes and old.fits(new.tag, new.time, new.size)
    return then == now


class _Count(NamedTuple):
    records: int
    longest: int  # bytes of a record's data
    is_damaged: bool = False  # and something was dropped
    version: _Version | None = None  # of the object that was read


class RecordCounts:
    """Counts the records of files as one reader reads them.

    An uncompressed file's headers are looked at, a compressed one is inflated, and with `on_corrupt="skip"` or
    "skip_file" everything is read.

    Args:
      cache: whether, or in which folder, counts are kept on disk; True: beside the files, and only of those of 16 MiB
        or more. A count is used while the file's size and times stay what they were; a folder that can't be written to
        is no error.
      options: the reader's options that say what is a record.
      settings: of the stores of files that are URLs.
      listed: files that a list may say the counts of; objects have theirs with them.
    """

    def __init__(
        self,
        cache: bool | PathLike,
        options: dict[str, Any],
        settings: StoreSettings = DEFAULT_SETTINGS,
        listed: Sequence[object] = (),
    ) -> None:
        self._folder = None if isinstance(cache, bool) else os.fsdecode(local_path(cache))
        self._on_disk = cache is not False and options["on_corrupt"] == "raise"
        self._options = options
        self._settings = settings
        self._believes_lists = options["on_corrupt"] == "raise"
        self._listed = listed_counts(listed) if self._believes_lists else {}
        self._known: dict[_Identity, tuple[FileStamp | _Version, _Count]] = {}
        self._remainders: dict[tuple[_Identity, int, int], tuple[_Count, int]] = {}

    def of(self, files: Sequence[str | CoreFile]) -> Counts:
        """The number of records of each file.

        Raises:
          TypeError: a file can be read only once, or is read from its user's position.
          FileNotFoundError, OSError, errors.DataLossError: as when it is read.
        """
        found: list[_Count | None] = [None] * len(files)
        stamps = self._stamps(files)
        missing: dict[object, list[int]] = {}  # the places of each file that has to be counted
        for place, file in enumerate(files):
            path = _path_of(file)
            found[place] = self._remembered(file, path, stamps[place])
            if found[place] is None:
                missing.setdefault(place if path is None else path, []).append(place)
        firsts = [places[0] for places in missing.values()]
        counted = self._count([files[place] for place in firsts])
        for places, count in zip(missing.values(), counted, strict=True):
            self._remember(files[places[0]], stamps[places[0]], count)
            for place in places:
                found[place] = count
        counts = [count for count in found if count is not None]
        damaged = {
            place: functools.partial(self._of_remainder, files[place], count)
            for place, count in enumerate(counts)
            if count.is_damaged
        }
        begins = np.array([_begin_of(file) for file in files], np.int64)
        return Counts(np.array([count.records for count in counts], np.int64), begins, damaged)

    def _stamps(self, files: Sequence[str | CoreFile]) -> list[FileStamp | _Version | None]:
        """What tells whether each file is the one that was counted. An object is asked for it only if its count is
        remembered, and nobody has asked yet: whoever counts an object learns it."""
        unknown = [found for file in files if (found := self._to_be_asked(file)) is not None]
        objects = {found.identity: found for found in unknown}
        infos = dict(zip(objects, infos_of([*objects.values()], self._settings), strict=True))
        stamps: list[FileStamp | _Version | None] = []
        for file in files:
            path, found = _path_of(file), _object_of(file)
            if path is not None:
                stamps.append(_stamp_of(path))
            elif found is None:
                stamps.append(None)
            else:
                info = infos.get(found.identity)
                stamps.append(_version_of(found) if info is None else _Version(info.size, info.version))
        return stamps

    def _to_be_asked(self, file: str | CoreFile) -> StoredObject | None:
        found = _object_of(file)
        if found is None or found.size is not None or _is_part(file) or self._said(file, None) is not None:
            return None
        return found if found.identity in self._known else None

    def _said(self, file: str | CoreFile, stamp: FileStamp | _Version | None) -> _Count | None:
        """What others say of it: whoever divided the file into parts, or a list."""
        if not isinstance(file, str) and file.records is not None and self._believes_lists:
            return _Count(file.records, 0)
        listed = self._listed_of(file)
        if listed is not None and (stamp is None or stamp.bytes == listed.bytes):
            return _Count(listed.records, 0)
        return None

    def _of_remainder(self, file: str | CoreFile, count: _Count, parts: int, index: int) -> int:
        """How many records a part of a damaged file has: what is dropped from one part need not be from another."""
        key = (_identity(file), parts, index)
        whole, records = self._remainders.get(key, (None, 0))
        if whole is not count:
            records = self._read_one(file, default_threads(), record_shard=[index, parts]).records
            self._remainders[key] = count, records
        return records

    def _remembered(self, file: str | CoreFile, path: str | None, stamp: FileStamp | _Version | None) -> _Count | None:
        said = self._said(file, stamp)
        if said is not None:
            return said
        known, count = self._known.get(_identity(file), (None, None))
        if known is not None and not _is_part(file) and _is_unchanged(known, stamp):
            return count
        if path is None or not isinstance(stamp, FileStamp) or not self._is_kept(stamp):
            return None
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            with open(self._place(path), encoding="ascii") as kept:
                entry = json.load(kept)
            read = _Count(int(entry["records"]), int(entry["longest"]))
            most = self._options["max_record_bytes"]
            if entry == self._entry(stamp, read) and (most is None or read.longest <= most) and read.records >= 0:
                self._known[_identity(file)] = stamp, read
                return read
        return None

    def _remember(self, file: str | CoreFile, stamp: FileStamp | _Version | None, count: _Count) -> None:
        path = _path_of(file)
        if path is None:
            # Memory may change; a part is not its file.
            if _object_of(file) is not None and not _is_part(file) and count.version is not None:
                self._known[_identity(file)] = count.version, count
            return
        if not isinstance(stamp, FileStamp) or _stamp_of(path) != stamp:
            return
        self._known[_identity(file)] = stamp, count
        if self._is_kept(stamp):
            text = json.dumps(self._entry(stamp, count)) + "\n"
            with contextlib.suppress(OSError, ValueError):
                with complete_file(self._place(path)) as draft, open(draft, "w", encoding="ascii") as kept:
                    kept.write(text)

    def _listed_of(self, file: str | CoreFile) -> ListedCount | None:
        found = _object_of(file)
        if found is None:
            return self._listed.get(file if isinstance(file, str) else os.fsdecode(file.name))
        if not self._believes_lists or found.listed is None or found.listed_records is None:
            return None
        return ListedCount(found.listed, found.listed_records)

    def _is_kept(self, stamp: FileStamp) -> bool:
        return self._on_disk and (self._folder is not None or stamp.bytes >= _WORTH_KEEPING)

    def _entry(self, stamp: FileStamp, count: _Count) -> dict[str, object]:
        kind = self._options["compression_type"]
        counted = {"records": count.records, "longest": count.longest}
        return {"version": _VERSION, **stamp._asdict(), "compression_type": kind, **counted}

    def _place(self, path: str) -> str:
        folder, name = os.path.split(os.path.abspath(path))
        if self._folder is None:
            return os.path.join(folder, f".{name}.records")
        digest = hashlib.sha256(os.fsencode(os.path.abspath(path))).hexdigest()[:16]
        return os.path.join(self._folder, f"{name}.{digest}.records")

    def _count(self, files: Sequence[str | CoreFile]) -> list[_Count]:
        if self._options["compression_type"] or self._options["on_corrupt"] != "raise":
            return self._read_through(files)
        counts: list[_Count] = []
        for begin in range(0, len(files), _FILES_AT_ONCE):
            counts += self._count_headers(files[begin : begin + _FILES_AT_ONCE])
        return counts

    def _count_headers(self, files: Sequence[str | CoreFile]) -> list[_Count]:
        """Of files that are not compressed; others, and what is no file, are read through."""
        paths = [_path_of(file) for file in files]
        origins = [_core.IndexOrigin(path=os.fsencode(path)) for path in paths if path is not None]
        try:
            if len(origins) == len(files):
                indexes = _core.open_indexes(origins, default_threads(), self._options["max_record_bytes"])
                return [_Count(len(index), int(index.sizes().max(initial=16)) - 16) for index in indexes]
        except InvalidArgumentError:
            pass  # one of them is compressed
        if len(files) == 1:
            return self._read_through(files)
        return [count for file in files for count in self._count_headers([file])]

    def _read_through(self, files: Sequence[str | CoreFile]) -> list[_Count]:
        threads = min(default_threads(), len(files))
        if threads <= 1:
            return [self._read_one(file, default_threads()) for file in files]
        stop = threading.Event()
        workers = Workers(threads, "tfrecord_fast count")
        try:
            return list(workers.map(lambda file: self._read_one(file, 1, stop), files))
        finally:
            stop.set()
            workers.stop()
            workers.join()

    def _read_one(
        self, file: str | CoreFile, threads: int, stop: threading.Event | None = None, **part: list[int]
    ) -> _Count:
        options = {**self._options, **part}
        if options["on_corrupt"] == "raise":
            options["verify_crc"] = False
        given: Any = [file]
        opened: list[StoredObject] = []
        stream = open_stream(
            given, self._settings, batch_size=_BATCH, num_threads=threads - 1, on_open=opened.append, **options
        )
        records = longest = 0
        for batch in stream.batches():
            records += len(batch)
            longest = max(longest, int(batch.sizes.max(initial=0)))
            if stop is not None and stop.is_set():
                break
        found = opened[-1] if opened else _object_of(file)
        version = None if found is None else _version_of(found)
        return _Count(records, longest, is_damaged=bool(stream.take_skipped()), version=version)


def _path_of(file: str | CoreFile) -> str | None:
    """The path of a local file; None for anything else."""
    if isinstance(file, str):
        return file
    return os.fsdecode(file.name) if file.is_local else None


def _is_part(file: str | CoreFile) -> bool:
    return not isinstance(file, str) and file.part is not None


def _object_of(file: str | CoreFile) -> StoredObject | None:
    found = None if isinstance(file, str) else file.object
    return found if isinstance(found, StoredObject) else None


def _version_of(found: StoredObject) -> _Version | None:
    return None if found.size is None else _Version(found.size, found.version)


def _identity(file: str | CoreFile) -> _Identity:
    """What only this file has: a URL as it is shown may be that of several."""
    found = _object_of(file)
    if found is not None:
        return found.identity
    return file if isinstance(file, str) else os.fsdecode(file.name)


def _stamp_of(path: str) -> FileStamp:
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        raise TypeError(f"{path} is not a regular file: its records can't be counted without using them up")
    return FileStamp.from_status(found)


def refuse_streams(files: Iterable[object]) -> None:
    """Raises TypeError for the user's file objects, which may be in use."""
    for file in files:
        if isinstance(file, FileObject):
            raise TypeError(f"{file!r} is a file object: its records can't be counted without reading from it")
