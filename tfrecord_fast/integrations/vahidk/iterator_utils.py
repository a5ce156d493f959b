"""`tfrecord.iterator_utils`: iterators that repeat, mix and shuffle others.

Random numbers are drawn from `numpy.random`, one per element and in the same order as in `tfrecord`, so that
`numpy.random.seed` determines the same order in both packages.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError

__all__ = ["cycle", "sample_iterators", "shuffle_iterator"]


def cycle(iterator_fn: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """Repeat the elements of `iterator_fn()`; end if a pass over them is empty."""
    has_elements = True
    while has_elements:
        has_elements = False
        for element in iterator_fn():
            has_elements = True
            yield element


def sample_iterators(
    iterators: Sequence[Callable[[], Iterable[Any]]], ratios: Sequence[float], infinite: bool = True
) -> Iterator[Any]:
    """Yield elements of several iterators, each drawn from one of them at random.

    Args:
      iterators: functions without arguments, each of which begins a new pass over its elements.
      ratios: the relative weights of the iterators.
      infinite: start an iterator again when it has ended. Iterators without elements are left out.

    Raises:
      errors.InvalidArgumentError: a ratio is negative or not finite, all ratios are 0, or there is not one for each
        iterator.
    """
    weights = np.array(ratios, dtype=np.float64)
    if weights.shape != (len(iterators),) or not np.isfinite(weights).all() or (weights < 0).any():
        raise InvalidArgumentError(f"ratios must be {len(iterators)} numbers from 0 on, one per file, got {ratios}")
    if len(iterators) and not weights.any():
        raise InvalidArgumentError(f"at least one ratio must be above 0, got {ratios}")
    left = [cycle(begin) if infinite else iter(begin()) for begin in iterators]
    weights = weights / weights.sum() if left else weights
    while left:
        choice = np.random.choice(len(weights), p=weights)
        try:
            element = next(left[choice])
        except StopIteration:
            del left[choice]
            weights = np.delete(weights, choice)
            if not weights.any():  # the others are never drawn
                return
            weights = weights / weights.sum()
        else:
            yield element


def shuffle_iterator(iterator: Iterable[Any], queue_size: int) -> Iterator[Any]:
    """Yield the elements of an iterator, drawn at random from a queue of the next `queue_size`.

    Warns if the iterator has fewer than `queue_size` elements.
    """
    elements = iter(iterator)
    queue: list[Any] = []
    for _ in range(queue_size):
        try:
            queue.append(next(elements))
        except StopIteration:
            warnings.warn(
                f"Number of elements in the iterator is less than the queue size (N={queue_size}).", stacklevel=2
            )
            break
    while queue:
        position = np.random.randint(len(queue))
        try:
            following = next(elements)
        except StopIteration:
            yield queue.pop(position)
        else:
            drawn, queue[position] = queue[position], following
            yield drawn
