"""Memory, open files and bytes read of ShardReader: one large file, very many shards, many epochs, resuming.

The large file has TFRECORD_FAST_LARGE_MB megabytes, 1,000 by default; the limits are the same for 10,000.
"""

import json
import os

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.frames import frames
from tests.support.peak_memory import MIB, PEAK_IS_TOLD, run

pytestmark = PEAK_IS_TOLD

LARGE_MB = int(os.environ.get("TFRECORD_FAST_LARGE_MB", "1000"))
PREFETCH = 32 * MIB
LIMIT = 300 * MIB + PREFETCH


def example(number):
    entries = [(b"x", wire.feature("int64", [number] * 100)), (b"s", wire.feature("bytes", [b"%d" % number * 50]))]
    return wire.example(entries)


def read(then="", **given):
    return f"""
import os, time
features = {{"x": tf.FixedLenFeature([100], tf.int64), "s": tf.VarLenFeature(tf.string)}}
count = most_open = 0
for batch in tf.ShardReader(sys.argv[1], features, prefetch_bytes={PREFETCH}, **{given!r}):
    count += len(batch["x"])
    most_open = max(most_open, len(os.listdir("/proc/self/fd")))
    {then}
print(count, most_open)
"""


@pytest.mark.parametrize("given", [{}, {"shuffle_buffer": 10_000}, {"num_threads": 8, "deterministic": False}])
def test_one_large_file(tmp_path, given):
    path = tmp_path / "large"
    part = frames([example(i) for i in range(1000)])
    copies = -(-LARGE_MB * 1_000_000 // len(part))
    with path.open("wb") as file:
        for _ in range(copies):
            file.write(part)
    printed, peak = run(read(**given), path)
    path.unlink()
    assert printed.split()[0] == str(copies * 1000)
    assert peak < LIMIT


def test_a_slow_consumer_is_not_overrun(tmp_path):
    path = tmp_path / "large"
    path.write_bytes(frames([example(i) for i in range(1000)]) * 300)
    printed, peak = run(read("time.sleep(0.0005)", num_threads=8), path)
    assert printed.split()[0] == "300000" and peak < LIMIT


@pytest.mark.parametrize("given", [{}, {"cycle_length": 16}, {"shuffle_files": True, "num_threads": 8}])
def test_ten_thousand_shards(tmp_path, given):
    (tmp_path / "one").write_bytes(frames([example(i) for i in range(10)]))
    for i in range(10_000):
        os.link(tmp_path / "one", tmp_path / f"{i:05}.tfrecord")
    printed, peak = run(read(**given), f"{tmp_path}/*.tfrecord")
    count, most_open = map(int, printed.split())
    assert count == 100_000
    assert most_open < 64
    assert peak < LIMIT


def test_no_growth_over_a_hundred_epochs(tmp_path):
    (tmp_path / "a.tfrecord").write_bytes(frames([example(i) for i in range(2000)]))
    (tmp_path / "b.tfrecord").write_bytes(frames([example(i) for i in range(500)]))
    code = """
features = {"x": tf.FixedLenFeature([100], tf.int64), "s": tf.VarLenFeature(tf.string)}
def held():
    return int(re.search(r"VmRSS:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) >> 10
def run(epochs, one_by_one):
    # Each thread has memory of its own, which the first epochs make: with 16 threads, 20 of them are not enough.
    given = dict(shuffle_files=True, shuffle_buffer=1000, batch_size=100, num_threads=2)
    for _ in range(epochs if one_by_one else 1):
        for _ in tf.ShardReader(sys.argv[1], features, num_epochs=1 if one_by_one else epochs, **given):
            pass
for one_by_one in (False, True):
    run(20, one_by_one)
    before = held()
    run(100, one_by_one)
    print(held() - before)
"""
    growth = [int(line) for line in run(code, f"{tmp_path}/*.tfrecord")[0].split()]
    assert max(growth) < 16, growth  # MiB


def bytes_read(script_args):
    code = """
import json, os
reader = tf.ShardReader(sys.argv[1], batch_size=100, num_threads=2, seed=1, **json.loads(sys.argv[3]))
reader.load_state_dict(json.loads(sys.argv[2]))
before = int(re.search(r"rchar: (\\d+)", open("/proc/self/io").read())[1])
batches = iter(reader)
first = next(batches)
after = int(re.search(r"rchar: (\\d+)", open("/proc/self/io").read())[1])
print(after - before, sum(map(len, batches)) + len(first))
"""
    return [int(word) for word in run(code, *script_args)[0].split()]


@pytest.mark.parametrize("given", [{}, {"shuffle_buffer": 50}, {"cycle_length": 2}])
def test_resuming_late_reads_no_more_than_resuming_early(tmp_path, given):
    for name in "ab":
        (tmp_path / f"{name}.tfrecord").write_bytes(frames([example(i) for i in range(20_000)]))
    pattern = f"{tmp_path}/*.tfrecord"
    reader = tf.ShardReader(pattern, batch_size=100, seed=1, num_threads=2, **given)
    batches = iter(reader)
    states = {}
    for done in range(1, 396):
        next(batches)
        if done in (5, 395):
            states[done] = json.dumps(reader.state_dict())
    early, left_early = bytes_read((pattern, states[5], json.dumps(given)))
    late, left_late = bytes_read((pattern, states[395], json.dumps(given)))
    assert (left_early, left_late) == (39_500, 500)
    assert late <= early + MIB < 48 * MIB  # what is read ahead, of files of 6 MB


READS_AHEAD = """
import time
def read_so_far():
    with open("/proc/self/io") as counters:
        return int(counters.readline().split()[1])
batches = iter(tf.ShardReader(sys.argv[1], batch_size=1000, prefetch_bytes=4 << 20, num_threads=2))
next(batches)
begin, ahead = read_so_far(), []
for k in range(1, 26):
    next(batches)
    if k % 8 == 0:
        time.sleep(0.5)
        ahead.append(read_so_far() - begin - k * 1_000_000)
print(*ahead)
"""


@pytest.mark.alone
def test_it_reads_ahead_to_the_end(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(frames([bytes(1000 - 16)] * 30_000))
    assert min(map(int, run(READS_AHEAD, path)[0].split())) > 3 * MIB
