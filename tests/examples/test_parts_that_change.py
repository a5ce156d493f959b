"""A feature whose list or array is changed in place means what it says now, though its dict stays the same."""

import numpy as np
import pytest

import tfrecord_fast as tf

NOTHING = [b""]


def one(features, records=NOTHING):
    return tf.parse_example(records, features)["a"].tolist()


@pytest.mark.parametrize("default", [[1, 2], np.array([1, 2]), np.array([1, 2], np.int32)])
@pytest.mark.parametrize("groups", [None, {}])
def test_a_default(default, groups):
    features = {"a": tf.FixedLenFeature([2], tf.int64, default)}
    for values in ([1, 2], [7, 8], [7, 8], [0, 0]):
        default[:] = values
        assert tf.parse_example(NOTHING, features, groups=groups)["a"].tolist() == [values]
        assert tf.io.parse_single_example(b"", features)["a"].tolist() == values


def test_a_default_of_strings_within_lists():
    default = [[b"x"], [b"y"]]
    features = {"a": tf.FixedLenFeature([2, 1], tf.string, default)}
    assert one(features) == [[[b"x"], [b"y"]]]
    default[1][0] = b"z"
    assert one(features) == [[[b"x"], [b"z"]]]


def test_a_default_of_objects():
    default = np.array([b"x", b"y"], object)
    features = {"a": tf.FixedLenFeature([2], tf.string, default)}
    assert one(features) == [[b"x", b"y"]]
    default[0] = b"long"
    assert one(features) == [[b"long", b"y"]]


def test_a_shape():
    shape = [1]
    features = {"a": tf.FixedLenFeature(shape, tf.int64)}
    assert one(features, tf.encode_examples({"a": [[1]]})) == [[1]]
    shape[0] = 2
    assert one(features, tf.encode_examples({"a": [[1, 2]]})) == [[1, 2]]


def test_nan_is_nan_still():
    """A plan is kept, and not compiled again, while its default has a NaN."""
    from tfrecord_fast.examples.plans import example_plan

    for default in ([float("nan")], np.array([np.nan], np.float32)):
        features = {"a": tf.FixedLenFeature([1], tf.float32, default)}
        assert example_plan(features) is example_plan(features)


def test_lists_of_a_sequence():
    default = [4]
    features = {"a": tf.FixedLenFeature([1], tf.int64, default)}
    assert tf.io.parse_sequence_example(NOTHING, features)[0]["a"].tolist() == [[4]]
    default[0] = 5
    assert tf.io.parse_sequence_example(NOTHING, features)[0]["a"].tolist() == [[5]]


def test_a_list_within_a_tuple():
    inner = [1]
    features = {"a": tf.FixedLenFeature([2, 1], tf.int64, (inner, [2]))}
    assert one(features) == [[[1], [2]]]
    inner[0] = 7
    assert one(features) == [[[7], [2]]]
