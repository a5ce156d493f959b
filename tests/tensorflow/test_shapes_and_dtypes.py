"""TensorShape and DType: what they are, go with, refuse, and look like as text."""

import itertools

import pytest

from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SETUP = """
import copy, pickle
S = tf.TensorShape
u = S(None); z = S([]); a = S([2, 3]); p = S([2, None]); n = S([None, None]); o = S([0, 3]); t = S([2, 3, 4]); f = S(5)

def failed(function):
    try:
        return function()
    except Exception as error:
        return [type(error).__name__, str(error).partition("(")[0]]
"""
SHAPES = ["u", "z", "a", "p", "n", "o", "t", "f"]
ALONE = listed("""
{}.rank; {}.ndims; {}.dims is None; {}.num_elements(); {}.is_fully_defined(); bool({}); str({}); repr({}); len({})
list({}); [one for one in {}]; {}[0]; {}[-1]; {}[1]; {}[5]; {}[:1]; {}[1:]; {}[::-1]; {}[5:]; {}.with_rank(2)
{}.with_rank(0); {}.with_rank(3); {}.with_rank_at_least(2); {}.with_rank_at_least(0); {}.with_rank_at_least(3)
{}[0:2]; {}[2:1]; {}[-1:]; {}[:-1]; {}[1:3:1]; {}.assert_has_rank(2); {}.assert_has_rank(0)
{}.assert_is_fully_defined(); hash({}) == hash(S({})); pickle.loads(pickle.dumps({})); copy.copy({})
copy.deepcopy({}); S({}) == {}; {} == None; {} != None; {} == 'x'; {} != 'x'; {} == [2, 3]; {} == (2, 3); {} != [2, 3]
{} == [2, None]; {} == 5; {} != 5; {} + [1]; [1] + {}; (1,) + {}; {} + None; {} + 4; 4 + {}; {}.concatenate([7, None])
{} == []; {}.concatenate(None); {}.concatenate(3); {}.is_compatible_with(None); {}.is_compatible_with([2, 3])
{}.is_compatible_with([None]); {}.is_compatible_with(5); {}.merge_with([2, None]); {}.merge_with(None)
{}.merge_with([None, 3]); {}.assert_is_compatible_with([2, None]); {}.as_list(); tf.zeros({})
failed(lambda: {}.as_list()); failed(lambda: len({})); failed(lambda: list({})); S({}.dims)
""")
MADE = """
S([1, 2]); S((1, None)); S(3); S([]); S(None); S([None]); S(np.array([1, 2])); S([np.int64(2), None]); S(-1); S([-1])
S([-2, 3]); S([1.5]); S(['a']); S('ab'); S([[1]]); S(tf.constant([1, 2])); S([tf.constant(2)]); S(range(3)); S({1: 2})
S(1.0); S([None, 0]); S(S([1])); S(tf.constant(3)); S([S([1])]); S([b'a'])
S([tf.compat.v1.Dimension(3), tf.compat.v1.Dimension(None)]); S([2, 3]).num_elements(); S([0]).num_elements()
S([]).num_elements(); S([2**40, 2]).num_elements(); type(S([2, 3]).num_elements()).__name__
type(S([2, 3])[0]).__name__; type(S([2, 3])[:1]).__name__; {S([1]): 1}[S([1])]
len({S([1]), S([1]), S([2]), S([None])}); hash(S([1])) == hash(S([2])); S([1]) in [S([1])]; failed(lambda: S([-3]))
failed(lambda: S([1, 2]).with_rank(3)); failed(lambda: S([1]).with_rank_at_least(2))
failed(lambda: S([1]).assert_has_rank(2)); failed(lambda: S([None]).assert_is_fully_defined())
failed(lambda: S([2]).assert_is_compatible_with([3])); failed(lambda: S([2]).merge_with([3])); S([1.0])
failed(lambda: S([None, 2]).assert_is_fully_defined()); tf.ones(S([2])); tf.reshape([1, 2], S([2, 1]))
failed(lambda: S([1, 2]).merge_with([1])); sorted([S([3])])
"""

NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128 "
NAMES = (NAMES + "string").split()
OF_TYPES = listed("""
{}.name; str({}); repr({}); {}.is_integer; {}.is_unsigned; {}.is_floating; {}.is_complex; {}.is_bool
{}.is_numpy_compatible; {}.min; {}.max; {}.limits; {}.size; {}.base_dtype; {}.real_dtype.name
{}.is_compatible_with({}); {}.is_compatible_with(tf.int32); {}.is_compatible_with('float32'); {} == None
str(np.dtype({}.as_numpy_dtype)); {}.as_datatype_enum; {} == 'int32'; {} == np.int32; {} != tf.int32; {} != 99
{} == np.dtype('float32'); {} == {}.name; {} != {}.name; hash({}) == hash(tf.as_dtype({}))
pickle.loads(pickle.dumps({})) is {}; copy.copy({}) is {}; copy.deepcopy({}) is {}; {}.nothing; {}._x
tf.as_dtype({}) is {}; tf.as_dtype({}.name) is {}; tf.as_dtype({}.as_numpy_dtype) is {}; {} in [tf.int32]
tf.as_dtype({}.as_datatype_enum) is {}; tf.zeros([1], {}); tf.ones([2], {}.name); tf.dtypes.as_dtype({}).name
""")
MEANT = """
tf.as_dtype(float); tf.as_dtype(bool); tf.as_dtype(object); tf.as_dtype(np.str_); tf.as_dtype(np.bytes_)
tf.as_dtype('half'); tf.as_dtype('double'); tf.as_dtype('x'); tf.as_dtype(None); tf.as_dtype(99); tf.as_dtype(-1)
tf.as_dtype(0); tf.as_dtype(1); tf.as_dtype(3); tf.as_dtype(7); tf.as_dtype(10); tf.as_dtype(14); tf.as_dtype(19)
tf.as_dtype([1]); tf.as_dtype(np.dtype('>i4')); tf.as_dtype(np.dtype('S3')); tf.as_dtype(np.dtype('U3'))
tf.as_dtype('datetime64'); tf.as_dtype(np.dtype('O')); tf.as_dtype(1.5); tf.as_dtype(tf.constant(1).dtype)
tf.as_dtype(np.zeros(1).dtype); tf.as_dtype(np.int16); tf.as_dtype(tf.string); tf.constant(1).dtype == 'int32'
len({tf.int32, tf.as_dtype('int32'), tf.float32}); {tf.int32: 5}[tf.constant(1).dtype]; isinstance(tf.int32, tf.DType)
failed(lambda: tf.as_dtype('no')); failed(lambda: tf.as_dtype(None)); tf.half is tf.float16; tf.double is tf.float64
tf.float32.limits; tf.int8.limits; tf.uint8.limits; tf.bool.limits; tf.string.limits; tf.complex64.limits
"""


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape(shape):
    assert not differences([item.replace("{}", shape) for item in ALONE], SETUP)


def test_two_shapes():
    each = ["{} == {}", "{} != {}", "{} + {}", "{}.is_compatible_with({})", "{}.merge_with({})", "{}.concatenate({})"]
    each += ["{}.assert_is_compatible_with({})", "failed(lambda: {}.merge_with({}))"]
    pairs = itertools.product(SHAPES, repeat=2)
    assert not differences([item.format(*pair) for pair in pairs for item in each], SETUP)


def test_shapes_are_made_of_lengths():
    assert not differences(listed(MADE), SETUP)


@pytest.mark.parametrize("name", NAMES)
def test_a_dtype(name):
    assert not differences([item.replace("{}", f"tf.{name}") for item in OF_TYPES], SETUP)


def test_what_means_a_dtype():
    assert not differences(listed(MEANT), SETUP)
