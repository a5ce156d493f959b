"""Workers and nodes of Ray that are killed in the middle of a task, and what has to be there afterwards.

A task that is to be hit writes a file with its process and its node, and then waits to be killed: it can't end before
that. Only the first try of one task does so; all others run through.
"""

import contextlib
import json
import os
import signal
import threading
import time

import numpy as np
import pyarrow
import ray
import ray.data

import tfrecord_fast as tf
from tfrecord_fast.files.rewriting.task_shards import TaskShards
from tfrecord_fast.integrations.ray import TFRecordDatasink, TFRecordDatasource

ROWS, FILES = 24_000, 3
PATIENCE = 400  # seconds: a busy machine starts nodes and workers slowly

READ_STAGES = ("begin", "middle", "end")
WRITE_STAGES = ("begin", "middle", "written")


class Trap:
    """Where a task waits to be killed: `spring` in the tasks, `kill` in the driver. It pickles.

    Args:
      folder: for its files; all processes reach it.
      stage: at which of the calls of `spring` it waits.
      node: only a task on this node does; None: any.
    """

    def __init__(self, folder, stage, node=None):
        self.folder, self.stage, self.node = str(folder), stage, node
        os.makedirs(self.folder, exist_ok=True)

    def spring(self, stage, task):
        """Waits, if this is the stage and the node, and no other task did before."""
        if stage == "begin":
            self._note(task)
        here = ray.get_runtime_context().get_node_id()
        if self.node not in (None, here):
            self.victim()  # or the other node might find nothing left to do
            return
        if stage != self.stage:
            return
        try:
            with open(f"{self.folder}/victim.draft-{os.getpid()}-{task}", "x") as file:
                json.dump({"pid": os.getpid(), "node": here, "task": str(task)}, file)
            os.link(file.name, f"{self.folder}/victim")  # fails if there is one: complete, and only once
        except FileExistsError:
            return
        time.sleep(PATIENCE)
        raise RuntimeError(f"nobody killed the task {task}")

    def _note(self, task):
        with open(f"{self.folder}/tries", "a") as file:
            file.write(f"{task}\n")

    def tries(self):
        """How many tries began, task by task."""
        with open(f"{self.folder}/tries") as file:
            names = file.read().split()
        return {name: names.count(name) for name in names}

    def victim(self):
        """Who waits to be killed; waits for it."""
        until = time.monotonic() + PATIENCE
        while not os.path.exists(f"{self.folder}/victim"):
            assert time.monotonic() < until, "no task came so far that it could be killed"
            time.sleep(0.02)
        with open(f"{self.folder}/victim") as file:
            return json.load(file)


class TrappedSource(TFRecordDatasource):
    """Its tasks spring the trap before the first of their blocks, after some, and after the last."""

    def __init__(self, trap, *arguments, **options):
        super().__init__(*arguments, **options)
        self._trap = trap

    def get_read_tasks(self, *arguments, **options):
        tasks = super().get_read_tasks(*arguments, **options)
        for number, task in enumerate(tasks):
            task._read_fn = _trapped(task._read_fn, self._trap, number)
        return tasks


def _trapped(inner, trap, task):
    def read():
        trap.spring("begin", task)
        for number, block in enumerate(inner()):
            yield block
            if number == 5:  # blocks have left the task: those that follow have to fit them
                trap.spring("middle", task)
        trap.spring("end", task)

    return read


class TrappedSink(TFRecordDatasink):
    """Its tasks spring the trap before their first block, after some rows, and when the shard is complete."""

    def __init__(self, trap, shards):
        super().__init__(shards)
        self._trap = trap

    def write(self, blocks, ctx):
        self._trap.spring("begin", ctx.task_idx)
        done = super().write(_then(blocks, lambda: self._trap.spring("middle", ctx.task_idx)), ctx)
        self._trap.spring("written", ctx.task_idx)
        return done


def _then(blocks, call):
    """The blocks, the first in two halves, with the call between them."""
    for number, block in enumerate(blocks):
        table = block if isinstance(block, pyarrow.Table) else pyarrow.Table.from_pandas(block)
        half = table.num_rows // 2 if number == 0 else 0
        if half:
            yield table.slice(0, half)
            call()
        yield table.slice(half)


