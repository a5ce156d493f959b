"""All records of all files in random order, read in large windows: a stream like the core's, for ShardReader.

A Permutation orders the record numbers of an epoch, and shard i of n has every n-th of them. A **window** of some MiB
is read at once: its numbers are sorted by file and offset, read in parallel, and put back in order. While one window is
yielded, other threads prepare the next two: part of that work is sequential.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...base.file_stamp import FileStamp
from ...base.handlers import raised_by_handler
from ...base.process import Origin
from ...base.ranks import Rank
from ...base.workers import NoThreadError, Workers
from ...errors import InvalidArgumentError
from ...examples.parsing.plans import ExamplePlan, SequencePlan
from ...examples.parsing.table_plan import TablePlan
from ...typing import PathLike
from ..naming.location import Location
from ..stores import StoreSettings
from ..streams.random_access import found_objects, open_random
from .iteration import Skipped

WINDOWS = 3  # in memory
_AT_ONCE = 1 << 14  # numbers that are permuted at once: they stay in a core's cache
_MOST_SORTED = 1 << 16  # records; the permutation of more is computed instead of stored
_ROUNDS = 6  # of the Feistel network
_GAMMA = 0x9E3779B97F4A7C15  # of SplitMix64
_MASK = (1 << 64) - 1


class RandomFiles:
    """Files for random access, opened on first use, and again if they have changed.

    The index takes 16 bytes per record. Pickles without it.
    """

    def __init__(self) -> None:
        self._stamps: object = None  # of the files when they were opened
        self._reader: _core.RandomReader | None = None
        self._origin = Origin()

    def open(
        self,
        locations: Sequence[Location],
        settings: StoreSettings,
        *,
        num_threads: int,
        verify_crc: bool,
        max_record_bytes: int | None,
        max_idle_bytes: int,
        index_cache: bool | PathLike,
    ) -> _core.RandomReader:
        """Find all records."""
        objects = found_objects(locations, settings)
        stamps = [
            (location, FileStamp.of(location.name)) if match is None else (location, match.size, match.version)
            for location, match in zip(locations, objects, strict=True)
        ]
        is_usable = self._origin.is_here() or not any(objects)  # a forked process lacks the fetching threads
        if self._reader is None or self._stamps != stamps or not is_usable:
            opened = open_random(
                locations,
                [None] * len(locations),
                settings,
                verify_crc=verify_crc,
                num_threads=num_threads,
                max_record_bytes=max_record_bytes,
                objects=objects,
                max_idle_bytes=max_idle_bytes,
                index_cache=index_cache,
            )
            # In this order, since copies of a reader share this object among threads and check the last fields first.
            self.mean_bytes = max(1, opened.bytes // max(1, len(opened.reader)))
            self._origin, self._reader, self._stamps = Origin(), opened.reader, stamps
            return opened.reader
        return self._reader

    def __reduce__(self) -> tuple[type[RandomFiles], tuple[()]]:
        return RandomFiles, ()


class ShuffleOrder(NamedTuple):
    """The arguments of ShardReader that determine the order of records."""

    batch_size: int
    drop_remainder: bool
    seed: int
    shard: Rank
    first: int  # epoch
    end: int  # epoch that the stream ends before; -1: none


def shuffle_order(order: dict[str, Any], first: int, end: int) -> ShuffleOrder:
    shard = Rank(*order["record_shard"])
    return ShuffleOrder(order["batch_size"], order["drop_remainder"], order["seed"], shard, first, end)


class GlobalShuffle:
    """Iterator over the batches of one iteration, parsed if there is a plan.

    Args:
      state: a result of `state()`; None begins with the first epoch.
      num_threads: with 1, the iterating thread does everything.
      window_bytes: approximate size of a window of records of `mean_bytes`.
    """

    def __init__(
        self,
        reader: _core.RandomReader,
        order: ShuffleOrder,
        state: dict[str, Any] | None,
        plan: ExamplePlan | SequencePlan | TablePlan | None,
        *,
        num_threads: int,
        window_bytes: int,
        mean_bytes: int,
    ) -> None:
        self._maker = _WindowMaker(reader, order, plan, num_threads)
        self._order = order
        self._size = len(reader)
        self._position = order.first * self._maker.per_epoch  # of the next record, counted from epoch 0
        if state is not None:
            if state["records"] != self._size or state["position"] > self._maker.per_epoch:
                raise ValueError("the saved state is of another reader: the number of records differs")
            self._position = state["epoch"] * self._maker.per_epoch + state["position"]
        batches = max(1, window_bytes // (mean_bytes * order.batch_size))
        self._window = min(batches, -(-self._size // order.batch_size)) * order.batch_size  # whole batches
        self._batches: list[_Batch] = []  # the rest of this window, last batch first
        self._ahead: deque[Future[list[_Batch]]] = deque()  # the windows after this one
        self._window_end = self._position  # of the last window requested
        self._failed = False
        self._skipped: list[Skipped] = []  # in the batches yielded so far
        self._lock, self._origin = threading.RLock(), Origin()
        self._workers: Workers | None = None
        if num_threads > 1:
            self._workers = Workers(WINDOWS - 1, "tfrecord_fast shuffle")
            weakref.finalize(self, self._workers.stop).atexit = False

    def batches(self) -> Iterator[Any]:
        return self

    columns = batches

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if not self._origin.is_here():
            raise ValueError("this reader was started by another process, of which this one is a fork")
        with self._lock:
            if not self._batches and not self._failed:
                self._take_window()
            if not self._batches or self._failed:
                raise StopIteration
            count, batch, error, skipped = self._batches.pop()
            if error is not None:
                self._failed = True
                self._batches.clear()
                raise error
            self._position += count
            self._skipped += skipped
            return batch

    def _take_window(self) -> None:
        while self._workers is not None and len(self._ahead) < WINDOWS - 1:
            begin, end = self._window_after(self._window_end)
            try:
                self._ahead.append(self._workers.submit(self._maker.make, begin, end))
                self._window_end = end
            except NoThreadError:
                self._workers = None
        if self._ahead:
            self._batches = self._ahead.popleft().result()
        else:
            begin, end = self._window_after(self._window_end)
            self._batches = self._maker.make(begin, end)
            self._window_end = end

    def _window_after(self, begin: int) -> tuple[int, int]:
        end = begin + self._window
        return begin, end if self._order.end < 0 else max(begin, min(end, self._order.end * self._maker.per_epoch))

    def state(self) -> dict[str, Any]:
        """Return the position after the batches yielded so far."""
        if not self._origin.is_here():
            raise ValueError("this reader was started by another process, of which this one is a fork")
        with self._lock:
            per_epoch = self._maker.per_epoch
            epoch, position = divmod(self._position, per_epoch) if per_epoch else (self._order.first, 0)
            return {"epoch": epoch, "position": position, "records": self._size}

    def take_skipped(self) -> list[Skipped]:
        """Return the records whose images can't be decoded; damage is an error."""
        skipped, self._skipped = self._skipped, []
        return skipped


