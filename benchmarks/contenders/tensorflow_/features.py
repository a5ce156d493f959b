"""The features of a job as TensorFlow's objects, and what it parses to in the plain form of data/columns.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contenders import Job
from benchmarks.data.columns import Batch, Column, fixed, padded, ragged, step_name
from benchmarks.data.workloads import feature_objects

COMPRESSIONS = ("GZIP", "ZLIB")

Parser = Callable[[Any], Any]


def features_of(job: Job, ragged: bool = False) -> tuple[Any, Any]:
    import tensorflow as tf

    data = job.dataset
    return feature_objects(data.features, tf, ragged), feature_objects(data.sequences, tf, ragged)


def parser_of(job: Job, ragged: bool = False) -> Parser:
    """A function that parses a batch of serialized records."""
    import tensorflow as tf

    context, sequences = features_of(job, ragged)
    if sequences:
        return lambda batch: tf.io.parse_sequence_example(batch, context, sequences)
    return lambda batch: tf.io.parse_example(batch, context)


def kinds(job: Job) -> list[tuple[str, Parser]]:
    """Parsers and what is said of them: one that makes SparseTensors of lists of any length, and one that makes
    RaggedTensors, which is quicker."""
    varies = any(kind == "varlen" for kind, _, _ in job.dataset.features.values())
    return [("", parser_of(job)), *([(", ragged", parser_of(job, ragged=True))] if varies else [])]


def columns_of(item: Any) -> Batch:
    """The plain form of what `parse_example` or `parse_sequence_example` returns."""
    import tensorflow as tf

    def column(value: Any, lengths: Any = None) -> Column:
        if isinstance(value, tf.RaggedTensor):
            return ragged(flat(value.values), value.row_splits.numpy())
        if isinstance(value, tf.SparseTensor):
            rows = value.indices.numpy()[:, 0]
            return Column(flat(value.values), np.bincount(rows, minlength=int(value.dense_shape[0])))
        return fixed(value.numpy()) if lengths is None else padded(value.numpy(), lengths.numpy())

    context, sequences, lengths = item if isinstance(item, tuple) else (item, {}, {})
    columns = {name: column(value) for name, value in context.items()}
    return columns | {step_name(name): column(value, lengths.get(name)) for name, value in sequences.items()}


def flat(values: Any) -> Any:
    array = values.numpy()
    return array.tolist() if array.dtype == object else array


def count_of(item: Any) -> int:
    """The number of records in what they return."""
    context, _, lengths = item if isinstance(item, tuple) else (item, {}, {})
    first = next(iter((context or lengths).values()))
    return int(first.nrows() if hasattr(first, "nrows") else first.shape[0])
