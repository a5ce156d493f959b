"""serialize_tensor, parse_tensor, decode_json_example: TensorFlow's bytes and values."""

import numpy as np
import pytest

pytest.importorskip("google.protobuf")

import tfrecord_fast as tf
from tests.support import live_tensorflow

needs_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

TENSORS = [
    *(np.arange(6).reshape(2, 3).astype(form) for form in "u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8".split()),
    np.array([True, False]),
    np.zeros((2, 0), np.float32),
    np.float32(1.5),
    3,
    2.5,
    "text",
    [b"a", b"\xff\0"],
    np.array([["a"], ["b"]], object),
]
JSON = [
    '{"features": {"feature": {"a": {"int64List": {"value": ["1", 2]}}}}}',
    '{"features": {"feature": {"b": {"bytesList": {"value": ["YQ=="]}}, "c": {"floatList": {"value": [0.5]}}}}}',
    "{}",
]


def theirs(tensors):
    serialized = [tf.io.serialize_tensor(tensor).numpy() for tensor in tensors]
    protos = [tf.make_tensor_proto(tensor).SerializeToString() for tensor in tensors]
    values = [tf.convert_to_tensor(tensor) for tensor in tensors]
    return serialized, protos, [(value.dtype.name, value.numpy()) for value in values]


@needs_tensorflow
def test_tensors_are_serialized_and_parsed_as_by_tensorflow():
    for tensor, serialized, proto, (dtype, value) in zip(TENSORS, *live_tensorflow.call(theirs, TENSORS), strict=True):
        assert tf.io.serialize_tensor(tensor) == serialized
        for source in (serialized, proto):
            parsed = tf.io.parse_tensor(source, dtype)
            np.testing.assert_array_equal(parsed, value)
            assert np.shape(parsed) == np.shape(value)


def test_one_value_fills_a_tensor_however_large():
    from tfrecord_fast.examples.messages.protobuf import message

    proto = message("TensorProto")(dtype=3, int_val=[7])
    proto.tensor_shape.dim.add(size=1 << 40)
    parsed = tf.io.parse_tensor(proto.SerializeToString(), tf.int32)
    assert parsed.shape == (1 << 40,) and parsed[-1] == 7


@pytest.mark.parametrize("serialized", [b"\xff", tf.io.serialize_tensor([1.0]), b""])
def test_what_is_not_such_a_tensor_is_an_error(serialized):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.parse_tensor(serialized, tf.int64)


def test_too_few_bytes_of_content_are_an_error():
    serialized = tf.io.serialize_tensor(np.arange(3)).replace(
        np.arange(3).tobytes(), np.arange(2).tobytes() + b"\0" * 8
    )
    assert tf.io.parse_tensor(serialized, tf.int64).tolist() == [0, 1, 0]
    from tfrecord_fast.examples.messages.protobuf import message

    proto = message("TensorProto")(dtype=9, tensor_content=b"\0" * 7)
    with pytest.raises(tf.errors.InvalidArgumentError, match="7 bytes"):
        tf.io.parse_tensor(proto.SerializeToString(), tf.int64)


def their_examples(texts):
    return [
        tf.train.Example.FromString(s).SerializeToString(deterministic=True)
        for s in tf.io.decode_json_example(texts).numpy()
    ]


@needs_tensorflow
def test_json_examples_decode_as_by_tensorflow():
    assert tf.io.decode_json_example(JSON).tolist() == live_tensorflow.call(their_examples, JSON)


@pytest.mark.parametrize("text", ["", '{"x": 1}', b"\xff"])
def test_what_is_not_json_of_an_example_is_an_error(text):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_json_example(text)
