"""Dtypes, empty values and rare arguments are accepted or refused as in TensorFlow."""

import pytest

from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

FOLDED = """
tf.scan(lambda a, x: a + x, tf.constant([1., 2.]), initializer=0)
"""
MAPPED = """
tf.map_fn(lambda x: x, tf.zeros([0]), fn_output_signature=tf.RaggedTensorSpec([2, None], tf.int32))
tf.map_fn(lambda x: x, tf.zeros([0]), fn_output_signature=tf.RaggedTensorSpec([None, None], tf.int32))
tf.map_fn(lambda x: x, tf.zeros([0]), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
tf.map_fn(lambda x: x, tf.zeros([0]), fn_output_signature=tf.RaggedTensorSpec([None, 3], tf.int32))
tf.map_fn(lambda x: x, tf.zeros([0]), fn_output_signature=tf.RaggedTensorSpec([None, 3], tf.int32, 1))
tf.map_fn(lambda x: x, tf.zeros([0]), fn_output_signature=tf.RaggedTensorSpec([2, None, None], tf.string))
tf.map_fn(lambda x: x, tf.zeros([0]), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32, 0, tf.int32)).row_splits
tf.map_fn(lambda x: tf.reverse(x, [0]), tf.ragged.constant([[[1], [2, 3]], [[4]]]))
tf.map_fn(lambda x: x[::-1], tf.ragged.constant([[[1], [2, 3]], [[4]]]))
tf.reverse(tf.ragged.constant([[1], [2, 3]]), [0]); tf.reverse(tf.ragged.constant([[1], [2, 3]]), [1])
tf.reverse(tf.ragged.constant([[1], [2, 3]]), [0, 1]); tf.reverse(tf.ragged.constant([[[1], [2, 3]], [[4]]]), [-1])
tf.reverse(tf.ragged.constant([[1], [2, 3]]), [2]); tf.reverse(tf.ragged.constant([[[1], [2, 3]], [[4]]]), [1])
tf.reverse(tf.ragged.constant([[1], [2, 3]]), [])
"""
RAGGED = """
r = tf.ragged.constant([[1, 2], [3]]); k = tf.ragged.constant([[1, 2], [3, 0]]); f = tf.ragged.constant([[-1.5], [2.5]])
q = tf.ragged.constant([[[1, 2], [3]], [[4], []], []]); i = tf.ragged.constant([[1], [2, 3]], row_splits_dtype=tf.int32)
b = tf.ragged.constant([[True], [False]]); M = tf.RaggedTensor; u = M.from_tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
w = M.from_row_splits([[1, 2], [3, 4]], [0, 1, 2]); m = M.from_tensor([[1, 2], [3, 4]])
s = tf.ragged.constant([["a"], ["b"]])
o = tf.SparseTensor([[1, 0], [0, 1], [0, 0]], [3, 2, 1], [2, 2])
"""
ROWS = """
tf.one_hot(r, 4); tf.one_hot(k, 3); tf.one_hot(q, 5); tf.one_hot(k, 3, axis=2); tf.one_hot(k, 3, axis=1)
tf.negative(r); tf.one_hot(i, 3).row_splits; tf.negative(k); tf.negative(q); tf.abs(f); tf.square(k)
tf.expand_dims(r, 0); tf.expand_dims(r, 1); tf.expand_dims(r, 2); tf.expand_dims(r, -1); tf.expand_dims(r, -3)
tf.expand_dims(r, 3); tf.expand_dims(k, 0); tf.expand_dims(k, 1); tf.expand_dims(q, 2); tf.expand_dims(q, 3)
tf.expand_dims(w, 2); tf.expand_dims(i, 0); tf.math.logical_not(b); tf.exp(f); tf.math.rint(f)
tf.clip_by_value(r, 1, 2); tf.sign(f); tf.stop_gradient(f); tf.math.softplus(f); tf.sigmoid(f); tf.round(f)
tf.math.divide_no_nan(f, 2.0); tf.math.logical_and(b, b); tf.math.logical_and(b, True); tf.math.divide_no_nan(f, f)
tf.math.is_nan(f); tf.bitcast(f, tf.int32); tf.concat([i, i], 0).row_splits; tf.concat([i, i], 1).row_splits
tf.stack([i, i]).row_splits; tf.concat([i, r], 0); tf.concat([i, [[1], [2]]], 1).row_splits
tf.stack([i, i], 1).values.row_splits; M.from_tensor([[1]], row_splits_dtype=tf.int32).row_splits
M.from_tensor([[1, 0]], padding=0, row_splits_dtype=tf.int32).row_splits
M.from_tensor([[1, 2]], [1], row_splits_dtype=tf.int32).row_splits
M.from_tensor([[[1, 2]]], ragged_rank=2).nested_row_splits; M.from_tensor([[[1, 2]]], ragged_rank=2)
M.from_tensor([[1]], ragged_rank=2); M.from_tensor([[1]], ragged_rank=0); r.bounding_shape(out_type=tf.int32)
i.bounding_shape(); i.bounding_shape(out_type=tf.int64); r.bounding_shape(1, out_type=tf.int32)
r.bounding_shape([0, 1]); M.from_row_splits([1], np.array([0, 1], np.uint8)).row_splits
M.from_row_lengths([1], np.array([1], np.uint8)).row_splits
M.from_value_rowids([1], np.array([0], np.int8)).row_splits
M.from_row_splits([1], tf.constant([0, 1], tf.int32)).row_splits
M.from_nested_row_splits([1], [np.array([0, 1], np.uint8)]).row_splits
M.from_row_starts([1], np.array([0], np.int16)).row_splits
M.from_row_limits([1], np.array([1], np.uint32)).row_splits; q.merge_dims(0, 1); q.merge_dims(1, 2)
q.merge_dims(0, 2); q.merge_dims(-2, -1); q.merge_dims(1, 1); q.merge_dims(2, 1); q.merge_dims(0, 3)
r.merge_dims(0, 1); w.merge_dims(1, 2); w.merge_dims(0, 1); w.merge_dims(0, 2); u.merge_dims(1, 2); i.merge_dims(0, 1)
m.merge_dims(0, 1); q.nested_row_lengths(); q.nested_value_rowids(); i.nested_row_lengths(); i.nested_value_rowids()
q.uniform_row_length; m.uniform_row_length; w.uniform_row_length; q.row_lengths(); q.row_lengths(2)
q.row_lengths(axis=0); i.row_lengths(); w.row_lengths(2); q.row_lengths(-1); q.row_lengths(3)
i.with_row_splits_dtype(tf.int64).row_splits; m.with_row_splits_dtype(tf.int32).uniform_row_length
m.with_row_splits_dtype(tf.int32); q.with_values([1]); q.with_flat_values([1, 2, 3, 4.5]); q.with_flat_values([1])
M.from_sparse(o); M.from_sparse(tf.sparse.reorder(o)); m.with_values([5, 6, 7, 8]); r.with_values(i)
tf.reduce_sum(m, 1); m + m; m + 1; -m; tf.cast(m, tf.int64); m.numpy(); m.to_tensor(); tf.size(k); tf.rank(q)
tf.identity(m); tf.zeros_like(q); tf.zeros_like(m)
"""
TYPES = """
tf.strings.length(b"a\\xf4\\x90\\x80\\x80", unit="UTF8_CHAR")
tf.strings.length([b"\\x80\\x80", b"\\xc3"], unit="UTF8_CHAR"); tf.strings.to_number("1", tf.string)
tf.strings.to_number("1", tf.float16); tf.strings.to_number("1", tf.bool); tf.strings.to_number("1", tf.uint8)
tf.strings.to_number("1", tf.int32); tf.strings.to_number("1", tf.float64); tf.strings.to_number("1", tf.uint32)
tf.strings.to_number("1", tf.uint64); tf.strings.to_number("1", tf.int8); tf.strings.to_number("1", tf.int16)
tf.strings.to_number("1", tf.bfloat16); tf.strings.to_number("1", tf.complex64)
tf.transpose([[True, False]], conjugate=True); tf.transpose([["a", "b"]], conjugate=True)
tf.transpose([[1j]], conjugate=True); tf.transpose([[1]], conjugate=True); tf.constant("a") + b"b\\0"
b"\\0" + tf.constant("a"); tf.add("a", b"\\0")
"""
TAKEN = """
B = tf.bfloat16; x = tf.constant([1.5, -2.0, 3.25], B); e = tf.zeros([0], tf.int32); g = tf.zeros([0], B)
"""
TAKING = """
tf.reduce_min(x); tf.reduce_max(x); tf.reduce_max(g); tf.reduce_min(g); tf.reduce_max(tf.constant([np.nan, 1.0]))
tf.reduce_max(tf.zeros([0])); tf.reshape(tf.zeros([0]), [0, -1]); tf.reshape(tf.zeros([0, 2]), [-1])
tf.reshape(tf.zeros([0]), [-1, 0]); tf.reshape([1, 2], [0, -1]); tf.reshape(tf.zeros([0]), [2, -1])
tf.reshape(tf.zeros([0]), [-1, -1]); tf.reshape(tf.zeros([0, 3]), [0, 3, -1]); tf.reshape([1], [-2])
tf.reshape(tf.zeros([0], tf.string), [0, -1]); tf.reshape(5, [-1]); tf.reshape([5], []); tf.reshape(tf.zeros([0]), [])
tf.scatter_nd([[1], [0]], ["a", "b"], [3]); tf.scatter_nd([[1], [1]], ["a", "b"], [3])
tf.scatter_nd([[1], [1]], [1, 2], [3]); tf.scatter_nd([[1]], [True], [3]); tf.scatter_nd([[3]], ["a"], [3])
tf.scatter_nd(tf.zeros([0, 1], tf.int32), tf.zeros([0], tf.string), [2])
tf.tensor_scatter_nd_update(["a", "b"], [[1]], ["c"]); tf.scatter_nd([[1], [1]], [True, True], [3]); tf.pow(e, e)
tf.pow(e, -1); tf.math.floordiv(e, 0); tf.math.floordiv(e, e); tf.math.floormod(e, 0); tf.pow(e, 2); tf.pow([2], -1)
tf.math.floordiv([1], 0); tf.math.floordiv(e, 1); e // 0; e % 0; e ** -1; tf.math.floormod(2, e)
tf.math.floordiv(2, e); tf.pow(-1, e); tf.pow(tf.zeros([0, 2], tf.int64), tf.constant([[-1], [2]], tf.int64)[:0])
tf.math.floordiv(tf.zeros([2, 0], tf.int32), [[0], [1]])
"""
REFUSED = """
tf.cumsum([True]); tf.cumsum(["a"]); tf.cumsum([1j]); tf.cumsum(1); tf.cumsum([1, 2], 1)
tf.cumsum([1.5], tf.constant(0)); tf.argmax(["a"]); tf.argmin(["a"]); tf.argmax([True, False]); tf.argmax([1j])
tf.argmax([1, 2], 1); tf.argmax([1, 2], output_type=tf.int32); tf.argmax([1, 2], output_type=tf.float32)
tf.argmax([1], output_type=tf.uint16); tf.argmax(tf.zeros([0])); tf.argmax(tf.zeros([0, 2]))
tf.argmin([1], output_type=tf.uint16); tf.argmax(tf.zeros([2, 0]), 0); tf.argmax(tf.zeros([2, 0]), 1)
tf.argmax([1], output_type=tf.int8); tf.argmax(tf.constant([1.0, np.nan], tf.bfloat16))
tf.clip_by_value("a", "a", "b"); tf.clip_by_value([True], False, True); tf.clip_by_value(["a"], "a", "b")
tf.clip_by_value([1j], 0j, 1j); tf.clip_by_value([1, 5], 2, 3); tf.clip_by_value([1.5], [[1.0], [2.0]], 3.0)
tf.clip_by_value([1, 5], [2, 2], [3, 3]); tf.clip_by_value(1, [2, 2], 3); tf.clip_by_value([1, 2, 3], [1, 2], 3)
tf.clip_by_value(tf.constant([200], tf.uint8), 1, 100); tf.clip_by_value([1.5], 0, 1); tf.clip_by_value([5], 3, 1)
tf.strings.join([["a", "b"], ["c"]]); tf.strings.join([["a", "b"], [["c"], ["d"]]])
tf.strings.join(["a", ["b", "c"]]); tf.strings.join([["a"], "b"]); tf.strings.join([]); tf.strings.join(["a"])
tf.strings.join([["a"], ["b", "c"]]); tf.strings.join([1, 2]); tf.strings.join(["a", "b"], ["-"])
tf.strings.join([["a"], ["b"]], "-"); tf.strings.join([[["a"]], ["b"]])
tf.strings.join([tf.zeros([0], tf.string), "a"]); tf.strings.join([tf.zeros([0], tf.string), ["a"]])
tf.strings.join("ab"); tf.strings.substr("abc", [0, 1], [1, 1]); tf.strings.substr(["abc"], [0, 1], [1, 1])
tf.strings.substr(["abc", "def"], 0, [1, 2]); tf.strings.substr(["abc", "def"], [0, 1], 1)
tf.strings.substr("abc", [0, 1], 1); tf.strings.substr(["abc", "def"], [[0], [1]], [[1], [2]])
tf.strings.substr(["abc", "def"], [0], [1]); tf.strings.substr([["abc"], ["def"]], [0, 1], [1, 2])
tf.strings.substr(["abc"], [[0, 1]], [[1, 2]]); tf.strings.substr("abc", [[[0]]], [[[1]]])
tf.strings.substr([["ab", "cd"]], 0, 1); tf.strings.substr([["ab", "cd"]], [0, 1], [1, 1])
tf.strings.substr([["ab", "cd"]], [[0], [1]], [[1], [1]]); tf.strings.substr([[["ab"]]], [[[0]]], [[[1]]])
tf.strings.substr([[["ab"]]], 0, 1); tf.strings.substr([[["ab"]]], [0], [1]); tf.strings.substr("abc", [0], [1])
tf.strings.substr("abc", [0], [1, 1]); tf.strings.substr(1, 0, 1)
tf.strings.substr("abc", tf.constant(0, tf.int8), tf.constant(1, tf.int8))
tf.strings.substr("abc", 0, tf.constant(1, tf.int64)); tf.strings.substr("abc", 0.5, 1)
tf.one_hot(tf.constant([1], tf.uint32), 2); tf.one_hot([0], -1); tf.one_hot([0], 0)
tf.one_hot(tf.constant([1], tf.uint8), 2); tf.one_hot(tf.constant([1], tf.int8), 2)
tf.one_hot(tf.constant([1], tf.int64), 2); tf.one_hot(tf.constant([1], tf.uint64), 2)
tf.one_hot(tf.constant([1], tf.int16), 2); tf.one_hot(tf.constant([1], tf.uint16), 2); tf.one_hot([0], [2])
tf.one_hot([0], 2.5); tf.one_hot([0], tf.constant(2, tf.int64)); tf.one_hot([0, 1], 3, axis=2)
tf.one_hot([0, 1], 3, axis=-2); tf.one_hot([0, 1], 3, axis=0); tf.one_hot([0], 2, on_value="a", off_value="b")
tf.one_hot([0], 2, on_value=True); tf.one_hot([0], 2, 1, 0.5); tf.one_hot([0], 2, 1, 0, dtype=tf.float32)
tf.one_hot(0, 2); tf.one_hot([0], 2, dtype=tf.string); tf.one_hot([0], 2, on_value=5); tf.one_hot([0], 2, off_value=5)
tf.one_hot([0], 2, on_value=[1]); tf.one_hot([5, -1], 2); tf.one_hot(tf.zeros([0], tf.int32), 2)
tf.split([1, 2], [-1]); tf.split([1, 2], [1, -1]); tf.split([1, 2], [-1, -1]); tf.split([1, 2], [-1, 3])
tf.split([1, 2], 3); tf.split([1, 2], 0); tf.split([1, 2], -1); tf.split([1, 2], [2, 0]); tf.split([1, 2], [])
tf.split(5, 1); tf.split([1, 2], 2, axis=1); tf.split([1, 2], 2, axis=-1); tf.split([1, 2], 1.0)
tf.split([1, 2], [-2, 4]); tf.split([1, 2], [2]); tf.split([1, 2, 3], [1, 1]); tf.split([1, 2, 3], [-1, 1], num=2)
tf.split([1, 2, 3], [-1, 1], num=3); tf.split([[1, 2]], [1, -1], 1); tf.split(tf.zeros([0]), 2)
tf.split(tf.zeros([0]), [-1]); tf.reverse([1, 2], axis=0); tf.reverse([1, 2], [0]); tf.reverse([1, 2], [0, 0])
tf.reverse([1, 2], [1]); tf.reverse(1, []); tf.reverse([[1, 2]], [-1]); tf.reverse([[1, 2]], [0, -2])
tf.reverse([1, 2], [0.0]); tf.reverse(["a", "b"], [0]); tf.tile([1, 2], 2); tf.tile([1, 2], [2])
tf.tile([1, 2], [-1]); tf.tile([1, 2], [0]); tf.tile(1, []); tf.tile([1, 2], [1.0]); tf.tile([1, 2], [1, 2])
tf.tile([[1]], 2); tf.tile(["a"], [2]); tf.tile([1], tf.constant([2], tf.int64))
"""
FILES = """
import os, tempfile
folder = tempfile.mkdtemp()

def columns(data, *names, **options):
    path = os.path.join(folder, str(len(os.listdir(folder))))
    with open(path, "wb") as file:
        file.write(data)
    return list(tf.data.experimental.make_csv_dataset(path, 2, num_epochs=1, shuffle=False, **options))
"""
BLANK = """
columns(b'a\\n1\\n\\n2\\n'); columns(b'a\\n\\n1\\n'); columns(b'a\\n1\\n\\n'); columns(b'a\\n1\\n2\\n')
columns(b'a,b\\n1,2\\n\\n3,4\\n'); columns(b'\\na\\n1\\n'); columns(b'a\\nx\\n\\ny\\n')
columns(b'a\\n1\\n\\n2\\n', column_defaults=[5]); columns(b'a\\n1\\n""\\n2\\n')
columns(b'1\\n\\n2\\n', header=False, column_names=['a']); columns(b'a\\r\\n1\\r\\n\\r\\n2\\r\\n')
columns(b'a\\n1\\n \\n2\\n'); columns(b'a\\n1\\n\\n\\n2'); columns(b'a,b\\n1,2\\n\\n3,4\\n', select_columns=['a'])
columns(b'a\\n1\\n\\n2\\n', num_rows_for_inference=1); columns(b'a\\n\\n\\n')
"""


@pytest.mark.parametrize("text", [FOLDED, MAPPED], ids=["folded", "mapped"])
def test_functions_that_call_functions(text):
    assert not differences(listed(text))


def test_rows():
    assert not differences(listed(ROWS), RAGGED)


def test_types():
    assert not differences(listed(TYPES))


def test_rare_and_empty_values():
    assert not differences(listed(TAKING), TAKEN)


def test_what_is_refused():
    assert not differences(listed(REFUSED))


def test_blank_lines():
    assert not differences(listed(BLANK), FILES)
