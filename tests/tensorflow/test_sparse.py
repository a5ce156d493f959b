"""Functions of SparseTensors, and SparseTensors as strings: as TensorFlow has them."""

import pytest

from tests.support import live_tensorflow
from tests.tensorflow.shared_values import CALLED, VALUES
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

FEW = """
big = tf.SparseTensor([[0, 0], [1, 1]], ["a" * 300, ""], [2, 2]); gap = tf.SparseTensor([[0, 1]], [1], [4, 4])
"""
AS_STRINGS = """

"""
SPARSE = """
S.reorder(un); S.reset_shape(un, [2, 3]); S.reset_shape(q3, [1, 3]); S.reset_shape(q3, [2, 3, 1])
S.reset_shape(q3, [2, 2]); S.reset_shape(q3, [3, 3]); S.reset_shape(E); S.reset_shape(E, [1, 1])
S.reset_shape(q3, tf.constant([2, 4])); S.reset_shape(tf.sparse.from_dense([[0, 1, 0]])); S.reshape(q3, [3, 2])
S.reshape(q3, [-1]); S.reshape(q3, [2, -1, 1]); S.reshape(q3, [4]); S.reshape(q3, [5, -1]); S.reshape(E, [3, 2])
S.reshape(E, [-1, 2]); S.reshape(q3, [-1, -1]); S.reshape(q3, tf.constant([6])); S.reshape(q3, [3, -1])
S.reshape(un, [4]); S.reshape(E, [0, -1]); S.reshape(q3, [1, 6]); S.slice(q3, [0, 1], [2, 2])
S.slice(q3, [1, 0], [1, 2]); S.slice(q3, [0, 0], [5, 5]); S.slice(q3, [1, 1], [5, 5]); S.slice(q3, [0, 0], [0, 0])
S.slice(q3, [0, 0], [1, 1]); S.slice(q3, [2, 0], [1, 1]); S.slice(E, [0, 1], [1, 1])
S.slice(q3, tf.constant([1, 1], tf.int64), tf.constant([1, 1], tf.int64)); S.slice(q3, start=[1, 2], size=[1, 1])
S.slice(un, [0, 0], [2, 2]); S.slice(q3, [5, 0], [1, 1]); S.from_dense(qs.values); S.from_dense([0.0, 1.5])
S.from_dense([True, False]); S.from_dense(tf.zeros([2, 0])); S.from_dense([[0, 0]]); S.from_dense(5)
S.from_dense(tf.constant([0, 3], tf.int64)); S.to_dense(q3); S.to_dense(un); S.to_dense(q3, 7); S.to_dense(qs)
S.to_dense(qs, 'z'); S.to_dense(qs, default_value=b'-')
"""
RARE = """
tf.io.parse_tensor(b'\\x08\\x07\\x12\\x04\\x12\\x02\\x08\\x02"\\x04\\x01\\x01ab', tf.string)
tf.io.parse_tensor(b'\\x08\\x07\\x12\\x04\\x12\\x02\\x08\\x02"\\x03\\x01\\x01a', tf.string)
tf.io.parse_tensor(b'\\x08\\x07\\x12\\x04\\x12\\x02\\x08\\x02"\\x05\\x01\\x01abc', tf.string)
tf.io.parse_tensor(b'\\x08\\x07\\x12\\x04\\x12\\x02\\x08\\x02"\\x01\\x00', tf.string)
tf.io.parse_tensor(b'\\x08\\x07\\x12\\x04\\x12\\x02\\x08\\x02"\\x02\\x00\\x00', tf.string)
tf.io.parse_tensor(b'\\x08\\x07\\x12\\x00"\\x03\\x02ab', tf.string)
tf.io.parse_tensor(b'\\x08\\x07\\x12\\x00"\\x04\\x82\\x00ab', tf.string); tf.sparse.reset_shape(gap)
tf.sparse.reset_shape(gap, [4, 4]); tf.sparse.reset_shape(gap, [2, 2]); tf.sparse.reset_shape(gap, [4, 3])
tf.sparse.reset_shape(gap, [5, 4]); tf.searchsorted(tf.zeros([0]), [1.0])
tf.searchsorted([1, 3], tf.zeros([0], tf.int32)); tf.searchsorted(tf.zeros([0, 3]), tf.zeros([0, 2]))
tf.searchsorted(tf.zeros([2, 0]), tf.zeros([2, 2]))
"""


def test_sparse_tensors_as_strings():
    assert not differences(listed(AS_STRINGS), VALUES)


def test_sparse_functions():
    assert not differences(listed(SPARSE), CALLED)


def test_strings_in_one_piece_and_larger_shapes():
    assert not differences(listed(RARE), FEW)
