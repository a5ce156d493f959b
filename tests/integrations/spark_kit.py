"""A small Spark on this machine, and what its data frames hold."""

import contextlib
import sys

import pytest
from pyspark.sql import SparkSession

from tests.support.engine_rows import rows_of
from tfrecord_fast.integrations.spark import register

__all__ = ["load", "local_spark", "rows"]


@contextlib.contextmanager
def local_spark():
    """A session with two cores."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        for name, value in {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost"}.items():
            patch.setenv(name, value)  # Spark asks for the machine's own name, which not every machine knows
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        register(session)
        try:
            yield session
        finally:
            session.stop()


def load(spark, path, schema=None, **options):
    reader = spark.read.format("tfrecord").options(**options)
    return (reader if schema is None else reader.schema(schema)).load(str(path))


def rows(frame):
    """All rows, as something that can be sorted."""
    return rows_of(frame.toArrow())