class Killer(threading.Thread):
    """Kills what is in the trap: `strike(victim)`."""

    def __init__(self, trap, strike):
        super().__init__()
        self._trap, self._strike = trap, strike
        self.victim, self.error = None, None

    def run(self):
        try:
            self.victim = self._trap.victim()
            self._strike(self.victim)
        except BaseException as error:
            self.error = error


@contextlib.contextmanager
def killing(trap, strike):
    """Something is killed while this runs. Afterwards it is sure that it was, and that its task ran again."""
    killer = Killer(trap, strike)
    killer.start()
    try:
        yield killer
    finally:
        killer.join(PATIENCE)
    if killer.error is not None:
        raise killer.error
    assert not _is_alive(killer.victim["pid"]), "the victim lives"
    assert trap.tries()[killer.victim["task"]] >= 2, "no task was tried again"


def kill_worker(victim):
    os.kill(victim["pid"], signal.SIGKILL)


def node_killer(cluster, node):
    """A strike that takes a node out of the cluster, with all that it holds."""

    def strike(victim):
        cluster.remove_node(node, allow_graceful=False)
        until = time.monotonic() + 30
        while _is_alive(victim["pid"]) and time.monotonic() < until:  # a worker ends when it misses its raylet
            time.sleep(0.05)

    return strike


def _is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def make_files(folder):
    """Files with ROWS records, numbered."""
    os.makedirs(folder, exist_ok=True)
    for number, part in enumerate(np.array_split(np.arange(ROWS), FILES)):
        with tf.ExampleWriter(f"{folder}/{number}.tfrecord", num_shards=1) as writer:
            writer.write({"id": part, "text": [b"%d" % one * 3 for one in part]})
    return str(folder)


def check_rows(table):
    """Every record once, each whole."""
    ids = np.sort(np.asarray(table.column("id")))
    assert len(ids) == ROWS and (ids == np.arange(ROWS)).all(), f"{len(ids)} rows, {len(np.unique(ids))} different"
    assert table.column("text").to_pylist() == [b"%d" % one * 3 for one in table.column("id").to_pylist()]


def read_while(trap, files, strike, **options):
    """Reads with Ray while something is killed, and checks what was read."""
    source = TrappedSource(trap, files, split_bytes=200_000, batch_size=500, **options)
    with killing(trap, strike):
        dataset = ray.data.read_datasource(source).materialize()
    tables = [ray.get(one) for one in dataset.to_arrow_refs()]
    check_rows(pyarrow.concat_tables([one for one in tables if one.num_rows]))


def write_while(trap, files, out, strike, storage_options=None, split_bytes=200_000, blocks=None, check=True):
    """Copies files with Ray while something is killed, and checks what was written; returns it."""
    source = TFRecordDatasource(files, split_bytes=split_bytes, batch_size=500)
    dataset = ray.data.read_datasource(source, override_num_blocks=blocks)
    sink = TrappedSink(trap, TaskShards(out, storage_options=storage_options))
    with killing(trap, strike):
        dataset.write_datasink(sink)
    if check:
        check_written(out, sink.written, storage_options)
    return sink.written


def check_written(out, written, storage_options=None):
    """What a reader's glob sees, what the manifest lists and what the write returned are the same, and all records."""
    gfile = tf.io.gfile
    names = gfile.listdir(out, storage_options=storage_options)
    shards = sorted(os.path.basename(file.path) for file in written)
    assert sorted(names) == sorted(["_manifest.json", *shards])
    with gfile.GFile(f"{out}/_manifest.json", "rb", storage_options=storage_options) as file:
        listed = json.loads(file.read())["files"]
    assert sorted(one["name"] for one in listed) == shards
    for one in listed:
        path = f"{out}/{one['name']}"
        assert gfile.stat(path, storage_options=storage_options).length == one["bytes"]
        assert tf.ShardReader(path, storage_options=storage_options).num_records == one["records"]
    check_rows(tf.read_table(f"{out}/*.tfrecord*", storage_options=storage_options))
