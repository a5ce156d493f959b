"""Tensors have TensorFlow's operators, items, text and attributes."""

import itertools

import pytest

import tfrecord_fast.tensorflow as tf_compat
from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SETUP = """
i = tf.constant([1, -7]); f = tf.constant([1.0, -2.5]); b = tf.constant([True, False])
u = tf.constant([1, 250], tf.uint8); d = tf.constant([1.0, 2.0], tf.float64); l = tf.constant([1, -2**40], tf.int64)
s = tf.constant(["a", "b"]); h = tf.constant([1.0, 2.0], tf.float16); z = tf.constant([0, 0])
t = tf.reshape(tf.range(24), [2, 3, 4]); e = tf.zeros([0, 3])
"""
OTHERS = [
    *("1", "1.5", "True", '"a"', "[1, 2]", "[1.5, 2.5]", "2**40", "None", "300", "-1"),
    *("np.float32(1.5)", "np.float64(2)", "np.int64(3)", "np.uint8(3)", "np.array([1.5, 2.5])", "np.array([1, 2])"),
    *("np.array([True, False])", "np.array([1, 2, 3])", "[]"),
]
EACH = """
-{}; ~{}; abs({}); bool({}[0]); int({}[0]); float({}[0]); len({}); {}.ndim; str({}); repr({}); repr({}[0]); str({}[0])
{}.dtype.name; repr({}.dtype); str({}.dtype); {}[1].numpy(); repr({}.shape); str({}.shape); {}.shape.as_list()
{}.get_shape().rank; not {}[0]; f'{{{}[0]}}'; {}.set_shape([2]); {}.set_shape([None]); {}.set_shape([3])
{}.set_shape(None); bool({}); hash({})
"""
KEYS = """
0; -1; 5; -3; 1:; :5; ::-1; ::2; 5:; ...; None; ..., None; tf.newaxis; tf.constant(1); tf.constant(1):; 0, 1; 0, 1, 2
:, 1; ..., 0; 0, ..., 1:3; 1:0; ::0; 0.5; 'a'; :, None, 1; -1, -1; :, -2:; 0, 9
"""
SEQUENCES = """
list(i); [x for x in t]; list(tf.constant(3)); sorted(i); list(zip(i, f)); sum(i); max(i); i.ref() == i.ref()
i.shape == [2]; i.shape == (2,); i.shape + [3]; t.shape[1]; t.shape[1:]; len(t.shape); list(t.shape); tuple(t.shape)
t.shape.num_elements(); t.shape.is_fully_defined(); t.shape.ndims; t.shape.concatenate([5]); np.mean(i)
np.sum(t, axis=0); np.array(f); np.asarray(s); np.concatenate([i, i]); np.stack([f, f]); np.add(i, 1).tolist()
isinstance(i, tf.Tensor); isinstance(s[0], tf.Tensor); isinstance(3, tf.Tensor); tf.is_tensor(s); i.nonexistent; i.op
i.name; i.eval(); {i.ref(): 1}[i.ref()]; '%d' % i[0]; '{:.2f}'.format(f[1]); tf.TensorShape(None).rank
len(tf.TensorShape(None)); str(tf.TensorShape([None, 3])); repr(tf.TensorShape(None))
tf.TensorShape([None, 3]).merge_with([2, None]); tf.TensorShape([1]).merge_with([2]); tf.TensorShape([2, 3]) == [2, 3]
tf.TensorShape([None, 3]).is_compatible_with([2, 3]); tf.TensorShape([-1]); tf.TensorShape(3); tf.TensorShape('a')
tf.float32.is_floating; tf.int64.is_integer; tf.uint8.max; tf.float32.as_numpy_dtype.__name__; tf.as_dtype('half')
tf.int64 == np.int64; tf.string == 'string'; tf.float32.size; tf.as_dtype(1); tf.float32 == None; tf.bool.is_bool
tf.string.is_numpy_compatible; tf.bfloat16.is_numpy_compatible
"""
SPECS = """
repr(tf.TensorSpec([None, 3], tf.int64)); tf.TensorSpec([2], tf.int64) == tf.TensorSpec([2], tf.int64)
repr(tf.RaggedTensorSpec([None, None], tf.int64)); repr(tf.SparseTensorSpec([None, None], tf.int64))
tf.TensorSpec([None], tf.int32).is_compatible_with(i); tf.TensorSpec([3], tf.int32).is_compatible_with(i)
repr(tf.TensorSpec.from_tensor(i)); repr(tf.TensorSpec([1], 'float32', name='x')); tf.TensorSpec(None).shape.rank
repr(tf.data.Dataset.from_tensors({'a': i, 'b': s}).element_spec)
repr(tf.data.Dataset.range(3).batch(2, True).element_spec)
"""
TENSORS = ["i", "f", "b", "u", "d", "l", "s", "h"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^"]


def numpys(tensor, operator, other):
    """Return True if TensorFlow leaves the operation to NumPy, which sees an array of objects or bools."""
    return "np." in other and tensor + operator in ("s*", "b/")


@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_with_other_values(operator):
    expressions = [f"{x} {operator} {y}" for x, y in itertools.product(TENSORS, OTHERS) if not numpys(x, operator, y)]
    expressions += [f"{y} {operator} {x}" for x, y in itertools.product("ifs", OTHERS)]
    assert not differences(expressions, SETUP)


@pytest.mark.parametrize("operator", [*OPERATORS, "**", "@"])
def test_operators_with_tensors(operator):
    assert not differences([f"{x} {operator} {y}" for x, y in itertools.product([*TENSORS, "z"], repeat=2)], SETUP)


def test_signs_and_conversions():
    each = listed(EACH)
    assert not differences([item.format(x) for item in each for x in [*TENSORS, "t", "e", "tf.constant(3)"]], SETUP)


def test_items():
    keys = listed(KEYS)
    assert not differences([f"{x}[{key}]" for key in keys for x in "itse"], SETUP)


def test_iteration_and_sequences():
    expressions = listed(SEQUENCES)
    assert not differences(expressions, SETUP)


def test_specs():
    expressions = listed(SPECS)
    assert not differences(expressions, SETUP)


@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "//", "%", "**", "@"])
def test_an_operator_in_place_makes_another_tensor(sign):
    first = tf_compat.constant([[4.0, 2.0], [1.0, 3.0]])
    names = {"first": first, "second": first}
    exec(f"second {sign}= first", names)
    assert names["second"] is not first
    assert first.numpy().tolist() == [[4.0, 2.0], [1.0, 3.0]]
    assert names["second"].numpy().tolist() == eval(f"first {sign} first", {"first": first}).numpy().tolist()


@pytest.mark.parametrize("sign", ["&", "|", "^"])
def test_an_operator_of_bits_in_place_makes_another_tensor(sign):
    first = tf_compat.constant([6, 3])
    names = {"first": first, "second": first}
    exec(f"second {sign}= 5", names)
    assert first.numpy().tolist() == [6, 3] and names["second"] is not first


def test_elements_that_are_kept_do_not_change():
    kept = tf_compat.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]).cache()
    for row in kept:
        row.numpy()[0] = 9
        row += 1
    assert [row.numpy().tolist() for row in kept] == [[1, 2], [3, 4]]
    with pytest.raises(TypeError):
        row[0] = 5
