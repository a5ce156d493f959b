"""IndexedReader: open files, threads, processes and pickles."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from tests.support.descriptors import descriptors
from tests.support.forks import repeated, status_of_child
from tests.support.index_files import ALL, PARTS, RECORDS, write
from tests.support.threads import settled, thread_count
from tfrecord_fast import IndexedReader


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return write(tmp_path_factory.mktemp("parts"), PARTS)


@pytest.fixture
def of_300_files(tmp_path):
    """A reader of 300 files of 20 records each: record i is b"file/number"."""
    return IndexedReader(write(tmp_path, [[b"%d/%d" % (f, i) for i in range(20)] for f in range(300)]), num_threads=4)


INDICES = np.random.default_rng(0).integers(0, 6000, 5000).tolist()


def test_take_keeps_at_most_128_files_open(of_300_files, tmp_path):
    for _ in range(3):
        assert of_300_files.take(INDICES).tolist() == [b"%d/%d" % divmod(i, 20) for i in INDICES]
        assert 0 < descriptors(tmp_path) <= 128


def test_records_taken_one_by_one_keep_at_most_128_files_open(of_300_files, tmp_path):
    for i in INDICES[:500]:
        assert of_300_files[i] == b"%d/%d" % divmod(i, 20)
    assert 0 < descriptors(tmp_path) <= 128


def test_a_reader_that_is_dropped_closes_its_files(tmp_path):
    reader = IndexedReader(write(tmp_path, [RECORDS] * 3))
    reader.take([0, 7, 14])
    assert descriptors(tmp_path) == 3
    del reader
    assert descriptors(tmp_path) == 0


def test_several_threads_share_a_reader(paths):
    reader = IndexedReader(paths, num_threads=2)
    barrier = threading.Barrier(8)

    def work(seed):
        barrier.wait()
        indices = np.random.default_rng(seed).integers(0, len(ALL), 700).tolist()
        return all(
            reader.take(indices).tolist() == [ALL[i] for i in indices] and reader[indices[0]] == ALL[indices[0]]
            for _ in range(20)
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_calls_share_their_threads(paths):
    before = thread_count()
    for _ in range(20):
        IndexedReader(paths, num_threads=8).take(range(len(ALL)))
        assert thread_count() < before + 3 * 8  # some may be about to end


def test_threads_end_by_themselves(paths):
    before = thread_count()
    IndexedReader(paths, num_threads=8).take(range(len(ALL)))
    assert settled(before)


@pytest.mark.parametrize("built", [False, True])
def test_reader_pickles(paths, built):
    reader = IndexedReader(paths, verify_crc=False, num_threads=3)
    if built:
        len(reader)
    copy = pickle.loads(pickle.dumps(reader))
    assert (copy.files, list(copy)) == (paths, ALL)


def test_pickle_carries_the_index(tmp_path):
    (path,) = write(tmp_path, [RECORDS])
    reader = IndexedReader(path)
    len(reader)
    with open(path, "ab") as file:
        file.write(b"not a record")  # building it again would fail
    assert list(pickle.loads(pickle.dumps(reader))) == RECORDS


def child_reads(reader, indices, results):
    results.put(reader.take(indices).tolist())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_reader_works_in_child_processes(paths, method):
    reader = IndexedReader(paths)
    reader.take([0])
    context = get_context(method)
    results = context.Queue()
    children = [context.Process(target=child_reads, args=(reader, [5, 900, -1], results)) for _ in range(2)]
    for child in children:
        child.start()
    assert [results.get(timeout=60) for _ in children] == [[ALL[5], ALL[900], ALL[-1]]] * 2
    for child in children:
        child.join()
    assert reader.take([5]).tolist() == [ALL[5]]


def reads_as_ever(reader):
    return reader.take([3, 1]).tolist() == [ALL[3], ALL[1]] and reader[2] == ALL[2]


def test_fork_while_threads_read_does_not_hang_the_child(paths):
    reader = IndexedReader(paths, num_threads=2)
    len(reader)
    with repeated(lambda: reader.take(range(0, len(ALL), 3)), threads=3):
        for _ in range(20):
            assert status_of_child(lambda: reads_as_ever(reader)) == 0
