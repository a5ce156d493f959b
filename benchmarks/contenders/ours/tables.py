"""tfrecord_fast makes tables and data frames."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import Job, Setting
from benchmarks.contenders.kit.frames import into_duckdb, of_arrow_table, of_polars, whole
from benchmarks.contenders.kit.importing import importable
from benchmarks.contenders.kit.parsing import Parsing
from benchmarks.contenders.ours.features import columns_of, count_of, features_of


def tables(job: Job) -> list[Setting]:
    """Beside them the reader whose columns they are made of, and which drops each batch."""
    import tfrecord_fast as tf

    features, n, files = features_of(job), job.dataset.batch, job.dataset.files

    def read() -> Any:
        return tf.read_table(files, features)

    settings: list[Setting] = [
        Parsing(f"batch_size={size}", tf.ShardReader(files, features, batch_size=size), columns_of, count_of, row)
        for row, size in (("ShardReader", n), ("ShardReader", 16 * n))
    ]
    settings += of_arrow_table(job, read, "read_table")
    if importable("polars"):
        from tfrecord_fast.integrations.polars import scan_tfrecord

        settings.append(whole("scan_tfrecord.collect()", scan_tfrecord(files, features).collect, of_polars, "polars"))
    if importable("duckdb"):
        from tfrecord_fast.integrations.duckdb import from_tfrecord

        settings.append(
            into_duckdb("from_tfrecord", lambda connection: from_tfrecord(files, features, connection=connection))
        )
    return settings
