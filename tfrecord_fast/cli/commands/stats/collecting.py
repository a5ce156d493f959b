"""One pass over files, by all threads, to the figures of what they hold.

Records are divided into units, by their number and bytes alone. Each unit has a collector of its own, and collectors
are merged in the order of the files: so the figures do not depend on the number of threads.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue

import numpy as np
import numpy.typing as npt

from .... import _core
from ....base.threads import default_threads
from ....base.workers import NoThreadError, Workers
from ....errors import DataLossError
from ....files.streams.core_files import CoreFile
from ...console import Console
from ...files import FAULTS, Problem, batches, open_input, problem_of, total_bytes
from .figures import Feature, Repeated, features_of

__all__ = ["Collected", "Shard", "collect"]

_UNIT_RECORDS = 1 << 16
_UNIT_BYTES = 32 << 20
_FIRST_RECORDS = 1 << 12  # of the first unit of all, from which the others learn what has too many values to be counted
_MOST_THREADS = 16  # that count; each has a unit in memory


Sizes = npt.NDArray[np.int64]
_Sized = tuple[_core.RecordBatch, Sizes]  # records, and the bytes of each


@dataclass
class Shard:
    """What a file has: all of it, or what precedes the problem."""

    path: str
    compression: str | None = None  # None for a file that could not be opened
    stored_bytes: int | None = None
    records: int = 0
    payload_bytes: int = 0
    problem: Problem | None = None


@dataclass
class Collected:
    """The figures of some files together, and what each file has."""

    collector: _core.StatsCollector
    shards: list[Shard] = field(default_factory=list)
    limited: bool = False  # there may be more records than were looked at
    _repeats: Future[_core.RepeatFigures] | None = None

    def compare(self) -> None:
        """Has records compared with each other while other figures are made. When all files are read."""
        comparing = Workers(1, "tfrecord_fast repeats")
        with contextlib.suppress(NoThreadError):
            self._repeats = comparing.submit(self.collector.repeated)
            comparing.end()

    @functools.cached_property
    def features(self) -> tuple[list[Feature], list[Feature]]:
        """Those of Examples or contexts, and the feature lists; each sorted by name. To be asked for at the end."""
        return features_of(self.collector)

    @functools.cached_property
    def repeats(self) -> _core.RepeatFigures:
        """What the core says of records that are the same as others. To be asked for at the end."""
        return self.collector.repeated() if self._repeats is None else self._repeats.result()

    @property
    def repeated(self) -> Repeated:
        """How many records are the same as others."""
        return Repeated.of(self.repeats, self.records)

    @property
    def records(self) -> int:
        """Of all files."""
        return sum(shard.records for shard in self.shards)

    @property
    def status(self) -> int:
        """The exit status that the files call for."""
        return max((shard.problem.status for shard in self.shards if shard.problem is not None), default=0)


class _Stopped(Exception):
    """The command was interrupted."""


class _Run:
    """What the threads share."""

    def __init__(self, args: argparse.Namespace, advance: Callable[[int], None] | None) -> None:
        self.compression: str = args.compression
        self.columns = [name.encode("utf-8", "surrogateescape") for name in args.columns or ()]
        self.advance = advance
        self.hints: _core.StatsHints | None = None  # of the first unit, once it is counted
        self.known_or_read: SimpleQueue[None] = SimpleQueue()  # when the hints are known, and when a file is read
        self.threads = min(default_threads(), _MOST_THREADS)
        self._pool = Workers(self.threads, "tfrecord_fast stats")
        self._lock = threading.Lock()
        self._reading = 0  # files
        self.stop = threading.Event()
        # Units that are being filled or counted: what bounds the memory.
        self.room = threading.Semaphore(self.threads + 2)

    def count(self, unit: _Unit) -> Future[_core.StatsCollector] | None:
        """Has a unit counted by a thread of the pool; None if the system has no threads."""
        self.room.acquire()
        try:
            with self._lock:
                return self._pool.submit(unit.count)
        except NoThreadError:
            self.room.release()
            return None

    @property
    def is_busy(self) -> bool:
        """Whether each thread has a file of its own: then what it has read is in its cache, and nobody waits for it."""
        return self._reading >= self.threads

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """While a thread reads a file."""
        with self._lock:
            self._reading += 1
        try:
            yield
        finally:
            with self._lock:
                self._reading -= 1

    def end(self) -> None:
        """The threads end when they can."""
        self.stop.set()
        self._pool.stop()

    def collector(self, file: int, first_record: int) -> _core.StatsCollector:
        """For a unit, or for what units are merged into."""
        return _core.StatsCollector(file, first_record, self.columns, self.hints)


def collect(files: list[CoreFile], args: argparse.Namespace, console: Console) -> Collected:
    """Reads the files to their ends, or to --limit; with a progress bar."""
    with console.progress(total_bytes(files)) as progress:
        run = _Run(args, progress.advance if progress.visible else None)
        made = Collected(run.collector(0, 0))
        whole = None
        try:
            for shard, collector in _in_order(files, run, args.limit):
                made.shards.append(shard)
                whole = _joined(whole, collector)
        finally:
            run.end()
        made.collector = whole or made.collector
    made.compare()
    made.limited = args.limit is not None and made.records >= args.limit
    return made


def _joined(whole: _core.StatsCollector | None, part: _core.StatsCollector | None) -> _core.StatsCollector | None:
    """Both together, as the first one."""
    if whole is None or part is None:
        return whole or part
    whole.merge(part)
    return whole


def _in_order(
    files: list[CoreFile], run: _Run, limit: int | None
) -> Iterator[tuple[Shard, _core.StatsCollector | None]]:
    """What each file has, in order; several files at a time, once the first unit is known."""
    if limit is not None or run.threads == 1:
        yield from _one_by_one(files, run, limit)
        return
    jobs = max(1, min(run.threads, len(files)))
    spare = run.threads // jobs - 1
    readers = Workers(jobs, "tfrecord_fast files")
    try:
        waiting: deque[Future[tuple[Shard, _core.StatsCollector | None]]] = deque()
        for number, file in enumerate(files):
            is_first = run.hints is None
            try:
                waiting.append(readers.submit(_read, number, file, run, None, spare))
            except NoThreadError:  # not even one
                yield from _one_by_one(files, run, limit)
                return
            if is_first:
                run.known_or_read.get()
            if len(waiting) > 2 * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        run.stop.set()
        readers.stop()


def _one_by_one(
    files: list[CoreFile], run: _Run, limit: int | None
) -> Iterator[tuple[Shard, _core.StatsCollector | None]]:
    left = limit
    for number, file in enumerate(files):
        if left == 0:
            return
        shard, collector = _read(number, file, run, left, run.threads - 1)
        yield shard, collector
        left = None if left is None else left - shard.records


def _read(
    number: int, file: CoreFile, run: _Run, limit: int | None, num_threads: int
) -> tuple[Shard, _core.StatsCollector | None]:
    with run.reading():
        return _read_whole(number, file, run, limit, num_threads)


def _read_whole(
    number: int, file: CoreFile, run: _Run, limit: int | None, num_threads: int
) -> tuple[Shard, _core.StatsCollector | None]:
    shard = Shard(os.fsdecode(file.name))
    collector: _core.StatsCollector | None = None
    counted: deque[Future[_core.StatsCollector]] = deque()
    try:
        source = open_input(file, run.compression, run.advance)
        shard.compression, shard.stored_bytes = source.compression, source.stored_bytes
        records = _counted(batches(source, num_threads, run.advance), shard, limit, run)
        for unit in _units(records, number, run):
            counted.append(unit)
            if len(counted) > run.threads:
                collector = _joined(collector, counted.popleft().result())
    except FAULTS as error:
        shard.problem = problem_of(error)
        if isinstance(error, DataLossError) and not shard.problem.damage:
            shard.compression = None
    finally:
        run.known_or_read.put(None)
    while counted:
        collector = _joined(collector, counted.popleft().result())
    return shard, collector


def _counted(made: Iterator[_core.RecordBatch], shard: Shard, limit: int | None, run: _Run) -> Iterator[_Sized]:
    """The batches, up to the limit, with their records' sizes."""
    for batch in made:
        if run.stop.is_set():
            raise _Stopped
        part = batch if limit is None else batch[: limit - shard.records]
        sizes = part.sizes
        shard.records += len(sizes)
        shard.payload_bytes += part.nbytes
        yield part, sizes
        if shard.records == limit:
            return


