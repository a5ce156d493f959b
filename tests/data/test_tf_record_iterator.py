"""python_io.tf_record_iterator: one file, also while it grows."""

import itertools

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames
from tests.support.lettered_files import records_of


def test_tf_record_iterator_reads_one_file(folder):
    assert list(tf.python_io.tf_record_iterator(str(folder / "a-0"))) == records_of("a-0", 5)


def test_tf_record_iterator_takes_options(tmp_path):
    options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.ZLIB)
    with tf.python_io.TFRecordWriter(tmp_path / "a", options) as writer:
        writer.write(b"one")
    assert list(tf.python_io.tf_record_iterator(tmp_path / "a", options)) == [b"one"]


@pytest.fixture
def growing(tmp_path):
    """An iterator that has read all of a file, and a function that appends to it."""
    path = tmp_path / "grows"
    path.write_bytes(frames([b"one"]))
    records = tf.python_io.tf_record_iterator(path)
    assert list(records) == [b"one"]

    def append(data):
        with path.open("ab") as file:
            file.write(data)

    return records, append


def test_tf_record_iterator_continues_in_a_file_that_grew(growing):
    records, append = growing
    append(frames([b"two"]))
    assert next(records) == b"two"


def test_tf_record_iterator_reads_a_record_once_all_of_it_is_there(growing):
    records, append = growing
    append(frames([b"two"])[:-1])
    with pytest.raises(tf.DataLossError):
        next(records)
    append(frames([b"two"])[-1:])
    assert list(itertools.islice(records, 2)) == [b"two"]


def test_a_closed_tf_record_iterator_is_at_its_end(folder):
    records = tf.python_io.tf_record_iterator(folder / "a-0")
    next(records)
    records.close()
    assert list(records) == []


@pytest.fixture
def being_written(tmp_path):
    """A ZLIB file whose two records were flushed, and its writer, which is not closed."""
    writer = tf.io.TFRecordWriter(tmp_path / "open", "ZLIB")
    writer.write(b"one")
    writer.write(bytes(range(256)) * 20_000)
    writer.flush()
    yield tmp_path / "open", writer
    writer.close()


def test_a_zlib_stream_that_is_still_open_is_an_error_unless_it_is_allowed(being_written):
    records = tf.python_io.tf_record_iterator(being_written[0], "ZLIB")
    assert [len(next(records)) for _ in range(2)] == [3, 5_120_000]
    with pytest.raises(tf.DataLossError, match="truncated"):
        next(records)


def test_a_zlib_stream_that_is_still_open_ends_after_what_was_flushed(being_written):
    path, writer = being_written
    records = tf.python_io.tf_record_iterator(path, "ZLIB", allow_open=True)
    assert [len(record) for record in records] == [3, 5_120_000]
    writer.write(b"three")
    writer.flush()
    assert list(records) == [b"three"]


def test_a_zlib_stream_that_is_cut_inside_a_record_is_an_error_in_any_case(being_written):
    path, _ = being_written
    path.write_bytes(path.read_bytes()[:-50])
    records = tf.python_io.tf_record_iterator(path, "ZLIB", allow_open=True)
    assert next(records) == b"one"
    with pytest.raises(tf.DataLossError, match="truncated"):
        next(records)


@pytest.fixture
def at_random(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(frames([b"one", b"two", b"three"]))
    return tf.python_io.tf_record_random_reader(path)


def test_a_random_reader_gives_a_record_and_where_the_next_one_begins(at_random):
    record, following = at_random.read(0)
    assert (record, following) == (b"one", 19)
    assert at_random.read(19) == (b"two", 38)
    assert at_random.read(38) == (b"three", 59)
    assert at_random.read(0) == (b"one", 19)


@pytest.mark.parametrize("offset", [59, 60, 1 << 62, -1])
def test_a_random_reader_finds_no_record_after_the_end(at_random, offset):
    with pytest.raises(IndexError, match="Out of range at reading offset"):
        at_random.read(offset)


@pytest.mark.parametrize("offset", [1, 12, 20, 50, 58])
def test_a_random_reader_finds_no_record_inside_one(at_random, offset):
    with pytest.raises(tf.DataLossError, match=r"corrupted record at|CRC"):
        at_random.read(offset)


def test_a_closed_random_reader_says_so(at_random):
    at_random.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match="closed"):
        at_random.read(0)
