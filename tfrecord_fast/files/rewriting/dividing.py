"""Records divided in a ratio among splits, such as train, validation and test, and among files of limited size."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...base.record_format import FRAME_BYTES
from ...errors import InvalidArgumentError
from .row_keys import KeyFunction, numbers

# Returns the split of each record: int64 [n].
SplitFunction = Callable[[_core.RecordBatch], NDArray[np.int64]]

_MOST_TOTAL = 1_000_000  # sum of a ratio's integers
_BLOCK = 16  # records of a key that are assigned together, in random order: 4 bytes of a hash for each


def by_hash(ratio: Sequence[Fraction], key_function: KeyFunction, seed: int) -> SplitFunction:
    """Return a function that splits records by a hash of the key and the seed, so that equal keys stay together.

    Of n different keys, a split with the fraction p gets about n * p, with a standard deviation of
    sqrt(n * p * (1 - p)).
    """
    total, sum_before, bounds = sum(ratio), Fraction(0), []
    for fraction in ratio[:-1]:
        sum_before += fraction
        bounds.append(sum_before * (1 << 64) // total)
    limits = np.array(bounds, np.uint64)
    return lambda records: np.searchsorted(limits, numbers(key_function(records), seed), "right").astype(np.int64)


def stratified(ratio: Sequence[Fraction], key_function: KeyFunction, seed: int) -> SplitFunction:
    """Return a function that splits the records of each key in the ratio, with a small error, at random.

    It keeps some 400 bytes for each key. The function has a memory: call it for all batches in order.
    """
    cycle = _cycle(ratio)
    secret = seed.to_bytes(8, "little")
    seen: dict[bytes, tuple[int, tuple[int, ...]]] = {}  # for each key, its records so far, and splits of a block

    def block_splits(key: bytes, count: int) -> tuple[int, ...]:
        start = int.from_bytes(hashlib.blake2b(key, digest_size=8, key=secret).digest(), "little") % len(cycle)
        positions = (start + count + np.arange(_BLOCK)) % len(cycle)
        mixed = hashlib.blake2b(key + count.to_bytes(8, "little"), digest_size=4 * _BLOCK, key=secret).digest()
        return tuple(cycle[positions][np.argsort(np.frombuffer(mixed, "<u4"), kind="stable")].tolist())

    def splits(records: _core.RecordBatch) -> NDArray[np.int64]:
        row_splits = np.empty(len(records), np.int64)
        for row, long_key in enumerate(key_function(records)):
            key = hashlib.blake2b(long_key, digest_size=16).digest()
            count, block = seen.get(key, (0, ()))
            at = count % _BLOCK
            if at == 0:
                block = block_splits(key, count)
            row_splits[row] = block[at]
            seen[key] = count + 1, block
        return row_splits

    return splits


def _cycle(ratio: Sequence[Fraction]) -> NDArray[np.int64]:
    """Return a sequence of splits in which each is spread as evenly as possible, also when it is repeated."""
    scale = lcm(*(fraction.denominator for fraction in ratio))
    counts = [int(fraction * scale) for fraction in ratio]
    counts = [count // gcd(*counts) for count in counts]
    if sum(counts) > _MOST_TOTAL:
        raise InvalidArgumentError(
            f"the integers of the ratio sum to {sum(counts)}, and at most {_MOST_TOTAL} are supported: round the ratio"
        )
    # A split with n of the elements is in the middles of n equal intervals.
    middles = np.concatenate([(np.arange(count) + 0.5) / count for count in counts])
    return np.repeat(np.arange(len(counts)), counts)[np.argsort(middles, kind="stable")]


def files_by_records(
    batches: Iterable[_core.RecordBatch], capacity: Callable[[int], int]
) -> Iterator[tuple[int, _core.RecordBatch]]:
    """Yield the number of a file and some of its records, in order. File i has `capacity(i)` records, or less at the
    end."""
    number, left = 0, capacity(0)
    for batch in batches:
        row = 0
        while row < len(batch):
            while left == 0:
                number, left = number + 1, capacity(number + 1)
            taken = min(left, len(batch) - row)
            yield number, batch[row : row + taken]
            row, left = row + taken, left - taken


def files_by_bytes(batches: Iterable[_core.RecordBatch], capacity: int) -> Iterator[tuple[int, _core.RecordBatch]]:
    """Yield the number of a file and some of its records, in order. Uncompressed, a file has at most `capacity` bytes,
    or a single larger record."""
    number = size = 0
    for batch in batches:
        frames, row = batch.sizes + FRAME_BYTES, 0
        while row < len(batch):
            filled = size + np.cumsum(frames[row:])
            taken = int(np.searchsorted(filled, capacity, "right")) or int(size == 0)
            if taken:
                yield number, batch[row : row + taken]
                row, size = row + taken, int(filled[taken - 1])
            if row < len(batch):
                number, size = number + 1, 0
