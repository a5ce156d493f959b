"""Features that can't be: the class of the error, and the words that say which argument is wrong and what it was."""

import collections

import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.examples.features import normalize

Ragged, Sparse = tf.io.RaggedFeature, tf.io.SparseFeature
Fixed, Sequence, Any = tf.io.FixedLenFeature, tf.io.FixedLenSequenceFeature, tf.io.VarLenFeature
Invalid = tf.errors.InvalidArgumentError


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ({"value_key": 5}, ValueError, "Argument `value_key` must be a string; got 5"),
        ({"value_key": b"v"}, ValueError, "Argument `value_key` must be a string; got b'v'"),
        ({"value_key": ""}, ValueError, "Argument `value_key` must not be empty"),
        (
            {"row_splits_dtype": tf.float32},
            ValueError,
            "Argument `row_splits_dtype` must be int32 or int64; got tfrecord_fast.float32",
        ),
        ({"partitions": "ab"}, TypeError, "Argument `partitions` must be a list or tuple; got 'ab'"),
        ({"partitions": {1: 2}}, TypeError, "Argument `partitions` must be a list or tuple; got {1: 2}"),
        ({"validate": 1}, TypeError, "Argument `validate` must be a bool; got 1"),
        ({"partitions": [3]}, TypeError, "Argument `partitions` must be a list of partition objects; got 3"),
    ],
)
def test_arguments_of_a_ragged_feature(arguments, kind, said):
    with pytest.raises(kind) as error:
        Ragged(tf.int64, **arguments)
    assert str(error.value) == said


def test_a_partition_of_the_right_name_has_the_right_field():
    class RowLengths:
        length = 1

    with pytest.raises(TypeError, match="must be a list of partition objects; got <"):
        Ragged(tf.int64, partitions=[RowLengths()])
    theirs = collections.namedtuple("RowLengths", "key")("p")
    (own,) = Ragged(tf.int64, partitions=(theirs,)).partitions
    assert type(own) is Ragged.RowLengths and own == Ragged.RowLengths("p")


def test_features_of_others_are_taken_by_name_and_fields():
    theirs = collections.namedtuple("VarLenFeature", "dtype")(tf.int64)
    made = normalize(theirs)
    assert type(made) is Any and made == Any(tf.int64)
    assert normalize(made) is made

    class Own(Any):
        pass

    for wrong in (collections.namedtuple("VarLenFeature", "dtype other")(1, 2), 7, None, Own(tf.int64)):
        with pytest.raises(ValueError) as error:
            normalize(wrong)
        assert str(error.value) == f"Unsupported {type(wrong).__name__} {wrong}"


def example(features):
    return tf.io.parse_example([b""], features)


def sequence(features):
    return tf.io.parse_sequence_example([b""], None, features)


SPARSE = Sparse("i", "v", tf.int64, 5)


