"""What stands for "no value" in Python, pandas and NumPy: a whole row without one lacks the key; inside a row it is an
error. The same wherever a value is given.
"""

import numpy as np
import pandas as pd
import pytest

import tfrecord_fast as tf

NO_VALUE = [None, pd.NA, pd.NaT]
VALUES = [1, 1.5, True, "a", b"a", [1], np.float32(1)]
TEXT = getattr(np.dtypes, "StringDType", None)


def keys(records):
    return [sorted(tf.train.Example.FromString(record).features.feature) for record in records]


def written(tmp_path, row):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write_example(row)
    return list(tf.data.TFRecordDataset(tmp_path / "a"))


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("nothing", NO_VALUE, ids=repr)
def test_a_row_of_a_list_lacks_the_key(nothing, value):
    for column in ([value, nothing, value], [nothing, value], (value, nothing), np.array([None, value], object)):
        expected = [[] if one is nothing or one is None else ["a"] for one in column]
        assert keys(tf.encode_examples({"a": column})) == expected
    assert keys(tf.encode_examples({"a": [nothing, nothing]})) == [[], []]


@pytest.mark.parametrize("nothing", NO_VALUE, ids=repr)
def test_an_example_lacks_the_key(tmp_path, nothing):
    row = {"a": nothing, "b": 1}
    assert keys(written(tmp_path, row)) == [["b"]]
    assert sorted(tf.train.example(row).features.feature) == ["b"]
    assert sorted(tf.train.sequence_example(row).context.feature) == ["b"]
    assert tf.train.feature(nothing).WhichOneof("kind") is None
    assert tf.train.sequence_example({}, {"a": [nothing, 1]}) == tf.train.sequence_example({}, {"a": [None, 1]})


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("nothing", NO_VALUE, ids=repr)
def test_inside_a_row_it_is_refused(tmp_path, nothing, value):
    for row in ([value, nothing], [nothing, value], [nothing], (value, nothing), np.array([value, None], object)):
        for write in (
            lambda row=row: tf.encode_examples({"a": [row]}),
            lambda row=row: written(tmp_path, {"a": row}),
            lambda row=row: tf.train.example({"a": row}),
            lambda row=row: tf.train.feature(row),
            lambda row=row: tf.encode_sequence_examples(None, {"a": [[row]]}),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match="a null inside a list"):
                write()


@pytest.mark.parametrize("nothing", NO_VALUE, ids=repr)
def test_a_row_of_steps_lacks_the_key(nothing):
    expected = tf.encode_sequence_examples(None, {"a": [[1], None]}).tolist()
    assert tf.encode_sequence_examples(None, {"a": [[1], nothing]}).tolist() == expected


@pytest.mark.skipif(TEXT is None, reason="NumPy without StringDType")
@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA], ids=repr)
class TestNumpysText:
    def test_a_null_lacks_the_key(self, nothing):
        array = np.array(["a", nothing, "nan"], TEXT(na_object=nothing))
        assert tf.encode_examples({"a": array}).tolist() == tf.encode_examples({"a": ["a", None, "nan"]}).tolist()
        assert keys(tf.encode_examples({"a": array[1:2]})) == [[]]
        assert keys(tf.encode_examples({"a": np.ma.array(array, mask=[1, 0, 0])})) == [[], [], ["a"]]

    def test_a_null_in_a_row_of_several_is_refused(self, nothing):
        array = np.array([["a", nothing], ["b", "c"]], TEXT(na_object=nothing))
        for write in (
            lambda: tf.encode_examples({"a": array}),
            lambda: tf.encode_examples({"a": [array[0]]}),
            lambda: tf.train.example({"a": array[0]}),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match="a null inside a list"):
                write()

    def test_steps_are_those_of_a_list(self, nothing):
        array = np.array(["a", nothing], TEXT(na_object=nothing))
        expected = tf.encode_sequence_examples(None, {"a": [["a", None]]}).tolist()
        assert tf.encode_sequence_examples(None, {"a": [array]}).tolist() == expected

    def test_no_bytes_are_made_of_it(self, nothing):
        array = np.array(["a", nothing], TEXT(na_object=nothing))
        for take in (tf.io.serialize_tensor, tf.BytesArray, tf.convert_to_tensor):
            with pytest.raises(TypeError, match="not bytes-like"):
                take(array)


@pytest.mark.skipif(TEXT is None, reason="NumPy without StringDType")
def test_text_that_stands_for_a_null_is_text():
    array = np.array(["a", "none"], TEXT(na_object="none"))
    assert tf.encode_examples({"a": array}).tolist() == tf.encode_examples({"a": ["a", "none"]}).tolist()
