"""Engines on this machine alone, started once by a process."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.contenders.kit.setting import Setting
from benchmarks.data.answers import Answer
from benchmarks.data.columns import Batch, digest_of_columns
from benchmarks.data.reference import KINDS, messages

_numbers = itertools.count()
_collected: dict[int, list[Any]] = {}  # what pipelines gave; their workers are threads of this process


def start_ray() -> None:
    """A Ray of its own, whatever else runs here."""
    import ray

    if not ray.is_initialized():
        ray.init(
            "local", num_cpus=os.cpu_count(), include_dashboard=False, log_to_driver=False, configure_logging=False
        )
    ray.data.DataContext.get_current().enable_progress_bars = False


def start_spark() -> Any:
    """A session with as many tasks at once as there are cores, and with the data source "tfrecord"."""
    from pyspark.sql import SparkSession

    from tfrecord_fast.integrations.spark import register

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # else it asks for the machine's own name, which not all know
    os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "4g",  # an answer, all of the columns, is in the driver; ctr needs more than 1 GB
        "spark.driver.maxResultSize": "0",
    }
    session = SparkSession.builder.master("local[*]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    register(session)
    return session


def in_beam(*transforms: Any) -> list[Any]:
    """Return the results of the transforms, run one after the other in a pipeline in this process."""
    import apache_beam as beam

    number = next(_numbers)
    _collected[number] = []
    with beam.Pipeline(runner="apache_beam.runners.portability.fn_api_runner.FnApiRunner") as pipeline:
        collection = pipeline
        for transform in transforms:
            collection = collection | transform
        collection | "Collect" >> beam.Map(_collect, number)
    return _collected.pop(number)


def _collect(element: Any, number: int) -> None:
    _collected[number].append(element)


def parsed(record: bytes, dtypes: dict[str, str]) -> dict[str, Any]:
    """A record with one value of each feature, by protobuf's own runtime."""
    features = messages()[0].FromString(record).features.feature
    return {name: getattr(features[name], KINDS[dtype]).value[0] for name, dtype in dtypes.items()}


class Pipeline(Setting):
    """A pipeline of Beam: `run` makes all elements and counts their rows, in tasks."""

    order = "any"

    def __init__(
        self,
        label: str,
        row: str,
        read: Callable[[], tuple[Any, ...]],
        count: Callable[[Any], int],
        columns: Callable[[list[Any]], Batch],
    ) -> None:
        super().__init__(label, row)
        self.read, self.count, self.columns = read, count, columns

    def run(self) -> int:
        import apache_beam as beam

        return int(in_beam(*self.read(), "Rows" >> beam.Map(self.count), beam.CombineGlobally(sum))[0])

    def answer(self) -> Answer:
        return digest_of_columns([self.columns(in_beam(*self.read()))])
