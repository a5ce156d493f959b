"""The records of pieces of files, in the order in which TFDS interleaves them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ... import _core
from ..._core import RecordBatch
from ...errors import DataLossError
from ...files.stores import StoreSettings
from ...files.streams.core_files import stream_files
from ...files.streams.fetching import open_stream
from ...files.streams.records import record_stream
from .splits import Piece

_LEAST_BYTES = 512 << 10  # of records that are parsed together
_PREFETCH_BYTES = 1 << 20  # of each of the files that are read at the same time


def records_of(
    pieces: Sequence[Piece], cycle_length: int, block_length: int, verify_crc: bool, settings: StoreSettings
) -> Iterator[RecordBatch]:
    """Yield all records, in batches of any size.

    Args:
      cycle_length, block_length: the number of interleaved files, and the number of records from each in turn.
      settings: those of the stores of URLs.
    """
    if all(piece.take == piece.examples for piece in pieces):
        return _whole_files(pieces, cycle_length, block_length, verify_crc, settings)
    return _gathered(_interleaved(pieces, cycle_length, block_length, verify_crc, settings))


def in_batches(records: Iterator[RecordBatch], size: int) -> Iterator[RecordBatch]:
    """Yield the same records in batches of `size`; the last batch may be smaller."""
    waiting: list[RecordBatch] = []
    count = 0
    for batch in records:
        waiting.append(batch)
        count += len(batch)
        while count >= size:
            joined = _core.concatenate(waiting)
            yield joined[:size]
            waiting, count = [joined[size:]], count - size
    if count:
        yield _core.concatenate(waiting)


def order_of(takes: Sequence[int], cycle_length: int, block_length: int) -> npt.NDArray[np.int64]:
    """Return the interleaved order of records that are numbered piece by piece: int64 `[sum of takes]`."""
    if cycle_length == 1:
        return np.arange(sum(takes))
    ends = np.cumsum(takes)
    blocks = []
    for piece, first, count in _visits(takes, cycle_length, block_length):
        begin = int(ends[piece]) - takes[piece] + first
        blocks.append(np.arange(begin, begin + count))
    return np.concatenate(blocks)


def _visits(takes: Sequence[int], cycle_length: int, block_length: int) -> Iterator[tuple[int, int, int]]:
    """Yield (piece, its first record, number of records) for each visit."""
    coming = iter(range(len(takes)))
    slots: list[tuple[int, int] | None] = [None] * min(cycle_length, len(takes))
    left = len(takes)  # pieces that have not ended
    while left:
        for number, slot in enumerate(slots):
            piece, first = slot or (next(coming, -1), 0)
            if piece < 0:
                continue
            count = min(block_length, takes[piece] - first)
            if count:
                yield piece, first, count
            # A piece ends with a visit that finds fewer records; the slot takes the next piece at its next visit.
            slots[number] = (piece, first + count) if count == block_length else None
            left -= count != block_length


def _whole_files(
    pieces: Sequence[Piece], cycle: int, block: int, verify_crc: bool, settings: StoreSettings
) -> Iterator[RecordBatch]:
    stream = record_stream(
        [piece.file for piece in pieces],
        cycle_length=cycle,
        block_length=block,
        verify_crc=verify_crc,
        settings=settings,
    )
    expected = sum(piece.examples for piece in pieces)
    left = expected
    for batch in stream.batches():
        left -= len(batch)
        if left < 0:
            break
        yield batch
    if left:
        _raise_for_wrong_file(pieces, settings)
        raise DataLossError(None, None, None, f"the files don't have the {expected} records of dataset_info.json")


def _raise_for_wrong_file(pieces: Sequence[Piece], settings: StoreSettings) -> None:
    for piece in pieces:
        for _ in _piece_records(piece, False, settings):
            pass


def _piece_records(piece: Piece, verify_crc: bool, settings: StoreSettings) -> Iterator[RecordBatch]:
    """Yield the records of a piece. If the file is read to its end, check the number of its records."""
    stream = open_stream(
        stream_files([piece.file], settings),
        settings,
        verify_crc=verify_crc,
        num_threads=1,
        prefetch_bytes=_PREFETCH_BYTES,
    )
    position, end = 0, piece.skip + piece.take
    for batch in stream.batches():
        first, position = position, position + len(batch)
        if position > end and end == piece.examples:
            raise wrong_count(piece, f"at least {position}")
        kept = batch[max(piece.skip - first, 0) : max(end - first, 0)]
        if len(kept):
            yield kept
        if position > end:
            return
    if position < end:
        raise wrong_count(piece, str(position))


def wrong_count(piece: Piece, actual: str) -> DataLossError:
    reason = f"dataset_info.json expects {piece.examples} records, but it has {actual}"
    return DataLossError(piece.file, None, None, reason)


def _interleaved(
    pieces: Sequence[Piece], cycle: int, block: int, verify_crc: bool, settings: StoreSettings
) -> Iterator[RecordBatch]:
    readers: dict[int, _Reader] = {}
    for number, first, count in _visits([piece.take for piece in pieces], cycle, block):
        if first == 0:
            readers[number] = _Reader(_piece_records(pieces[number], verify_crc, settings))
        yield from readers[number].take(count)
        if first + count == pieces[number].take:
            yield from readers.pop(number).rest()


class _Reader:
    def __init__(self, batches: Iterator[RecordBatch]) -> None:
        self._batches = batches
        self._batch: RecordBatch | None = None

    def take(self, count: int) -> Iterator[RecordBatch]:
        while count:
            batch = self._batch if self._batch is not None else next(self._batches)
            taken = batch[:count]
            self._batch = batch[count:] if len(batch) > count else None
            count -= len(taken)
            yield taken

    def rest(self) -> Iterator[RecordBatch]:
        """Read to the end of the file, which checks its number of records. Yields nothing."""
        yield from self._batches


def _gathered(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    waiting: list[RecordBatch] = []
    size = 0
    for batch in batches:
        waiting.append(batch)
        size += batch.nbytes
        if size >= _LEAST_BYTES:
            yield _core.concatenate(waiting)
            waiting, size = [], 0
    if waiting:
        yield _core.concatenate(waiting)
