"""How much a feature differs between two sets of files.

- Numbers: the Kolmogorov-Smirnov distance, the largest difference between the parts of both sets' values that are not
  above any one number.
- Bytes with more different values than are counted: the same, of their sizes.
- Other bytes, and integers with few different values: the L-infinity distance, the largest difference between the parts
  of both sets' values that one value has.
- Missing: the difference between the parts of records without the feature.

All are between 0, no difference, and 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .figures import Feature, Numbers

__all__ = ["Drift", "drifts", "ks_distance"]

_MOST_CATEGORIES = 100


class Drift(NamedTuple):
    """The distance of the values, None if one side has none; its name; the difference in missing records."""

    name: str
    measure: str  # "KS", "KS of sizes" or "L-infinity", or "kind" if the sets have different kinds of values
    distance: float | None
    missing: float
    exact: bool
    only: str | None = None  # "first" or "second": the set that has the feature

    @property
    def score(self) -> float:
        """What features are sorted by."""
        return 1.0 if self.only or self.measure == "kind" else max(self.distance or 0.0, self.missing)


def drifts(first: Sequence[Feature], second: Sequence[Feature]) -> dict[str, Drift]:
    """The drift of each feature by name, the largest first."""
    one: Mapping[str, Feature] = {feature.name: feature for feature in first}
    two: Mapping[str, Feature] = {feature.name: feature for feature in second}
    found = [_drift(name, one.get(name), two.get(name)) for name in sorted(one.keys() | two.keys())]
    return {drift.name: drift for drift in sorted(found, key=lambda drift: -drift.score)}


def _drift(name: str, one: Feature | None, two: Feature | None) -> Drift:
    if one is None or two is None:
        return Drift(name, "kind", None, 1.0, True, "second" if one is None else "first")
    missing = abs(one.missing / max(1, one.records) - two.missing / max(1, two.records))
    exact = one.distinct[1] and two.distinct[1]
    if not one.values or not two.values:
        return Drift(name, "KS" if one.numbers or two.numbers else "L-infinity", None, missing, True)
    if one.kind != two.kind:
        return Drift(name, "kind", None, missing, True)
    if one.numbers is not None and two.numbers is not None and not _is_category(one, two):
        return Drift(name, "KS", ks_distance(one.numbers, two.numbers), missing, exact)
    if one.texts is not None and two.texts is not None and not exact:
        return Drift(name, "KS of sizes", ks_distance(one.texts.sizes, two.texts.sizes), missing, False)
    distance, is_exact = _l_infinity(one, two)
    return Drift(name, "L-infinity", distance, missing, exact and is_exact)


def _is_category(one: Feature, two: Feature) -> bool:
    return one.kind == "int64" and all(part.distinct[1] and part.distinct[0] <= _MOST_CATEGORIES for part in (one, two))


def ks_distance(one: Numbers, two: Numbers) -> float:
    """The largest difference between the two distribution functions."""
    if not len(one.points) or not len(two.points):
        return 0.0
    at = np.union1d(one.points, two.points)
    return float(np.abs(one.below(at) - two.below(at)).max())


def _l_infinity(one: Feature, two: Feature) -> tuple[float, bool]:
    """The distance, and whether that is all of it: of long texts only the beginning and the size are known, and those
    that differ in neither count as one."""
    parts, exact = [], True
    for feature in (one, two):
        total = max(1, feature.values)
        part: dict[tuple[Any, int | None], float] = {}
        for found in feature.frequent(10_000):
            key = found.value, found.size
            exact &= key not in part
            part[key] = part.get(key, 0.0) + found.times / total
        parts.append(part)
    keys = parts[0].keys() | parts[1].keys()
    exact &= not any(isinstance(value, bytes) and size is not None and len(value) < size for value, size in keys)
    return max((abs(parts[0].get(key, 0.0) - parts[1].get(key, 0.0)) for key in keys), default=0.0), exact
