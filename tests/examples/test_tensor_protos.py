"""TensorProtos that say one thing and hold another; values that stand for those that are missing."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.dtypes import DATA_TYPES
from tfrecord_fast.examples.messages import protobuf
from tfrecord_fast.examples.messages.protobuf import message

pytest.importorskip("google.protobuf")
Invalid = tf.errors.InvalidArgumentError


def proto(dtype, shape, **fields):
    made = message("TensorProto")(dtype=DATA_TYPES.get(dtype, dtype), **fields)
    made.tensor_shape.SetInParent()
    for size in shape:
        made.tensor_shape.dim.add(size=size)
    return made.SerializeToString()


@pytest.mark.parametrize(
    ("made", "dtype", "said"),
    [
        (b"\xff", tf.int32, "Could not parse `serialized` as TensorProto: "),
        (proto("int32", [2, -1]), tf.int32, "a TensorProto with an unknown shape: [2, -1]"),
        (proto("int32", [2]), tf.int64, "Type mismatch between parsed tensor (int32) and dtype (int64)"),
        (proto(99, [2]), tf.int64, "Type mismatch between parsed tensor (number 99) and dtype (int64)"),
        (proto("string", [3], string_val=[b"a"]), tf.string, "a TensorProto of 3 strings has 1"),
        (
            proto("int32", [3], tensor_content=b"12345678"),
            tf.int32,
            "a TensorProto of 3 values of int32 has 8 bytes of content",
        ),
        (proto("complex64", [1], scomplex_val=[1, 2, 3]), tf.complex64, "a TensorProto of complex64 has half a value"),
        (proto("int32", [2], int_val=[1, 2, 3]), tf.int32, "a TensorProto of 2 values of int32 has 3"),
        (
            proto("int32", [1 << 28, 2], int_val=[1, 2]),
            tf.int32,
            f"a TensorProto of {1 << 29} values of int32 has only 2",
        ),
        (
            proto("int32", [(1 << 28) + 1], int_val=[1, 2]),
            tf.int32,
            f"a TensorProto of {(1 << 28) + 1} values of int32 has only 2",
        ),
    ],
)
def test_what_does_not_fit_is_told(made, dtype, said):
    with pytest.raises(Invalid) as error:
        tf.io.parse_tensor(made, dtype)
    assert str(error.value).startswith(said) and (said.endswith(": ") or str(error.value) == said)


@pytest.mark.parametrize(
    ("dtype", "fields", "shape", "expected"),
    [
        ("int32", {"int_val": [1, 2]}, [5], [1, 2, 2, 2, 2]),
        ("int32", {"int_val": [7]}, [2, 2], [[7, 7], [7, 7]]),
        ("int64", {}, [3], [0, 0, 0]),
        ("float32", {"float_val": [0.5, 1.5]}, [2, 2], [[0.5, 1.5], [1.5, 1.5]]),
        ("complex64", {"scomplex_val": [1, 2, 3, 4]}, [3], [1 + 2j, 3 + 4j, 3 + 4j]),
        ("float16", {"half_val": [0x3C00, 0x4000]}, [3], [1.0, 2.0, 2.0]),
        ("bool", {"bool_val": [True, False]}, [3], [True, False, False]),
        ("string", {"string_val": [b"a", b"b"]}, [2, 1], [[b"a"], [b"b"]]),
        ("int32", {"int_val": [4]}, [], 4),
        ("string", {"string_val": [b"a"]}, [], b"a"),
        ("int32", {"int_val": []}, [0], []),
        ("int32", {"tensor_content": b"\1\0\0\0\2\0\0\0"}, [2, 1], [[1], [2]]),
    ],
)
def test_the_last_value_stands_for_those_that_are_missing(dtype, fields, shape, expected):
    made = tf.io.parse_tensor(proto(dtype, shape, **fields), getattr(tf, dtype))
    assert (made.tolist() if isinstance(made, np.ndarray | np.generic) else made) == expected
    if isinstance(made, np.ndarray):
        assert made.shape == tuple(shape) and (made.dtype.name == dtype or dtype == "string")


def test_a_length_that_is_claimed_takes_no_memory():
    made = tf.io.parse_tensor(proto("int64", [1 << 40], int64_val=[3]), tf.int64)
    assert made.shape == (1 << 40,) and made[-1] == 3 and made.base is not None


def test_threads_that_use_messages_first_at_the_same_time_get_the_same_classes(monkeypatch):
    monkeypatch.setattr(protobuf, "_made", {})
    both_make, make = threading.Barrier(2), protobuf._make

    def make_together():
        both_make.wait(10)
        return make()

    monkeypatch.setattr(protobuf, "_make", make_together)
    with ThreadPoolExecutor(2) as pool:
        feature, example = pool.map(protobuf.message, ["Feature", "Example"])
    assert example.DESCRIPTOR.file.pool is feature.DESCRIPTOR.file.pool
