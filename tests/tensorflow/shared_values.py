"""Tensors of all kinds, and functions to call, for the expressions of several tests."""

__all__ = ["CALLED", "VALUES"]

VALUES = """
i = tf.constant([3, -7, 0]); f = tf.constant([1.5, -2.5, 0.25]); d = tf.constant([1.0, 2.0, -0.5], tf.float64)
l = tf.constant([1, -2**40, 5], tf.int64); s = tf.constant(["a", "bc", ""]); b = tf.constant([True, False, True])
t = tf.reshape(tf.range(24), [2, 3, 4]); m = tf.reshape(tf.range(6.0), [2, 3]); e = tf.zeros([0])
c = tf.constant([1 + 2j, -3j, 4]); u = tf.constant([1, 250, 7], tf.uint8)
q = tf.sparse.from_dense([[1, 0], [0, 2]]); q3 = tf.sparse.from_dense([[1, 0, 0], [0, 2, 3]])
qs = tf.sparse.from_dense([["a", ""], ["", "b"]])
r = tf.ragged.constant([[1, 2], [], [3]]); rr = tf.ragged.constant([[[1, 2], []], [[3]]])
D = tf.debugging; S = tf.sparse; R = tf.ragged
class Like:
    dtype = np.dtype("float32")
    def numpy(self): return np.float32([1, 2])
"""
CALLED = """
i = tf.constant([3, -7, 0]); f = tf.constant([1.5, -2.5, 0.25])
q = tf.sparse.from_dense([[1, 0], [0, 2]]); q3 = tf.sparse.from_dense([[1, 0, 0], [0, 2, 3]])
qs = tf.sparse.from_dense([["a", ""], ["", "b"]])
r = tf.ragged.constant([[1, 2], [], [3]]); rr = tf.ragged.constant([[[1, 2], []], [[3]]])
w = tf.constant([["ab c", "d"], ["", " e f"]]); S = tf.sparse; M = tf.math
rs = tf.ragged.constant([["a", "b"], [], ["c"]]); rrs = tf.ragged.constant([[["a", "b"], []], [["c"]]])
E = tf.SparseTensor(tf.zeros([0, 2], tf.int64), tf.zeros([0], tf.int32), [2, 3])
one = tf.constant(1); un = tf.SparseTensor([[1, 1], [0, 0]], [4, 3], [2, 2])
def A(): return tf.constant(10)
def B(): return tf.constant(20)
def C(): return tf.constant(30)
"""
