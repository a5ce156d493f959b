"""Functions on tensors, compared with TensorFlow's over dtypes, shapes and wrong arguments."""

import itertools

import pytest

from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SETUP = """
i = tf.constant([3, -7, 0]); f = tf.constant([1.5, -2.5, 0.25]); b = tf.constant([True, False, True])
u = tf.constant([1, 250, 7], tf.uint8); d = tf.constant([1.0, 2.0, -0.5], tf.float64)
l = tf.constant([1, -2**40, 5], tf.int64); s = tf.constant(["a", "bc", ""])
t = tf.reshape(tf.range(24), [2, 3, 4]); g = tf.cast(t, tf.float32) / 7 - 1; e = tf.zeros([0, 3])
m = tf.reshape(t, [4, 6])
r = tf.ragged.constant([[1, 2], [], [3]]); q = tf.sparse.from_dense([[1, 0], [0, 2]])
w = tf.constant(["Hello World", "  x  ", "a,b,,c", ""])
"""
NUMBERS = ["i", "f", "u", "d", "l", "b", "s"]

MADE = """
tf.zeros([2, 3]); tf.zeros(3); tf.zeros([2], tf.string); tf.zeros((), tf.bool); tf.ones([2], tf.int64)
tf.ones([1, 2], 'float16'); tf.zeros_like(t); tf.zeros_like(s); tf.ones_like(f); tf.ones_like(i, tf.float32)
tf.zeros_like([1, 2]); tf.ones_like(b); tf.fill([2, 2], 7); tf.fill([2], 'x'); tf.fill([2], [1]); tf.fill([0], 1.5)
tf.eye(2); tf.eye(2, 3, dtype=tf.int32); tf.eye(2, batch_shape=[2]); tf.range(5); tf.range(2, 10, 3); tf.range(5.0)
tf.range(0, 1, 0.25); tf.range(5, 0, -2); tf.range(0); tf.range(3, dtype=tf.int64); tf.range(5, 0); tf.range(1, 5, 0)
tf.range(tf.constant(4, tf.int64)); tf.range(1, 4.5); tf.linspace(0.0, 1.0, 5); tf.linspace(1, 2, 3)
tf.constant([1, 2], tf.float32); tf.constant(5, shape=[2, 2]); tf.constant([1, 2, 3, 4], shape=[2, 2])
tf.constant([1, 2], shape=[3]); tf.constant([[1], [2, 3]]); tf.constant(2**40); tf.constant(2**70)
tf.constant(1.5, tf.int32); tf.constant('a', tf.int32); tf.constant(['a', 1]); tf.constant([1, 2.5]); tf.constant([])
tf.constant(None); tf.constant(b'a\\0'); tf.constant(300, tf.uint8); tf.constant(-1, tf.uint8)
tf.constant(np.arange(3)); tf.constant(np.array(['a', 'bc'])); tf.constant(np.float64(1.5))
tf.constant([np.int64(3), 4]); tf.constant((1, 2)); tf.constant(1j); tf.constant(True); tf.constant([[]])
tf.constant({'a': 1}); tf.constant(range(3)); tf.convert_to_tensor([1, 2]); tf.convert_to_tensor(i)
tf.convert_to_tensor(i, tf.float32); tf.convert_to_tensor([1, 2], tf.float32); tf.convert_to_tensor([i, i])
tf.convert_to_tensor('x'); tf.cast([1.9, -1.9], tf.int32); tf.cast(b, tf.float32); tf.cast(i, tf.bool)
tf.cast(l, tf.int32); tf.cast(s, tf.int32); tf.cast(i, tf.string); tf.cast(-1, tf.uint8); tf.cast(f, 'float64')
tf.cast(300, tf.uint8); tf.cast(f, tf.float16); tf.cast(r, tf.float32); tf.cast(q, tf.int64); tf.cast(2.7, 'int64')
tf.cast([True], tf.int32); tf.bitcast(f, tf.int32); tf.bitcast(d, tf.float32); tf.one_hot([0, 2], 3)
tf.one_hot(1, 3, on_value=5, off_value=-1); tf.one_hot([0, -1, 5], 2); tf.one_hot([[0, 1]], 2, axis=0)
tf.one_hot([0], 2, dtype=tf.int64); tf.one_hot([1], 2, True, False); tf.sequence_mask([1, 3])
tf.sequence_mask([1, 3], 4); tf.sequence_mask([0, 1], 2, tf.float32); tf.meshgrid([1, 2], [3, 4, 5]); tf.identity(i)
tf.stop_gradient(f)
"""
SHAPES = """
tf.shape(t); tf.shape(s, tf.int64); tf.shape(3); tf.size(t); tf.size(s); tf.rank(t); tf.rank(5); tf.shape([[1, 2]])
tf.size([]); tf.reshape(t, [6, 4]); tf.reshape(t, [-1]); tf.reshape(t, [5, 5]); tf.reshape(t, [-1, -1])
tf.reshape(t, -1); tf.reshape(s, [3, 1]); tf.reshape(i, [tf.constant(3), 1]); tf.reshape(5, [1, 1])
tf.reshape(t, tf.constant([4, 6])); tf.expand_dims(i, 0); tf.expand_dims(i, -1); tf.expand_dims(i, 3)
tf.expand_dims(s, 1); tf.expand_dims(3, 0); tf.squeeze([[1]]); tf.squeeze([[1], [2]], 1); tf.squeeze([[1, 2]], 1)
tf.squeeze([[[1], [2]]], [0, 2]); tf.transpose(t); tf.transpose(t, [1, 0, 2]); tf.transpose(t, [0, 0, 1])
tf.transpose(s); tf.broadcast_to(i, [2, 3]); tf.broadcast_to(i, [2, 2]); tf.ensure_shape(i, [3])
tf.ensure_shape(i, [None]); tf.ensure_shape(i, [2]); tf.stack([1, 2]); tf.stack([i, i], 1); tf.stack([i, [1, 2, 3]])
tf.stack([i, f]); tf.stack([1, 2.5]); tf.stack([s, s]); tf.stack([i, [1]]); tf.stack([]); tf.stack([b, b], -1)
tf.stack(['a', 'b']); tf.stack([u[0], u[1]]); tf.stack((1, 2)); tf.concat([i, i], 0); tf.concat([t, t], -1)
tf.concat([i, f], 0); tf.concat([i, t], 0); tf.concat([[1], [2.5]], 0); tf.concat([s, ['z']], 0); tf.concat([e, e], 0)
tf.concat([i], 0); tf.concat([1, 2], 0); tf.concat([t, t], 3); tf.unstack(i); tf.unstack(t, axis=1); tf.unstack(t, 3)
tf.unstack(t, 2); tf.split(t, 2, 2); tf.split(i, 2); tf.split(i, [1, 2]); tf.split(i, [1, -1]); tf.split(i, [1, 1])
tf.split(t, 3, axis=1); tf.tile(i, [2]); tf.tile(t, [1, 2, 1]); tf.tile(i, [1, 2]); tf.tile(s, [2]); tf.repeat(i, 2)
tf.repeat(i, [1, 0, 2]); tf.repeat(t, 2, axis=1); tf.repeat(i, [1, 2]); tf.repeat('a', 3); tf.pad(i, [[1, 2]])
tf.pad(i, [[1, 1]], constant_values=9); tf.pad(t, [[0, 0], [1, 0], [0, 2]]); tf.pad(i, [[1, 1]], 'REFLECT')
tf.pad(i, [[1, 1]], 'SYMMETRIC'); tf.pad(i, [[1, 1], [1, 1]]); tf.pad(s, [[0, 1]])
tf.pad(f, [[1, 0]], constant_values=1); tf.slice(t, [0, 1, 0], [1, 2, -1]); tf.slice(i, [1], [5])
tf.slice(i, [3], [0]); tf.slice(s, [1], [1]); tf.gather(i, [0, 2]); tf.gather(t, [1, 0], axis=1); tf.gather(i, 1)
tf.gather(i, [5]); tf.gather(i, [-1]); tf.gather(s, [[0], [1]]); tf.gather(t, [[0, 1], [1, 1]], batch_dims=1)
tf.gather(t, [2], axis=-1); tf.gather(t, [[0], [1]], axis=2, batch_dims=1); tf.gather(e, [0]); tf.gather_nd(t, [0, 1])
tf.gather_nd(t, [[0, 1, 2], [1, 2, 3]]); tf.gather_nd(t, [[2, 0]]); tf.gather_nd(i, [[1]])
tf.gather_nd(t, [[1], [2]], batch_dims=1); tf.gather_nd(s, [[0], [2]]); tf.boolean_mask(i, b)
tf.boolean_mask(t, [True, False]); tf.boolean_mask(t, [[True, False, True], [False, False, True]])
tf.boolean_mask(t, [True, False, True], axis=1); tf.boolean_mask(i, [True]); tf.boolean_mask(s, b); tf.where(b)
tf.where([[True, False], [False, True]]); tf.where(b, i, 0); tf.where(b, i, f); tf.where(i > 0, 1.0, 0.0)
tf.where(True, i, 1); tf.where(b, s, 'z'); tf.where(b, i); tf.where([True, False], i, i); tf.where(i)
tf.where(s == 'a'); tf.reverse(i, [0]); tf.reverse(3, [])
tf.size(tf.RaggedTensor.from_row_splits([[1, 2], [3, 4]], [0, 1, 2])); tf.constant('a')[tf.newaxis]
tf.constant(3)[tf.newaxis]; tf.constant(3)[...]; tf.constant(3)[0]; tf.constant('a')[tf.newaxis, ..., None]
i[None, 1:]; tf.constant(3)[None, 0]; tf.size(q); tf.size(r); q * 3; q / 2; tf.size(tf.ragged.constant([[[1], []]]))
tf.reverse(t, [0, 2]); tf.roll(i, 1, 0); tf.roll(t, [1, 2], [0, 1]); tf.sort(i); tf.sort(i, direction='DESCENDING')
tf.sort(t, axis=0); tf.argsort(i); tf.argsort([1, 3, 3, 0], direction='DESCENDING'); tf.sort(i, direction='x')
tf.unique([1, 2, 1]); tf.unique(s)[0]; tf.unique([3, 3]).idx; tf.unique([]); tf.unique([[1]])
"""
SINGLE = (
    "abs negative sign square round floor ceil sqrt rsqrt reciprocal exp expm1 log log1p sin cos tan asin acos "
    "atan sinh cosh tanh sigmoid is_nan is_inf is_finite"
)
DOUBLE = (
    "add subtract multiply divide truediv floordiv floormod pow maximum minimum equal not_equal less less_equal "
    "greater greater_equal atan2 squared_difference divide_no_nan logical_and logical_or"
)
REDUCED = "reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_all reduce_any"
TEXT = """
tf.compat.v1.string_split(['a b', '', ' c  d']); tf.compat.v1.string_split(['a,b', 'c,'], delimiter=',')
tf.compat.v1.string_split(['a,,b', 'c'], ',', skip_empty=False); tf.compat.v1.string_split([])
tf.compat.v1.string_split(['a b', 'c'], result_type='RaggedTensor'); tf.strings.length(w)
tf.strings.length(['äö'], 'UTF8_CHAR'); tf.strings.strip(w); tf.strings.substr(w[0], 1, 3)
tf.strings.substr(['abc', 'def'], [0, 1], [2, 1]); tf.strings.substr('abc', -2, 2); tf.strings.substr('abc', 5, 1)
tf.strings.substr('abc', 3, 1); tf.strings.substr('abc', 1, 99); tf.strings.join(['a', 'b'])
tf.strings.join([s, s], '-'); tf.strings.join([s, 'x']); tf.strings.reduce_join(s)
tf.strings.reduce_join([['a', 'b'], ['c', 'd']], 1)
tf.strings.reduce_join([['a', 'b'], ['c', 'd']], 0, separator='|')
tf.strings.reduce_join(s, keepdims=True, separator=','); tf.strings.split(w); tf.strings.split('a b  c')
tf.strings.split(w, ','); tf.strings.split('a,b,,c', ','); tf.strings.split('a b c', maxsplit=1); tf.strings.split('')
tf.strings.regex_replace(w, 'l+', 'L'); tf.strings.regex_replace('aab', 'a', 'x', replace_global=False)
tf.strings.regex_replace('ab', '(a)(b)', '\\\\2\\\\1'); tf.strings.to_number(['1', '2.5'])
tf.strings.to_number('7', tf.int32); tf.strings.to_number('x'); tf.strings.to_number(['1e3', '-inf', 'nan'])
tf.strings.to_number('3', tf.int64); tf.strings.as_string([1, -2]); tf.strings.as_string([1.5, 2.0])
tf.strings.as_string([True]); tf.strings.as_string(3.14159, precision=2); tf.strings.as_string(7, width=4, fill='0')
tf.as_string(12); tf.strings.as_string(1e10); tf.io.decode_csv(['1,2.5,x', '3,,y'], [0, 1.0, ''])
tf.io.decode_csv('1,"a,b"', [0, '']); tf.io.decode_csv('1,2', [0])
tf.io.decode_csv(',2', [tf.constant([], tf.int32), 0]); tf.io.decode_csv('x,2', [0, 0])
tf.io.decode_csv('1|2', [0, 0], field_delim='|'); tf.io.decode_csv('NA,2', [5, 0], na_value='NA')
tf.io.decode_raw(['ab', 'cd'], tf.uint8); tf.io.decode_raw('abcd', tf.int16); tf.io.decode_raw('abc', tf.int16)
tf.io.parse_tensor(tf.io.serialize_tensor(t), tf.int32); tf.io.parse_tensor(tf.io.serialize_tensor(s), tf.string)
tf.io.parse_tensor(tf.io.serialize_tensor(t), tf.float32)
"""
PARTS = """
tf.ragged.constant([[1, 2], [3]]); tf.ragged.constant([[1.5], []]); tf.ragged.constant([['a'], ['b', 'c']])
tf.ragged.constant([[[1], [2, 3]], [[4]]]); tf.ragged.constant([1, 2]); tf.ragged.constant([[1, 2], 3])
tf.ragged.constant([[], []]); tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1); r.to_list(); r.values
r.row_splits; r.row_lengths(); r.nrows(); r.flat_values; r.shape; r.to_tensor(); r.to_tensor(-1); r[0]; r[1]; r[2]
r[0:2]; r[0, 1]; r.dtype.name; r.ragged_rank; repr(r); str(r); len(r); r[5]; [x for x in r]; r.row_starts()
r.row_limits(); r.value_rowids(); r.bounding_shape(); r.nested_row_splits
tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 3]); tf.RaggedTensor.from_row_lengths([1, 2, 3], [1, 2])
tf.RaggedTensor.from_value_rowids([1, 2], [0, 2]); tf.RaggedTensor.from_row_lengths([1], [2])
tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2); tf.RaggedTensor.from_row_starts([1, 2], [0, 1])
tf.RaggedTensor.from_nested_row_lengths([1, 2, 3], [[2, 0], [1, 2]]); tf.reduce_sum(r, axis=1); tf.reduce_max(r)
tf.concat([r, r], 0); tf.concat([r, r], 1); r + 1; r * r; tf.RaggedTensor.from_tensor([[1, 2], [3, 4]]); q.values
q.indices; q.dense_shape; q.shape; q.dtype.name; tf.sparse.to_dense(q); tf.sparse.to_dense(q, default_value=-1)
repr(q); tf.sparse.reorder(q); tf.sparse.reset_shape(q, [3, 3]); tf.sparse.reset_shape(q, [1, 1])
tf.sparse.reshape(q, [4]); tf.sparse.reshape(q, [-1, 1]); tf.sparse.slice(q, [0, 0], [1, 2]); tf.sparse.from_dense(s)
tf.SparseTensor([[0, 1]], [5], [2, 2]); tf.sparse.to_dense(tf.SparseTensor([[0, 1]], ['x'], [2, 2]))
tf.SparseTensor([[0, 1]], [5, 6], [2, 2]); tf.sparse.to_dense(tf.SparseTensor([[0, 5]], [5], [2, 2]))
tf.SparseTensor(indices=[[0]], values=[1.5], dense_shape=[3])
"""
CALLS = """
tf.cond(True, lambda: 1, lambda: 2); tf.cond(i[0] > 5, lambda: i, lambda: i * 2)
tf.case([(i[0] > 5, lambda: i), (i[0] > 0, lambda: f)]); tf.case([(i[0] > 5, lambda: i)], default=lambda: f)
tf.while_loop(lambda x: x < 10, lambda x: [x * 2], [1])
tf.while_loop(lambda x, y: x < 3, lambda x, y: (x + 1, y * 2), (0, 1)); tf.map_fn(lambda x: x * 2, i)
tf.map_fn(lambda x: tf.cast(x, tf.float32), i, fn_output_signature=tf.float32)
tf.map_fn(lambda x: x, i[:0], fn_output_signature=tf.float32); tf.map_fn(lambda x: x, tf.zeros([0, 2]))
tf.map_fn(lambda x: (x, x), i[:0], fn_output_signature=(tf.int64, tf.string)); tf.map_fn(lambda x: x, s[:0])
tf.map_fn(lambda x: x['a'], {'a': i[:0]}, dtype={'b': tf.bool}); tf.map_fn(lambda x: x, {'a': i[:0]})
tf.map_fn(lambda x: x[0] + x[1], (i, i), fn_output_signature=tf.int32); tf.scan(lambda a, x: a + x, i)
tf.py_function(lambda x: x.numpy() * 2, [i], tf.int32); tf.numpy_function(lambda x: x * 2, [i], tf.int32)
tf.py_function(lambda x, y: (x, y), [i, f], [tf.int32, tf.float32])
tf.numpy_function(lambda x: np.float32(3), [i], tf.float32); tf.py_function(lambda: 5, [], tf.int64)
tf.numpy_function(lambda x: x, [s], tf.string); tf.function(lambda x: x + 1)(i); tf.executing_eagerly()
tf.nest.flatten({'b': 1, 'a': (2, [3])}); tf.nest.map_structure(lambda x: x + 1, {'a': 1, 'b': (2, 3)})
tf.nest.map_structure(lambda x, y: x + y, [1], [2]); tf.nest.map_structure(lambda x, y: x, [1], [2, 3])
tf.nest.pack_sequence_as({'a': 0, 'b': [0, 0]}, [1, 2, 3]); tf.nest.is_nested([1])
tf.nest.assert_same_structure([1], (1,)); tf.nest.assert_same_structure({'a': 1}, {'b': 1})
tf.debugging.assert_equal(i, i); tf.debugging.assert_equal(i, f); tf.debugging.assert_greater(i, 100)
tf.debugging.assert_less_equal(i, 100); tf.Assert(True, []); tf.Assert(False, ['x']); tf.debugging.assert_rank(i, 1)
tf.debugging.assert_rank(i, 2); tf.debugging.assert_positive([1, 2]); tf.debugging.assert_positive(i)
tf.debugging.assert_non_negative([0, 1.5]); tf.debugging.assert_non_negative(f); tf.debugging.assert_negative([-1])
tf.debugging.assert_non_positive([0, -1]); tf.debugging.assert_non_positive(u); tf.debugging.assert_negative([0])
tf.debugging.assert_shapes([(i, ['n']), (f, ['n'])]); tf.debugging.assert_shapes([(i, ['n']), (t, ['n', 3, 4])])
tf.debugging.assert_shapes([(t, [2, None, 4])]); tf.debugging.assert_shapes([(t, ['a', 'b'])])
tf.debugging.assert_shapes([(t, (..., 4))]); tf.debugging.assert_shapes([(t, (2, ...))])
tf.debugging.assert_shapes([(t, (..., 5))]); tf.debugging.assert_shapes([(t, ('*', 3, 'x')), (i, ('x',))])
tf.clip_by_value(i, 0, 2); tf.clip_by_value(f, -1.0, 1.0); tf.clip_by_value(i, 0.5, 2); tf.add_n([i, i])
tf.add_n([i, t]); tf.matmul(m, m, transpose_b=True); tf.matmul(i, i); tf.matmul(g, g, transpose_a=True)
tf.tensordot(f, f, 1); tf.norm(f); tf.norm(g, axis=1); tf.argmax(i); tf.argmin(t, axis=1); tf.argmax(t, 2, tf.int32)
tf.argmax(3); tf.cumsum(i); tf.cumsum(t, 1, reverse=True); tf.cumsum(i, exclusive=True); tf.reduce_all(i)
"""


