"""What records are read from: paths, memory, file objects, pipes."""

import gzip
import io
import os
import pickle
import threading
from itertools import chain

import pytest

import tfrecord_fast as tf
from tests.support.file_objects import OnlyRead
from tests.support.frames import frame, frames, offsets

RECORDS = [b"one", b"", bytes(range(256)), b"four" * 300, b"\0"]
DATA = frames(RECORDS)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(DATA)
    return path


@pytest.mark.parametrize("kind", [str, os.fsencode, os.fspath, lambda path: path])
def test_a_path_of_any_kind_is_read(path, kind):
    assert list(tf.data.TFRecordDataset(kind(path))) == RECORDS


@pytest.mark.parametrize("kind", [bytearray, lambda data: memoryview(data), lambda data: memoryview(bytearray(data))])
def test_memory_is_read(kind):
    assert list(tf.data.TFRecordDataset(kind(DATA))) == RECORDS


@pytest.mark.parametrize(
    "kind", [io.BytesIO, OnlyRead, lambda data: OnlyRead(data, 1), lambda data: io.BufferedReader(io.BytesIO(data))]
)
def test_a_file_object_is_read_and_left_open(kind):
    file = kind(DATA)
    assert list(tf.data.TFRecordDataset(file)) == RECORDS
    assert not getattr(file, "closed", False)


@pytest.mark.parametrize("buffering", [0, -1])
def test_an_open_file_is_read_from_its_position(path, buffering):
    with open(path, "rb", buffering) as file:
        file.seek(offsets(RECORDS)[2])
        assert list(tf.data.TFRecordDataset(file)) == RECORDS[2:]
        assert not file.closed


@pytest.fixture(params=["memory", "buffered", "raw", "gzip"])
def seekable(request, path, tmp_path):
    """A file object that can seek, positioned at the second record."""
    if request.param == "memory":
        file = io.BytesIO(DATA)
    elif request.param == "gzip":
        (tmp_path / "a.gz").write_bytes(gzip.compress(DATA))
        file = gzip.open(tmp_path / "a.gz")
    else:
        file = open(path, "rb", -1 if request.param == "buffered" else 0)
    with file:
        file.seek(offsets(RECORDS)[1])
        yield file


def test_a_file_object_is_read_again_from_its_first_position(seekable):
    dataset = tf.data.TFRecordDataset(seekable)
    assert list(dataset) == list(dataset) == RECORDS[1:]


def test_two_iterations_share_a_file_object(seekable):
    dataset = tf.data.TFRecordDataset(seekable)
    assert list(zip(dataset, dataset, strict=True)) == list(zip(RECORDS[1:], RECORDS[1:], strict=True))


def test_a_file_object_is_repeated(seekable):
    assert list(tf.data.TFRecordDataset(seekable).repeat(3)) == RECORDS[1:] * 3


def test_a_file_object_is_read_for_several_epochs(seekable):
    reader = tf.ShardReader(seekable, num_epochs=3)
    assert [record for batch in reader for record in batch] == RECORDS[1:] * 3


def test_a_reader_of_a_file_object_is_iterated_again(seekable):
    reader = tf.ShardReader(seekable)
    assert [r for batch in reader for r in batch] == [r for batch in reader for r in batch] == RECORDS[1:]


def test_what_cannot_seek_is_read_once():
    dataset = tf.data.TFRecordDataset(OnlyRead(DATA))
    assert list(dataset) == RECORDS
    with pytest.raises(tf.errors.InvalidArgumentError, match="can't seek, so it can be read only once"):
        list(dataset)


def test_what_cannot_seek_is_not_repeated():
    with pytest.raises(ValueError, match="only once"):
        list(tf.data.TFRecordDataset(OnlyRead(DATA)).repeat(2))


@pytest.mark.parametrize("buffering", [0, -1])
def test_an_open_pipe_is_read_once(buffering):
    out, into = os.pipe()
    with open(out, "rb", buffering) as file:
        os.write(into, DATA)
        os.close(into)
        dataset = tf.data.TFRecordDataset(file)
        assert list(dataset) == RECORDS
        with pytest.raises(ValueError, match="only once"):
            list(dataset)


def test_a_dataset_of_a_file_object_pickles():
    file = io.BytesIO(b"x" + DATA)
    file.seek(1)
    dataset = tf.data.TFRecordDataset(file)
    assert list(dataset) == list(pickle.loads(pickle.dumps(dataset))) == RECORDS


@pytest.fixture
def pattern(tmp_path):
    """A pattern in bytes that two of three files match."""
    for name in ("f1.x", "f2.x", "g1.x"):
        (tmp_path / name).write_bytes(frames([name.encode()]))
    return os.fsencode(tmp_path / "f?.x")


