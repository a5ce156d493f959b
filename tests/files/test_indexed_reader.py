"""IndexedReader: records in any order from many files, features, threads and processes."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.frames import FRAME, frame, offsets
from tests.support.index_files import ALL, MANY, PARTS, RECORDS, core_reader, write
from tfrecord_fast import IndexedReader, RecordIndex


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


@pytest.mark.parametrize("indices", [(5, 3), range(9, 2, -3), {4: None}.keys(), np.array([3, 1])[::-1]])
def test_any_kind_of_indices_is_taken(reader, indices):
    expected = [ALL[i] for i in indices]
    assert reader.take(indices).tolist() == reader.take(iter(indices)).tolist() == expected


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
def test_what_is_not_an_integer_is_not_an_index(reader, i):
    with pytest.raises(TypeError):
        reader[i]
    with pytest.raises(TypeError):
        reader.take([i])


@pytest.mark.parametrize("indices", [[True, False], np.array([True]), [[1, 2]], np.array(3), 3, [1.5]])
def test_what_are_not_integers_are_not_indices(reader, indices):
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


def test_a_record_that_is_asked_for_twice_is_in_memory_once(tmp_path):
    (path,) = write(tmp_path, [RECORDS])
    batch = IndexedReader(path).take([0, 2, 0])
    first, _, again = (np.frombuffer(batch.view(i), np.uint8) for i in range(3))
    assert first.ctypes.data == again.ctypes.data


def index_arrays(records):
    return offsets(records)[:-1], [len(record) + FRAME for record in records]


def test_records_appended_later_are_not_seen(tmp_path):
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
