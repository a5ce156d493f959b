"""The output of `stats --json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....examples.record_kinds import counts_of
from ...records.json_values import marked_bytes, marked_float
from .collecting import Collected
from .drift import Drift
from .figures import Feature, Frequent, Numbers, edges_of

QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
_QUANTILE_NAMES = [str(fraction) for fraction in QUANTILES]
_MOST_FREQUENT = 20


def as_json(collected: Collected) -> dict[str, Any]:
    """Return all figures as an object; keys and text that are not UTF-8 are written as in `cat --json`."""
    collector = collected.collector
    features, lists = ({feature.name: _feature(feature) for feature in group} for group in collected.features)
    repeated, repeats = collected.repeated, collected.repeats  # last, since records are compared meanwhile
    return {
        "files": len(collected.shards),
        "records": collected.records,
        "limited": collected.limited,
        "bytes": sum(shard.payload_bytes for shard in collected.shards),
        "kinds": counts_of(collector),
        "record_bytes": _numbers(Numbers.of(collector.sizes())),
        "duplicates": {
            "exact": repeated.exact,
            "distinct": repeated.distinct,
            "repeated": repeated.repeated,
            "copies": repeated.copies,
            "most": repeats.most,
            "first": [_pair(pair, collected) for pair in repeats.pairs],
        },
        "features": features,
        "feature_lists": lists,
        "entries_left_out": collector.entries_left_out,
        "shards": [shard.as_json() for shard in collected.shards],
    }


def drift_as_json(differences: Sequence[Drift]) -> list[dict[str, Any]]:
    return [
        {
            "feature": drift.name,
            "measure": drift.measure,
            "distance": drift.distance,
            "missing": drift.missing,
            "exact": drift.exact,
            "only_in": drift.only,
        }
        for drift in differences
    ]


def _pair(pair: tuple[int, int, int, int], collected: Collected) -> list[dict[str, Any]]:
    ends = sorted((pair[:2], pair[2:]))
    return [{"path": collected.shards[file].path, "record": record} for file, record in ends]


def _feature(feature: Feature) -> dict[str, Any]:
    distinct, exact = feature.distinct
    report: dict[str, Any] = {
        "kind": feature.kind,
        "present": feature.core.present,
        "missing": feature.missing,
        "unset": feature.core.unset,
        "values": feature.values,
        "distinct": round(distinct),
        "exact": exact,
        "top": [_frequent(frequent) for frequent in feature.frequent(_MOST_FREQUENT)],
        "values_per_step" if feature.core.is_list else "values_per_record": _numbers(feature.lengths),
    }
    if feature.steps is not None:
        report["steps_per_record"] = _numbers(feature.steps)
    for numbers in (feature.ints, feature.floats):
        if numbers is not None:
            report["int64" if numbers.is_int else "float"] = _numbers(numbers)
    if feature.texts is not None:
        report["value_bytes"] = _numbers(feature.texts.sizes)
    return report


def _frequent(frequent: Frequent) -> dict[str, Any]:
    if not isinstance(frequent.value, bytes):
        return {"value": marked_float(frequent.value), "count": frequent.times}
    if frequent.size == len(frequent.value):
        return {"value": marked_bytes(frequent.value), "count": frequent.times}
    return {"start": marked_bytes(frequent.value), "bytes": frequent.size, "count": frequent.times}


def _numbers(numbers: Numbers) -> dict[str, Any]:
    figures = numbers.figures
    report: dict[str, Any] = {"count": figures.values}
    if not numbers.is_int:
        report |= {"nan": figures.nans, "inf": figures.positive_infinities, "-inf": figures.negative_infinities}
    report |= {
        "zeros": figures.zeros,
        "min": _number(figures.minimum),
        "max": _number(figures.maximum),
        "mean": _number(figures.mean),
        "std": _number(figures.std),
        "exact": figures.exact,
        "quantiles": dict(zip(_QUANTILE_NAMES, map(_number, numbers.quantiles(QUANTILES)), strict=True)),
    }
    bars = edges_of([numbers])
    if bars is not None:
        report["histogram"] = {"edges": bars.edges.tolist(), "counts": bars.counts(numbers).tolist()}
    return report


def _number(value: float | int | None) -> Any:
    return None if value is None else marked_float(value)