@pytest.mark.parametrize("reads", [tf.data.TFRecordDataset, tf.IndexedReader])
def test_a_pattern_may_be_bytes(pattern, reads):
    assert list(reads(pattern)) == [b"f1.x", b"f2.x"]


def test_a_pattern_that_is_an_element_may_be_bytes(pattern):
    names = tf.data.Dataset.from_tensor_slices([pattern])
    assert list(names.interleave(tf.data.TFRecordDataset, cycle_length=2)) == [b"f1.x", b"f2.x"]


def test_a_pattern_in_bytes_that_matches_nothing_is_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file matches"):
        list(tf.data.TFRecordDataset(os.fsencode(tmp_path / "nope*")))


def test_a_file_in_bytes_whose_name_looks_like_a_pattern_is_a_file(tmp_path):
    (tmp_path / "a[1]").write_bytes(frames([b"itself"]))
    assert list(tf.data.TFRecordDataset(os.fsencode(tmp_path / "a[1]"))) == [b"itself"]


@pytest.mark.parametrize("reads", [10**6, 2**40])
def test_more_parallel_reads_than_files_are_as_many_as_files(path, reads):
    assert list(tf.data.TFRecordDataset([path, path], num_parallel_reads=reads)) == [r for r in RECORDS for _ in "ab"]


def test_more_parallel_reads_than_64_bits_can_count_are_refused(path):
    with pytest.raises(ValueError, match="num_parallel_reads"):
        tf.data.TFRecordDataset(path, num_parallel_reads=2**64)


def test_a_pipe_is_read(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(DATA,))
    writer.start()
    assert list(tf.data.TFRecordDataset(str(fifo))) == RECORDS
    writer.join()


def test_records_of_a_slow_pipe_come_as_they_are_written():
    out, into = os.pipe()
    with open(out, "rb", 0) as reading, open(into, "wb", 0) as writing:
        records = iter(tf.data.TFRecordDataset(reading, ""))
        for record in (b"first", b"second"):
            writing.write(frame(record))
            assert next(records) == record
        writing.close()
        assert next(records, None) is None


def test_what_a_file_object_raises_is_raised():
    class Broken:
        def read(self, size):
            raise ZeroDivisionError("at home")

    with pytest.raises(ZeroDivisionError, match="at home"):
        list(tf.data.TFRecordDataset(Broken()))


def test_records_before_a_file_objects_error_are_given():
    class Broken(OnlyRead):
        def read(self, size=-1):
            data = super().read(size)
            if not data:
                raise ConnectionResetError("gone")
            return data

    records = iter(tf.data.TFRecordDataset(Broken(DATA, 64)))
    assert [next(records) for _ in RECORDS] == RECORDS
    with pytest.raises(ConnectionResetError, match="gone"):
        next(records)


@pytest.mark.parametrize("given", ["text", 7, None])
def test_a_file_object_that_gives_no_bytes_is_a_type_error(given):
    class Wrong:
        def read(self, size):
            return given

    with pytest.raises(TypeError):
        list(tf.data.TFRecordDataset(Wrong()))


def test_a_missing_file_is_file_not_found_with_its_name(tmp_path):
    missing = str(tmp_path / "none")
    with pytest.raises(FileNotFoundError) as caught:
        list(tf.data.TFRecordDataset(missing))
    assert caught.value.filename == missing


@pytest.mark.parametrize("path", ["a\0b", b"a\0b"])
@pytest.mark.parametrize("kind", [lambda path: path, lambda path: [path, path]])
@pytest.mark.parametrize("reads", [tf.data.TFRecordDataset, tf.ShardReader])
def test_a_path_with_a_null_byte_names_no_file(tmp_path, monkeypatch, path, kind, reads):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_bytes(DATA)
    with pytest.raises(ValueError, match="null byte"):
        list(reads(kind(path)))


@pytest.mark.parametrize("names", [["a", "b"], ["a", "é"], ["b", "[ab]"], ["a:b", "a"], ["*"], ["a", b"b"]])
@pytest.mark.parametrize("reads", [tf.data.TFRecordDataset, lambda files: chain.from_iterable(tf.ShardReader(files))])
def test_a_list_of_paths_of_any_kind_is_read_in_its_order(tmp_path, monkeypatch, names, reads):
    monkeypatch.chdir(tmp_path)
    expected = []
    for name in names:
        found = ["a", "b"] if name in ("[ab]", "*") else [os.fsdecode(name)]
        for file in found:
            (tmp_path / file).write_bytes(frames([file.encode()]))
        expected += [file.encode() for file in found]
    assert list(reads(names)) == expected
