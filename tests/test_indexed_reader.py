"""IndexedReader: records in any order from many files, features, threads and processes."""

import os
import pickle
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.frames import FRAME, frame, frames, offsets
from tests.index_files import MANY, RECORDS, core_reader, write
from tests.wire_writer import example, feature
from tfrecord_fast import IndexedReader, RecordIndex
from tfrecord_fast.errors import DataLossError, InvalidArgumentError


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames(RECORDS))
    return path


# ---- IndexedReader ----

PARTS = [MANY[:700], [], MANY[700:701], [b"", b"", b""], MANY[701:], [bytes([i]) * 40_000 for i in range(20)]]
ALL = [record for part in PARTS for record in part]


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return write(tmp_path_factory.mktemp("parts"), PARTS)


@pytest.fixture(scope="module")
def reader(paths):
    return IndexedReader(paths)


@pytest.fixture(scope="module", params=[(True, 128), (False, 128), (True, 1), (False, 2)], ids=str)
def any_reader(paths, request):
    map_files, max_open_files = request.param
    return core_reader(paths, map_files=map_files, max_open_files=max_open_files, num_threads=3)


def test_len_counts_the_records_of_all_files(reader):
    assert len(reader) == len(ALL)


def test_iterating_gives_all_records_in_order(reader):
    assert list(reader) == ALL


@given(indices=st.lists(st.integers(-len(ALL), len(ALL) - 1), max_size=300))
def test_take_is_list_indexing(any_reader, indices):
    assert any_reader.take(np.array(indices, np.int64)).tolist() == [ALL[i] for i in indices]


@given(start=st.integers(0, len(ALL)), step=st.integers(1, 9), count=st.integers(0, 800), seed=st.integers(0, 99))
def test_take_of_neighbours_in_any_order_is_list_indexing(any_reader, start, step, count, seed):
    indices = np.arange(start, len(ALL), step)[:count]
    np.random.default_rng(seed).shuffle(indices)
    assert any_reader.take(indices).tolist() == [ALL[i] for i in indices]


@given(st.slices(len(ALL)))
def test_slices_are_list_slices(reader, piece):
    assert reader[piece].tolist() == ALL[piece]


@given(i=st.integers(-len(ALL), len(ALL) - 1))
def test_one_record_is_list_indexing(reader, any_reader, i):
    assert reader[i] == any_reader.record(i) == ALL[i]


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, np.uint64])
def test_numpy_integers_are_indices(reader, kind):
    assert reader[kind(7)] == ALL[7]
    assert reader.take(np.array([7, 3], kind)).tolist() == reader.__getitems__([kind(7), kind(3)]) == [ALL[7], ALL[3]]


@pytest.mark.parametrize("indices", [(5, 3), range(9, 2, -3), {4: None}.keys(), iter([1, 2]), np.array([3, 1])[::-1]])
def test_any_kind_of_indices_is_taken(reader, indices):
    expected = [ALL[i] for i in indices] if not hasattr(indices, "__next__") else ALL[1:3]
    assert reader.take(indices).tolist() == expected


@pytest.mark.parametrize("indices", [[], (), np.array([]), np.empty(0, int), range(0)])
def test_no_indices_give_no_records(reader, indices):
    assert reader.take(indices).tolist() == reader.__getitems__(indices) == []


@pytest.mark.parametrize("i", [len(ALL), -len(ALL) - 1, 2**62, 2**63, -(2**63) - 1, 2**64 - 1, 10**30])
def test_index_out_of_range_raises(reader, i):
    for read in (lambda: reader[i], lambda: reader.take([0, i]), lambda: reader.__getitems__([i])):
        with pytest.raises(IndexError, match=str(i) if abs(i) < 2**62 else None):
            read()


def test_unsigned_indices_do_not_wrap_around(reader):
    with pytest.raises(IndexError):
        reader.take(np.array([2**64 - 1], np.uint64))


@pytest.mark.parametrize("i", [1.0, "1", None, b"1", [1], np.float32(1)])
def test_what_is_no_integer_is_no_index(reader, i):
    with pytest.raises(TypeError):
        reader[i]
    with pytest.raises(TypeError):
        reader.take([i])


@pytest.mark.parametrize("indices", [[True, False], np.array([True]), [[1, 2]], np.array(3), 3, [1.5]])
def test_what_are_no_integers_are_no_indices(reader, indices):
    with pytest.raises(TypeError):
        reader.take(indices)


def test_a_batch_outlives_the_reader_and_the_files(tmp_path):
    (path,) = write(tmp_path, [MANY])
    batch = IndexedReader(path).take(range(2000))
    os.truncate(path, 0)
    assert batch.tolist() == MANY


