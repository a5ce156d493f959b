"""Tensors: copies, references, items of strings, NumPy's functions on them, specs, optionals and nests."""

import copy
import pickle

import numpy as np
import pytest

import tfrecord_fast.tensorflow as tf_compat
from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed
from tfrecord_fast.tensorflow.tensors.tensor import ArrayTensor, Strings
from tfrecord_fast.values.columns.bytes_array import BytesArray

needs_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SETUP = """
import collections, copy, pickle
i = tf.constant([3, -7, 0]); f = tf.constant([[1.5, -2.5], [0.25, 4.0]]); s = tf.constant("abc")
w = tf.constant(["a", "b"])
n = tf.constant(5); b = tf.constant([True, False]); r = tf.ragged.constant([[1, 2], [3]])
q = tf.sparse.from_dense([[1, 0], [0, 2]]); P = collections.namedtuple("P", "x y"); N = tf.nest

def failed(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__
"""
OPERATORS = """
2 ** i[:1]; 2.0 ** f; [2, 3] ** i[:2]; np.float32(2) ** f; 2 ** n; 7 // n; 7 % n; 7 / n; 7.5 // f; 7.5 % f; 7.5 / f
7 - n; [[1.0, 2.0]] @ f; np.ones([1, 2], np.float32) @ f; [[1, 2]] @ f; f @ [[1.0], [2.0]]; f @ [[1.0, 2.0, 3.0]]
[1.0, 2.0] @ f; f @ f; f @ [1.0, 2.0]; n @ n; f @ np.ones([2, 1], np.float32); [[1.0]] @ f; +s; -f; abs(i); ~b; ~n
f @ r; r @ f; 2 & n; 2 | n; 2 ^ n; n & 3; True & b; [True, True] ^ b; i[0] + 1; n == None; n != None; i == None
None == n; i == "a"; n.cpu(); n.ref() == n.ref(); n.ref() == i.ref(); n.ref() != n.ref(); n.ref() is None
hash(n.ref()) == hash(n.ref()); n.ref().deref(); {n.ref(): 1}[n.ref()]; repr(n.ref())
len({n.ref(), i.ref(), n.ref()}); i.ref().deref() is i; copy.copy(i); copy.deepcopy(f); copy.copy(s); copy.deepcopy(w)
copy.deepcopy({"a": i})["a"]; n.name; n.op; n.graph; n.nothing; n.eval(); failed(lambda: n.eval()); len(n); len(i)
len(f); iter(n); list(i); list(f); s[()]; s[...]; s[None]; s[..., None]; w[0]; w[-1]; w[::-1]; w[:1]; n[...]; n[None]
n[()]; n[0]; w[5]; w[None, 0]; str(s); repr(s); f"{n}"; f"{n:03d}"; f"{i}"; f"{f[0, 0]:.3f}"; str(w); repr(w); str(f)
repr(b); str(n); f"{s}"; repr(n); i.shape; s.shape; s.shape.rank; s.get_shape(); s.dtype; s.ndim; w.ndim; n.ndim
w.shape; s.set_shape([]); s.set_shape([1]); i.set_shape([3]); i.set_shape([None]); i.set_shape([2]); i.set_shape(None)
failed(lambda: i.set_shape([2, 2])); bool(n); bool(tf.constant(0)); bool(i); bool(s); bool(tf.constant("")); bool(b)
bool(i[:1]); not n; int(n); float(n); int(s); bool(tf.zeros([0])); bool(tf.constant([[1]])); hash(n); hash(i)
n in [n]; i[0].numpy(); type(n.numpy()).__name__; s.numpy(); w.__array__(); np.array(w).tolist()
np.array(i, np.float32); np.asarray(f, dtype=np.float64); np.add(i, 1).dtype.name; np.sum(i); np.mean(f)
np.stack([i, i]).tolist(); np.concatenate([i, i]).tolist(); np.exp(f).tolist(); np.modf(f)[1].tolist()
np.divmod(i, 2)[0].tolist(); np.maximum(i, 0).tolist(); np.array([i, i]).tolist(); np.sqrt(f[1]).tolist()[1:]
np.add.reduce(i).item(); np.multiply.outer(i, i).tolist(); np.add(i, i, out=np.zeros(3, np.int32)).tolist()
tuple(np.shape(f)); np.where(b, 1, 2).tolist(); np.array_equal(i, i); np.allclose(f, f); np.argmax(i).item()
np.size(f); np.ndim(f); np.broadcast_to(n, [2]).tolist(); np.split(f, 2)[0].tolist(); np.array([1, 2, 3]) + i
np.int32(2) * i; np.float32(2) / f; np.array([[1.0, 2.0]], np.float32) @ f; np.int64(2) + i; np.uint8(2) == i
np.array([3, -7, 1]) == i; np.array([3, 1, 0]) != i
"""
CHANGED = """
i.__setitem__(0, 1); f.__setitem__((0, 0), 1.0); (lambda x: x.__class__)(n) is n.__class__; isinstance(s, tf.Tensor)
isinstance(w, tf.Tensor); isinstance(n, tf.Tensor); tf.is_tensor(r); isinstance(r, tf.RaggedTensor)
isinstance(q, tf.SparseTensor); isinstance(r, tf.Tensor); isinstance(q, tf.Tensor)
"""
SPECS = """
tf.TensorSpec([1, None]); tf.TensorSpec(None, tf.string); tf.TensorSpec([], "int32", "n"); tf.TensorSpec(3).shape
tf.TensorSpec([2]).dtype; tf.TensorSpec([2], name="x").name; tf.TensorSpec([2]).name
tf.TensorSpec([2]).value_type.__name__; tf.TensorSpec.from_tensor(f); tf.TensorSpec.from_tensor(f, "n")
tf.TensorSpec.from_tensor(i, name="m"); tf.TensorSpec.from_spec(tf.TensorSpec([1], tf.int32, "a"))
tf.TensorSpec.from_spec(tf.TensorSpec([1], tf.int32, "a"), "b")
tf.TensorSpec.from_spec(tf.TensorSpec([1], tf.int32), name="c"); tf.SparseTensorSpec([2, 3], tf.int64)
tf.SparseTensorSpec(); tf.SparseTensorSpec([2]).value_type.__name__; tf.SparseTensorSpec([2]).dtype
tf.SparseTensorSpec(None, "string").shape; tf.RaggedTensorSpec([2, None], tf.int32)
tf.RaggedTensorSpec([2, None]).ragged_rank; tf.RaggedTensorSpec([None, None, 3])
tf.RaggedTensorSpec([2, None, None]).ragged_rank; tf.RaggedTensorSpec([2, None, 3], ragged_rank=1)
tf.RaggedTensorSpec(ragged_rank=2); tf.RaggedTensorSpec([2, None], row_splits_dtype=tf.int32)
tf.RaggedTensorSpec([2, None]).dtype; tf.RaggedTensorSpec([2, None]).value_type.__name__
tf.RaggedTensorSpec([2, None]).row_splits_dtype; tf.TensorSpec([1]) == tf.TensorSpec([1])
tf.TensorSpec([1]) == tf.TensorSpec([2]); tf.TensorSpec([1]) != tf.TensorSpec([1])
tf.TensorSpec([1]) == tf.TensorSpec([1], tf.int32); tf.TensorSpec([1], name="a") == tf.TensorSpec([1])
tf.TensorSpec([1]) == 3; tf.SparseTensorSpec([1]) == tf.SparseTensorSpec([1])
tf.SparseTensorSpec([1]) == tf.TensorSpec([1]); tf.SparseTensorSpec([1]) == tf.SparseTensorSpec([1], tf.int32)
tf.SparseTensorSpec([1]) == tf.SparseTensorSpec([None])
tf.RaggedTensorSpec([1, None]) == tf.RaggedTensorSpec([1, None])
tf.RaggedTensorSpec([1, None]) == tf.RaggedTensorSpec([2, None])
tf.RaggedTensorSpec([1, None]) == tf.RaggedTensorSpec([1, None], row_splits_dtype=tf.int32)
tf.RaggedTensorSpec([1, None, None]) == tf.RaggedTensorSpec([1, None, None], ragged_rank=1)
hash(tf.TensorSpec([1])) == hash(tf.TensorSpec([1])); hash(tf.SparseTensorSpec([1])) == hash(tf.SparseTensorSpec([1]))
{tf.TensorSpec([1]): 2}[tf.TensorSpec([1])]; {tf.SparseTensorSpec([1]): 2}[tf.SparseTensorSpec([1])]
{tf.RaggedTensorSpec([1, None]): 2}[tf.RaggedTensorSpec([1, None])]
pickle.loads(pickle.dumps(tf.TensorSpec([1, None], "int8", "n"))); copy.deepcopy(tf.TensorSpec([1]))
copy.copy(tf.SparseTensorSpec([2], tf.string)); copy.deepcopy(tf.RaggedTensorSpec([1, None, None]))
tf.TensorSpec([None, 2]).is_compatible_with(f); tf.TensorSpec([2]).is_compatible_with(f)
tf.TensorSpec([3], tf.int32).is_compatible_with(i); tf.TensorSpec([3]).is_compatible_with(i)
tf.TensorSpec(None).is_compatible_with(f); tf.TensorSpec([3]).is_compatible_with(r)
tf.TensorSpec([2]).is_compatible_with(tf.TensorSpec([None]))
tf.TensorSpec([2]).is_compatible_with(tf.TensorSpec([3]))
tf.TensorSpec([2]).is_compatible_with(tf.TensorSpec([2], tf.int32))
tf.SparseTensorSpec([2, 2], tf.int32).is_compatible_with(q)
tf.SparseTensorSpec([2, 3], tf.int32).is_compatible_with(q)
tf.RaggedTensorSpec([2, None], tf.int32).is_compatible_with(r)
tf.RaggedTensorSpec([3, None], tf.int32).is_compatible_with(r)
tf.RaggedTensorSpec([2, None], tf.int32).is_compatible_with(i); tf.TypeSpec.__name__
isinstance(tf.TensorSpec([1]), tf.TypeSpec); isinstance(tf.RaggedTensorSpec([1, None]), tf.TypeSpec)
"""
ELEMENTS = """
iter(D.range(2)).get_next(); iter(D.range(0)).get_next(); iter(D.range(2)).element_spec
failed(lambda: pickle.dumps(iter(D.range(1))) and 1) != 1; tf.data.experimental.cardinality(D.range(3))
tf.data.experimental.cardinality(D.range(3).repeat()); list(D.range(4).batch(2).apply(tf.data.experimental.unbatch()))
list(D.range(3).apply(tf.data.experimental.ignore_errors(True))); list(tf.data.experimental.Counter().take(3))
list(tf.data.experimental.Counter(5, 2).take(2)); list(tf.data.experimental.from_list([1, 2]))
list(tf.data.experimental.Counter(start=5, step=-1, dtype=tf.int32).take(2))
tf.data.experimental.from_list([i, i]).element_spec
list(tf.data.experimental.from_list([{"a": 1}, {"a": 2}], name="n")); tf.data.experimental.from_list([])
tf.compat.v1.data.get_output_shapes(T); tf.compat.v1.data.get_output_types(T); T.element_spec
[kind.__name__ for kind in N.flatten(tf.compat.v1.data.get_output_classes(T))]
tf.compat.v1.data.make_one_shot_iterator(D.range(2)).get_next()
tf.compat.v1.data.get_output_shapes(D.from_tensors(r))
tf.compat.v1.data.get_output_classes(D.from_tensors(q)).__name__
list(D.range(5).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s))); list(D.range(3).filter(lambda x: x > 0))
D.range(3).map(map_func=3); list(D.range(5).scan(tf.constant(0, tf.int64), lambda s, x: s + x))
list(D.range(3).filter(lambda x: x)); D.range(3).filter(predicate=3); list(D.range(3).filter(lambda x: [x > 0]))
list(D.range(3).filter(lambda x: None)); D.range(3).scan(initial_state=0, scan_func=3)
D.range(3).flat_map(map_func=3); list(D.range(3).scan(tf.constant(0, tf.int64), lambda s, x: (s, x, x)))
list(D.range(3).map(lambda x: [x, x + 1])); D.range(3).take_while(predicate=3)
D.range(3).reduce(tf.constant(0, tf.int64), lambda s, x: s + x); D.range(3).reduce(0, lambda s, x: 1.5)
len(D.range(3)); D.range(0).get_single_element()
"""
NESTS = """
N.map_structure(lambda: 1); N.map_structure(lambda x: x + 1, {"b": 1, "a": (2, [3])})
N.map_structure(lambda a, b: a - b, [5], [3]); N.map_structure(lambda a, b: a - b, [5], (3,), check_types=False)
N.map_structure(lambda a, b: a, [5], (3,)); N.flatten({"b": 1, "a": [2]})
N.map_structure(lambda a, b: a, [5], [3, 4]); N.pack_sequence_as([1, (2, 3)], [4, 5, 6])
N.pack_sequence_as([1, 2], [4]); N.pack_sequence_as({"b": 0, "a": 0}, [1, 2]); N.pack_sequence_as(P(0, 0), [1, 2]).y
N.flatten(P(1, (2,))); N.flatten(None); N.is_nested([1]); N.assert_same_structure([1], [2])
N.assert_same_structure([1], 2); N.assert_same_structure(1, [2]); N.assert_same_structure([1], (1,))
N.assert_same_structure([1], (1,), check_types=False); N.assert_same_structure({"a": 1}, {"b": 1})
N.assert_same_structure([1], [1, 2]); N.assert_same_structure({"a": [1]}, {"a": 1})
N.assert_same_structure(P(1, 2), P(3, 4)); N.is_nested({}); N.is_nested("ab"); N.is_nested(i)
N.assert_same_structure([[1]], [(1,)], check_types=False); N.assert_same_structure([[1]], [(1,)])
N.pack_sequence_as(1, [2]); N.flatten(()); N.assert_same_structure(collections.OrderedDict(a=1), {"a": 1})
N.pack_sequence_as(collections.OrderedDict(b=1, a=2), [3, 4])
"""
DATASETS = """
D = tf.data.Dataset; T = D.from_tensors({"a": i, "b": (s, f)})
"""


