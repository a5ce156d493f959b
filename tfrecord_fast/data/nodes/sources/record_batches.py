"""take, skip and shard of a stream of records: on records, and on batches without making objects of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from .... import _core
from ....base.handlers import raised_by_handler
from ..base.turns import InTurn, Raising
from ..order.ordering import Window


def windowed_records(records: Iterator[bytes], windows: tuple[Window, ...]) -> Iterator[bytes]:
    """Return the records of a stream that pass every window, one after the other; threads may share the iterator."""
    if any(window.step != 1 for window in windows):
        for window in windows:
            records = islice(records, *window)
        return InTurn(records)
    start, stop = 0, None
    for window in windows:
        if window.stop is not None and (stop is None or start + window.stop < stop):
            stop = start + window.stop
        start += window.start
    if stop is not None and stop <= start:
        return iter(())
    return _core.Iteration(_without(records, start), -1 if stop is None else stop - start)


def _without(records: Iterator[bytes], count: int) -> Iterator[bytes]:
    """Skip the first `count` at once; if that fails, the error comes with the first `next()`."""
    try:
        next(islice(records, count, count), None)
    except Exception as error:
        return Raising(error)
    return records


class WindowedBatches(Iterator[_core.RecordBatch]):
    """The records that pass the windows, in batches of `size`; not to be shared by threads without InTurn.

    Args:
      batches: batches, of any sizes, of the records before the windows.
    """

    def __init__(
        self, batches: Iterator[_core.RecordBatch], windows: tuple[Window, ...], size: int, drop_remainder: bool
    ) -> None:
        self._batches = batches
        self._windows = windows
        self._size = size
        self._drop_remainder = drop_remainder
        self._seen = [0] * len(windows)  # records that have reached each window
        self._held: list[_core.RecordBatch] = []
        self._count = 0  # records held
        self._ended = any(window.stop is not None and window.stop <= window.start for window in windows)

    def __next__(self) -> _core.RecordBatch:
        while self._count < self._size and not self._ended:
            self._take_batch()
        if not self._count or (self._count < self._size and self._drop_remainder):
            raise StopIteration
        pieces, self._held = self._held, []
        self._count = max(self._count - self._size, 0)
        if self._count:
            # Cut the last batch before joining: a slice of the joined batch would keep all of it alive.
            last = pieces.pop()
            pieces.append(last[: -self._count])
            self._held.append(last[-self._count :])
        return pieces[0] if len(pieces) == 1 else _core.concatenate(pieces)

    def _take_batch(self) -> None:
        """Add the records of the next batch that pass all windows."""
        try:
            batch = next(self._batches)
        except StopIteration:
            self._ended = True
            return
        except Exception:
            self._ended, self._held, self._count = True, [], 0  # the error replaces the last batch
            raise
        for number, window in enumerate(self._windows):
            before = self._seen[number]
            after = self._seen[number] = before + len(batch)
            batch = _cut(batch, window, before)
            self._ended = self._ended or (window.stop is not None and after >= window.stop)
        if len(batch):
            self._held.append(batch)
            self._count += len(batch)


def _cut(batch: _core.RecordBatch, window: Window, seen: int) -> _core.RecordBatch:
    """Return the records that pass the window, which has seen `seen` records before."""
    start, stop, step = window
    first = start - seen if seen < start else -(seen - start) % step
    last = len(batch) if stop is None else max(0, min(len(batch), stop - seen))
    return batch[first : max(first, last) : step]


class BatchesOfEpochs(Iterator[_core.RecordBatch]):
    """The batches of `count` epochs; if negative, of endless epochs, up to one that is empty.

    Args:
      start: returns the batches of the next epoch, from the number of records yielded before.
    """

    def __init__(self, start: Callable[[int], Iterator[_core.RecordBatch]], count: int) -> None:
        self._start = start
        self._left = count
        self._yielded = 0  # records
        self._current: Iterator[_core.RecordBatch] | None = None
        self._is_empty = False

    def __next__(self) -> _core.RecordBatch:
        while True:
            if self._current is None:
                if self._left == 0 or (self._left < 0 and self._is_empty):
                    raise StopIteration
                self._current = self._start(self._yielded)
                self._left, self._is_empty = self._left - 1, True
            for batch in self._current:
                self._is_empty = False
                self._yielded += len(batch)
                return batch
            self._current = None


class WithLead(Iterator[_core.RecordBatch]):
    """The batches of a stream, the first with `lead` records, to complete a batch of the stream before.

    The others need no cut, and are parsed ahead.

    Args:
      stream: creates a stream from a batch_size and a state.
    """

    def __init__(self, stream: Callable[..., _core.RecordStream], lead: int, size: int) -> None:
        self._stream, self._size = stream, size
        first = stream(batch_size=lead)
        self._first: _core.RecordStream | None = first
        self._batches = first.batches()
        self._has_led = False

    def __next__(self) -> _core.RecordBatch:
        if self._has_led and self._first is not None:
            self._batches = self._stream(batch_size=self._size, state=self._first.state()).batches()
            self._first = None
        batch = next(self._batches)
        self._has_led = True
        return batch


class WithLastRecords(Iterator[_core.RecordBatch]):
    """The batches; if one fails, the records before the damage, then the error.

    Args:
      records_from: reads the records again, one by one, from a number on; called if `batches` raises.
    """

    def __init__(self, batches: Iterator[_core.RecordBatch], records_from: Callable[[int], Iterator[bytes]]) -> None:
        self._batches = batches
        self._records_from = records_from
        self._yielded = 0  # records
        self._rest: Iterator[_core.RecordBatch] | None = None  # once `batches` has raised
        self._fault: Exception | None = None  # until it is raised

    def __next__(self) -> _core.RecordBatch:
        if self._rest is None:
            try:
                batch = next(self._batches)
                self._yielded += len(batch)
                return batch
            except StopIteration:
                raise
            except Exception as error:
                if raised_by_handler(error):
                    raise
                self._fault = error
            self._rest = map(alone, self._records_from(self._yielded))
        for batch in self._rest:
            return batch
        fault, self._fault = self._fault, None
        if fault is None:
            raise StopIteration
        raise fault


def alone(record: bytes) -> _core.RecordBatch:
    return _core.record_batch([record])
