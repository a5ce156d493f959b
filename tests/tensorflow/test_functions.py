"""Functions on tensors, grouped by subject, with rare arguments: values, shapes, dtypes and errors are TensorFlow's."""

import pytest

from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

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
SCATTERED = """
i = tf.constant([3, -7, 0]); f = tf.constant([1.5, -2.5, 0.25]); d = tf.constant([1.0, 2.0, -0.5], tf.float64)
l = tf.constant([1, -2**40, 5], tf.int64); s = tf.constant(["a", "bc", ""]); b = tf.constant([True, False, True])
t = tf.reshape(tf.range(24), [2, 3, 4]); m = tf.reshape(tf.range(6.0), [2, 3]); e = tf.zeros([0])
c = tf.constant([1 + 2j, -3j, 4]); u = tf.constant([1, 250, 7], tf.uint8)
h = tf.constant([0.5, -2.5, 1.0], tf.float16)
k = tf.constant([0.5, -2.5], tf.bfloat16); z = tf.constant([1 + 2j], tf.complex128)
"""
FEW = """
big = tf.SparseTensor([[0, 0], [1, 1]], ["a" * 300, ""], [2, 2]); gap = tf.SparseTensor([[0, 1]], [1], [4, 4])
"""
IMAGES = """
I = tf.image; V = tf.compat.v1.image; a = tf.cast(tf.reshape(tf.range(48), [4, 4, 3]) * 5, tf.uint8)
g = tf.cast(a, tf.float32) / 255; n = tf.stack([a, 255 - a]); h = tf.reshape(tf.range(30.0), [5, 6, 1])
M = I.ResizeMethod
"""
INDEXED = """
t = tf.constant(np.arange(24).reshape(2, 3, 4)); v = tf.range(5.0); nan = np.nan
r = tf.ragged.constant([[1, 2, 3], [], [4]])
"""
GROUPS = {
    "filled": (
        VALUES,
        """
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
""",
    ),
    "conditions and loops": (
        VALUES,
        """
D.assert_rank(t, tf.constant(3)); tf.cond(True, lambda: 1, lambda: 2)
tf.cond(tf.constant(False), lambda: 1, lambda: 2); tf.cond(True, lambda: 1); tf.cond(False, lambda: 1); tf.cond(True)
tf.compat.v1.cond(True, fn1=lambda: 1, fn2=lambda: 2); tf.compat.v1.cond(False, fn1=lambda: 1, fn2=lambda: 2)
tf.cond(i[0] > 2, lambda: i, lambda: f); tf.cond(False, lambda: i, false_fn=lambda: f)
tf.case([(tf.constant(True), lambda: 1), (tf.constant(True), lambda: 2)])
tf.case([(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)], exclusive=True)
tf.case([(tf.constant(False), lambda: 1)]); tf.case([(tf.constant(False), lambda: 1)], default=lambda: 5)
tf.case([(tf.constant(True), lambda: 1)], lambda: 5)
tf.case([(tf.constant(False), lambda: 1), (tf.constant(False), lambda: 2)], lambda: 5, True)
tf.while_loop(lambda x: x < 5, lambda x: (x + 2,), (tf.constant(0),))
tf.while_loop(lambda x: x < 5, lambda x: [x + 2], [tf.constant(0)])
tf.while_loop(lambda x, y: x < 5, lambda x, y: (x + 2, y * 2), (tf.constant(0), tf.constant(1)))
tf.while_loop(lambda x: x < 5, lambda x: (x + 1,), (tf.constant(0),), maximum_iterations=2)
tf.while_loop(lambda x: x < 5, lambda x: (x + 1,), (tf.constant(0),), maximum_iterations=0)
tf.while_loop(lambda x: x < 5, lambda x: (x + 1,), (tf.constant(0),), maximum_iterations=tf.constant(9))
tf.py_function(func=lambda x: x * 2, inp=[i], Tout=tf.int32); tf.py_function(lambda x: x, [i], tf.float32)
tf.py_function(lambda x: r, [i], tf.RaggedTensorSpec([None, None], tf.int32))
tf.py_function(lambda x: x, [i], tf.TensorSpec([3], tf.int32))
tf.py_function(lambda x: (x, x), [i], (tf.int32, tf.int32)); tf.py_function(lambda x: np.float64(3), [i], tf.float32)
tf.numpy_function(lambda x: 3.5, [i], tf.float32); tf.py_function(lambda x: [x, x], [i], [tf.int32, tf.int32])
tf.py_function(lambda x: (x,), [i], [tf.int32, tf.int32])
tf.py_function(lambda x: x, [i], tf.TensorSpec([3], tf.float32)); tf.py_function(Tout=tf.int32)(lambda x: x * 2)(i)
tf.py_function(lambda x: x * 2, Tout=tf.int32)(i); tf.numpy_function(Tout=tf.int32)(lambda x: x * 2)(i)
tf.numpy_function(lambda x: x * 2, Tout=tf.int32)(i); tf.numpy_function(Tout=tf.float32)(lambda x: 3.5)(i)
tf.py_function(Tout=tf.float32)(lambda x: np.float64(3.5))(i)
tf.numpy_function(Tout=tf.string)(lambda x: str(type(x).__name__))(i); tf.function(lambda x: x + 1)(i)
tf.function()(lambda x: x + 1)(i); tf.function(jit_compile=False)(lambda x: x + 1)(i)
tf.function(func=lambda x: x - 1)(i); tf.executing_eagerly(); tf.is_tensor(i); tf.is_tensor(q); tf.is_tensor(r)
tf.is_tensor(5); tf.is_tensor([i]); tf.is_tensor(np.zeros(2)); tf.get_static_value(i)
tf.get_static_value(tf.constant('a')); tf.get_static_value(s); tf.get_static_value(tf.constant(2.5))
tf.get_static_value(5); tf.get_static_value(np.float32([1])); tf.stop_gradient(i); tf.stop_gradient([1.5]); tf.no_op()
tf.group(); tf.group(i)
""",
    ),
    "called functions": (
        CALLED,
        """
tf.map_fn(lambda x: tf.cast(x, tf.float32), i, fn_output_signature=tf.int32)
tf.map_fn(lambda x: x + 1, i, fn_output_signature=tf.int32); tf.map_fn(lambda x: x, i, fn_output_signature=tf.float32)
tf.map_fn(lambda x: tf.range(tf.abs(x)), i, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
tf.map_fn(lambda x: q, i, fn_output_signature=tf.SparseTensorSpec([2, 2], tf.int32))
tf.map_fn(lambda x: q, i, fn_output_signature=tf.SparseTensorSpec([2, 2], tf.float32))
tf.map_fn(lambda x: q, i, fn_output_signature=tf.int32)
tf.map_fn(lambda x: x, i, fn_output_signature=tf.SparseTensorSpec([], tf.int32))
tf.map_fn(lambda x: x, r, fn_output_signature=tf.RaggedTensorSpec([None], tf.int64))
tf.map_fn(lambda x: x, i, fn_output_signature=tf.TensorSpec([1], tf.int32))
tf.map_fn(lambda x: tf.range(tf.abs(x)), i, fn_output_signature=tf.RaggedTensorSpec([None], tf.float32))
tf.map_fn(lambda x: 'a', i, fn_output_signature=tf.string); tf.map_fn(lambda x: 1.5, i, fn_output_signature=tf.int32)
tf.map_fn(lambda x: x, i[:0], fn_output_signature=tf.RaggedTensorSpec([None], tf.float32))
tf.map_fn(lambda x: x, i[:0], fn_output_signature=tf.TensorSpec(None, tf.float32))
""",
    ),
    "split strings": (
        CALLED,
        """
tf.strings.substr('abc', 1.5, 1); tf.strings.substr('abc', 1, 1.5); tf.strings.substr('abc', 0.0, 1.0)
tf.strings.substr(w, 0, 2); tf.strings.substr(w[0], 1, 1); tf.strings.substr('abc', 4, 1)
tf.strings.substr('abc', -4, 1); tf.strings.reduce_join(rs); tf.strings.reduce_join(rs, 0)
tf.strings.reduce_join(rs, [1]); tf.strings.reduce_join(rs, 2); tf.strings.reduce_join(rs, -3)
tf.strings.reduce_join(rs, 0, True); tf.strings.reduce_join(rs, None, True)
tf.strings.reduce_join(rs, None, True, '-'); tf.strings.reduce_join(rs, -2, separator='+'); tf.strings.split(w)
tf.strings.split(w, ' '); tf.strings.split(w, maxsplit=1); tf.strings.split(w[None])
tf.strings.split(tf.zeros([0], tf.string)); tf.strings.split(tf.zeros([2, 0], tf.string)); tf.strings.split(w, sep='')
tf.strings.split('', ','); tf.strings.split(['a,b', ''], ','); tf.strings.split(w[0], tf.constant(' '))
tf.strings.split(tf.reshape(w, [2, 1, 2])); tf.strings.split(tf.reshape(w, [1, 4]), ' ', 1)
tf.strings.split(['a--b-c'], '--'); tf.strings.split([['a']]).row_splits; tf.strings.bytes_split('abc')
tf.strings.bytes_split(['ab', '', 'c']); tf.strings.bytes_split(''); tf.strings.bytes_split(w)
tf.strings.bytes_split(tf.zeros([0], tf.string)); tf.strings.bytes_split(b'a\\xff\\x00')
tf.strings.bytes_split(['abc']).row_splits; tf.strings.bytes_split(rs); tf.strings.bytes_split(5)
tf.strings.to_hash_bucket_fast(['a', 'b', 'c'], 10); tf.strings.to_hash_bucket_fast('a', 3)
tf.strings.to_hash_bucket_fast(w, tf.constant(1000)); tf.strings.to_hash_bucket_fast(['a'], 0)
tf.strings.to_hash_bucket_fast([1], 3); tf.strings.length(rrs); tf.strings.length(rs); tf.strings.bytes_split(rrs)
""",
    ),
    "scattered": (
        SCATTERED,
        """
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
""",
    ),
    "numbers": (
        SCATTERED,
        """
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
""",
    ),
    "sparse": (
        CALLED,
        """
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
""",
    ),
    "rare sparse": (
        FEW,
        """
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
""",
    ),
    "ragged": (
        VALUES,
        """
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
""",
    ),
    "ragged joins": (
        CALLED,
        """
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
""",
    ),
    "image sizes": (
        IMAGES,
        """
I.resize(h, [3, 3], 'bicubic'); I.resize(h, [3, 3], M.AREA); I.resize(h, [8, 8], 'lanczos3', antialias=True)
I.resize(h, [3, 2], 'bicubic', antialias=True); I.resize(a, [2, 2], method='area')
I.resize(h, [3, 3], 'bicubic', True); I.resize(n, [2, 3], 'mitchellcubic'); I.resize(h, [3, 3])
I.resize(h, [3, 3], 'nearest'); I.resize(h, [3, 3], antialias=True); I.resize(h, [10, 3], antialias=True)
I.resize(h, [10, 12]); I.resize(h, [3, 3], preserve_aspect_ratio=True)
I.resize(h, [10, 3], preserve_aspect_ratio=True); I.resize(h, [3, 10], 'nearest', True); I.resize(n, [3, 5])
I.resize(n, [3, 5], 'nearest'); I.resize(h, [0, 3]); I.resize(h, [3]); I.resize(h, [3, 0]); I.resize(h, 3)
I.resize([1.0], [1, 1]); I.resize(a, [4, 4]); I.resize(h, [5, 6]); I.resize(h, [3, 3], 'x')
I.resize(h, tf.constant([2, 4])); I.resize(h, [1, 1]); I.resize(a, [4, 4], 'nearest')
I.resize(n, [7, 2], antialias=True); I.resize(h, [-1, 2]); V.resize_images(h, [3, 3]); V.resize_images(h, [3, 3], 1)
V.resize_images(h, [10, 12], 0, True); V.resize_images(h, [10, 12], 1, True)
V.resize_images(h, [3, 3], preserve_aspect_ratio=True); V.resize_images(h, [10, 3], preserve_aspect_ratio=True)
V.resize_images(h, [3, 10], preserve_aspect_ratio=True); V.resize_images(h, [5, 6]); V.resize_images(a, [4, 4])
V.resize_images(n, [3, 5]); V.resize_images(n, [3, 5], method=1); V.resize_images(h, [1, 1], align_corners=True)
V.resize_images(h, [1, 4], align_corners=True); V.resize_images(h, [4, 1], 1, True); V.resize_images(a, [8, 2])
V.resize_images(h, [7, 9], preserve_aspect_ratio=True, align_corners=True); V.resize(h, [2, 2])
V.resize_images(a, [6, 6], 1, True); V.resize_images([1.0], [1, 1])
V.resize_images(h, [4, 7], 1, preserve_aspect_ratio=True); I.resize_with_pad(h, 8, 8); I.resize_with_pad(h, 8, 4)
I.resize_with_pad(h, 3, 9, 'nearest'); I.resize_with_pad(n, 3, 6); I.resize_with_pad(h, 3, 3, antialias=True)
I.resize_with_pad(h, 4, 9); I.resize_with_pad(h, 0, 3); I.resize_with_pad(h, 3, -1); I.resize_with_pad(h, 5, 6)
I.resize_with_pad(a, 7, 3); I.resize_with_crop_or_pad(h, 3, 8); I.resize_with_crop_or_pad(h, 8, 3)
I.resize_with_crop_or_pad(h, 4, 4); I.resize_with_crop_or_pad(n, 2, 5); I.resize_with_crop_or_pad(h, 0, 3)
I.resize_with_crop_or_pad(h, 6, 7); I.resize_with_crop_or_pad(h, 2, 1); I.crop_to_bounding_box(h, 1, 2, 3, 4)
I.crop_to_bounding_box(h, 1, 2, 4, 4); I.crop_to_bounding_box(h, 1, 2, 5, 4); I.crop_to_bounding_box(h, 1, 3, 4, 4)
I.crop_to_bounding_box(h, -1, 0, 1, 1); I.crop_to_bounding_box(h, 0, -1, 1, 1); I.crop_to_bounding_box(h, 0, 0, 0, 1)
I.crop_to_bounding_box(h, 0, 0, 1, 0); I.crop_to_bounding_box(n, 0, 1, 4, 3); I.crop_to_bounding_box(h, 0, 0, 5, 6)
I.pad_to_bounding_box(h, 1, 2, 8, 9); I.pad_to_bounding_box(h, 0, 0, 5, 6); I.pad_to_bounding_box(h, -1, 0, 8, 8)
I.pad_to_bounding_box(h, 0, -1, 8, 8); I.pad_to_bounding_box(h, 4, 0, 8, 8); I.pad_to_bounding_box(h, 0, 3, 8, 8)
I.pad_to_bounding_box(n, 1, 0, 5, 6); I.pad_to_bounding_box(h, 3, 2, 8, 8); I.central_crop(h, 0.5)
I.central_crop(h, 1.0); I.central_crop(h, 0.0); I.central_crop(h, 1.5); I.central_crop(n, 0.3); I.central_crop(h, 0.7)
I.central_crop(h, -0.5); I.central_crop(h, tf.constant(0.5))
""",
    ),
    "image colours": (
        IMAGES,
        """
I.flip_left_right(h); I.flip_up_down(h); I.flip_left_right(n); I.flip_up_down(n); I.flip_left_right([[1]]); I.rot90(h)
I.rot90(h, 2); I.rot90(h, k=3); I.rot90(n, 1); I.rot90(h, 4); I.rot90(h, -1); I.rot90(h, tf.constant(5))
I.rgb_to_grayscale(a); I.rgb_to_grayscale(g); I.rgb_to_grayscale(n); I.per_image_standardization(a)
I.per_image_standardization(n); I.per_image_standardization(tf.zeros([2, 2, 1])); I.per_image_standardization(g)
I.per_image_standardization(tf.ones([3, 2, 3], tf.uint8)); I.per_image_standardization(h * 1e-4)
I.adjust_brightness(g, 0.25); I.adjust_brightness(a, 0.25); I.adjust_brightness(a, -0.5); I.adjust_contrast(g, 2.0)
I.adjust_contrast(a, 0.5); I.adjust_contrast(n, 3.0); I.adjust_contrast([1.0], 2.0)
I.adjust_contrast(tf.cast(g, tf.float64), 2.0); I.adjust_saturation(g, 0.5); I.adjust_saturation(g, 5.0)
I.adjust_saturation(a, 2.0); I.adjust_saturation(g, 0.0); I.adjust_saturation(n, 0.3); I.adjust_hue(g, 0.3)
I.adjust_hue(g, -0.3); I.adjust_hue(a, 0.1); I.adjust_hue(g, 1.5); I.adjust_hue(g, -1.5); I.adjust_hue(g, 1.0)
I.adjust_hue(g, -1.0); I.adjust_hue(g, 0.0); I.adjust_hue(n, 0.6); I.random_saturation(g, 2.0, 1.0)
I.random_saturation(g, -1.0, 1.0); I.random_saturation(g, 1.0, 1.0); I.random_contrast(g, 2.0, 1.0)
I.random_contrast(g, -1.0, 1.0); I.random_contrast(g, 1.0, 1.0); I.random_hue(g, 0.6); I.random_hue(g, -0.1)
I.random_brightness(g, -0.1); I.random_crop(h, [5, 6, 1]); I.random_crop(h, [6, 6, 1])
tf.image.random_crop(h, [5, 6]); I.random_brightness(g, 0.0); I.random_hue(g, 0.0); I.random_flip_left_right([1.0])
I.random_flip_up_down([[1.0]])
""",
    ),
    "indexes": (
        INDEXED,
        """
t[[0, 1]]; t[(0, 1)]; t[[0, 1, 2]]; t[tf.constant([0, 1])]; t[np.array([0, 1])]; t[True]; v[[1]]; v[[]]
v[[True, False, True, False, False]]; v[v > 2]; v[np.array([True, False] * 2 + [True])]; t[t > 5]; v[tf.constant(1)]
v[tf.constant(1):]; v[np.int64(2)]; v[1.0]; v['a']; t[0, [1]]; t[..., 0]; t[:, tf.newaxis, 0]; v[::-1]; v[-2:]
v[None]; t[0][1][2]; t[np.uint8(1)]; v[tf.constant(True)]; v[np.True_]; v[np.array(True)]; t[[slice(0, 1), 1]]
""",
    ),
    "choices": (
        INDEXED,
        """
tf.compat.v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]]); tf.compat.v1.where(True, [1], [5])
tf.compat.v1.where([True, False], [1, 2], [5, 6]); tf.compat.v1.where([True, False], 1, 2)
tf.compat.v1.where([[True], [False]], [[1, 2], [3, 4]], [[5, 6], [7, 8]]); tf.compat.v1.where([True, False])
tf.argmax([nan, 1., 2.]); tf.argmax([1., nan, 2.]); tf.argmin([1., nan, -2.]); tf.argmax([nan, nan])
tf.argmax([3, 1]); tf.argmax([[nan, 1.], [2., nan]], 1)
""",
    ),
    "means": (
        INDEXED,
        """
tf.reduce_mean(tf.constant([200, 201], tf.uint8)); tf.reduce_mean(tf.constant([-100, -101], tf.int8))
tf.reduce_mean(tf.constant([100, 101, 101], tf.int8)); tf.reduce_mean(tf.constant([2**31 - 1] * 2))
tf.reduce_mean(tf.constant([2**63 - 1] * 2, tf.int64)); tf.reduce_mean(tf.constant([30000, 30001], tf.int16))
tf.reduce_mean(tf.constant([60000, 60001], tf.uint16)); tf.reduce_mean(tf.constant([-7, -8], tf.int32))
tf.reduce_mean(tf.constant([[200, 201], [1, 2]], tf.uint8), axis=0); tf.reduce_mean(tf.constant([], tf.float32))
tf.reduce_mean(tf.constant([2**53 + 1] * 3, tf.int64)); tf.reduce_mean(t); tf.reduce_mean(t, [0, 2], True)
""",
    ),
    "lists": (
        INDEXED,
        """
tf.constant([True, 1]); tf.constant([1, True]); tf.constant([True, 1.0]); tf.constant([1.0, True])
tf.constant([np.float32(3), np.float64(5)]); tf.constant([np.float64(3), np.float32(5)])
tf.constant([np.float32(3), 1]); tf.constant([np.float64(3), 1]); tf.constant([1, np.float64(3)])
tf.constant([np.float64(3), 1.5]); tf.constant([1.5, np.float64(3)]); tf.constant([np.float16(3), np.float32(4)])
tf.constant([np.int32(3), np.int64(4)]); tf.constant([np.bool_(True), 1]); tf.constant([np.bool_(True), True])
tf.constant((np.float32(1), 2.5)); tf.constant(np.array(['a', 1, None], dtype=object)); tf.constant(['a', None])
tf.constant([True, 'a']); tf.convert_to_tensor([tf.constant(1), 2.5]); tf.convert_to_tensor([tf.constant(1.5), 2])
tf.convert_to_tensor([tf.constant(1), tf.constant(2.5)]); tf.convert_to_tensor([tf.constant(1), 2])
tf.constant([np.array([1.5]), np.array([2.5], np.float32)]); tf.constant([np.float64(1.5)], tf.int32)
""",
    ),
    "large numbers": (
        INDEXED,
        """
tf.constant(1e300); tf.constant(-1e39); tf.constant([1e39]); tf.constant([[1.5], [1e39]]); tf.constant([np.inf])
tf.constant([1.5, -np.inf, np.nan]); tf.constant([3.4028235e38, 3.5e38]); tf.constant([3.40282356e38])
tf.constant([1e-300]); tf.constant(1e300, tf.float64); tf.constant([np.float32(1), np.inf]); tf.constant([1, 1e300])
tf.constant([np.float64(1), 1e300]); tf.constant([1.5, np.float64(1e300)]); tf.constant([1e300], tf.float64)
tf.constant([np.float32(1), np.float64(1e300)]); tf.constant([np.float16(1), np.float32(7e4)])
list(tf.data.Dataset.from_tensors(1e300)); list(tf.data.Dataset.from_tensor_slices([1.0, 1e300]))
""",
    ),
    "ragged operands": (
        INDEXED,
        """
r + [[1], [2], [3]]; r * tf.constant([[2], [3], [4]]); r + 1; r + tf.constant([7]); r + tf.constant([1, 2, 3, 4])
r - tf.constant([[1]]); tf.constant([1, 2, 3, 4]) + r; r + r; r + tf.constant([[1], [2]]); r > 1
""",
    ),
}


@pytest.mark.parametrize("setup, text", GROUPS.values(), ids=GROUPS)
def test_functions(setup, text):
    assert not differences(listed(text), setup)