def test_features_that_can_not_be_parsed():
    for parse, features, kind, said in [
        (example, {"a": 5}, ValueError, "Unsupported int 5"),
        (sequence, {"a": SPARSE}, ValueError, f"Unsupported SparseFeature {SPARSE} for key 'a'"),
        (sequence, {"a": Fixed([], tf.int64)}, ValueError, "Unsupported FixedLenFeature FixedLenFeature("),
        (
            example,
            {"v": Fixed([], tf.int64), "a": SPARSE},
            ValueError,
            "Dense and sparse keys must not intersect; intersection: {'v'}",
        ),
        (
            example,
            {"v": Fixed([], tf.int64), "a": Ragged(tf.int64, "v")},
            ValueError,
            "Dense and ragged keys must not intersect; intersection: {'v'}",
        ),
        (
            example,
            {"v": Any(tf.int64), "a": Ragged(tf.int64, "v")},
            ValueError,
            "Ragged and sparse keys must not intersect; intersection: {'v'}",
        ),
        (
            example,
            {"v": Any(tf.float32), "w": SPARSE},
            ValueError,
            "Conflicting type tfrecord_fast.float32 vs tfrecord_fast.int64 for feature v.",
        ),
        (
            example,
            {"a": Sparse("", "v", tf.int64, 5)},
            ValueError,
            "Missing index_key for SparseFeature SparseFeature(",
        ),
        (example, {"a": Sparse([], "v", tf.int64, [])}, ValueError, "Missing index_key for SparseFeature"),
        (
            example,
            {"a": Sparse("i", "", tf.int64, 5)},
            ValueError,
            "Missing value_key for SparseFeature SparseFeature(",
        ),
        (example, {"a": Sparse(["i"], "v", tf.int64, 5)}, TypeError, "must be a list, as index_key is one"),
        (example, {"a": Sparse(["i"], "v", tf.int64, [5, 6])}, ValueError, "must have equal lengths"),
        (example, {"a": Sparse("i", "v", tf.int64, [5])}, TypeError, "must be an int, as index_key is one key"),
        (
            example,
            {"a": Ragged(tf.int64, "v"), "b": Ragged(tf.float32, "v")},
            ValueError,
            "Conflicting type tfrecord_fast.int64 vs tfrecord_fast.float32 for feature v.",
        ),
        (
            example,
            {"a": Ragged(tf.int64, "v"), "b": Ragged(tf.int64, "v", row_splits_dtype=tf.int64)},
            ValueError,
            "Conflicting partition type tfrecord_fast.int32 vs tfrecord_fast.int64 for feature v.",
        ),
        (
            example,
            {"a": Fixed([None, 2], tf.int64)},
            ValueError,
            "First dimension of shape for feature a unknown. Consider using FixedLenSequenceFeature. Received feature=",
        ),
        (
            example,
            {"a": Fixed([2, None], tf.int64)},
            ValueError,
            "All dimensions of shape for feature a need to be known but received [2, None].",
        ),
        (
            example,
            {"a": Sequence([2, None], tf.int64, allow_missing=True)},
            ValueError,
            "All dimensions of shape for feature a need to be known but received [2, None].",
        ),
        (
            example,
            {"a": Sequence([2, 0], tf.int64, allow_missing=True)},
            Invalid,
            "the shape of FixedLenSequenceFeature a must not contain 0: [2, 0]",
        ),
        (
            example,
            {"a": Sequence([2], tf.int64)},
            ValueError,
            "Unsupported: FixedLenSequenceFeature requires allow_missing to be True.",
        ),
        (
            sequence,
            {"a": Sequence([], tf.int64, default_value=3)},
            ValueError,
            "Value feature_list.dense_defaults[a] must be None",
        ),
        (
            example,
            {"a": Fixed([2, -1], tf.int64)},
            ValueError,
            "Dimensions of shape for feature a must not be negative: [2, -1]",
        ),
        (example, {"a": Fixed(None, tf.int64)}, ValueError, "Missing shape for feature a. Received feature=FixedLen"),
        (example, {"a": Fixed([], None)}, ValueError, "Missing type for feature a. Received feature=FixedLenFeature("),
        (example, {"a": Any(tf.complex64)}, TypeError, "feature 'a': records cannot hold values of dtype complex64"),
        (example, {5: Any(tf.int64)}, TypeError, "feature keys are str or bytes; got 5"),
        (
            example,
            {"a": Fixed([2], tf.int64, 7)},
            Invalid,
            "feature 'a': default_value has 1 values, but the shape is [2] (2 values); a scalar is not broadcast",
        ),
        (
            example,
            {"a": Sequence([2], tf.int64, True, [7, 8])},
            Invalid,
            "feature 'a': default_value has 2 values, but the shape is one padding value (1 values)",
        ),
        (example, {}, ValueError, "Argument `features` cannot be None or falsy. Got {}"),
        (sequence, {}, ValueError, "Both `context_features` and `sequence_features` argument are None, but at least"),
    ]:
        with pytest.raises(kind) as error:
            parse(features)
        assert said in str(error.value)
        assert kind is Invalid or type(error.value) is kind


def test_shapes_may_be_a_number_or_a_list():
    record = tf.encode_examples({"a": [[1, 2, 3]]})[0]
    for shape in (3, np.int64(3), [3], (3,), np.array([3])):
        assert tf.io.parse_single_example(record, {"a": Fixed(shape, tf.int64)})["a"].tolist() == [1, 2, 3]