@pytest.mark.parametrize("text", [MADE, SHAPES, TEXT, PARTS, CALLS], ids=["made", "shapes", "text", "parts", "calls"])
def test_functions(text):
    assert not differences(listed(text), SETUP)


@pytest.mark.parametrize("name", SINGLE.split())
def test_functions_of_one_number(name):
    values = [
        *NUMBERS,
        "g",
        "e",
        "3",
        "1.5",
        "[1.0, 4.0]",
        "np.array([0.5])",
        "tf.constant([float('nan'), float('inf')])",
    ]
    assert not differences([f"tf.math.{name}({x})" for x in values], SETUP)


@pytest.mark.parametrize("name", DOUBLE.split())
def test_functions_of_two_numbers(name):
    values = [*NUMBERS, "2", "1.5", "[1, 2, 3]", "[1, 2]"]
    assert not differences([f"tf.math.{name}({x}, {y})" for x, y in itertools.product(values, repeat=2)], SETUP)


@pytest.mark.parametrize("name", REDUCED.split())
def test_reductions(name):
    each = ["{}", "{}, 0", "{}, axis=-1", "{}, keepdims=True", "{}, axis=[0]", "{}, axis=5", "{}, 0, True"]
    values = ["i", "f", "b", "d", "s", "t", "g", "e", "l", "b[None]", "[1, 2]", "True"]
    assert not differences(
        [
            f"tf.{'math.' if 'std' in name or 'var' in name else ''}{name}({item.format(x)})"
            for item in each
            for x in values
        ],
        SETUP,
        1e-4,
    )
