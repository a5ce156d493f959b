"""Collectors of figures, records for them, and NumPy's figures beside theirs."""

import math

import numpy as np
import pytest

from tests.support import wire_writer as wire
from tfrecord_fast import _core

__all__ = ["check", "collector", "example", "floats", "ints", "only", "table"]


def collector(*batches, file=0, first=0):
    made = _core.StatsCollector(file, first, [])
    for records in batches:
        made.add(list(records))
    return made


def example(**features):
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


def ints(values):
    return [example(a=("int64", [int(value)])) for value in values]


def floats(values):
    return [example(a=("float", [float(value)])) for value in values]


def only(made):
    (feature,) = made.features()
    return feature


def check(figures, values):
    """Against NumPy, in float64."""
    values = np.asarray(values)
    wide = values[~np.isnan(values)].astype(np.float64)
    assert (figures.values, figures.nans) == (len(values), len(values) - len(wide))
    assert figures.zeros == np.count_nonzero(wide == 0)
    if len(wide):
        assert figures.minimum == values[~np.isnan(values)].min() and figures.maximum == values[~np.isnan(values)].max()
    finite = wide[np.isfinite(wide)]
    if len(finite):
        mean = math.fsum(finite) / len(finite)
        assert figures.mean == pytest.approx(mean, rel=1e-12, abs=1e-12 * np.abs(finite).mean())
        std = math.sqrt(math.fsum((x - mean) ** 2 for x in finite) / len(finite))
        assert figures.std == pytest.approx(std, rel=1e-12, abs=1e-12 * np.abs(finite).max())
    assert figures.weights.sum() == len(wide) and (figures.points[1:] >= figures.points[:-1]).all()
    different = len(np.unique(values[~np.isnan(values)]))
    if figures.exact:
        assert figures.distinct == different
        expected, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        assert figures.points.tolist() == expected.tolist() and figures.weights.tolist() == counts.tolist()
    else:
        assert different > 1000 and figures.distinct == pytest.approx(different, rel=0.06)


def table(n, seed=0, missing=0.0):
    """Records of a table, some of which lack a column."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        entries = [(b"x%d" % k, wire.feature("int64", [int(rng.integers(-5, 2**12))])) for k in range(4)]
        entries += [(b"y%d" % k, wire.feature("float", [float(np.float32(rng.normal()))])) for k in range(4)]
        if rng.random() < missing:
            del entries[int(rng.integers(0, 8))]
        if i % 97 == 5:
            entries.append((b"z", wire.feature("bytes", [b"rare"])))
        rows.append(wire.example(entries))
    return rows
