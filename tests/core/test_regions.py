"""Files read in pieces of every size, by any number of threads, give the same records and the same errors."""

import io
import os
import random
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support.damage import flip, insert, remove
from tests.support.file_objects import OnlyRead
from tests.support.frames import agrees, drain, frames, read, stream
from tests.support.paths import ROOT
from tfrecord_fast.files.streams.core_files import CoreFile

RECORDS = [b"one", b"", bytes(range(256)), b"four" * 300, b"\0"]
DATA = frames(RECORDS)
THREADS = [0, 1, 3]


def draw_records(rng, count=60, largest=300):
    """Many small, some longer than a region, some empty."""
    return [rng.randbytes(rng.choice([0, 1, rng.randrange(20), rng.randrange(largest)])) for _ in range(count)]


@pytest.mark.parametrize("threads", THREADS)
def test_region_edges_on_every_byte_of_a_record_change_nothing(tmp_path, threads):
    rng = random.Random(threads)
    path = tmp_path / "regions"
    for chunk in range(64, 401):
        records = draw_records(rng)
        path.write_bytes(frames(records))
        assert read(path, num_threads=threads, chunk_bytes=chunk) == (records, None), f"{chunk=}"


def test_a_small_file_that_was_read_to_detect_its_compression_is_one_region(tmp_path):
    path = tmp_path / "small"
    records = [b"x" * 90] * 500
    path.write_bytes(frames(records))
    for _ in range(100):  # its regions were once read from a file that was there no more, now and then
        assert read(path, num_threads=8, chunk_bytes=64, compression_type=None) == (records, None)


@pytest.mark.parametrize("threads", THREADS)
def test_region_edges_on_every_byte_of_a_record_find_the_same_damage(tmp_path, threads):
    rng = random.Random(threads)
    path = tmp_path / "regions"
    for chunk in range(64, 401):
        data = frames(draw_records(rng, 20)) + b"?"
        place = rng.randrange(len(data))
        for damaged in (data[:place], flip(data, 8 * place), insert(data, place, 7), remove(data, place)):
            path.write_bytes(damaged)
            assert agrees(read(path, num_threads=threads, chunk_bytes=chunk), damaged), f"{chunk=} {place=}"


@pytest.mark.parametrize("threads", THREADS)
def test_one_region_edge_on_every_byte_of_the_damage(tmp_path, threads):
    """The second of three records is damaged in header, data or footer; the edge moves over all of it."""
    path = tmp_path / "edge"
    for place in (0, 11, 12, 60, 111, 112, 115):
        for before in range(64):
            first = b"a" * before
            data = frames([first, b"b" * 100, b"c" * 200])
            damaged = flip(data, 8 * (16 + before + place))
            path.write_bytes(damaged)
            answer = read(path, num_threads=threads, chunk_bytes=64)
            assert agrees(answer, damaged) and answer[0] == [first], f"{place=} {before=}"


@pytest.mark.parametrize("chunk", [64, 65, 100, 257, 1000, 1 << 19])
@pytest.mark.parametrize("kind", [bytes, io.BytesIO, lambda data: OnlyRead(data, 7)])
def test_streams_give_the_same_in_chunks_of_any_size(chunk, kind):
    records = draw_records(random.Random(chunk), largest=3000)
    opened = kind(frames(records))
    assert drain(stream_of(opened, chunk_bytes=chunk)) == (records, None)


def stream_of(opened, **options):
    return tf._core.RecordStream([CoreFile(b"x", lambda: opened)], num_threads=0, **options).records()


@given(
    sizes=st.lists(st.integers(0, 400), max_size=40),
    chunk=st.integers(64, 900),
    threads=st.sampled_from(THREADS),
    prefetch=st.sampled_from([0, 1, 500, 10_000, 8 << 20]),
    batch=st.integers(0, 50),
)
@settings(max_examples=150)
def test_any_way_of_reading_gives_the_same(tmp_path_factory, sizes, chunk, threads, prefetch, batch):
    records = [random.Random(i).randbytes(size) for i, size in enumerate(sizes)]
    path = tmp_path_factory.getbasetemp() / "any_way"
    path.write_bytes(frames(records))
    options = {"num_threads": threads, "chunk_bytes": chunk, "prefetch_bytes": prefetch, "batch_size": batch}
    batches = [b.tolist() for b in stream(path, **options).batches()]
    assert [record for b in batches for record in b] == records
    if batch > 0:
        assert all(len(b) == batch for b in batches[:-1])


@pytest.mark.parametrize("threads", THREADS)
def test_regions_of_many_files_are_read_in_order(tmp_path, threads):
    rng = random.Random(5)
    files = []
    for i in range(30):
        files.append(draw_records(rng, rng.choice([0, 1, 2, 40])))
        (tmp_path / f"{i}").write_bytes(frames(files[-1]))
    paths = [tmp_path / f"{i}" for i in range(30)]
    records = [record for file in files for record in file]
    assert read(*paths, num_threads=threads, chunk_bytes=100) == (records, None)


@pytest.mark.parametrize("threads", THREADS)
def test_the_first_damage_in_order_wins(tmp_path, threads):
    paths = [tmp_path / name for name in "abc"]
    paths[0].write_bytes(frames([b"x" * 50] * 200))
    paths[1].write_bytes(DATA[:-1])
    paths[2].write_bytes(b"rubbish, all of it")
    for _ in range(20):
        records, error = read(*paths, num_threads=threads, chunk_bytes=128)
        assert len(records) == 200 + len(RECORDS) - 1
        assert (error.path, error.record_index) == (str(paths[1]), len(RECORDS) - 1)


@pytest.mark.parametrize("size", [2**k + d for k in (12, 16, 19, 20) for d in (-17, -16, -13, -12, -1, 0, 1)])
def test_records_around_the_sizes_of_buffers_are_whole(size, tmp_path):
    records = [b"a", np.random.default_rng(size).bytes(size), b"b"]
    path = tmp_path / "large"
    path.write_bytes(frames(records))
    assert list(tf.data.TFRecordDataset(path)) == records
    assert list(tf.data.TFRecordDataset(io.BytesIO(path.read_bytes()))) == records


# In a process of its own, where no other test leaves threads behind which come and go.
DROPPED = """
import sys
from tests.support.frames import stream
from tests.support.threads import settled, thread_count
before, most = thread_count(), 0
for _ in range(20):
    records = iter(stream(sys.argv[1], num_threads=3, chunk_bytes=4096).records())
    next(records)
    most = max(most, thread_count())
    del records
    assert settled(before), (before, thread_count())
assert most > before
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="counts threads as Linux shows them")
def test_an_iterator_that_is_dropped_half_way_stops_its_threads(tmp_path):
    path = tmp_path / "long"
    path.write_bytes(frames([b"x" * 1000] * 20_000))
    subprocess.run([sys.executable, "-c", DROPPED, path], cwd=ROOT, check=True, timeout=120)


def test_threads_that_share_an_iterator_get_every_record_once(tmp_path):
    path = tmp_path / "shared"
    records = [b"%d" % i for i in range(20_000)]
    path.write_bytes(frames(records))
    shared = iter(stream(path, num_threads=1, chunk_bytes=4096).records())
    taken = [[] for _ in range(4)]
    threads = [threading.Thread(target=lambda mine=mine: mine.extend(shared)) for mine in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(record for mine in taken for record in mine) == sorted(records)
