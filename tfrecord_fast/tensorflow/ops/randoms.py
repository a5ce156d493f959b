"""`tf.random`: repeatable with a seed, but not TensorFlow's numbers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...base import seeds
from ..tensors.tensor_dtypes import as_dtype
from .arguments import as_array, as_lengths, integer, tensor

_state: dict[Any, np.random.Generator] = {}
_global: list[int | None] = [None]
_functions = [0]


def next_function() -> int:
    """Return a number for a function that draws, different from those of others since the seed was set."""
    _functions[0] += 1
    return _functions[0]


def set_seed(seed: int) -> None:
    """Set the seed of random numbers, and shuffles of datasets, without a seed of their own."""
    seeds.set_seed(seed)
    _global[0] = int(seed)
    _state.clear()
    _functions[0] = 0


class _Drawing(threading.local):
    generator: np.random.Generator | None = None  # of the record that an operation draws for


_drawing = _Drawing()
_unseeded = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


@contextmanager
def drawing_from(generator: np.random.Generator) -> Iterator[None]:
    """Let operations draw from a generator, whatever their seed."""
    before, _drawing.generator = _drawing.generator, generator
    try:
        yield
    finally:
        _drawing.generator = before


def seeds_of(seed: Any) -> tuple[int, int]:
    """Return the global seed and an operation's own as numbers; random ones if neither is set."""
    if seed is None and _global[0] is None:
        return _unseeded, 0
    return abs(_global[0] or 0), abs(0 if seed is None else integer(seed))


def seeded_generator(seed: Any) -> np.random.Generator:
    if _drawing.generator is not None:
        return _drawing.generator
    key = None if seed is None else integer(seed)
    if key not in _state:
        if key is None and _global[0] is None:
            _state[key] = np.random.default_rng()
        else:
            _state[key] = np.random.default_rng([abs(_global[0] or 0), abs(key or 0), key is None])
    return _state[key]


def stateless_generator(seed: Any) -> np.random.Generator:
    return np.random.default_rng([int(number) & 0xFFFFFFFFFFFFFFFF for number in as_array(seed).ravel()])


def uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", seed: Any = None, name: str | None = None
) -> Any:
    """Draw numbers from minval up to maxval, excluded; integers need a maxval."""
    return _uniform(seeded_generator(seed), shape, minval, maxval, dtype)


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = "float32",
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """Draw as `uniform` does; the numbers depend on the seed alone."""
    return _uniform(stateless_generator(seed), shape, minval, maxval, dtype)


def _uniform(generator: np.random.Generator, shape: Any, minval: Any, maxval: Any, dtype: Any) -> Any:
    result_dtype = as_dtype(dtype)
    if maxval is None:
        if result_dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {result_dtype!r}")
        maxval = 1
    least, most = as_array(minval), as_array(maxval)
    lengths = as_lengths(shape)
    if result_dtype.is_integer:
        return tensor(np.asarray(generator.integers(least, most, lengths)).astype(result_dtype.as_numpy_dtype))
    numbers = np.asarray(generator.random(lengths) * (most - least) + least).astype(result_dtype.as_numpy_dtype)
    return tensor(
        np.where(
            numbers >= most, np.nextafter(most.astype(numbers.dtype), least.astype(numbers.dtype)), numbers
        ).astype(numbers.dtype)
    )


def normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None, name: str | None = None
) -> Any:
    """Draw from a normal distribution."""
    return _normal(seeded_generator(seed), shape, mean, stddev, dtype)


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """Draw as `normal` does; the numbers depend on the seed alone."""
    return _normal(stateless_generator(seed), shape, mean, stddev, dtype)


def _normal(generator: np.random.Generator, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    numbers = generator.standard_normal(as_lengths(shape)) * as_array(stddev) + as_array(mean)
    return tensor(np.asarray(numbers).astype(as_dtype(dtype).as_numpy_dtype))


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None, name: str | None = None
) -> Any:
    """Draw from a normal distribution, at most two standard deviations from the mean."""
    generator, lengths = seeded_generator(seed), as_lengths(shape)
    numbers = np.asarray(generator.standard_normal(lengths))
    while (far := np.abs(numbers) > 2).any():
        numbers[far] = generator.standard_normal(int(far.sum()))
    return tensor(np.asarray(numbers * as_array(stddev) + as_array(mean)).astype(as_dtype(dtype).as_numpy_dtype))


def shuffle(value: Any, seed: Any = None, name: str | None = None) -> Any:
    """Shuffle the slices along the first axis."""
    array = as_array(value)
    return tensor(array[seeded_generator(seed).permutation(len(array))])


def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: str | None = None) -> Any:
    """Draw `num_samples` classes for each row of log-probabilities."""
    array = as_array(logits).astype(np.float64)
    chances = np.exp(array - array.max(axis=-1, keepdims=True))
    ends = np.cumsum(chances / chances.sum(axis=-1, keepdims=True), axis=-1)
    drawn = seeded_generator(seed).random((len(array), integer(num_samples)))
    classes = [
        np.searchsorted(row, draws, side="right").clip(max=len(row) - 1) for row, draws in zip(ends, drawn, strict=True)
    ]
    return tensor(
        np.array(classes).astype(as_dtype("int64" if dtype is None else dtype).as_numpy_dtype).reshape(drawn.shape)
    )


def gamma(
    shape: Any, alpha: Any, beta: Any = None, dtype: Any = "float32", seed: Any = None, name: str | None = None
) -> Any:
    """Draw from a gamma distribution."""
    form = as_array(alpha)
    rate = np.ones_like(form) if beta is None else as_array(beta)
    lengths = (*as_lengths(shape), *np.broadcast_shapes(form.shape, rate.shape))
    numbers = seeded_generator(seed).gamma(form, 1 / rate, lengths)
    return tensor(np.asarray(numbers).astype(as_dtype(dtype).as_numpy_dtype))
