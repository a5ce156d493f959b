"""The files that FILE arguments name: finding, opening and reading them."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..base.record_format import DETECTION_BYTES, FRAME_BYTES
from ..base.threads import default_threads
from ..base.workers import Workers
from ..errors import DataLossError
from ..files.naming.foreign_formats import HEAD_BYTES, explained, head_of, is_foreign
from ..files.naming.location import shown_name
from ..files.stores import StoreSettings, read_range
from ..files.stores.objects import StoredObject
from ..files.streams.core_files import DEFAULT_SETTINGS, CoreFile, core_files, flatten
from ..files.streams.fetching import open_stream
from .arguments import storage_options
from .console import Console
from .folders import files_of

T = TypeVar("T")

_TELLING = 512  # bytes that suffice to recognise a file that is not a TFRecord file

_STDIN = CoreFile(b"<stdin>", lambda: open(0, "rb", buffering=0, closefd=False))

# Errors that a file may cause; any other is a bug in this program.
FAULTS = (DataLossError, OSError, ImportError)


@dataclass(frozen=True)
class Problem:
    """Reason why a file was not read to its end; offset and record index are None if unknown."""

    reason: str
    offset: int | None = None
    record_index: int | None = None
    damage: bool = False  # else the file could not be read at all

    @property
    def status(self) -> int:
        return 1 if self.damage else 2

    @property
    def place(self) -> str:
        if self.offset is None or self.record_index is None:
            return self.reason
        return f"{self.reason} (record {self.record_index} at byte {self.offset})"

    def as_json(self) -> dict[str, Any]:
        return {"reason": self.reason, "offset": self.offset, "record_index": self.record_index}


@dataclass
class Totals:
    """Totals of a file, or of the records before its first problem."""

    path: str
    compression: str | None = None  # "", "GZIP", …; None if the file could not be opened
    stored_bytes: int | None = None
    records: int = 0
    payload_bytes: int = 0
    problem: Problem | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the object for --json; `error` describes the problem after the counted records."""
        return {
            "path": self.path,
            "compression": self.compression,
            "bytes": self.stored_bytes,
            "records": self.records,
            "payload_bytes": self.payload_bytes,
            "error": None if self.problem is None else self.problem.as_json(),
        }


def problem_of(error: BaseException) -> Problem:
    """Convert one of FAULTS to a Problem."""
    if isinstance(error, DataLossError):
        is_damage = not is_foreign(error)
        return Problem(error.reason, error.offset, error.record_index, damage=is_damage)
    if isinstance(error, OSError) and error.strerror:
        return Problem(error.strerror)
    return Problem(str(error))


def named_files(args: argparse.Namespace, console: Console) -> tuple[list[CoreFile], int]:
    """Return the files that FILE arguments name, and a status: 2 if an argument names no file, which is printed."""
    files: list[CoreFile] = []
    status = 0
    settings = StoreSettings(storage_options(args))
    for argument in args.files:
        try:
            if argument != "-" and os.path.isdir(argument):
                files += core_files(flatten(files_of(argument)), settings)
            else:
                files += [_STDIN] if argument == "-" else core_files(flatten(argument), settings)
        except FAULTS as error:
            named = getattr(error, "filename", None)
            about = f"{os.fsdecode(named)}: " if named and os.fsdecode(named) != argument else ""
            console.problem(f"{shown_name(argument)}: {about}{problem_of(error).reason}")
            status = 2
        except ValueError as error:  # its message has the name
            console.problem(str(error))
            status = 2
    return files, status


def total_bytes(files: list[CoreFile]) -> int | None:
    """Return the size of all files on disk, or None if the size of a file is unknown."""
    try:
        sizes = [os.stat(file.name).st_size for file in files if file.is_local]
    except OSError:
        return None
    return sum(sizes) if len(sizes) == len(files) else None


@dataclass(frozen=True)
class Input:
    """An opened file, of known compression, whose records have not been read yet."""

    compression: str
    stored_bytes: int | None  # size on disk or in the store; None for pipes
    core_file: CoreFile
    counts_itself: bool  # calls `advance` while it is read

    def head(self) -> tuple[bytes, int | None]:
        """Return the first bytes (of a stream, those already read), and the size of the file if known."""
        reader = None if self.core_file.opener is None else self.core_file.opener()
        if isinstance(reader, _Reader):
            return reader.beginning(), self.stored_bytes
        stored = self.core_file.object
        if isinstance(stored, StoredObject) and stored.size is not None:
            end = min(stored.size, HEAD_BYTES)
            return bytes(read_range(stored.store, stored.key, 0, end, stored.version)), stored.size
        return head_of(os.fsdecode(self.core_file.name))


