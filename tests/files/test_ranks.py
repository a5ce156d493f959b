"""`shard="auto"`: the rank that torch.distributed, JAX or the environment say; and equal shards of ranks.

Real processes: three that reduce after each batch, as training does, would wait for each other for ever if one of them
had fewer batches.
"""

import json
import os
import pickle
import socket
import subprocess
import sys

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.frames import frames
from tests.support.paths import ROOT
from tfrecord_fast.base import ranks
from tfrecord_fast.errors import InvalidArgumentError

SIZES = [40, 3, 0, 17, 90, 1, 26, 55]  # of eight files
LAUNCHERS = ("RANK", "WORLD_SIZE", "OMPI_", "PMI_", "MV2_", "SLURM_", "LOCAL_")


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch):
    for name in os.environ:
        if name.startswith(LAUNCHERS):
            monkeypatch.delenv(name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    for file, size in enumerate(SIZES):
        (folder / f"{file}.tfrecord").write_bytes(frames([b"%d-%d" % (file, i) for i in range(size)]))
    return folder


RECORDS = {f"{file}-{i}" for file, size in enumerate(SIZES) for i in range(size)}


def flat(reader):
    return [record.decode() for batch in reader for record in batch.tolist()]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def run_ranks(code, count, *arguments, environment=lambda rank: {}):
    """What each of `count` processes prints last, as JSON. The code is told its rank, their number and a port."""
    port = str(free_port())
    code = ["-c", code] if isinstance(code, str) else [str(code)]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
    started = [
        subprocess.Popen(
            [sys.executable, *code, str(rank), str(count), port, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**clean, "PYTHONPATH": str(ROOT), **environment(rank)},
        )
        for rank in range(count)
    ]
    try:
        found = [one.communicate(timeout=240) for one in started]
    finally:
        for one in started:
            one.kill()
    assert all(one.returncode == 0 for one in started), [error[-2000:] for _, error in found]
    return [json.loads(out.splitlines()[-1]) for out, _ in found]


# ---- The environment ----


@pytest.mark.parametrize(
    ("environment", "rank"),
    [
        ({}, (0, 1)),
        ({"RANK": "1", "WORLD_SIZE": "3"}, (1, 3)),
        ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4"}, (2, 4)),
        ({"PMI_RANK": "0", "PMI_SIZE": "2"}, (0, 2)),
        ({"MV2_COMM_WORLD_RANK": "1", "MV2_COMM_WORLD_SIZE": "2"}, (1, 2)),
        ({"SLURM_PROCID": "1", "SLURM_NTASKS": "2"}, (1, 2)),
        ({"SLURM_PROCID": "1", "SLURM_NTASKS": "2", "SLURM_JOB_ID": "9", "SLURM_STEP_ID": "0"}, (1, 2)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "SLURM_JOB_ID": "9"}, (0, 1)),  # the job's script
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "RANK": "5", "WORLD_SIZE": "8"}, (5, 8)),
    ],
    ids=str,
)
def test_the_environment_says_the_rank(folder, monkeypatch, environment, rank):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    reader = tf.ShardReader(str(folder / "*"), shard="auto")
    assert flat(reader) == flat(tf.ShardReader(str(folder / "*"), shard=rank))
    assert f"rank {rank[0]} of {rank[1]}" in repr(reader)


@pytest.mark.parametrize(
    ("environment", "what"),
    [
        ({"RANK": "1"}, "but not WORLD_SIZE"),
        ({"WORLD_SIZE": "1"}, "but not RANK"),
        ({"RANK": "3", "WORLD_SIZE": "3"}, "the rank must be less than"),
        ({"RANK": "-1", "WORLD_SIZE": "3"}, "the rank must be less than"),
        ({"RANK": "one", "WORLD_SIZE": "3"}, "not numbers"),
        ({"RANK": "", "WORLD_SIZE": "3"}, "not numbers"),
    ],
    ids=str,
)
def test_an_environment_that_contradicts_itself_is_refused(folder, monkeypatch, environment, what):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    reader = tf.ShardReader(str(folder / "*"), shard="auto")
    with pytest.raises(ValueError, match=what):
        iter(reader)
    with pytest.raises(ValueError, match=what):
        reader.num_records  # noqa: B018
    assert what.split()[-1] in repr(reader)


