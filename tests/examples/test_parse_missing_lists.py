"""Feature lists that a SequenceExample lacks: an error, unless the feature allows it."""

import pytest

import tfrecord_fast as tf

RECORDS = tf.encode_sequence_examples({"id": [1, 2]}, {"other": [[1], [2]]}).tolist()


def steps(allow_missing):
    return {"steps": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=allow_missing)}


def test_a_missing_list_is_an_error():
    with pytest.raises(tf.errors.InvalidArgumentError, match="steps"):
        tf.parse_sequence_example(RECORDS, None, steps(allow_missing=False))


def test_a_missing_list_of_one_record_is_an_error():
    with pytest.raises(tf.errors.InvalidArgumentError, match="steps"):
        tf.parse_single_sequence_example(RECORDS[0], None, steps(allow_missing=False))


def test_a_list_that_may_be_missing_has_no_steps():
    _, lists, lengths = tf.parse_sequence_example(RECORDS, None, steps(allow_missing=True))
    assert (lists["steps"].shape, lengths["steps"].tolist()) == ((2, 0), [0, 0])


def test_a_list_of_one_record_that_may_be_missing_has_no_steps():
    _, lists = tf.parse_single_sequence_example(RECORDS[0], None, steps(allow_missing=True))
    assert lists["steps"].shape == (0,)
