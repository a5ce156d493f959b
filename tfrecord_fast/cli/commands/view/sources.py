"""Files whose records are reached by number: by their index, or, if they are compressed, by reading from the start.

Nothing here takes longer than its `deadline` (of time.monotonic), except to read what is asked for: `Waiting` says how
far things are, and the same call goes on later.
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
from numpy.typing import NDArray

from .... import _core
from ....errors import DataLossError, InvalidArgumentError
from ....files.indexing.index import RecordIndex
from ....files.stores import StoreSettings
from ....files.stores.objects import StoredObject
from ....files.streams.core_files import CoreFile
from ....files.streams.fetching import open_stream
from ....files.streams.random_access import Opened, open_random
from ...files import FAULTS, Input, batches, index_beside, is_whole, open_input, problem_of

__all__ = ["File", "Source", "Unreadable", "Waiting", "is_readable_again", "look_at"]

_FRAME = 8 + 4 + 4  # bytes around a record's data
_MOST_RECORD = 64 << 20  # bytes of one that is shown
_AT_ONCE = 256  # records that are looked through together,
_MOST_AT_ONCE = 16 << 20  # and their bytes
_KEPT = 64 << 20  # bytes of what was read last of a compressed file
_MOST_NOTES = 100


class Waiting(Exception):
    """It takes longer: says what is going on."""


class Unreadable(Exception):
    """A record, or a file, can't be read: says why."""


class Source(Protocol):
    """The records of a file that is open."""

    way: str  # how records are reached
    notes: list[str]  # the damage that was met

    def count(self) -> int | None:
        """How many records there are; None if that is not known yet."""

    def record(self, number: int, deadline: float) -> bytes:
        """One record; raises IndexError, Unreadable, Waiting."""

    def offset(self, number: int) -> int | None:
        """Where a record starts in its file, if that is known."""

    def forward(self, first: int, deadline: float) -> Iterator[tuple[int, _core.RecordBatch]]:
        """(number of the first, records) from `first` on; raises Waiting, and Unreadable with `number`."""

    def backward(self, end: int, deadline: float) -> Iterator[tuple[int, _core.RecordBatch]]:
        """The same from before `end` to the first, the last ones first."""


class File:
    """A file that may be shown; its index is made in a thread when a record is first asked for."""

    def __init__(self, core_file: CoreFile, compression: str, settings: StoreSettings) -> None:
        self.path = os.fsdecode(core_file.name)
        self._core_file = core_file
        self._choice = compression
        self._settings = settings
        self._lock = threading.Lock()  # guards `_thread`
        self._thread: threading.Thread | None = None
        self._done = threading.Event()
        self._source: Source | None = None  # these two are set before `_done`
        self._problem = ""

    def open_input(self) -> Input:
        """The file, opened once more."""
        return open_input(self._core_file, self._choice)

    def source(self, deadline: float) -> Source:
        """Its records.

        Raises:
          Waiting: it is still being opened.
          Unreadable: it can't be.
        """
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
            given = self.open_input()
            # What is no TFRecord file says so here.
            for _ in batches(given, num_threads=1):
                break
        except DataLossError as error:
            if problem_of(error).status != 1:
                self._problem = problem_of(error).place
        except FAULTS as error:
            self._problem = problem_of(error).place
        try:
            if not self._problem:
                self._source = _source_of(self.open_input(), self.open_input, self._settings)
        except FAULTS as error:
            self._problem = problem_of(error).place
        finally:
            self._problem = self._problem or "it can't be opened"
            self._done.set()


def is_readable_again(file: CoreFile) -> bool:
    """Whether it is a regular file, or an object; what does not exist is said to be one."""
    if file.object is not None:
        return True
    try:
        return file.opener is None and not stat.S_ISFIFO(mode := os.stat(file.name).st_mode) and not stat.S_ISCHR(mode)
    except OSError:
        return True


def look_at(file: File) -> str | None:
    """Why a file can't be shown, by its first records; None: it can."""
    try:
        for _ in batches(file.open_input(), num_threads=1):
            break
    except FAULTS as error:
        problem = problem_of(error)
        return None if problem.damage else problem.place
    return None


def _source_of(given: Input, again: Callable[[], Input], settings: StoreSettings) -> Source:
    file = given.core_file
    if given.compression:
        return _Streamed(again, settings, f"{given.compression}; records are reached by reading from the start")
    beside = index_beside(os.fsdecode(file.name)) if file.is_local else None
    if beside is not None:
        with contextlib.suppress(OSError, DataLossError, InvalidArgumentError):
            indexed = _Indexed(
                _opened(file, os.fsencode(beside), settings), f"records are reached by the index {beside}"
            )
            if indexed.fits(given.stored_bytes):
                return indexed
    try:
        return _Indexed(_opened(file, None, settings), "records are reached by an index made now")
    except DataLossError as error:
        return _intact(given, again, settings, error)


def _opened(file: CoreFile, index: _core.RecordIndex | bytes | None, settings: StoreSettings) -> Opened:
    found = file.object if isinstance(file.object, StoredObject) else None
    return open_random(
        [file.name], [index], settings, verify_crc=True, num_threads=1, max_record_bytes=None, objects=[found]
    )


