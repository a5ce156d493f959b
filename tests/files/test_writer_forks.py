"""A process that was forked has no part in the writers of the other one: their records are written once."""

import os

import pytest

import tfrecord_fast as tf
from tests.support.forks import status_of_child

CALLS = {
    "write": lambda writer: writer.write(b"child"),
    "write_batch": lambda writer: writer.write_batch([b"child"] * 3),
    "flush": lambda writer: writer.flush(),
    "close": lambda writer: writer.close(),
}


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"])
@pytest.mark.parametrize("call", CALLS)
def test_a_forked_process_can_not_use_a_writer(tmp_path, call, compression):
    path = tmp_path / "a"
    writer = tf.io.TFRecordWriter(path, compression)
    writer.write(b"parent")

    def refused():
        try:
            CALLS[call](writer)
        except tf.errors.FailedPreconditionError as error:
            return "forked" in str(error)
        return False

    assert status_of_child(refused) == 0
    writer.write(b"parent again")
    writer.close()
    assert list(tf.data.TFRecordDataset(path, compression)) == [b"parent", b"parent again"]


def test_closing_a_closed_writer_after_a_fork_does_nothing(tmp_path):
    writer = tf.io.TFRecordWriter(tmp_path / "a")
    writer.close()
    assert status_of_child(lambda: writer.close() is None) == 0


def test_a_forked_process_opens_writers_of_its_own(tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "parent") as writer:
        writer.write(b"parent")

        def writes():
            with tf.io.TFRecordWriter(tmp_path / "child") as own:
                own.write(b"child")
            return os.path.getsize(tmp_path / "child") == 16 + 5

        assert status_of_child(writes) == 0
    assert list(tf.data.TFRecordDataset([str(tmp_path / "parent"), str(tmp_path / "child")])) == [b"parent", b"child"]
