"""The features of a job as tfrecord_fast's objects, and what it parses to in the plain form of data/columns.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contenders import Job
from benchmarks.data.columns import Batch, Column, fixed, padded, ragged, step_name
from benchmarks.data.workloads import feature_objects

COMPRESSIONS = ("GZIP", "ZLIB", "ZSTD")


def features_of(job: Job) -> Any:
    """Return the features for ShardReader: a dict, or a pair for SequenceExamples."""
    import tfrecord_fast as tf

    context = feature_objects(job.dataset.features, tf)
    return (context, feature_objects(job.dataset.sequences, tf)) if job.dataset.sequences else context


def groups_of(features: Any) -> dict[str, list[str]]:
    """The scalar features of each numeric dtype as a group; none of SequenceExamples."""
    groups: dict[str, list[str]] = {}
    for key, feature in features.items() if isinstance(features, dict) else ():
        if list(getattr(feature, "shape", [1])) == [] and feature.dtype.name != "string":
            groups.setdefault(f"all {feature.dtype.name}", []).append(key)
    return groups


def parser_of(features: Any) -> Callable[[Any], Any]:
    """A function that parses a batch of serialized records."""
    import tfrecord_fast as tf

    if isinstance(features, tuple):
        return lambda batch: tf.io.parse_sequence_example(batch, *features)
    return lambda batch: tf.io.parse_example(batch, features)


def columns_of(item: Any) -> Batch:
    """The plain form of what `parse_example` or `parse_sequence_example` returns."""

    def column(value: Any, lengths: Any = None) -> Column:
        if hasattr(value, "row_splits"):
            values = value.values.tolist() if hasattr(value.values, "decode_raw") else value.values
            return ragged(values, value.row_splits)
        return fixed(value) if lengths is None else padded(value, lengths)

    context, sequences, lengths = item if isinstance(item, tuple) else (item, {}, {})
    columns = {name: column(value) for name, value in context.items()}
    return columns | {step_name(name): column(value, lengths.get(name)) for name, value in sequences.items()}


def ungrouped(item: dict[str, Any], groups: dict[str, list[str]]) -> dict[str, Any]:
    """The columns of a batch, those of groups one by one."""
    apart = {key: item[name][:, i] for name, keys in groups.items() for i, key in enumerate(keys)}
    return apart | {name: column for name, column in item.items() if name not in groups}


def count_of(item: Any) -> int:
    """The number of records in what they return."""
    context, _, lengths = item if isinstance(item, tuple) else (item, {}, {})
    first = next(iter((context or lengths).values()))
    return len(first.row_splits) - 1 if hasattr(first, "row_splits") else len(first)


def of_one(item: Any) -> Batch:
    """Like `columns_of`, of one record."""

    def column(value: Any, steps: bool = False) -> Column:
        dense = value.values if hasattr(value, "dense_shape") else value
        if isinstance(dense, bytes):
            return Column([dense], np.array([1]))
        if hasattr(dense, "decode_raw"):
            return Column(np.asarray(dense).ravel().tolist(), np.array([len(dense)]))
        array = np.asarray(dense)
        return Column(array if steps else array.ravel(), np.array([len(array) if steps else array.size]))

    context, sequences = item if isinstance(item, tuple) else (item, {})
    columns = {name: column(value) for name, value in context.items()}
    return columns | {step_name(name): column(value, steps=True) for name, value in sequences.items()}
