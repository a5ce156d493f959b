"""The whole texts of parse errors: our words alone; in scripts for TensorFlow, its words first.

tests/tensorflow/test_error_words.py compares the latter with TensorFlow.
"""

import re

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tfrecord_fast import _core


def example(kind, *values):
    return wire.example([(b"a", wire.feature(kind, list(values)))])


def context(kind, *values):
    return wire.sequence_example([(b"a", wire.feature(kind, list(values)))], [])


def steps(*features):
    return wire.sequence_example([], [(b"a", [wire.feature(*feature) for feature in features])])


def message(parse, *arguments):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        parse(*arguments)
    return str(caught.value)


def said(parse, *arguments):
    """The message for scripts of TensorFlow. Without TensorFlow's words it is the package's own."""
    own = message(parse, *arguments)
    _core.set_tensorflow_words(True)
    whole = message(parse, *arguments)
    _core.set_tensorflow_words(False)
    assert own == re.sub(r"^.*? \((feature '\w+': .*?)\)((?: \((?:step|record) \d+\))*)$", r"\1\2", whole)
    return whole


# What the second of two records holds, how it is parsed, and what is said after "Key: a, Index: 1.  ".
COUNTS = [
    (
        ("float", 1.0, 2.0, 3.0),
        tf.FixedLenFeature([2, 1], tf.float32, [[0.0], [0.0]]),
        "Number of float values != expected.  Values size: 3 but output shape: [2,1] "
        "(feature 'a': expected 2 values for shape [2,1], got 3; "
        "if lengths differ, use RaggedFeature or VarLenFeature)",
    ),
    (
        ("bytes", b"x", b"y"),
        tf.FixedLenFeature([], tf.string, b""),
        "Number of bytes values != expected.  Values size: 2 but output shape: [] "
        "(feature 'a': expected 1 value for shape [], got 2; if lengths differ, use RaggedFeature or VarLenFeature)",
    ),
    (
        ("int64", 1, 2, 3),
        tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
        "Number of int64 values is not a multiple of stride length. Saw 3 values but output shape is: [?,2] "
        "(feature 'a': expected a multiple of 2 values for steps of shape [2], got 3)",
    ),
    (
        ("float", 1.0),
        tf.FixedLenSequenceFeature([2, 3], tf.float32, allow_missing=True),
        "Number of float values is not a multiple of stride length. Saw 1 values but output shape is: [?,2,3] "
        "(feature 'a': expected a multiple of 6 values for steps of shape [2,3], got 1)",
    ),
    (
        ("int64", 1),
        tf.FixedLenFeature([], tf.float32, 0.0),
        "Data types don't match. Data type: int64 but expected type: float "
        "(feature 'a': expected float values, got int64 values; use tf.int64)",
    ),
    (
        ("bytes", b"x"),
        tf.FixedLenSequenceFeature([], tf.int32, allow_missing=True),
        "Data types don't match. Data type: string but expected type: int64 "
        "(feature 'a': expected int64 values, got bytes values; use tf.string)",
    ),
    (
        ("int64", 1),
        tf.FixedLenSequenceFeature([], tf.string, allow_missing=True),
        "Data types don't match. Data type: int64 but expected type: string "
        "(feature 'a': expected bytes values, got int64 values; use tf.int64)",
    ),
    (
        ("float", 1.0),
        tf.VarLenFeature(tf.string),
        "Data types don't match. Expected type: string, Actual type: float "
        "(feature 'a': expected bytes values, got float values; use tf.float32)",
    ),
    (
        ("bytes", b""),
        tf.RaggedFeature(tf.float32),
        "Data types don't match. Expected type: float, Actual type: string "
        "(feature 'a': expected float values, got bytes values; use tf.string)",
    ),
]


@pytest.mark.parametrize(("values", "feature", "words"), COUNTS)
def test_an_error_in_a_batch_says_key_and_row(values, feature, words):
    records = [b"", example(*values)]
    assert said(tf.parse_example, records, {"a": feature}) == f"Key: a, Index: 1.  {words} (record 1)"


