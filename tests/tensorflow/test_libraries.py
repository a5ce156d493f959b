"""Tensors among other libraries: NumPy, pandas, JAX and PyTorch take them as they take TensorFlow's."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas
import pytest
import torch

import tfrecord_fast.tensorflow as tf

TENSORS = [tf.constant([1.5, 2]), tf.constant([[1, 2]]), tf.constant(3), tf.constant(True), tf.constant([b"a", b"b"])]


@pytest.mark.parametrize("tensor", TENSORS, ids=repr)
def test_an_array_of_a_tensor_is_plain(tensor):
    """Libraries write into copies, and read `dtype` and `shape` of whatever is an ndarray."""
    assert not isinstance(tensor, np.ndarray)
    for convert in (np.asarray, np.asanyarray, np.array, np.copy, np.atleast_1d):
        array = convert(tensor)
        assert type(array) is np.ndarray and type(array.dtype) is not tf.DType
        assert array.dtype == (object if tensor.dtype == tf.string else tensor.dtype.as_numpy_dtype)
    copied = np.array(tensor)
    copied[...] = copied.ravel()[-1]
    copied.shape = (-1,)
    assert repr(tensor) == repr(tf.constant(tensor.numpy()))
    viewed = np.asarray(tensor)
    viewed.shape = (-1,)
    assert tensor.ndim == len(tensor.shape) == np.ndim(tensor.numpy())


def test_arrays_of_another_dtype():
    tensor = tf.constant([1.5, 2])
    assert np.asarray(tensor, np.int64).tolist() == [1, 2]
    assert np.asarray(tensor).base is not None and np.array(tensor).base is None
    with pytest.raises(ValueError, match="copy"):
        np.array(tensor, np.float64, copy=False)


def test_functions_of_numpy_return_arrays_and_operators_tensors():
    tensor = tf.constant([1, 2])
    for result in (np.add(tensor, 1), np.add([1, 2], tensor), np.concatenate([tensor, tensor]), np.unique(tensor)):
        assert type(result) is np.ndarray and result.dtype in (np.int32, np.int64)
    array, number = np.array([1, 2]), np.int64(2)
    for result in (array + tensor, tensor + array, number * tensor, array == tensor, array < tensor, number - tensor):
        assert isinstance(result, tf.Tensor) and result.shape == [2]
    assert (array - tensor).numpy().tolist() == [0, 0] and (number**tensor).numpy().tolist() == [2, 4]
    assert [5, 6, 7][tf.constant(1)] == 6 and np.arange(9)[tensor].tolist() == [1, 2]
    assert np.mean(tensor) == 1.5 and np.argmax(tensor) == 1 and np.size(tensor) == 2 and np.ndim(tensor) == 1


def test_numbers_of_python():
    assert (float(tf.constant(1.5)), int(tf.constant(3)), complex(tf.constant(2.0))) == (1.5, 3, 2)
    assert bool(tf.constant(3)) and not bool(tf.constant([])) and not bool(tf.constant([0]))
    with pytest.raises(TypeError, match="integer"):
        range(tf.constant(1.5))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(tf.constant([1, 2]))


def test_the_methods_of_an_ndarray_are_those_of_numpy():
    for name in ("astype", "ravel", "size", "tolist", "T"):
        assert not hasattr(tf.constant([1]), name)
        with pytest.raises(AttributeError, match=rf"'{name}'; call `.numpy\(\)`"):
            getattr(tf.constant([1]), name)


def test_pandas():
    floats, numbers, texts = tf.constant([1.5, 2]), tf.constant([1, 2]), tf.constant(["a", "b"])
    assert [pandas.Series(tensor).tolist() for tensor in (floats, numbers, texts)] == [[1.5, 2], [1, 2], [b"a", b"b"]]
    assert pandas.get_dummies(numbers).shape == pandas.crosstab(numbers, numbers).shape == (2, 2)
    assert pandas.DataFrame({"a": floats, "b": texts}).shape == (2, 2)


def test_jax():
    tensor = tf.constant([1.5, 2])  # one made before JAX is imported is not known to functions that JAX compiles
    assert jnp.asarray(tensor).tolist() == [1.5, 2] and jnp.sum(tensor) == 3.5
    assert jax.device_put(tensor).tolist() == [1.5, 2] and jax.jit(lambda x: x * 2)(tensor).tolist() == [3, 4]
    assert jax.grad(lambda w, x: (w * x).sum())(1.0, tensor) == 3.5
    assert type(jnp.ones(2) + tensor) is type(jnp.ones(2))


def test_torch():
    tensor = tf.constant([[1.5, 2]])
    for convert in (torch.tensor, torch.as_tensor, torch.from_dlpack):
        assert convert(tensor).tolist() == [[1.5, 2]] and convert(tensor).dtype == torch.float32
    assert torch.as_tensor(tf.constant(3)).item() == 3
