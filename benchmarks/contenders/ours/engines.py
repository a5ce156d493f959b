"""tfrecord_fast through engines that divide the work among tasks, and the plain reader on the same cores."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from benchmarks.contenders import Job, Setting, cores
from benchmarks.contenders.kit.engines import Pipeline, start_ray, start_spark
from benchmarks.contenders.kit.frames import as_parquet, of_table, whole
from benchmarks.contenders.kit.importing import importable
from benchmarks.contenders.kit.parsing import Parsing
from benchmarks.contenders.ours.features import columns_of, count_of, features_of
from benchmarks.data.answers import Answer
from benchmarks.data.columns import digest_of_columns, of_lists


def engines(job: Job) -> list[Setting]:
    job.needs_features()
    settings = plain(job)
    for module, through in ENGINES.items():
        if importable(module):
            settings += through(job)
    return settings


def plain(job: Job) -> list[Setting]:
    """No engine: batches of columns that are dropped, and all of them as one table."""
    import tfrecord_fast as tf

    features, files, threads = features_of(job), job.dataset.files, cores()
    n = 16 * job.dataset.batch
    reader = tf.ShardReader(files, features, batch_size=n, num_threads=threads)
    return [
        Parsing(f"batch_size={n}", reader, columns_of, count_of, "ShardReader"),
        whole(
            "num_threads=cores",
            lambda: tf.read_table(files, features, num_threads=threads),
            lambda table: of_table(job, table),
            "read_table",
        ),
    ]


def through_ray(job: Job) -> list[Setting]:
    """The blocks, in the driver. Ray runs, and so do its workers after the first pass."""
    from tfrecord_fast.integrations.ray import read_tfrecords

    start_ray()
    features, files = features_of(job), job.dataset.files

    def blocks(split_bytes: int | None) -> Any:
        dataset = read_tfrecords(files, features, split_bytes=split_bytes)
        return dataset.iter_batches(batch_size=None, batch_format="pyarrow")

    def setting(label: str, split_bytes: int | None) -> Setting:
        return Parsing(
            label,
            lambda: blocks(split_bytes),
            lambda table: of_table(job, table),
            lambda table: int(table.num_rows),
            "Ray",
            order="any",
        )

    return [setting("read_tfrecords", None), setting("read_tfrecords, split_bytes=64 MiB", 64 << 20)]


class Frame(Setting):
    """A data frame of Spark: `run` makes all its rows and drops them, in tasks."""

    order = "any"

    def __init__(self, job: Job, label: str, frame: Callable[[], Any], row: str) -> None:
        super().__init__(label, row)
        self.job, self.frame = job, frame

    def run(self) -> int:
        from pyspark.sql import Observation, functions

        seen = Observation()
        counted = self.frame().observe(seen, functions.count(functions.lit(1)).alias("rows"))
        counted.write.format("noop").mode("overwrite").save()
        return int(seen.get["rows"])

    def answer(self) -> Answer:
        return digest_of_columns([of_table(self.job, self.frame().toArrow())])


def through_spark(job: Job) -> list[Setting]:
    """All columns through the data source, and from Parquet, in one session. Spark and its workers run before anything
    is timed: else their start would seem to be work, and the rows would be timed on the smallest part."""
    files, parquet = job.dataset.files, cache(lambda: as_parquet(job))
    session = start_spark()
    columns = ", ".join(f"`{name}` {SPARK[dtype]}" for name, (_, dtype, _) in job.dataset.features.items())

    def ours(schema: str | None) -> Any:
        reader = session.read.format("tfrecord")
        return (reader if schema is None else reader.schema(schema)).load(files)

    settings: list[Setting] = [
        Frame(job, 'read.format("tfrecord").schema(…)', lambda: ours(columns), "Spark"),
        Frame(job, 'read.format("tfrecord")', lambda: ours(None), "Spark, inferred"),
        Frame(job, "read.parquet, the same columns", lambda: session.read.parquet(*parquet()), "Spark, Parquet"),
    ]
    for frame in settings if not _started else ():
        frame.run()
    _started.append(session)
    return settings


def through_beam(job: Job) -> list[Setting]:
    """In pipelines in this process: batches of columns, and a dict for each record."""
    import pyarrow as pa

    from tfrecord_fast.integrations.beam import ReadFromTFRecord

    features, files = features_of(job), job.dataset.files
    dtypes = {name: dtype for name, (_, dtype, _) in job.dataset.features.items()}
    return [
        Pipeline(
            "ReadFromTFRecord(features, batch=1024)",
            "Beam, batches",
            lambda: (ReadFromTFRecord(files, features, batch=1024),),
            lambda batch: int(batch.num_rows),
            lambda batches: of_table(job, pa.Table.from_batches(batches)),
        ),
        Pipeline(
            "ReadFromTFRecord(features)",
            "Beam, dicts",
            lambda: (ReadFromTFRecord(files, features),),
            lambda row: 1,
            lambda rows: {name: of_lists([[row[name]] for row in rows], dtype) for name, dtype in dtypes.items()},
        ),
    ]


_started: list[Any] = []  # the session, once its workers have run
SPARK = {"int64": "BIGINT", "float32": "FLOAT", "string": "BINARY"}
ENGINES: dict[str, Callable[[Job], list[Setting]]] = {
    "ray": through_ray,
    "pyspark": through_spark,
    "apache_beam": through_beam,
}
