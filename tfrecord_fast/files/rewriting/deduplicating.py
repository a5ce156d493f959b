"""Records without those that came before."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ... import _core
from .row_keys import KeyOf, hashes, whole_records

__all__ = ["SeenHashes", "distinct"]

_SIZE = 16  # bytes of a hash
_AT_ONCE = 1 << 16  # records that are looked up together
_MOST_BYTES = 64 << 20  # of such records, except for a batch that has more


class SeenHashes:
    """A set of hashes of 16 bytes, which takes 16 bytes for each, and twice that while it grows.

    It is kept as sorted arrays, each at most half as long as the one before, so that there are few.
    """

    def __init__(self) -> None:
        self._runs: list[NDArray[np.bytes_]] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def add(self, given: bytes) -> NDArray[np.int64]:
        """int64 [k], ascending: the places of those that are new, of equal ones the first."""
        # Equal means equal in all 16 bytes: arrays of one width differ in no trailing zeros.
        found, places = np.unique(np.frombuffer(given, f"S{_SIZE}"), return_index=True)
        is_new = np.ones(len(found), bool)
        for run in self._runs:
            at = np.minimum(np.searchsorted(run, found), len(run) - 1)
            is_new &= run[at] != found
        if is_new.any():
            self._runs.append(found[is_new])
            while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
                self._runs.append(_merged(self._runs))
        return np.sort(places[is_new])


def _merged(runs: list[NDArray[np.bytes_]]) -> NDArray[np.bytes_]:
    """The last two, which are taken from the list, each of them freed as soon as it is copied."""
    joined = np.empty(len(runs[-1]) + len(runs[-2]), f"S{_SIZE}")
    place = 0
    for _ in range(2):
        joined[place : place + len(runs[-1])] = runs[-1]
        place += len(runs.pop())
    joined.sort()
    return joined


def distinct(batches: Iterable[_core.RecordBatch], key_of: KeyOf = whole_records) -> Iterator[_core.RecordBatch]:
    """The records whose keys have not come before, in order.

    Keys are told apart by BLAKE2b hashes of 128 bits under a key that is drawn anew each time. That two different
    ones of n records have the same hash has a chance below n**2 / 2**129: for 10**12 records, 2 in 10**15.

    Raises:
      errors.InvalidArgumentError: as `key_of` does.
    """
    seen, secret = SeenHashes(), os.urandom(16)
    for records, given in _hashed(batches, key_of, secret):
        new = seen.add(given)
        if len(new):
            yield records if len(new) == len(records) else _core.take_rows(records, new)


def _hashed(
    batches: Iterable[_core.RecordBatch], key_of: KeyOf, secret: bytes
) -> Iterator[tuple[_core.RecordBatch, bytes]]:
    """Batches put together, and the hashes of their records."""
    group: list[_core.RecordBatch] = []
    given: list[bytes] = []
    rows = size = 0
    for batch in batches:
        if group and (rows + len(batch) > _AT_ONCE or size + batch.nbytes > _MOST_BYTES):
            yield _core.concatenate(group), b"".join(given)
            group, given, rows, size = [], [], 0, 0
        group.append(batch)
        given.append(hashes(key_of(batch), _SIZE, secret))
        rows, size = rows + len(batch), size + batch.nbytes
    if group:
        yield _core.concatenate(group), b"".join(given)
