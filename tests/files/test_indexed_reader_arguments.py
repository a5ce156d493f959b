"""IndexedReader: what may name files and indexes."""

import os

import pytest

from tests.support.frames import frames
from tests.support.index_files import ALL, MANY, PARTS, RECORDS, write
from tfrecord_fast import IndexedReader, RecordIndex
from tfrecord_fast.errors import DataLossError, InvalidArgumentError


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames(RECORDS))
    return path


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return write(tmp_path_factory.mktemp("parts"), PARTS)


def test_patterns_and_lists_are_taken(paths):
    folder = os.path.dirname(paths[0])
    assert list(IndexedReader([f"{folder}/0000[0-3]*", [folder + "/00004.tfrecord"], paths[5]])) == ALL


def test_files_are_reported(paths):
    assert IndexedReader(paths).files == paths


def test_pattern_without_a_match_raises_immediately(tmp_path):
    with pytest.raises(FileNotFoundError):
        IndexedReader(f"{tmp_path}/*.tfrecord")


def test_no_files_are_no_records():
    with pytest.raises(ValueError, match=r"no files in \[\]"):
        IndexedReader([])
    reader = IndexedReader([], allow_empty=True)
    assert (len(reader), list(reader), reader[:].tolist()) == (0, [], [])


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


def test_index_next_to_the_file_is_not_used_unasked(path):
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


def test_reader_recovers_when_a_file_appears(tmp_path):
    reader = IndexedReader(tmp_path / "a")
    with pytest.raises(FileNotFoundError):
        len(reader)
    (tmp_path / "a").write_bytes(frames(RECORDS))
    assert len(reader) == len(RECORDS)


@pytest.mark.parametrize("change", ["cut", "empty", "missing", "twice", "grown", "shorter"])
def test_an_index_of_other_bytes_than_the_files_is_refused(tmp_path, change):
    path, index = tmp_path / "a.tfrecord", tmp_path / "a.idx"
    data, more = frames([b"%03d" % i for i in range(100)]), frames([b"new"])
    path.write_bytes(data)
    RecordIndex.build(path).save(index)
    lines = index.read_text().splitlines(keepends=True)
    changed = {"cut": lines[:50], "empty": [], "missing": lines[:10] + lines[20:], "twice": lines[:10] + lines[9:]}
    index.write_text("".join(changed.get(change, lines)))
    path.write_bytes({"grown": data + more, "shorter": data[:-19]}.get(change, data))
    with pytest.raises(InvalidArgumentError, match=r"a\.idx"):
        len(IndexedReader(path, indexes=index))
