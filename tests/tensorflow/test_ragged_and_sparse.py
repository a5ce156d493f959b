"""SparseTensor and RaggedTensor: components, items, methods, operators, text, pickles and errors."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import tfrecord_fast.tensorflow as tf_compat
from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed

needs_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

PLACES = """
s = tf.SparseTensor([[0, 1], [2, 0]], [3, -4], [3, 2]); t = tf.SparseTensor([[0, 1], [2, 0]], ["a", "b"], [3, 2])
f = tf.SparseTensor([[1]], [1.5], [4]); d = tf.SparseTensor([[0, 1, 1]], tf.constant([2], tf.int64), [1, 2, 3])
n = tf.SparseTensor(tf.zeros([0, 2], tf.int64), tf.zeros([0], tf.int32), [3, 2])
"""
OF_PLACES = listed("""
{}; {}.indices; {}.values; {}.dense_shape; {}.shape; {}.get_shape(); {}.dtype.name; str({}.dtype); {} * 2; {} * -1.5
{} / 2; {} / 2.0; {} * 'a'; {}.with_values({}.values); {}.with_values([5]); {}.with_values([7, 8])
{}.with_values(['x', 'y']); {}.shape.rank; {}.get_shape().as_list(); {} * None
tf.SparseTensor.from_value(tf.compat.v1.SparseTensorValue({}.indices, {}.values, {}.dense_shape))
tf.sparse.to_dense({}); type({}).__name__; {} * tf.constant(2); {} / tf.constant(2.0); {} * np.float32(2)
""")
MADE_OF_PLACES = """
tf.SparseTensor([[0]], [1], [2]); tf.SparseTensor([[0, 0]], [1], [2]); tf.SparseTensor([[0]], [1, 2], [2])
tf.SparseTensor([0], [1], [2]); tf.SparseTensor([[0]], 1, [2])
tf.SparseTensor(values=[1], indices=[[1]], dense_shape=[2]); tf.SparseTensor([[0]], [1], 2)
tf.SparseTensor(np.array([[0]]), np.array([1.5]), np.array([2])).dtype.name
tf.SparseTensor(tf.constant([[0]], tf.int64), tf.constant(["a"]), tf.constant([2], tf.int64))
tf.SparseTensor([[0]], [1])
"""
ROWS = """
R = tf.RaggedTensor
r = tf.ragged.constant([[1, 2], [], [3]]); f = tf.ragged.constant([[1.5], [-2.5, 3.5]])
w = tf.ragged.constant([["a"], []])
q = tf.ragged.constant([[[1], [2, 3]], [], [[4]]]); e = tf.ragged.constant([[], []], tf.int32); b = r > 1
z = R.from_row_splits(tf.zeros([0], tf.int32), [0]); v = R.from_row_splits([[1, 2], [3, 4], [5, 6]], [0, 2, 3])
i = R.from_row_splits([1, 2, 3], tf.constant([0, 1, 3], tf.int32)); u = R.from_uniform_row_length([1, 2, 3, 4], 2)
k = tf.ragged.constant([[1, 2], [3, 4]]); one = tf.ragged.constant([[1, 2, 3]])
l = tf.ragged.constant([[1], [2]], tf.int64)

