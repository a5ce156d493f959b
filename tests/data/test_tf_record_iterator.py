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
