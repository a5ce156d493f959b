"""The numbers of records in files, cached in memory and on disk."""

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
from ...base.side_files import read_regular, replace_regular, user_cache
from ...base.threads import default_threads
from ...base.workers import Workers
from ...errors import InvalidArgumentError
from ...typing import PathLike
from ..naming.file_objects import FileObject
from ..stores import StoreSettings
from ..stores.objects import StoredObject
from ..stores.store import Version
from ..streams.core_files import DEFAULT_SETTINGS, CoreFile, local_path
from ..streams.fetching import open_stream
from ..streams.random_access import infos_of
from ..streams.shard_lists import ListedCount, listed_counts

_VERSION = 2
_MOST_BYTES = 1 << 12  # of a count on disk
_WORTH_KEEPING = 16 << 20  # bytes of a file whose count is kept on disk; smaller files are quickly counted again
_FILES_AT_ONCE = 16  # files whose indexes are in memory together
_BATCH = 4096

_Identity = str | tuple[str, str]


class Counts(NamedTuple):
    """The numbers of records in files.

    If records are divided, the number of a damaged file does not determine those of its shards. `damaged` maps the
    index of such a file to a function (n, i) -> the number of intact records whose index modulo n is i.
    """

    records: NDArray[np.int64]  # [files]
    begins: NDArray[np.int64]  # [files]: the index, in the whole file, of the first record of a byte range
    damaged: Mapping[int, Callable[[int, int], int]] = {}


def _first_record(file: str | CoreFile) -> int:
    return 0 if isinstance(file, str) or file.part is None else file.part[1]


class _Version(NamedTuple):
    """The size of an object, and its version if the store has versions."""

    bytes: int
    version: str | None


def _is_unchanged(then: FileStamp | _Version, now: FileStamp | _Version | None) -> bool:
    """Compare stamps. Different requests may spell the same version in different ways."""
    if isinstance(then, _Version) and isinstance(now, _Version):
        old, new = then.version, now.version
        if isinstance(old, Version) and isinstance(new, Version):
            return then.bytes == now.bytes and old.fits(new.tag, new.time, new.size)
    return then == now


class _Count(NamedTuple):
    records: int
    longest: int  # data bytes of the longest record
    is_damaged: bool = False  # True if records were dropped
    version: _Version | None = None  # of the object that was read


