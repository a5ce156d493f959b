"""Features inferred from records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

from .. import _core
from ..dtypes import as_dtype, float32, int64, string
from ..typing import DTypeLike, Records
from .features import FixedLenFeature, FixedLenSequenceFeature, InferredShape, VarLenFeature

_DTYPES = {"int64": int64, "float": float32, "bytes": string}
DEFAULT_MAX_RECORDS = 10_000


class Scanned(Protocol):
    """A summary of scanned records: of a FeatureSurvey, or of several."""

    @property
    def records(self) -> int: ...
    def features(self) -> Sequence[Any]: ...  # each as a _core.KeySummary
    def lists(self) -> Sequence[Any]: ...


InferredFeature = FixedLenFeature | VarLenFeature
InferredList = FixedLenSequenceFeature | VarLenFeature


def infer_from_batches(
    batches: Iterable[Records], max_records: int | None = DEFAULT_MAX_RECORDS
) -> dict[str, InferredFeature]:
    """Infer features as `infer_features`, from batches of serialized Examples."""
    why = "SequenceExamples have feature lists; use tf.io.infer_sequence_features"
    return features_of(_scan(batches, max_records, no_lists=why))


def infer_either(batches: Iterable[Records]) -> Any:
    """Infer the features of Examples; or, of SequenceExamples, the pair (context features, sequence features)."""
    scanner = _scan(batches, DEFAULT_MAX_RECORDS)
    return (features_of(scanner), lists_of(scanner)) if scanner.has_lists else features_of(scanner)


def infer_sequences_from_batches(
    batches: Iterable[Records], max_records: int | None = DEFAULT_MAX_RECORDS
) -> tuple[dict[str, InferredFeature], dict[str, InferredList]]:
    """Infer features as `infer_sequence_features`, from batches of serialized SequenceExamples."""
    scanner = _scan(batches, max_records)
    return features_of(scanner), lists_of(scanner)


def lists_of(scanner: Scanned) -> dict[str, InferredList]:
    lists: dict[str, InferredList] = {}
    for name, dtype, shape, _ in _seen(scanner.lists(), scanner):
        lists[name] = VarLenFeature(dtype) if shape is None else FixedLenSequenceFeature(shape, dtype, True)
    return lists


def features_of(scanner: Scanned, optional_scalars: bool = False) -> dict[str, InferredFeature]:
    """Return the features, or context features, that a scanner has seen.

    With `optional_scalars`, a feature that never has more than one value is a scalar, though some records lack it.
    """
    features: dict[str, InferredFeature] = {}
    for name, dtype, shape, records in _seen(scanner.features(), scanner):
        in_all = records == scanner.records or (optional_scalars and shape == [])
        features[name] = VarLenFeature(dtype) if shape is None or not in_all else FixedLenFeature(shape, dtype)
    return features


def _seen(summaries: Sequence[_core.KeySummary], scanner: Scanned) -> Iterator[tuple[str, Any, list[int] | None, int]]:
    """Yield for each key with values its name, its dtype, its shape (None if it varies) and its number of records."""
    note = InferredShape(scanner.records)
    for seen in sorted(summaries):
        if seen.kind != "none":
            is_fixed = seen.fewest == seen.most > 0
            shape = note([] if seen.most == 1 else [seen.most]) if is_fixed else None
            yield seen.key.decode("utf-8", "surrogateescape"), _DTYPES[seen.kind], shape, seen.records


def add_examples(scanner: _core.FeatureSurvey, records: Records, why: str) -> None:
    scanner.add(records)
    if scanner.has_lists:
        _core.fail_at(records, first_row(records, lambda single: single.has_lists), why)


def first_row(records: Records, holds: Callable[[_core.FeatureSurvey], bool]) -> int:
    """Return the first row for which `holds(scanner)` is true of a scanner that saw only this record."""
    sequence: Any = records
    for row in range(len(sequence)):
        scanner = _core.FeatureSurvey()
        scanner.add(sequence[row : row + 1])
        if holds(scanner):
            return row
    raise AssertionError("no record meets the condition")


def _scan(batches: Iterable[Records], max_records: int | None, no_lists: str = "") -> _core.FeatureSurvey:
    scanner = _core.FeatureSurvey()
    for batch in batches:
        records: Any = batch  # every type of records can be sliced
        records = records if max_records is None else records[: max_records - scanner.records]
        if no_lists:
            add_examples(scanner, records, no_lists)
        else:
            scanner.add(records)
        if max_records is not None and scanner.records >= max_records:
            break
    return scanner


def describe_features(features: Mapping[str, InferredFeature | InferredList], module: str = "tf") -> str:
    """Return the features as Python code to paste.

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
    shape = list(cast(Any, feature.shape))
    if isinstance(feature, FixedLenSequenceFeature):
        return f"{module}.io.FixedLenSequenceFeature({shape}, {dtype(feature.dtype)}, allow_missing=True)"
    return f"{module}.io.FixedLenFeature({shape}, {dtype(feature.dtype)})"
