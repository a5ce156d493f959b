"""Statistics of a few rounds: median, spread, and ratios round by round."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple


class Spread(NamedTuple):
    median: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    return Spread(median(values), min(values), max(values))


def ratios(times: Sequence[float], base: Sequence[float]) -> Spread:
    """How many times as fast as `times` the base is, from pairs of the same round, so that slow moments of the machine,
    which affect both, cancel out."""
    return spread([time / base_time for time, base_time in zip(times, base, strict=True)])
