"""tfrecord_fast writes: records, columns, compressed files."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contenders import CannotError, Job, Setting, Writing
from benchmarks.data.columns import Column
from benchmarks.data.reference import columns_by_file


def write(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    def each(path: str, records: list[bytes]) -> None:
        with tf.io.TFRecordWriter(path) as writer:
            for record in records:
                writer.write(record)

    def batches(path: str, parts: list[Any]) -> None:
        with tf.io.TFRecordWriter(path) as writer:
            for part in parts:
                writer.write_batch(part)

    n = job.dataset.batch
    loaded = job.loaded()
    lists = [[records[i : i + n] for i in range(0, len(records), n)] for records in loaded]
    batched = [list(tf.data.TFRecordDataset(path, "").batch(n)) for path in job.dataset.files]
    return [
        Writing("write(bytes)", job, each, loaded, row="write"),
        Writing(f"write_batch(list of {n})", job, batches, lists, row="write_batch"),
        Writing(f"write_batch(RecordBatch of {n})", job, batches, batched, row="write_batch"),
    ]


def columns_given(job: Job) -> list[Any]:
    """The columns of each file as ExampleWriter takes them."""
    import tfrecord_fast as tf

    def given(column: Column, kind: str, shape: list[int]) -> Any:
        values, lengths = column
        if kind == "varlen":
            return tf.RaggedTensor(values, np.concatenate([[0], np.cumsum(lengths)]))
        if isinstance(values, list) and not shape:
            return values
        return np.array(values, object if isinstance(values, list) else None).reshape(len(lengths), *shape)

    return [
        {name: given(part[name], kind, shape) for name, (kind, _, shape) in job.dataset.features.items()}
        for part in columns_by_file(job.dataset)
    ]


def write_columns(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    if job.dataset.sequences:
        raise CannotError("ExampleWriter takes no SequenceExamples")

    def put(path: str, columns: Any) -> None:
        with tf.ExampleWriter(path) as writer:
            writer.write(columns)

    return [Writing("ExampleWriter.write(columns)", job, put, columns_given(job))]


def write_gzip(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    level = 1 if job.task == "write-gzip-1" else None
    options = tf.io.TFRecordOptions("GZIP", compression_level=level)
    batched = [list(tf.data.TFRecordDataset(path, "").batch(job.dataset.batch)) for path in job.dataset.files]

    def put(path: str, parts: list[Any]) -> None:
        with tf.io.TFRecordWriter(path, options) as writer:
            for batch in parts:
                writer.write_batch(batch)

    return [Writing(f"write_batch(RecordBatch of {job.dataset.batch})", job, put, batched, suffix=".gz")]
