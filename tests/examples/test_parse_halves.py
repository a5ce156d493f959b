"""float32 values that become float16 or bfloat16: the nearest one, and of two that are as near, the even one."""

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire


def with_neighbours(bits):
    """These float32 values, given as bits, with what lies half-way to the next ones, and the neighbours of all."""
    bits = np.sort(bits.astype(np.int64))
    halfway = (bits[1:] + bits[:-1]) // 2
    near = np.concatenate([bits, halfway])
    near = np.unique(np.concatenate([near - 1, near, near + 1]))
    magnitudes = near[(near >= 0) & (near <= 0x7F800000)].astype(np.uint32)
    return np.concatenate([magnitudes, magnitudes | np.uint32(1 << 31)]).view(np.float32)


def parsed(values, dtype):
    record = wire.example([(b"a", wire.field(2, wire.field(1, values.tobytes())))])
    return tf.parse_example([record], {"a": tf.FixedLenFeature([len(values)], dtype)})["a"][0]


def test_float16_is_as_numpy_has_it():
    every = np.arange(0x7C01, dtype=np.uint16).view(np.float16).astype(np.float32).view(np.uint32)
    too_large = np.array([65536, 70_000, 131_000, -70_000, 1e30], np.float32)
    values = np.concatenate([with_neighbours(every), too_large])
    with np.errstate(over="ignore"):
        expected = values.astype(np.float16)
    overflows = np.isinf(expected) & np.isfinite(values)
    assert parsed(values[~overflows], tf.float16).tobytes() == expected[~overflows].tobytes()
    for value in values[overflows]:
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="'a': a value beyond 65504 is out of range for float16"
        ):
            parsed(np.float32([0, value]), tf.float16)


def test_bfloat16_is_the_nearest():
    every = np.arange(0x7F81, dtype=np.uint32) << 16
    values = with_neighbours(every)
    bits = values.view(np.uint32)
    low, rest = bits >> 16, bits & 0xFFFF
    expected = (low + ((rest > 0x8000) | ((rest == 0x8000) & (low % 2 == 1)))).astype(np.uint16)
    assert np.array_equal(np.asarray(parsed(values, tf.bfloat16)).view(np.uint16), expected)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_every_kind_of_nan_stays_one(dtype):
    bits = np.array([0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0xFF800001, 0x7F80FFFF, 0x7FBFFFFF], np.uint32)
    found = np.asarray(parsed(bits.view(np.float32), dtype)).view(np.uint16)
    exponent, fraction = (0x7C00, 0x03FF) if dtype == tf.float16 else (0x7F80, 0x007F)
    assert ((found & exponent == exponent) & (found & fraction != 0)).all()
