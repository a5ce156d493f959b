"""Pipelines yield TensorFlow's elements. `python -m tests.tensorflow.random_pipelines` draws others."""

import pytest

from tests.support import live_tensorflow
from tests.tensorflow.random_pipelines import differences
from tests.tensorflow.side_by_side import listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

PIPELINES = """
D.from_tensors([[1, 2, 3]]).ragged_batch(1).map(lambda r: tf.size(r))
D.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 2], [3, 3]])).ragged_batch(1).map(lambda r: r * 2)
D.range(8).batch(3).padded_batch(2).ragged_batch(3)
D.counter(2, 3).take(6).filter(lambda x: fail(x) > 1).cache().batch(2, drop_remainder=False).rebatch(1)
D.zip(D.range(5).map(fail), D.range(9)).repeat(2).repeat(2).filter(lambda i, j: i < j).batch(2, drop_remainder=True)
D.range(7).map(lambda x: tf.fill([tf.cast(x, tf.int32) % 3], x)).padded_batch(1, padded_shapes=[1])
"""


def test_batches_of_batches_errors_and_ragged_rows():
    assert not differences(listed(PIPELINES))
