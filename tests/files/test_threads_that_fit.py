"""How many threads there are by default: what affinity and control groups allow, shared with workers and ranks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import cgroups as made
from tests.support.frames import frames
from tfrecord_fast.base import threads
from tfrecord_fast.base.threads import cpu_quota

pytestmark = pytest.mark.alone


@pytest.fixture
def of_cpus(monkeypatch, tmp_path):
    """Lets this process believe in that many processors, and in that quota."""

    def believe(cpus, quota=None):
        monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cpus)), raising=False)
        text = "max 100000" if quota is None else f"{quota} 100000"
        monkeypatch.setattr(threads, "ROOT", made.version_2(tmp_path / "root", "/a", {"/a": text}))
        monkeypatch.setattr(threads, "_quota", (-10.0, None))
        monkeypatch.setattr(threads, "_default", (-10.0, 0, 1))

    for name in os.environ:
        if name.startswith(("SLURM_", "OMPI_", "MPI_", "MV2_", "LOCAL_WORLD")):
            monkeypatch.delenv(name)
    return believe


# ---- Quotas ----


@pytest.mark.parametrize(
    ("maxima", "quota"),
    [
        ({"/a/b": "400000 100000"}, 4),
        ({"/a/b": "max 100000"}, None),
        ({"/a/b": "150000 100000"}, 2),  # rounded up
        ({"/a/b": "1000 100000"}, 1),
        ({"/a/b": "max 100000", "/a": "200000 50000"}, 4),
        ({"/a/b": "800000 100000", "/a": "300000 100000", "/": "max 100000"}, 3),
        ({"/a/b": "max 100000", "/": "200000 100000"}, 2),
        ({"/a/b": "200000"}, 2),
        ({"/else": "100000 100000"}, None),
        ({"/a/b": "none of this", "/a": ""}, None),
        ({"/a/b": "-5 100000", "/a": "100000 0"}, None),
        ({}, None),
    ],
)
def test_the_least_quota_of_all_levels_counts(tmp_path, maxima, quota):
    assert cpu_quota(made.version_2(tmp_path, "/a/b", maxima)) == quota


@pytest.mark.parametrize(
    ("quotas", "quota"),
    [
        ({"/a/b": (400_000, 100_000)}, 4),
        ({"/a/b": (-1, 100_000)}, None),
        ({"/a/b": (250_000, 100_000)}, 3),
        ({"/a/b": (-1, 100_000), "/a": (50_000, 100_000)}, 1),
        ({"/a/b": (300_000, 100_000), "/": (200_000, 100_000)}, 2),
        ({}, None),
    ],
)
def test_groups_of_version_1_too(tmp_path, quotas, quota):
    assert cpu_quota(made.version_1(tmp_path, "/a/b", quotas)) == quota


@pytest.mark.parametrize("root", ["/docker/4f", "/docker/4f/inner"])
def test_a_container_that_sees_its_own_group_as_the_root(tmp_path, root):
    assert cpu_quota(made.version_1(tmp_path / "1", "/docker/4f", {"/": (200_000, 100_000)}, root)) == 2
    assert cpu_quota(made.version_2(tmp_path / "2", "/docker/4f", {"/": "200000 100000"}, root)) == 2


def test_a_system_without_groups_has_no_quota(tmp_path):
    assert cpu_quota(str(tmp_path)) is None


def test_both_versions_side_by_side(tmp_path):
    made.version_1(tmp_path, "/a", {"/a": (200_000, 100_000)})
    with open(tmp_path / "proc/self/mountinfo", "a") as file:
        file.write("41 30 0:38 / /sys/fs/cgroup/unified\\040one rw - cgroup2 cgroup2 rw\n")
    assert cpu_quota(str(tmp_path)) == 2
    made.write(tmp_path / "sys/fs/cgroup/unified one/cpu.max", "100000 100000\n")
    assert cpu_quota(str(tmp_path)) == 1


# ---- Shares ----


@pytest.mark.parametrize(
    ("cpus", "quota", "environment", "count"),
    [
        (64, 400_000, {}, 4),
        (2, 400_000, {}, 2),
        (64, None, {"LOCAL_WORLD_SIZE": "8"}, 8),
        (64, 400_000, {"LOCAL_WORLD_SIZE": "8"}, 1),
        (64, None, {"OMPI_COMM_WORLD_LOCAL_SIZE": "4"}, 16),
        (64, None, {"SLURM_STEP_ID": "0", "SLURM_STEP_TASKS_PER_NODE": "4(x2),8", "SLURM_NODEID": "2"}, 8),
        (64, None, {"SLURM_STEP_ID": "0", "SLURM_TASKS_PER_NODE": "4(x2),8", "SLURM_NODEID": "1"}, 16),
        (64, None, {"SLURM_JOB_ID": "7", "SLURM_TASKS_PER_NODE": "4"}, 64),  # a job's script is none of its tasks
        (64, None, {"LOCAL_WORLD_SIZE": "none", "SLURM_TASKS_PER_NODE": "?"}, 64),
    ],
)
def test_ranks_of_a_host_share_its_processors(of_cpus, monkeypatch, cpus, quota, environment, count):
    of_cpus(cpus, quota)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert threads.default_threads() == threads.thread_count(None) == threads.thread_count(0) == count
    assert threads.thread_count(5) == 5


def test_workers_of_a_dataloader_share_their_processes_part(of_cpus, monkeypatch):
    of_cpus(64, 400_000)
    for workers, count in [(2, 2), (3, 1), (8, 1)]:
        monkeypatch.setattr(threads, "worker_info", lambda workers=workers: type("_", (), {"num_workers": workers}))
        assert threads.default_threads() == count


def test_a_quota_that_changes_is_noticed(of_cpus, monkeypatch):
    of_cpus(8, 400_000)
    assert threads.available_cpus() == threads.thread_count(None) == 4
    made.version_2(Path(threads.ROOT), "/a", {"/a": "200000 100000"})
    monkeypatch.setattr(threads.time, "monotonic", lambda: 1e12)
    assert threads.available_cpus() == threads.thread_count(None) == 2


def test_a_forked_process_finds_out_its_own_share(of_cpus, monkeypatch):
    of_cpus(8, 400_000)
    assert threads.thread_count(None) == 4
    monkeypatch.setattr(threads, "worker_info", lambda: type("_", (), {"num_workers": 2}))
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert threads.thread_count(None) == 2


# ---- What starts ----

BEGIN = """
import os, sys, time
import tfrecord_fast as tf
from tfrecord_fast.base import threads
threads.ROOT = sys.argv[1]
os.sched_getaffinity = lambda process: set(range(64))

def count():
    return len(os.listdir("/proc/self/task"))

before = count()
"""
READ = """
batches = iter(tf.ShardReader(sys.argv[2], batch_size=16))
next(batches)
time.sleep(0.1)
print(count() - before)
"""
ENCODE = """
tf.encode_examples({"a": [bytes(100)] * 100_000})
print(count() - before)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
@pytest.mark.parametrize(
    ("work", "quota", "started"),
    [(READ, 1, 1), (READ, 4, 3), (ENCODE, 1, 0), (ENCODE, 4, 3)],
    ids=["read-1", "read-4", "encode-1", "encode-4"],
)
def test_as_many_threads_start_as_the_group_allows(tmp_path, work, quota, started):
    """With two or more, the thread that calls is one of them."""
    (tmp_path / "a").write_bytes(frames([bytes(1000)] * 50_000))
    root = made.version_2(tmp_path / "root", "/a", {"/a": f"{quota}00000 100000"})
    command = [sys.executable, "-c", BEGIN + work, root, str(tmp_path / "a")]
    assert subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout == f"{started}\n"
