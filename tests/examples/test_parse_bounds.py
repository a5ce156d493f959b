"""Values that almost fit: one too many, one too few, one beyond the range."""

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire


def one(kind, values):
    return [wire.example([(b"a", wire.feature(kind, values))])]


@pytest.mark.parametrize("size", [7, 9, 16])
def test_raw_bytes_have_the_size_of_the_array(size):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"expected 8 bytes, got {size}"):
        tf.parse_example(one("bytes", [bytes(size)]), {"a": tf.FixedLenFeature([4], tf.uint16)})


@pytest.mark.parametrize("count", [0, 2, 3])
def test_raw_bytes_are_one_string(count):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"expected one bytes value.*got {count}"):
        tf.parse_example(one("bytes", [bytes(8)] * count), {"a": tf.FixedLenFeature([4], tf.uint16)})


@pytest.mark.parametrize("byte", [2, 128, 255])
def test_raw_bools_are_0_or_1(byte):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"value {byte} is out of range for bool"):
        tf.parse_example(one("bytes", [bytes([1, 0, byte])]), {"a": tf.FixedLenFeature([3], tf.bool)})


@pytest.mark.parametrize("count", [1, 3, 5, 7])
def test_a_list_holds_whole_elements(count):
    feature = {"a": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)}
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"got {count}\b"):
        tf.parse_example(one("int64", list(range(count))), feature)
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"got {count}\b"):
        tf.parse_example(one("int64", [0, 1, 2, 3]) + one("int64", list(range(count))), feature)
