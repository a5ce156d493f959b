"""Rules of operations that draw random numbers: each draw of each record has its own.

A draw depends on the seeds, the number of the block, the number of the operation among those that draw, and the
record's number in the block. So a function that runs again for some of the records sees the same numbers.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...values.blocks.columns import Dense
from ..ops.arguments import as_array, as_lengths
from ..ops.randoms import drawing_from, seeds_of
from .block_tensor import block_value
from .calls import combine, has_block_values, rows_of
from .frames import Frame, needs_records

Operation = Callable[..., Any]


class _Draw:
    """The generators of one operation, by record."""

    def __init__(self, frame: Frame, seed: Any) -> None:
        call = frame.call
        # As in TensorFlow, operations with one seed draw the same numbers, such as for an image and its mask.
        place = [*call.number, call.draws] if seed is None else [call.number[-1]]
        entropy = [*seeds_of(seed), *place]
        call.draws += 1
        self._key = np.random.SeedSequence(entropy).generate_state(2, np.uint64)

    def generator(self, number: int) -> np.random.Generator:
        """Return the generator of a record; that of number -1 draws for all."""
        counter = np.array([0, 0, 0, number + 1], np.uint64)
        return np.random.Generator(np.random.Philox(key=self._key, counter=counter))


def draw_uniform(frame: Frame, seed: Any) -> Any:
    """Return a number from 0 to 1 for each record of the frame."""
    if has_block_values((seed,)):
        raise needs_records("the seed of an operation differs from record to record")
    return _Draw(frame, seed).generator(-1).random(frame.call.count)[frame.numbers()]


@functools.lru_cache
def _place_of_seed(function: Operation) -> int:
    return list(inspect.signature(function).parameters).index("seed")


def _seed_of(function: Operation, args: Any, kwargs: Any) -> Any:
    if "seed" in kwargs:
        return kwargs["seed"]
    place = _place_of_seed(function)
    return args[place] if place < len(args) else None


def each(function: Operation, frame: Frame, *args: Any, **kwargs: Any) -> Any:
    """Call the operation for each record."""
    seed = _seed_of(function, args, kwargs)
    if has_block_values((seed,)):
        raise needs_records("the seed of an operation differs from record to record")
    draw = _Draw(frame, seed)
    rows = zip(*(rows_of(value, frame) for value in (*args, *kwargs.values())), strict=False)
    results = []
    for number, row in zip(frame.numbers().tolist(), rows, strict=False):
        with drawing_from(draw.generator(number)):
            results.append(function(*row[: len(args)], **dict(zip(kwargs, row[len(args) :], strict=True))))
    return combine(results, frame)


def of_shape(function: Operation, frame: Frame, shape: Any, *args: Any, **kwargs: Any) -> Any:
    """Draw the numbers of all records at once."""
    others = (*args, *kwargs.values())
    if has_block_values((shape, *others)) or any(np.ndim(value) for value in others if not isinstance(value, str)):
        return each(function, frame, shape, *args, **kwargs)
    draw = _Draw(frame, _seed_of(function, (shape, *args), kwargs))
    with drawing_from(draw.generator(-1)):
        numbers = as_array(function([frame.call.count, *as_lengths(shape)], *args, **kwargs))
    return block_value(Dense(numbers[frame.numbers()]), frame)
