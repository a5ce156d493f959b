"""Zeros at the end of a byte string stay, whatever it passes through: NumPy's own strings would drop them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast as tf

RAW = b"ab\0\0"


def value(x):
    return x.tolist() if hasattr(x, "tolist") else x


def batch_of(dataset):
    return [value(element) for element in dataset]


# Each gives what it makes of one string.
SCALARS = {
    "constant": tf.constant,
    "constant of dtype": lambda x: tf.constant(x, tf.string),
    "convert_to_tensor": tf.convert_to_tensor,
    "convert_to_tensor of dtype": lambda x: tf.convert_to_tensor(x, tf.string),
    "cast": lambda x: tf.cast(x, tf.string),
    "reshape": lambda x: tf.reshape(x, []),
    "squeeze": lambda x: tf.squeeze([[x]]),
    "expand_dims": lambda x: tf.expand_dims(x, 0)[0],
    "stack": lambda x: tf.stack([x, x])[1],
    "concat": lambda x: tf.concat([[x], [b""]], 0)[0],
    "transpose": lambda x: tf.transpose([[x]])[0][0],
    "filled": lambda x: tf.constant(x, shape=[2, 1])[1][0],
    "numpy_function": lambda x: tf.numpy_function(lambda y: y, [x]),
    "from_tensors": lambda x: next(iter(tf.data.Dataset.from_tensors(x))),
    "from_tensor_slices": lambda x: next(iter(tf.data.Dataset.from_tensor_slices([x]))),
    "batch": lambda x: next(iter(tf.data.Dataset.from_tensors(x).repeat(2).batch(2)))[1],
    "padded_batch": lambda x: next(iter(tf.data.Dataset.from_tensors([x]).padded_batch(1)))[0][0],
    "map": lambda x: next(iter(tf.data.Dataset.range(1).map(lambda _: x))),
    "from_generator": lambda x: next(iter(tf.data.Dataset.from_generator(lambda: iter([x]), tf.string))),
    "zip": lambda x: next(iter(tf.data.Dataset.zip((tf.data.Dataset.from_tensors(x),))))[0],
    "BytesArray": lambda x: tf.BytesArray([x])[0],
    "RaggedTensor": lambda x: tf.RaggedTensor.from_row_splits([x], [0, 1]).to_tensor()[0][0],
    "SparseTensor": lambda x: tf.sparse.to_dense(tf.sparse.SparseTensor([[0]], [x], [1]))[0],
    "default of to_dense": lambda x: tf.sparse.to_dense(tf.sparse.SparseTensor([[0]], [b""], [2]), x)[1],
    "default_value": lambda x: tf.parse_single_example(b"", {"a": tf.FixedLenFeature([], tf.string, x)})["a"],
    "record": lambda x: tf.parse_example(tf.encode_examples({"a": [x]}), {"a": tf.FixedLenFeature([], tf.string)})["a"][
        0
    ],
}
FORMS = {
    "bytes": lambda x: x,
    "bytearray": bytearray,
    "np.bytes_": np.bytes_,
    "str": bytes.decode,
    "object array": lambda x: np.array(x, object),
}


def test_zeros_at_the_end_of_a_string_stay():
    for use in SCALARS:
        for form in FORMS:
            assert value(SCALARS[use](FORMS[form](RAW))) == RAW


@pytest.mark.parametrize("shape", [(), (2,), (1, 2)])
def test_tensors_keep_their_zeros(shape):
    pytest.importorskip("google.protobuf")
    given_ = np.full(shape, RAW, object) if shape else RAW
    again = tf.io.parse_tensor(tf.io.serialize_tensor(given_), tf.string)
    assert value(again) == value(given_)
    assert tf.io.serialize_tensor(value(given_)) == tf.io.serialize_tensor(given_)


@given(st.recursive(st.binary(max_size=3), lambda items: st.lists(items, min_size=1, max_size=3)))
def test_nested_lists_of_bytes_come_back(nested):
    try:
        made = tf.constant(nested)
    except ValueError as error:
        assert "unequal lengths" in str(error)
        return
    assert value(made) == nested
    assert value(tf.reshape(made, np.shape(made))) == nested


@pytest.mark.parametrize("mixed", [[b"a", 1], [1, "a"], [1.5, b"a"], [[1], ["a"]], [np.array([1]), np.array(["a"])]])
def test_numbers_do_not_become_strings(mixed):
    with pytest.raises(TypeError):
        tf.constant(mixed)
    with pytest.raises(TypeError):
        tf.stack(mixed)


@pytest.mark.parametrize("numbers", [[1, None], [2**70], [[1], [2**64]], [-1, 2**63], [[1], [2**63]], [1.5, object()]])
def test_objects_among_numbers_are_no_array(numbers):
    with pytest.raises(TypeError, match="must have numbers that fit int64"):
        tf.constant(numbers)


@pytest.mark.parametrize(("x", "dtype"), [("12", tf.int64), (b"1", tf.float32), (3, tf.string), ([1.5], tf.string)])
def test_strings_are_not_cast_to_numbers_or_back(x, dtype):
    with pytest.raises(TypeError):
        tf.cast(x, dtype)
    with pytest.raises(TypeError):
        tf.constant(x, dtype)


@pytest.mark.parametrize(
    "x", [np.ma.masked, np.ma.array([1, 2], mask=[0, 1]), [1.0, np.ma.masked], [[1, np.ma.masked]]]
)
@pytest.mark.parametrize(
    "use",
    [
        tf.constant,
        tf.data.Dataset.from_tensors,
        lambda x: tf.constant(x, tf.float32),
        lambda x: tf.reshape(x, [-1]),
        tf.io.serialize_tensor,
        lambda x: tf.RaggedTensor.from_row_splits(x, [0, len(x)]),
    ],
)
def test_what_a_mask_hides_is_not_a_value(x, use):
    with pytest.raises((ValueError, TypeError)):
        use(x)


def test_an_array_without_masked_values_is_one():
    assert tf.constant(np.ma.array([1, 2], mask=[0, 0])).tolist() == [1, 2]


def test_a_bfloat16_default_is_a_float():
    ml_dtypes = pytest.importorskip("ml_dtypes")

    def parsed(default, dtype):
        return tf.parse_single_example(b"", {"a": tf.FixedLenFeature([], dtype, default)})["a"]

    assert parsed(np.array(1.5, ml_dtypes.bfloat16), tf.float32) == 1.5
    assert parsed(np.array(3, ml_dtypes.bfloat16), tf.int64) == 3
    with pytest.raises(TypeError, match="cannot be converted"):
        parsed(np.array(1.5, ml_dtypes.bfloat16), tf.int64)
