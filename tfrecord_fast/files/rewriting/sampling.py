"""A sample of records: of all sets of n, each is as likely as any other.

Record i has the i-th random number of a seed, and the n records with the smallest ones are the sample. So it is the
same however the records are read, and the sample of fewer is part of that of more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ... import _core

__all__ = ["chosen", "chosen_rows", "sampled"]

_AT_ONCE = 1 << 20  # numbers that are drawn together
_LEAST_ROWS, _LEAST_BYTES = 1 << 16, 64 << 20  # of records that wait to be looked at together


def chosen(total: int, count: int, seed: int) -> NDArray[np.int64]:
    """int64 [count], ascending: the numbers of the records in the sample, out of `total`.

    It takes 16 bytes for each, and some MiB.
    """
    random = np.random.PCG64(seed)
    drawn, places = np.empty(0, np.uint64), np.empty(0, np.int64)
    for first in range(0, total, _AT_ONCE):
        more = random.random_raw(min(_AT_ONCE, total - first))
        worth = _below_last(more, drawn, count)
        drawn, places = np.concatenate([drawn, more[worth]]), np.concatenate([places, worth + first])
        stay = _least(drawn, count)
        drawn, places = drawn[stay], places[stay]
    return places


def chosen_rows(batches: Iterable[_core.RecordBatch], places: NDArray[np.int64]) -> Iterator[_core.RecordBatch]:
    """The records at these places, which ascend."""
    first = begin = 0
    for batch in batches:
        end = int(np.searchsorted(places, first + len(batch)))
        if end > begin:
            yield _core.take_rows(batch, places[begin:end] - first)
        first, begin = first + len(batch), end


def sampled(batches: Iterable[_core.RecordBatch], count: int, seed: int) -> tuple[_core.RecordBatch, int]:
    """The sample, in order, and how many records there were, of batches that can be had only once.

    The sample is in memory, and at times three times as much.
    """
    random, kept = np.random.PCG64(seed), _Kept(count)
    total = 0
    for batch in batches:
        drawn = random.random_raw(len(batch))
        rows = _below_last(drawn, kept.drawn, count)
        if len(rows):
            kept.add(_core.take_rows(batch, rows), drawn[rows], batch.nbytes)
        total += len(batch)
    kept.settle()
    return kept.records, total


class _Kept:
    """The records with the smallest numbers of those that were added, and some that have not been looked at."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.records = _core.record_batch([])
        self.drawn = np.empty(0, np.uint64)
        self._waiting: list[tuple[_core.RecordBatch, NDArray[np.uint64]]] = []
        self._rows = self._bytes = 0

    def add(self, records: _core.RecordBatch, drawn: NDArray[np.uint64], held_bytes: int) -> None:
        """Records that hold a buffer of so many bytes."""
        self._waiting.append((records, drawn))
        self._rows, self._bytes = self._rows + len(records), self._bytes + held_bytes
        if self._rows > max(_LEAST_ROWS, self._count) or self._bytes > max(_LEAST_BYTES, self.records.nbytes):
            self.settle()

    def settle(self) -> None:
        """Keeps the smallest."""
        drawn = np.concatenate([self.drawn, *(one for _, one in self._waiting)])
        records = _core.concatenate([self.records, *(one for one, _ in self._waiting)])
        stay = _least(drawn, self._count)
        # A copy: views would keep all that was read.
        self.records, self.drawn = _core.record_batch(_core.take_rows(records, stay).tolist()), drawn[stay]
        self._waiting, self._rows, self._bytes = [], 0, 0


def _below_last(more: NDArray[np.uint64], drawn: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
    """Which of the numbers may be among the `count` smallest, if these were drawn before."""
    if len(drawn) < count:
        return np.arange(len(more))
    return np.flatnonzero(more < drawn.max()) if count else np.empty(0, np.int64)


def _least(drawn: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
    """int64 [count], ascending: where the smallest are; of equal ones, the first."""
    if len(drawn) <= count:
        return np.arange(len(drawn))
    return np.sort(np.argsort(drawn, kind="stable")[:count])
