"""`tf.image`: changes at random that are the same for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from .arguments import array_of, lengths_of, tensor
from .randoms import stateless_generator

__all__ = ["stateless_random_crop", "stateless_random_flip_left_right", "stateless_random_flip_up_down"]


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Any:
    """A part of that size, somewhere."""
    given, lengths = array_of(value), lengths_of(size)
    if any(have < length for have, length in zip(given.shape, lengths, strict=True)):
        raise InvalidArgumentError(f"Need value.shape >= size, got {list(given.shape)} {list(lengths)}")
    generator = stateless_generator(seed)
    starts = [int(generator.integers(0, have - length + 1)) for have, length in zip(given.shape, lengths, strict=True)]
    return tensor(given[tuple(slice(start, start + length) for start, length in zip(starts, lengths, strict=True))])


def stateless_random_flip_left_right(image: Any, seed: Any) -> Any:
    """Flipped or not; of a batch, each image by itself."""
    return _perhaps(array_of(image), -2, seed)


def stateless_random_flip_up_down(image: Any, seed: Any) -> Any:
    """Flipped or not; of a batch, each image by itself."""
    return _perhaps(array_of(image), -3, seed)


def _perhaps(given: Any, axis: int, seed: Any) -> Any:
    if given.ndim not in (3, 4):
        raise ValueError(f"'image' must have either 3 or 4 dimensions, got {given.ndim}")
    turned = stateless_generator(seed).random(given.shape[:-3]) < 0.5
    return tensor(np.where(turned[..., None, None, None], np.flip(given, axis), given))
