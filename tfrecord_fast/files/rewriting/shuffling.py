"""All records of any source in random order, in bounded memory.

Record i has the i-th random number of a seed, and the records are sorted by these numbers. So every order is equally
likely, and does not depend on memory or threads. Data that exceeds the memory is divided by the first bits of the
numbers into **piles** in unnamed files. Each pile is then sorted in memory; a pile that is too large is divided again.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ..streams.core_files import DEFAULT_SETTINGS, CoreFile
from ..streams.fetching import open_stream
from ..writing.writer import TFRecordWriter

_BITS = 6  # bits of a number that select its pile: 64 files are open, and as many more for each pile that is divided
_ALL_BITS = 64
_ROW_BYTES = 80  # bytes per record besides its data: views, numbers, their order
_MEMORY_SHARES = 3  # records that are read, records that are sorted, buffers of writers
_LEAST_BYTES = 1 << 20
_YIELDED = 4 << 20  # bytes that are yielded together

_Block = tuple[_core.RecordBatch, NDArray[np.uint64]]


def shuffled(
    batches: Iterable[_core.RecordBatch], seed: int, *, memory_bytes: int, folder: str | None = None
) -> Iterator[_core.RecordBatch]:
    """Yield the records in an order that the seed determines.

    Args:
      batches: all records, in a fixed order.
      seed: below 2**64.
      memory_bytes: approximate limit of memory. One record always fits.
      folder: the folder for the piles, which are as large as the records, and vanish at any end of the process. None:
        the folder for temporary files.
    """
    limit = max(memory_bytes // _MEMORY_SHARES, _LEAST_BYTES)
    yield from _sorted(_numbered(batches, seed), 0, limit, folder)


def _numbered(batches: Iterable[_core.RecordBatch], seed: int) -> Iterator[_Block]:
    random = np.random.PCG64(seed)
    for batch in batches:
        yield batch, random.random_raw(len(batch))


def _sorted(blocks: Iterator[_Block], level: int, limit: int, folder: str | None) -> Iterator[_core.RecordBatch]:
    """Sort blocks whose numbers agree in the first `level * _BITS` bits."""
    held: list[_Block] = []
    size = rows = 0
    for block in blocks:
        held.append(block)
        size, rows = size + _size(block), rows + len(block[0])
        if size > limit and rows > 1 and level * _BITS < _ALL_BITS:
            break
    else:
        yield from _in_order(held)
        return
    with contextlib.ExitStack() as stack:
        piles = _Piles(level, folder, stack)
        piles.add(held)
        held, size = [], 0
        for block in blocks:
            held.append(block)
            size += _size(block)
            if size > limit:
                piles.add(held)
                held, size = [], 0
        piles.add(held)
        held = []
        piles.finish()
        for pile in piles.piles:
            yield from _sorted(pile.blocks(), level + 1, limit, folder)
            pile.free()


def _size(block: _Block) -> int:
    return block[0].nbytes + _ROW_BYTES * len(block[0])


def _joined(held: list[_Block]) -> _Block:
    return _core.concatenate([records for records, _ in held]), np.concatenate([numbers for _, numbers in held])


def _in_order(held: list[_Block]) -> Iterator[_core.RecordBatch]:
    if not held:
        return
    records, numbers = _joined(held)
    order = np.argsort(numbers, kind="stable")
    # In batches, so that the caller can report progress.
    rows = max(1, len(records) * _YIELDED // max(1, records.nbytes + _ROW_BYTES * len(records)))
    for first in range(0, len(order), rows):
        yield _core.take_rows(records, order[first : first + rows])


class _Piles:
    def __init__(self, level: int, folder: str | None, stack: contextlib.ExitStack) -> None:
        self._shift = max(0, _ALL_BITS - (level + 1) * _BITS)
        self.piles = [_Pile(folder, stack) for _ in range(1 << _BITS)]

    def add(self, held: list[_Block]) -> None:
        if not held:
            return
        records, numbers = _joined(held)
        which = (numbers >> np.uint64(self._shift)) & np.uint64((1 << _BITS) - 1)
        order = np.argsort(which, kind="stable")
        ends = np.cumsum(np.bincount(which.astype(np.int64), minlength=1 << _BITS))
        begin = 0
        for pile, end in zip(self.piles, ends.tolist(), strict=True):
            if end > begin:
                rows = order[begin:end]
                pile.add(_core.take_rows(records, rows), numbers[rows])
            begin = end

    def finish(self) -> None:
        for pile in self.piles:
            pile.finish()


class _Pile:
    """An unnamed file of blocks: a record with the numbers of a block, then the records of the block."""

    def __init__(self, folder: str | None, stack: contextlib.ExitStack) -> None:
        self._folder = folder or tempfile.gettempdir()
        with self._named():
            self._file = stack.enter_context(tempfile.TemporaryFile(dir=folder))
        stack.callback(self._abandon)  # before the file is closed
        self._writer: TFRecordWriter | None = None
        self._is_empty = True

    def add(self, records: _core.RecordBatch, numbers: NDArray[np.uint64]) -> None:
        with self._named():
            if self._writer is None:
                self._writer, self._is_empty = TFRecordWriter(self._file, num_threads=1), False
            self._writer.write(numbers.astype("<u8").tobytes())
            self._writer.write_batch(records)

    def finish(self) -> None:
        if self._writer is not None:
            with self._named():
                self._writer.close()
                self._file.flush()
            self._writer = None  # and its buffer

    def _abandon(self) -> None:
        if self._writer is not None:
            with contextlib.suppress(Exception):  # an earlier error has been raised
                self._writer.close()
            self._writer = None

    def blocks(self) -> Iterator[_Block]:
        if self._is_empty:
            return
        self._file.seek(0)
        file = CoreFile(b"<temporary file>", self._file.fileno)  # not closed by the reader
        stream = open_stream([file], DEFAULT_SETTINGS, compression_type="", num_threads=0)
        numbers = np.empty(0, np.uint64)
        for batch in stream.batches():
            row = 0
            while row < len(batch):
                if not len(numbers):
                    numbers = np.frombuffer(batch[row], "<u8").astype(np.uint64, copy=False)
                    row += 1
                    continue
                rows = min(len(numbers), len(batch) - row)
                yield batch[row : row + rows], numbers[:rows]
                numbers, row = numbers[rows:], row + rows

    def free(self) -> None:
        self._file.truncate(0)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Name the folder in errors, since the file has no name."""
        try:
            yield
        except OSError as error:
            if isinstance(error.filename, str) and error.filename.startswith(self._folder):
                raise
            raise OSError(error.errno, f"{error.strerror or error} (a temporary file)", self._folder) from error
