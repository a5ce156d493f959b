"""`tf.random`: repeatable, but not TensorFlow's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import seeds
from ..types import as_dtype
from .arguments import array_of, integer, lengths_of, tensor

__all__ = [
    "categorical", "gamma", "normal", "poisson", "set_seed", "shuffle", "stateless_normal", "stateless_uniform",
    "truncated_normal", "uniform",
]  # fmt: skip

_state: dict[Any, np.random.Generator] = {}
_global: list[int | None] = [None]


def set_seed(seed: int) -> None:
    """The seed of what has none of its own: random numbers, and shuffles of datasets."""
    seeds.set_seed(seed)
    _global[0] = int(seed)
    _state.clear()


def generator_of(seed: Any) -> np.random.Generator:
    key = None if seed is None else integer(seed)
    if key not in _state:
        if key is None and _global[0] is None:
            _state[key] = np.random.default_rng()
        else:
            _state[key] = np.random.default_rng([abs(_global[0] or 0), abs(key or 0), key is None])
    return _state[key]


def stateless_generator(seed: Any) -> np.random.Generator:
    return np.random.default_rng([int(one) & 0xFFFFFFFFFFFFFFFF for one in array_of(seed).ravel()])


def uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", seed: Any = None, name: str | None = None
) -> Any:
    """Numbers from minval to before maxval; integers need a maxval."""
    return _uniform(generator_of(seed), shape, minval, maxval, dtype)


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = "float32",
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """As `uniform`; the same numbers for the same seed."""
    return _uniform(stateless_generator(seed), shape, minval, maxval, dtype)


def _uniform(generator: np.random.Generator, shape: Any, minval: Any, maxval: Any, dtype: Any) -> Any:
    kind = as_dtype(dtype)
    if maxval is None:
        if kind.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {kind!r}")
        maxval = 1
    least, most = array_of(minval), array_of(maxval)
    lengths = lengths_of(shape)
    if kind.is_integer:
        return tensor(np.asarray(generator.integers(least, most, lengths)).astype(kind.as_numpy_dtype))
    made = np.asarray(generator.random(lengths) * (most - least) + least).astype(kind.as_numpy_dtype)
    return tensor(
        np.where(made >= most, np.nextafter(most.astype(made.dtype), least.astype(made.dtype)), made).astype(made.dtype)
    )


def normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None, name: str | None = None
) -> Any:
    """Numbers of a normal distribution."""
    return _normal(generator_of(seed), shape, mean, stddev, dtype)


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """As `normal`; the same numbers for the same seed."""
    return _normal(stateless_generator(seed), shape, mean, stddev, dtype)


def _normal(generator: np.random.Generator, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    made = generator.standard_normal(lengths_of(shape)) * array_of(stddev) + array_of(mean)
    return tensor(np.asarray(made).astype(as_dtype(dtype).as_numpy_dtype))


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None, name: str | None = None
) -> Any:
    """As `normal`, no further than two standard deviations from the mean."""
    generator, lengths = generator_of(seed), lengths_of(shape)
    made = np.asarray(generator.standard_normal(lengths))
    while (far := np.abs(made) > 2).any():
        made[far] = generator.standard_normal(int(far.sum()))
    return tensor(np.asarray(made * array_of(stddev) + array_of(mean)).astype(as_dtype(dtype).as_numpy_dtype))


def shuffle(value: Any, seed: Any = None, name: str | None = None) -> Any:
    """The slices along the first axis in a random order."""
    given = array_of(value)
    return tensor(given[generator_of(seed).permutation(len(given))])


def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: str | None = None) -> Any:
    """For each row of log-probabilities, so many classes."""
    given = array_of(logits).astype(np.float64)
    chances = np.exp(given - given.max(axis=-1, keepdims=True))
    ends = np.cumsum(chances / chances.sum(axis=-1, keepdims=True), axis=-1)
    drawn = generator_of(seed).random((len(given), integer(num_samples)))
    made = [
        np.searchsorted(row, numbers, side="right").clip(max=len(row) - 1)
        for row, numbers in zip(ends, drawn, strict=True)
    ]
    return tensor(
        np.array(made).astype(as_dtype("int64" if dtype is None else dtype).as_numpy_dtype).reshape(drawn.shape)
    )


def gamma(
    shape: Any, alpha: Any, beta: Any = None, dtype: Any = "float32", seed: Any = None, name: str | None = None
) -> Any:
    """Numbers of a gamma distribution."""
    form = array_of(alpha)
    rate = np.ones_like(form) if beta is None else array_of(beta)
    lengths = (*lengths_of(shape), *np.broadcast_shapes(form.shape, rate.shape))
    return tensor(np.asarray(generator_of(seed).gamma(form, 1 / rate, lengths)).astype(as_dtype(dtype).as_numpy_dtype))


def poisson(shape: Any, lam: Any, dtype: Any = "float32", seed: Any = None, name: str | None = None) -> Any:
    """Numbers of a Poisson distribution."""
    rates = array_of(lam)
    made = generator_of(seed).poisson(rates, (*lengths_of(shape), *rates.shape))
    return tensor(np.asarray(made).astype(as_dtype(dtype).as_numpy_dtype))
