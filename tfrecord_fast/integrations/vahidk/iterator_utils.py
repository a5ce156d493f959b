"""`tfrecord.iterator_utils`: iterators that repeat, mix and shuffle others.

Random numbers are drawn from `numpy.random`, one per element and in the order in which `tfrecord` draws them, so that
`numpy.random.seed` gives the same order in both packages.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError

__all__ = ["cycle", "sample_iterators", "shuffle_iterator"]


def cycle(iterator_fn: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """The elements of `iterator_fn()`, again and again; ends if a pass over them gives nothing."""
    found = True
    while found:
        found = False
        for element in iterator_fn():
            found = True
            yield element


def sample_iterators(
    iterators: Sequence[Callable[[], Iterable[Any]]], ratios: Sequence[float], infinite: bool = True
) -> Iterator[Any]:
    """Elements of several iterators, each drawn from one of them at random.

    Args:
      iterators: functions without arguments, each of which begins a new pass over its elements.
      ratios: how often each is drawn from, relative to the others.
      infinite: whether an iterator that has ended begins again. One without any elements is left out.

    Raises:
      errors.InvalidArgumentError: a ratio is negative or not finite, all of them are 0, or there are more or fewer of
        them than iterators.
    """
    weights = np.array(ratios, dtype=np.float64)
    if weights.shape != (len(iterators),) or not np.isfinite(weights).all() or (weights < 0).any():
        raise InvalidArgumentError(f"ratios are one number from 0 on for each of {len(iterators)} files, got {ratios}")
    if len(iterators) and not weights.any():
        raise InvalidArgumentError(f"at least one ratio must be above 0, got {ratios}")
    left = [cycle(one) if infinite else iter(one()) for one in iterators]
    weights = weights / weights.sum() if left else weights
    while left:
        choice = np.random.choice(len(weights), p=weights)
        try:
            element = next(left[choice])
        except StopIteration:
            del left[choice]
            weights = np.delete(weights, choice)
            if not weights.any():  # nothing else is ever to be drawn
                return
            weights = weights / weights.sum()
        else:
            yield element


def shuffle_iterator(iterator: Iterable[Any], queue_size: int) -> Iterator[Any]:
    """The elements of an iterator, drawn at random from a queue of the next `queue_size`.

    Warns if there are fewer than `queue_size` elements.
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
        place = np.random.randint(len(queue))
        try:
            following = next(elements)
        except StopIteration:
            yield queue.pop(place)
        else:
            drawn, queue[place] = queue[place], following
            yield drawn
