"""With little address space left, what can't be done is a MemoryError: nothing ends the process, nothing is missing."""

import subprocess
import sys

import pytest

import tfrecord_fast as tf
from tfrecord_fast import _core

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits the address space"),
    pytest.mark.skipif(bool(tf.build_info()["sanitizers"]), reason="sanitizers map more than that"),
]

# Ends with "done" or "refused"; anything else is wrong.
SCRIPT = """
import gc, resource, sys, tfrecord_fast as tf
path, room, threads, kind = sys.argv[1], int(sys.argv[2]) << 20, int(sys.argv[3]), sys.argv[4]
count = 400_000
def read():
    return sum(map(len, tf.ShardReader(path, batch_size=10**7, num_threads=threads)))
def one_by_one():
    return sum(1 for _ in tf.data.TFRecordDataset(path))
def shuffled():
    return sum(map(len, tf.ShardReader(path, batch_size=1000, shuffle_buffer=10**7, num_threads=threads)))
def index():
    return len(tf.RecordIndex.build(path)) if not kind else count
def write():
    with tf.io.TFRecordWriter(path + ".out", kind) as writer:
        writer.write_batch(records)
    return count
records = [b"x" * 10] * count
with tf.io.TFRecordWriter(path + ".out", kind) as writer:  # what is imported late is imported now
    writer.write(b"")
assert len(list(tf.data.TFRecordDataset(path + ".out"))) == 1
assert len(list(tf.ShardReader(path + ".out", shuffle_buffer=2))) == 1
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))
answers = []
for work in (read, one_by_one, shuffled, index, write):
    try:
        got = work()
        answers.append("done" if got == count else f"{work.__name__}: {got}")
    except MemoryError:
        answers.append("refused")
    gc.collect()
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert read() == count  # all is well again
print(*answers)
"""


@pytest.mark.parametrize("kind", ["", "GZIP", "ZSTD"])
@pytest.mark.parametrize("threads", [1, 4])
def test_a_limit_on_address_space(tmp_path, threads, kind):
    path = tmp_path / "a"
    with tf.io.TFRecordWriter(path, kind) as writer:
        writer.write_batch([b"x" * 10] * 400_000)
    seen = set()
    for room in (2, 8, 32, 128):
        command = [sys.executable, "-c", SCRIPT, path, str(room), str(threads), kind]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (room, done)
        assert set(done.stdout.split()) <= {"done", "refused"}, (room, done.stdout)
        seen |= set(done.stdout.split())
    assert "refused" in seen


def test_the_compiler_leaves_in_what_gets_a_thread_its_memory():
    """It is declared as a function without effects."""
    with open(_core.__file__, "rb") as extension:
        assert b"__cxa_get_globals" in extension.read()
