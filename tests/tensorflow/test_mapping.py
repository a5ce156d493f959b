"""`map_fn` and `scan` return what TensorFlow's return: values, structures and errors."""

import pytest

import tfrecord_fast.tensorflow as tf
from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SETUP = """
i = tf.constant([3, -7, 0]); f = tf.constant([1.5, -2.5, 0.25])
r = tf.ragged.constant([[1], [2, 3]]); sp = tf.sparse.from_dense([[1, 0], [0, 2]])
"""
MAPPED = """
tf.map_fn(lambda x: tf.cast(x, tf.float32), i); tf.map_fn(lambda x: (x,x), i)
tf.map_fn(lambda x: x, i, fn_output_signature=(tf.int32,tf.int32))
tf.map_fn(lambda x: (x, x), i, fn_output_signature=[tf.int32,tf.int32])
tf.map_fn(lambda x: [x, x], i, fn_output_signature=(tf.int32,tf.int32))
tf.map_fn(lambda x: x[0], (i,f), fn_output_signature=tf.int32); tf.map_fn(lambda x: x[0], (i,f))
tf.map_fn(lambda x: x+1, r); tf.map_fn(lambda x: tf.reduce_sum(x), r, fn_output_signature=tf.int32)
tf.map_fn(lambda x: tf.cast(x,tf.float32), r, fn_output_signature=tf.RaggedTensorSpec([None],tf.float32))
tf.map_fn(lambda x: tf.cast(x,tf.float32), r, fn_output_signature=tf.RaggedTensorSpec([None],tf.int32))
tf.map_fn(lambda x: x, sp); tf.map_fn(lambda x: tf.sparse.to_dense(x), sp, fn_output_signature=tf.int32)
tf.map_fn(lambda x: x, i, fn_output_signature=tf.TensorSpec([2],tf.int32))
tf.map_fn(lambda x: x, i, fn_output_signature=tf.TensorSpec(None,tf.int32))
tf.map_fn(lambda x: x, i, fn_output_signature=tf.TensorSpec([],tf.int64))
tf.map_fn(lambda x: tf.range(x), tf.constant([1,2])); tf.map_fn(lambda x: x, tf.constant(3))
tf.map_fn(lambda x: 5, i); tf.map_fn(lambda x: 5.0, i); tf.map_fn(lambda x: 5, f)
tf.map_fn(lambda x: 'a', i, fn_output_signature=tf.string)
tf.map_fn(lambda x: np.float64(1), i, fn_output_signature=tf.float32)
tf.map_fn(lambda x: x[0]+x[1], [i,i], fn_output_signature=tf.int32); tf.map_fn(lambda x: x, [i,f])
tf.map_fn(lambda x: x, {'b':i,'a':f}); tf.map_fn(lambda x: x['b'], {'b':i,'a':f}, fn_output_signature=tf.int32)
tf.map_fn(lambda x: x, (i,f[:2]))
tf.map_fn(lambda x: tf.range(x), tf.constant([],tf.int32), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
tf.map_fn(lambda x: tf.range(x), tf.constant([2,0],tf.int32), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
tf.map_fn(lambda x: x, r[:0])
tf.map_fn(lambda x: x, tf.zeros([0,2]), fn_output_signature=tf.TensorSpec([2],tf.float32))
tf.map_fn(lambda x: x*2, [1,2,3]); tf.map_fn(lambda x: x*2, np.array([1,2,3]))
tf.map_fn(lambda x: x*2, np.array([1.5])); tf.map_fn(lambda x: x, [[1,2],[3,4]]); tf.map_fn(lambda x: x, 'abc')
tf.map_fn(lambda x: x, ['abc','d'])
tf.map_fn(lambda x: tf.io.decode_raw(x,tf.uint8), tf.constant(['ab','cd']), fn_output_signature=tf.uint8)
tf.map_fn(lambda x: tf.io.decode_raw(x,tf.uint8), tf.constant(['ab','cd']), dtype=tf.uint8)
tf.map_fn(tf.strings.split, tf.constant(['a b','c']), fn_output_signature=tf.RaggedTensorSpec([None],tf.string))
tf.map_fn(lambda x: tf.strings.length(x), tf.constant(['a b','c']), fn_output_signature='int32')
tf.map_fn(lambda x: tf.strings.length(x), tf.constant(['a b','c']), np.int32)
tf.map_fn(lambda x: tf.ragged.constant([[1],[2,3]]), i, fn_output_signature=tf.RaggedTensorSpec([None,None],tf.int32))
tf.map_fn(lambda x: tf.ragged.constant([[1],[2,3]]), i, fn_output_signature=tf.int32)
tf.map_fn(lambda x: r[None], i[:0], fn_output_signature=tf.RaggedTensorSpec([None,None,None],tf.int32))
tf.map_fn(lambda x: x, i, fn_output_signature=tf.SparseTensorSpec([2],tf.int32))
tf.map_fn(lambda x: tf.sparse.from_dense([x,0]), i, fn_output_signature=tf.SparseTensorSpec([2],tf.int32))
tf.map_fn(lambda x: None, i); tf.map_fn(lambda x: x, ()); tf.map_fn(lambda x: x, {})
"""
SCANNED = """
tf.scan(lambda a,x: a+x, i, reverse=True); tf.scan(lambda a,x: a+x, i, 1.0)
tf.scan(lambda a,x: a+x[0]*x[1], (i,i), 1); tf.scan(lambda a,x: (a[0]+x,a[1]-x), i, (1,2))
tf.scan(lambda a,x: (a[0]+x[1],a[1]-x[0]), (i,i)); tf.scan(lambda a,x: tf.cast(a,tf.float32), i)
tf.scan(lambda a,x: a, r); tf.scan(lambda a,x: {'a':a['a']+x}, i, {'a':3})
tf.scan(lambda a,x: a+x, i, initializer=tf.constant(1), reverse=True)
tf.scan(lambda a,x: a+x, tf.zeros([0]), (5.0,tf.zeros([2]))); tf.scan(lambda a,x: a+x, 5)
tf.scan(lambda a,x: a+x, tf.zeros([0])); tf.scan(lambda a,x: a+x, tf.zeros([0]), 5.0); tf.scan(lambda a,x: a+x, (i,f))
tf.scan(lambda a,x: [a[0]+x,a[1]], i, [0,1]); tf.scan(lambda a,x: (a[0]+x,a[1]), i, [0,1])
tf.scan(lambda a,x: tf.concat([a,[x]],0), i, tf.zeros([0],tf.int32)); tf.scan(lambda a,x: a, i, 'x')
tf.scan(lambda a,x: 5, i); tf.scan(lambda a,x: 5.5, i)
"""


@pytest.mark.parametrize("text", [MAPPED, SCANNED], ids=["map", "scan"])
def test_the_same_as_tensorflow(text):
    assert not differences(listed(text), SETUP)


def test_a_signature_with_lengths_is_that_of_no_slices():
    result = tf.map_fn(lambda x: x, tf.zeros([0, 2]), fn_output_signature=tf.TensorSpec([None, 3], tf.float32))
    assert result.shape == (0, 0, 3) and result.dtype == tf.float32
