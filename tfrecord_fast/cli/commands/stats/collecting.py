"""One pass over files, on all threads, that collects their statistics.

Records are divided into units by their numbers and bytes alone. Each unit has its own collector, and collectors are
merged in the order of the files, so that the figures do not depend on the number of threads.
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
from ...files import FAULTS, Totals, batches, open_input, problem_of, total_bytes
from .figures import Feature, Repeated, features_of

_UNIT_RECORDS = 1 << 16
_UNIT_BYTES = 32 << 20
_FIRST_RECORDS = 1 << 12  # of the first unit, which shows which features have too many values to be counted
_MOST_THREADS = 16  # each has a unit in memory


Sizes = npt.NDArray[np.int64]
_Sized = tuple[_core.RecordBatch, Sizes]  # records and their sizes in bytes


@dataclass
class Collected:
    """The figures of a set of files, and the totals of each file."""

    collector: _core.StatsCollector
    shards: list[Totals] = field(default_factory=list)
    limited: bool = False  # stopped at --limit: there may be more records
    _repeats: Future[_core.RepeatFigures] | None = None

    def compare(self) -> None:
        """Start to search for duplicates in a thread. Called after all files are read."""
        comparing = Workers(1, "tfrecord_fast repeats")
        with contextlib.suppress(NoThreadError):
            self._repeats = comparing.submit(self.collector.repeated)
            comparing.end()

    @functools.cached_property
    def features(self) -> tuple[list[Feature], list[Feature]]:
        """The features of Examples or contexts, and the feature lists, sorted by name. For use after reading."""
        return features_of(self.collector)

    @functools.cached_property
    def repeats(self) -> _core.RepeatFigures:
        """The core's figures of duplicate records. For use after reading."""
        return self.collector.repeated() if self._repeats is None else self._repeats.result()

    @property
    def repeated(self) -> Repeated:
        return Repeated.of(self.repeats, self.records)

    @property
    def records(self) -> int:
        return sum(shard.records for shard in self.shards)

    @property
    def status(self) -> int:
        return max((shard.problem.status for shard in self.shards if shard.problem is not None), default=0)


class _Stopped(Exception):
    """The command was interrupted."""


class _Run:
    """The state that the threads share."""

    def __init__(self, args: argparse.Namespace, advance: Callable[[int], None] | None) -> None:
        self.compression: str = args.compression
        self.columns = [name.encode("utf-8", "surrogateescape") for name in args.columns or ()]
        self.advance = advance
        self.hints: _core.StatsHints | None = None  # from the first unit, once it is counted
        self.known_or_read: SimpleQueue[None] = SimpleQueue()  # signals that the hints are known, or a file is read
        self.threads = min(default_threads(), _MOST_THREADS)
        self._pool = Workers(self.threads, "tfrecord_fast stats")
        self._lock = threading.Lock()
        self._reading = 0  # files
        self.stop = threading.Event()
        # Bounds the units that are being filled or counted, and so the memory.
        self.room = threading.Semaphore(self.threads)

    def count(self, unit: _Unit) -> Future[_core.StatsCollector] | None:
        """Count a unit in a thread of the pool; return None if no thread can be started."""
        self.room.acquire()
        try:
            with self._lock:
                return self._pool.submit(unit.count)
        except NoThreadError:
            self.room.release()
            return None

    @property
    def is_busy(self) -> bool:
        """True if each thread reads its own file: then counting in the same thread is best for the cache."""
        return self._reading >= self.threads

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        with self._lock:
            self._reading += 1
        try:
            yield
        finally:
            with self._lock:
                self._reading -= 1

    def end(self) -> None:
        """Stop the threads without waiting for them."""
        self.stop.set()
        self._pool.stop()

    def collector(self, file: int, first_record: int) -> _core.StatsCollector:
        return _core.StatsCollector(file, first_record, self.columns, self.hints)


def collect(files: list[CoreFile], args: argparse.Namespace, console: Console) -> Collected:
    """Read the files to their ends, or to --limit, with a progress bar."""
    with console.progress(total_bytes(files)) as progress:
        run = _Run(args, progress.advance if progress.visible else None)
        collected = Collected(run.collector(0, 0))
        whole = None
        try:
            for shard, collector in _in_order(files, run, args.limit):
                collected.shards.append(shard)
                whole = _joined(whole, collector)
        finally:
            run.end()
        collected.collector = whole or collected.collector
    collected.compare()
    collected.limited = args.limit is not None and collected.records >= args.limit
    return collected


def _joined(whole: _core.StatsCollector | None, next_one: _core.StatsCollector | None) -> _core.StatsCollector | None:
    """Merge a collector into `whole`; either may be None."""
    if whole is None or next_one is None:
        return whole or next_one
    whole.merge(next_one)
    return whole


def _in_order(
    files: list[CoreFile], run: _Run, limit: int | None
) -> Iterator[tuple[Totals, _core.StatsCollector | None]]:
    """Yield the totals of each file, in order; several files are read at a time once the first unit is counted."""
    if limit is not None or run.threads == 1:
        yield from _one_by_one(files, run, limit)
        return
    jobs = max(1, min(run.threads, len(files)))
    spare = run.threads // jobs - 1
    readers = Workers(jobs, "tfrecord_fast files")
    try:
        waiting: deque[Future[tuple[Totals, _core.StatsCollector | None]]] = deque()
        for number, file in enumerate(files):
            is_first = run.hints is None
            try:
                waiting.append(readers.submit(_read, number, file, run, None, spare))
            except NoThreadError:  # not even for the first file
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
) -> Iterator[tuple[Totals, _core.StatsCollector | None]]:
    left = limit
    for number, file in enumerate(files):
        if left == 0:
            return
        shard, collector = _read(number, file, run, left, run.threads - 1)
        yield shard, collector
        left = None if left is None else left - shard.records


def _read(
    number: int, file: CoreFile, run: _Run, limit: int | None, num_threads: int
) -> tuple[Totals, _core.StatsCollector | None]:
    with run.reading():
        return _read_whole(number, file, run, limit, num_threads)


def _read_whole(
    number: int, file: CoreFile, run: _Run, limit: int | None, num_threads: int
) -> tuple[Totals, _core.StatsCollector | None]:
    shard = Totals(os.fsdecode(file.name))
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


def _counted(
    record_batches: Iterator[_core.RecordBatch], shard: Totals, limit: int | None, run: _Run
) -> Iterator[_Sized]:
    """Yield batches up to the limit, with the sizes of their records."""
    for batch in record_batches:
        if run.stop.is_set():
            raise _Stopped
        taken = batch if limit is None else batch[: limit - shard.records]
        sizes = taken.sizes
        shard.records += len(sizes)
        shard.payload_bytes += taken.nbytes
        yield taken, sizes
        if shard.records == limit:
            return


def _units(records: Iterator[_Sized], number: int, run: _Run) -> Iterator[Future[_core.StatsCollector]]:
    """Yield units; counting starts with their first records."""
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
    except FAULTS as error:  # raised after the records before it
        fault = error
    finally:
        unit.end()
    yield from unit.finish()
    if fault is not None:
        raise fault


class _Unit:
    """Records that are counted together: by this thread if all others are busy, else by a thread of the pool."""

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
        """Take the first records of a batch until the unit is full; return their number."""
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
        self._parts.put(None)

    def finish(self) -> Iterator[Future[_core.StatsCollector]]:
        """Yield the pending collector, unless the unit has no records."""
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
        """Add records to the collector as they come."""
        try:
            while (batch := self._parts.get()) is not None:
                self._collector.add(batch)
        finally:
            self._run.room.release()
        return self._collector
