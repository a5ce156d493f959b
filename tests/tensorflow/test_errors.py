"""Errors of functions on tensors: classes and messages; and a few functions that work only here."""

import itertools

import numpy as np
import pytest

import tfrecord_fast.tensorflow as tf

WRONG, VALUE, TYPE = tf.errors.InvalidArgumentError, ValueError, TypeError
NAMES = {
    "tf": tf,
    "np": np,
    "D": tf.debugging,
    "S": tf.sparse,
    "i": tf.constant([3, -7, 0]),
    "f": tf.constant([1.5, -2.5, 0.25]),
    "t": tf.reshape(tf.range(24), [2, 3, 4]),
    "q": tf.sparse.from_dense([[1, 0, 0], [0, 2, 3]]),
    "p": tf.sparse.from_dense([[1, 0], [0, 2]]),
    "r": tf.ragged.constant([[1, 2], [], [3]]),
    "rr": tf.ragged.constant([[[1, 2], []], [[3]]]),
    "rs": tf.ragged.constant([[["a", "b"], []], [["c"]]]),
}
REFUSED = [
    ("tf.scatter_nd([[2, 0]], [1], [2, 2])", WRONG, "indices do not index into shape [2, 2]"),
    ("tf.searchsorted([[1, 3], [2, 4]], [[1]])", WRONG, "sequences of shape [2, 2] do not fit values of shape [1, 1]"),
    ("tf.searchsorted([1, 3], 1)", WRONG, "sequences of shape [2] do not fit values of shape []"),
    ("tf.einsum('ij,jk->ik', [[1.0, 2.0, 3.0]], [[1.0], [2.0]])", WRONG, "[Op:Einsum]"),
    ("tf.math.l2_normalize(i)", WRONG, "l2_normalize needs floats, got int32"),
    ("tf.math.acosh(i)", WRONG, "of int32 is not in the list of allowed values [Op:Acosh]"),
    ("tf.math.rint([1j])", WRONG, "of complex128 is not in the list of allowed values [Op:Rint]"),
    ("tf.constant([np.array([1.5, 2])], tf.int32)", TYPE, "to a tensor of dtype int32: floats are not truncated"),
    ("tf.cast(['a'], tf.int32)", tf.errors.UnimplementedError, "Cast string to int32 is not supported"),
    ("tf.concat([q, q], 0)", TYPE, "convert them with tf.sparse.to_dense"),
    ("tf.concat([], 0)", VALUE, "at least one tensor is required"),
    ("tf.concat([1, 2], 0)", WRONG, "Expected concatenating dimensions"),
    ("tf.concat([i, i], 1)", WRONG, "ConcatOp"),
    ("tf.stack([i, [1]])", WRONG, "values[0].shape = [3] != values[1].shape = [1] [Op:Pack]"),
    ("tf.ensure_shape(i, [2])", WRONG, "(3,) is not compatible with expected shape (2,)"),
    ("tf.expand_dims(i, 3)", WRONG, "Tried to expand dim index 3"),
    ("tf.squeeze(i, 0)", WRONG, "Can not squeeze"),
    ("tf.transpose(t, [0, 0, 1])", WRONG, "transpose: "),
    ("tf.broadcast_to(i, [2])", WRONG, "[Op:BroadcastTo]"),
    ("tf.unstack(i, 2)", WRONG, "Dimension 0 in shape [3] is not 2"),
    ("tf.split(i, 2)", WRONG, "got split_dim 0 (size = 3) and num_split 2"),
    ("tf.split(i, [1, 1])", WRONG, "3 != 2 [Op:SplitV]"),
    ("tf.tile(i, [1, 2])", WRONG, "vector of length 1 but got length 2"),
    ("tf.pad(i, [[1, 1], [1, 1]])", WRONG, "[Op:Pad]"),
    ("tf.pad(i, [[1, 1]], 'wrap')", VALUE, "one of CONSTANT, REFLECT or SYMMETRIC, got 'wrap'"),
    ("tf.pad(i, [[1, -1]])", WRONG, "paddings must be non-negative: [[1, -1]]"),
    ("tf.pad(i, [[3, 0]], 'REFLECT')", WRONG, "no greater than the size less one: [[3, 0]]"),
    ("tf.pad(i, [[4, 0]], 'SYMMETRIC')", WRONG, "no greater than the size: [[4, 0]]"),
    ("tf.pad(i, [[1, 1]], constant_values=[3])", WRONG, "constant_values must be a scalar, got shape [1]"),
    ("tf.pad(f, [[1, 1]], constant_values=tf.constant(7))", VALUE, "requested dtype float32"),
    ("D.assert_rank(t, 2, 'm')", VALUE, "m Tensor must have rank 2. Received rank 3"),
    ("D.assert_rank(t, 2)", VALUE, " Tensor must have rank 2. Received rank 3"),
    ("D.assert_equal(i, 1, 'm')", WRONG, "mCondition x == y did not hold"),
    ("D.assert_positive(i, 'm')", WRONG, "mCondition x > 0 did not hold element-wise"),
    ("D.assert_shapes([(i, [2])], message='m')", VALUE, "mSpecified by tensor of shape (3,): expected [2]"),
    ("tf.Assert(False, ['x'])", WRONG, "Expected 'condition' to be true. Summarized data: ['x']"),
    ("tf.Assert(False, [], name='n')", WRONG, "Expected 'n' to be true"),
    (
        "tf.image.decode_and_crop_jpeg(tf.io.encode_jpeg(np.zeros([4, 5, 3], np.uint8)), [0, 0, 5, 5])",
        WRONG,
        "a region of 5 x 5 pixels at (0, 0) is not within an image of 4 x 5",
    ),
    ("tf.image.extract_jpeg_shape(b'\\xff\\xd8\\x00\\xc0' + bytes(20))", WRONG, "Expected image (JPEG)"),
    ("tf.image.extract_jpeg_shape(b'\\x89PNG')", WRONG, "Expected image (JPEG)"),
    ("tf.cond(True, lambda: 1)", TYPE, "cond() needs true_fn and false_fn"),
    ("tf.cond(True, None, lambda: 1)", TYPE, "cond() needs true_fn and false_fn"),
    ("tf.case([(True, lambda: 1), (True, lambda: 2)], exclusive=True)", WRONG, "more than one condition is true"),
    ("tf.case([(False, lambda: 1)])", WRONG, "no condition is true, and no default is set"),
    ("tf.py_function(lambda x: x, [i], tf.float32)", WRONG, "the function returned int32, expected tf.float32"),
    ("tf.numpy_function(lambda x: np.float64(3), [i], tf.float32)", WRONG, "returned float64, expected tf.float32"),
    ("tf.ones([2], tf.string)", TYPE, "ones of dtype string do not exist"),
    ("tf.fill([2], [1, 2])", WRONG, "value must be a scalar, got shape [2]"),
    ("tf.fill([-1], 2)", WRONG, "[Op:Fill]"),
    ("tf.meshgrid([1.5], [1])", WRONG, "the coordinates of a grid must have one dtype, got ['float32', 'int32']"),
    ("tf.one_hot([0], -1)", WRONG, "depth must be a scalar of at least 0, got -1"),
    ("tf.one_hot([0], 2, axis=-2)", WRONG, "-1 or between [0, 2), but got -2"),
    ("tf.one_hot([0], 2, axis=2)", WRONG, "-1 or between [0, 2), but got 2"),
    ("tf.one_hot([0.5], 2)", WRONG, "'TI' of float32 is not in the list of allowed values"),
    ("tf.range(1, 5, 0)", WRONG, "Requires delta != 0"),
    ("tf.range(5, 0)", WRONG, "Requires start <= limit when delta > 0: 5/0"),
    ("tf.range(0, 5, -1)", WRONG, "Requires start >= limit when delta < 0: 0/5"),
    ("tf.map_fn(lambda x: x, i, fn_output_signature=tf.SparseTensorSpec([], tf.int32))", WRONG, "a result is a "),
    (
        "tf.map_fn(lambda x: q, i, fn_output_signature=tf.SparseTensorSpec([2, 3], tf.float32))",
        WRONG,
        "dtype int32, ex",
    ),
    ("tf.map_fn(lambda x: x, i, fn_output_signature=tf.TensorSpec([1], tf.int32))", WRONG, "a result has the shape ()"),
    ("tf.gather(r, [0], axis=1)", WRONG, "rows of a RaggedTensor can only be gathered along axis 0"),
    ("tf.gather(r, [0], batch_dims=1)", WRONG, "rows of a RaggedTensor can only be gathered along axis 0"),
    ("tf.gather(r, [3])", WRONG, "indices are not in [0, 3)"),
    ("tf.gather(r, -1)", WRONG, "indices are not in [0, 3)"),
    ("tf.gather(i, [0, 5])", WRONG, "indices = 5 is not in [0, 3)"),
    ("tf.gather(i, [-2, 5])", WRONG, "indices = -2 is not in [0, 3)"),
    ("tf.gather_nd(i, [[3]])", WRONG, "do not index into param shape [3]"),
    ("tf.boolean_mask(i, True)", VALUE, "mask cannot be scalar"),
    ("tf.argmax(tf.zeros([0]))", WRONG, "Reduction axis 0 is empty in shape [0]"),
    ("tf.argmin(tf.zeros([2, 0]), -1)", WRONG, "Reduction axis -1 is empty in shape [2, 0]"),
    ("tf.boolean_mask(i, [True])", WRONG, "Shapes (3,) and (1,) are incompatible"),
    ("tf.where([True], i, None)", VALUE, "must both be non-None"),
    ("tf.where([True, False], i, i)", WRONG, "[Op:SelectV2]"),
    ("tf.slice(i, [1], [5])", WRONG, "Expected size[0] in [0, 2], but got 5"),
    ("tf.sort(i, direction='x')", VALUE, "Received: x"),
    ("tf.ragged.constant([1], ragged_rank=-1)", VALUE, "a depth of 1, which does not fit ragged_rank=-1"),
    ("tf.ragged.constant([[1], 2])", VALUE, "same nesting depth, got 2"),
    ("tf.ragged.constant([[[1, 2]], [[3, 4]]], ragged_rank=1, inner_shape=(3,))", VALUE, "values of shape (2,)"),
    ("tf.concat([r, r[:2]], 1)", WRONG, "the values must have the same number of rows, got [3, 2]"),
    ("tf.concat([r, r], 2)", WRONG, "axis=2 is out of bounds: expected -2 <= axis < 2"),
    ("tf.concat([r, rr], 0)", WRONG, "the values must have one rank, got [2, 3]"),
    ("tf.concat([r, tf.cast(r, tf.int64)], 0)", WRONG, "value #0 has dtype int32, value #1 int64"),
    ("S.reset_shape(q, [2, 2])", WRONG, "new_shape [2, 2] is too small for [2, 3]"),
    ("S.reset_shape(q, [2, 3, 1])", WRONG, "new_shape [2, 3, 1] is too small for [2, 3]"),
    ("S.reshape(q, [4])", WRONG, "with 6 dense values, but the requested shape has 4"),
    ("tf.strings.substr('abc', 1.5, 1.0)", WRONG, "pos and len must be int32 or int64, got float32"),
    ("tf.strings.substr('abc', 4, 1)", WRONG, "pos 4 out of range"),
    ("tf.strings.substr('abc', 0, 1, 'X')", WRONG, "unit must be BYTE or UTF8_CHAR, got 'X'"),
    ("tf.strings.reduce_join(rs, 1)", tf.errors.UnimplementedError, "RaggedTensors of two dimensions"),
    ("tf.strings.reduce_join('a', 0)", tf.errors.OutOfRangeError, "Invalid reduction dimension 0"),
    ("tf.strings.regex_replace('a', ['a'], 'b')", WRONG, "Pattern must be scalar, but received [1]"),
    ("tf.strings.to_number('x')", WRONG, "could not correctly convert string: x"),
    ("tf.strings.as_string(1, fill='x')", WRONG, "Fill argument not supported: 'x'"),
    ("tf.compat.v1.image.resize_images(np.zeros([2, 2, 1]), [3, 3], 'lanczos3')", VALUE, "not implemented: lanczos3"),
    ("tf.image.resize(np.zeros([2, 2, 1]), [3, 3], 'x')", VALUE, "not implemented: x; use bilinear, nearest, bicubic"),
    ("tf.image.flip_left_right([[1]])", VALUE, "must have either 3 or 4 dimensions"),
    ("tf.image.resize(np.zeros([2, 2, 1]), [3])", VALUE, "1-D Tensor of 2 elements"),
    ("tf.image.resize(np.zeros([2, 2, 1]), [3, 0])", WRONG, "output dimensions must be positive, got [3, 0]"),
    ("tf.image.central_crop(np.zeros([2, 2, 1]), 0.0)", VALUE, "central_fraction must be within (0, 1]"),
    ("tf.image.crop_to_bounding_box(np.zeros([2, 2, 1]), -1, 0, 1, 1)", WRONG, "offset_height must be >= 0"),
    ("tf.image.crop_to_bounding_box(np.zeros([2, 2, 1]), 0, -1, 1, 1)", WRONG, "offset_width must be >= 0"),
    ("tf.image.crop_to_bounding_box(np.zeros([2, 2, 1]), 0, 0, 0, 1)", WRONG, "target_height must be > 0"),
    ("tf.image.crop_to_bounding_box(np.zeros([2, 2, 1]), 0, 0, 1, 0)", WRONG, "target_width must be > 0"),
    ("tf.image.crop_to_bounding_box(np.zeros([2, 2, 1]), 1, 0, 2, 1)", WRONG, "height must be >= target + offset"),
    ("tf.image.crop_to_bounding_box(np.zeros([2, 2, 1]), 0, 1, 1, 2)", WRONG, "width must be >= target + offset"),
    ("tf.image.pad_to_bounding_box(np.zeros([2, 2, 1]), -1, 0, 9, 9)", WRONG, "offset_height must be >= 0"),
    ("tf.image.pad_to_bounding_box(np.zeros([2, 2, 1]), 0, -1, 9, 9)", WRONG, "offset_width must be >= 0"),
    ("tf.image.pad_to_bounding_box(np.zeros([2, 2, 1]), 0, 1, 2, 2)", WRONG, "width must be <= target - offset"),
    ("tf.image.pad_to_bounding_box(np.zeros([2, 2, 1]), 1, 0, 2, 2)", WRONG, "height must be <= target - offset"),
]