@pytest.mark.parametrize(("values", "feature", "words"), COUNTS)
def test_an_error_in_a_lone_example_says_the_key_and_that_counts_are_about_parsing(values, feature, words):
    start = "Can't parse serialized Example: " if words.startswith("Number") else ""
    assert said(tf.parse_single_example, example(*values), {"a": feature}) == f"Key: a.  {start}{words}"


@pytest.mark.parametrize(
    ("dtype", "shape", "words"),
    [
        (tf.float32, [2, 3], "(data type: float) is required but could not be found. (feature"),
        (tf.int64, [1], "(data type: int64) is required but could not be found. (feature"),
        (tf.string, [], "(data type: string) is required but could not be found. (feature"),
    ],
)
def test_a_missing_feature_is_said_with_its_type_and_shape(dtype, shape, words):
    text = said(tf.parse_example, [b""], {"a": tf.FixedLenFeature(shape, dtype)})
    assert text == f"Feature: a {words} 'a': not in the record; with a default_value, records may lack it) (record 0)"


def test_a_value_out_of_range_is_said_with_its_type():
    record = example("int64", 1 << 40)
    text = "feature 'a': value 1099511627776 is out of range for int32"
    assert said(tf.parse_example, [record], {"a": tf.VarLenFeature(tf.int32)}) == f"{text} (record 0)"
    steps_of = [b"", steps(("int64", [1]), ("int64", [1 << 40]))]
    found = said(tf.parse_sequence_example, steps_of, {}, {"a": tf.VarLenFeature(tf.int32)})
    assert found == f"{text} (step 1) (record 1)"


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        (b" ~\x7f\x1f", r"' ~\x7f\x1f' (4 bytes)"),
        (b"\x0a\xff\x80", r"'\x0a\xff\x80' (3 bytes)"),
        (b"g" * 32, f"'{'g' * 32}' (32 bytes)"),
        (b"g" * 33, f"'{'g' * 32}'... (33 bytes)"),
    ],
)
def test_a_record_that_is_no_message_is_shown_by_its_first_bytes(record, shown):
    wanted = {"a": tf.VarLenFeature(tf.int64)}
    assert said(tf.parse_example, [record], wanted) == (
        f"Could not parse example input, value: {shown}: malformed protobuf (record 0)"
    )
    assert said(tf.parse_sequence_example, [record], wanted) == (
        "Invalid protocol message input: could not parse the record as a SequenceExample, "
        f"{shown}: malformed protobuf (record 0)"
    )


MALFORMED = "Can't parse serialized Example. (feature 'a': can't parse its value: malformed protobuf)"


def test_a_feature_that_is_no_message_is_said_with_its_place():
    wanted, broken = {"a": tf.VarLenFeature(tf.int64)}, b"\x1a\x05"
    record = wire.example([(b"a", broken)])
    assert said(tf.parse_example, [b"", record], wanted) == f"Key: a, Index: 1.  {MALFORMED} (record 1)"
    assert said(tf.parse_single_example, record, wanted) == f"Key: a.  {MALFORMED}"
    assert said(tf.parse_sequence_example, [record], wanted) == f"Context feature: a.  {MALFORMED} (record 0)"
    lists = wire.sequence_example([], [(b"a", [b"", broken])])
    text = said(tf.parse_sequence_example, [lists], {}, {"a": tf.VarLenFeature(tf.int64)})
    assert text == f"Key: a, Index: 1.  {MALFORMED} (step 1) (record 0)"


TYPES = (
    "Data types don't match. Expected type: float, Actual type: string "
    "(feature 'a': expected float values, got bytes values; use tf.string)"
)
SIZES = (
    "Number of values != expected.  values size: 3 but output shape: [] "
    "(feature 'a': expected 1 value for shape [], got 3; if lengths differ, use RaggedFeature or VarLenFeature)"
)


