"""Values put into places, summed by place, searched, and cast within limits: as TensorFlow does."""

import pytest

from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SETUP = """
i = tf.constant([3, -7, 0]); f = tf.constant([1.5, -2.5, 0.25]); d = tf.constant([1.0, 2.0, -0.5], tf.float64)
l = tf.constant([1, -2**40, 5], tf.int64); s = tf.constant(["a", "bc", ""]); b = tf.constant([True, False, True])
t = tf.reshape(tf.range(24), [2, 3, 4]); m = tf.reshape(tf.range(6.0), [2, 3]); e = tf.zeros([0])
c = tf.constant([1 + 2j, -3j, 4]); u = tf.constant([1, 250, 7], tf.uint8)
h = tf.constant([0.5, -2.5, 1.0], tf.float16)
k = tf.constant([0.5, -2.5], tf.bfloat16); z = tf.constant([1 + 2j], tf.complex128)
"""
PLACES = """
tf.scatter_nd([[1], [3]], [5, 6], [4]); tf.scatter_nd([[1], [1]], [5, 6], [3]); tf.scatter_nd([[0, 1]], [2.5], [2, 2])
tf.scatter_nd([[1]], [[1, 2]], [2, 2]); tf.scatter_nd([[2]], [1], [2]); tf.scatter_nd([[-1]], [1], [2])
tf.scatter_nd([[0, 2]], [1], [2, 2]); tf.scatter_nd([[2, 0]], [1], [2, 2]); tf.scatter_nd([[0, -1]], [1], [2, 2])
tf.scatter_nd(tf.zeros([0, 1], tf.int32), tf.zeros([0]), [2]); tf.scatter_nd([[1], [0]], l[:2], [2])
tf.scatter_nd(tf.constant([[1]], tf.int64), [7], tf.constant([3], tf.int64))
tf.scatter_nd([[1], [3]], tf.constant([5, 6]), tf.constant([4])); tf.scatter_nd([[0], [2]], [True, True], [3])
tf.scatter_nd([[1]], [1, 2], [3]); tf.scatter_nd([[[1]], [[0]]], [[5], [6]], [2])
tf.tensor_scatter_nd_update(i, [[0], [2]], [8, 9]); tf.tensor_scatter_nd_update(i, [[3]], [8])
tf.tensor_scatter_nd_update(i, [[-1]], [8]); tf.tensor_scatter_nd_update(m, [[1]], [[7, 8, 9]])
tf.tensor_scatter_nd_update(m, [[1, 2]], [9]); tf.tensor_scatter_nd_update(m, [[1, 3]], [9.0])
tf.tensor_scatter_nd_update(s, [[1]], ['z']); tf.tensor_scatter_nd_update(i, [[1]], [2.5])
tf.tensor_scatter_nd_update(i, [[1]], l[:1]); tf.tensor_scatter_nd_update([1, 2], [[1]], [5])
tf.tensor_scatter_nd_update(i, tf.zeros([0, 1], tf.int32), tf.zeros([0], tf.int32)); i
tf.searchsorted([1, 3, 5], [0, 1, 3, 4, 5, 6]); tf.searchsorted([1, 3, 5], [1, 3, 5], 'right')
tf.searchsorted([1, 3, 5], [1], side='left', out_type=tf.int64)
tf.searchsorted([[1, 3, 5], [2, 4, 6]], [[3, 4], [3, 4]])
tf.searchsorted([[1, 3, 5], [2, 4, 6]], [[3, 4], [3, 4]], side='right', out_type=tf.int64)
tf.searchsorted([[[1, 3], [2, 4]], [[1, 1], [5, 6]]], [[[3, 4, 0], [3, 4, 0]], [[1, 2, 3], [6, 7, 0]]])
tf.searchsorted([1.5, 2.5], [2.0, 1.5], 'right'); tf.searchsorted([1, 3], [2], 'middle')
tf.searchsorted([[1, 3], [2, 4]], [[1]]); tf.searchsorted(tf.zeros([0]), [1.0])
tf.searchsorted([1, 3], tf.zeros([0], tf.int32)); tf.searchsorted([1, 3], [[2, 4], [0, 1]])
tf.searchsorted([1, 3, 5], 3); tf.searchsorted([1, 3], [2.5]); tf.searchsorted(l, tf.constant([2], tf.int64))
"""
NUMBERS = """
tf.einsum('ij,jk->ik', m, tf.transpose(m)); tf.einsum('ij->ji', m); tf.einsum('ij,ij->', m, m)
tf.einsum('ij,jk->ik', m, m); tf.einsum('i,j->ij', f, f); tf.einsum('...j->...', m)
tf.einsum('ij,jk', m, tf.transpose(m)); tf.einsum('ij->ij', i); tf.einsum('i,i->', i, i); tf.einsum('ijk->kj', t)
tf.einsum('i,i->', d, d); tf.math.l2_normalize(f); tf.math.l2_normalize(m, 0); tf.math.l2_normalize(m, 1)
tf.math.l2_normalize(m, axis=-1); tf.math.l2_normalize(m, [0, 1]); tf.math.l2_normalize(tf.zeros([3]))
tf.math.l2_normalize(f, epsilon=100.0); tf.math.l2_normalize(d); tf.math.l2_normalize([1e-7, 0.0])
tf.math.l2_normalize(h); tf.math.l2_normalize(m, 2); tf.math.l2_normalize(i)
tf.math.l2_normalize(tf.constant([3e-7, 4e-7])); tf.math.acosh([1.0, 2.5, 0.5]); tf.math.asinh(f)
tf.math.atanh([0.5, -0.5, 1.0, 2.0]); tf.math.rint([0.5, 1.5, 2.5, -0.5, -1.5, 2.3])
tf.math.softplus([0.0, 100.0, -100.0, 1.5]); tf.math.acosh(d); tf.math.asinh(h); tf.math.acosh(i); tf.math.asinh(i)
tf.math.atanh(u); tf.math.rint(i); tf.math.softplus(i); tf.math.acosh(s); tf.math.asinh(2.0); tf.math.asinh(e)
tf.math.acosh(c); tf.math.asinh(c); tf.math.atanh(b); tf.math.rint(c); tf.math.softplus(c)
tf.math.asinh(tf.constant([0.25], tf.float64)); tf.math.atanh(tf.constant([0.25], tf.float64)); tf.math.asinh(c[:1])
tf.math.atanh(c[:1])
"""


@pytest.mark.parametrize("text", [PLACES, NUMBERS], ids=["places", "numbers"])
def test_functions(text):
    assert not differences(listed(text), SETUP)