def open_input(file: CoreFile, choice: str, advance: Callable[[int], None] | None = None) -> Input:
    """Open a file once, so that pipes can be read.

    Args:
      choice: the value of --compression.
      advance: called with the number of stored bytes read, unless the core reads the file alone.
    """
    if isinstance(file.object, StoredObject):
        return _open_object(file, file.object, choice)
    name, opener = file.name, file.opener
    mode = os.stat(name).st_mode if opener is None else 0
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fsdecode(name))
    stream: Any = open(name, "rb", buffering=0) if opener is None else opener()
    head = b""
    while (wanted := _core.bytes_to_detect(head)) and (more := stream.read(wanted)):
        head += more
    compression = _core.detect_compression(head) if choice == "auto" else "" if choice == "none" else choice.upper()
    size = os.stat(name).st_size if stat.S_ISREG(mode) else None
    if size is not None and (compression == "" or advance is None):
        stream.close()
        return Input(compression, size, CoreFile(name), counts_itself=False)
    reader = _Reader(head, stream, advance)
    return Input(compression, size, CoreFile(name, lambda: reader), counts_itself=True)


def _open_object(file: CoreFile, stored: StoredObject, choice: str) -> Input:
    info = stored.store.info(stored.key)
    stored = stored._replace(size=info.size, version=info.version)
    head = b""
    if choice == "auto":
        head = bytes(read_range(stored.store, stored.key, 0, min(DETECTION_BYTES, info.size), info.version))
    compression = _core.detect_compression(head) if choice == "auto" else "" if choice == "none" else choice.upper()
    # The number of stored bytes per record is unknown for compressed objects.
    return Input(compression, info.size, file._replace(object=stored), counts_itself=compression != "")


class _Reader:
    """Stream for the core: first the bytes read for detection, then the rest. Reports progress."""

    def __init__(self, head: bytes, stream: BinaryIO, advance: Callable[[int], None] | None) -> None:
        self._head = head
        self._stream = stream
        self._advance = advance
        self._seen = b""

    def beginning(self) -> bytes:
        """Return the first bytes; read more if few have been read."""
        if len(self._seen) < _TELLING:
            with contextlib.suppress(OSError, ValueError):  # it may be closed
                self._seen += self._head + self._stream.read(HEAD_BYTES)
        return self._seen

    def read(self, size: int) -> bytes:
        data = self._head[:size] or self._stream.read(size)
        self._head = self._head[size:]
        if len(self._seen) < HEAD_BYTES:
            self._seen += data[:HEAD_BYTES]
        if self._advance is not None:
            self._advance(len(data))
        return data

    def close(self) -> None:
        self._stream.close()


def batches(
    source: Input, num_threads: int, advance: Callable[[int], None] | None = None
) -> Iterator[_core.RecordBatch]:
    """Yield all records in batches of any size; an error comes after all records before it."""
    stream = open_stream(
        [source.core_file], DEFAULT_SETTINGS, compression_type=source.compression, num_threads=num_threads
    )
    for batch in _explained(source, stream.batches()):
        yield batch
        if advance is not None and not source.counts_itself:
            advance(batch.nbytes + FRAME_BYTES * len(batch))


def _explained(source: Input, record_batches: Iterator[_core.RecordBatch]) -> Iterator[_core.RecordBatch]:
    """Yield the batches; if the file is not a TFRecord file, the error names its format."""
    try:
        yield from record_batches
    except DataLossError as error:
        if error.record_index or error.offset:
            raise
        raise explained(error, *source.head()) from None


def index_beside(path: str) -> str | None:
    """Return the index beside a local file (FILE.idx, or STEM.idx), or None if it is missing or older."""
    for name in (f"{path}.idx", f"{os.path.splitext(path)[0]}.idx"):
        with contextlib.suppress(OSError):
            if os.path.isfile(name) and os.stat(name).st_mtime_ns >= os.stat(path).st_mtime_ns:
                return name
    return None


def is_whole(offsets: NDArray[np.int64], sizes: NDArray[np.int64], stored_bytes: int) -> bool:
    """Return True if an index covers an uncompressed file of `stored_bytes` bytes completely."""
    end = int(offsets[-1] + sizes[-1]) if len(offsets) else 0
    return end == int(sizes.sum()) == stored_bytes


class Cancelled(Exception):
    """The command was interrupted."""


def for_each_file(files: list[CoreFile], work: Callable[[CoreFile, int, Callable[[], None]], T]) -> Iterator[T]:
    """Process files in parallel; yield the results of `work(file, num_threads, checkpoint)` in the order of files.

    `work` uses `num_threads` threads besides its own. It calls `checkpoint` regularly, which raises if the command has
    been interrupted.
    """
    cpus = default_threads()
    jobs = max(1, min(len(files), cpus))
    spare_threads = max(0, cpus // jobs - 1)
    if jobs == 1:
        for file in files:
            yield work(file, spare_threads, lambda: None)
        return
    stop = threading.Event()

    def checkpoint() -> None:
        if stop.is_set():
            raise Cancelled

    workers = Workers(jobs, "tfrecord_fast files")
    try:
        yield from workers.map(lambda file: work(file, spare_threads, checkpoint), files)
    finally:
        stop.set()
        # Threads are not joined: after an interrupt one may wait for a pipe.
        workers.stop()