@needs_tensorflow
@pytest.mark.parametrize(
    "text", [OPERATORS, CHANGED, SPECS, ELEMENTS, NESTS], ids="values own specs elements nests".split()
)
def test_the_same_as_of_tensorflow(text):
    assert not differences(listed(text), SETUP + DATASETS)


OLD = """
V.where([True, False], [1, 2], [3, 4]); V.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]])
V.where([True, False]); V.where(True, [1, 2], [3, 4]); V.where([[True, False]], [[1, 2]], [[3, 4]])
V.where([True, False], [1, 2], [3]); V.where(True, 1, 2); V.where([True], [1, 2], [3, 4])
V.where([True, False], [[1], [2]], [[3], [4]]); V.where([True, False], 1, 2); V.where(False, 1, 2)
V.where(condition=[True, False, True], x=[1, 2, 3], y=[4, 5, 6], name="n")
V.where([True, False], [[[1]], [[2]]], [[[3]], [[4]]]); V.where([[True], [False]], [[1, 2], [3, 4]], [[5, 6], [7, 8]])
V.to_float([1, 2]); V.to_double(3); V.to_int32([1.7]); V.to_int64([True]); V.to_float(["a"])
V.to_int32(x=[2.5], name="n"); V.reduce_join([["a", "b"]], 1); V.reduce_join([["a", "b"]], 0, True, ",")
V.reduce_join([["a", "b"]], 1, keep_dims=True); V.reduce_join([["a", "b"]], reduction_indices=0)
V.reduce_join([["a", "b"]], separator="-"); V.reduce_join([["a", "b"]], axis=1, keepdims=True, separator="-")
V.string_split(["a b", "c"]); V.string_split(["a,b", ""], ","); V.string_split(["a  b"], skip_empty=False)
V.string_split(["a  b", " "]); V.string_split(["a,b"], delimiter=",", skip_empty=False)
V.string_split(["a b"], result_type="RaggedTensor"); V.string_split([], " "); V.string_split(["", ""])
V.string_split(source=["a-b"], sep="-"); V.string_split(["a b", "c d e"], result_type="RaggedTensor")
V.string_split([""], skip_empty=False); V.string_split(["a,b"], ",", False)
V.image.resize_bilinear([[[[1.0], [2.0]], [[3.0], [4.0]]]], [3, 3])
V.image.resize_bilinear([[[[1.0], [2.0]]]], [1, 4], align_corners=True)
V.image.resize_nearest_neighbor([[[[1.0], [2.0]]]], [1, 4])
V.image.resize_nearest_neighbor([[[[1.0], [2.0]]]], [1, 5], align_corners=True)
V.image.resize_bilinear([[[[1.0], [2.0]]]], [1, 4], True)
V.image.resize_nearest_neighbor(images=[[[[1, 2]], [[3, 4]]]], size=[1, 1])
V.image.resize_nearest_neighbor([[[[1.0], [2.0], [5.0]]]], [1, 2], True); V.py_func(lambda x: x + 1, [f], tf.float32)
V.py_func(lambda x, y: (x + 1, y), [n, f], [tf.int32, tf.float32])
V.py_func(func=lambda: np.int64(3), inp=[], Tout=tf.int64, stateful=False); V.random_crop(f, [1, 2]).shape
V.random_crop(tf.ones([5, 4]), [2, 3], seed=1); V.random_crop(f, [3, 2]); V.data.experimental.AUTOTUNE
V.executing_eagerly_outside_functions(); V.enable_eager_execution(); V.lin_space(0.0, 1.0, 3); V.arg_max([1, 3, 2], 0)
V.ceil([1.5]); V.io.decode_raw(["ab"], tf.uint8); V.decode_raw("ab", tf.uint8); V.string_strip([" a "])
V.substr("abc", 1, 1); V.log(1.0); V.arg_min([2, 1], 0); V.string_to_number(["1.5"]); V.string_join(["a", "b"], "-")
V.sparse_tensor_to_dense(q); V.sparse_tensor_to_dense(q, 7); V.image.flip_left_right(f[None])
V.data.Dataset.range(2).element_spec; V.train.Feature.__name__; V.io.parse_tensor(V.serialize_tensor(i), tf.int32)
V.parse_tensor(V.io.serialize_tensor(f), tf.float32)
D.range(2).output_shapes if hasattr(D.range(2), "output_shapes") and False else 0; tf.compat.as_bytes("a")
tf.compat.as_str_any(5); tf.compat.path_to_str("a")
"""


