"""Figures of features for the outputs: quantiles, bars of histograms, frequent values.

All are computed from sorted values with weights: all values if `exact`, else a sample.
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

_MOST_SINGLE = 24  # distinct integers with a bar each
_BARS = 30
_SKEWED = 20.0  # ratio of the largest value to the median from which bars are logarithmic

Array = npt.NDArray[np.float64]


class Frequent(NamedTuple):
    """A frequent value; of a string its first bytes, and its size."""

    value: float | int | bytes
    times: int
    size: int | None = None


@dataclass(frozen=True)
class Bars:
    """The bars of a histogram: bar i has the values in [edges[i], edges[i + 1]), the last bar also its upper edge."""

    edges: Array
    is_log: bool = False
    single: bool = False  # one integer per bar
    whole: bool = False  # integers, with edges half-way between them
    most: int = 0  # the largest integer

    def counts(self, numbers: Numbers) -> Array:
        places = np.searchsorted(numbers.points, self.edges)
        places[-1] = np.searchsorted(numbers.points, self.edges[-1], "right")
        return np.diff(numbers.ends[places]).astype(np.float64)


@dataclass(frozen=True)
class Numbers:
    """Figures of numbers. `points` are float64, so that int64 is rounded beyond 2 ** 53; other figures are exact."""

    figures: _core.NumberFigures
    is_int: bool
    points: Array
    weights: npt.NDArray[np.int64]

    @classmethod
    def of(cls, figures: _core.NumberFigures) -> Numbers:
        is_int = figures.points.dtype == np.int64
        return cls(figures, is_int, figures.points.astype(np.float64), figures.weights)

    @property
    def numbers(self) -> int:
        """The number of values that are not NaN."""
        return self.figures.values - self.figures.nans

    def quantile(self, fraction: float) -> float | int | None:
        """Return a quantile, interpolated linearly as NumPy does."""
        return self.quantiles((fraction,))[0]

    def quantiles(self, fractions: Sequence[float]) -> list[float | int | None]:
        """Return several quantiles, as `quantile` does."""
        ends = self.ends[1:]
        if not len(ends):
            return [None] * len(fractions)
        last = int(ends[-1]) - 1
        positions = [fraction * last for fraction in fractions]
        lows = [math.floor(position) for position in positions]
        ranks = [min(rank, last) for low in lows for rank in (low, low + 1)]
        neighbours: list[float | int] = self.figures.points[np.searchsorted(ends, ranks, "right")].tolist()
        results: list[float | int | None] = []
        for fraction, position, low, lower, upper in zip(
            fractions, positions, lows, neighbours[::2], neighbours[1::2], strict=True
        ):
            if not self.figures.exact and fraction in (0.0, 1.0):
                results.append(self.figures.maximum if fraction else self.figures.minimum)
            elif lower == upper or position == low:
                results.append(lower)
            elif lower == -math.inf and upper != math.inf:
                results.append(lower)  # interpolation from -inf to a finite number is -inf
            else:
                results.append(lower + (upper - lower) * (position - low))
        return results

    @functools.cached_property
    def ends(self) -> npt.NDArray[np.int64]:
        """The number of values before each point, and finally the number of all values."""
        return np.concatenate([[0], np.cumsum(self.weights)])

    def below(self, values: Array) -> Array:
        """Return the distribution function at `values`."""
        ends = self.ends
        return ends[np.searchsorted(self.points, values, "right")] / max(1, int(ends[-1]))

    def frequent(self, most: int) -> list[Frequent]:
        """Return the most frequent values, the most frequent first; of a sketch only those that certainly stand out."""
        if self.figures.exact:
            order = np.lexsort((np.arange(len(self.weights)), -self.weights))[:most]
            return list(map(Frequent, self.figures.points[order].tolist(), self.weights[order].tolist()))
        least = max(2 * self.figures.count_error, self.numbers // 1000, 1)
        return [Frequent(value, count) for value, count in self.figures.frequent[:most] if count > least]


class Repeated(NamedTuple):
    """The numbers of distinct records, of those that occur more than once, and of their copies.

    Estimates, unless `exact`, are at most the number of records.
    """

    distinct: int
    repeated: int
    copies: int
    exact: bool

    @classmethod
    def of(cls, core_figures: _core.RepeatFigures, records: int) -> Repeated:
        counts = (core_figures.different, core_figures.repeated, core_figures.copies)
        distinct, repeated, copies = (min(count << core_figures.halvings, records) for count in counts)
        return cls(distinct, repeated, copies, core_figures.halvings == 0)


@dataclass(frozen=True)
class Texts:
    figures: _core.TextFigures
    sizes: Numbers

    @classmethod
    def of(cls, figures: _core.TextFigures) -> Texts:
        return cls(figures, Numbers.of(figures.sizes))

    def frequent(self, most: int) -> list[Frequent]:
        floor = 0 if self.figures.exact else max(2 * self.figures.count_error, self.sizes.numbers // 1000, 1)
        candidates = self.figures.frequent[:most]
        return [Frequent(start, count, size) for start, size, count in candidates if count > floor]


@dataclass(frozen=True)
class Feature:
    core: _core.FeatureFigures
    records: int  # also those without the feature
    lengths: Numbers
    steps: Numbers | None
    ints: Numbers | None
    floats: Numbers | None
    texts: Texts | None

    @property
    def name(self) -> str:
        """The key as text; bytes that are not UTF-8 become lone surrogates, so that names are unique."""
        return self.core.key.decode("utf-8", "surrogateescape")

    @property
    def kind(self) -> str:
        """ "int64", "float", "bytes", "none", or several joined by a slash."""
        return "/".join(self.kinds) or "none"

    @property
    def kinds(self) -> dict[str, int]:
        """The number of records that have values of each kind."""
        core = self.core
        counts = {"int64": core.int64_features, "float": core.float_features, "bytes": core.bytes_features}
        return {name: records for name, records in counts.items() if records}

    @property
    def conflicts(self) -> bool:
        return "/" in self.kind

    @property
    def missing(self) -> int:
        return self.records - self.core.present

    @property
    def values(self) -> int:
        parts = (self.ints, self.floats, None if self.texts is None else self.texts.sizes)
        return sum(numbers.figures.values for numbers in parts if numbers is not None)

    @property
    def numbers(self) -> Numbers | None:
        """The figures of numeric values; with two kinds, those of the more frequent kind."""
        if self.ints is None or self.floats is None:
            return self.ints or self.floats
        return max((self.ints, self.floats), key=lambda numbers: numbers.figures.values)

    @property
    def shown(self) -> Numbers | None:
        """The figures of numeric values, or of the sizes of strings; None without values."""
        return self.numbers or (None if self.texts is None else self.texts.sizes)

    @property
    def distinct(self) -> tuple[float, bool]:
        """The number of distinct values without NaN, and True if it is exact. At most the number of values."""
        counted = [(numbers.figures, numbers.numbers) for numbers in (self.ints, self.floats) if numbers is not None]
        estimates = [(min(figures.distinct, most), figures.exact) for figures, most in counted]
        if self.texts is not None:
            figures = self.texts.figures
            estimates.append((min(figures.distinct, self.texts.sizes.numbers), figures.exact))
        return sum(count for count, _ in estimates), all(exact for _, exact in estimates)

    def frequent(self, most: int) -> list[Frequent]:
        values = [
            value
            for figures in (self.ints, self.floats, self.texts)
            if figures is not None
            for value in figures.frequent(most)
        ]
        return sorted(values, key=lambda value: -value.times)[:most]


def features_of(collector: _core.StatsCollector) -> tuple[list[Feature], list[Feature]]:
    """Return the features of Examples or contexts, and the feature lists, sorted by name."""
    records = collector.examples
    features = [
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
    return [feature for feature in features if not feature.core.is_list], [
        feature for feature in features if feature.core.is_list
    ]


def edges_of(sets: Sequence[Numbers]) -> Bars | None:
    """Return bars for the finite values of all sets, or None without finite values."""
    finite = np.concatenate([numbers.points[np.isfinite(numbers.points)] for numbers in sets] or [np.empty(0)])
    if not len(finite):
        return None
    low, high = float(finite.min()), float(finite.max())
    for numbers in sets:
        low = min([low, *_finite(numbers.figures.minimum)])
        high = max([high, *_finite(numbers.figures.maximum)])
    is_int = all(numbers.is_int for numbers in sets)
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
    fractions = np.arange(_BARS + 1) / _BARS
    edges = low * (1 - fractions) + high * fractions  # high - low may overflow
    edges[-1] = high
    return Bars(np.unique(edges))


def _finite(value: float | int | None) -> Iterator[float]:
    if value is not None and math.isfinite(value):
        yield float(value)


def shown_key(name: str) -> str:
    """Return a name with control characters, and bytes that are not UTF-8, escaped."""
    return printable(name) or "(no name)"