def test_one_sparse_feature_may_have_one_key_and_a_numpy_size():
    record = tf.encode_examples({"i": [[4]], "v": [[7]]})[0]
    made = tf.io.parse_single_example(record, {"a": Sparse("i", "v", tf.int64, np.int64(5))})["a"]
    assert (made.indices.tolist(), made.values.tolist(), made.dense_shape.tolist()) == ([[4]], [7], [5])
    for size in ((5,), np.array([5])):
        made = tf.io.parse_single_example(record, {"a": Sparse(["i"], "v", tf.int64, size)})["a"]
        assert made.dense_shape.tolist() == [5]


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (
            lambda: tf.io.parse_single_example(b"", None),
            ValueError,
            "Invalid argument: features cannot be None.",
        ),
        (lambda: tf.io.parse_single_example(b"", {}), ValueError, "Invalid argument: features cannot be empty."),
        (
            lambda: tf.io.parse_single_example([b""], {"a": Any(tf.int64)}),
            ValueError,
            "Input serialized must be a scalar; parse_example parses a batch",
        ),
        (
            lambda: tf.io.parse_single_sequence_example(b"", None, {}),
            ValueError,
            "Both context_features and sequence_features are None, but at least one should have values.",
        ),
        (
            lambda: tf.io.parse_single_sequence_example([b""], {"a": Any(tf.int64)}),
            ValueError,
            "Input serialized must be a scalar; parse_sequence_example parses a batch",
        ),
        (
            lambda: tf.io.parse_example([[b""]], {"a": Any(tf.int64)}),
            Invalid,
            "Expected serialized to be a scalar or vector, got nested sequences",
        ),
        (
            lambda: tf.io.parse_example(np.array([[b""]], object), {"a": Any(tf.int64)}),
            Invalid,
            "Expected serialized to be a scalar or vector, got shape (1, 1)",
        ),
        (
            lambda: tf.io.parse_example([b"", b""], {"a": Any(tf.int64)}, ["one"]),
            Invalid,
            "Expected names have the same shape as serialized: 1 names for 2 records",
        ),
        (lambda: tf.io.decode_raw(b"", tf.string), TypeError, "decode_raw needs a numeric out_type"),
        (
            lambda: tf.io.decode_raw(b"", tf.int32, fixed_length=0),
            ValueError,
            "`fixed_length` must be greater than 0. Got: 0",
        ),
        (
            lambda: tf.io.decode_raw(b"", tf.int32, fixed_length=6),
            Invalid,
            "`fixed_length` (6) must be a multiple of the size of out_type (4)",
        ),
    ],
)
def test_what_is_parsed_and_how(call, kind, said):
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == said


def test_records_are_called_by_their_names():
    features = {"a": Fixed([], tf.int64)}
    good = tf.encode_examples({"a": [1]})[0]
    for given, names, name in (
        ([good, b"", b""], ["one", b"two", "three"], "two"),
        (b"", "one", "one"),
        (b"", b"\xff", "\ufffd"),
        (b"", ["one"], "one"),
    ):
        with pytest.raises(Invalid) as error:
            tf.io.parse_example(given, features, names)
        assert str(error.value).startswith(f"Name: {name}, ") and "'a'" in str(error.value)
    for names in (None, [None], ["one", "two"]):
        with pytest.raises(Invalid) as error:
            tf.io.parse_example(b"", features, names)
        assert not str(error.value).startswith("Name")


@pytest.mark.parametrize("little", [True, False])
def test_raw_bytes_may_be_cut_or_filled_up(little):
    given = [b"\1\2\3\4\5", b"\1", b""]
    for data in (given, np.array(given, object)):
        made = tf.io.decode_raw(data, tf.int16, little, fixed_length=4)
        filled = b"".join(one[:4].ljust(4, b"\0") for one in given)
        assert made.tolist() == np.frombuffer(filled, "<i2" if little else ">i2").reshape(3, 2).tolist()
    assert tf.io.decode_raw(b"\1\0\2\0", tf.int16).tolist() == [1, 2]
    assert tf.io.decode_raw(b"\1\0\2\0", tf.int16, fixed_length=2).tolist() == [1]
    assert tf.io.decode_raw(b"\1", tf.uint8, fixed_length=1).tolist() == [1]