@needs_tensorflow
def test_tensorflow_1s_functions():
    assert not differences(listed(OLD), SETUP + DATASETS + "V = tf.compat.v1\n")


def test_what_needs_graphs():
    old = tf_compat.compat.v1
    for name in ("disable_eager_execution", "disable_v2_behavior"):
        with pytest.raises(NotImplementedError, match="has no graphs: remove disable_eager_execution"):
            getattr(old, name)()
    with pytest.raises(NotImplementedError, match="no placeholders: pass the values directly"):
        old.placeholder(tf_compat.float32, [1])
    with pytest.raises(NotImplementedError, match=r"use tf\.data\.TFRecordDataset"):
        old.TFRecordReader(name="x")
    with pytest.raises(NotImplementedError, match=r"is \.numpy\(\) what you're looking for"):
        tf_compat.constant(1).eval()


def test_what_datasets_have_of_tensorflow_1():
    dataset = tf_compat.data.Dataset.from_tensors(
        {"a": tf_compat.constant([1, 2]), "b": tf_compat.sparse.from_dense([["x"]])}
    )
    assert dataset.output_shapes == {"a": [2], "b": [1, 1]}
    assert dataset.output_types == {"a": tf_compat.int32, "b": tf_compat.string}
    assert dataset.output_classes == {"a": tf_compat.Tensor, "b": tf_compat.SparseTensor}
    iterator = tf_compat.compat.v1.data.make_initializable_iterator(dataset)
    assert iterator.initializer is None and iterator.get_next()["a"].numpy().tolist() == [1, 2]
    with pytest.raises(tf_compat.errors.OutOfRangeError, match="End of sequence"):
        iterator.get_next()
    with pytest.raises(TypeError, match="cannot pickle an iterator"):
        pickle.dumps(iterator)


