"""What it costs a driver to plan the reading of very many small files, engine by engine.

python -m tools.many_files --files 100000

Each engine's part is done in a process of its own, without a cluster: names are listed, features inferred from some
records, tasks made and pickled, as they go to workers. It ends with 1 if a file is in no task, or in two. With
`--read`, the tasks are also read here, one after the other, and every record has to come once.
"""

import argparse
import importlib.util
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

import tfrecord_fast as tf
from tests.support.frames import frames
from tests.support.paths import ROOT

SHARE = 1 << 20  # bytes of a task: there are many tasks, too


def plain(folder):
    from tfrecord_fast.files.reading.task_splits import plan_splits

    splits = plan_splits(folder, split_bytes=SHARE)
    return splits, lambda split: tf.read_table(list(split.parts)).column("id").to_pylist()


def ray(folder):
    from tfrecord_fast.integrations.ray import TFRecordDatasource

    tasks = TFRecordDatasource(folder, split_bytes=SHARE).get_read_tasks(200)
    return [task._read_fn for task in tasks], lambda task: [i for block in task() for i in block["id"].to_pylist()]


def dask(folder):
    from tfrecord_fast.integrations.dask import read_tfrecords

    frame = read_tfrecords(folder, split_bytes=SHARE)
    tasks = [task for task in dict(frame.optimize().dask).values() if b"FilePart" in pickle.dumps(task)]
    return tasks, lambda task: task()["id"].tolist()


def spark(folder):
    from tfrecord_fast.integrations.spark import TFRecordDataSource

    source = TFRecordDataSource({"path": str(folder), "splitBytes": str(SHARE)})
    reader = source.reader(source.schema())
    tasks = [(reader, one) for one in reader.partitions()]
    return tasks, lambda task: [i for batch in task[0].read(task[1]) for i in batch.column("id").to_pylist()]


def beam(folder):
    from tfrecord_fast.integrations.beam import ReadFromTFRecord

    def ids(bundle):
        source = bundle.source
        return [row["id"] for row in source.read(source.get_range_tracker(None, None))]

    return list(ReadFromTFRecord(str(folder), "infer")._source.split(SHARE)), ids


ENGINES = {plain: "numpy", ray: "ray", dask: "dask", spark: "pyspark", beam: "apache_beam"}


def make(folder, count):
    """Files with a record each, numbered, a thousand in a folder."""
    for number in range(count):
        if number % 1000 == 0:
            place = f"{folder}/{number // 1000:05d}"
            os.makedirs(place)
        with open(f"{place}/{number:07d}.tfrecord", "xb") as file:
            file.write(frames(tf.encode_examples({"id": np.array([number]), "text": [b"%d" % number * 8]})))


def measured(plan, folder, count, is_read):
    """What planning took: wall and processor's seconds, memory, tasks and their pickles."""
    dumps = pickle.dumps
    if plan is ray:
        from ray.cloudpickle import dumps
    dumps(plan(f"{folder}/00000")[0])  # imports, and what a process does only once
    before, begun, used = _peak(), time.monotonic(), time.process_time()
    tasks, ids = plan(folder)
    pickles = [dumps(task) for task in tasks]
    found = {
        "seconds": round(time.monotonic() - begun, 2),
        "processor": round(time.process_time() - used, 2),
        "MB": round((_peak() - before) / 1e6),
        "tasks": len(tasks),
        "bytes per file": round(sum(map(len, pickles)) / count),
    }
    names = sum(one.count(b".tfrecord") for one in pickles)
    assert names == count, f"{names} names of files in the tasks"
    if is_read:
        read = np.sort([number for task in tasks for number in ids(task)])
        assert np.array_equal(read, np.arange(count)), f"{len(read)} records, {len(np.unique(read))} different"
        found["read"] = "every record once"
    return found


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = {plan.__name__: plan for plan in ENGINES}
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--only", choices=names, action="append")
    parser.add_argument("--read", action="store_true")
    parser.add_argument("--in-folder", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.in_folder:
        print(json.dumps(measured(names[given.only[0]], given.in_folder, given.files, given.read)))
        return 0
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        make(folder, given.files)
        for plan, module in ENGINES.items():
            if importlib.util.find_spec(module) is None or (given.only and plan.__name__ not in given.only):
                continue
            command = [sys.executable, "-m", "tools.many_files", "--in-folder", folder]
            command += ["--files", str(given.files), "--only", plan.__name__, *["--read"] * given.read]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            status |= done.returncode != 0
            print(f"{plan.__name__}: {done.stdout.strip() or done.stderr}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
