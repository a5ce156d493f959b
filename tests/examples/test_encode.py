"""encode_examples: the bytes that the protobuf runtime gives for the same rows, whatever the columns are made of."""

import subprocess
import sys

import hypothesis
import numpy as np
import pytest
from hypothesis import given, settings

import tfrecord_fast as tf
from tfrecord_fast.examples.encoding.encode import encode_example

pytest.importorskip("google.protobuf")

from tests.support import oracle_protobuf as oracle
from tests.support.encode_cases import ALL, CASES, columns


def check(made, expected):
    encoded = tf.encode_examples(made, allow_rounding=True)
    assert encoded.tolist() == [oracle.example(row) for row in expected]
    return encoded


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_bytes_are_protobufs(kind):
    @CASES
    @given(columns([kind], most=2))
    def run(case):
        check(*case)

    run()


@CASES
@given(columns())
def test_bytes_of_mixed_columns_are_protobufs_with_any_number_of_threads(case):
    encoded = check(*case)
    assert tf.encode_examples(case[0], num_threads=1, allow_rounding=True).tolist() == encoded.tolist()
    assert tf.encode_examples(case[0], num_threads=3, allow_rounding=True).tolist() == encoded.tolist()


@CASES
@given(columns())
def test_a_row_alone_is_the_same_record(case):
    _, expected = case
    for row in expected[:3]:
        if all(values for _, values in row.values()):
            example = {key: values for key, (_, values) in row.items()}
            assert encode_example(example).tolist() == [oracle.example(row)]


@CASES
@given(columns())
def test_parsed_again_they_are_the_same_values(case):
    made, expected = case
    encoded = tf.encode_examples(made, allow_rounding=True)
    kinds = {key: kind for row in expected for key, (kind, _) in row.items()}
    dtypes = {"int64": tf.int64, "float": tf.float32, "bytes": tf.string}
    hypothesis.assume(kinds)
    parsed = tf.parse_example(encoded, {key: tf.VarLenFeature(dtypes[kind]) for key, kind in kinds.items()})
    for key, column in parsed.items():
        values, cuts = np.asarray(column.values).tolist(), column.row_splits
        rows = [values[cuts[i] : cuts[i + 1]] for i in range(len(expected))]
        wanted = [row.get(key, (None, []))[1] for row in expected]
        np.testing.assert_equal(rows, wanted)


def their_values(records, kinds):
    """What TensorFlow parses: of each key the values and the row of each."""
    dtypes = {"int64": tf.int64, "float": tf.float32, "bytes": tf.string}
    features = {key: tf.io.VarLenFeature(dtypes[kind]) for key, kind in kinds.items()}
    parsed = tf.io.parse_example(records, features)
    return {key: (made.indices.numpy()[:, 0].tolist(), made.values.numpy().tolist()) for key, made in parsed.items()}


def test_tensorflow_parses_them_to_the_same_values(tensorflow):
    @settings(max_examples=30)
    @given(columns(most=3))
    def run(case):
        made, expected = case
        kinds = {key: kind for row in expected for key, (kind, _) in row.items() if key}
        if not kinds:
            return
        theirs = tensorflow(their_values, tf.encode_examples(made, allow_rounding=True).tolist(), kinds)
        for key, got in theirs.items():
            lists = [row.get(key, (None, []))[1] for row in expected]
            rows = [i for i, values in enumerate(lists) for _ in values]
            np.testing.assert_equal(got, (rows, [value for values in lists for value in values]))

    run()


# ---- What has no key ----


def test_a_row_without_any_feature_is_an_example_without_any():
    assert tf.encode_examples({"a": [None, 1]})[0] == oracle.example({})


def test_no_columns_are_no_records():
    assert tf.encode_examples({}).tolist() == []


def test_an_example_without_features_is_one_record():
    assert encode_example({}).tolist() == [oracle.example({})]


def test_an_empty_row_is_an_empty_list():
    assert tf.encode_examples({"a": [[], [1]]})[0] == oracle.example({"a": ("int64", [])})


def test_keys_may_be_bytes():
    assert tf.encode_examples({b"a": [1]}).tolist() == tf.encode_examples({"a": [1]}).tolist()


# ---- What parsing gives ----


@pytest.mark.parametrize("lists", [tf.VarLenFeature(tf.int64), tf.RaggedFeature(tf.int64)], ids=["sparse", "ragged"])
def test_what_parse_example_gives_is_taken_as_it_is(lists):
    made = {"i": np.arange(6).reshape(3, 2), "f": np.float32([1, 2, 3]), "b": [b"x", b"", b"z"], "v": [[1], [], [2, 3]]}
    records = tf.encode_examples(made)
    features = {
        "i": tf.FixedLenFeature([2], tf.int64),
        "f": tf.FixedLenFeature([], tf.float32),
        "b": tf.FixedLenFeature([], tf.string),
        "v": lists,
    }
    assert tf.encode_examples(tf.parse_example(records, features)).tolist() == records.tolist()


def test_what_parse_single_example_gives_is_taken_as_one_row():
    record = encode_example({"b": [b"x", b""], "f": 2.0, "v": [1, 2, 3], "w": [b"a"]})[0]
    features = {
        "b": tf.FixedLenFeature([2], tf.string),
        "f": tf.FixedLenFeature([], tf.float32),
        "v": tf.VarLenFeature(tf.int64),
        "w": tf.RaggedFeature(tf.string),
    }
    assert encode_example(tf.parse_single_example(record, features))[0] == record


ENCODE_ON_THREADS = """
import numpy as np, tfrecord_fast as tf
for _ in range(60):
    tf.encode_examples({"a": np.arange(300_000)}, num_threads=6)
"""


def test_threads_that_are_last_wake_the_caller():
    """In a process of its own: one that nobody wakes waits for ever."""
    subprocess.run([sys.executable, "-c", ENCODE_ON_THREADS], check=True, timeout=120)


SIZES = [*range(32, 36), *range(110, 131), *range(16_360, 16_387)]  # of packed values, where lengths grow by a byte


@pytest.mark.parametrize("wide", [1, 2**13, -1])
@pytest.mark.parametrize("columns", ["a", "abc"])
def test_long_lists_around_the_sizes_at_which_their_lengths_grow(columns, wide):
    """A list ends with a value of one, two or ten bytes; the others have one. Other lists follow it, or none."""
    last = {1: 1, 2**13: 2, -1: 10}[wide]
    lists = [[7] * (size - last) + [wide] for size in SIZES]
    rows = [{key: ("int64", values) for key in columns} for values in lists]
    made = {key: tf.RaggedTensor.from_row_lengths(np.concatenate(lists), [len(v) for v in lists]) for key in columns}
    check(made, rows)
