"""`tf.print`, names without effect, states of scans, empty dicts, headers of JPEG files."""

import numpy as np
import pytest

import tfrecord_fast.tensorflow as tf
from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed
from tfrecord_fast.tensorflow import machine
from tfrecord_fast.tensorflow.tensors.wrapping import unwrap, wrap


def test_printing_goes_to_standard_error_unless_told(capsys):
    tf.print("a", 1)
    tf.print("b", output_stream="stdout")
    printed = capsys.readouterr()
    assert (printed.err, printed.out) == ("a 1\n", "b\n")


def test_names_that_do_nothing_give_what_they_are_given():
    def function(x):
        return x

    assert machine.autograph.experimental.do_not_convert(function) is function
    for context in (tf.name_scope("a"), tf.device("/cpu:0"), tf.control_dependencies([]), tf.init_scope()):
        with context:
            assert int(tf.constant(1) + 1) == 2
    with tf.name_scope("scope") as name:
        assert name == "scope"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_uniform_numbers_are_below_their_end(dtype):
    for result in (tf.random.uniform([1000], 2, 3, dtype), tf.random.stateless_uniform([1000], [1, 2], 2, 3, dtype)):
        assert result.dtype == dtype and result.shape == (1000,)
        assert result.numpy().min() >= 2 and result.numpy().max() < 3 and len(np.unique(result.numpy())) > 100


def test_the_state_of_a_scan_keeps_its_dtype():
    start = tf.constant(0, tf.int64)
    bad = tf.data.Dataset.range(3).scan(start, lambda state, x: (tf.cast(state, tf.float32), x))
    with pytest.raises(TypeError, match="state must keep"):
        list(bad)
    good = tf.data.Dataset.range(3).scan(start, lambda state, x: (state + x, state))
    assert [int(x) for x in good] == [0, 0, 1]


def test_an_empty_dict_is_a_structure():
    assert unwrap({}) == {} and wrap({}) == {}


EXPRESSIONS = """
tf.reduce_sum([i, i]); tf.reshape([i[0], i[1]], [2, 1]); tf.strings.length([w[0], w[1]]); tf.shape([i, i])
tf.reduce_max([f[0], 2.0]); tf.cast([i[0], 2], tf.float32); tf.expand_dims([i, i], 0); tf.square([f[0], f[1]])
tf.sparse.reset_shape(q); tf.sparse.reset_shape(tf.sparse.from_dense([[0, 0], [0, 0]]))
tf.sparse.reset_shape(q, [2, 5]); tf.sparse.reset_shape(tf.sparse.from_dense([[0, 7, 0], [0, 0, 0]]))
tf.RaggedTensor.from_tensor([[1, 2], [3, 4]]); tf.RaggedTensor.from_tensor([[[1, 2], [3, 4]]])
tf.RaggedTensor.from_tensor([[1, 0], [3, 4]], padding=0)
tf.RaggedTensor.from_tensor([[1, 2, 3], [3, 4, 5]], lengths=[1, 3]); tf.RaggedTensor.from_tensor([[], []])
tf.RaggedTensor.from_tensor(tf.zeros([2, 3, 0])); tf.RaggedTensor.from_tensor(tf.zeros([2, 0]), lengths=[0, 0])
tf.RaggedTensor.from_tensor(tf.zeros([2, 0]), padding=0.0)
tf.RaggedTensor.from_tensor([[0, 1, 0], [0, 0, 0]], padding=0)
tf.RaggedTensor.from_tensor([[[1, 0], [0, 0]], [[3, 4], [5, 6]]], lengths=[1, 2])
"""
SETUP = """
i = tf.constant([3, -7, 0]); f = tf.constant([1.5, -2.5, 0.25]); w = tf.constant(["ab", "c"])
q = tf.sparse.from_dense([[1, 0], [0, 2]])
"""


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_the_same_as_of_tensorflow():
    assert not differences(listed(EXPRESSIONS), SETUP)
