"""Records without duplicates."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ... import _core
from .row_keys import KeyFunction, hashes, whole_records

_SIZE = 16  # bytes of a hash
_AT_ONCE = 1 << 16  # records that are looked up together
_MOST_BYTES = 64 << 20  # bytes of these records, except for a larger batch


class SeenHashes:
    """A set of hashes of 16 bytes. It takes 16 bytes per hash, and twice that while it grows.

    The hashes are in sorted arrays, each at most half as long as the array before, so that there are few arrays.
    """

    def __init__(self) -> None:
        self._runs: list[NDArray[np.bytes_]] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def add(self, added: bytes) -> NDArray[np.int64]:
        """Add hashes, and return the ascending indexes of the new ones; of equal hashes, the first."""
        # NumPy ignores trailing zeros, which can't matter among values of the same width.
        unique, rows = np.unique(np.frombuffer(added, f"S{_SIZE}"), return_index=True)
        is_new = np.ones(len(unique), bool)
        for run in self._runs:
            at = np.minimum(np.searchsorted(run, unique), len(run) - 1)
            is_new &= run[at] != unique
        if is_new.any():
            self._runs.append(unique[is_new])
            while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
                self._runs.append(_merge_last_two(self._runs))
        return np.sort(rows[is_new])


def _merge_last_two(runs: list[NDArray[np.bytes_]]) -> NDArray[np.bytes_]:
    """Remove the last two runs, and return them as one. Each is freed as soon as it is copied."""
    joined = np.empty(len(runs[-1]) + len(runs[-2]), f"S{_SIZE}")
    at = 0
    for _ in range(2):
        joined[at : at + len(runs[-1])] = runs[-1]
        at += len(runs.pop())
    joined.sort()
    return joined


def distinct(
    batches: Iterable[_core.RecordBatch], key_function: KeyFunction = whole_records
) -> Iterator[_core.RecordBatch]:
    """Yield the first record of each key, in order.

    Keys are compared by BLAKE2b hashes of 128 bits with a random secret. The probability that two different keys of n
    have the same hash is below n**2 / 2**129: for 10**12 records, 2 in 10**15.
    """
    seen, secret = SeenHashes(), os.urandom(16)
    for records, digests in _hashed(batches, key_function, secret):
        new = seen.add(digests)
        if len(new):
            yield records if len(new) == len(records) else _core.take_rows(records, new)


def _hashed(
    batches: Iterable[_core.RecordBatch], key_function: KeyFunction, secret: bytes
) -> Iterator[tuple[_core.RecordBatch, bytes]]:
    """Yield joined batches with the hashes of their records."""
    group: list[_core.RecordBatch] = []
    digests: list[bytes] = []
    rows = size = 0
    for batch in batches:
        if group and (rows + len(batch) > _AT_ONCE or size + batch.nbytes > _MOST_BYTES):
            yield _core.concatenate(group), b"".join(digests)
            group, digests, rows, size = [], [], 0, 0
        group.append(batch)
        digests.append(hashes(key_function(batch), _SIZE, secret))
        rows, size = rows + len(batch), size + batch.nbytes
    if group:
        yield _core.concatenate(group), b"".join(digests)
