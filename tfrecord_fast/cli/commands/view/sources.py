"""Files whose records are read by number: by index or, if compressed, by reading from the start.

Every call returns by its `deadline` (of time.monotonic), except that it may finish reading a record. `Waiting` reports
the progress; the same call continues later.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from .... import _core
from ....base.record_format import FRAME_BYTES
from ....errors import DataLossError, InvalidArgumentError
from ....files.naming.location import Location, location_of
from ....files.stores import StoreSettings
from ....files.stores.objects import StoredObject
from ....files.streams.core_files import CoreFile
from ....files.streams.fetching import open_stream
from ....files.streams.random_access import Opened, open_random
from ...files import FAULTS, Input, batches, index_beside, is_whole, open_input, problem_of

_MOST_RECORD = 64 << 20  # bytes of one that is shown
_AT_ONCE = 256  # records that are searched together,
_MOST_AT_ONCE = 16 << 20  # and their bytes
_KEPT = 64 << 20  # bytes of a compressed file that are cached
_MOST_NOTES = 100


class Waiting(Exception):
    """The deadline has passed; the message reports the progress."""


class Unreadable(Exception):
    """A record or a file can't be read."""


class Source(Protocol):
    """The records of a file that is open."""

    way: str  # how records are read
    notes: list[str]  # the damage found

    def count(self) -> int | None:
        """Return the number of records, or None if it is not known yet."""

    def record(self, number: int, deadline: float) -> bytes:
        """Return one record; raises IndexError, Unreadable, Waiting."""

    def offset(self, number: int) -> int | None:
        """Return the offset of a record in its file, if known."""

    def forward(self, first: int, deadline: float) -> Iterator[tuple[int, _core.RecordBatch]]:
        """Yield (number of the first, records) from `first` on; raises Waiting and Unreadable."""

    def backward(self, end: int, deadline: float) -> Iterator[tuple[int, _core.RecordBatch]]:
        """Yield (number of the first, records) before `end`, the last ones first."""


class File:
    """A file to show. Its index is created in a thread on the first request for a record."""

    def __init__(self, core_file: CoreFile, compression: str, settings: StoreSettings) -> None:
        self.path = os.fsdecode(core_file.name)
        self._core_file = core_file
        self._choice = compression
        self._settings = settings
        self._lock = threading.Lock()  # guards `_thread`
        self._thread: threading.Thread | None = None
        self._done = threading.Event()
        self._source: Source | None = None  # these two are set before `_done`
        self._problem = "the file can't be opened"

    def open_input(self) -> Input:
        return open_input(self._core_file, self._choice)

    def source(self, deadline: float) -> Source:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._open, name="tfrecord_fast view", daemon=True)
                self._thread.start()
        if not self._done.wait(max(0.0, deadline - time.monotonic())):
            raise Waiting("The records are being counted …")
        if self._source is None:
            raise Unreadable(self._problem)
        return self._source

    def _open(self) -> None:
        try:
            problem = look_at(self)  # the file may have changed since the command began
            if problem is None:
                self._source = _source_of(self.open_input(), self.open_input, self._settings)
            else:
                self._problem = problem
        except FAULTS as error:
            self._problem = problem_of(error).place
        finally:
            self._done.set()


def is_readable_again(file: CoreFile) -> bool:
    """Return True for regular files and objects, and for missing files, which are reported later."""
    if file.object is not None:
        return True
    try:
        return file.opener is None and not stat.S_ISFIFO(mode := os.stat(file.name).st_mode) and not stat.S_ISCHR(mode)
    except OSError:
        return True


def look_at(file: File) -> str | None:
    """Return why a file can't be shown, or None; reads the first records."""
    try:
        for _ in batches(file.open_input(), num_threads=1):
            break
    except FAULTS as error:
        problem = problem_of(error)
        return None if problem.damage else problem.place
    return None


def _source_of(source: Input, again: Callable[[], Input], settings: StoreSettings) -> Source:
    file = source.core_file
    if source.compression:
        return _Streamed(again, settings, f"{source.compression}; records are read from the start")
    beside = index_beside(os.fsdecode(file.name)) if file.is_local else None
    if beside is not None:
        with contextlib.suppress(OSError, DataLossError, InvalidArgumentError):
            indexed = _Indexed(_opened(file, location_of(beside), settings), f"records are read by the index {beside}")
            if indexed.fits(source.stored_bytes):
                return indexed
    try:
        return _Indexed(_opened(file, None, settings), "records are read by an index in memory")
    except DataLossError:  # an index needs intact headers
        return _Streamed(again, settings, "damaged; records are read from the start")


def _opened(file: CoreFile, index: Location | None, settings: StoreSettings) -> Opened:
    stored = file.object if isinstance(file.object, StoredObject) else None
    return open_random(
        [Location(os.fsdecode(file.name), stored is not None)],
        [index],
        settings,
        verify_crc=True,
        num_threads=1,
        max_record_bytes=None,
        objects=[stored],
    )


def _intact_stream(source: Input, settings: StoreSettings) -> _core.RecordStream:
    return open_stream(
        [source.core_file],
        settings,
        compression_type=source.compression,
        num_threads=1,
        on_corrupt="skip",
        max_record_bytes=max(_MOST_RECORD, 1 << 30),
    )


def _notes(lost: list[_core.SkippedStretch]) -> list[str]:
    notes = []
    for stretch in lost[:_MOST_NOTES]:
        size = "" if stretch.bytes is None else f", {stretch.bytes:,} bytes"
        notes.append(f"at byte {stretch.offset:,}{size}: {stretch.reason}")
    return [*notes, f"{len(lost) - _MOST_NOTES:,} more"] if len(lost) > _MOST_NOTES else notes


