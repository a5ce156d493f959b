"""Steps of a feature list whose headers claim what the list does not hold: an error, as in the protobuf runtime."""

import pytest
from google.protobuf.message import DecodeError

import tfrecord_fast as tf
from tests.support import wire_writer as wire

KINDS = {"int64": (tf.int64, 3, b"\x01" * 400), "float": (tf.float32, 2, b"\x00\x00\x80\x3f" * 100)}
FEATURES = {
    "VarLen": lambda dtype: tf.VarLenFeature(dtype),
    "Ragged": lambda dtype: tf.RaggedFeature(dtype),
    "Fixed": lambda dtype: tf.FixedLenSequenceFeature([1], dtype),
}


def step(kind, values, claimed):
    """A step whose three lengths agree that it has so many bytes of values, as single bytes, whatever that means."""
    _, field, _ = KINDS[kind]
    return bytes([0x0A, 4 + claimed, field << 3 | 2, 2 + claimed, 0x0A, claimed]) + values


def refused(kind, feature, last):
    """A record whose list ends with these bytes, with another list after it."""
    dtype, _, values = KINDS[kind]
    good = step(kind, values[:4], 4) if feature != "Fixed" or kind == "float" else step(kind, values[:1], 1)
    lists = wire.entry(b"x", good * 3 + last) + wire.entry(b"y", good * 40)
    record = wire.field(2, lists)
    with pytest.raises(DecodeError):
        tf.train.SequenceExample.FromString(record)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.parse_sequence_example([record], None, {"x": FEATURES[feature](dtype)})
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.parse_single_sequence_example(record, None, {"x": FEATURES[feature](dtype)})


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("claimed", [4, 8, 20, 120])
def test_a_step_may_not_run_past_its_list(kind, feature, claimed):
    for held in range(claimed):
        refused(kind, feature, step(kind, KINDS[kind][2][:held], claimed))


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_length_of_more_than_one_byte_is_no_short_one(kind, feature):
    refused(kind, feature, step(kind, KINDS[kind][2][:124], 124))


def test_a_step_holds_whole_floats():
    for feature in FEATURES:
        for size in [1, 2, 3, 5, 6, 7, 9, 18, 119]:
            refused("float", feature, step("float", KINDS["float"][2][:size], size))


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("good", [0, 1, 5])
def test_the_error_says_which_step(feature, good):
    steps = [wire.feature("float", [1.0])] * good + [wire.feature("int64", [1])]
    record = wire.field(2, wire.entry(b"x", b"".join(wire.field(1, step) for step in steps)))
    features = {"x": FEATURES[feature](tf.float32)}
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"step {good}\b"):
        tf.parse_sequence_example([record], None, features)
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"step {good}\b"):
        tf.parse_single_sequence_example(record, None, features)


@pytest.mark.parametrize("where", [1, 2])
@pytest.mark.parametrize("order", ["value first", "key twice", "value twice"])
def test_an_entry_of_a_sequence_example_is_a_key_and_then_a_value(where, order):
    """As in TensorFlow, whose parser of Examples takes any order."""
    value = wire.feature("int64", [1]) if where == 1 else wire.field(1, wire.feature("int64", [1]))
    fields = {"key": wire.field(1, b"x"), "value": wire.field(2, value)}
    names = {"value first": ["value", "key"], "key twice": ["key", "key", "value"]}.get(
        order, ["key", "value", "value"]
    )
    record = wire.field(where, wire.field(1, b"".join(fields[name] for name in names)))
    features = {"x": tf.VarLenFeature(tf.int64)}
    given = (features, None) if where == 1 else (None, features)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.parse_sequence_example([record], *given)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.parse_single_sequence_example(record, *given)
