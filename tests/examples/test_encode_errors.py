"""What encode_examples refuses, and what it says."""

import enum

import numpy as np
import pytest

import tfrecord_fast as tf


@pytest.mark.parametrize(
    ("column", "error", "words"),
    [
        ([1, "x"], TypeError, "more than one kind"),
        (["x", 1], TypeError, "element 1 is int"),
        ([b"x", [1]], TypeError, "element 1 is list"),
        ([[1], 2], TypeError, "a single value"),
        *(([np.array([1]), kind(2)], TypeError, "a single value") for kind in (np.int64, np.float32, np.float64)),
        ([1, 2**63], ValueError, "int64 does not hold|2\\^63"),
        ([2**64], ValueError, "int64"),
        ([[1], [None]], ValueError, "null inside a list"),
        (np.array([1 + 2j]), TypeError, "complex128"),
        (np.array(["2020-01-01"], "M8[D]"), TypeError, "datetime64"),
        (np.int64(3), TypeError, "column"),
        (np.array(3), TypeError, "single value"),
        ("abc", TypeError, "got str"),
        (b"abc", TypeError, "got bytes"),
        ({"a": 1}, TypeError, "got dict"),
        (7, TypeError, "got int"),
        (None, TypeError, "got NoneType"),
        ([object()], TypeError, "object"),
        ([{1: 2}], TypeError, "dict"),
        ("\ud800".split(), ValueError, "surrogates"),
        (np.ma.masked_array([[1, 2]], [[True, False]]), ValueError, "row 0 is masked in part"),
        ([np.timedelta64(5, "ns")], TypeError, "timedelta64"),
        ([[1, np.timedelta64(5, "s")]], TypeError, "timedelta64"),
        (tf.RaggedTensor.from_row_splits(np.arange(3), [0, 4], validate=False), ValueError, "row splits"),
        (tf.RaggedTensor.from_row_splits(np.arange(3), [2, 1], validate=False), ValueError, "row splits"),
        (tf.sparse.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 1]), ValueError, "row-major"),
        (tf.sparse.SparseTensor([[5, 0]], [1], [2, 1]), ValueError, "dense_shape"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value[:10],
)
def test_what_has_no_form_in_an_example_is_refused_and_the_feature_named(column, error, words):
    with pytest.raises(error, match=rf"(?s)feature 'bad'.*({words})"):
        tf.encode_examples({"bad": column})


@pytest.mark.parametrize("value", [2**63, 2**64 - 1])
def test_a_uint64_above_int64_names_feature_and_row(value):
    column = np.zeros((9000, 2), np.uint64)
    column[8500, 1] = value
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"feature 'big', row 8500: a uint64 above 2\^63 - 1"):
        tf.encode_examples({"a": np.zeros(9000), "big": column})


def test_of_several_errors_the_first_is_told_whichever_is_found_first():
    """Of two threads, one has rows 0 to 63, and finds its error before the other, whose rows are longer, does."""
    splits = np.concatenate([[0], np.cumsum([5_000] * 64 + [10_000] * 64)])
    long = tf.RaggedTensor.from_row_splits(np.zeros(splits[-1], np.int64), splits)
    bad = np.zeros(128, np.uint64)
    bad[[63, 127]] = 2**63
    columns = {f"a{i}": long for i in range(20)} | {"bad": bad}
    for _ in range(5):
        with pytest.raises(tf.errors.InvalidArgumentError, match="row 63"):
            tf.encode_examples(columns, num_threads=2)


def test_columns_of_unequal_length_are_named_with_their_lengths():
    with pytest.raises(tf.errors.InvalidArgumentError, match="'a' has 2 rows, 'b' has 3"):
        tf.encode_examples({"a": [1, 2], "b": [1, 2, 3]})


@pytest.mark.parametrize("columns", [None, 7, "abc", [1, 2], np.zeros(3)])
def test_what_is_not_a_dict_of_columns_is_a_type_error(columns):
    with pytest.raises(TypeError, match="expected a dict of columns"):
        tf.encode_examples(columns)


def test_a_key_that_is_not_a_string_is_a_type_error():
    with pytest.raises(TypeError, match="keys must be strings, got int"):
        tf.encode_examples({1: [1]})


def test_a_record_beyond_protobufs_limit_is_refused_before_it_is_made():
    chunk = b"x" * (1 << 20)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"row 0 takes \d+ bytes, more than the 2 GiB"):
        tf.encode_examples({"a": [[chunk] * 2048]})


def test_a_column_that_is_changed_later_leaves_the_records_alone():
    array = np.arange(3)
    records = tf.encode_examples({"a": array})
    before = records.tolist()
    array[:] = 9
    assert records.tolist() == before


class _Tensor:
    """Another library's sparse or ragged tensor, which may not have been checked."""

    def __init__(self, **parts):
        self.__dict__.update(parts)


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (_Tensor(indices=[[0.5, 1.7]], values=[1], dense_shape=[1, 3]), "indices of a SparseTensor: expected integers"),
        (_Tensor(indices=[[0, 1]], values=[1], dense_shape=[1.9, 3]), "dense_shape of a SparseTensor: expected integ"),
        (_Tensor(indices=[[0, 1]], values=[1, 2], dense_shape=[1, 3]), "1 indices but 2 values"),
        (_Tensor(indices=[[0, 1], [0, 2]], values=[1], dense_shape=[1, 3]), "2 indices but 1 values"),
        (_Tensor(values=[1, 2, 3], row_splits=[0, 1.9, 3]), "row splits: expected integers, got float64"),
    ],
)
def test_nothing_of_a_tensor_is_rounded_or_left_out(tensor, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        tf.encode_examples({"a": tensor})


def _frames():
    pandas, polars, pyarrow = map(pytest.importorskip, ["pandas", "polars", "pyarrow"])
    data = {"x": [1, 2], "y": [3, 4]}
    return [
        pandas.DataFrame(data),
        pandas.DataFrame({0: [1, 2], 1: [3, 4]}),
        polars.DataFrame(data),
        pyarrow.table(data),
    ]


def test_a_table_is_no_column_and_no_row_as_iterating_gives_the_names_of_its_columns():
    for frame in _frames():
        for attempt in (
            lambda frame=frame: tf.encode_examples({"a": frame}),
            lambda frame=frame: tf.encode_examples({"a": [frame]}),
            lambda frame=frame: tf.train.example({"a": frame}),
            lambda frame=frame: tf.train.sequence_example({}, {"a": frame}),
            lambda frame=frame: tf.encode_sequence_examples(None, {"a": [frame]}),
        ):
            with pytest.raises(TypeError, match="'a'"):
                attempt()


def test_an_index_of_several_levels_is_no_column():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="feature 'a': expected a column, got a MultiIndex"):
        tf.encode_examples({"a": pandas.MultiIndex.from_tuples([(1, 2), (3, 4)])})


def test_an_enum_is_named_as_any_other_object():
    class Color(enum.Enum):
        RED = 1

    for column in ([Color.RED], [Color.RED, None]):
        with pytest.raises(TypeError, match=r"feature 'a': an Example cannot hold values of type Color"):
            tf.encode_examples({"a": column})
