"""The dtypes of `stack` and `concat`: those of TensorFlow, where it takes the values."""

import itertools

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import live_tensorflow

NUMBERS = [1, 2.5, 2**40]
ARRAYS = [np.array(3, dtype) for dtype in ("int8", "uint8", "int32", "int64", "float16", "float32", "float64")]
PAIRS = list(itertools.product(NUMBERS + ARRAYS, repeat=2))


def theirs(pairs):
    found = []
    for pair in pairs:
        tensors = [tf.constant(value) if isinstance(value, np.ndarray) else value for value in pair]
        try:
            found.append((tf.stack(tensors).dtype.name, tf.stack(tensors).numpy().tolist()))
        except Exception:
            found.append(None)
    return found


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_what_tensorflow_stacks_has_its_dtype():
    expected = live_tensorflow.call(theirs, PAIRS)
    assert sum(one is not None for one in expected) > 30
    for pair, one in zip(PAIRS, expected, strict=True):
        if one is not None and one[1] == list(map(float, pair)):  # it lets integers overflow
            stacked = tf.stack(pair)
            assert (stacked.dtype.name, stacked.tolist()) == one, pair
            joined = tf.concat([value[None] if isinstance(value, np.ndarray) else [value] for value in pair], 0)
            assert (joined.dtype.name, joined.tolist()) == one, pair


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 2], "int32"),
        ([1, 2**40], "int64"),
        ([1, 2.5], "float32"),
        ([[1], [2.5]], "float32"),
        ([(1,), [2.5]], "float32"),
        ([np.float64(1), 2.5], "float64"),
        ([2.5, np.float16(1)], "float16"),
        ([np.int8(1), 2], "int8"),
        ([np.int8(1), np.int64(2), 2], "int64"),
    ],
    ids=str,
)
def test_pythons_numbers_take_the_dtype_of_the_arrays_among_them(values, dtype):
    assert tf.stack(values).dtype == dtype


@pytest.mark.parametrize("values", [[np.int32(1), 2.5], [np.int8(1), 300]], ids=str)
def test_a_number_that_the_arrays_can_not_hold_is_refused(values):
    with pytest.raises((TypeError, ValueError)):
        tf.stack(values)