def _intact(given: Input, again: Callable[[], Input], settings: StoreSettings, error: DataLossError) -> Source:
    """The records of a file some of whose headers are damaged, by where the others are."""
    stream = _intact_stream(given, settings)
    sizes = [np.zeros(0, np.int64), *(batch.sizes for batch in stream.batches())]
    lost = sorted(stream.take_skipped(), key=lambda one: one.offset)
    index = _index_of(np.concatenate(sizes), lost)
    if index is None:
        return _Streamed(again, settings, "damaged; records are reached by reading from the start")
    opened = _opened(given.core_file, _core.RecordIndex(index.offsets, index.sizes), settings)
    source = _Indexed(opened, "records are reached by an index of what is intact; damaged ones have no number")
    source.notes += _notes(lost) or [problem_of(error).place]
    return source


def _intact_stream(given: Input, settings: StoreSettings) -> _core.RecordStream:
    return open_stream(
        [given.core_file],
        settings,
        compression_type=given.compression,
        num_threads=1,
        on_corrupt="skip",
        max_record_bytes=max(_MOST_RECORD, 1 << 30),
    )


def _index_of(sizes: NDArray[np.int64], lost: list[_core.SkippedStretch]) -> RecordIndex | None:
    """Where records are that follow each other, but for what is lost; None if that does not come out even."""
    frames = sizes + _FRAME
    offsets = np.cumsum(frames) - frames
    for one in lost:
        if one.bytes is None:
            return None
        after = int(np.searchsorted(offsets, one.offset))  # the first record behind what is lost
        ends = int(offsets[after - 1] + frames[after - 1]) if after else 0
        if ends != one.offset:
            return None
        offsets[after:] += one.bytes
    return RecordIndex(offsets, frames)


def _notes(lost: list[_core.SkippedStretch]) -> list[str]:
    made = []
    for one in lost[:_MOST_NOTES]:
        size = "" if one.bytes is None else f", {one.bytes:,} bytes"
        made.append(f"at byte {one.offset:,}{size}: {one.reason}")
    return [*made, f"{len(lost) - _MOST_NOTES:,} more"] if len(lost) > _MOST_NOTES else made


class _Indexed:
    """The records of an uncompressed file, each of them at once."""

    def __init__(self, opened: Opened, way: str) -> None:
        self.way = way
        self.notes: list[str] = []
        self._reader = opened.reader
        self._offsets, self._sizes = opened.indexes[0].offsets(), opened.indexes[0].sizes()
        self._bytes = opened.bytes

    def fits(self, size: int | None) -> bool:
        """Whether the index has all records of a file of this size."""
        return size is None or is_whole(self._offsets, self._sizes, size)

    def count(self) -> int:
        return len(self._offsets)

    def offset(self, number: int) -> int:
        return int(self._offsets[number])

    def record(self, number: int, deadline: float) -> bytes:
        if not 0 <= number < len(self._offsets):
            raise IndexError(number)
        size = int(self._sizes[number]) - _FRAME
        if size > _MOST_RECORD:
            raise Unreadable(f"it has {size:,} bytes, and up to {_MOST_RECORD:,} are shown")
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
        """Some records; in place of each that is damaged or too large, none."""
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
    """The records of a file that is read from its start; what was read last is kept."""

    def __init__(self, again: Callable[[], Input], settings: StoreSettings, way: str) -> None:
        self.way = f"{way}; the last {_KEPT >> 20} MB are kept"
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
                raise Unreadable(f"it has {view.nbytes:,} bytes, and up to {_MOST_RECORD:,} are shown")
            return bytes(view)
        raise IndexError(number)

    def forward(self, first: int, deadline: float) -> Iterator[tuple[int, _core.RecordBatch]]:
        while True:
            found = self._batch_of(first, deadline)
            if found is None:
                return
            begin, batch = found
            for start in range(first - begin, len(batch), _AT_ONCE):
                yield begin + start, batch[start : start + _AT_ONCE]
            first = begin + len(batch)

    def backward(self, end: int, deadline: float) -> Iterator[tuple[int, _core.RecordBatch]]:
        while end > 0:
            found = self._batch_of(end - 1, deadline)
            if found is None:  # there are fewer records, and now it is known how many
                end = min(end - 1, self._count or 0)
                continue
            begin, batch = found
            for start in reversed(range(0, end - begin, _AT_ONCE)):
                yield begin + start, batch[start : min(start + _AT_ONCE, end - begin)]
            end = begin

    def _batch_of(self, number: int, deadline: float) -> tuple[int, _core.RecordBatch] | None:
        """The batch with a record; None: there are fewer."""
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
        while len(self._kept) > 1 and sum(one.nbytes for _, one in self._kept) > _KEPT:
            self._kept.popleft()

    def _note(self) -> None:
        for note in _notes(self._stream.take_skipped()):
            if note not in self.notes and len(self.notes) < _MOST_NOTES:
                self.notes.append(note)