class RecordCounts:
    """The numbers of records that one reader finds in files.

    Counting reads the headers of an uncompressed file and inflates a compressed one. With `on_corrupt="skip"` or
    "skip_file" it reads everything.

    Args:
      cache: a folder for counts; True keeps those of files of 16 MiB or more in the user's cache folder, False nowhere.
        A count is valid while the file's size and times are unchanged. Errors of the folder are ignored.
      options: the reader's options that affect its records.
      settings: settings of the stores of URLs.
      listed: files whose counts may come from a shard list; objects carry theirs.
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
        self._uses_lists = options["on_corrupt"] == "raise"
        self._listed = listed_counts(listed) if self._uses_lists else {}
        self._known: dict[_Identity, tuple[FileStamp | _Version, _Count]] = {}
        self._remainders: dict[tuple[_Identity, int, int], tuple[_Count, int]] = {}

    def of(self, files: Sequence[str | CoreFile]) -> Counts:
        cached: list[_Count | None] = [None] * len(files)
        stamps = self._stamps(files)
        missing: dict[object, list[int]] = {}  # the indexes of each file that must be counted
        for i, file in enumerate(files):
            path = _path_if_local(file)
            cached[i] = self._remembered(file, path, stamps[i])
            if cached[i] is None:
                missing.setdefault(i if path is None else path, []).append(i)
        counted = self._count([files[repeats[0]] for repeats in missing.values()])
        for repeats, count in zip(missing.values(), counted, strict=True):
            self._remember(files[repeats[0]], stamps[repeats[0]], count)
            for i in repeats:
                cached[i] = count
        counts = [count for count in cached if count is not None]
        damaged = {
            i: functools.partial(self._shard_records, files[i], count)
            for i, count in enumerate(counts)
            if count.is_damaged
        }
        begins = np.array([_first_record(file) for file in files], np.int64)
        return Counts(np.array([count.records for count in counts], np.int64), begins, damaged)

    def _stamps(self, files: Sequence[str | CoreFile]) -> list[FileStamp | _Version | None]:
        """Return stamps that change with the files. Only objects with remembered counts need a request."""
        unknown = [match for file in files if (match := self._object_without_version(file)) is not None]
        objects = {match.identity: match for match in unknown}
        infos = dict(zip(objects, infos_of([*objects.values()], self._settings), strict=True))
        stamps: list[FileStamp | _Version | None] = []
        for file in files:
            path, match = _path_if_local(file), _stored_object(file)
            if path is not None:
                stamps.append(_stamp_of(path))
            elif match is None:
                stamps.append(None)
            else:
                info = infos.get(match.identity)
                stamps.append(_version_of(match) if info is None else _Version(info.size, info.version))
        return stamps

    def _object_without_version(self, file: str | CoreFile) -> StoredObject | None:
        match = _stored_object(file)
        if match is None or match.size is not None or _is_byte_range(file) or self._supplied(file, None) is not None:
            return None
        return match if match.identity in self._known else None

    def _supplied(self, file: str | CoreFile, stamp: FileStamp | _Version | None) -> _Count | None:
        """Return a count supplied by the caller (a split plan or a shard list)."""
        if not isinstance(file, str) and file.records is not None and self._uses_lists:
            return _Count(file.records, 0)
        listed = self._listed_count(file)
        if listed is not None and (stamp is None or stamp.bytes == listed.bytes):
            return _Count(listed.records, 0)
        return None

    def _shard_records(self, file: str | CoreFile, count: _Count, shards: int, index: int) -> int:
        """Return the number of records that one shard reads from a damaged file: each shard drops different ones."""
        key = (_identity(file), shards, index)
        whole, records = self._remainders.get(key, (None, 0))
        if whole is not count:
            records = self._read_one(file, default_threads(), record_shard=[index, shards]).records
            self._remainders[key] = count, records
        return records

    def _remembered(self, file: str | CoreFile, path: str | None, stamp: FileStamp | _Version | None) -> _Count | None:
        supplied = self._supplied(file, stamp)
        if supplied is not None:
            return supplied
        known, count = self._known.get(_identity(file), (None, None))
        if known is not None and not _is_byte_range(file) and _is_unchanged(known, stamp):
            return count
        if path is None or not isinstance(stamp, FileStamp) or not self._is_kept(stamp):
            return None
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            entry = json.loads(read_regular(self._cache_path(path), _MOST_BYTES))
            read = _Count(int(entry["records"]), int(entry["longest"]))
            limit = self._options["max_record_bytes"]
            if entry == self._entry(stamp, read) and (limit is None or read.longest <= limit) and read.records >= 0:
                self._known[_identity(file)] = stamp, read
                return read
        return None

    def _remember(self, file: str | CoreFile, stamp: FileStamp | _Version | None, count: _Count) -> None:
        path = _path_if_local(file)
        if path is None:
            # Counts of memory, which may change, and of byte ranges are not remembered.
            if _stored_object(file) is not None and not _is_byte_range(file) and count.version is not None:
                self._known[_identity(file)] = count.version, count
            return
        if not isinstance(stamp, FileStamp) or _stamp_of(path) != stamp:
            return
        self._known[_identity(file)] = stamp, count
        if self._is_kept(stamp):
            text = json.dumps(self._entry(stamp, count)) + "\n"
            with contextlib.suppress(OSError, ValueError):
                if self._folder is None:
                    os.makedirs(user_cache("counts"), mode=0o700, exist_ok=True)
                replace_regular(self._cache_path(path), text.encode())

    def _listed_count(self, file: str | CoreFile) -> ListedCount | None:
        match = _stored_object(file)
        if match is None:
            return self._listed.get(file if isinstance(file, str) else os.fsdecode(file.name))
        if not self._uses_lists or match.listed is None or match.listed_records is None:
            return None
        return ListedCount(match.listed, match.listed_records)

    def _is_kept(self, stamp: FileStamp) -> bool:
        return self._on_disk and (self._folder is not None or stamp.bytes >= _WORTH_KEEPING)

    def _entry(self, stamp: FileStamp, count: _Count) -> dict[str, object]:
        compression_type = self._options["compression_type"]
        counted = {"records": count.records, "longest": count.longest}
        return {"version": _VERSION, **stamp._asdict(), "compression_type": compression_type, **counted}

    def _cache_path(self, path: str) -> str:
        digest = hashlib.sha256(os.fsencode(os.path.abspath(path))).hexdigest()[:16]
        folder = user_cache("counts") if self._folder is None else self._folder
        return os.path.join(folder, f"{os.path.basename(path)}.{digest}.records")

    def _count(self, files: Sequence[str | CoreFile]) -> list[_Count]:
        if self._options["compression_type"] or self._options["on_corrupt"] != "raise":
            return self._read_through(files)
        counts: list[_Count] = []
        for begin in range(0, len(files), _FILES_AT_ONCE):
            counts += self._count_headers(files[begin : begin + _FILES_AT_ONCE])
        return counts

    def _count_headers(self, files: Sequence[str | CoreFile]) -> list[_Count]:
        """Count uncompressed local files by their headers, and read others through."""
        paths = [_path_if_local(file) for file in files]
        origins = [_core.IndexOrigin(path=os.fsencode(path)) for path in paths if path is not None]
        try:
            if len(origins) == len(files):
                indexes = _core.open_indexes(
                    origins, default_threads(), self._options["max_record_bytes"], inflate=False
                )
                return [_Count(len(index), int(index.sizes().max(initial=16)) - 16) for index in indexes]
        except InvalidArgumentError:
            pass  # a file is compressed
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
        self, file: str | CoreFile, threads: int, stop: threading.Event | None = None, **shard: list[int]
    ) -> _Count:
        options = {**self._options, **shard}
        if options["on_corrupt"] == "raise":
            options["verify_crc"] = False
        files: Any = [file]
        opened: list[StoredObject] = []
        stream = open_stream(
            files, self._settings, batch_size=_BATCH, num_threads=threads - 1, on_open=opened.append, **options
        )
        records = longest = 0
        for batch in stream.batches():
            records += len(batch)
            longest = max(longest, int(batch.sizes.max(initial=0)))
            if stop is not None and stop.is_set():
                break
        match = opened[-1] if opened else _stored_object(file)
        version = None if match is None else _version_of(match)
        return _Count(records, longest, is_damaged=bool(stream.take_skipped()), version=version)


def _path_if_local(file: str | CoreFile) -> str | None:
    if isinstance(file, str):
        return file
    return os.fsdecode(file.name) if file.is_local else None


def _is_byte_range(file: str | CoreFile) -> bool:
    return not isinstance(file, str) and file.part is not None


def _stored_object(file: str | CoreFile) -> StoredObject | None:
    match = None if isinstance(file, str) else file.object
    return match if isinstance(match, StoredObject) else None


def _version_of(match: StoredObject) -> _Version | None:
    return None if match.size is None else _Version(match.size, match.version)


def _identity(file: str | CoreFile) -> _Identity:
    """Return a unique key; several objects may have the same public URL."""
    match = _stored_object(file)
    if match is not None:
        return match.identity
    return file if isinstance(file, str) else os.fsdecode(file.name)


def _stamp_of(path: str) -> FileStamp:
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise TypeError(f"{path} is not a regular file: counting its records would consume them")
    return FileStamp.from_status(status)


def refuse_streams(files: Iterable[object]) -> None:
    for file in files:
        if isinstance(file, FileObject):
            raise TypeError(f"{file!r} is a file object: counting its records would consume them")