def failed(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__

def nested(value):
    return [nested(part) for part in value] if isinstance(value, np.ndarray) else value

def shown(value):
    return nested(value.numpy()), str(value.numpy().dtype), str(value.numpy().shape)
"""
NAMES = ["r", "f", "w", "q", "e", "b", "z", "v", "i", "k", "one", "l"]
OF_ROWS = listed("""
{}; {}.shape; {}.get_shape(); {}.dtype.name; {}.ragged_rank; {}.row_splits; {}.values; {}.flat_values; {}.nrows()
{}.nrows(tf.int32); {}.nrows(out_type=tf.int64); {}.nrows(name='n'); {}.value_rowids(); {}.bounding_shape()
{}.bounding_shape(0); {}.bounding_shape(axis=1); {}.bounding_shape([0, 1]); {}.bounding_shape(axis=-1)
{}.bounding_shape(out_type=tf.int32); {}.row_lengths(); {}.row_starts(); {}.row_limits(); {}.nested_row_splits
{}.to_list(); {}.to_sparse(); {}.to_tensor(); shown({}); {}[0]; {}[-1]; {}[1]; {}[9]; {}[-9]; {}[:1]; {}[1:]; {}[-1:]
{}[5:]; {}[:-1]; {}[0, 0]; {}[0, :1]; {}[0, -1:]; {}[:, :1]; {}[:, 1:]; {}[:, -1:]; {}[:2, 0:1]; {}[:1, 0]
{}[0:0, :1]; {}[0, 0:1]; {}[(0,)]; {}[(slice(0, 1),)]; {}[tf.constant(0)]; {}[...]; {}[None].to_list(); {}[0, 9]
{}['a']; {}[0, ..., :1]; [one for one in {}]; len([one for one in {}]); bool({}); not {}; -{}; abs({}); ~{}
{}.with_values({}.values); {}.with_flat_values({}.flat_values); {}.with_flat_values([9]); {}.with_values([9])
{}.with_flat_values(tf.zeros_like({}.flat_values)); len({}); hash({}) == hash({}); {}.nothing
{}.row_splits.dtype.name; {}[::2]; {}[0].shape; {}.to_tensor(9); {}.bounding_shape().dtype.name
{}.to_sparse(name='n'); {}.nrows().dtype.name; {}.value_rowids(name='n')
""")
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^"]
SIDES = {
    "r": ["2", "[2]", "[[2]]", "[[2], [3], [4]]", "tf.constant([[2], [3], [4]])", "[[2], [3]]", "[2, 3]", "r", "None"],
    "f": ["2", "2.5", "[[2.5]]", "[[2], [3]]", "tf.constant([[2.5], [3.5]])", "f", "np.float32(2)", "'a'"],
    "w": ["'a'", "[['a'], ['b']]", "w", "1"],
    "q": ["2", "[[[2]]]", "q", "[[2]]", "[[2], [3], [4]]"],
    "b": ["r > 0"],
    "k": ["[[2], [3]]", "[[2, 3]]", "[[2, 3], [4, 5]]", "k", "tf.constant([[1]])", "tf.constant(1)"],
    "e": ["1", "e", "[[1], [2]]"],
    "v": ["2", "[1, 2]", "[[1], [2]]", "[[[1]], [[2]]]", "tf.constant([[[1, 2]], [[3, 4]]])", "[[[1]]]", "v"],
}
UNIFORM = """
u; u.shape; u.to_list(); u[:1]; u[1:]; u[-1:].shape; u[5:].shape; u[:, :1].to_list(); u[:, -1:].to_list(); u[0]; u[-1]
u[9]; u[...].to_list(); u[None].to_list(); u.with_values([5, 6, 7, 8]); u.with_values([5.5, 6, 7, 8]).shape
u.with_values([5]); u.with_flat_values([5, 6, 7, 8]).shape; (u + 1).shape; (k + u).to_list() == (u + k).to_list()
(-u).shape; (u * u).shape; (u > 2).shape; abs(u); u.values; u.row_splits; u.bounding_shape(); u.nrows(); u.to_tensor()
u.to_sparse(); u.row_lengths(); shown(u); [one for one in u]; u.dtype.name; u.get_shape(); u + [[1], [2]]
tf.RaggedTensor.from_uniform_row_length(['a', 'b'], 1)[1:]; repr(r); repr(f); repr(w); repr(q); repr(e); str(r)
repr(z); repr(r[:1]); repr(one); f"{r}"; tf.constant([True, False, True])[:, None] & b
b & tf.constant([[True], [False], [True]]); True & b; False | b; True ^ b; b ^ [[True], [False], [True]]
[[True], [False], [True]] | b; tf.constant(1) + r; tf.constant(2) * r; r * r; tf.constant([2]) + r
tf.constant([2, 3]) + r; tf.constant(7) - r; tf.constant(7) // (r + 1); tf.constant(7) % (r + 1); tf.constant(2) ** r
tf.constant(2) < r; tf.constant(2) >= r; tf.constant(2) == r; tf.constant(2) != r; tf.constant(6) / r
tf.constant('x') + w; w + tf.constant('x'); tf.constant(1.5) + r; tf.constant(1.5) == r; np.int32(2) + r
np.float32(2) * f; R.numpy(q)[2].tolist(); R.numpy(q)[2].dtype.name; R.numpy(q[:1])[0].dtype.name
shown(tf.ragged.constant([[[1, 2], [3]], [[3, 4], [5]]])); shown(tf.ragged.constant([[['a']], [['b', 'c']]]))
shown(tf.ragged.constant([[[1, 2], [3]], [[3, 4]]])); shown(v); shown(q[:0])
"""
MADE = """
R.from_row_splits([1, 2, 3], [0, 1, 3]); R.from_row_splits([1, 2, 3], [0, 4]); R.from_row_splits([1, 2], [1, 2])
R.from_row_splits([1, 2], [0, 2, 1]); R.from_row_splits([1, 2], []); R.from_row_splits(['a'], [0, 1], name='n')
R.from_row_splits([1, 2], row_splits=[0, 2]); R.from_row_splits(values=[1, 2], row_splits=[0, 2], validate=False)
R.from_row_splits([1, 2], [0, 1], validate=False); R.from_row_splits([1, 2], [0, 2], 'n', True)
R.from_row_splits(r, [0, 3]); R.from_row_lengths([1, 2, 3], [1, 2]); R.from_row_lengths([1, 2, 3], [1, 1])
R.from_row_lengths([1, 2, 3], [-1, 4]); R.from_row_lengths(values=[1], row_lengths=[0, 1], name='n')
R.from_row_lengths(r, [1, 2]); R.from_row_lengths([], []); R.from_row_starts([1, 2, 3], [0, 1])
R.from_row_starts([1, 2, 3], [1]); R.from_row_starts([1, 2], [0, 2, 2]); R.from_row_starts([1, 2], row_starts=[0, 0])
R.from_row_limits([1, 2, 3], [1, 3]); R.from_row_limits([1, 2, 3], [1, 2])
R.from_row_limits([1, 2], row_limits=[0, 2], name='x'); R.from_nested_row_splits([1, 2, 3], [[0, 1, 2], [0, 1, 3]])
R.from_nested_row_splits([1, 2, 3], ([0, 2], [0, 1, 3])); R.from_nested_row_splits([1, 2, 3], [])
R.from_nested_row_splits(flat_values=[1], nested_row_splits=[[0, 1]], name='n', validate=True)
R.from_nested_row_lengths([1, 2, 3], [[1, 1], [1, 2]]); R.from_nested_row_lengths([1, 2, 3], [[2, 0], [2, 1]])
R.from_nested_row_lengths([1, 2, 3], [[1], [1, 2]])
R.from_nested_row_lengths(flat_values=[1], nested_row_lengths=[[1]])
R.from_nested_value_rowids([1, 2, 3], [[0, 1], [0, 0, 1]], [3, 2]); R.from_nested_value_rowids([1, 2], [[0, 2]])
R.from_nested_value_rowids([1, 2, 3], [[0, 0], [0, 0, 1]], [1, 3])
R.from_nested_value_rowids([1], [[0]], nested_nrows=[2]); R.from_nested_value_rowids([1, 2], [[0, 2]], [5, 6])
R.from_nested_value_rowids([1, 2], [[0, 2]], [2]); R.from_value_rowids([1, 2], [0, 2], nrows=0)
R.from_value_rowids([1, 2], [1, 0]); R.from_value_rowids([1, 2], [0, -1]); R.from_value_rowids([1, 2], [0])
R.from_value_rowids(values=[1, 2], value_rowids=[1, 1], nrows=tf.constant(3, tf.int64))
R.from_value_rowids([1, 2], [0, 2], validate=False); R.from_value_rowids([], [])
R.from_value_rowids([1], [0], 1).shape; R.from_uniform_row_length([1, 2, 3, 4], 2).shape
R.from_uniform_row_length([1, 2, 3, 4], 3); R.from_uniform_row_length([1, 2, 3, 4], 2, nrows=2)
R.from_uniform_row_length([1, 2, 3, 4], 2, nrows=3); R.from_uniform_row_length([], 0, nrows=2).shape
R.from_uniform_row_length([], 2); R.from_uniform_row_length(r, 3); R.from_uniform_row_length(r, 1).shape
R.from_uniform_row_length([[1, 2], [3, 4]], 1).shape; R.from_uniform_row_length([1], 1, 1)
R.from_uniform_row_length(values=[1, 2], uniform_row_length=tf.constant(1), name='n')
R.from_uniform_row_length([1], -1); R.from_tensor([[1, 2], [3, 4]]).shape
R.from_tensor([[1, 2], [3, 4]], lengths=[1, 0]); R.from_tensor([[1, 2]], [5])
R.from_tensor([[1, 2], [3, 4]], lengths=[2, 2]).shape; R.from_tensor([1, 2]); R.from_tensor([[1, 0, 2, 0]], padding=0)
R.from_tensor([[1, 0], [0, 0]], padding=0).shape; R.from_tensor([['a', ''], ['', '']], padding='')
R.from_tensor([[1.5, 0.0], [2.5, 3.5]], padding=0.0); R.from_tensor([[[1, 2], [3, 4]]], lengths=[1]); R.from_tensor(5)
R.from_tensor([[1, 2], [3, 4]], lengths=tf.constant([1, 2])).row_splits; R.from_tensor([[1, 2]], name='n')
R.from_tensor([[1, 2], [3, 4]], row_splits_dtype=tf.int32).row_splits; R.from_tensor([[1, 2], [3, 4]], lengths=[1])
R.from_tensor([[1, 0]], padding=0, row_splits_dtype=tf.int32).row_splits.dtype.name
R.from_tensor(np.ones([2, 2])).dtype.name
R.from_tensor([[1, 2]], lengths=[1], row_splits_dtype=tf.int32).row_splits.dtype.name
R.from_tensor([[1, 2]], lengths=[-1]); R.from_tensor([[1, 0]], [1], 0)
R.from_sparse(tf.sparse.from_dense([[1, 2], [3, 0]])).shape; R.from_sparse(tf.sparse.from_dense([[0, 2], [3, 0]]))
R.from_sparse(tf.sparse.from_dense([[1, 0], [0, 0], [2, 3]]))
R.from_sparse(st_input=tf.sparse.from_dense([[1]]), name='n', row_splits_dtype=tf.int32).row_splits
R.from_sparse([1]); R.from_sparse(tf.sparse.from_dense([1, 2])); R.from_sparse(r)
R.from_row_lengths(values=[1, 2], row_lengths=[0, 2]); R.from_row_limits(values=r, row_limits=[0, 3])
R.from_row_starts(row_starts=[0, 1], values=[1, 2]); R.from_row_splits([1, 2]); R.from_row_splits()
R.from_row_splits([1, 2], [0, 2], 'n', True, 5); R.from_row_splits([1, 2], [0, 2], row_splits=[0, 2])
R.from_nested_row_splits([1, 2], [[0, 2]], 'n', False); R.from_nested_row_lengths([1, 2], [])
R.from_tensor([[[1, 0], [0, 0]]], padding=[0, 0]); R.from_tensor([[[1, 0]]], padding=0)
R.from_tensor([[[1, 0], [2, 3]]], padding=0, ragged_rank=2); R.from_tensor([[[1, 0]]], [1], ragged_rank=2)
R.from_tensor([[[1, 0], [2, 3]]], [1, 2], ragged_rank=2, row_splits_dtype=tf.int32).nested_row_splits
R.from_tensor([[[1]]], ragged_rank=2); R.from_tensor([[[1]]], ragged_rank=3); R.from_tensor([['a', 'b']], padding='b')
"""


@needs_tensorflow
@pytest.mark.parametrize("name", ["s", "t", "f", "d", "n"])
def test_values_in_places(name):
    assert not differences([item.replace("{}", name) for item in OF_PLACES], PLACES)


@needs_tensorflow
def test_sparse_tensors_of_parts():
    assert not differences(listed(MADE_OF_PLACES))


@needs_tensorflow
@pytest.mark.parametrize("name", NAMES)
def test_rows(name):
    assert not differences([item.replace("{}", name) for item in OF_ROWS], ROWS)


@needs_tensorflow
@pytest.mark.parametrize("name", list(SIDES))
def test_operators_of_rows(name):
    pairs = list(itertools.product(OPERATORS, SIDES[name]))
    assert not differences([f"{name} {sign} {other}" for sign, other in pairs], ROWS)


@needs_tensorflow
@pytest.mark.parametrize("name", list(SIDES))
def test_operators_with_rows_on_the_right(name):
    pairs = itertools.product(["+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">="], SIDES[name])
    assert not differences([f"{other} {sign} {name}" for sign, other in pairs], ROWS)


@needs_tensorflow
def test_rows_of_one_length_and_tensors_with_rows():
    assert not differences(listed(UNIFORM), ROWS)


@pytest.mark.parametrize("result", [pickle.dumps, copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
def test_copies_of_rows_and_places(result):
    def copied(value):
        return pickle.loads(result(value)) if result is pickle.dumps else result(value)

    rows = tf_compat.ragged.constant([[1, 2], []], "int64")
    assert copied(rows).to_list() == [[1, 2], []] and copied(rows).dtype == "int64"
    uniform = copied(tf_compat.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2))
    assert uniform.shape == (2, 2) and uniform.to_list() == [[1, 2], [3, 4]]
    places = copied(tf_compat.SparseTensor([[0, 1]], ["a"], [2, 3]))
    assert isinstance(places, tf_compat.SparseTensor) and places.indices.numpy().tolist() == [[0, 1]]
    assert places.values.numpy().tolist() == [b"a"] and places.dense_shape.numpy().tolist() == [2, 3]


def test_parts_of_a_sparse_tensor():
    places = tf_compat.SparseTensor([[0, 1], [1, 0]], [5, 6], [2, 3])
    assert len(places) == 2 and [piece.numpy().tolist() for piece in places] == [[[0, 1], [1, 0]], [5, 6], [2, 3]]
    assert places.row_splits.numpy().tolist() == [0, 1, 2] and type(places.numpy()).__module__.startswith(
        "tfrecord_fast"
    )
    again = tf_compat.SparseTensor.from_value(places)
    assert again.shape == (2, 3) and again.values.numpy().tolist() == [5, 6]
    for operate in (lambda: places * [1, 2], lambda: places / np.array([1, 2])):
        with pytest.raises(TypeError, match=r"can only be .* by a number"):
            operate()


def test_what_rows_refuse():
    rows = tf_compat.ragged.constant([[1, 2], [3]])
    with pytest.raises(TypeError, match="may not be used as a boolean"):
        bool(rows)
    with pytest.raises(ValueError, match="Cannot index into an inner ragged dimension"):
        rows[:, 0]
    with pytest.raises(tf_compat.errors.InvalidArgumentError, match="does not broadcast to the rows of a RaggedTensor"):
        _ = rows + np.array([[[1]]])
    with pytest.raises(tf_compat.errors.InvalidArgumentError, match="different row lengths"):
        rows + tf_compat.ragged.constant([[1], [2, 3]])
    with pytest.raises(tf_compat.errors.InvalidArgumentError, match="expected a bool tensor but got one of int32"):
        _ = ~rows
    with pytest.raises(tf_compat.errors.InvalidArgumentError, match="axis=2"):
        rows.bounding_shape(2)
    with pytest.raises(tf_compat.errors.InvalidArgumentError, match="nrows=3, but 2 values"):
        tf_compat.RaggedTensor.from_uniform_row_length([1, 2], 2, nrows=3)
    with pytest.raises(tf_compat.errors.InvalidArgumentError, match="less than the number of rows, 2"):
        tf_compat.RaggedTensor.from_value_rowids([1], [1], nrows=1)
    with pytest.raises(tf_compat.errors.InvalidArgumentError, match="nrows must be one integer"):
        tf_compat.RaggedTensor.from_value_rowids([1], [1], nrows=[1])
    with pytest.raises(tf_compat.errors.InvalidArgumentError, match="not right-ragged"):
        tf_compat.RaggedTensor.from_sparse(tf_compat.SparseTensor([[0, 1]], [1], [1, 2]))
    with pytest.raises(ValueError, match="must be 2, got 1"):
        tf_compat.RaggedTensor.from_sparse(tf_compat.SparseTensor([[0]], [1], [1]))
    with pytest.raises(TypeError, match="Expected SparseTensor, got RaggedTensor"):
        tf_compat.RaggedTensor.from_sparse(rows)
    with pytest.raises(ValueError, match="2 numbers for 1 nested"):
        tf_compat.RaggedTensor.from_nested_value_rowids([1], [[0]], [1, 2])
    with pytest.raises(ValueError, match=r"ragged_rank must be in \[1, 2\], got 3"):
        tf_compat.RaggedTensor.from_tensor([[[1]]], ragged_rank=3)
    with pytest.raises(
        tf_compat.errors.InvalidArgumentError, match=r"padding of shape \(\) does not fit values of shape \(2,\)"
    ):
        tf_compat.RaggedTensor.from_tensor([[[1, 0]]], padding=0)
    with pytest.raises(TypeError, match="takes values, row_splits, name and validate, got 5 arguments"):
        tf_compat.RaggedTensor.from_row_splits([1], [0, 1], None, True, 5)
    with pytest.raises(TypeError, match="several values for"):
        tf_compat.RaggedTensor.from_row_splits([1], [0, 1], row_splits=[0, 1])
    with pytest.raises(ValueError, match="only one of"):
        tf_compat.RaggedTensor.from_tensor([[1]], [1], 0)
    with pytest.raises(AttributeError, match="__nothing__"):
        _ = rows.__nothing__


@needs_tensorflow
def test_rows_are_made_in_many_ways():
    assert not differences(listed(MADE), ROWS)
