"""Inference of features from the records in files or from records in memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ... import _core
from ...examples.infer import (
    DEFAULT_MAX_RECORDS,
    InferredFeature,
    InferredList,
    infer_from_batches,
    infer_sequences_from_batches,
)
from ...typing import BytesLike, Files, PathLike, Records
from ...values.columns.bytes_array import BytesArray
from ...values.columns.conversion import plain
from ..naming.foreign_formats import explaining
from ..naming.numbers import at_least
from ..stores import StoreSettings
from ..stores.cache import store_settings
from .core_files import flatten
from .records import record_stream

_BATCH = 1024
_READ_AHEAD = 16 << 20  # for the first records only


def infer_features(
    files_or_batch: Files | Records | Iterator[BytesLike],
    max_records: int | None = DEFAULT_MAX_RECORDS,
    *,
    storage_options: Mapping[str, Any] | None = None,
    max_requests: int = 16,
    cache_dir: PathLike | None = None,
) -> dict[str, InferredFeature]:
    """Infer the features that parse Examples.

    Args:
      files_or_batch: files, as `data.TFRecordDataset` takes them; or records: a RecordBatch, a sequence, an iterator
        or an array (NumPy, Arrow, pandas) of bytes-like objects. In a sequence, bytes are records and str are paths.
      max_records: the number of records to examine; None: all.
      storage_options, max_requests, cache_dir: for URLs, as in ShardReader.

    Returns:
      A dict, sorted by key: FixedLenFeature if every examined record has the key with the same number of values, at
      least one (shape [] for one), else VarLenFeature. A key without a type in any record is left out. A later record
      that doesn't match an inferred shape raises an error when it is parsed.

    Raises:
      errors.InvalidArgumentError: a key has two types; a record is malformed or not an Example (the error names the
        likely format: a TensorBoard event, text, …); or the records are SequenceExamples (see
        `infer_sequence_features`). An empty record is an Example without features.
      errors.DataLossError: a file is damaged or not a TFRecord file (the error names the likely format).

    >>> import tfrecord_fast as tf
    >>> infer_features(tf.encode_examples({"id": [1, 2]}))
    {'id': FixedLenFeature(shape=[], dtype=tfrecord_fast.int64, default_value=None)}
    """
    settings = store_settings(storage_options, max_requests, cache_dir)
    with explaining():
        return infer_from_batches(_batches(files_or_batch, settings), _most(max_records))


def infer_sequence_features(
    files_or_batch: Files | Records | Iterator[BytesLike],
    max_records: int | None = DEFAULT_MAX_RECORDS,
    *,
    storage_options: Mapping[str, Any] | None = None,
    max_requests: int = 16,
    cache_dir: PathLike | None = None,
) -> tuple[dict[str, InferredFeature], dict[str, InferredList]]:
    """Infer the features of SequenceExamples, as `infer_features` does.

    Returns:
      (context features, sequence features): for a feature list FixedLenSequenceFeature with allow_missing=True if
      every examined step has the same number of values, else VarLenFeature.

    >>> import tfrecord_fast as tf
    >>> context, lists = infer_sequence_features(tf.encode_sequence_examples({"id": [1]}, {"steps": [[[1, 2], [3]]]}))
    >>> list(context), list(lists)
    (['id'], ['steps'])
    """
    settings = store_settings(storage_options, max_requests, cache_dir)
    with explaining():
        return infer_sequences_from_batches(_batches(files_or_batch, settings), _most(max_records))


def _most(max_records: int | None) -> int | None:
    return None if max_records is None else at_least(0, "max_records", max_records)


def _batches(source: Any, settings: StoreSettings) -> Iterable[Any]:
    """Return batches of records, from memory or from files: bytes in a sequence are records, str are paths."""
    if isinstance(source, _core.RecordBatch | BytesArray):
        return [source]
    if hasattr(source, "batch") and not isinstance(source, str | bytes):
        return source.batch(_BATCH)  # type: ignore[no-any-return]
    source = _sequence(plain(source))
    if isinstance(source, Iterator):
        first = next(source, None)
        source = itertools.chain([] if first is None else [first], source)
        if _is_record(first):
            return iter(lambda: list(itertools.islice(source, _BATCH)), [])
        source = list(source)
    if isinstance(source, list | tuple) and source and _is_record(source[0]):
        return [source]
    return record_stream(flatten(source), batch_size=_BATCH, settings=settings, read_ahead=_READ_AHEAD).batches()


def _is_record(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return bool(value.dtype == np.uint8)
    return isinstance(value, bytes | bytearray | memoryview)


def _sequence(source: Any) -> Any:
    """Convert an array of NumPy, pyarrow, pandas or polars to a list."""
    if isinstance(source, np.ndarray):
        return source.ravel().tolist() if source.ndim else source.item()
    for to_list in ("to_pylist", "to_list"):
        if hasattr(source, to_list):
            return getattr(source, to_list)()
    return source
