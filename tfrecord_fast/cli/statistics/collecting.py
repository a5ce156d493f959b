"""One pass over files, by all threads, to the figures of what they hold.

Records are divided into units, by their number and bytes alone. Each unit has a collector of its own, and collectors
are merged in the order of the files: so the figures do not depend on the number of threads.
"""

from __future__ import annotations

import argparse
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ... import _core
from ...base.threads import default_threads
from ...base.workers import Pending, Workers
from ...errors import DataLossError
from ...files.names import CoreFile
from ..console import Console
from ..files import FAULTS, Problem, batches, open_input, problem_of, total_bytes

__all__ = ["Collected", "Shard", "collect"]

_UNIT_RECORDS = 1 << 16
_UNIT_BYTES = 32 << 20
_FIRST_RECORDS = 1 << 13  # of the first unit of all, from which the others learn what has too many values to be counted
_MOST_THREADS = 16  # that count; each has a unit in memory


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
        self.first: _core.StatsCollector | None = None
        self.threads = min(default_threads(), _MOST_THREADS)
        self._pool = Workers(self.threads, "tfrecord_fast stats")
        self._lock = threading.Lock()
        self.stop = threading.Event()
        # Units that are being filled or counted: what bounds the memory.
        self.room = threading.Semaphore(self.threads + 2)

    def count(self, unit: _Unit, collector: _core.StatsCollector) -> Pending[_core.StatsCollector]:
        """Has a unit counted by a thread of the pool."""
        with self._lock:
            return self._pool.submit(unit.count, collector)

    def end(self) -> None:
        """The threads end when they can."""
        self.stop.set()
        self._pool.stop()

    def collector(self, file: int, first_record: int) -> _core.StatsCollector:
        """For a unit, or for what units are merged into."""
        return _core.StatsCollector(file, first_record, self.columns, self.first)


def collect(files: list[CoreFile], args: argparse.Namespace, console: Console) -> Collected:
    """Reads the files to their ends, or to --limit; with a progress bar."""
    with console.progress(total_bytes(files)) as progress:
        run = _Run(args, progress.advance if progress.visible else None)
        made = Collected(run.collector(0, 0))
        try:
            for shard, collector in _in_order(files, run, args.limit):
                made.shards.append(shard)
                made.collector.merge(collector)
        finally:
            run.end()
        if run.first is not None:
            made.collector.merge(run.first)
    made.limited = args.limit is not None and made.records >= args.limit
    return made


def _in_order(files: list[CoreFile], run: _Run, limit: int | None) -> Iterator[tuple[Shard, _core.StatsCollector]]:
    """What each file has, in order; several files at a time, once the first unit is known."""
    left = limit
    number = 0
    while number < len(files) and (run.first is None or left is not None):
        if left == 0:
            return
        shard, collector = _read(number, files[number], run, left, max(0, run.threads - 1))
        yield shard, collector
        left = None if left is None else left - shard.records
        number += 1
    jobs = min(run.threads, len(files) - number)
    if jobs <= 0:
        return
    spare = max(0, run.threads // jobs - 1)
    readers = Workers(jobs, "tfrecord_fast files")
    try:
        waiting: deque[Pending[tuple[Shard, _core.StatsCollector]]] = deque()
        for one in range(number, len(files)):
            waiting.append(readers.submit(_read, one, files[one], run, None, spare))
            if len(waiting) > 2 * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        run.stop.set()
        readers.stop()


def _read(
    number: int, file: CoreFile, run: _Run, limit: int | None, num_threads: int
) -> tuple[Shard, _core.StatsCollector]:
    shard = Shard(os.fsdecode(file.name))
    collector = run.collector(number, 0)
    counted: deque[Pending[_core.StatsCollector]] = deque()
    try:
        source = open_input(file, run.compression, run.advance)
        shard.compression, shard.stored_bytes = source.compression, source.stored_bytes
        records = _counted(batches(source, num_threads, run.advance), shard, limit, run)
        for unit in _units(records, number, run):
            counted.append(unit)
            if len(counted) > run.threads:
                collector.merge(counted.popleft().result())
    except FAULTS as error:
        shard.problem = problem_of(error)
        if isinstance(error, DataLossError) and not shard.problem.damage:
            shard.compression = None
    while counted:
        collector.merge(counted.popleft().result())
    return shard, collector


def _counted(
    made: Iterator[_core.RecordBatch], shard: Shard, limit: int | None, run: _Run
) -> Iterator[tuple[_core.RecordBatch, np.ndarray[tuple[int], np.dtype[np.int64]]]]:
    """The batches, up to the limit, with their records' sizes."""
    for batch in made:
        if run.stop.is_set():
            raise _Stopped
        part = batch if limit is None else batch[: limit - shard.records]
        sizes = part.sizes
        shard.records += len(sizes)
        shard.payload_bytes += int(sizes.sum())
        yield part, sizes
        if shard.records == limit:
            return


def _units(
    records: Iterator[tuple[_core.RecordBatch, np.ndarray[tuple[int], np.dtype[np.int64]]]], number: int, run: _Run
) -> Iterator[Pending[_core.StatsCollector]]:
    """Units as they are counted. The first one of all is counted here, and kept for the end."""
    unit = _Unit(run)
    first_record = 0
    fault: BaseException | None = None
    try:
        for batch, sizes in records:
            start = 0
            while start < len(sizes):
                taken = unit.take(batch[start:], sizes[start:])
                start += taken
                if unit.full:
                    pending = unit.finish(number, first_record)
                    first_record += unit.records
                    unit = _Unit(run)
                    if pending is not None:
                        yield pending
    except FAULTS as error:  # comes after the records before it
        fault = error
    pending = unit.finish(number, first_record)
    if pending is not None:
        yield pending
    if fault is not None:
        raise fault


class _Unit:
    """Records that are counted together, on one thread."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._most = _UNIT_RECORDS if run.first is not None else _FIRST_RECORDS
        self._parts: list[_core.RecordBatch] = []
        self._bytes = 0
        self.records = 0

    @property
    def full(self) -> bool:
        return self.records >= self._most or self._bytes >= _UNIT_BYTES

    def take(self, batch: _core.RecordBatch, sizes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
        """Takes the batch's first records, up to what makes the unit full; returns how many."""
        if not self._parts:
            self._run.room.acquire()
        within = np.searchsorted(np.cumsum(sizes), _UNIT_BYTES - self._bytes) + 1
        taken = int(min(len(sizes), self._most - self.records, within))
        self._parts.append(batch[:taken])
        self._bytes += int(sizes[:taken].sum())
        self.records += taken
        return taken

    def finish(self, number: int, first_record: int) -> Pending[_core.StatsCollector] | None:
        if not self._parts:
            return None
        collector = self._run.collector(number, first_record)
        if self._run.first is None:
            self._run.first = self.count(collector)
            return None
        return self._run.count(self, collector)

    def count(self, collector: _core.StatsCollector) -> _core.StatsCollector:
        """Gives the records to the collector, and lets go of them."""
        try:
            for part in self._parts:
                collector.add(part)
        finally:
            self._parts.clear()
            self._run.room.release()
        return collector
