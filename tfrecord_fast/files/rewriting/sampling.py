"""A uniform random sample of n records.

Record i has the i-th random number of a seed, and the n records with the smallest numbers are the sample. So the sample
does not depend on how records are read, and contains every smaller sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ... import _core

_AT_ONCE = 1 << 20  # numbers that are drawn together
_LEAST_ROWS, _LEAST_BYTES = 1 << 16, 64 << 20  # waiting records that are worth selecting from


def chosen(total: int, count: int, seed: int) -> NDArray[np.int64]:
    """Return the ascending numbers of `count` records out of `total`: int64 [count].

    It takes 16 bytes of memory for each, and some MiB.
    """
    random = np.random.PCG64(seed)
    drawn, rows = np.empty(0, np.uint64), np.empty(0, np.int64)
    for first in range(0, total, _AT_ONCE):
        more = random.random_raw(min(_AT_ONCE, total - first))
        candidates = _below_last(more, drawn, count)
        drawn, rows = np.concatenate([drawn, more[candidates]]), np.concatenate([rows, candidates + first])
        smallest = _smallest(drawn, count)
        drawn, rows = drawn[smallest], rows[smallest]
    return rows


def chosen_rows(batches: Iterable[_core.RecordBatch], rows: NDArray[np.int64]) -> Iterator[_core.RecordBatch]:
    first = begin = 0
    for batch in batches:
        end = int(np.searchsorted(rows, first + len(batch)))
        if end > begin:
            yield _core.take_rows(batch, rows[begin:end] - first)
        first, begin = first + len(batch), end


def sampled(batches: Iterable[_core.RecordBatch], count: int, seed: int) -> tuple[_core.RecordBatch, int]:
    """Return a sample, in order, and the total number of records, from batches that can be read only once.

    It takes up to three times the memory of the sample.
    """
    random, kept = np.random.PCG64(seed), _Sample(count)
    total = 0
    for batch in batches:
        drawn = random.random_raw(len(batch))
        rows = _below_last(drawn, kept.drawn, count)
        if len(rows):
            kept.add(_core.take_rows(batch, rows), drawn[rows], batch.nbytes)
        total += len(batch)
    kept.settle()
    return kept.records, total


class _Sample:
    """The records with the smallest numbers so far, and waiting records to select from."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.records = _core.record_batch([])
        self.drawn = np.empty(0, np.uint64)
        self._waiting: list[tuple[_core.RecordBatch, NDArray[np.uint64]]] = []
        self._rows = self._bytes = 0

    def add(self, records: _core.RecordBatch, drawn: NDArray[np.uint64], held_bytes: int) -> None:
        """Add `records`, which keep a buffer of `held_bytes` alive."""
        self._waiting.append((records, drawn))
        self._rows, self._bytes = self._rows + len(records), self._bytes + held_bytes
        if self._rows > max(_LEAST_ROWS, self._count) or self._bytes > max(_LEAST_BYTES, self.records.nbytes):
            self.settle()

    def settle(self) -> None:
        drawn = np.concatenate([self.drawn, *(numbers for _, numbers in self._waiting)])
        records = _core.concatenate([self.records, *(batch for batch, _ in self._waiting)])
        rows = _smallest(drawn, self._count)
        # A copy: views would keep the buffers of all records alive.
        self.records, self.drawn = _core.record_batch(_core.take_rows(records, rows).tolist()), drawn[rows]
        self._waiting, self._rows, self._bytes = [], 0, 0


def _below_last(more: NDArray[np.uint64], drawn: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
    """Return the indexes of new numbers that may be among the `count` smallest of all."""
    if len(drawn) < count:
        return np.arange(len(more))
    return np.flatnonzero(more < drawn.max()) if count else np.empty(0, np.int64)


def _smallest(drawn: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
    """Return the ascending indexes of the `count` smallest numbers; of equal numbers, the first."""
    if len(drawn) <= count:
        return np.arange(len(drawn))
    return np.sort(np.argsort(drawn, kind="stable")[:count])
