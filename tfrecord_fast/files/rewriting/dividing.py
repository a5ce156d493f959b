"""Records divided among sides, such as train, validation and test, in a ratio."""

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
from .row_keys import KeyOf, numbers

__all__ = ["SideOf", "by_hash", "parts_by_bytes", "parts_by_records", "stratified"]

# What gives the side of each record: int64 [n].
SideOf = Callable[[_core.RecordBatch], NDArray[np.int64]]

_FINEST = 1_000_000  # parts that a ratio may have together
_DEAL = 16  # places of the word that are dealt at random: 4 bytes of a hash for each


def by_hash(ratio: Sequence[Fraction], key_of: KeyOf, seed: int) -> SideOf:
    """By a hash of each record's key and the seed: what has the same key is on the same side, wherever it is.

    The sides have about their shares: of n different keys, one with the share p gets n * p, give or take some times the
    square root of n * p * (1 - p).
    """
    total, sum_before, bounds = sum(ratio), Fraction(0), []
    for share in ratio[:-1]:
        sum_before += share
        bounds.append(sum_before * (1 << 64) // total)
    limits = np.array(bounds, np.uint64)
    return lambda records: np.searchsorted(limits, numbers(key_of(records), seed), "right").astype(np.int64)


def stratified(ratio: Sequence[Fraction], key_of: KeyOf, seed: int) -> SideOf:
    """Of the records with the same key, each side has its share, give or take a few; which of them, is random.

    It keeps some 400 bytes for each key that differs. The function has a memory: it is for all batches in order.

    Raises:
      errors.InvalidArgumentError: a ratio of more than a million parts.
    """
    word = _word(ratio)
    secret = seed.to_bytes(8, "little")
    seen: dict[bytes, tuple[int, tuple[int, ...]]] = {}  # how many records there were, and the sides of the next ones

    def dealt(key: bytes, count: int) -> tuple[int, ...]:
        start = int.from_bytes(hashlib.blake2b(key, digest_size=8, key=secret).digest(), "little") % len(word)
        places = (start + count + np.arange(_DEAL)) % len(word)
        mixed = hashlib.blake2b(key + count.to_bytes(8, "little"), digest_size=4 * _DEAL, key=secret).digest()
        return tuple(word[places][np.argsort(np.frombuffer(mixed, "<u4"), kind="stable")].tolist())

    def sides(records: _core.RecordBatch) -> NDArray[np.int64]:
        made = np.empty(len(records), np.int64)
        for row, long_key in enumerate(key_of(records)):
            key = hashlib.blake2b(long_key, digest_size=16).digest()
            count, next_sides = seen.get(key, (0, ()))
            place = count % _DEAL
            if place == 0:
                next_sides = dealt(key, count)
            made[row] = next_sides[place]
            seen[key] = count + 1, next_sides
        return made

    return sides


def _word(ratio: Sequence[Fraction]) -> NDArray[np.int64]:
    """int64 [parts of the ratio]: sides, each as evenly spread as can be; repeated, it goes on as evenly."""
    scale = lcm(*(share.denominator for share in ratio))
    parts = [int(share * scale) for share in ratio]
    parts = [part // gcd(*parts) for part in parts]
    if sum(parts) > _FINEST:
        raise InvalidArgumentError(f"the ratio has {sum(parts)} parts, and at most {_FINEST} can be dealt")
    # Every side has a place in the middle of each of its shares; they are merged.
    middles = np.concatenate([(np.arange(part) + 0.5) / part for part in parts])
    return np.repeat(np.arange(len(parts)), parts)[np.argsort(middles, kind="stable")]


def parts_by_records(
    batches: Iterable[_core.RecordBatch], most: Callable[[int], int]
) -> Iterator[tuple[int, _core.RecordBatch]]:
    """(number of the part, some of its records), in order; part i has `most(i)` records, except that the last may have
    fewer."""
    part, left = 0, most(0)
    for batch in batches:
        row = 0
        while row < len(batch):
            while left == 0:
                part, left = part + 1, most(part + 1)
            taken = min(left, len(batch) - row)
            yield part, batch[row : row + taken]
            row, left = row + taken, left - taken


def parts_by_bytes(batches: Iterable[_core.RecordBatch], most: int) -> Iterator[tuple[int, _core.RecordBatch]]:
    """The same for parts of files of at most so many bytes when they are not compressed; a record that is larger has a
    part of its own."""
    part = held = 0
    for batch in batches:
        frames, row = batch.sizes + FRAME_BYTES, 0
        while row < len(batch):
            filled = held + np.cumsum(frames[row:])
            taken = int(np.searchsorted(filled, most, "right")) or int(held == 0)
            if taken:
                yield part, batch[row : row + taken]
                row, held = row + taken, int(filled[taken - 1])
            if row < len(batch):
                part, held = part + 1, 0