class _Batch(NamedTuple):
    records: int
    value: Any  # records or columns
    error: Exception | None
    skipped: list[Skipped]


class _WindowMaker:
    """Reads windows. Has no reference to the stream, so that an unused stream is freed and stops its threads."""

    def __init__(
        self,
        reader: _core.RandomReader,
        order: ShuffleOrder,
        plan: ExamplePlan | SequencePlan | TablePlan | None,
        num_threads: int,
    ) -> None:
        self._reader = reader
        self._order = order
        self._plan = plan
        self._num_threads = num_threads
        self._permutation: tuple[int, Permutation] | None = None  # of the latest epoch
        index, shards = order.shard
        self.per_epoch = max(0, -(-(len(reader) - index) // shards))

    def make(self, begin: int, end: int) -> list[_Batch]:
        """Return the batches of records [begin, end) of the shard, counted from epoch 0, last batch first."""
        size = self._order.batch_size
        if self._order.drop_remainder:
            end -= (end - begin) % size
        if begin >= end or not self.per_epoch:
            return []
        numbers, epochs = self._numbers(begin, end), np.arange(begin, end) // self.per_epoch
        ranges = [(at, min(at + size, end - begin)) for at in range(0, end - begin, size)]
        batches: list[_Batch] = []
        try:
            window: _core.RecordBatch | None = self._reader.take(numbers)
        except Exception as error:
            if raised_by_handler(error):
                raise
            window = None  # damage in one of the batches, which are now read one by one
        for first, last in ranges:
            try:
                batch = self._reader.take(numbers[first:last]) if window is None else window[first:last]
                lost: list[Any] = []
                value = self._parsed(batch, epochs[first:last], lost)
                batches.append(_Batch(last - first, value, None, [Skipped(*fields) for fields in lost]))
            except Exception as error:
                batches.append(_Batch(last - first, None, error, []))
                break
        return batches[::-1]

    def _parsed(self, batch: _core.RecordBatch, epochs: NDArray[np.int64], lost: list[Any]) -> Any:
        plan = self._plan
        if plan is None:
            return batch
        columns: Any
        if isinstance(plan, ExamplePlan) and plan.has_images:
            columns = plan.core.parse_images(
                batch, self._num_threads, seed=self._order.seed, epochs=epochs.tolist(), lost=lost
            )
        else:
            columns = plan.core.parse(batch, self._num_threads)
        return (columns, batch) if plan.checks_rows else columns

    def _numbers(self, begin: int, end: int) -> NDArray[np.int64]:
        index, shards = self._order.shard
        numbers = np.empty(end - begin, np.int64)
        at = begin
        while at < end:
            epoch, first = divmod(at, self.per_epoch)
            last = min(first + _AT_ONCE, first + end - at, self.per_epoch)
            positions = np.arange(first, last) * shards + index
            numbers[at - begin : at - begin + last - first] = self._epoch_permutation(epoch).at(positions)
            at += last - first
        return numbers

    def _epoch_permutation(self, epoch: int) -> Permutation:
        known = self._permutation  # read once: another thread may be at another epoch
        if known is None or known[0] != epoch:
            known = self._permutation = epoch, Permutation(len(self._reader), self._order.seed, epoch)
        return known[1]


def check_options(order: dict[str, Any], options: dict[str, Any]) -> None:
    """Raise InvalidArgumentError for options that cannot be combined with `global_shuffle`."""
    allowed: dict[str, list[Any]] = {
        "shuffle_files": [False],
        "shuffle_buffer": [0],
        "cycle_length": [1],
        "shard_by": ["auto", "record"],
    }
    for name, values in allowed.items():
        if order[name] not in values:
            raise InvalidArgumentError(f"global_shuffle orders all records by itself: leave out {name}={order[name]!r}")
    if options["on_corrupt"] != "raise":
        raise InvalidArgumentError(f'global_shuffle needs on_corrupt="raise", got {options["on_corrupt"]!r}')


class Permutation:
    """A random permutation of range(size), which `seed` and `epoch` determine; size is below 2**62."""

    def __init__(self, size: int, seed: int, epoch: int) -> None:
        keys = _mixed(np.arange(_ROUNDS, dtype=np.uint64) + np.uint64(_start(seed, epoch)))
        self._table: NDArray[np.int64] | None = None
        if size <= _MOST_SORTED:
            all_keys = _mixed(np.arange(size, dtype=np.uint64) * np.uint64(_GAMMA) + keys[0])
            self._table = np.argsort(all_keys, kind="stable")
        else:
            self._network = _core.Permutation(size, keys.tolist())

    def at(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers at these positions, which are in [0, size)."""
        return self._network.at(positions) if self._table is None else self._table[positions]


def _start(seed: int, epoch: int) -> int:
    mixed_seed = _mixed(np.array([seed & _MASK], np.uint64))
    return int(_mixed(mixed_seed ^ _mixed(np.array([(epoch + 1) * _GAMMA & _MASK], np.uint64)))[0])


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Apply SplitMix64's output function to each value."""
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values