@pytest.mark.parametrize("shard", ["rank", "", (1, 1), (-1, 2), (0,)])
def test_other_shards_are_refused(shard):
    with pytest.raises(ValueError):
        tf.ShardReader("a", shard=shard)


def test_nothing_is_imported_for_it(folder):
    code = """
import json, sys, tfrecord_fast as tf
list(tf.ShardReader(sys.argv[4], shard="auto"))
print(json.dumps(sorted({"torch", "jax"} & set(sys.modules))))
"""
    assert run_ranks(code, 1, folder / "*") == [[]]


# ---- Copies ----


@pytest.fixture
def in_a_worker(monkeypatch):
    """Lets this process look like a worker of a DataLoader that the process of that number has started."""

    def pretend(parent):
        info = type("Info", (), {"num_workers": 2, "id": 1, "seed": 1})
        for module in ("shard_division", "epochs"):
            monkeypatch.setattr(f"tfrecord_fast.files.reading.{module}.worker_info", lambda: info)
            monkeypatch.setattr(f"tfrecord_fast.files.reading.{module}.parent_process", lambda: parent)

    return pretend


def test_a_spawned_worker_has_the_rank_of_its_parent(folder, monkeypatch, in_a_worker):
    monkeypatch.setattr(ranks, "_rank_of_torch", lambda: ranks.Rank(2, 3))
    sent = pickle.dumps(tf.ShardReader(str(folder / "*"), shard="auto"))
    monkeypatch.setattr(ranks, "_rank_of_torch", lambda: None)
    copy = pickle.loads(sent)
    assert "rank 0 of 1" in repr(copy)
    in_a_worker(os.getpid())
    assert "rank 5 of 6" in repr(copy)
    in_a_worker(os.getpid() + 1)  # a rank that was handed a reader by its launcher, and then has workers
    assert "rank 1 of 2" in repr(copy)


def test_what_is_divided_already_can_not_hold_a_reader_that_divides_again(folder, monkeypatch):
    reader = tf.ShardReader(str(folder / "*"))
    monkeypatch.setattr(ranks, "worker_info", object)  # as in a worker of a DataLoader
    with ranks.dividing(), pytest.raises(RuntimeError, match="a ShardReader already divides records among"):
        next(iter(reader))
    assert sum(len(batch) for batch in reader) == len(RECORDS)


# ---- torch.distributed and JAX ----

GLOO = """
import json, sys
import torch, torch.distributed as dist
import tfrecord_fast as tf
if __name__ == "__main__":
    rank, count, port, files, workers, start, options = sys.argv[1:]
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=int(rank), world_size=int(count))
    batches = tf.ShardReader(files, shard="auto", batch_size=7, **json.loads(options))
    if int(workers):
        batches = torch.utils.data.DataLoader(
            batches,
            batch_size=None,
            num_workers=int(workers),
            multiprocessing_context=start,
            persistent_workers=True,
        )
    epochs = []
    for epoch in range(2):
        mine = []
        for batch in batches:
            mine.append(batch.tolist())
            dist.all_reduce(torch.ones(1))
        epochs.append([[record.decode() for record in batch] for batch in mine])
    dist.barrier()
    dist.destroy_process_group()
    print(json.dumps(epochs))
"""


