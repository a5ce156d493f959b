"""Distances of features between two sets of files, from 0 (no difference) to 1.

- Numbers: the Kolmogorov-Smirnov distance, the largest difference between the two distribution functions.
- Bytes with more distinct values than are counted: the same distance, of their sizes.
- Other bytes, and integers with few distinct values: the L-infinity distance, the largest difference between the shares
  of a value in the two sets.
- Missing: the difference between the shares of records without the feature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .figures import Feature, Numbers

_MOST_CATEGORIES = 100


class Drift(NamedTuple):
    """The distance of a feature between two sets; `distance` is None if a set has no values."""

    name: str
    measure: str  # "KS", "KS of sizes" or "L-infinity", or "kind" if the sets have different kinds of values
    distance: float | None
    missing: float
    exact: bool
    only: str | None = None  # "first" or "second": the set that has the feature

    @property
    def score(self) -> float:
        """The sort key."""
        return 1.0 if self.only or self.measure == "kind" else max(self.distance or 0.0, self.missing)


def drifts(first: Sequence[Feature], second: Sequence[Feature]) -> dict[str, Drift]:
    """Return the drift of each feature by name, the largest first."""
    first_by_name: Mapping[str, Feature] = {feature.name: feature for feature in first}
    second_by_name: Mapping[str, Feature] = {feature.name: feature for feature in second}
    differences = [
        _drift(name, first_by_name.get(name), second_by_name.get(name))
        for name in sorted(first_by_name.keys() | second_by_name.keys())
    ]
    return {drift.name: drift for drift in sorted(differences, key=lambda drift: -drift.score)}


def _drift(name: str, first: Feature | None, second: Feature | None) -> Drift:
    if first is None or second is None:
        return Drift(name, "kind", None, 1.0, True, "second" if first is None else "first")
    missing = abs(first.missing / max(1, first.records) - second.missing / max(1, second.records))
    exact = first.distinct[1] and second.distinct[1]
    if not first.values or not second.values:
        return Drift(name, "KS" if first.numbers or second.numbers else "L-infinity", None, missing, True)
    if first.kind != second.kind:
        return Drift(name, "kind", None, missing, True)
    if first.numbers is not None and second.numbers is not None and not _is_category(first, second):
        return Drift(name, "KS", ks_distance(first.numbers, second.numbers), missing, exact)
    if first.texts is not None and second.texts is not None and not exact:
        return Drift(name, "KS of sizes", ks_distance(first.texts.sizes, second.texts.sizes), missing, False)
    distance, is_exact = _l_infinity(first, second)
    return Drift(name, "L-infinity", distance, missing, exact and is_exact)


def _is_category(first: Feature, second: Feature) -> bool:
    return first.kind == "int64" and all(
        feature.distinct[1] and feature.distinct[0] <= _MOST_CATEGORIES for feature in (first, second)
    )


def ks_distance(first: Numbers, second: Numbers) -> float:
    """Return the largest difference between the two distribution functions."""
    if not len(first.points) or not len(second.points):
        return 0.0
    at = np.union1d(first.points, second.points)
    return float(np.abs(first.below(at) - second.below(at)).max())


def _l_infinity(first: Feature, second: Feature) -> tuple[float, bool]:
    """Return the distance, and True if it is exact: long texts with equal starts and sizes count as equal."""
    shares, exact = [], True
    for feature in (first, second):
        total = max(1, feature.values)
        share: dict[tuple[Any, int | None], float] = {}
        for value in feature.frequent(10_000):
            key = value.value, value.size
            exact &= key not in share
            share[key] = share.get(key, 0.0) + value.times / total
        shares.append(share)
    keys = shares[0].keys() | shares[1].keys()
    exact &= not any(isinstance(value, bytes) and size is not None and len(value) < size for value, size in keys)
    return max((abs(shares[0].get(key, 0.0) - shares[1].get(key, 0.0)) for key in keys), default=0.0), exact
