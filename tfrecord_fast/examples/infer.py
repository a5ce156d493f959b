"""Features learnt from records, so that nobody has to write them down."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import _core
from ..dtypes import DType, float32, int64, string
from ..errors import InvalidArgumentError
from .features import FixedLenFeature, FixedLenSequenceFeature, InferredShape, VarLenFeature

__all__ = [
    "DEFAULT_MAX_RECORDS",
    "describe_features",
    "features_of",
    "infer_from_batches",
    "infer_sequences_from_batches",
    "lists_of",
]

_DTYPES = {"int64": int64, "float": float32, "bytes": string}
DEFAULT_MAX_RECORDS = 10_000


def infer_from_batches(batches: Iterable[Any], max_records: int | None = DEFAULT_MAX_RECORDS) -> dict[str, Any]:
    """As `infer_features`, of batches of serialized Examples."""
    scanner = _scan(batches, max_records)
    if scanner.has_lists:
        raise InvalidArgumentError(
            "these records are SequenceExamples: they have feature lists; infer_sequence_features tells their features"
        )
    return features_of(scanner)


def infer_sequences_from_batches(
    batches: Iterable[Any], max_records: int | None = DEFAULT_MAX_RECORDS
) -> tuple[dict[str, Any], dict[str, Any]]:
    """As `infer_sequence_features`, of batches of serialized SequenceExamples."""
    scanner = _scan(batches, max_records)
    return features_of(scanner), lists_of(scanner)


def lists_of(scanner: _core.FeatureScanner) -> dict[str, Any]:
    """The sequence features that a scanner has seen."""
    note = InferredShape(scanner.records)
    lists: dict[str, Any] = {}
    for seen in sorted(scanner.lists()):
        if seen.kind == "none":
            continue
        name, dtype = _name(seen.key), _DTYPES[seen.kind]
        if seen.fewest == seen.most > 0:
            lists[name] = FixedLenSequenceFeature(note(_shape(seen)), dtype, allow_missing=True)
        else:
            lists[name] = VarLenFeature(dtype)
    return lists


def features_of(scanner: _core.FeatureScanner) -> dict[str, Any]:
    """The features, or context features, that a scanner has seen."""
    note = InferredShape(scanner.records)
    features: dict[str, Any] = {}
    for seen in sorted(scanner.features()):
        if seen.kind == "none":
            continue
        name, dtype = _name(seen.key), _DTYPES[seen.kind]
        if seen.records == scanner.records and seen.fewest == seen.most > 0:
            features[name] = FixedLenFeature(note(_shape(seen)), dtype)
        else:
            features[name] = VarLenFeature(dtype)
    return features


def _shape(seen: _core.KeySummary) -> list[int]:
    return [] if seen.most == 1 else [seen.most]


def _name(key: bytes) -> str:
    return key.decode("utf-8", "surrogateescape")


def _scan(batches: Iterable[Any], max_records: int | None) -> _core.FeatureScanner:
    scanner = _core.FeatureScanner()
    for batch in batches:
        scanner.add(batch if max_records is None else batch[: max_records - scanner.records])
        if max_records is not None and scanner.records >= max_records:
            break
    return scanner


def describe_features(features: dict[str, Any], module: str = "tf") -> str:
    """The features as Python code that can be pasted.

    >>> print(describe_features({"id": FixedLenFeature([], int64)}))
    {
        'id': tf.io.FixedLenFeature([], tf.int64),
    }
    """
    lines = "".join(f"    {key!r}: {_code(feature, module)},\n" for key, feature in features.items())
    return "{\n" + lines + "}"


def _code(feature: Any, module: str) -> str:
    def dtype(value: DType) -> str:
        return f"{module}.{value.name}"

    if isinstance(feature, VarLenFeature):
        return f"{module}.io.VarLenFeature({dtype(feature.dtype)})"
    shape = list(feature.shape)
    if isinstance(feature, FixedLenSequenceFeature):
        return f"{module}.io.FixedLenSequenceFeature({shape}, {dtype(feature.dtype)}, allow_missing=True)"
    return f"{module}.io.FixedLenFeature({shape}, {dtype(feature.dtype)})"
