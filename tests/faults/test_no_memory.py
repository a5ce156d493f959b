"""With little memory left, encoding, parsing, reading and looking at records raise MemoryError or succeed: the process
goes on, and nothing is lost."""

import subprocess
import sys

import pytest

import tfrecord_fast as tf

PRELUDE = """
import os, resource, sys, time
import numpy as np
import tfrecord_fast as tf

ROWS = 150_000
columns = {"a": np.arange(ROWS), "b": np.ones((ROWS, 9), np.float32), "c": [b"x" * 30] * ROWS}
tf.encode_examples({"a": [1]})  # imports come before memory is short
"""

# What is made before memory gets short, and what is done then.
WORK = {
    "encode": ("", "tf.encode_examples(columns)"),
    "encode strings of many sizes": (
        "columns = {'c': [b'x' * (i % 99) for i in range(ROWS)]}",
        "tf.encode_examples(columns)",
    ),
    "encode sequences": (
        "steps = np.ones((2000, 30, 9), np.int64)",
        "tf.encode_sequence_examples({'a': steps[:, 0, 0]}, {'s': steps})",
    ),
    "write examples": (
        "tf.ExampleWriter",  # what has to be imported for it
        "tf.ExampleWriter(os.path.join(sys.argv[1], str(os.getpid()))).write(columns)",
    ),
    "parse": (
        "rows = tf.encode_examples(columns)",
        "tf.parse_example(rows, {'a': tf.FixedLenFeature([], tf.int64), 'b': tf.FixedLenFeature([9], tf.float32)})",
    ),
    "parse lists": (
        "rows = tf.encode_examples(columns)",
        "tf.parse_example(rows, {k: tf.VarLenFeature(t) for k, t in zip('abc', (tf.int64, tf.float32, tf.string))})",
    ),
    "parse many bytes objects": (
        "rows = [tf.encode_examples({'a': [1]})[0]] * 2_000_000",
        "tf.parse_example(rows, {'a': tf.FixedLenFeature([], tf.int64)})",
    ),
    "parse many bytearrays": (
        "rows = [bytearray(tf.encode_examples({'a': [1]})[0])] * 300_000",
        "tf.parse_example(rows, {'a': tf.FixedLenFeature([], tf.int64)})",
    ),
    "parse sequences": (
        "steps = np.ones((2000, 30, 9)); rows = tf.encode_sequence_examples({'a': steps[:, 0, 0]}, {'s': steps})",
        "tf.parse_sequence_example(rows, {}, {'s': tf.VarLenFeature(tf.float32)})",
    ),
    "parse keys that were never seen": (
        "rows = [tf.encode_examples({f'{i}' * 9: [i]})[0] for i in range(5000)]",
        "tf.parse_example(rows, {'a': tf.VarLenFeature(tf.int64)})",
    ),
    "infer": (
        "tf.infer_features; rows = [tf.encode_examples({f'{i}' * 90: [i]})[0] for i in range(5000)]",
        "tf.infer_features(rows)",
    ),
    "statistics": (
        "from tfrecord_fast import _core; batch = tf.encode_examples(columns)",
        "(lambda found: (found.add(batch), found.features(), found.sample()))(_core.StatsCollector(0, 0, [], None))",
    ),
    "records as objects": ("batch = tf.encode_examples(columns)", "[list(batch), batch.tolist()]"),
    "sizes and slices": (
        "rows = tf.encode_examples(columns)",
        "[rows.sizes, np.asarray(rows), rows[::2].tolist()]",
    ),
}

LIMITED = """
def tried(extra):
    pid = os.fork()
    if pid:
        return os.waitpid(pid, 0)[1]
    used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, used + extra))
    status = 0
    try:
        work()
    except MemoryError:
        pass
    except BaseException as error:
        os.write(2, repr(error)[:300].encode())
        status = 3
    os._exit(status)

# Python itself needs some to raise an exception. Small objects are what is missing at some sizes only.
sizes = [*range(1 << 20, 12 << 20, 300_000), *range(12 << 20, 40 << 20, 3_000_000)]
statuses = {extra: tried(extra) for extra in sizes}
bad = {extra: status for extra, status in statuses.items() if status}
sys.exit(f"wait statuses by bytes left: {bad}" if bad else 0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
@pytest.mark.skipif(bool(tf.build_info()["sanitizers"]), reason="sanitizers reserve address space themselves")
@pytest.mark.parametrize("name", WORK)
def test_a_lack_of_memory_is_a_memory_error(name, tmp_path):
    before, work = WORK[name]
    code = f"{PRELUDE}\n{before}\ndef work():\n    return {work}\n{LIMITED}"
    ended = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr[-1500:]
