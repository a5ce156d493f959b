"""Values that almost fit: one too many, one too few, one beyond the range."""

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tfrecord_fast import _core


def one(kind, values):
    return [wire.example([(b"a", wire.feature(kind, values))])]


@pytest.mark.parametrize("size", [7, 9, 16])
def test_raw_bytes_have_the_size_of_the_array(size):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"expected 8 bytes, got {size}"):
        tf.parse_example(one("bytes", [bytes(size)]), {"a": tf.RawFeature([4], tf.uint16)})


@pytest.mark.parametrize("count", [0, 2, 3])
def test_raw_bytes_are_one_string(count):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"expected one bytes value.*got {count}"):
        tf.parse_example(one("bytes", [bytes(8)] * count), {"a": tf.RawFeature([4], tf.uint16)})


@pytest.mark.parametrize("byte", [2, 128, 255])
def test_raw_bools_are_0_or_1(byte):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"value {byte} is out of range for bool"):
        tf.parse_example(one("bytes", [bytes([1, 0, byte])]), {"a": tf.RawFeature([3], tf.bool)})


@pytest.mark.parametrize("count", [1, 3, 5, 7])
def test_a_list_holds_whole_elements(count):
    feature = {"a": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)}
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"got {count}\b"):
        tf.parse_example(one("int64", list(range(count))), feature)
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"got {count}\b"):
        tf.parse_example(one("int64", [0, 1, 2, 3]) + one("int64", list(range(count))), feature)


@pytest.mark.parametrize("dtype", [tf.int64, tf.int32, tf.uint8])
@pytest.mark.parametrize("fit", [1, 2, 300])
def test_a_value_cut_short_is_malformed_even_where_there_is_no_room_for_it(fit, dtype):
    cut = b"\x01" * (fit + 3) + b"\x80"
    record = wire.example([(b"a", wire.field(3, wire.field(1, cut)))])
    with pytest.raises(tf.errors.InvalidArgumentError, match="malformed"):
        tf.parse_example([record], {"a": tf.FixedLenFeature([fit], dtype)})


@pytest.mark.parametrize(
    ("kind", "dtype", "value"),
    [
        (3, tf.int64, b"\x08\x01"),
        (3, tf.int32, b"\x08\x01"),
        (2, tf.float32, b"\x0d\0\0\x80\x3f"),
        (2, tf.float64, b"\x0d\0\0\x80\x3f"),
        (1, tf.string, b"\x0a\x01a"),
    ],
)
def test_values_beyond_the_shape_are_written_nowhere(kind, dtype, value):
    """So many, each as a field of its own, that memory would end."""
    record = wire.example([(b"a", wire.field(kind, value * 4_000_000))])
    with pytest.raises(tf.errors.InvalidArgumentError, match="4000000"):
        tf.parse_example([record], {"a": tf.FixedLenFeature([2], dtype)})


@pytest.mark.parametrize("held", [0, 1, 2, 3])
@pytest.mark.parametrize("before", [0, 1, 5])
def test_a_float_cut_short_is_malformed(before, held):
    value = b"\x0d\0\0\x80\x3f"
    record = wire.example(
        [(b"a", wire.field(2, value * before + value[: 1 + held])), (b"b", wire.feature("int64", [1]))]
    )
    for feature in (tf.FixedLenFeature([before + 1], tf.float32), tf.VarLenFeature(tf.float32)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="malformed"):
            tf.parse_example([record], {"a": feature})


@pytest.mark.parametrize(
    ("kind", "dtype", "value"),
    [
        (3, tf.int64, b"\x01"),
        (3, tf.int32, b"\x01"),
        (2, tf.float32, b"\0\0\x80\x3f"),
        (2, tf.float64, b"\0\0\x80\x3f"),
    ],
)
def test_packed_values_beyond_the_shape_are_written_nowhere(kind, dtype, value):
    record = wire.example(
        [(b"a", wire.field(kind, wire.field(1, value * 4_000_000) + wire.field(1, value * 4_000_000)))]
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="8000000"):
        tf.parse_example([record], {"a": tf.FixedLenFeature([2], dtype)})


def spec(key, **more):
    return _core.FeatureSpec(key=key, type="int64", layout="fixed", **more)


@pytest.mark.parametrize("values", [1, 2, 4])
def test_the_core_takes_no_default_of_another_size(values):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"has {values} values, but the shape needs 3"):
        _core.ExamplePlan([spec(b"a", shape=[3], default=bytes(8 * values))])


def test_the_core_takes_a_key_once():
    with pytest.raises(tf.errors.InvalidArgumentError, match="given twice"):
        _core.ExamplePlan([spec(b"a"), spec(b"b"), spec(b"a")])
