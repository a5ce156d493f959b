"""Tensors made of others, of numbers and of shapes: the arguments that are seldom given, as TensorFlow takes them."""

import pytest

from tests.support import live_tensorflow
from tests.tensorflow.shared_values import VALUES
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

MADE = """
tf.constant([2**63, 7], tf.uint64); tf.constant([7, 2**64 - 1], tf.uint64); tf.constant([[2**63, 1]], 'uint64')
tf.constant([2**63, 1.5], tf.uint64); tf.constant([0, 2**63], tf.uint64); tf.constant([1.0, 2.0], tf.uint64)
tf.convert_to_tensor([1, 2], dtype_hint=tf.float32); tf.convert_to_tensor([1.5, 2], dtype_hint=tf.int32)
tf.convert_to_tensor([1], tf.int64, tf.float32); tf.convert_to_tensor(1, dtype_hint='float64')
tf.convert_to_tensor(['a'], dtype_hint=tf.float32); tf.convert_to_tensor(i, dtype_hint=tf.float32)
tf.convert_to_tensor(i, 'int32'); tf.constant([np.int64(1), 2], tf.int32); tf.constant([np.float32(1.5)], tf.float64)
tf.constant([np.float64(1)], tf.int64); tf.cast(c, tf.float32); tf.cast(c, tf.int32); tf.cast(c, tf.complex128)
tf.cast(i, tf.complex64); tf.cast(tf.ragged.constant([[[[1], [2, 3]]], []]), tf.float32); tf.cast(q, tf.float32)
tf.cast(q, 'string'); tf.shape(q); tf.shape(q, tf.int64); tf.shape(q, tf.int32); tf.shape(tf.zeros([2, 0]), 'int64')
tf.concat([q, q], 0); tf.concat([], 0); tf.stack([]); tf.concat([[1, 2], [3]], 0); tf.concat([1, 2], 0)
tf.concat(i, 0); tf.concat([e], 0); tf.stack(e); tf.stack(i); tf.stack(np.zeros([0, 2]))
tf.pad(i, [[1, 1]], constant_values=tf.constant(7)); tf.pad(f, [[1, 1]], constant_values=tf.constant(7))
tf.pad(f, [[1, 1]], constant_values=tf.constant(7.5)); tf.pad(s, [[1, 0]], constant_values='z')
tf.pad(s, [[1, 0]], constant_values=tf.constant('z')); tf.pad(i, [[1, 1]], constant_values=1.5)
tf.pad(i, [[1, 0]], constant_values=np.int32(4)); tf.pad(s, [[1, 1]])
tf.pad(i, [[1, 1]], constant_values=tf.constant([7])); tf.pad(f, [[1, 0]], constant_values=0)
tf.pad(b, [[1, 0]], constant_values=True); tf.pad(f, [[0, 1]], 'CONSTANT', 3); tf.pad(c, [[0, 1]]); tf.ones_like(s)
tf.ones([2], tf.string); tf.ones_like(i, tf.string); tf.zeros_like(i, tf.string); tf.zeros_like(i, 'float64')
tf.ones_like([1, 2], tf.bool); tf.zeros(0); tf.zeros_like(s); tf.ones([2, 1], tf.bool); tf.ones(())
tf.fill([2, 2], [1, 2]); tf.fill([2], [1, 2]); tf.fill([3], [1, 2]); tf.fill([-1], 5); tf.fill([], 5); tf.fill(2, 5)
tf.fill([2], 'x'); tf.fill(tf.constant([2, 1]), 2.5); tf.fill([2, 3], [[1]])
tf.eye(2, 3, batch_shape=[2, 1], dtype=tf.int64); tf.eye(3, 2); tf.eye(0); tf.eye(2, num_columns=1)
tf.eye(tf.constant(2)); tf.eye(2, dtype=tf.bool); tf.eye(-1); tf.linspace(0.0, 1.0, 3, axis=0)
tf.linspace([0.0, 1.0], [2.0, 5.0], 3); tf.linspace([0.0, 1.0], [2.0, 5.0], 3, axis=1)
tf.linspace([0.0, 1.0], [2.0, 5.0], 3, axis=-1); tf.linspace(0, 10, 5); tf.linspace(1.0, 2.0, 1)
tf.linspace(d[0], d[1], 4); tf.linspace(1.0, 2.0, 0); tf.meshgrid([1, 2], [3, 4, 5], indexing='ij')
tf.meshgrid([1, 2], [3, 4, 5], indexing='xy'); tf.meshgrid([1, 2]); tf.meshgrid([1.5], [1, 2], [3, 4])
tf.meshgrid([1, 2], [3], indexing='zz'); tf.one_hot([0, 1], 2, on_value=5); tf.one_hot([0, 1], 2, off_value=5)
tf.one_hot([0, 1], 2, off_value=2.5, on_value=1.5, axis=0); tf.one_hot([0, 1], 2, axis=1)
tf.one_hot([[0, 1]], 3, axis=1); tf.one_hot([0.5], 2); tf.one_hot([0], 2, 'y', 'n')
tf.one_hot([0, 1], 2, dtype='int8', on_value=3); tf.one_hot([0], 0); tf.one_hot([1], tf.constant(2))
tf.one_hot([0, 2], 3, axis=-1); tf.one_hot([0, 1, 1], 2, axis=-2); tf.one_hot(u, 8, dtype=tf.bool)
tf.one_hot([0], 1, 1, 2.5); tf.one_hot([0], -1); tf.sequence_mask([1, 3], 2); tf.sequence_mask([[1], [2]])
tf.sequence_mask([1, 3], tf.constant(4), tf.int32); tf.sequence_mask(2, 3); tf.sequence_mask(tf.zeros([0], tf.int32))
tf.sequence_mask([0]); tf.sequence_mask([1, 3], maxlen=0); tf.sequence_mask([-1, 2]); tf.logical_not(b)
tf.math.logical_not([True, False]); tf.logical_not(True); tf.logical_not(i); tf.logical_not(1); tf.logical_not(e)
tf.logical_not([[True], [False]]); tf.reduce_mean(tf.zeros([0], tf.int32))
tf.reduce_mean(tf.zeros([0, 2], tf.int32), 0); tf.reduce_mean(tf.zeros([0, 2], tf.int64), 1)
tf.reduce_mean(tf.zeros([0])); tf.reduce_mean([7, -8]); tf.reduce_mean([-7, 0])
tf.reduce_mean(tf.constant([255, 255], tf.uint8)); tf.reduce_mean(tf.constant([127, 126], tf.int8))
tf.reduce_mean(tf.zeros([2, 0], tf.int32), 0, keepdims=True); tf.reduce_mean(tf.zeros([2, 0], tf.int32), 1)
tf.reduce_mean(tf.zeros([2, 0], tf.int32), 0); tf.boolean_mask(i, True); tf.boolean_mask(i, [True])
tf.boolean_mask(t, [True, False]); tf.boolean_mask(t, [True, False, True], axis=1)
tf.boolean_mask(t, [[True, False, True], [False] * 3]); tf.boolean_mask(t, [[True] * 4] * 3, axis=1)
tf.boolean_mask(t, [True, False, True, False], axis=-1); tf.boolean_mask(i, [0, 1, 1])
tf.boolean_mask(i, b, axis=tf.constant(0))
"""


def test_functions():
    assert not differences(listed(MADE), VALUES)
