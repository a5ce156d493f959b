"""The FILE arguments that subcommands share: what they name, how they are opened, and reading them whole."""

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
from ..base.record_format import DETECTION_BYTES
from ..base.threads import default_threads
from ..base.workers import Workers
from ..errors import DataLossError, InvalidArgumentError
from ..files.naming.compression import COMPRESSION_TYPES
from ..files.naming.formats import HEAD_BYTES, NO_TFRECORD, explained, head_of
from ..files.naming.location import shown_name
from ..files.stores import StoreSettings, read_range
from ..files.stores.objects import StoredObject
from ..files.streams.core_files import DEFAULT_SETTINGS, CoreFile, core_files
from ..files.streams.fetching import open_stream
from .console import Console
from .folders import files_of

__all__ = [
    "FAULTS",
    "Input",
    "Problem",
    "add_file_arguments",
    "add_store_arguments",
    "batches",
    "for_each_file",
    "index_beside",
    "is_whole",
    "named_files",
    "open_input",
    "problem_of",
    "storage_options",
    "total_bytes",
]

T = TypeVar("T")

_TELLING = 512  # bytes, which tell what a file is, if it is no TFRecord file

_STDIN = CoreFile(b"<stdin>", lambda: open(0, "rb", buffering=0, closefd=False))

# What may be the file's fault; anything else is a bug in this program.
FAULTS = (DataLossError, OSError, ImportError)


def add_file_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE…, --compression, --json and --storage-option."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="path, folder, pattern, URL, or - for standard input")
    parser.add_argument(
        "--compression",
        default="auto",
        choices=["auto", "none", *(name.lower() for name in COMPRESSION_TYPES if name)],
        type=str.lower,
        help="how the files are compressed (default: auto, by each file's first bytes)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, one object per line")
    add_store_arguments(parser)


def add_store_arguments(parser: argparse.ArgumentParser) -> None:
    """--storage-option."""
    parser.add_argument(
        "--storage-option",
        action="append",
        default=[],
        dest="storage_options",
        metavar="NAME=VALUE",
        type=_storage_option,
        help="for the store of a URL, as region=eu-central-1; may be repeated (others can see a command line: better "
        "leave credentials to the environment)",
    )


def _storage_option(text: str) -> tuple[str, str | int | bool]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError("expected NAME=VALUE")  # without the text, which may be a credential
    if name == "part_bytes" and value.isdecimal():
        return name, int(value)
    return name, {"true": True, "false": False}.get(value.lower(), value)


def storage_options(args: argparse.Namespace) -> dict[str, str | int | bool] | None:
    """What --storage-option says; None: nothing."""
    return dict(args.storage_options) or None


@dataclass(frozen=True)
class Problem:
    """Why a file was not read to its end; offset and record index are None if not known."""

    reason: str
    offset: int | None = None
    record_index: int | None = None
    damage: bool = False  # else the file could not be read at all

    @property
    def status(self) -> int:
        """The exit status that it calls for."""
        return 1 if self.damage else 2

    @property
    def place(self) -> str:
        """The reason, and where."""
        if self.offset is None or self.record_index is None:
            return self.reason
        return f"{self.reason} (record {self.record_index} at byte {self.offset})"

    def as_json(self) -> dict[str, Any]:
        """`reason`, `offset`, `record_index`."""
        return {"reason": self.reason, "offset": self.offset, "record_index": self.record_index}


def problem_of(error: BaseException) -> Problem:
    """What one of FAULTS says."""
    if isinstance(error, DataLossError):
        is_foreign = error.reason.startswith(NO_TFRECORD)
        return Problem(error.reason, error.offset, error.record_index, damage=not is_foreign)
    if isinstance(error, OSError) and error.strerror:
        return Problem(error.strerror)
    return Problem(str(error))


def named_files(args: argparse.Namespace, console: Console) -> tuple[list[CoreFile], int]:
    """The files that FILE arguments name, globs resolved; and 2 if one names none (which is printed), else 0."""
    files: list[CoreFile] = []
    status = 0
    settings = StoreSettings(storage_options(args))
    for argument in args.files:
        try:
            if argument != "-" and os.path.isdir(argument):
                files += core_files([*files_of(argument)], settings)
            else:
                files += [_STDIN] if argument == "-" else core_files([argument], settings)
        except InvalidArgumentError as error:  # it has the name in it
            console.problem(str(error))
            status = 2
        except FAULTS as error:
            named = getattr(error, "filename", None)
            about = f"{os.fsdecode(named)}: " if named and os.fsdecode(named) != argument else ""
            console.problem(f"{shown_name(argument)}: {about}{problem_of(error).reason}")
            status = 2
        except ValueError as error:  # a NUL in it
            console.problem(str(error))
            status = 2
    return files, status


