"""take, skip and shard of a stream of records: on records, and on batches without making objects of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, compress, cycle, islice, repeat
from operator import length_hint
from typing import Any, NamedTuple

from ... import _core
from ...errors import FailedPreconditionError
from ...files.naming.signals import is_of_signal
from ...files.streams.records import after
from .turns import AnError, InTurn

__all__ = [
    "BatchesOfEpochs",
    "Window",
    "WindowedBatches",
    "WithLastRecords",
    "WithLead",
    "alone",
    "windowed_records",
]

_SHORT = 1000  # steps for which a pattern is kept


class Window(NamedTuple):
    """The elements start, start + step, … below stop of a sequence."""

    start: int
    stop: int | None
    step: int


def windowed_records(records: Iterator[bytes], windows: tuple[Window, ...]) -> Iterator[bytes]:
    """The records that pass every window, one after the other; threads may share them, unlike an islice.

    An islice would also end with what a signal's handler raises.
    """
    if any(window.step != 1 for window in windows):
        for window in windows:
            records = _every(after(_first(records, window.stop), window.start), window.step)
        return InTurn(records)
    start, stop = 0, None
    for window in windows:
        if window.stop is not None and (stop is None or start + window.stop < stop):
            stop = start + window.stop
        start += window.start
    if stop is not None and stop <= start:
        return iter(())
    return _first(_without(records, start), None if stop is None else stop - start)


def _without(records: Iterator[bytes], count: int) -> Iterator[bytes]:
    """Without the first `count`, which are read at once; if that fails, the error comes with the first `next()`."""
    try:
        next(islice(records, count, count), None)
    except Exception as error:
        if is_of_signal(error):
            raise
        return AnError(error)
    return records


def _every(records: Iterator[bytes], step: int) -> Iterator[bytes]:
    """The first of each `step` records."""
    if step == 1:
        return records
    if step <= _SHORT:
        return compress(records, cycle((True, *repeat(False, step - 1))))
    turns = zip(repeat((True,)), map(repeat, repeat(False), repeat(step - 1)), strict=False)
    return compress(records, chain.from_iterable(chain.from_iterable(turns)))


def _first(records: Iterator[bytes], count: int | None) -> Iterator[bytes]:
    """With no Python code for each: an empty dict gives back the default, which is the record."""
    if count is None:
        return records
    nothing: dict[Any, bytes] = {}
    given = repeat(True, count)
    # An error takes a turn that gives no record. There are others for it, until so many records have been given.
    turns = chain(repeat(None, count), iter(partial(length_hint, given), 0))
    return compress(map(nothing.get, turns, records), given)


class WindowedBatches(Iterator[_core.RecordBatch]):
    """The records that pass the windows, in batches of `size`; threads take turns (see InTurn).

    What a signal's handler raises, at any place, passes over nothing: each step changes what is kept all at once,
    after its last call.

    Args:
      batches: of the records before the windows, of any sizes.
    """

    def __init__(
        self, batches: Iterator[_core.RecordBatch], windows: tuple[Window, ...], size: int, drop_remainder: bool
    ) -> None:
        self._batches = batches
        self._windows = windows
        self._size = size
        self._drop_remainder = drop_remainder
        self._seen = (0,) * len(windows)  # how many records have come to each window
        self._uncut: _core.RecordBatch | None = None
        self._held: list[_core.RecordBatch] = []
        self._count = 0  # of the records held
        self._ended = any(window.stop is not None and window.stop <= window.start for window in windows)

    def __next__(self) -> _core.RecordBatch:
        while self._count < self._size and (self._uncut is not None or self._takes_another()):
            self._cut()
        if not self._count or (self._count < self._size and self._drop_remainder):
            raise StopIteration
        left = max(self._count - self._size, 0)
        parts, held = self._held, []
        if left:
            # Of the last one, not of what is joined: that would keep all before it alive, as would its own rest.
            last = parts[-1]
            parts, held = [*parts[:-1], last[:-left]], [last[-left:]]
        whole = parts[0] if len(parts) == 1 else _core.concatenate(parts)
        self._held, self._count = held, left
        return whole

    def _takes_another(self) -> bool:
        if self._ended:
            return False
        try:
            for batch in self._batches:  # not `next`: after a call, a signal could take the batch away
                self._uncut = batch
                return True
        except Exception as error:
            if _is_damage(error):
                self._ended, self._held, self._count = True, [], 0  # it takes the place of the last batch
            raise
        self._ended = True
        return False

    def _cut(self) -> None:
        """Adds what passes all windows."""
        batch, seen, ended = self._uncut, [], self._ended
        assert batch is not None
        for window, before in zip(self._windows, self._seen, strict=True):
            after = before + len(batch)
            batch = _cut(batch, window, before)
            seen.append(after)
            ended = ended or (window.stop is not None and after >= window.stop)
        held = [*self._held, batch] if len(batch) else self._held
        count = self._count + len(batch)
        now = tuple(seen)
        self._uncut, self._seen, self._ended, self._held, self._count = None, now, ended, held, count


def _cut(batch: _core.RecordBatch, window: Window, seen: int) -> _core.RecordBatch:
    """What passes the window, to which so many records have come before."""
    start, stop, step = window
    first = start - seen if seen < start else -(seen - start) % step
    last = len(batch) if stop is None else max(0, min(len(batch), stop - seen))
    return batch[first : max(first, last) : step]


class BatchesOfEpochs(Iterator[_core.RecordBatch]):
    """The batches of `count` epochs; if that is negative, of epochs without end, or up to one that is empty.

    Args:
      start: gives the batches of the next epoch, by the number of records that were given before.
    """

    def __init__(self, start: Callable[[int], Iterator[_core.RecordBatch]], count: int) -> None:
        self._start = start
        self._left = count
        self._given = 0  # without `_last`
        self._last: _core.RecordBatch | tuple[()] = ()
        self._current: Iterator[_core.RecordBatch] | None = None
        self._is_empty = False

    def __next__(self) -> _core.RecordBatch:
        given = self._given + len(self._last)
        self._given, self._last = given, ()
        while True:
            if self._current is None:
                if self._left == 0 or (self._left < 0 and self._is_empty):
                    raise StopIteration
                current = self._start(given)
                self._current, self._left, self._is_empty = current, self._left - 1, True
            for batch in self._current:  # not `next`: after a call, a signal could take the batch away
                self._is_empty, self._last = False, batch
                return batch
            self._current = None


class WithLead(Iterator[_core.RecordBatch]):
    """The batches of a stream, the first of which has `lead` records, so that it fills up one that was begun before.

    The others need not be cut then, and are parsed ahead.

    Args:
      stream: makes a stream, with its batch_size and state.
    """

    def __init__(self, stream: Callable[..., _core.RecordStream], lead: int, size: int) -> None:
        self._stream, self._size = stream, size
        first = stream(batch_size=lead)
        self._first: _core.RecordStream | None = first
        self._batches = first.batches()
        self._is_first = True

    def __next__(self) -> _core.RecordBatch:
        if not self._is_first and self._first is not None:
            batches = self._stream(batch_size=self._size, state=self._first.state()).batches()
            self._batches, self._first = batches, None
        for batch in self._batches:  # not `next`: after a call, a signal could take the batch away
            self._is_first = False
            return batch
        raise StopIteration


class WithLastRecords(Iterator[_core.RecordBatch]):
    """The batches; if one fails, the records before the damage, and then the error.

    Args:
      records_from: the records again, one by one, from a place on; called if `batches` raises.
    """

    def __init__(self, batches: Iterator[_core.RecordBatch], records_from: Callable[[int], Iterator[bytes]]) -> None:
        self._batches = batches
        self._records_from = records_from
        self._given = 0  # without `_last`
        self._last: _core.RecordBatch | tuple[()] = ()
        self._rest: Iterator[_core.RecordBatch] | None = None
        self._has_failed = False
        self._fault: Exception | None = None  # until it is raised

    def __next__(self) -> _core.RecordBatch:
        given = self._given + len(self._last)
        self._given, self._last = given, ()
        if not self._has_failed:
            try:
                for batch in self._batches:  # not `next`: after a call, a signal could take the batch away
                    self._last = batch
                    return batch
                raise StopIteration
            except Exception as error:
                if isinstance(error, StopIteration) or not _is_damage(error):
                    raise
                # It comes from the core. Its traceback is this frame only, which holds what keeps it.
                self._fault, self._has_failed = error.with_traceback(None), True
        if self._rest is None:
            self._rest = map(alone, self._records_from(given))
        for batch in self._rest:
            return batch
        fault, self._fault = self._fault, None
        if fault is None:
            raise StopIteration
        try:
            raise fault
        finally:
            del fault  # see AnError


def _is_damage(error: Exception) -> bool:
    """Whether an error of the stream is about its records, and not about a signal that has interrupted it."""
    return not is_of_signal(error) and not isinstance(error, FailedPreconditionError)


def alone(record: bytes) -> _core.RecordBatch:
    """A batch of one record."""
    return _core.record_batch([record])
