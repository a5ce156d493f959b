"""A permutation of n numbers that takes no memory for n, the same on every machine for one seed and epoch.

Up to 65536 numbers are sorted by random keys. More go through the core's Feistel network.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ... import _core

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
        keys = _mixed(np.arange(_ROUNDS, dtype=np.uint64) + np.uint64(_start(seed, epoch)))
        self._table: NDArray[np.int64] | None = None
        if size <= _MOST_SORTED:
            all_keys = _mixed(np.arange(size, dtype=np.uint64) * np.uint64(_GAMMA) + keys[0])
            self._table = np.argsort(all_keys, kind="stable")
        else:
            self._network = _core.Permutation(size, keys.tolist())

    def at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64 [k]: the numbers at these places, which are int64 [k] in [0, n)."""
        return self._network.at(places) if self._table is None else self._table[places]


def _start(seed: int, epoch: int) -> int:
    one = _mixed(np.array([seed & _MASK], np.uint64))
    return int(_mixed(one ^ _mixed(np.array([(epoch + 1) * _GAMMA & _MASK], np.uint64)))[0])


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's output function, of each value."""
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values
