"""Engines on this machine alone, started once by a process."""

from __future__ import annotations

import os
import sys
from typing import Any


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
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    session = SparkSession.builder.master("local[*]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    register(session)
    return session
