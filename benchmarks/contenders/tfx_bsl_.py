"""tfx-bsl: TFX's decoder from serialized Examples to Arrow (https://github.com/tensorflow/tfx-bsl), given the schema,
as its README and TFX do. It reads no files; TensorFlow reads them for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contenders import CannotError, Contender, Job, Setting, Writing
from benchmarks.contenders.kit.parsing import Parsing
from benchmarks.data.columns import Batch, Column, of_arrow, step_name
from benchmarks.data.reference import columns_by_file
from benchmarks.data.tasks import SHUFFLE

KINDS = {"int64": "INT", "float32": "FLOAT", "string": "BYTES"}
STEPS = "##SEQUENCE##"  # the column that SequenceExamples' feature lists go to, by TFX's name


def decoder_of(job: Job) -> Callable[[list[bytes]], Any]:
    from tensorflow_metadata.proto.v0 import schema_pb2
    from tfx_bsl.coders import example_coder
    from tfx_bsl.coders.sequence_example_coder import SequenceExamplesToRecordBatchDecoder

    schema = schema_pb2.Schema()
    for name, (_, dtype, _) in job.dataset.features.items():
        schema.feature.add(name=name, type=KINDS[dtype])
    if not job.dataset.sequences:
        decode: Callable[[list[bytes]], Any] = example_coder.ExamplesToRecordBatchDecoder(
            schema.SerializeToString()
        ).DecodeBatch
        return decode
    lists = schema.feature.add(name=STEPS, type="STRUCT").struct_domain
    for name, (_, dtype, _) in job.dataset.sequences.items():
        lists.feature.add(name=name, type=KINDS[dtype])
    decode = SequenceExamplesToRecordBatchDecoder(STEPS, schema.SerializeToString()).DecodeBatch
    return decode


def columns_of(job: Job) -> Callable[[Any], Batch]:
    def steps(array: Any, feature: list[Any]) -> Column:
        """The column of an array of lists (records) of lists (steps) of values."""
        _, dtype, shape = feature
        values, _ = of_arrow(array.flatten(), dtype)
        lengths = np.diff(array.offsets.to_numpy()).astype(np.int64)
        return Column(values if dtype == "string" else values.reshape(-1, *shape), lengths)

    def columns(batch: Any) -> Batch:
        columns = {name: of_arrow(batch.column(name), dtype) for name, (_, dtype, _) in job.dataset.features.items()}
        for name, feature in job.dataset.sequences.items():
            columns[step_name(name)] = steps(batch.column(STEPS).field(name), feature)
        return columns

    return columns


def parse_memory(job: Job) -> list[Setting]:
    decode, batches = decoder_of(job), job.batches()
    return [Parsing("DecodeBatch(list)", lambda: map(decode, batches), columns_of(job), lambda batch: batch.num_rows)]


def parse(job: Job, files: list[str] | None = None, compression: str = "") -> list[Setting]:
    import tensorflow as tf

    decode, n = decoder_of(job), job.dataset.batch
    data = tf.data.TFRecordDataset(files or job.dataset.files, compression, 8 << 20).batch(n).prefetch(tf.data.AUTOTUNE)
    return [
        Parsing(
            f"TFRecordDataset.batch({n}).prefetch, DecodeBatch",
            lambda: map(decode, data.as_numpy_iterator()),
            columns_of(job),
            lambda batch: batch.num_rows,
        )
    ]


def parse_gzip(job: Job) -> list[Setting]:
    return parse(job, *job.packed("GZIP", "ZLIB"))


def epoch(job: Job) -> list[Setting]:
    import tensorflow as tf

    job.needs_features()
    decode, n = decoder_of(job), job.dataset.batch
    files, compression = job.sources("GZIP", "ZLIB")
    data = tf.data.TFRecordDataset(files, compression, 8 << 20).shuffle(SHUFFLE).batch(n).prefetch(tf.data.AUTOTUNE)
    return [
        Parsing(
            f"TFRecordDataset.shuffle.batch({n}).prefetch, DecodeBatch",
            lambda: map(decode, data.as_numpy_iterator()),
            columns_of(job),
            lambda batch: batch.num_rows,
            order="shuffled",
        )
    ]


def write_columns(job: Job) -> list[Setting]:
    """Its encoder turns Arrow lists into serialized Examples; TensorFlow writes them for it."""
    import pyarrow as pa
    import tensorflow as tf
    from tfx_bsl.coders.example_coder import RecordBatchToExamplesEncoder

    if job.dataset.sequences:
        raise CannotError("the encoder takes no SequenceExamples")
    kinds = {"int64": pa.int64(), "float32": pa.float32(), "string": pa.large_binary()}
    encoder = RecordBatchToExamplesEncoder()

    def arrow(column: Column, dtype: str) -> Any:
        ends = np.concatenate([[0], np.cumsum(column.lengths)])
        return pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), pa.array(column.values, kinds[dtype]))

    parts = [
        pa.RecordBatch.from_arrays(
            [arrow(columns[name], dtype) for name, (_, dtype, _) in job.dataset.features.items()],
            names=list(job.dataset.features),
        )
        for columns in columns_by_file(job.dataset)
    ]

    def setting(label: str, rows: int) -> Setting:
        def put(path: str, batch: Any) -> None:
            with tf.io.TFRecordWriter(path) as writer:
                for first in range(0, batch.num_rows, rows):
                    for record in encoder.encode(batch.slice(first, rows)):
                        writer.write(record)

        return Writing(f"encode({label}), TFRecordWriter.write", job, put, parts)

    return [setting(f"{job.dataset.batch} rows", job.dataset.batch), setting("all rows", 1 << 40)]


CONTENDER = Contender(
    "tfx_bsl",
    "tfx-bsl",
    package="tfx-bsl",
    module="tfx_bsl",
    leaves_out="gives Arrow lists also where a feature has a fixed shape, and reads no files itself",
    requirements=("tfx-bsl==1.21.0", "tensorflow==2.21.0"),
    tasks={
        "parse": parse,
        "parse-gzip": parse_gzip,
        "parse-memory": parse_memory,
        "epoch": epoch,
        "write-columns": write_columns,
    },
    environment={"TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": ""},
)
