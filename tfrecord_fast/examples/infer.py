"""Features inferred from records, so that nobody has to write them down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from .. import _core
from ..dtypes import as_dtype, float32, int64, string
from ..typing import DTypeLike, Records
from .features import FixedLenFeature, FixedLenSequenceFeature, InferredShape, VarLenFeature

__all__ = [
    "DEFAULT_MAX_RECORDS",
    "InferredFeature",
    "InferredList",
    "Scanned",
    "add_examples",
    "describe_features",
    "features_of",
    "first_row",
    "infer_from_batches",
    "infer_sequences_from_batches",
    "lists_of",
]

_DTYPES = {"int64": int64, "float": float32, "bytes": string}
DEFAULT_MAX_RECORDS = 10_000


class Scanned(Protocol):
    """What has seen records: a FeatureScanner, or several together."""

    @property
    def records(self) -> int: ...
    def features(self) -> Sequence[Any]: ...  # each as a _core.KeySummary
    def lists(self) -> Sequence[Any]: ...


InferredFeature = FixedLenFeature | VarLenFeature
InferredList = FixedLenSequenceFeature | VarLenFeature


def infer_from_batches(
    batches: Iterable[Records], max_records: int | None = DEFAULT_MAX_RECORDS
) -> dict[str, InferredFeature]:
    """As `infer_features`, from batches of serialized Examples."""
    why = "SequenceExamples, which have feature lists, need infer_sequence_features"
    return features_of(_scan(batches, max_records, no_lists=why))


def infer_sequences_from_batches(
    batches: Iterable[Records], max_records: int | None = DEFAULT_MAX_RECORDS
) -> tuple[dict[str, InferredFeature], dict[str, InferredList]]:
    """As `infer_sequence_features`, from batches of serialized SequenceExamples."""
    scanner = _scan(batches, max_records)
    return features_of(scanner), lists_of(scanner)


def lists_of(scanner: Scanned) -> dict[str, InferredList]:
    """The sequence features that a scanner has seen."""
    note = InferredShape(scanner.records)
    lists: dict[str, InferredList] = {}
    for seen in sorted(scanner.lists()):
        if seen.kind == "none":
            continue
        name, dtype = _name(seen.key), _DTYPES[seen.kind]
        if seen.fewest == seen.most > 0:
            lists[name] = FixedLenSequenceFeature(note(_shape(seen)), dtype, allow_missing=True)
        else:
            lists[name] = VarLenFeature(dtype)
    return lists


def features_of(scanner: Scanned, optional_scalars: bool = False) -> dict[str, InferredFeature]:
    """The features, or context features, that a scanner has seen.

    With `optional_scalars`, one that has one value wherever it is counts as a scalar, though some records lack it.
    """
    note = InferredShape(scanner.records)
    features: dict[str, InferredFeature] = {}
    for seen in sorted(scanner.features()):
        if seen.kind == "none":
            continue
        name, dtype = _name(seen.key), _DTYPES[seen.kind]
        everywhere = seen.records == scanner.records or (optional_scalars and seen.most == 1)
        if everywhere and seen.fewest == seen.most > 0:
            features[name] = FixedLenFeature(note(_shape(seen)), dtype)
        else:
            features[name] = VarLenFeature(dtype)
    return features


def _shape(seen: _core.KeySummary) -> list[int]:
    return [] if seen.most == 1 else [seen.most]


def _name(key: bytes) -> str:
    return key.decode("utf-8", "surrogateescape")


def add_examples(scanner: _core.FeatureScanner, records: Records, why: str) -> None:
    """Adds records to a scanner, if none of them is a SequenceExample.

    Raises:
      errors.InvalidArgumentError: it says `why`, and names the first record that is one; or as `infer_features`.
    """
    scanner.add(records)
    if scanner.has_lists:
        _core.fail_at(records, first_row(records, lambda one: one.has_lists), why)


def first_row(records: Records, holds: Callable[[_core.FeatureScanner], bool]) -> int:
    """The first record for which `holds(scanner)` is true, where the scanner has seen that record alone; one exists."""
    part: Any = records
    for row in range(len(part)):
        one = _core.FeatureScanner()
        one.add(part[row : row + 1])
        if holds(one):
            return row
    raise AssertionError("no record is such")


def _scan(batches: Iterable[Records], max_records: int | None, no_lists: str = "") -> _core.FeatureScanner:
    scanner = _core.FeatureScanner()
    for batch in batches:
        part: Any = batch  # all of these kinds of records can be sliced
        part = part if max_records is None else part[: max_records - scanner.records]
        if no_lists:
            add_examples(scanner, part, no_lists)
        else:
            scanner.add(part)
        if max_records is not None and scanner.records >= max_records:
            break
    return scanner


def describe_features(features: Mapping[str, InferredFeature | InferredList], module: str = "tf") -> str:
    """The features as Python code that can be pasted.

    >>> print(describe_features({"id": FixedLenFeature([], int64)}))
    {
        'id': tf.io.FixedLenFeature([], tf.int64),
    }
    """
    lines = "".join(f"    {key!r}: {_code(feature, module)},\n" for key, feature in features.items())
    return "{\n" + lines + "}"


def _code(feature: InferredFeature | InferredList, module: str) -> str:
    def dtype(value: DTypeLike) -> str:
        return f"{module}.{as_dtype(value).name}"

    if isinstance(feature, VarLenFeature):
        return f"{module}.io.VarLenFeature({dtype(feature.dtype)})"
    given: Any = feature.shape
    shape = list(given)
    if isinstance(feature, FixedLenSequenceFeature):
        return f"{module}.io.FixedLenSequenceFeature({shape}, {dtype(feature.dtype)}, allow_missing=True)"
    return f"{module}.io.FixedLenFeature({shape}, {dtype(feature.dtype)})"