@pytest.mark.parametrize("feature", [tf.RaggedFeature(tf.float32), tf.VarLenFeature(tf.float32)])
def test_a_context_of_another_type_is_said_as_that(feature):
    text = said(tf.parse_sequence_example, [context("bytes", b"x")], {"a": feature})
    assert text == f"Context feature: a.  {TYPES} (record 0)"


def test_a_context_of_another_size_is_said_as_that():
    wanted = {"a": tf.FixedLenFeature([], tf.float32)}
    text = said(tf.parse_sequence_example, [context("float", 1.0, 2.0, 3.0)], wanted)
    assert text == f"Context feature: a.  {SIZES} (record 0)"


@pytest.mark.parametrize("feature", [tf.FixedLenSequenceFeature([], tf.float32), tf.VarLenFeature(tf.float32)])
def test_a_step_of_another_type_is_said_with_its_number(feature):
    record = steps(("float", [1.0]), ("float", [2.0]), ("bytes", [b"x"]))
    text = said(tf.parse_sequence_example, [record], {}, {"a": feature})
    assert text == f"Feature list: a, Index: 2.  {TYPES} (step 2) (record 0)"


def test_a_step_of_another_size_is_said_with_its_number():
    record = steps(("float", [1.0]), ("float", [1.0] * 3))
    text = said(tf.parse_sequence_example, [record], {}, {"a": tf.FixedLenSequenceFeature([], tf.float32)})
    assert text == f"Key: a, Index: 1.  {SIZES} (step 1) (record 0)"


def test_a_missing_list_is_said_with_what_allows_it():
    assert said(tf.parse_sequence_example, [b""], {}, {"a": tf.FixedLenSequenceFeature([], tf.float32)}) == (
        "Feature list 'a' is required but could not be found.  Did you mean allow_missing=True? "
        "(feature 'a': the record lacks this feature list; allow_missing=True reads it as empty) (record 0)"
    )


def test_a_key_that_looks_like_our_own_words_is_said_as_it_is():
    key = "b (feature 'a': "
    record = wire.sequence_example([(key.encode(), wire.feature("int64", [1]))], [])
    _core.set_tensorflow_words(True)
    text = message(tf.parse_sequence_example, [record], {key: tf.FixedLenFeature([], tf.float32)})
    words = "Data types don't match. Expected type: float, Actual type: int64"
    ours = f"(feature '{key}': expected float values, got int64 values; use tf.int64)"
    assert text == f"Context feature: {key}.  {words} {ours} (record 0)"


@pytest.mark.parametrize(
    "keys, named",
    [
        (["landcover"], ", which has 'landcover', did you mean 'landcover'?; with a"),
        (["a", "b", "LandcoverX", "d", "e"], ", which has 'LandcoverX', "),
        (["x" * 100, "landCover", "b", "c"], "'landCover', 'c', 'b' and 1 more keys"),
        ([], "not in the record; with a"),
    ],
)
def test_a_missing_key_names_the_keys_most_like_it(keys, named):
    example = tf.train.example({key: 1 for key in keys}).SerializeToString()
    for parse in (lambda: tf.parse_single_example(example, FEATURES), lambda: tf.parse_example([example], FEATURES)):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            parse()
        assert named in str(caught.value)


FEATURES = {"Landcover": tf.FixedLenFeature([], tf.int64)}


@pytest.mark.parametrize("features", [["id"], {"id": tf.int64}, {"id": "int"}, {"id": np.int64}, lambda record: record])
def test_features_that_are_none_say_what_to_write(features):
    for use in (
        lambda: tf.parse_single_example(b"", features),
        lambda: tf.parse_example([b""], features),
        lambda: tf.ShardReader("no file", features),
    ):
        with pytest.raises((TypeError, ValueError), match=r"FixedLenFeature\(\[\], tf.int64\)"):
            use()
