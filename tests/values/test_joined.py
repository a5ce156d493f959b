"""Arrays that are joined, partitioned or handed to Arrow keep their values, or are refused."""

import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.values.elements.composites import stack_ragged, stack_rows


@pytest.mark.parametrize("kind", [">i2", ">i4", ">i8", ">u4", ">f4", ">f8"])
def test_arrow_export_of_big_endian(kind):
    pa = pytest.importorskip("pyarrow")
    values = np.array([[1, 256], [3, 4]], kind)
    assert pa.array(tf.io.arrow_columns({"a": values})["a"]).to_pylist() == values.tolist()
    ragged = tf.RaggedTensor.from_row_splits(values.ravel(), [0, 1, 4])
    assert pa.array(ragged).to_pylist() == [[1], [256, 3, 4]]
    sparse = tf.SparseTensor([[0, 0], [1, 0]], values[0], [2, 1])
    assert pa.array(sparse).to_pylist() == [[1], [256]]


def test_arrow_export_of_s1_is_no_uint8():
    pa = pytest.importorskip("pyarrow")
    try:
        made = pa.array(tf.io.arrow_columns({"a": np.array([[b"a", b"b"]], "S1")})["a"]).to_pylist()
    except (TypeError, ValueError):
        return
    assert made == [[b"a", b"b"]]


def test_arrow_export_of_masked():
    pa = pytest.importorskip("pyarrow")
    values = np.ma.masked_array([[1, 2], [3, 4]], [[0, 1], [0, 0]])
    try:
        made = pa.array(tf.io.arrow_columns({"a": values})["a"]).to_pylist()
    except (TypeError, ValueError):
        return
    assert made == [[1, None], [3, 4]]


@pytest.mark.parametrize("name", ["float8_e4m3fn", "int4", "bfloat16"])
def test_arrow_export_of_what_arrow_has_no_type_for(name):
    pa, ml_dtypes = pytest.importorskip("pyarrow"), pytest.importorskip("ml_dtypes")
    values = np.ones((2, 2), getattr(ml_dtypes, name))
    for column in (values, tf.RaggedTensor.from_row_splits(values.ravel(), [0, 4])):
        with pytest.raises(TypeError, match=f"no type for {name}"):
            pa.array(tf.io.arrow_columns({"a": column})["a"])


def test_partitions_of_uint8_do_not_wrap():
    lengths = tf.RaggedTensor.from_row_lengths(np.arange(400), np.array([200, 200], np.uint8))
    ids = tf.RaggedTensor.from_value_rowids(np.arange(300), np.zeros(300, np.uint8))
    starts = tf.RaggedTensor.from_row_starts(np.arange(300), np.array([0, 100], np.uint8))
    splits = [tensor.row_splits.tolist() for tensor in (lengths, ids, starts)]
    assert splits == [[0, 200, 400], [0, 300], [0, 100, 300]]


def test_stacked_splits_of_uint8_do_not_wrap():
    one = tf.RaggedTensor.from_row_splits(np.arange(200), np.array([0, 100, 200], np.uint8))
    made = stack_ragged([one, one])
    assert made.values.row_splits.tolist() == [0, 100, 200, 300, 400]


BIG = 2**53 + 1


@pytest.mark.parametrize(
    "other", [np.array([0.5]), np.array([1], np.uint64), np.array([1j])], ids=["float64", "uint64", "complex128"]
)
@pytest.mark.parametrize(
    "join",
    [
        lambda a, b: tf.concat([a, b], 0),
        lambda a, b: tf.stack([a, b]),
        lambda a, b: stack_ragged([a, b]).values,
        lambda a, b: stack_rows([tf.SparseTensor([[0]], a, [1]), tf.SparseTensor([[0]], b, [1])]).values,
    ],
    ids=["concat", "stack", "stack_ragged", "stack_sparse"],
)
def test_joined_arrays_keep_large_integers(join, other):
    try:
        made = join(np.array([BIG]), other)
    except (TypeError, ValueError):
        return
    assert int(np.ravel(made)[0]) == BIG


def test_an_empty_row_does_not_make_floats_of_integers():
    try:
        made = stack_ragged([np.array([BIG]), np.array([], np.float32)])
    except (TypeError, ValueError):
        return
    assert made.values.dtype == np.int64 and made.values.tolist() == [BIG]


@pytest.mark.parametrize("rows", [[[], [1, 2]], [[1, 2], []], [[], ["a", "b"]]], ids=repr)
def test_an_element_without_values_says_nothing_about_the_kind_of_a_sparse_batch(rows):
    (made,) = tf.data.Dataset.from_generator(lambda: iter(rows)).sparse_batch(2, [2])
    (wanted,) = tf.data.Dataset.from_generator(lambda: iter([max(rows)])).sparse_batch(2, [2])
    assert made.values.tolist() == wanted.values.tolist() and made.values.dtype == wanted.values.dtype
