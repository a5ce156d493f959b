"""Functions of RaggedTensors: made, masked, gathered and joined as TensorFlow does."""

import pytest

from tests.support import live_tensorflow
from tests.tensorflow.shared_values import CALLED, VALUES
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

RAGGED = """
tf.compat.v1.convert_to_tensor([1, 2], preferred_dtype=tf.float32)
tf.compat.v1.convert_to_tensor([1.5], preferred_dtype=tf.int32)
tf.constant([np.array([1, 2]), np.array([3, 4])], tf.float32)
tf.constant([np.array([1.5, 2]), np.array([3, 4])], tf.int32); tf.constant([np.array([1, 2])], tf.int64)
tf.cast(rr, tf.float32); tf.cast(r, tf.int64); tf.zeros_like(r); tf.zeros_like(r, tf.float32); tf.ones_like(r)
tf.ones_like(r, tf.float32); tf.zeros_like(rr, dtype=tf.string); tf.gather(r, [0, 2]); tf.gather(r, 0)
tf.gather(r, [3]); tf.gather(r, [-1]); tf.gather(r, [0], axis=0); tf.gather(r, [[0, 1], [1, 0], [0, 0]], batch_dims=1)
tf.gather(rr, [1, 0]); tf.gather(r, tf.zeros([0], tf.int32)); tf.gather(r, 3); tf.gather(r, [2, 2]); tf.gather(r, 2)
tf.gather(rr, 0); tf.boolean_mask(r, [True, False, True]); tf.ragged.constant([[1, 2], [3, 4]], inner_shape=())
tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], inner_shape=(2,)); tf.ragged.constant([[[1, 2]], []], inner_shape=2)
tf.ragged.constant([[1, 2]], inner_shape=(1, 1, 1)); tf.ragged.constant([1], ragged_rank=-1)
tf.ragged.constant([[1], [2]], ragged_rank=0)
tf.ragged.constant([[], []], dtype=tf.string, ragged_rank=1, inner_shape=(2,))
tf.ragged.constant([[1], []], row_splits_dtype=tf.int32).row_splits
tf.ragged.constant([[[1], []], []], row_splits_dtype='int32').nested_row_splits
tf.ragged.constant([[1], []], tf.float64); tf.ragged.constant([[1], []], 'int8', 1)
tf.ragged.constant([[1], []], ragged_rank=2); tf.ragged.constant(5); tf.ragged.constant(np.array([[1, 2], [3, 4]]))
tf.ragged.constant([np.array([1, 2]), [3]]); tf.ragged.constant([[[1, 2]], [[3, 4]]], ragged_rank=1, inner_shape=(2,))
tf.ragged.constant([[[1, 2]], [[3, 4]]], ragged_rank=2, inner_shape=(2,)); tf.ragged.constant([[1], 2])
tf.ragged.constant([]); tf.ragged.constant([], ragged_rank=1); tf.ragged.constant([[[1, 2]], [[3]]], inner_shape=(2,))
"""
ROWS = """
tf.io.parse_tensor(b'\\x08\\x07\\x12\\x04\\x12\\x02\\x08\\x02"\\x04\\x01\\x01ab', tf.string); tf.concat([rr, rr], 0)
tf.concat([rr, rr], 1); tf.concat([rr, rr], 2); tf.concat([rr, rr], -1); tf.concat([rr, rr], -3)
tf.concat([rr, rr], 3); tf.stack([rr, rr], 0); tf.stack([rr, rr], 1); tf.stack([rr, rr], 2); tf.stack([rr, rr], 3)
tf.stack([rr, rr], -1); tf.concat([r, r[:2]], 1); tf.stack([r, r[:2]], 1); tf.concat([r[:0], r[:0]], 1)
tf.stack([rr, [[[1], [2]], [[3], [4]]]]); tf.concat([rr, [[[1], [2]], [[3], [4]]]], 1)
tf.concat([rr, [[[1], [2]], [[3], [4]]]], 0); tf.gather(r, [[0, 2]]); tf.strings.reduce_join(rrs, 2)
tf.strings.reduce_join(rrs, 5); tf.strings.reduce_join(rs, 2); tf.strings.reduce_join(rrs, -4)
tf.strings.reduce_join(rrs, [2]); tf.strings.reduce_join(rrs, [1, 2], separator='-')
tf.strings.reduce_join(rs, [1, 0], separator='-'); tf.strings.reduce_join(rrs, [2, 0, 1]); tf.strings.reduce_join(rrs)
tf.strings.reduce_join(rrs, keepdims=True); tf.strings.reduce_join(rrs, [2], keepdims=True)
tf.strings.reduce_join(rs, 0, keepdims=True); tf.strings.reduce_join(rs, [0]); tf.strings.reduce_join(rrs, [])
"""


def test_made_and_masked():
    assert not differences(listed(RAGGED), VALUES)


def test_ranges_masks_and_joins():
    assert not differences(listed(ROWS), CALLED)
