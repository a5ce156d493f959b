"""A permutation of n numbers that takes no memory for n, the same on every machine for one seed and epoch.

Up to 65536 numbers are sorted by random keys. More are sent through a Feistel network over the next power of two: it
maps the halves of a number's bits onto each other, so that no two numbers meet; results of n or more are sent through
it again until they are below n (cycle walking), less than twice on average.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Permutation"]

_MOST_SORTED = 1 << 16
_ROUNDS = 6
_GAMMA = 0x9E3779B97F4A7C15  # of SplitMix64
_MASK = (1 << 64) - 1


class Permutation:
    """`permutation.at(places)`: the numbers that stand at these places.

    Args:
      size: n, below 2**62.
      seed, epoch: what decides the order.
    """

    def __init__(self, size: int, seed: int, epoch: int) -> None:
        self._size = size
        keys = _mixed(np.arange(_ROUNDS, dtype=np.uint64) + np.uint64(_start(seed, epoch)))
        if size <= _MOST_SORTED:
            all_keys = _mixed(np.arange(size, dtype=np.uint64) * np.uint64(_GAMMA) + keys[0])
            self._table: NDArray[np.int64] | None = np.argsort(all_keys, kind="stable")
            return
        self._table = None
        bits = (size - 1).bit_length()
        self._low_bits = bits // 2
        self._masks = np.uint32((1 << self._low_bits) - 1), np.uint32((1 << (bits - self._low_bits)) - 1)
        self._keys = [(np.uint32(key & 0xFFFFFFFF), np.uint32(key >> 32 | 1)) for key in keys.tolist()]

    def at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64 [k]: the numbers at these places, which are int64 [k] in [0, n)."""
        if self._table is not None:
            return self._table[places]
        numbers = self._network(places)
        outside = np.flatnonzero(numbers >= self._size)
        while len(outside):
            again = self._network(numbers[outside])
            numbers[outside] = again
            outside = outside[again >= self._size]
        return numbers

    def _network(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        low_mask, high_mask = self._masks
        low = numbers.astype(np.uint32) & low_mask
        high = (numbers >> self._low_bits).astype(np.uint32)
        for i, (added, factor) in enumerate(self._keys):
            if i % 2:
                low ^= _scrambled(high, added, factor) & low_mask
            else:
                high ^= _scrambled(low, added, factor) & high_mask
        result = high.astype(np.int64)
        result <<= self._low_bits
        result |= low
        return result


def _scrambled(half: NDArray[np.uint32], added: np.uint32, factor: np.uint32) -> NDArray[np.uint32]:
    """Any function of a half will do; bits of the result depend on all bits of it."""
    mixed = half + added
    mixed *= factor
    mixed ^= mixed >> np.uint32(15)
    mixed *= np.uint32(0x2C1B3C6D)
    mixed ^= mixed >> np.uint32(12)
    mixed *= np.uint32(0x297A2D39)
    mixed ^= mixed >> np.uint32(15)
    return mixed


def _start(seed: int, epoch: int) -> int:
    one = _mixed(np.array([seed & _MASK], np.uint64))
    return int(_mixed(one ^ _mixed(np.array([(epoch + 1) * _GAMMA & _MASK], np.uint64)))[0])


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's output function, of each value."""
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values
