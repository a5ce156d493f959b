"""Figures of features as the outputs need them: quantiles, bars of histograms, frequent values.

All are for values in ascending order with weights, which are all values, or a sample of them (`exact`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .... import _core
from ...console import printable

__all__ = ["Bars", "Feature", "Frequent", "Numbers", "Repeated", "Texts", "edges_of", "features_of", "shown_key"]

_MOST_SINGLE = 24  # different integers that have a bar each
_BARS = 30
_SKEWED = 20.0  # how far the largest value is above the middle one, for bars by powers

Array = npt.NDArray[np.float64]


class Frequent(NamedTuple):
    """A value that comes often; of strings the first bytes, and how many there are in all."""

    value: float | int | bytes
    times: int
    size: int | None = None


@dataclass(frozen=True)
class Bars:
    """How a histogram is divided: bar i has the values in [edges[i], edges[i + 1]), the last one its upper edge too."""

    edges: Array
    is_log: bool = False
    single: bool = False  # one integer a bar
    whole: bool = False  # integers, with edges half-way between two
    most: int = 0  # the largest of these

    def counts(self, numbers: Numbers) -> Array:
        """The values in each bar."""
        places = np.searchsorted(numbers.points, self.edges)
        places[-1] = np.searchsorted(numbers.points, self.edges[-1], "right")  # the last bar has both of its edges
        return np.diff(numbers.ends[places]).astype(np.float64)


@dataclass(frozen=True)
class Numbers:
    """Figures of numbers. `points` are float64: those of int64 are rounded beyond 2 ** 53. Other figures are not."""

    figures: _core.NumberFigures
    is_int: bool
    points: Array
    weights: npt.NDArray[np.int64]

    @classmethod
    def of(cls, figures: _core.NumberFigures) -> Numbers:
        """Of what the core gives."""
        is_int = figures.points.dtype == np.int64
        return cls(figures, is_int, figures.points.astype(np.float64), figures.weights)

    @property
    def numbers(self) -> int:
        """How many values are not NaN."""
        return self.figures.values - self.figures.nans

    def quantile(self, part: float) -> float | int | None:
        """As NumPy's: between the two values around the place. Of a sample, about."""
        return self.quantiles((part,))[0]

    def quantiles(self, parts: Sequence[float]) -> list[float | int | None]:
        """As `quantile`, for several parts at once."""
        if not len(self._ends):
            return [None] * len(parts)
        last = int(self._ends[-1]) - 1
        places = [part * last for part in parts]
        lows = [math.floor(place) for place in places]
        ranks = [min(rank, last) for low in lows for rank in (low, low + 1)]
        found: list[float | int] = self.figures.points[np.searchsorted(self._ends, ranks, "right")].tolist()
        made: list[float | int | None] = []
        for part, place, low, one, two in zip(parts, places, lows, found[::2], found[1::2], strict=True):
            if not self.figures.exact and part in (0.0, 1.0):
                made.append(self.figures.maximum if part else self.figures.minimum)
            elif one == two or place == low:
                made.append(one)
            elif one == -math.inf and two != math.inf:
                made.append(one)  # as anything between a finite number and infinity is infinite
            else:
                made.append(one + (two - one) * (place - low))
        return made

    @functools.cached_property
    def ends(self) -> npt.NDArray[np.int64]:
        """How many values come before each point, and in the end all."""
        return np.concatenate([[0], np.cumsum(self.weights)])

    @property
    def _ends(self) -> npt.NDArray[np.int64]:
        return self.ends[1:]

    def _point(self, index: int) -> float | int:
        value: float | int = self.figures.points[index].item()
        return value

    def below(self, values: Array) -> Array:
        """For each of them the part of all values that are not above it."""
        ends = self.ends
        return ends[np.searchsorted(self.points, values, "right")] / max(1, int(ends[-1]))

    def frequent(self, most: int) -> list[Frequent]:
        """The values that come most often, the most frequent first: of a sketch those that surely stand out."""
        if self.figures.exact:
            order = np.lexsort((np.arange(len(self.weights)), -self.weights))[:most]
            return [Frequent(self._point(int(i)), int(self.weights[i])) for i in order]
        least = max(2 * self.figures.count_error, self.numbers // 1000, 1)
        return [Frequent(value, count) for value, count in self.figures.frequent[:most] if count > least]


class Repeated(NamedTuple):
    """Records that are the same: how many contents there are, how many of them come more than once, and how many
    records are copies. Estimates, if `exact` is not set, are never above the number of records."""

    distinct: int
    repeated: int
    copies: int
    exact: bool

    @classmethod
    def of(cls, found: _core.RepeatFigures, records: int) -> Repeated:
        """Of what the core gives, which has looked at so many records."""
        counts = (found.different, found.repeated, found.copies)
        distinct, repeated, copies = (min(count << found.halvings, records) for count in counts)
        return cls(distinct, repeated, copies, found.halvings == 0)


@dataclass(frozen=True)
class Texts:
    """Figures of strings of bytes."""

    figures: _core.TextFigures
    sizes: Numbers

    @classmethod
    def of(cls, figures: _core.TextFigures) -> Texts:
        """Of what the core gives."""
        return cls(figures, Numbers.of(figures.sizes))

    def frequent(self, most: int) -> list[Frequent]:
        """The strings that come most often, the most frequent first."""
        floor = 0 if self.figures.exact else max(2 * self.figures.count_error, self.sizes.numbers // 1000, 1)
        found = self.figures.frequent[:most]
        return [Frequent(start, count, size) for start, size, count in found if count > floor]


@dataclass(frozen=True)
class Feature:
    """What records have under one key."""

    core: _core.FeatureFigures
    records: int  # in all
    lengths: Numbers
    steps: Numbers | None
    ints: Numbers | None
    floats: Numbers | None
    texts: Texts | None

    @property
    def name(self) -> str:
        """The key; what is not UTF-8 in it as lone surrogates, so that keys that differ have names that differ."""
        return self.core.key.decode("utf-8", "surrogateescape")

    @property
    def kind(self) -> str:
        """ "int64", "float", "bytes", "none", or several joined by a slash."""
        counts = (
            ("int64", self.core.int64_features),
            ("float", self.core.float_features),
            ("bytes", self.core.bytes_features),
        )
        return "/".join(name for name, count in counts if count) or "none"

    @property
    def conflicts(self) -> bool:
        """It has values of several kinds."""
        return "/" in self.kind

    @property
    def missing(self) -> int:
        """Records without it."""
        return self.records - self.core.present

    @property
    def values(self) -> int:
        """How many there are in all."""
        parts = (self.ints, self.floats, None if self.texts is None else self.texts.sizes)
        return sum(part.figures.values for part in parts if part is not None)

    @property
    def numbers(self) -> Numbers | None:
        """Of the values, if they are numbers; if they are of both kinds, those of the kind that comes more often."""
        if self.ints is None or self.floats is None:
            return self.ints or self.floats
        return max((self.ints, self.floats), key=lambda one: one.figures.values)

    @property
    def shown(self) -> Numbers | None:
        """The values, if they are numbers, or the sizes of the values in bytes; None if there are none."""
        return self.numbers or (None if self.texts is None else self.texts.sizes)

    @property
    def distinct(self) -> tuple[float, bool]:
        """How many different values there are, without NaN, and whether that is exact. An estimate is never above the
        number of values."""
        counted = [(part.figures, part.numbers) for part in (self.ints, self.floats) if part is not None]
        found = [(min(figures.distinct, most), figures.exact) for figures, most in counted]
        if self.texts is not None:
            figures = self.texts.figures
            found.append((min(figures.distinct, self.texts.sizes.numbers), figures.exact))
        return sum(count for count, _ in found), all(exact for _, exact in found)

    def frequent(self, most: int) -> list[Frequent]:
        """The values that come most often."""
        found = [
            one for part in (self.ints, self.floats, self.texts) if part is not None for one in part.frequent(most)
        ]
        return sorted(found, key=lambda one: -one.times)[:most]


def features_of(collector: _core.StatsCollector) -> tuple[list[Feature], list[Feature]]:
    """Those of Examples or contexts, and the feature lists; each sorted by name."""
    records = collector.examples
    made = [
        Feature(
            core,
            records,
            Numbers.of(core.lengths),
            core.steps and Numbers.of(core.steps),
            core.int64 and Numbers.of(core.int64),
            core.floats and Numbers.of(core.floats),
            core.texts and Texts.of(core.texts),
        )
        for core in sorted(collector.features(), key=lambda core: core.key)
    ]
    return [one for one in made if not one.core.is_list], [one for one in made if one.core.is_list]


def edges_of(parts: Sequence[Numbers]) -> Bars | None:
    """Bars for the finite values of all parts; None if there are none."""
    finite = np.concatenate([part.points[np.isfinite(part.points)] for part in parts] or [np.empty(0)])
    if not len(finite):
        return None
    low, high = float(finite.min()), float(finite.max())
    for part in parts:
        low = min([low, *_finite(part.figures.minimum)])
        high = max([high, *_finite(part.figures.maximum)])
    is_int = all(part.is_int for part in parts)
    if is_int and high - low < _MOST_SINGLE and max(-low, high) < 2**52:
        return Bars(np.arange(low, high + 2) - 0.5, single=True, whole=True, most=round(high))
    if low == high:
        return Bars(np.array([low, np.nextafter(low, np.inf)]))
    middle = float(np.median(finite))
    if low > 0 and high / max(middle, low) > _SKEWED:
        edges: Array = np.geomspace(low, high, _BARS + 1).astype(np.float64)
        edges[0], edges[-1] = low, high
        return Bars(np.unique(edges).astype(np.float64), is_log=True)
    if is_int:
        width = max(1.0, math.ceil((high - low + 1) / _BARS))
        count = math.ceil((high - low + 1) / width)
        if -(2**52) < low and high < 2**52:
            edges = (low - 0.5 + width * np.arange(count + 1)).astype(np.float64)
            return Bars(edges, whole=True, most=round(high))
    return _even(low, high)


def _even(low: float, high: float) -> Bars:
    parts = np.arange(_BARS + 1) / _BARS
    edges = low * (1 - parts) + high * parts  # the difference may be infinite
    edges[-1] = high
    return Bars(np.unique(edges))


def _finite(value: float | int | None) -> Iterator[float]:
    if value is not None and math.isfinite(value):
        yield float(value)


def shown_key(name: str) -> str:
    """A name as it is, but for what is not UTF-8, or would do something to a terminal."""
    return printable(name) or "(no name)"
