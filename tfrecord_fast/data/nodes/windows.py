"""take, skip and shard of a stream of records: on records, and on batches without making objects of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, repeat
from typing import NamedTuple

from ... import _core
from .turns import InTurn

__all__ = ["Window", "windowed_batches", "windowed_records", "with_last_records"]


class Window(NamedTuple):
    """The elements start, start + step, … below stop of a sequence."""

    start: int
    stop: int | None
    step: int


def windowed_records(records: Iterator[bytes], windows: tuple[Window, ...]) -> Iterator[bytes]:
    """The records that pass every window, one after the other; threads may share them, unlike an islice."""
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
    return _first(_after(records, start), None if stop is None else stop - start)


def _after(records: Iterator[bytes], count: int) -> Iterator[bytes]:
    """Without the first `count`, which are read at once; if that fails, the error comes with the first `next()`."""
    try:
        next(islice(records, count, count), None)
    except Exception as error:
        return map(_raised, [error])
    return records


def _raised(error: Exception) -> bytes:
    raise error


def _first(records: Iterator[bytes], count: int | None) -> Iterator[bytes]:
    """An empty dict gives back the default, which is each record, with no Python code."""
    nothing: dict[None, bytes] = {}
    return records if count is None else map(nothing.get, repeat(None, count), records)


def windowed_batches(
    batches: Iterator[_core.RecordBatch],
    windows: tuple[Window, ...],
    size: int,
    drop_remainder: bool,
    records_from: Callable[[int], Iterator[bytes]],
) -> Iterator[_core.RecordBatch]:
    """The records that pass the windows, in batches of `size`.

    Args:
      batches: of the records before the windows, of any sizes.
      records_from: the records again, one by one, from a place on; called if `batches` raises.
    """
    cutters = [_Cutter(window) for window in windows]
    held: list[_core.RecordBatch] = []
    count = 0
    for batch in with_last_records(batches, records_from):
        for cutter in cutters:
            batch = cutter.cut(batch)
        if len(batch):
            held.append(batch)
            count += len(batch)
        while count >= size:
            whole = held[0] if len(held) == 1 else _core.concatenate(held)
            yield whole if len(whole) == size else whole[:size]
            count -= size
            held = [whole[size:]] if count else []
        if any(cutter.ended for cutter in cutters):
            break
    if count and not drop_remainder:
        yield held[0] if len(held) == 1 else _core.concatenate(held)


class _Cutter:
    """Cuts a window out of batches that follow one another."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._seen = 0
        self.ended = window.stop is not None and window.stop <= window.start

    def cut(self, batch: _core.RecordBatch) -> _core.RecordBatch:
        start, stop, step = self._window
        if self._seen < start:
            first = start - self._seen
        else:
            first = -(self._seen - start) % step
        last = len(batch) if stop is None else max(0, min(len(batch), stop - self._seen))
        self._seen += len(batch)
        self.ended = stop is not None and self._seen >= stop
        return batch[first : max(first, last) : step]


def with_last_records(
    batches: Iterator[_core.RecordBatch], records_from: Callable[[int], Iterator[bytes]]
) -> Iterator[_core.RecordBatch]:
    """The batches; if one fails, the records before the damage, and then the error."""
    given = 0
    try:
        for batch in batches:
            given += len(batch)
            yield batch
        return
    except Exception as error:
        fault = error
    for record in records_from(given):
        yield _core.record_batch([record])
    raise fault
