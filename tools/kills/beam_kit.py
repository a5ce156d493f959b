"""A runner of Beam's bundles in processes that are killed, and what has to be there afterwards.

Beam's local runner gives up when a worker dies. Those that don't give a bundle that has failed to another worker, and
take results of those only that have succeeded: so does this one, with the sources and the sinks of the transforms.
"""

import multiprocessing
import os
import pickle
import signal

import numpy as np
from apache_beam.internal import pickler

import tfrecord_fast as tf
from tfrecord_fast.integrations.beam import ReadFromTFRecord, WriteToTFRecord

__all__ = [
    "NAME_STAGES",
    "READ_STAGES",
    "WRITE_STAGES",
    "check",
    "check_folder",
    "make_files",
    "read_while",
    "write_while",
]

ROWS, FILES = 12_000, 3
FEATURES = {"id": tf.io.FixedLenFeature([], tf.int64), "text": tf.io.FixedLenFeature([], tf.string)}
READ_STAGES = ("begin", "middle", "end")
WRITE_STAGES = ("opened", "middle", "written")
NAME_STAGES = ("begin", "one", "all")

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload([__name__])


class Trap:
    """Kills the process that is the first to come to this stage of this bundle. It pickles."""

    def __init__(self, folder, stage, bundle):
        self.mark, self._stage, self._bundle = f"{folder}/killed", stage, bundle

    def spring(self, stage, bundle):
        if (stage, bundle) != (self._stage, self._bundle):
            return
        try:
            open(self.mark, "x").close()
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)


def succeeded(function, *arguments, folder):
    """What the function returns in a process of its own: the first that lives. All is pickled as Beam does it."""
    for number in range(2):
        path = f"{folder}/result"
        process = _processes.Process(target=_work, args=(pickler.dumps((function, arguments)), path))
        process.start()
        process.join(400)
        if process.exitcode == 0:
            with open(path, "rb") as file:
                found = pickle.load(file)
            os.unlink(path)
            return found
        assert (process.exitcode, number) == (-signal.SIGKILL, 0)


def _work(work, path):
    function, arguments = pickler.loads(work)
    found = function(*arguments)
    with open(f"{path}.draft", "wb") as file:
        pickle.dump(found, file)
    os.rename(file.name, path)


# ---- Reading ----


def read_while(files, folder, stage, bundle, split_at=None):
    """Reads while the worker of a bundle is killed. Each bundle is divided when `split_at` of it has been read."""
    trap = Trap(folder, stage, bundle)
    bundles = list(ReadFromTFRecord(files, FEATURES)._source.split(100_000))
    assert len(bundles) > bundle, "there is no such bundle"
    rows, todo = [], [(number, one.source, None, None) for number, one in enumerate(bundles)]
    while todo:
        found, rest = succeeded(_read, trap, split_at, *todo.pop(), folder=folder)
        rows += found
        todo += rest
    assert os.path.exists(trap.mark), "nothing was killed"
    return rows


def _read(trap, split_at, number, source, start, stop):
    """The rows of a bundle, and what is left to do of it."""
    trap.spring("begin", number)
    tracker = source.get_range_tracker(start, stop)
    rows, rest = [], []
    for row in source.read(tracker):
        rows.append((row["id"], row["text"]))
        if len(rows) == 100:
            if split_at is not None:
                end = tracker.stop_position()
                split = tracker.try_split(tracker.position_at_fraction(split_at))
                rest = [] if split is None else [(None, source, split[0], end)]
            trap.spring("middle", number)
    trap.spring("end", number)
    return rows, rest


# ---- Writing ----


def write_while(out, folder, stage, bundle, kind=""):
    """Writes while the worker of a bundle is killed, or the one that gives the shards their names (bundle None)."""
    trap = Trap(folder, stage, bundle)
    sink = WriteToTFRecord(f"{out}/part", file_name_suffix=".tfrecord", options=kind)._sink
    begun = succeeded(sink.initialize_write, folder=folder)
    shards = [
        succeeded(_write, trap, sink, begun, number, part, folder=folder)
        for number, part in enumerate(np.array_split(np.arange(ROWS), 4))
    ]
    before = succeeded(sink.pre_finalize, begun, shards, folder=folder)
    succeeded(_name, trap, sink, begun, shards, before, folder=folder)
    assert os.path.exists(trap.mark), "nothing was killed"


def _write(trap, sink, begun, number, part):
    """As Beam's bundles do it: each try writes to a name of its own."""
    writer = sink.open_writer(begun, f"try-{os.getpid()}-{number}")
    trap.spring("opened", number)
    for place, row in enumerate(_rows(part)):
        if place == len(part) // 2:
            trap.spring("middle", number)
        writer.write(row)
    path = writer.close()
    trap.spring("written", number)
    return path


def _name(trap, sink, begun, shards, before):
    rename = os.rename
    trap.spring("begin", None)

    def renamed(source, target):
        rename(source, target)
        trap.spring("one", None)

    os.rename = renamed
    try:
        names = list(sink.finalize_write(begun, shards, before))
    finally:
        os.rename = rename
    trap.spring("all", None)
    return names


# ---- What has to be there ----


def _rows(part):
    return [{"id": i, "text": b"%d" % i * 3} for i in part.tolist()]


def make_files(folder):
    """Files with ROWS records, numbered."""
    os.makedirs(folder)
    for number, part in enumerate(np.array_split(np.arange(ROWS), FILES)):
        with tf.ExampleWriter(f"{folder}/{number}.tfrecord", num_shards=1) as writer:
            writer.write({"id": part, "text": [b"%d" % one * 3 for one in part]})
    return str(folder)


def check(rows):
    """Every record once, each whole."""
    assert sorted(rows) == [(i, b"%d" % i * 3) for i in range(ROWS)], f"{len(rows)} rows, {len(set(rows))} different"


def check_folder(out):
    """All shards under their names, and nothing else: no draft, no folder of Beam's."""
    assert sorted(os.listdir(out)) == [f"part-{i:05d}-of-00004.tfrecord" for i in range(4)]
    table = tf.read_table(f"{out}/*", FEATURES)
    check(list(zip(*(table.column(name).to_pylist() for name in ("id", "text")), strict=True)))
