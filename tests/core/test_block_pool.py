"""Blocks compressed by threads: they wake up again after a pause, and records that are too large for a mark."""

import os
import subprocess
import sys

import pytest

import tfrecord_fast as tf
from tests.support.peak_memory import MIB

PAUSE = """
import os, sys, time, tfrecord_fast as tf
record = os.urandom(1 << 16)
with tf.io.TFRecordWriter(sys.argv[1], sys.argv[2], num_threads=2) as writer:
    writer.write_batch([record] * 64)
    time.sleep(0.3)  # the threads have nothing to do
    writer.write_batch([record] * 320)
print(sum(map(len, tf.ShardReader(sys.argv[1]))))
"""


@pytest.mark.parametrize("kind", ["GZIP", "ZSTD", "SNAPPY"])
def test_threads_wake_up_after_a_pause(tmp_path, kind):
    """4 MiB, a pause, 20 MiB: more than the pool holds, so that the writer waits for its threads."""
    command = [sys.executable, "-c", PAUSE, tmp_path / "a", kind]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "384", done.stderr


@pytest.mark.skipif(bool(tf.build_info()["sanitizers"]), reason="takes too much memory")
@pytest.mark.skipif(
    not hasattr(os, "sysconf") or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 8 << 30,
    reason="takes 3 GiB of memory",
)
def test_a_record_of_more_than_a_block_may_have(tmp_path):
    """1 GiB and a bit: parts without a mark, none of which is a record."""
    path = tmp_path / "a"
    size = 1024 * MIB + 5
    options = tf.io.TFRecordOptions("ZSTD", compression_level=-5)
    with tf.io.TFRecordWriter(path, options, num_threads=2) as writer:
        writer.write(b"before")
        large = bytearray(size)
        large[::65536] = bytes(i % 251 for i in range(len(range(0, size, 65536))))
        writer.write(large)
        writer.write(b"after")
    assert path.read_bytes().count(b"TFR1") == 1  # the mark of what was written after it
    records = iter(tf.data.TFRecordDataset(path))
    assert next(records) == b"before"
    assert next(records) == large
    assert list(records) == [b"after"]
