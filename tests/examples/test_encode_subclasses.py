"""Subclasses of lists, arrays and numbers are encoded as the values that iteration gives."""

import collections
import enum

import numpy as np
import pytest

import tfrecord_fast as tf


class Other(list):
    """Iterates over other values than it holds."""

    def __iter__(self):
        return iter([7, 8])


class OtherTuple(tuple):
    def __iter__(self):
        return iter([7, 8])


class Array(np.ndarray):
    def __len__(self):
        return 1

    def __iter__(self):
        return iter([7, 8, 9])


class Text(str):
    pass


class Color(enum.IntEnum):
    RED = 3


def written(tmp_path, row):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write_example(row)
    return list(tf.data.TFRecordDataset(tmp_path / "a"))


def ways(tmp_path, row):
    """Encode the row as one record in each way."""
    return [
        lambda: tf.encode_examples({"a": [row]}).tolist(),
        lambda: written(tmp_path, {"a": row}),
        lambda: [tf.train.example({"a": row}).SerializeToString(deterministic=True)],
    ]


ROWS = [
    (Other([1, 2]), [7, 8]),
    (OtherTuple((1, 2)), [7, 8]),
    (np.arange(3).view(Array), [0, 1, 2]),
    ([Text("abc"), "b"], ["abc", "b"]),
    ([Color.RED, 1], [3, 1]),
    (Color.RED, 3),
    ([[Color.RED], [2]], [3, 2]),
]


@pytest.mark.parametrize(("row", "plain"), ROWS, ids=lambda value: type(value).__name__)
def test_a_row_is_what_iteration_gives(tmp_path, row, plain):
    expected = tf.encode_examples({"a": [plain]}).tolist()
    assert [way() for way in ways(tmp_path, row)] == [expected] * 3


@pytest.mark.parametrize("column", [OtherTuple((1, 2)), Other(["a"])])
def test_a_column_is_what_iteration_gives(column):
    assert tf.encode_examples({"a": column}).tolist() == tf.encode_examples({"a": [7, 8]}).tolist()


@pytest.mark.parametrize(
    "array", [np.arange(3), np.array(["a", "b", "c"]), np.array([b"a", None, b"c"], object), np.ones((2, 3))]
)
def test_a_subclass_of_arrays_is_encoded_as_an_array(array):
    assert tf.encode_examples({"a": array.view(Array)}).tolist() == tf.encode_examples({"a": array}).tolist()


def test_steps_may_be_a_subclass_of_arrays():
    steps = np.arange(6).reshape(2, 3)
    expected = tf.encode_sequence_examples(None, {"a": steps}).tolist()
    assert tf.encode_sequence_examples(None, {"a": steps.view(Array)}).tolist() == expected
    assert tf.encode_sequence_examples(None, {"a": [*map(Array.view, steps, [Array] * 2)]}).tolist() == expected


def _itself():
    holds_itself = []
    holds_itself += [holds_itself, holds_itself]
    return holds_itself


@pytest.mark.parametrize("row", [collections.UserString("x"), [collections.UserString("xy")], _itself()], ids=repr)
def test_endless_nesting_is_an_error(tmp_path, row):
    for way in (*ways(tmp_path, row), lambda: tf.encode_sequence_examples(None, {"a": [[row]]})):
        with pytest.raises(TypeError, match=r"UserString|nested too deeply"):
            way()


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_whose_rows_are_matrices_is_written(tmp_path):
    for way in ways(tmp_path, np.asmatrix([["a", "b"]])):
        assert b"\n\x01a\n\x01b" in way()[0]
