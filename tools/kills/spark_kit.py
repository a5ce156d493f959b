"""Executors and Python workers of Spark that are killed in the middle of a task, and what has to be there afterwards.

A task that comes to the stage where it is to be hit kills itself, or the executor that it runs in. Only the first that
comes there does so; its next try, and all others, run through.
"""

import contextlib
import json
import os
import signal
import time

import numpy as np
import pyarrow
from pyspark import TaskContext

import tfrecord_fast as tf
from tfrecord_fast.integrations.spark import TFRecordDataSource
from tfrecord_fast.integrations.spark.reading import TFRecordReader
from tfrecord_fast.integrations.spark.writing import TFRecordWriter

__all__ = ["READ_STAGES", "VICTIMS", "WRITE_STAGES", "Trap", "TrappedSource", "make_files", "read_while", "write_while"]

ROWS, FILES = 24_000, 3
SPLIT = 200_000  # bytes: there are more tasks than executors
PATIENCE = 400  # seconds: a busy machine takes its time
VICTIMS = ("executor", "Python worker")
READ_STAGES = WRITE_STAGES = ("middle", "begin", "end")


class Trap:
    """Kills at a stage of a task: `spring` is called in the tasks. It pickles.

    Args:
      folder: for its notes; all processes reach it.
      stage: the one of the calls of `spring` that kills.
      what: one of VICTIMS.
    """

    def __init__(self, folder, stage, what):
        self.folder, self.stage, self.what = str(folder), stage, what

    def spring(self, stage):
        task = TaskContext.get().partitionId()
        if stage == "begin":
            with open(f"{self.folder}/tries", "a") as file:
                file.write(f"{task}\n")
        if stage != self.stage:
            return
        victim = os.getpid() if self.what == "Python worker" else _parent(_parent(os.getpid()))  # through its daemon
        try:
            with open(f"{self.folder}/victim", "x") as file:
                json.dump({"pid": victim, "worker": os.getpid(), "task": str(task)}, file)
        except FileExistsError:
            return
        os.kill(victim, signal.SIGKILL)
        time.sleep(PATIENCE)
        raise RuntimeError(f"the Python worker of the task {task} has outlived its executor")

    def check(self):
        """It is sure that something was killed, and that its task ran again."""
        with open(f"{self.folder}/victim") as file:
            victim = json.load(file)
        with open(f"{self.folder}/tries") as file:
            tries = file.read().split()
        until = time.monotonic() + PATIENCE
        while _is_alive(victim["worker"]) and time.monotonic() < until:  # it ends when it misses its executor
            time.sleep(0.05)
        assert not _is_alive(victim["pid"]) and not _is_alive(victim["worker"]), "the victim lives"
        assert tries.count(victim["task"]) >= 2, "no task was tried again"


def _stat(pid):
    """The fields of /proc/PID/stat that follow the name."""
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()


def _parent(pid):
    return int(_stat(pid)[1])


def _is_alive(pid):
    try:
        return _stat(pid)[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


class TrappedSource(TFRecordDataSource):
    """The data source "trapped", whose option `trap` says where its tasks are hit."""

    def __init__(self, options):
        self._trap = Trap(*json.loads(options["trap"]))
        super().__init__({name: value for name, value in options.items() if name != "trap"})

    @classmethod
    def name(cls):
        return "trapped"

    def reader(self, schema):
        return TrappedReader(self._trap, self._options, schema)

    def writer(self, schema, overwrite):
        return TrappedWriter(self._trap, self._options, schema, overwrite)


class TrappedReader(TFRecordReader):
    """Its tasks spring the trap before their rows, after some, and after the last."""

    def __init__(self, trap, *arguments):
        super().__init__(*arguments)
        self._trap = trap

    def read(self, partition):
        self._trap.spring("begin")
        yield from _with_a_call(super().read(partition), lambda: self._trap.spring("middle"))
        self._trap.spring("end")


class TrappedWriter(TFRecordWriter):
    """Its tasks spring the trap before their rows, after some, and when the shard is complete."""

    def __init__(self, trap, *arguments):
        super().__init__(*arguments)
        self._trap = trap

    def write(self, iterator):
        self._trap.spring("begin")
        done = super().write(_with_a_call(iterator, lambda: self._trap.spring("middle")))
        self._trap.spring("end")
        return done


def _with_a_call(batches, call):
    """The batches, the first in two halves, with the call between them."""
    for number, batch in enumerate(batches):
        half = batch.num_rows // 2 if number == 0 else 0
        if half:
            yield batch.slice(0, half)
            call()
        yield batch.slice(half)


def make_files(folder):
    """Files with ROWS records, numbered."""
    os.makedirs(folder, exist_ok=True)
    for number, part in enumerate(np.array_split(np.arange(ROWS), FILES)):
        with tf.ExampleWriter(f"{folder}/{number}.tfrecord", num_shards=1) as writer:
            writer.write({"id": part, "text": [b"%d" % one * 3 for one in part]})
    return str(folder)


@contextlib.contextmanager
def _set(folder, stage, what):
    """The option of a trap that is set, and has sprung at the end."""
    os.makedirs(folder)
    yield json.dumps([str(folder), stage, what])
    Trap(folder, stage, what).check()


def read_while(spark, folder, stage, what, is_shuffled):
    """Reads while something is killed, and checks what was read.

    If it is shuffled, what the tasks have read lies with the executors, and is lost with them.
    """
    files = make_files(f"{folder}/in")
    with _set(f"{folder}/trap", stage, what) as trap:
        frame = spark.read.format("trapped").options(trap=trap, splitBytes=SPLIT).load(files)
        table = (frame.repartition(4) if is_shuffled else frame).toArrow()
    _check_rows(table)


def write_while(spark, folder, stage, what, mode):
    """Copies files while something is killed, and checks what was written. `mode`: "append" or "overwrite"."""
    files, out = make_files(f"{folder}/in"), f"{folder}/out"
    frame = spark.read.format("tfrecord").option("splitBytes", SPLIT).load(files)
    if mode == "overwrite":
        spark.range(5).write.format("tfrecord").mode("append").save(out)
    with _set(f"{folder}/trap", stage, what) as trap:
        frame.write.format("trapped").option("trap", trap).mode(mode).save(out)
    _check_written(out, frame.rdd.getNumPartitions())


def _check_rows(table):
    """Every record once, each whole."""
    ids = np.sort(np.asarray(table.column("id")))
    assert len(ids) == ROWS and (ids == np.arange(ROWS)).all(), f"{len(ids)} rows, {len(np.unique(ids))} different"
    texts = pyarrow.array([b"%d" % one * 3 for one in table.column("id").to_pylist()])
    assert table.column("text").cast(pyarrow.binary()).to_pylist() == texts.to_pylist()


def _check_written(out, tasks):
    """What is in the folder and what the manifest lists are the same: a shard of each task, and all records."""
    with open(f"{out}/_manifest.json") as file:
        listed = json.load(file)["files"]
    names = [one["name"] for one in listed]
    assert sorted(os.listdir(out)) == sorted(["_manifest.json", *names])
    assert sorted(name.split("-")[1] for name in names) == [f"{task:05d}" for task in range(tasks)]
    for one in listed:
        path = f"{out}/{one['name']}"
        assert os.path.getsize(path) == one["bytes"] and tf.ShardReader(path).num_records == one["records"]
    _check_rows(tf.read_table(f"{out}/*.tfrecord*"))