def _units(records: Iterator[_Sized], number: int, run: _Run) -> Iterator[Future[_core.StatsCollector]]:
    """Units as they are counted, which begins with their first records."""
    unit = _Unit(run, number, 0)
    fault: BaseException | None = None
    try:
        for batch, sizes in records:
            start = 0
            while start < len(sizes):
                start += unit.take(batch[start:], sizes[start:])
                if unit.full:
                    yield from unit.finish()
                    unit = _Unit(run, number, unit.first_record + unit.records)
    except FAULTS as error:  # comes after the records before it
        fault = error
    finally:
        unit.end()
    yield from unit.finish()
    if fault is not None:
        raise fault


class _Unit:
    """Records that are counted together: by this thread, if all others are busy, else by one of the pool."""

    def __init__(self, run: _Run, number: int, first_record: int) -> None:
        self._run = run
        self._is_first = run.hints is None
        self._is_here = self._is_first or run.is_busy
        self._most = _FIRST_RECORDS if self._is_first else _UNIT_RECORDS
        self._collector = run.collector(number, first_record)
        self._parts: SimpleQueue[_core.RecordBatch | None] = SimpleQueue()
        self._pending: Future[_core.StatsCollector] | None = None
        self._bytes = 0
        self.first_record = first_record
        self.records = 0

    @property
    def full(self) -> bool:
        return self.records >= self._most or self._bytes >= _UNIT_BYTES

    def take(self, batch: _core.RecordBatch, sizes: Sizes) -> int:
        """Takes the batch's first records, up to what makes the unit full; returns how many."""
        taken, taken_bytes = len(sizes), batch.nbytes
        if self.records + taken > self._most or self._bytes + taken_bytes > _UNIT_BYTES:
            within = np.searchsorted(np.cumsum(sizes), _UNIT_BYTES - self._bytes) + 1
            taken = int(min(taken, self._most - self.records, within))
            taken_bytes = int(sizes[:taken].sum())
        self._bytes += taken_bytes
        self.records += taken
        if self._is_here:
            self._collector.add(batch[:taken])
            return taken
        if self._pending is None:
            self._pending = self._run.count(self)
        if self._pending is None:
            self._is_here = True
            self._collector.add(batch[:taken])
        else:
            self._parts.put(batch[:taken])
        return taken

    def end(self) -> None:
        """There are no more records."""
        self._parts.put(None)

    def finish(self) -> Iterator[Future[_core.StatsCollector]]:
        """What the unit gives, unless it has no records."""
        self.end()
        if not self.records:
            return
        if self._is_first:
            self._run.hints = self._collector.hints()
            self._run.known_or_read.put(None)
        if self._pending is None:
            self._pending = Future()
            self._pending.set_result(self._collector)
        yield self._pending

    def count(self) -> _core.StatsCollector:
        """Gives the records to the collector as they come."""
        try:
            while (part := self._parts.get()) is not None:
                self._collector.add(part)
        finally:
            self._run.room.release()
        return self._collector