@pytest.mark.parametrize("expression, error, text", REFUSED, ids=[item for item, *_ in REFUSED])
def test_refused(expression, error, text):
    with pytest.raises(error) as raised:
        eval(expression, dict(NAMES))
    assert type(raised.value) is error and text in str(raised.value)


def test_functions_that_decorate_keep_their_name():
    for decorate in (tf.py_function(Tout=tf.int32), tf.numpy_function(Tout=tf.int32)):

        def doubled(x):
            """Twice."""
            return x * 2

        result = decorate(doubled)
        assert (result.__name__, result.__doc__) == ("doubled", "Twice.") and int(result(tf.constant(4))) == 8


def test_values_that_are_no_tensors():
    class Other:
        dtype = np.dtype("float32")

        def numpy(self):
            return np.float32([1, 2])

    assert tf.reduce_sum(Other()).numpy() == 3 and tf.convert_to_tensor(Other(), tf.float32).shape == [2]
    assert tf.get_static_value(tf.constant("a")) == b"a" and tf.get_static_value(tf.constant([1])).tolist() == [1]
    assert tf.py_function(lambda: 5, [], []) is None


def test_what_is_printed(capsys):
    tf.print(tf.constant(b"\xffa"), "b", sep="-", end="!")
    assert capsys.readouterr().err == "\ufffda-b!"


def test_levels_of_the_log(caplog):
    log, before = tf.compat.v1.logging, tf.compat.v1.logging.get_verbosity()
    try:
        for level, written in itertools.product([log.WARN, log.ERROR], [log.warning, log.error]):
            log.set_verbosity(level)
            caplog.clear()
            written("text %d", 5)
            assert log.get_verbosity() == level
            is_told = level == log.WARN or written == log.error
            assert [item.getMessage() for item in caplog.records] == (["text 5"] if is_told else [])
    finally:
        log.set_verbosity(before)


def test_serialized_strings_as_tensorflow_writes_them():
    def parsed(count, content):
        return tf.io.parse_tensor(
            b"\x08\x07\x12\x04\x12\x02\x08" + bytes([count, 34, len(content)]) + content, tf.string
        )

    assert parsed(2, b"\x01\x02abc").numpy().tolist() == [b"a", b"bc"]
    for count, content in ((2, b"\x01\x01a"), (2, b"\x01\x01abc"), (2, b"\x00"), (1, b"\x80" * 12), (2, b"\x02\x80")):
        with pytest.raises(WRONG, match=r"a TensorProto of . strings has"):
            parsed(count, content)
