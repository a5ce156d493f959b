"""The seeds of what is random: drawn from the system, or from the one that `tf.random.set_seed` was given."""

from __future__ import annotations

import os
import random as _random

__all__ = ["next_seed", "set_seed"]

_drawn: _random.Random | None = None


def set_seed(seed: int | None) -> None:
    """Makes what is random from here on, and has no seed of its own, repeatable; None: unpredictable again.

    The order is not TensorFlow's for that seed.

    >>> import tfrecord_fast as tf
    >>> def order():
    ...     tf.random.set_seed(7)
    ...     return [int(x) for x in tf.data.Dataset.range(9).shuffle(9)]
    >>> order() == order()
    True
    """
    global _drawn
    _drawn = None if seed is None else _random.Random(int(seed))


def next_seed() -> int:
    """A seed of 64 bits for what was given none."""
    return int.from_bytes(os.urandom(8), "little") if _drawn is None else _drawn.getrandbits(64)