@pytest.mark.parametrize(
    ("workers", "start", "options"),
    [
        (0, "", {"equal_shards": "drop"}),
        (0, "", {"equal_shards": "pad", "shard_by": "file", "shuffle_buffer": 20, "seed": 3}),
        (2, "fork", {"equal_shards": "pad"}),
        (1, "spawn", {"equal_shards": "drop", "shuffle_files": True, "seed": 3}),
    ],
    ids=["drop", "pad", "pad-workers", "drop-spawned-workers"],
)
def test_three_ranks_that_wait_for_each_other_end_together(folder, tmp_path, workers, start, options):
    """Each reduces after each batch."""
    code = tmp_path / "train.py"  # workers that are spawned import it
    code.write_text(GLOO)
    found = run_ranks(code, 3, folder / "*", workers, start, json.dumps(options))
    for epoch in zip(*found, strict=True):
        assert len({len(batches) for batches in epoch}) == 1
        given = [record for batches in epoch for batch in batches for record in batch]
        if options["equal_shards"] == "pad":
            assert set(given) == RECORDS
        else:
            assert len(set(given)) == len(given) > 0.5 * len(RECORDS)


JAX = """
import json, sys
import jax
import tfrecord_fast as tf
rank, count, port, files = sys.argv[1:]
jax.distributed.initialize(f"127.0.0.1:{port}", int(count), int(rank))
reader = tf.ShardReader(files, shard="auto")
found = [record.decode() for batch in reader for record in batch.tolist()]
jax.distributed.shutdown()
print(json.dumps(found))
"""


def test_processes_of_jax_divide_the_records(folder):
    found = run_ranks(JAX, 2, folder / "*", environment=lambda rank: {"JAX_PLATFORMS": "cpu"})
    assert found == [flat(tf.ShardReader(str(folder / "*"), shard=(rank, 2))) for rank in range(2)]


def test_ranks_of_the_environment_divide_the_records(folder):
    code = """
import json, sys, tfrecord_fast as tf
reader = tf.ShardReader(sys.argv[4], shard="auto")
print(json.dumps([record.decode() for batch in reader for record in batch.tolist()]))
"""
    found = run_ranks(code, 3, folder / "*", environment=lambda rank: {"SLURM_PROCID": str(rank), "SLURM_NTASKS": "3"})
    assert sorted(record for part in found for record in part) == sorted(RECORDS)


def write(path, rows, **columns):
    with tf.ExampleWriter(path) as writer:
        writer.write({name: make(np.arange(rows)) for name, make in columns.items()})
    return str(path)


@pytest.mark.parametrize("equal", ["pad", "drop"])
def test_equal_parts_are_the_same_in_any_order(tmp_path, equal):
    paths = [
        write(tmp_path / f"{n}.tfrecord", rows, a=lambda i, n=n: i + 1000 * n) for n, rows in enumerate((70, 90, 50))
    ]
    features = {"a": tf.io.FixedLenFeature([], tf.int64)}

    def records(part, deterministic):
        given = {"batch_size": 8, "num_threads": 4, "equal_shards": equal, "deterministic": deterministic}
        reader = tf.ShardReader(paths, features, shard=(part, 2), **given)
        return sorted(int(one) for batch in reader for one in batch["a"])

    for part in range(2):
        for _ in range(5):
            assert records(part, False) == records(part, True)


def test_equal_parts_of_a_file_of_which_a_reader_of_all_would_see_nothing(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch([b"%d" % i for i in range(6)])
    data = bytearray(path.read_bytes())
    data[12] ^= 1  # of the first record
    path.write_bytes(data)
    options = {"shard_by": "record", "equal_shards": "pad", "on_corrupt": "skip_file", "index_cache": False}
    readers = [tf.ShardReader(path, batch_size=1, shard=(part, 3), **options) for part in range(3)]
    for call in (len, list):
        with pytest.raises(InvalidArgumentError, match="shard 0 of 3 has no records, and one reader"):
            call(readers[0])
    assert [[one.tolist() for one in reader] for reader in readers[1:]] == [[[b"1"], [b"4"]], [[b"2"], [b"5"]]]