def test_functions_of_datasets_that_give_something_else():
    numbers = tf_compat.data.Dataset.range(3)
    with pytest.raises(TypeError, match=r"`scan_func` must return a pair"):
        list(numbers.scan(tf_compat.constant(0, tf_compat.int64), lambda state, x: state))
    with pytest.raises(ValueError, match=r"`predicate` must return a `tf.bool` scalar"):
        list(numbers.filter(lambda x: None))
    with pytest.raises(TypeError, match="expected a function, got 3"):
        numbers.map(map_func=3)


def test_files_that_are_listed(tmp_path):
    for name in "abc":
        (tmp_path / name).write_text(name)
    listing = tf_compat.data.Dataset.list_files(tf_compat.constant(f"{tmp_path}/*"), shuffle=tf_compat.constant(False))
    assert [path.numpy().decode()[-1] for path in listing] == ["a", "b", "c"]
    shuffled = [
        [path.numpy() for path in tf_compat.data.Dataset.list_files(f"{tmp_path}/*", seed=seed)] for seed in range(8)
    ]
    assert len({tuple(paths) for paths in shuffled}) > 1 and all(
        sorted(paths) == sorted(shuffled[0]) for paths in shuffled
    )


@pytest.mark.parametrize(
    "result", [np.asarray([b"a", b"bc"], object), BytesArray([b"a", b"bc"])], ids=["array", "bytes"]
)
def test_strings_stay_where_they_are(result):
    strings = Strings(result)
    assert strings.shape == (2,) and strings.get_shape().as_list() == [2] and strings.ndim == 1 and len(strings) == 2
    assert strings.dtype == tf_compat.string and strings.numpy().tolist() == [b"a", b"bc"]
    assert type(strings[:1]) is Strings and strings[:1].numpy().tolist() == [b"a"]
    assert type(strings[::-1]) is ArrayTensor and strings[::-1].numpy().tolist() == [b"bc", b"a"]
    assert strings[1] == b"bc" and isinstance(strings[1], tf_compat.Tensor) and strings[0:1:1].shape == (1,)
    assert np.asarray(strings).dtype == object and strings.__array__("S2").dtype == "S2"
    again = pickle.loads(pickle.dumps(strings))
    assert type(again) is Strings and again.numpy().tolist() == [b"a", b"bc"]
    assert bool(Strings(result[:1])) and [piece.numpy() for piece in strings] == [b"a", b"bc"]
    with pytest.raises(ValueError, match="ambiguous"):
        bool(strings)