def test_records_may_be_as_long_as_they_like(tmp_path):
    records = [os.urandom(size) for size in (5_000_000, 1, 3_000_000, 0)]
    (path,) = write(tmp_path, [records])
    assert IndexedReader(path).take([2, 3, 0, 1]).tolist() == [records[i] for i in (2, 3, 0, 1)]


def test_what_is_not_in_the_page_cache_is_read(tmp_path):
    (path,) = write(tmp_path, [MANY])
    for _ in range(2):
        with open(path) as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        reader = IndexedReader(path, indexes=RecordIndex(*index_arrays(MANY)))
        for _ in range(2):
            assert reader.take(range(1999, -1, -1)).tolist() == MANY[::-1]


def index_arrays(records):
    return offsets(records)[:-1], [len(record) + FRAME for record in records]


def test_records_appended_later_are_not_there_yet(tmp_path):
    (path,) = write(tmp_path, [RECORDS])
    reader = IndexedReader(path)
    assert len(reader) == len(RECORDS)
    with open(path, "ab") as file:
        file.write(frame(b"more"))
    assert reader[-1] == RECORDS[-1]
    assert IndexedReader(path)[-1] == b"more"


def test_a_file_that_grew_is_read_where_the_index_says(tmp_path):
    (path,) = write(tmp_path, [RECORDS])
    reader = IndexedReader(path, indexes=RecordIndex(*index_arrays([*RECORDS, b"more"])))
    assert reader[0] == RECORDS[0]  # the file is open, and mapped
    with open(path, "ab") as file:
        file.write(frame(b"more"))
    assert reader[-1] == reader.take([-1])[0] == b"more"


# ---- Files and indexes as arguments ----


def test_patterns_and_lists_are_taken(paths):
    folder = os.path.dirname(paths[0])
    assert list(IndexedReader([f"{folder}/0000[0-3]*", [folder + "/00004.tfrecord"], paths[5]])) == ALL


def test_files_are_told(paths):
    assert IndexedReader(paths).files == paths


def test_pattern_without_a_match_raises_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        IndexedReader(f"{tmp_path}/*.tfrecord")


def test_no_files_are_no_records():
    reader = IndexedReader([])
    assert (len(reader), list(reader), reader[:].tolist()) == (0, [], [])


@pytest.mark.parametrize("url", ["s3://bucket/a.tfrecord", "https://host/a.tfrecord"])
def test_url_is_refused(url):
    with pytest.raises(ValueError, match="local"):
        IndexedReader(url)
    with pytest.raises(ValueError, match="local"):
        RecordIndex.build(url)


@pytest.mark.parametrize("make", [IndexedReader, RecordIndex.build, RecordIndex.load])
def test_file_object_is_refused(path, make):
    with open(path, "rb") as file, pytest.raises(TypeError, match="only a path"):
        make(file)


def test_indexes_are_taken_in_every_form(paths, tmp_path):
    built = [RecordIndex.build(path) for path in paths]
    for i, index in enumerate(built):
        index.save(tmp_path / f"{i}.idx")
    forms = [built[0], tmp_path / "1.idx", None, str(tmp_path / "3.idx"), built[4], os.fsencode(tmp_path / "5.idx")]
    reader = IndexedReader(paths, indexes=forms)
    assert reader.indexes == built
    assert list(reader) == ALL
    assert IndexedReader(paths, indexes=f"{tmp_path}/*.idx").indexes == built


@pytest.mark.parametrize("indexes", [[], [None], [None] * 7])
def test_as_many_indexes_as_files_are_needed(paths, indexes):
    with pytest.raises(ValueError, match="6 files"):
        IndexedReader(paths, indexes=indexes)


def test_index_beside_the_file_is_not_used_unasked(path):
    path.with_suffix(".tfrecord.idx").write_text("0 17\n")
    assert list(IndexedReader(path)) == RECORDS


def test_error_of_the_first_file_is_the_one_reported(tmp_path):
    paths = write(tmp_path, [MANY] * 8)
    os.truncate(paths[3], 100)
    os.truncate(paths[6], 100)
    for _ in range(10):
        with pytest.raises(DataLossError) as caught:
            len(IndexedReader(paths, num_threads=4))
        assert caught.value.path == paths[3]


def test_reader_recovers_when_a_file_comes(tmp_path):
    reader = IndexedReader(tmp_path / "a")
    with pytest.raises(FileNotFoundError):
        len(reader)
    (tmp_path / "a").write_bytes(frames(RECORDS))
    assert len(reader) == len(RECORDS)


# ---- Features ----

FEATURES = {
    "id": tf.FixedLenFeature([], tf.int64),
    "name": tf.FixedLenFeature([], tf.string),
    "list": tf.VarLenFeature(tf.float32),
}


