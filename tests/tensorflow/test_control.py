"""Conditions, loops, functions that are called, and assertions: as TensorFlow has them."""

import pytest

from tests.support import live_tensorflow
from tests.tensorflow.shared_values import CALLED, VALUES
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

CONTROL = """
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
"""
MAPPED = """
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
"""


def test_conditions_loops_and_assertions():
    assert not differences(listed(CONTROL), VALUES)


def test_functions_that_are_called():
    assert not differences(listed(MAPPED), CALLED)
