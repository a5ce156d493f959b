"""Kills executors and Python workers of Spark in the middle of reads and writes, round by round.

python -m tools.kills.spark --rounds 20

Each round kills an executor of two during a read and during a write, and a Python worker of one during a read and
during a write. It ends with 1 if a record was lost, came twice or was changed, or if something was left in the folder
that was written.
"""

import argparse
import contextlib
import os
import sys
import tempfile
import time
import traceback

import pyspark
from pyspark.sql import SparkSession

from tests.support.paths import ROOT
from tfrecord_fast.integrations.spark import register
from tools.kills.spark_kit import (
    READ_STAGES,
    VICTIMS,
    WRITE_STAGES,
    TrappedSource,
    read_while,
    write_while,
)

__all__ = ["WAYS"]

WAYS = tuple(f"{what}, {doing}" for what in VICTIMS for doing in ("reading", "writing"))


@contextlib.contextmanager
def two_executors():
    """A session on a cluster of two executors, processes of their own, which are started anew when they were killed."""
    with tempfile.TemporaryDirectory() as home:
        here = os.path.dirname(pyspark.__file__)
        for name in os.listdir(here):
            os.symlink(f"{here}/{name}", f"{home}/{name}")
        os.environ |= {
            "SPARK_HOME": home,  # executors work in a folder in it
            "SPARK_SCALA_VERSION": "2.13",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",  # Spark asks for the machine's own name, which not every machine knows
            "SPARK_LOCAL_HOSTNAME": "localhost",
        }
        session = (
            SparkSession.builder.master("local-cluster[2,1,1024]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.executorEnv.PYTHONPATH", str(ROOT))
            .config("spark.deploy.maxExecutorRetries", "-1")  # or a cluster gives up an application after ten deaths
            .config("spark.sql.shuffle.partitions", "4")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        register(session)
        session.dataSource.register(TrappedSource)
        try:
            yield session
        finally:
            session.stop()


def kill_once(spark, way, number, folder):
    """One of WAYS. `number` chooses the moment, and whether rows are shuffled, or a folder is overwritten."""
    what, doing = way.split(", ")
    if doing == "reading":
        stage = READ_STAGES[number % len(READ_STAGES)]
        read_while(spark, folder, stage, what, is_shuffled=number % 2 == 1)
    else:
        stage = WRITE_STAGES[number % len(WRITE_STAGES)]
        write_while(spark, folder, stage, what, mode=("append", "overwrite")[number % 2])
    return stage


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", choices=WAYS, action="append")
    given = parser.parse_args()
    right, wrong = dict.fromkeys(given.only or WAYS, 0), 0
    with two_executors() as spark:
        for number in range(given.rounds):
            for way in right:
                begun = time.monotonic()
                with tempfile.TemporaryDirectory() as folder:
                    try:
                        stage = kill_once(spark, way, number, folder)
                        right[way] += 1
                        print(f"{number + 1}: {way}, {stage}: right, {time.monotonic() - begun:.1f} s", flush=True)
                    except Exception:
                        wrong += 1
                        print(f"{number + 1}: {way}: WRONG", flush=True)
                        traceback.print_exc()
    print(", ".join(f"{way}: {count} of {given.rounds}" for way, count in right.items()))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
