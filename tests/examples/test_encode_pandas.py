"""Columns of pandas' own dtypes keep their values exactly, and nulls inside of lists are refused as Arrow's are."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tfrecord_fast as tf
from tfrecord_fast.errors import InvalidArgumentError

BIG = 2**53 + 1  # no float64 holds it
OTHER = 2**24 + 1  # no float32 holds it


def rows(column, dtype, **options):
    """The values of each row; None where the key is missing."""
    records = tf.encode_examples({"c": column}, **options)
    values = tf.parse_example(records, {"c": tf.RaggedFeature(dtype)})["c"].to_list()
    lacking = tf.encode_examples({"c": [None]})[0]
    return [None if record == lacking else row for record, row in zip(records, values, strict=True)]


def arrow(values, type=None):
    """An extension array of pandas over an Arrow array."""
    return pd.arrays.ArrowExtensionArray(pa.array(values, type))


def in_all_forms(array):
    return [array, pd.Series(array), pd.Index(array), pd.DataFrame({"c": array})["c"]]


@pytest.mark.parametrize(
    "array",
    [
        pd.Categorical([BIG, OTHER, None]),
        pd.Categorical([BIG, OTHER, None], categories=[OTHER, 5, BIG], ordered=True),
        pd.Categorical.from_codes([1, 0, -1], categories=pd.array([OTHER, BIG], "Int64")),
        pd.Categorical.from_codes([1, 0, -1], categories=pd.Index(arrow([OTHER, BIG]))),
        pd.array([BIG, OTHER, None], "Int64"),
        arrow([BIG, OTHER, None]),
        arrow(pa.array([BIG, OTHER, None]).dictionary_encode()),
    ],
    ids=["categories", "ordered", "categories Int64", "categories of Arrow", "Int64", "Arrow", "dictionary"],
)
def test_integers_beside_a_missing_value_stay_what_they_are(array):
    for column in in_all_forms(array):
        assert rows(column, tf.int64) == [[BIG], [OTHER], None]


@pytest.mark.parametrize("index", [slice(0, 2), slice(2, 3), slice(0, 0)])
def test_a_part_of_a_categorical(index):
    column = pd.Series([BIG, OTHER, None], dtype="category")[index]
    assert rows(column, tf.int64) == [[BIG], [OTHER], None][index]


@pytest.mark.parametrize(
    "value, dtype, written",
    [
        ("a", tf.string, b"a"),
        (b"\xff", tf.string, b"\xff"),
        (True, tf.int64, 1),
        (0.5, tf.float32, 0.5),
    ],
)
def test_categories_of_other_kinds(value, dtype, written):
    for column in in_all_forms(pd.Categorical([value, None, value])):
        assert rows(column, dtype) == [[written], None, [written]]


@pytest.mark.parametrize("value", [pd.Timestamp(1), pd.Interval(0, 1), pd.Period("2020")])
def test_categories_that_an_example_does_not_hold(value):
    with pytest.raises(TypeError, match=f"'c': an Example cannot hold values of type {type(value).__name__}"):
        rows(pd.Series([value, None], dtype="category"), tf.int64)


@pytest.mark.parametrize(
    "values, type",
    [
        ([[BIG], [1, None]], pa.list_(pa.int64())),
        ([[BIG], [1, None]], pa.large_list(pa.int64())),
        ([[BIG, 1], [1, None]], pa.list_(pa.int64(), 2)),
        ([[[BIG]], [[1], [2, None]]], pa.list_(pa.list_(pa.int64()))),
        ([[0.5], [None]], pa.list_(pa.float32())),
        ([["a"], [None]], pa.list_(pa.string())),
    ],
)
def test_a_null_inside_an_arrow_list_is_refused(values, type):
    for column in in_all_forms(arrow(values, type)):
        with pytest.raises(InvalidArgumentError, match="'c': a null inside a list"):
            rows(column, tf.int64)


def test_arrow_lists_without_nulls_inside():
    for column in in_all_forms(arrow([[BIG, OTHER], None, []])):
        assert rows(column, tf.int64) == [[BIG, OTHER], None, []]


@pytest.mark.parametrize("type", [pa.string_view(), pa.binary_view(), pa.large_string(), pa.binary()])
def test_arrow_strings(type):
    values = [b"short", None, b"a text that is longer than twelve bytes"]
    for column in in_all_forms(arrow(pa.array(values).cast(type))):
        assert rows(column, tf.string) == [None if value is None else [value] for value in values]


def test_arrow_values_of_one_byte_and_less():
    assert rows(arrow([True, None, False]), tf.int64) == [[1], None, [0]]
    assert rows(arrow([-1, None, 3], pa.int8()), tf.int64) == [[-1], None, [3]]


def test_nan_of_arrow_is_a_value_and_null_is_missing():
    [nan], missing, one = rows(arrow([float("nan"), None, 1.0]), tf.float32)
    assert np.isnan(nan) and missing is None and one == [1]


def test_chunks_and_slices_of_arrow():
    column = pd.concat([pd.Series(arrow([1, BIG])), pd.Series(arrow([None, OTHER]))])
    assert rows(column, tf.int64) == [[1], [BIG], None, [OTHER]]
    assert rows(column[1:3], tf.int64) == [[BIG], None]
    assert rows(column[:0], tf.int64) == []


@pytest.mark.parametrize(
    "values, type",
    [
        ([[("a", "b")]], pa.map_(pa.string(), pa.string())),
        ([{"a": 1}], pa.struct([("a", pa.int64())])),
        ([1], pa.timestamp("us")),
        ([1], pa.decimal128(5, 1)),
    ],
)
def test_arrow_types_that_an_example_does_not_hold(values, type):
    table = pa.table({"c": pa.array(values, type)})
    with pytest.raises(TypeError) as expected:
        tf.encode_examples(table)
    for column in in_all_forms(arrow(values, type)):
        with pytest.raises(TypeError) as found:
            rows(column, tf.int64)
        assert str(found.value) == str(expected.value)


def test_sparse_integers():
    for column in in_all_forms(pd.arrays.SparseArray([0, BIG, 0])):
        assert rows(column, tf.int64) == [[0], [BIG], [0]]


@pytest.mark.filterwarnings("ignore")  # of the conversion to dense integers
@pytest.mark.parametrize("nan", ["missing", "value"])
def test_sparse_integers_where_a_gap_is_missing(nan):
    place = pd.Series(pd.arrays.SparseArray([np.nan, 1.0, np.nan])).array.sp_index
    array = pd.arrays.SparseArray([BIG], sparse_index=place, dtype=pd.SparseDtype("int64", np.nan))
    for column in in_all_forms(array):
        assert rows(column, tf.int64, nan=nan) == [None, [BIG], None]
