"""Rows that look much like good ones, after many good ones, and are refused on every varint backend."""

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire

KEYS = ["before", "a", "after"]


@pytest.fixture(autouse=True)
def every_backend(backend):
    pass


def row(feature):
    """An Example whose feature "a" is between two others."""
    other = wire.feature("int64", [300])
    return wire.example([(key.encode(), feature if key == "a" else other) for key in KEYS])


def parse_after_good_rows(dtype, good, bad):
    plan = {key: tf.FixedLenFeature([], dtype if key == "a" else tf.int64) for key in KEYS}
    return tf.parse_example([row(good)] * 200 + [row(bad)], plan)


def test_several_integers_are_no_scalar():
    for values in [[7] * n for n in (0, 2, 3, 4, 7, 8, 9, 10, 16, 17)]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"expected 1 value .*got {len(values)};.*d 200"):
            parse_after_good_rows(tf.int64, wire.feature("int64", [7]), wire.feature("int64", values))


@pytest.mark.parametrize("values", [[0.5] * n for n in (0, 2, 3)])
def test_several_floats_are_no_scalar(values):
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"expected 1 value .*got {len(values)};.*d 200"):
        parse_after_good_rows(tf.float32, wire.feature("float", [7.0]), wire.feature("float", values))


@pytest.mark.parametrize("value", [1, 2**21, 2**28 - 1])
def test_an_integer_is_no_float_whatever_its_size(value):
    assert 1 <= len(wire.varint(value)) <= 4
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"float values, got int64 values;.*record 200"):
        parse_after_good_rows(tf.float32, wire.feature("float", [7.0]), wire.feature("int64", [value]))


def test_a_float_is_no_integer_even_if_its_bytes_are_one_varint():
    varint = wire.varint(2**28 - 1)
    bad = wire.field(2, wire.field(1, varint))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"int64 values, got float values;.*record 200"):
        parse_after_good_rows(tf.int64, wire.feature("int64", [2**28 - 1]), bad)


def test_a_row_of_the_right_kind_after_as_many_is_taken():
    parsed = parse_after_good_rows(tf.float32, wire.feature("float", [7.0]), wire.feature("float", [8.0]))
    assert parsed["a"][-2:].tolist() == [7.0, 8.0]


@pytest.mark.parametrize("packed", [b"\x05\x80", b"\x80", b"\x05" * 20 + b"\xff"])
def test_infer_features_refuses_a_run_that_ends_inside_a_varint(packed):
    record = wire.example([(b"a", wire.field(3, wire.field(1, packed)))])
    with pytest.raises(tf.errors.InvalidArgumentError, match="malformed"):
        tf.infer_features([record])


def test_raw_bytes_other_than_0_and_1_are_no_bools():
    for byte in [2, 3, 0x80, 0xFF]:
        for place in [0, 1, 2]:
            raw = bytearray([0, 1, 1])
            raw[place] = byte
            features = {"a": tf.RawFeature([3], tf.bool)}
            record = wire.example([(b"a", wire.feature("bytes", [bytes(raw)]))])
            with pytest.raises(tf.errors.InvalidArgumentError, match=rf"value {byte} is out of range for bool"):
                tf.parse_example([record], features)


# ---- Steps of feature lists ----


def a_step(kind, claimed, values):
    """A step whose lengths all claim so many bytes of values."""
    number = 3 if kind == "int64" else 2
    head = wire.varint(1 << 3 | 2) + wire.varint(claimed + 4)
    return head + wire.varint(number << 3 | 2) + wire.varint(claimed + 2) + b"\x0a" + wire.varint(claimed) + values


def test_a_step_that_claims_more_than_its_list_has_is_malformed():
    for feature in ["VarLen", "scalars", "pairs"]:
        for kind in ["int64", "float"]:
            for claimed in [8, 12, 16, 24, 40, 64, 120]:
                dtype = tf.int64 if kind == "int64" else tf.float32
                wanted = {
                    "VarLen": tf.VarLenFeature(dtype),
                    "scalars": tf.FixedLenSequenceFeature([], dtype, allow_missing=True),
                    "pairs": tf.FixedLenSequenceFeature([2], dtype, allow_missing=True),
                }[feature]
                count = 1 if feature == "scalars" else 2
                good = wire.field(1, wire.feature(kind, [3] * count))
                steps = good * 3 + a_step(kind, claimed, b"\x03" * 4)
                after = wire.entry(
                    b"z", wire.field(1, wire.feature("int64", [3] * 200))
                )  # so that there is something to read
                record = wire.field(2, wire.entry(b"a", steps) + after)
                with pytest.raises(tf.errors.InvalidArgumentError, match=r"'a'.*malformed"):
                    tf.parse_sequence_example([record], {}, {"a": wanted})
