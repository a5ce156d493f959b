"""ShardReader with little to spare: large parts and a small budget, a record that breaks off, few descriptors."""

import os

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import compression
from tests.support.frames import frames, header
from tests.support.peak_memory import MIB, PEAK_IS_TOLD, run


def marks(function):
    for mark in PEAK_IS_TOLD:
        function = mark(function)
    return function


READ = """
count = total = 0
for batch in tf.ShardReader(sys.argv[1:], batch_size=1, prefetch_bytes=1 << 20, num_threads=8):
    count += len(batch)
    total += batch.nbytes
print(count, total)
"""


@marks
@pytest.mark.parametrize("kind", ["GZIP", "ZSTD"])
@pytest.mark.parametrize("files", [1, 20])
def test_large_parts_and_a_small_budget(tmp_path, kind, files):
    """Parts of 16 MiB: what is inflated at a time is little more than what is asked for."""
    record = bytes(range(256)) * (16 << 12)
    options = tf.io.TFRecordOptions(kind, compression_level=1)
    paths = [tmp_path / str(i) for i in range(files)]
    for path in paths:
        with tf.io.TFRecordWriter(path, options) as writer:
            for _ in range(60 // files):
                writer.write(record)
    printed, peak = run(READ, *paths)
    assert printed == f"60 {60 * len(record)}"
    assert peak < 250 * MIB


BREAKS_OFF = """
try:
    list(tf.data.TFRecordDataset(sys.argv[1]))
except tf.DataLossError as error:
    print(error.record_index)
"""


@marks
def test_a_record_that_breaks_off_costs_what_has_come(tmp_path):
    """300 MiB of a record that claims 2 GB, once and not twice."""
    path = tmp_path / "a"
    path.write_bytes(compression.compress("ZSTD", frames([b"one"]) + header(2 * 10**9) + bytes(300 * MIB), 1))
    printed, peak = run(BREAKS_OFF, path)
    assert printed == "1"
    assert peak < 300 * MIB + 150 * MIB


FEW_FILES = """
tf.data, tf.ShardReader  # imports need descriptors
files = sys.argv[2:]
list(tf.ShardReader(files[:1]))
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[1])))
for threads in (1, 2, 8):
    for _ in range(5):
        got = [bytes(r) for b in tf.ShardReader(files, num_threads=threads, batch_size=7) for r in b]
        assert got == sorted(got) and len(got) == 3 * len(files), len(got)
got = list(tf.data.TFRecordDataset(files))
assert len(got) == 3 * len(files)
print("all")
"""


@pytest.mark.skipif("undefined" in tf.build_info()["sanitizers"], reason="the sanitizer needs descriptors itself")
@pytest.mark.parametrize("size", [10, 30_000, 100_000])
@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
def test_many_files_and_few_descriptors(tmp_path, kind, size):
    paths = []
    for i in range(60):
        paths.append(tmp_path / f"{i:02}")
        with tf.io.TFRecordWriter(paths[-1], kind) as writer:
            writer.write_batch([b"%02d.%d" % (i, j) + bytes(size) for j in range(3)])
    printed, _ = run(FEW_FILES, 12, *paths)
    assert printed == "all"


@pytest.mark.skipif("undefined" in tf.build_info()["sanitizers"], reason="the sanitizer needs descriptors itself")
def test_too_few_descriptors_for_what_is_asked_for_are_an_error(tmp_path):
    paths = []
    for i in range(20):
        paths.append(tmp_path / f"{i:02}")
        paths[-1].write_bytes(frames([bytes(1000)] * 1000))
    code = """
import errno
list(tf.ShardReader(sys.argv[1:2]))
resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))
try:
    list(tf.ShardReader(sys.argv[1:], cycle_length=20))
except OSError as error:
    print(error.errno == errno.EMFILE)
"""
    assert run(code, *paths)[0] == "True"


RANDOM = """
import numpy.random, itertools
tf.ShardReader, tf.IndexedReader
files = sys.argv[2:]
whole = tf.IndexedReader(files)[:].tolist()
limits = resource.getrlimit(resource.RLIMIT_NOFILE)
for threads, shuffles in itertools.product((1, 4), (False, True)):
    if shuffles:
        reader = tf.ShardReader(files, global_shuffle=True, num_threads=threads, batch_size=10)
        assert len(reader) == len(whole) // 10
    else:
        reader = tf.IndexedReader(files, num_threads=threads)
        assert reader[0] == whole[0]
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), limits[1]))
    if shuffles:
        for _ in range(2):
            assert sorted(bytes(record) for batch in reader for record in batch) == whole
    else:
        assert reader[:].tolist() == whole
        order = numpy.random.default_rng(threads).permutation(len(whole))
        assert [bytes(reader[int(i)]) for i in order] == [whole[i] for i in order]
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    del reader
print("all")
"""


@pytest.mark.skipif("undefined" in tf.build_info()["sanitizers"], reason="the sanitizer needs descriptors itself")
@pytest.mark.parametrize("most", [13, 20, 40])
def test_records_of_many_files_in_any_order_and_few_descriptors(tmp_path, most):
    paths = [tmp_path / f"{i:02}" for i in range(60)]
    for i, path in enumerate(paths):
        path.write_bytes(frames([b"%02d.%02d" % (i, j) for j in range(20)]))
    assert run(RANDOM, most, *paths)[0] == "all"


def write(path, rows, **columns):
    with tf.ExampleWriter(path) as writer:
        writer.write({name: make(np.arange(rows)) for name, make in columns.items()})
    return str(path)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not list descriptors")
def test_a_shuffle_on_disk_keeps_no_descriptors(tmp_path):
    from tfrecord_fast.cli.app import main

    path = write(tmp_path / "f.tfrecord", 20_000, a=lambda i: i)
    main(["shuffle", path, str(tmp_path / "warm.tfrecord"), "--seed", "1"])
    before = len(os.listdir("/proc/self/fd"))
    assert main(["shuffle", path, str(tmp_path / "out.tfrecord"), "--seed", "1", "--memory", "100kB"]) == 0
    assert len(os.listdir("/proc/self/fd")) <= before
