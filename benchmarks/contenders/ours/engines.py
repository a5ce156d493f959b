"""tfrecord_fast through engines that divide the work among tasks, and the plain reader on the same cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.contenders import Job, Setting, cores
from benchmarks.contenders.kit.engines import start_ray
from benchmarks.contenders.kit.frames import of_table, whole
from benchmarks.contenders.kit.importing import importable
from benchmarks.contenders.kit.parsing import Parsing
from benchmarks.contenders.ours.features import columns_of, count_of, features_of


def engines(job: Job) -> list[Setting]:
    job.needs_features()
    made = plain(job)
    for module, through in ENGINES.items():
        if importable(module):
            made += through(job)
    return made


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


ENGINES: dict[str, Callable[[Job], list[Setting]]] = {"ray": through_ray}
