"""The object that `stats --json` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....examples.record_kinds import counts_of
from ...records.json_values import marked_bytes, marked_float
from .collecting import Collected
from .drift import Drift
from .figures import Feature, Frequent, Numbers, edges_of

__all__ = ["as_json", "drift_as_json"]

QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
_PARTS = [str(part) for part in QUANTILES]
_MOST_FREQUENT = 20


def as_json(collected: Collected) -> dict[str, Any]:
    """All figures; keys and text that are not UTF-8 as in `cat --json`."""
    collector = collected.collector
    features, lists = ({feature.name: _feature(feature) for feature in part} for part in collected.features)
    repeated, found = collected.repeated, collected.repeats  # last: records are compared meanwhile
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
            "most": found.most,
            "first": [_pair(pair, collected) for pair in found.pairs],
        },
        "features": features,
        "feature_lists": lists,
        "entries_left_out": collector.entries_left_out,
        "shards": [
            {
                "path": shard.path,
                "compression": shard.compression,
                "bytes": shard.stored_bytes,
                "records": shard.records,
                "payload_bytes": shard.payload_bytes,
                "error": None if shard.problem is None else shard.problem.as_json(),
            }
            for shard in collected.shards
        ],
    }


def drift_as_json(found: Sequence[Drift]) -> list[dict[str, Any]]:
    """The list under "drift"."""
    return [
        {
            "feature": drift.name,
            "measure": drift.measure,
            "distance": drift.distance,
            "missing": drift.missing,
            "exact": drift.exact,
            "only_in": drift.only,
        }
        for drift in found
    ]


def _pair(pair: tuple[int, int, int, int], collected: Collected) -> list[dict[str, Any]]:
    ends = sorted((pair[:2], pair[2:]))
    return [{"path": collected.shards[file].path, "record": record} for file, record in ends]


def _feature(feature: Feature) -> dict[str, Any]:
    distinct, exact = feature.distinct
    made: dict[str, Any] = {
        "kind": feature.kind,
        "present": feature.core.present,
        "missing": feature.missing,
        "unset": feature.core.unset,
        "values": feature.values,
        "distinct": round(distinct),
        "exact": exact,
        "top": [_frequent(one) for one in feature.frequent(_MOST_FREQUENT)],
        "values_per_step" if feature.core.is_list else "values_per_record": _numbers(feature.lengths),
    }
    if feature.steps is not None:
        made["steps_per_record"] = _numbers(feature.steps)
    for numbers in (feature.ints, feature.floats):
        if numbers is not None:
            made["int64" if numbers.is_int else "float"] = _numbers(numbers)
    if feature.texts is not None:
        made["value_bytes"] = _numbers(feature.texts.sizes)
    return made


def _frequent(found: Frequent) -> dict[str, Any]:
    if not isinstance(found.value, bytes):
        return {"value": marked_float(found.value), "count": found.times}
    if found.size == len(found.value):
        return {"value": marked_bytes(found.value), "count": found.times}
    return {"start": marked_bytes(found.value), "bytes": found.size, "count": found.times}


def _numbers(numbers: Numbers) -> dict[str, Any]:
    figures = numbers.figures
    made: dict[str, Any] = {"count": figures.values}
    if not numbers.is_int:
        made |= {"nan": figures.nans, "inf": figures.positive_infinities, "-inf": figures.negative_infinities}
    made |= {
        "zeros": figures.zeros,
        "min": _number(figures.minimum),
        "max": _number(figures.maximum),
        "mean": _number(figures.mean),
        "std": _number(figures.std),
        "exact": figures.exact,
        "quantiles": dict(zip(_PARTS, map(_number, numbers.quantiles(QUANTILES)), strict=True)),
    }
    bars = edges_of([numbers])
    if bars is not None:
        made["histogram"] = {"edges": bars.edges.tolist(), "counts": bars.counts(numbers).tolist()}
    return made


def _number(value: float | int | None) -> Any:
    return None if value is None else marked_float(value)
