"""Functions of SparseTensors, and SparseTensors as strings: as TensorFlow has them."""

import pytest

from tests.faces.made_values import CALLED, VALUES
from tests.faces.side_by_side import differences
from tests.faces.test_face_ops import listed
from tests.support import live_tensorflow

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

FEW = """
big = tf.SparseTensor([[0, 0], [1, 1]], ["a" * 300, ""], [2, 2]); gap = tf.SparseTensor([[0, 1]], [1], [4, 4])
"""
AS_STRINGS = """
tf.io.serialize_sparse(q); tf.io.serialize_sparse(q3, tf.string); tf.io.deserialize_many_sparse(two, tf.int32)
tf.io.deserialize_many_sparse(two, tf.int32, 2); tf.io.deserialize_many_sparse(two, tf.int64)
tf.io.deserialize_many_sparse(tf.io.serialize_sparse(qs)[None], tf.string)
tf.io.deserialize_many_sparse(tf.stack([tf.io.serialize_sparse(q3), tf.io.serialize_sparse(q)]), tf.int32)
tf.io.serialize_sparse(i); tf.io.deserialize_many_sparse([['a', 'b', 'c']], tf.int32); tf.io.serialize_many_sparse(q)
tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(q3), tf.int32)
tf.io.deserialize_many_sparse(two, tf.int32, rank=2); tf.io.deserialize_many_sparse(two, tf.int32, rank=3)
"""
SPARSE = """
tf.io.deserialize_many_sparse(tf.stack([tf.io.serialize_sparse(qs)]), tf.string); S.concat(0, [q, q3])
S.concat(1, [q, q3]); S.concat(0, [q, q]); S.concat(-1, [q, q]); S.concat(-2, [q, q3])
S.concat(0, [q, q3], expand_nonconcat_dims=True); S.concat(1, [q, q3], True); S.concat(0, [q]); S.concat(1, [un, q])
S.concat(0, [q, qs]); S.concat(2, [q, q]); S.concat(0, [E, E]); S.concat(axis=0, sp_inputs=[q3, E]); S.reorder(un)
S.reset_shape(un, [2, 3]); S.reset_shape(q3, [1, 3]); S.reset_shape(q3, [2, 3, 1]); S.reset_shape(q3, [2, 2])
S.reset_shape(q3, [3, 3]); S.reset_shape(E); S.reset_shape(E, [1, 1]); S.reset_shape(q3, tf.constant([2, 4]))
S.reset_shape(tf.sparse.from_dense([[0, 1, 0]])); S.reshape(q3, [3, 2]); S.reshape(q3, [-1]); S.reshape(q3, [2, -1, 1])
S.reshape(q3, [4]); S.reshape(q3, [5, -1]); S.reshape(E, [3, 2]); S.reshape(E, [-1, 2]); S.reshape(q3, [-1, -1])
S.reshape(q3, tf.constant([6])); S.reshape(q3, [3, -1]); S.reshape(un, [4]); S.reshape(E, [0, -1])
S.reshape(q3, [1, 6]); S.expand_dims(q3); S.expand_dims(q3, 0); S.expand_dims(q3, 1); S.expand_dims(q3, 2)
S.expand_dims(q3, -1); S.expand_dims(q3, -3); S.expand_dims(q3, 3); S.expand_dims(q3, -4); S.expand_dims(E, 0)
S.expand_dims(q3, axis=-2); S.expand_dims(q3, tf.constant(1)); S.slice(q3, [0, 1], [2, 2]); S.slice(q3, [1, 0], [1, 2])
S.slice(q3, [0, 0], [5, 5]); S.slice(q3, [1, 1], [5, 5]); S.slice(q3, [0, 0], [0, 0]); S.slice(q3, [0, 0], [1, 1])
S.slice(q3, [2, 0], [1, 1]); S.slice(E, [0, 1], [1, 1])
S.slice(q3, tf.constant([1, 1], tf.int64), tf.constant([1, 1], tf.int64)); S.slice(q3, start=[1, 2], size=[1, 1])
S.slice(un, [0, 0], [2, 2]); S.slice(q3, [5, 0], [1, 1]); S.to_indicator(q3, 4); S.to_indicator(q3, 5)
S.to_indicator(q3, 3); S.to_indicator(E, 2); S.to_indicator(S.from_dense([[[1, 2]], [[3, 0]]]), 4)
S.to_indicator(q3, vocab_size=10); S.to_indicator(S.from_dense([1, 2]), 3); S.to_indicator(S.from_dense([[1.5]]), 3)
S.to_indicator(q3, 2); S.to_indicator(S.from_dense([[-1]]), 2); S.from_dense(qs.values); S.from_dense([0.0, 1.5])
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
tf.io.parse_tensor(b'\\x08\\x07\\x12\\x00"\\x04\\x82\\x00ab', tf.string)
tf.io.deserialize_many_sparse(tf.stack([tf.io.serialize_sparse(big)]), tf.string); tf.sparse.reset_shape(gap)
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