def examples(count):
    return [
        example(
            [
                (b"id", feature("int64", [i])),
                (b"name", feature("bytes", [b"n%d" % i])),
                (b"list", feature("float", [0.5] * (i % 4))),
            ]
        )
        for i in range(count)
    ]


def test_take_gives_columns(tmp_path):
    records = examples(500)
    reader = IndexedReader(write(tmp_path, [records[:300], records[300:]]), FEATURES)
    got = reader.take([400, 3, 3, -1])
    assert got["id"].tolist() == [400, 3, 3, 499]
    assert got["name"].tolist() == [b"n400", b"n3", b"n3", b"n499"]
    assert got["list"].row_splits.tolist() == [0, 0, 3, 6, 9]
    assert reader[10:13]["id"].tolist() == [10, 11, 12]


def test_one_record_gives_values(tmp_path):
    records = examples(50)
    reader = IndexedReader(write(tmp_path, [records]), FEATURES)
    assert (reader[7]["id"], reader[7]["name"], reader[7]["list"].values.tolist()) == (7, b"n7", [0.5] * 3)
    assert [item["id"] for item in reader.__getitems__([4, 2])] == [4, 2]
    assert [item["id"] for item in reader] == list(range(50))


@pytest.mark.parametrize("read", [lambda r: r[1], lambda r: r.take([0, 1]), lambda r: r.__getitems__([0, 1]), list])
def test_record_that_does_not_fit_is_named(tmp_path, read):
    records = examples(2)
    records[1] = example([(b"id", feature("bytes", [b"x"]))])
    paths = write(tmp_path, [records])
    with pytest.raises(InvalidArgumentError, match=f"(?s){paths[0]}.*record 1"):
        read(IndexedReader(paths, FEATURES))


def test_features_that_can_not_be_are_refused_at_once(path):
    with pytest.raises(TypeError):
        IndexedReader(path, {"id": tf.FixedLenFeature([], "no such type")})
    with pytest.raises(ValueError):
        IndexedReader(path, {})


# ---- Life ----


def descriptors(folder):
    """How many files under `folder` this process has open."""
    links = []
    for name in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:
            pass
    return sum(link.startswith(str(folder)) for link in links)


def test_open_files_are_bounded(tmp_path):
    parts = [[b"%d/%d" % (f, i) for i in range(20)] for f in range(300)]
    reader = IndexedReader(write(tmp_path, parts), num_threads=4)
    indices = np.random.default_rng(0).integers(0, 6000, 5000)
    for _ in range(3):
        assert reader.take(indices).tolist() == [b"%d/%d" % divmod(i, 20) for i in indices.tolist()]
        assert 0 < descriptors(tmp_path) <= 128
    for i in indices[:500].tolist():
        assert reader[i] == b"%d/%d" % divmod(i, 20)
    assert descriptors(tmp_path) <= 128
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


def test_calls_share_their_threads_which_end_by_themselves(paths):
    threads = 8
    before = len(os.listdir("/proc/self/task"))
    for _ in range(20):
        reader = IndexedReader(paths, num_threads=threads)
        reader.take(range(len(ALL)))
        assert len(os.listdir("/proc/self/task")) < before + 3 * threads  # some may be about to end
    deadline = time.monotonic() + 20
    while len(os.listdir("/proc/self/task")) > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(os.listdir("/proc/self/task")) <= before


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
        file.write(b"not a record")  # building it anew would fail
    assert list(pickle.loads(pickle.dumps(reader))) == RECORDS


def test_reader_with_features_pickles(tmp_path):
    reader = IndexedReader(write(tmp_path, [examples(5)]), FEATURES)
    assert pickle.loads(pickle.dumps(reader))[3]["id"] == 3


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


def test_fork_while_threads_read_does_not_hang_the_child(paths):
    reader = IndexedReader(paths, num_threads=2)
    len(reader)
    stop = threading.Event()

    def hammer():
        while not stop.is_set():
            reader.take(range(0, len(ALL), 3))

    threads = [threading.Thread(target=hammer) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                os._exit(0 if reader.take([3, 1]).tolist() == [ALL[3], ALL[1]] and reader[2] == ALL[2] else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_features_are_inferred(tmp_path):
    path = tmp_path / "a"
    with tf.ExampleWriter(path) as writer:
        writer.write({"x": list(range(2000)), "s": [b"%d" % i for i in range(2000)]})
    reader = tf.IndexedReader(path, "infer")
    assert reader[3] == {"s": b"3", "x": 3}
    assert reader.take([5, 1])["x"].tolist() == [5, 1]
    assert tf.IndexedReader(path, "infer").__getitems__([7])[0]["s"] == b"7"
    with pytest.raises(tf.errors.InvalidArgumentError, match='a dict, None or "infer"'):
        tf.IndexedReader(path, "guess")