def test_string_tensors_are_bytes():
    text = tf_compat.constant("abc")
    assert hash(text) == hash(b"abc") and {text: 1}[b"abc"] == 1 and text[0] == 97 and text[1:] == b"bc"
    assert text[...].shape == () and text[None].shape == (1,) and text[None][0] == b"abc" and text.ndim == 0
    assert type(pickle.loads(pickle.dumps(text))) is type(text) and pickle.loads(pickle.dumps(text)) == b"abc"
    assert text.__array__().shape == () and text.__array__("S4").dtype == "S4" and text.__array__().dtype == object
    assert tf_compat.constant("%d") % 3 == b"3" and len(text) == 3 and list(text) == [97, 98, 99]
    with pytest.raises(TypeError, match=r"pass its `\.numpy\(\)`"):
        int(text)


def test_tensors_do_not_change():
    tensor = tf_compat.constant([1, 2])
    before = tensor
    tensor += 1
    assert before.numpy().tolist() == [1, 2] and tensor.numpy().tolist() == [2, 3]
    with pytest.raises(TypeError, match="does not support item assignment"):
        tensor[0] = 5
    with pytest.raises(ValueError, match=r"shape \(2,\) is not compatible with supplied shape \(3,\)"):
        tensor.set_shape([3])
    for name in ("name", "op", "graph", "consumers", "value_index"):
        with pytest.raises(AttributeError, match=f"Tensor.{name} is undefined when eager execution"):
            getattr(tensor, name)
    with pytest.raises(AttributeError):
        tensor.shape = (2, 1)
    assert copy.deepcopy(tensor).numpy().tolist() == [2, 3]
    again = pickle.loads(pickle.dumps(tensor))
    assert type(again) is ArrayTensor and again.dtype == tf_compat.int32 and again.shape == [2]