def total_bytes(files: list[CoreFile]) -> int | None:
    """The size of all files on disk; None if one has no size."""
    try:
        sizes = [os.stat(file.name).st_size for file in files if file.is_local]
    except OSError:
        return None
    return sum(sizes) if len(sizes) == len(files) else None


@dataclass(frozen=True)
class Input:
    """An opened file: its compression is known, its records are not read yet."""

    compression: str
    stored_bytes: int | None  # its size on disk; None for pipes and URLs
    core_file: CoreFile
    counts_itself: bool  # calls `advance` while it is read

    def head(self) -> tuple[bytes, int | None]:
        """The first bytes, of a stream those that have been read; and how many there are, if that is known."""
        reader = None if self.core_file.opener is None else self.core_file.opener()
        if isinstance(reader, _Reader):
            return reader.beginning(), self.stored_bytes
        found = self.core_file.object
        if isinstance(found, StoredObject) and found.size is not None:
            end = min(found.size, HEAD_BYTES)
            return bytes(read_range(found.store, found.key, 0, end, found.version)), found.size
        return head_of(os.fsdecode(self.core_file.name))


def open_input(file: CoreFile, choice: str, advance: Callable[[int], None] | None = None) -> Input:
    """Opens a file once, pipes included.

    Args:
      choice: --compression.
      advance: called with the number of stored bytes, as they are read, if the file is not read by the core alone.

    Raises:
      OSError, ImportError: it can't be opened.
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


def _open_object(file: CoreFile, found: StoredObject, choice: str) -> Input:
    info = found.store.info(found.key)
    found = found._replace(size=info.size, version=info.version)
    head = (
        b""
        if choice != "auto"
        else bytes(read_range(found.store, found.key, 0, min(DETECTION_BYTES, info.size), info.version))
    )
    compression = _core.detect_compression(head) if choice == "auto" else "" if choice == "none" else choice.upper()
    # Of a compressed object it is not known how many stored bytes a record took.
    return Input(compression, info.size, file._replace(object=found), counts_itself=compression != "")


class _Reader:
    """The stream that the core reads: first the bytes already taken from it, then the rest; it reports progress."""

    def __init__(self, head: bytes, stream: BinaryIO, advance: Callable[[int], None] | None) -> None:
        self._head = head
        self._stream = stream
        self._advance = advance
        self._seen = b""

    def beginning(self) -> bytes:
        """The first bytes; reads once more, if little has been read."""
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
    """All records, in batches as large as they come; an error comes after all records before it."""
    stream = open_stream(
        [source.core_file], DEFAULT_SETTINGS, compression_type=source.compression, num_threads=num_threads
    )
    frame_bytes = 8 + 4 + 4
    for batch in _explained(source, stream.batches()):
        yield batch
        if advance is not None and not source.counts_itself:
            advance(batch.nbytes + frame_bytes * len(batch))


def _explained(source: Input, made: Iterator[_core.RecordBatch]) -> Iterator[_core.RecordBatch]:
    """The batches; an error says what the file is, if it is no TFRecord file."""
    try:
        yield from made
    except DataLossError as error:
        if error.record_index or error.offset:
            raise
        raise explained(error, *source.head()) from None


def index_beside(path: str) -> str | None:
    """The index beside a local file, unless it is older: FILE.idx, or that of FILE without its ending; else None."""
    for name in (f"{path}.idx", f"{os.path.splitext(path)[0]}.idx"):
        with contextlib.suppress(OSError):
            if os.path.isfile(name) and os.stat(name).st_mtime_ns >= os.stat(path).st_mtime_ns:
                return name
    return None


def is_whole(offsets: NDArray[np.int64], sizes: NDArray[np.int64], stored_bytes: int) -> bool:
    """Whether an index has all records of an uncompressed file: else it is of another one, or of fewer records."""
    end = int(offsets[-1] + sizes[-1]) if len(offsets) else 0
    return end == int(sizes.sum()) == stored_bytes


class Cancelled(Exception):
    """The command was interrupted."""


def for_each_file(files: list[CoreFile], work: Callable[[CoreFile, int, Callable[[], None]], T]) -> Iterator[T]:
    """The results of `work(file, num_threads, checkpoint)` in the order of files, which are processed in parallel.

    `work` uses `num_threads` threads besides its own and calls `checkpoint` now and then, which raises if the
    command has been interrupted.
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
        # After an interrupt some thread may wait for a pipe: it is left until the process ends.
        workers.stop()