class _Indexed:
    """The records of an uncompressed file, by index."""

    def __init__(self, opened: Opened, way: str) -> None:
        self.way = way
        self.notes: list[str] = []
        self._reader = opened.reader
        self._offsets, self._sizes = opened.indexes[0].offsets(), opened.indexes[0].sizes()

    def fits(self, size: int | None) -> bool:
        return size is None or is_whole(self._offsets, self._sizes, size)

    def count(self) -> int:
        return len(self._offsets)

    def offset(self, number: int) -> int:
        return int(self._offsets[number])

    def record(self, number: int, deadline: float) -> bytes:
        if not 0 <= number < len(self._offsets):
            raise IndexError(number)
        size = int(self._sizes[number]) - FRAME_BYTES
        if size > _MOST_RECORD:
            raise Unreadable(f"the record has {size:,} bytes; at most {_MOST_RECORD:,} can be shown")
        try:
            return self._reader.record(number)
        except (DataLossError, OSError) as error:
            raise Unreadable(problem_of(error).reason) from None

    def forward(self, first: int, deadline: float) -> Iterator[tuple[int, _core.RecordBatch]]:
        while first < len(self._offsets):
            sizes = self._sizes[first : first + _AT_ONCE]
            count = max(1, int(np.searchsorted(np.cumsum(sizes), _MOST_AT_ONCE)))
            yield from self._together(first, min(count, len(sizes)))
            first += min(count, len(sizes))

    def backward(self, end: int, deadline: float) -> Iterator[tuple[int, _core.RecordBatch]]:
        end = min(end, len(self._offsets))
        while end > 0:
            sizes = self._sizes[max(0, end - _AT_ONCE) : end][::-1]
            count = min(max(1, int(np.searchsorted(np.cumsum(sizes), _MOST_AT_ONCE))), len(sizes))
            yield from reversed([*self._together(end - count, count)])
            end -= count

    def _together(self, first: int, count: int) -> Iterator[tuple[int, _core.RecordBatch]]:
        """Read records together; those that are damaged or too large are replaced by an empty batch."""
        try:
            if int(self._sizes[first]) <= _MOST_RECORD or count > 1:
                yield first, self._reader.take(np.arange(first, first + count))
                return
        except (DataLossError, OSError):
            pass
        if count == 1:
            yield first, self._reader.take(np.arange(0))
            return
        for number in range(first, first + count):
            yield from self._together(number, 1)


class _Streamed:
    """The records of a file that is read from the start; the last ones are cached."""

    def __init__(self, again: Callable[[], Input], settings: StoreSettings, way: str) -> None:
        self.way = f"{way}; the last {_KEPT >> 20} MB are cached"
        self.notes: list[str] = []
        self._again = again
        self._settings = settings
        self._count: int | None = None
        self._lock = threading.Lock()  # guards what follows
        self._start()

    def _start(self) -> None:
        self._stream = _intact_stream(self._again(), self._settings)
        self._batches = self._stream.batches()
        self._kept: deque[tuple[int, _core.RecordBatch]] = deque()
        self._next = 0

    def count(self) -> int | None:
        return self._count

    def offset(self, number: int) -> None:
        return None

    def record(self, number: int, deadline: float) -> bytes:
        if number < 0:
            raise IndexError(number)
        for first, batch in self.forward(number, deadline):
            view = batch.view(number - first)
            if view.nbytes > _MOST_RECORD:
                raise Unreadable(f"the record has {view.nbytes:,} bytes; at most {_MOST_RECORD:,} can be shown")
            return bytes(view)
        raise IndexError(number)

    def forward(self, first: int, deadline: float) -> Iterator[tuple[int, _core.RecordBatch]]:
        while True:
            entry = self._batch_of(first, deadline)
            if entry is None:
                return
            begin, batch = entry
            for start in range(first - begin, len(batch), _AT_ONCE):
                yield begin + start, batch[start : start + _AT_ONCE]
            first = begin + len(batch)

    def backward(self, end: int, deadline: float) -> Iterator[tuple[int, _core.RecordBatch]]:
        while end > 0:
            entry = self._batch_of(end - 1, deadline)
            if entry is None:  # there are fewer records, and now their number is known
                end = min(end - 1, self._count or 0)
                continue
            begin, batch = entry
            for start in reversed(range(0, end - begin, _AT_ONCE)):
                yield begin + start, batch[start : min(start + _AT_ONCE, end - begin)]
            end = begin

    def _batch_of(self, number: int, deadline: float) -> tuple[int, _core.RecordBatch] | None:
        """Return the batch with a record, or None if there are fewer records."""
        with self._lock:
            if self._count is not None and number >= self._count:
                return None
            if number < (self._kept[0][0] if self._kept else self._next):
                self._start()
            for begin, batch in self._kept:
                if begin <= number < begin + len(batch):
                    return begin, batch
            while self._next <= number:
                try:
                    batch = next(self._batches)
                except StopIteration:
                    self._count = self._next
                    self._note()
                    return None
                except FAULTS as error:
                    raise Unreadable(problem_of(error).place) from None
                self._note()
                self._keep(batch)
                if time.monotonic() > deadline and self._next <= number:
                    raise Waiting(f"Reading from the start: {self._next:,} records …")
            return self._kept[-1]

    def _keep(self, batch: _core.RecordBatch) -> None:
        if not len(batch):
            return
        self._kept.append((self._next, batch))
        self._next += len(batch)
        while len(self._kept) > 1 and sum(kept.nbytes for _, kept in self._kept) > _KEPT:
            self._kept.popleft()

    def _note(self) -> None:
        for note in _notes(self._stream.take_skipped()):
            if note not in self.notes and len(self.notes) < _MOST_NOTES:
                self.notes.append(note)
