"""encode_examples: values and sizes at the edges are protobuf's bytes."""

import collections

import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.values.columns.bytes_array import BytesArray

pytest.importorskip("google.protobuf")

from tests.support import oracle_protobuf as oracle
from tests.support.encode_cases import kind_of, plain


def check(made, expected):
    assert tf.encode_examples(made).tolist() == [oracle.example(row) for row in expected]


@pytest.mark.parametrize("shape", [4, (2, 2)])
def test_a_bool_whose_byte_is_neither_0_nor_1_is_true(shape):
    """As a cast of other memory makes it."""
    column = np.array([2, 0, 255, 1], np.uint8).view(bool).reshape(shape)
    assert tf.encode_examples({"a": column}).tolist() == tf.encode_examples({"a": column.astype(int)}).tolist()


def test_many_rows_and_long_keys_are_protobufs():
    n = 5000
    rng = np.random.default_rng(7)
    made = {
        "k" * 300: rng.integers(-(2**63), 2**63 - 1, n),
        "ids": rng.integers(0, 2**40, (n, 7)) >> rng.integers(0, 40, (n, 7)),
        "x": rng.normal(size=n).astype(np.float32),
        "vector": rng.normal(size=(n, 64)),
        "text": [b"x" * int(size) for size in rng.integers(0, 300, n)],
    }
    expected = [
        {
            key: ("bytes", [column[i]]) if key == "text" else (kind_of(column.dtype), plain(column[i]))
            for key, column in made.items()
        }
        for i in range(n)
    ]
    check(made, expected)


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152])
def test_lengths_around_those_of_varints_are_protobufs(size):
    made = {"a": [b"x" * size], "b": np.zeros((1, size), np.int8)}
    check(made, [{"a": ("bytes", [b"x" * size]), "b": ("int64", [0] * size)}])


def test_scalars_of_every_length_are_protobufs():
    powers = [2**bits for bits in range(65)]
    values = [v for power in powers for v in (power - 1, power, 1 - power, -power) if -(2**63) <= v < 2**63]
    check({"a": np.array(values, np.int64)}, [{"a": ("int64", [value])} for value in values])


def test_keys_of_every_length_are_protobufs():
    for size in range(70):
        key, integers, floats = "k" * size, [1, 2**62], [1.0, 2.0]
        expected = [{key: ("int64", [i]), "z": ("float", [x])} for i, x in zip(integers, floats, strict=True)]
        check({key: integers, "z": floats}, expected)


def test_every_float16_is_the_float32_that_numpy_says():
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    halves = halves[~np.isnan(halves)]
    assert tf.encode_examples({"a": halves}).tolist() == tf.encode_examples({"a": halves.astype(np.float32)}).tolist()


def test_bfloat16_is_the_float32_of_the_same_value():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([0.0, -1.5, 3e38, np.inf], np.float32).astype(ml_dtypes.bfloat16).reshape(2, 2)
    assert tf.encode_examples({"a": array}).tolist() == tf.encode_examples({"a": array.astype(np.float32)}).tolist()


def test_a_sparse_tensor_that_is_a_named_tuple_is_not_taken_for_three_rows():
    kind = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])  # TensorFlow 1's
    value = kind(np.array([[0, 1], [2, 0]]), np.array([5, 6]), np.array([3, 4]))
    check({"a": value}, [{"a": ("int64", [5])}, {"a": ("int64", [])}, {"a": ("int64", [6])}])


@pytest.mark.parametrize("rows", [[[[]]], [[[], []], []], [[], [[]]], [[[[]], []]]])
def test_lists_of_nothing_but_empty_lists_are_empty_and_no_nulls(rows):
    assert tf.encode_examples({"a": rows}).tolist() == tf.encode_examples({"a": [[]] * len(rows)}).tolist()


@pytest.mark.parametrize("empty", [np.array([], "S"), np.array([], "U"), BytesArray([])], ids=repr)
def test_rows_that_are_empty_arrays_of_strings_are_empty_lists_of_bytes(empty):
    check({"a": [empty, empty]}, [{"a": ("bytes", [])}] * 2)
    check({"a": [[], empty]}, [{"a": ("bytes", [])}] * 2)


@pytest.mark.parametrize(
    ("values", "mask"), [([b"a", 5, b"c"], [0, 1, 0]), ([2.5, "x", 1.5], [0, 1, 0]), ([object(), b"b"], [1, 0])]
)
def test_what_is_masked_in_an_array_of_objects_has_no_kind(values, mask):
    column = np.ma.array(values, mask=mask, dtype=object)
    expected = [None if hidden else value for value, hidden in zip(values, mask, strict=True)]
    assert tf.encode_examples({"a": column}).tolist() == tf.encode_examples({"a": expected}).tolist()
