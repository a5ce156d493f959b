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

__all__ = ["in_batches", "order_of", "records_of"]

_AT_LEAST = 512 << 10  # bytes of records that are parsed together
_PREFETCH_BYTES = 1 << 20  # of each of the files that are read at the same time


def records_of(
    pieces: Sequence[Piece], cycle_length: int, block_length: int, verify_crc: bool, settings: StoreSettings
) -> Iterator[RecordBatch]:
    """All records, as many at once as were read.

    Args:
      cycle_length, block_length: how many files are interleaved, and how many records are taken from each in turn.
      settings: of the stores of URLs.

    Raises:
      FileNotFoundError, OSError: a file can't be read.
      errors.DataLossError: a file is damaged, or has more or fewer records than dataset_info.json says.
    """
    if all(piece.take == piece.examples for piece in pieces):
        return _whole_files(pieces, cycle_length, block_length, verify_crc, settings)
    return _gathered(_interleaved(pieces, cycle_length, block_length, verify_crc, settings))


def in_batches(records: Iterator[RecordBatch], size: int) -> Iterator[RecordBatch]:
    """The same records, `size` at once; the last batch may be smaller."""
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
    """The interleaved order of records that are numbered piece after piece: int64 `[sum of takes]`."""
    if cycle_length == 1:
        return np.arange(sum(takes))
    ends = np.cumsum(takes)
    blocks = []
    for piece, first, count in _visits(takes, cycle_length, block_length):
        begin = int(ends[piece]) - takes[piece] + first
        blocks.append(np.arange(begin, begin + count))
    return np.concatenate(blocks)


def _visits(takes: Sequence[int], cycle_length: int, block_length: int) -> Iterator[tuple[int, int, int]]:
    """(piece, first record in it, how many), visit after visit."""
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
            # A piece ends where less is found than was asked for; the slot takes the next one at its next visit.
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
        _name_the_wrong_file(pieces, settings)
        raise DataLossError(None, None, None, f"the files don't have the {expected} records of dataset_info.json")


def _name_the_wrong_file(pieces: Sequence[Piece], settings: StoreSettings) -> None:
    for piece in pieces:
        for _ in _of_piece(piece, False, settings):
            pass


def _of_piece(piece: Piece, verify_crc: bool, settings: StoreSettings) -> Iterator[RecordBatch]:
    """The records of one piece; checks that the file has as many as it should, if it is read to its end."""
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
            raise _wrong_count(piece, f"at least {position}")
        kept = batch[max(piece.skip - first, 0) : max(end - first, 0)]
        if len(kept):
            yield kept
        if position > end:
            return
    if position < end:
        raise _wrong_count(piece, str(position))


def _wrong_count(piece: Piece, found: str) -> DataLossError:
    reason = f"dataset_info.json says that it has {piece.examples} records, it has {found}"
    return DataLossError(piece.file, None, None, reason)


def _interleaved(
    pieces: Sequence[Piece], cycle: int, block: int, verify_crc: bool, settings: StoreSettings
) -> Iterator[RecordBatch]:
    readers: dict[int, _Reader] = {}
    for piece, first, count in _visits([one.take for one in pieces], cycle, block):
        if first == 0:
            readers[piece] = _Reader(_of_piece(pieces[piece], verify_crc, settings))
        yield from readers[piece].take(count)
        if first + count == pieces[piece].take:
            yield from readers.pop(piece).rest()


class _Reader:
    """Takes as many records as are asked for."""

    def __init__(self, batches: Iterator[RecordBatch]) -> None:
        self._batches = batches
        self._batch: RecordBatch | None = None

    def take(self, count: int) -> Iterator[RecordBatch]:
        while count:
            batch = self._batch if self._batch is not None else next(self._batches)
            part = batch[:count]
            self._batch = batch[count:] if len(batch) > count else None
            count -= len(part)
            yield part

    def rest(self) -> Iterator[RecordBatch]:
        """Nothing: the end of the file is looked at."""
        yield from self._batches


def _gathered(parts: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    waiting: list[RecordBatch] = []
    size = 0
    for part in parts:
        waiting.append(part)
        size += part.nbytes
        if size >= _AT_LEAST:
            yield _core.concatenate(waiting)
            waiting, size = [], 0
    if waiting:
        yield _core.concatenate(waiting)
