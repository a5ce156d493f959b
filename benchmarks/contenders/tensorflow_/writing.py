"""TensorFlow writes: records, rows of columns, compressed files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks.contenders import CannotError, Job, Setting, Writing
from benchmarks.data.columns import Batch, Column, lists_of
from benchmarks.data.reference import columns_by_file


def write(job: Job) -> list[Setting]:
    import tensorflow as tf

    def each(path: str, records: list[bytes]) -> None:
        with tf.io.TFRecordWriter(path) as writer:
            for record in records:
                writer.write(record)

    return [Writing("write(bytes)", job, each, job.loaded())]


def write_columns(job: Job) -> list[Setting]:
    """A protobuf message of each row, made in Python, as there is no other way: by constructors, as its tutorial does
    (https://www.tensorflow.org/tutorials/load_data/tfrecord), or by filling in the lists of an empty one, which is
    faster; from rows of NumPy arrays or of lists."""
    import tensorflow as tf

    if job.dataset.sequences:
        raise CannotError("not measured: SequenceExamples")
    train = tf.train
    kinds = {"int64": "int64_list", "float32": "float_list", "string": "bytes_list"}
    fields = {name: kinds[dtype] for name, (_, dtype, _) in job.dataset.features.items()}
    lists = {"int64_list": train.Int64List, "float_list": train.FloatList, "bytes_list": train.BytesList}

    parts = columns_by_file(job.dataset)

    def arrays(column: Column) -> list[Any]:
        if isinstance(column.values, list):
            return lists_of(column)
        return np.split(column.values, np.cumsum(column.lengths)[:-1])

    def constructed(names: list[str], row: Iterable[Any]) -> Any:
        features = {
            name: train.Feature(**{fields[name]: lists[fields[name]](value=values)})
            for name, values in zip(names, row, strict=True)
        }
        return train.Example(features=train.Features(feature=features))

    def filled(names: list[str], row: Iterable[Any]) -> Any:
        example = train.Example()
        features = example.features.feature
        for name, values in zip(names, row, strict=True):
            getattr(features[name], fields[name]).value.extend(values)
        return example

    def setting(
        row: str, make: Callable[[list[str], Iterable[Any]], Any], label: str, cut: Callable[[Column], list[Any]]
    ) -> Setting:
        def put(path: str, columns: Batch) -> None:
            names = list(columns)
            with tf.io.TFRecordWriter(path) as writer:
                for values in zip(*(cut(columns[name]) for name in names), strict=True):
                    writer.write(make(names, values).SerializeToString())

        return Writing(label, job, put, parts, row=row)

    return [
        setting(row, make, label, cut)
        for row, make in (("Example(features=…)", constructed), ("Example.features.feature[…]", filled))
        for label, cut in (("rows of lists", lists_of), ("rows of arrays", arrays))
    ]


def write_gzip(job: Job) -> list[Setting]:
    import tensorflow as tf

    loaded = job.loaded()

    def setting(row: str, level: int | None) -> Setting:
        options = tf.io.TFRecordOptions("GZIP", compression_level=level)

        def put(path: str, records: list[bytes]) -> None:
            with tf.io.TFRecordWriter(path, options) as writer:
                for record in records:
                    writer.write(record)

        return Writing("write(bytes)", job, put, loaded, row=row, suffix=".gz")

    if job.task == "write-gzip":
        return [setting("", None)]
    return [setting("level 1", 1), setting("default level", None)]
