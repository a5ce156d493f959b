"""Features learnt from records, so that nobody has to write them down."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .. import _core
from .._convert import plain
from ..bytes_array import BytesArray
from ..dtypes import DType, float32, int64, string
from ..errors import InvalidArgumentError
from ..features import FixedLenFeature, FixedLenSequenceFeature, InferredShape, VarLenFeature

__all__ = ["describe_features", "features_of", "infer_features", "infer_sequence_features", "lists_of"]

_DTYPES = {"int64": int64, "float": float32, "bytes": string}
_BATCH = 1024
DEFAULT_MAX_RECORDS = 10_000


def infer_features(source: Any, max_records: int | None = DEFAULT_MAX_RECORDS) -> dict[str, Any]:
    """Looks at Examples and says what features they have.

    Args:
      source: file names, as `data.TFRecordDataset` takes them; or records: a RecordBatch, a sequence, an iterator or an
        array (NumPy, Arrow, pandas) of bytes-like objects. In a sequence bytes are records, str are paths.
      max_records: how many to look at; None: all.

    Returns:
      dict of keys, sorted, to FixedLenFeature, where every record seen has the key with the same number of values
      (one: of shape []; none: not), else VarLenFeature. A key whose Features never have a kind is left out. A later
      record that breaks an inferred shape says so in its error.

    Raises:
      errors.InvalidArgumentError: a key has two kinds, a record is malformed, or the records are SequenceExamples
        (see `infer_sequence_features`).
    """
    scanner = _scan(source, max_records)
    if scanner.has_lists:
        raise InvalidArgumentError(
            "these records are SequenceExamples: they have feature lists; infer_sequence_features tells their features"
        )
    return features_of(scanner)


def infer_sequence_features(
    source: Any, max_records: int | None = DEFAULT_MAX_RECORDS
) -> tuple[dict[str, Any], dict[str, Any]]:
    """As `infer_features`, for SequenceExamples.

    Returns:
      (context features, sequence features): of a feature list FixedLenSequenceFeature with allow_missing=True, where
      every step seen has the same number of values, else VarLenFeature.
    """
    scanner = _scan(source, max_records)
    return features_of(scanner), lists_of(scanner)


def lists_of(scanner: _core.FeatureScanner) -> dict[str, Any]:
    """The sequence features that a scanner has seen."""
    note = InferredShape(scanner.records)
    lists: dict[str, Any] = {}
    for key, kind, _, fewest, most, _, _ in sorted(scanner.lists()):
        if kind == "none":
            continue
        name, dtype = _name(key), _DTYPES[kind]
        if fewest == most > 0:
            lists[name] = FixedLenSequenceFeature(note([] if most == 1 else [most]), dtype, allow_missing=True)
        else:
            lists[name] = VarLenFeature(dtype)
    return lists


def features_of(scanner: _core.FeatureScanner) -> dict[str, Any]:
    """The features, or context features, that a scanner has seen."""
    note = InferredShape(scanner.records)
    features: dict[str, Any] = {}
    for key, kind, records, fewest, most, _, _ in sorted(scanner.features()):
        if kind == "none":
            continue
        name, dtype = _name(key), _DTYPES[kind]
        if records == scanner.records and fewest == most > 0:
            features[name] = FixedLenFeature(note([] if most == 1 else [most]), dtype)
        else:
            features[name] = VarLenFeature(dtype)
    return features


def _name(key: bytes) -> str:
    return key.decode("utf-8", "surrogateescape")


def _scan(source: Any, max_records: int | None) -> _core.FeatureScanner:
    scanner = _core.FeatureScanner()
    for batch in _batches(source):
        scanner.add(batch if max_records is None else batch[: max_records - scanner.records])
        if max_records is not None and scanner.records >= max_records:
            break
    return scanner


def _batches(source: Any) -> Iterable[Any]:
    """Batches of the records of files, or of records that are given: bytes in a sequence are records, str are paths."""
    if isinstance(source, _core.RecordBatch | BytesArray):
        return [source]
    if hasattr(source, "batch") and not isinstance(source, str | bytes):
        return source.batch(_BATCH)  # type: ignore[no-any-return]
    from ..data import TFRecordDataset

    source = _sequence(plain(source))
    if isinstance(source, Iterator):
        first = next(source, None)
        source = itertools.chain([] if first is None else [first], source)
        if isinstance(first, bytes | bytearray | memoryview):
            return iter(lambda: list(itertools.islice(source, _BATCH)), [])
        source = list(source)
    if isinstance(source, list | tuple) and source and isinstance(source[0], bytes | bytearray | memoryview):
        return [source]
    return TFRecordDataset(source).batch(_BATCH)


def _sequence(source: Any) -> Any:
    """A list of what is in an array: of NumPy, pyarrow, pandas or polars."""
    if isinstance(source, np.ndarray):
        return source.ravel().tolist() if source.ndim else source.item()
    for to_list in ("to_pylist", "to_list"):
        if hasattr(source, to_list):
            return getattr(source, to_list)()
    return source


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
