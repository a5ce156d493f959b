"""Arrow's tensors are written in the order of their axes, or refused; never in the order in which they lie."""

import numpy as np
import pyarrow as pa
import pytest

import tfrecord_fast as tf

VALUES = np.arange(12, dtype=np.int32).reshape(2, 2, 3)


def tensors(shape=(2, 3), **given):
    kind = pa.fixed_shape_tensor(pa.int32(), shape, **given)
    flat = pa.FixedSizeListArray.from_arrays(pa.array(VALUES.ravel()), VALUES[0].size)
    return pa.ExtensionArray.from_storage(kind, flat)


def ways(array):
    yield lambda: tf.encode_examples({"a": array})
    yield lambda: tf.encode_examples({"a": pa.chunked_array([array])})
    yield lambda: tf.encode_examples(pa.table({"a": array}))
    yield lambda: tf.encode_examples(pa.record_batch({"a": array}))
    yield lambda: tf.encode_examples({"a": pa.ListArray.from_arrays(pa.array([0, 1, 2]), array)})
    yield lambda: tf.encode_sequence_examples({"a": array}, {})
    yield lambda: tf.encode_sequence_examples(None, {"a": pa.ListArray.from_arrays(pa.array([0, 1, 2]), array)})


@pytest.mark.parametrize(
    "given",
    [
        {"permutation": [1, 0]},
        {"permutation": [1, 0], "dim_names": ["permutation", "x"]},
        {"shape": (1, 2, 3), "permutation": [0, 2, 1]},
        {"shape": (1,) * 10 + (2, 3), "permutation": [*range(10), 11, 10]},
    ],
    ids=str,
)
def test_a_permuted_tensor_is_refused(given):
    for way in ways(tensors(**given)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"the permutation \[.*to_numpy_ndarray"):
            way()


def test_the_feature_is_named():
    array = tensors(permutation=[1, 0])
    for columns in ({"a": array}, {"a": pa.chunked_array([array])}, pa.table({"a": array})):
        with pytest.raises(tf.errors.InvalidArgumentError, match="'a'"):
            tf.encode_examples(columns)


def test_an_array_that_lies_in_another_order_is_refused():
    array = pa.FixedShapeTensorArray.from_numpy_ndarray(VALUES.transpose(0, 2, 1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="permutation"):
        tf.encode_examples({"a": array})
    expected = tf.encode_examples({"a": VALUES.transpose(0, 2, 1)}).tolist()
    assert tf.encode_examples({"a": array.to_numpy_ndarray()}).tolist() == expected


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"permutation": [0, 1]},
        {"dim_names": ["permutation", "[1,0]"]},
        {"shape": (1,) * 10 + (2, 3), "permutation": [*range(12)]},
    ],
    ids=str,
)
def test_a_tensor_in_the_order_of_its_axes_is_written(given):
    expected = tf.encode_examples({"a": VALUES}).tolist()
    assert [way().tolist() for way in list(ways(tensors(**given)))[:5]] == [expected] * 5


def test_metadata_of_other_kinds_does_not_matter():
    field = pa.field("a", pa.list_(pa.int32(), 6), metadata={"permutation": "[1,0]", "": "x"})
    table = pa.table([tensors().storage], schema=pa.schema([field]))
    assert tf.encode_examples(table).tolist() == tf.encode_examples({"a": VALUES}).tolist()
