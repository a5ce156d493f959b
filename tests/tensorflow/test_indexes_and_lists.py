"""Indexes, choices, means, lists of numbers, large numbers and ragged operands, as TensorFlow takes or refuses them."""

import pytest

from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SETUP = "t = tf.constant(np.arange(24).reshape(2, 3, 4)); v = tf.range(5.0); nan = np.nan\n"
SETUP += "r = tf.ragged.constant([[1, 2, 3], [], [4]])"
INDEXES = """t[[0, 1]]; t[(0, 1)]; t[[0, 1, 2]]; t[tf.constant([0, 1])]; t[np.array([0, 1])]; t[True]; v[[1]]; v[[]]
v[[True, False, True, False, False]]; v[v > 2]; v[np.array([True, False] * 2 + [True])]; t[t > 5]; v[tf.constant(1)]
v[tf.constant(1):]; v[np.int64(2)]; v[1.0]; v['a']; t[0, [1]]; t[..., 0]; t[:, tf.newaxis, 0]; v[::-1]; v[-2:]
v[None]; t[0][1][2]; t[np.uint8(1)]; v[tf.constant(True)]; v[np.True_]; v[np.array(True)]; t[[slice(0, 1), 1]]"""
CHOICES = """tf.compat.v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]]); tf.compat.v1.where(True, [1], [5])
tf.compat.v1.where([True, False], [1, 2], [5, 6]); tf.compat.v1.where([True, False], 1, 2)
tf.compat.v1.where([[True], [False]], [[1, 2], [3, 4]], [[5, 6], [7, 8]]); tf.compat.v1.where([True, False])
tf.argmax([nan, 1., 2.]); tf.argmax([1., nan, 2.]); tf.argmin([1., nan, -2.]); tf.argmax([nan, nan])
tf.argmax([3, 1]); tf.argmax([[nan, 1.], [2., nan]], 1)"""
MEANS = """tf.reduce_mean(tf.constant([200, 201], tf.uint8)); tf.reduce_mean(tf.constant([-100, -101], tf.int8))
tf.reduce_mean(tf.constant([100, 101, 101], tf.int8)); tf.reduce_mean(tf.constant([2**31 - 1] * 2))
tf.reduce_mean(tf.constant([2**63 - 1] * 2, tf.int64)); tf.reduce_mean(tf.constant([30000, 30001], tf.int16))
tf.reduce_mean(tf.constant([60000, 60001], tf.uint16)); tf.reduce_mean(tf.constant([-7, -8], tf.int32))
tf.reduce_mean(tf.constant([[200, 201], [1, 2]], tf.uint8), axis=0); tf.reduce_mean(tf.constant([], tf.float32))
tf.reduce_mean(tf.constant([2**53 + 1] * 3, tf.int64)); tf.reduce_mean(t); tf.reduce_mean(t, [0, 2], True)"""
LISTS = """tf.constant([True, 1]); tf.constant([1, True]); tf.constant([True, 1.0]); tf.constant([1.0, True])
tf.constant([np.float32(3), np.float64(5)]); tf.constant([np.float64(3), np.float32(5)])
tf.constant([np.float32(3), 1]); tf.constant([np.float64(3), 1]); tf.constant([1, np.float64(3)])
tf.constant([np.float64(3), 1.5]); tf.constant([1.5, np.float64(3)]); tf.constant([np.float16(3), np.float32(4)])
tf.constant([np.int32(3), np.int64(4)]); tf.constant([np.bool_(True), 1]); tf.constant([np.bool_(True), True])
tf.constant((np.float32(1), 2.5)); tf.constant(np.array(['a', 1, None], dtype=object)); tf.constant(['a', None])
tf.constant([True, 'a']); tf.convert_to_tensor([tf.constant(1), 2.5]); tf.convert_to_tensor([tf.constant(1.5), 2])
tf.convert_to_tensor([tf.constant(1), tf.constant(2.5)]); tf.convert_to_tensor([tf.constant(1), 2])
tf.constant([np.array([1.5]), np.array([2.5], np.float32)]); tf.constant([np.float64(1.5)], tf.int32)"""


LARGE = """tf.constant(1e300); tf.constant(-1e39); tf.constant([1e39]); tf.constant([[1.5], [1e39]])
tf.constant([np.inf])
tf.constant([1.5, -np.inf, np.nan]); tf.constant([3.4028235e38, 3.5e38]); tf.constant([3.40282356e38])
tf.constant([1e-300]); tf.constant(1e300, tf.float64); tf.constant([np.float32(1), np.inf]); tf.constant([1, 1e300])
tf.constant([np.float64(1), 1e300]); tf.constant([1.5, np.float64(1e300)]); tf.constant([1e300], tf.float64)
tf.constant([np.float32(1), np.float64(1e300)]); tf.constant([np.float16(1), np.float32(7e4)])
list(tf.data.Dataset.from_tensors(1e300)); list(tf.data.Dataset.from_tensor_slices([1.0, 1e300]))"""
RAGGED = """r + [[1], [2], [3]]; r * tf.constant([[2], [3], [4]]); r + 1; r + tf.constant([7])
r + tf.constant([1, 2, 3, 4])
r - tf.constant([[1]]); tf.constant([1, 2, 3, 4]) + r; r + r; r + tf.constant([[1], [2]]); r > 1"""
GROUPS = {"indexes": INDEXES, "choices": CHOICES, "means": MEANS, "lists": LISTS, "large": LARGE}
GROUPS["ragged"] = RAGGED


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_the_same_as_tensorflow(group):
    assert not differences(listed(group), SETUP)
