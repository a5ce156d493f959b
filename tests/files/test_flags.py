"""Arguments of readers that are True or False: what else is refused, and not taken for one of them."""

import numpy as np
import pytest

import tfrecord_fast as tf

FLAGS = ["verify_crc", "drop_remainder", "deterministic", "shuffle_files", "global_shuffle"]


@pytest.fixture
def path(tmp_path):
    with tf.TFRecordWriter(tmp_path / "a") as writer:
        writer.write_batch([b"x", b"y", b"z"])
    return tmp_path / "a"


def test_what_is_no_flag_is_refused(path):
    for value in ["no", "False", "", b"0", None, 2, -1, 0.0, [], np.array([True])]:
        for flag in FLAGS:
            with pytest.raises(TypeError, match=f"{flag} must be True or False, got "):
                tf.ShardReader(path, **{flag: value})
            if flag == "verify_crc":
                with pytest.raises(TypeError, match="verify_crc must be True or False, got "):
                    tf.IndexedReader(path, verify_crc=value)


def test_bools_of_numpy_and_0_and_1_are_taken(path):
    for value in [True, False, np.True_, np.False_, 1, 0, np.int64(1)]:
        for flag in FLAGS:
            given = [len(one) for one in tf.ShardReader(path, batch_size=2, **{flag: value})]
            assert given == ([2] if flag == "drop_remainder" and value else [2, 1])
            if flag == "verify_crc":
                assert len(tf.IndexedReader(path, verify_crc=value)[:]) == 3
