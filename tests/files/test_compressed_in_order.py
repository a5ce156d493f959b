"""Compressed files of other programs, in order: whatever their sizes, with any number of threads, in bounded memory."""

import functools
import gzip
import itertools
import zlib

import pytest
import zstandard

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.frames import frames
from tests.support.peak_memory import MIB, PEAK_IS_TOLD, run

PACK = {
    "gz": functools.partial(gzip.compress, compresslevel=1),
    "zlib": functools.partial(zlib.compress, level=1),
    "zst": zstandard.compress,
}
SIZES = [3000, 1, 12_000, 0, 40, 9000, 2000, 6000]
FEATURES = {"x": tf.FixedLenFeature([], tf.int64), "s": tf.FixedLenFeature([], tf.string)}


def example(number):
    entries = [(b"x", wire.feature("int64", [number])), (b"s", wire.feature("bytes", [b"%d" % number * 40]))]
    return wire.example(entries)


@pytest.fixture(scope="module", params=PACK)
def paths(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("shards")
    numbers = itertools.count()
    paths = []
    for size in SIZES:
        records = [example(number) for number in itertools.islice(numbers, size)]
        paths.append(folder / f"{len(paths)}.{request.param}")
        paths[-1].write_bytes(PACK[request.param](frames(records)))
    return paths


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("prefetch", [0, 1 << 18, 3 << 20, 32 << 20])
def test_columns_come_in_the_order_of_the_files(paths, threads, prefetch):
    reader = tf.ShardReader(paths, FEATURES, batch_size=700, num_threads=threads, prefetch_bytes=prefetch)
    assert [x for batch in reader for x in batch["x"].tolist()] == list(range(sum(SIZES)))


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("batch_size", [64, 20_000])
def test_a_state_continues_at_any_batch(paths, threads, batch_size):
    given = {"batch_size": batch_size, "num_threads": threads, "prefetch_bytes": 1 << 20}
    reader = tf.ShardReader(paths, FEATURES, **given)
    seen = 0
    for batch in reader:
        seen += len(batch["x"])
        if seen >= 14_000:
            break
    later = tf.ShardReader(paths, FEATURES, **given)
    later.load_state_dict(reader.state_dict())
    assert [x for batch in later for x in batch["x"].tolist()] == list(range(seen, sum(SIZES)))


def test_tables_and_datasets_have_the_same_order(paths):
    records = [example(number) for number in range(sum(SIZES))]
    assert tf.read_table(paths, FEATURES, num_threads=2)["x"].to_pylist() == list(range(len(records)))
    assert list(tf.data.TFRecordDataset(paths)) == records
    assert sorted(tf.data.TFRecordDataset(paths, num_parallel_reads=4)) == sorted(records)


READ = """
import time
features = {"x": tf.FixedLenFeature([], tf.int64), "s": tf.FixedLenFeature([], tf.string)}
count = 0
for batch in tf.ShardReader(sys.argv[1:], features, num_threads=2, batch_size=1000, prefetch_bytes=16 << 20):
    count += len(batch["x"])
    time.sleep(0.001)
print(count)
"""


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("megabytes", [[40] * 8, [2, 90, 1, 150, 3, 70]])
@PEAK_IS_TOLD[0]
@PEAK_IS_TOLD[1]
def test_what_is_read_ahead_is_bounded(tmp_path, kind, megabytes):
    some = frames([example(number) for number in range(1000)])
    paths = [tmp_path / f"{n}" for n in range(len(megabytes))]
    copies = [size * 1_000_000 // len(some) for size in megabytes]
    for path, count in zip(paths, copies, strict=True):
        path.write_bytes(PACK[kind](some * count))
    printed, peak = run(READ, *paths)
    assert printed == str(1000 * sum(copies)) and peak < 140 * MIB
