"""Partitions beyond int32, where row splits are int32: an error, and never other rows. TensorFlow wraps them."""

import itertools

import pytest

import tfrecord_fast as tf
from tests.support import live_tensorflow
from tests.support import wire_writer as wire

RAGGED = tf.io.RaggedFeature
WRAPPED = {  # partitions of two values that are those of int32 after they were wrapped
    "ValueRowIds": [[0, 1 << 32], [0, (1 << 32) + 1], [0, 1 << 31], [1 << 31, 1 << 31], [0, (1 << 63) - 1]],
    "RowLengths": [[(1 << 32) + 2], [2, 1 << 32]],
    "RowSplits": [[0, (1 << 32) + 2], [0, 2, 1 << 32]],
    "RowLimits": [[(1 << 32) + 2], [2, (1 << 32) + 2]],
    "RowStarts": [[0, (1 << 32) + 1], [0, 1 << 32]],
}
WELL = {"ValueRowIds": [0, 0], "RowLengths": [2], "RowSplits": [0, 2], "RowLimits": [2], "RowStarts": [0]}
CASES = [(kind, by) for kind, all_by in WRAPPED.items() for by in all_by]
either = pytest.mark.parametrize("validate", [False, True])


def example(by):
    return wire.example([(b"v", wire.feature("int64", [1, 2])), (b"p", wire.feature("int64", by))])


def ragged(partition, validate, dtype=tf.int32, inner=()):
    return {"x": RAGGED(tf.int64, "v", [partition, *inner], row_splits_dtype=dtype, validate=validate)}


@either
@pytest.mark.parametrize(("kind", "by"), CASES)
def test_a_partition_that_int32_does_not_hold_is_an_error(kind, by, validate):
    features = ragged(getattr(RAGGED, kind)("p"), validate)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"feature 'x': .*record 1"):
        tf.io.parse_example([example(WELL[kind]), example(by), example(WELL[kind])], features)
    with pytest.raises(tf.errors.InvalidArgumentError, match="feature 'x': "):
        tf.io.parse_single_example(example(by), features)


@either
def test_the_error_says_what_was_expected(validate):
    features = ragged(RAGGED.ValueRowIds("p"), validate)
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match="ValueRowIds 'p' must be below 2147483647, as row splits are int32, got 4294967296",
    ):
        tf.io.parse_single_example(example([0, 1 << 32]), features)


@either
def test_row_ids_of_partitions_within_rows_are_checked_too(validate):
    features = ragged(RAGGED.RowLengths("q"), validate, inner=[RAGGED.ValueRowIds("p")])
    record = example([0, 1 << 32]) + wire.example([(b"q", wire.feature("int64", [2]))])
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be below"):
        tf.io.parse_single_example(record, features)


@either
def test_the_rows_of_all_records_together_fit_int32(validate):
    records = [example([0, 1 << 30])] * 3
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"feature 'x': the row ids make 3221225475 rows"):
        tf.io.parse_example(records, ragged(RAGGED.ValueRowIds("p"), validate))


@either
@pytest.mark.parametrize("length", [1 << 31, 1 << 32, (1 << 32) + 2])
@pytest.mark.parametrize("values", [[], [1, 2]])
def test_a_uniform_row_length_that_int32_does_not_hold_is_an_error(values, length, validate):
    record = wire.example([(b"v", wire.feature("int64", values))])
    features = ragged(RAGGED.UniformRowLength(length), validate)
    for parse in (
        lambda: tf.io.parse_example([record], features),
        lambda: tf.io.parse_single_example(record, features),
    ):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=f"feature 'x': a uniform row length must be .*, got {length}"
        ):
            parse()


THEIRS = """
def rows(kind, by, record):
    partition = getattr(tf.io.RaggedFeature, kind)("p")
    feature = tf.io.RaggedFeature(tf.int64, "v", [partition], row_splits_dtype=tf.int32)
    return tf.io.parse_example([record], {"x": feature})["x"].to_list()
"""


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_tensorflow_gives_other_rows():
    wrapped = [rows(kind, by) for kind, by in itertools.islice(CASES, 2)]
    assert wrapped == [[[[1, 2]]], [[[1], [2]]]]


def rows(kind, by):
    return live_tensorflow.call(THEIRS.strip() + "\n", kind, by, example(by))
