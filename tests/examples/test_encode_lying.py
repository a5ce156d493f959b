"""Values whose methods contradict each other: what is written is what iteration gives, and a number's own value; or an
error says so.
"""

import collections
import enum

import numpy as np
import pytest

import tfrecord_fast as tf


class Long(list):
    """Says that it has a value more than it gives."""

    def __len__(self):
        return super().__len__() + 1


class Short(list):
    def __len__(self):
        return super().__len__() - 1


class Other(list):
    """Gives other values than it holds."""

    def __iter__(self):
        return iter([7, 8])


class OtherTuple(tuple):
    def __iter__(self):
        return iter([7, 8])


class Endless(list):
    def __iter__(self):
        while True:
            yield 1


class Array(np.ndarray):
    def __len__(self):
        return 1

    def __iter__(self):
        return iter([7, 8, 9])


class Integer(int):
    def __int__(self):
        return 99

    def __index__(self):
        return 98

    def __float__(self):
        return 97.0


class Float(float):
    def __float__(self):
        return 99.0


class Text(str):
    def encode(self, *_):
        return b"lie"

    def __len__(self):
        return 1


class Blob(bytes):
    def __bytes__(self):
        return b"lie"

    def __len__(self):
        return 1


class Color(enum.IntEnum):
    RED = 3


def written(tmp_path, row):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write_example(row)
    return list(tf.data.TFRecordDataset(tmp_path / "a"))


def ways(tmp_path, row):
    """The row as one record, in every way that there is."""
    return [
        lambda: tf.encode_examples({"a": [row]}).tolist(),
        lambda: written(tmp_path, {"a": row}),
        lambda: [tf.train.example({"a": row}).SerializeToString(deterministic=True)],
    ]


HONEST = [
    (Other([1, 2]), [7, 8]),
    (OtherTuple((1, 2)), [7, 8]),
    (np.arange(3).view(Array), [0, 1, 2]),
    ([Integer(1), 2], [1, 2]),
    ([2.5, Integer(1)], [2.5, 1]),
    (Integer(1), 1),
    ([Integer(2**62)], [2**62]),
    ([Float(1.5), 2.5], [1.5, 2.5]),
    ([None, Float(1.5)][1], 1.5),
    ([Text("abc"), "b"], ["abc", "b"]),
    ([Blob(b"abc"), b"b"], [b"abc", b"b"]),
    ([Color.RED, 1], [3, 1]),
    ([[Integer(1)], [2]], [1, 2]),
]


@pytest.mark.parametrize(("row", "plain"), HONEST, ids=lambda value: type(value).__name__)
def test_a_row_is_what_iteration_gives(tmp_path, row, plain):
    expected = tf.encode_examples({"a": [plain]}).tolist()
    assert [way() for way in ways(tmp_path, row)] == [expected] * 3


@pytest.mark.parametrize("row", [Long([1, 2]), Short([1, 2]), Long(["a"]), Short(["a", "b"]), Endless([1, 2])])
def test_a_row_that_miscounts_itself_is_refused(tmp_path, row):
    for way in (*ways(tmp_path, row), lambda: tf.encode_sequence_examples(None, {"a": [row]})):
        with pytest.raises(TypeError, match="says it has"):
            way()


def test_miscounts_that_cancel_out_are_no_less_wrong():
    for rows in ([Long([1, 2]), Short([3, 4])], [Long(["a", "b"]), Short(["c", "d"])]):
        for encode in (tf.encode_examples, lambda columns: tf.encode_sequence_examples(None, columns)):
            with pytest.raises(TypeError, match="says it has"):
                encode({"a": rows})
            with pytest.raises(TypeError, match="says it has"):
                encode({"a": [[rows[0]], [rows[1]]]})


@pytest.mark.parametrize("wrap", [Long, Short])
def test_a_column_is_what_iteration_gives(wrap):
    for values in ([1, 2], ["a", "b"], [1.5, None], [[1], [2, 3]]):
        assert tf.encode_examples({"a": wrap(values)}).tolist() == tf.encode_examples({"a": values}).tolist()
    assert tf.encode_examples({"a": OtherTuple((1, 2))}).tolist() == tf.encode_examples({"a": [7, 8]}).tolist()
    assert tf.encode_examples({"a": Other(["a"])}).tolist() == tf.encode_examples({"a": [7, 8]}).tolist()


def test_a_column_that_is_an_array_is_what_it_holds():
    for array in (np.arange(3), np.array(["a", "b", "c"]), np.array([b"a", None, b"c"], object), np.ones((2, 3))):
        expected = tf.encode_examples({"a": array}).tolist()
        assert tf.encode_examples({"a": array.view(Array)}).tolist() == expected
    steps = np.arange(6).reshape(2, 3)
    expected = tf.encode_sequence_examples(None, {"a": steps}).tolist()
    assert tf.encode_sequence_examples(None, {"a": steps.view(Array)}).tolist() == expected
    assert tf.encode_sequence_examples(None, {"a": [*map(Array.view, steps, [Array] * 2)]}).tolist() == expected


def test_strings_are_where_iteration_gives_them():
    rows = [Long([b"a"]), Short([b"b", b"c", b"d"])]
    with pytest.raises(ValueError, match="unequal"):
        tf.BytesArray(rows)
    assert tf.BytesArray(Short([b"a", b"b"])).tolist() == [b"a", b"b"]


def _itself():
    holds_itself = []
    holds_itself += [holds_itself, holds_itself]
    return holds_itself


@pytest.mark.parametrize("row", [collections.UserString("x"), [collections.UserString("xy")], _itself()], ids=repr)
def test_what_has_elements_without_end_is_named(tmp_path, row):
    for way in (*ways(tmp_path, row), lambda: tf.encode_sequence_examples(None, {"a": [[row]]})):
        with pytest.raises(TypeError, match=r"UserString|nested too deeply"):
            way()


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_whose_rows_are_matrices_is_written(tmp_path):
    for way in ways(tmp_path, np.asmatrix([["a", "b"]])):
        assert b"\n\x01a\n\x01b" in way()[0]
