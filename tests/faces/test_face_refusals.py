"""What functions on tensors refuse: the error's class and what it says; and what only works here."""

import gzip
import itertools
import zlib

import numpy as np
import pytest

import tfrecord_fast.tensorflow as tf

WRONG, VALUE, TYPE, LOSS = tf.errors.InvalidArgumentError, ValueError, TypeError, tf.errors.DataLossError
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
    "zipped": gzip.compress(b"abc"),
    "zlibbed": zlib.compress(b"abc"),
}
REFUSED = [
    ("tf.scatter_nd([[2, 0]], [1], [2, 2])", WRONG, "indices do not index into shape [2, 2]"),
    ("tf.tensor_scatter_nd_add(i, [[3]], [1])", WRONG, "indices do not index into shape [3]"),
    ("tf.tensor_scatter_nd_add(i, [[-1]], [1])", WRONG, "indices do not index into shape [3]"),
    ("tf.dynamic_partition(i, [1, 0], 2)", WRONG, "must start with partitions.shape, got [3] and [2]"),
    ("tf.dynamic_partition(i, [1, 0, 2], 2)", WRONG, "partitions must be in [0, 2)"),
    ("tf.dynamic_partition(i, [1, 0, -1], 2)", WRONG, "partitions must be in [0, 2)"),
    ("tf.searchsorted([[1, 3], [2, 4]], [[1]])", WRONG, "sequences of shape [2, 2] for values of shape [1, 1]"),
    ("tf.searchsorted([1, 3], 1)", WRONG, "sequences of shape [2] for values of shape []"),
    ("tf.math.bincount([0, -1])", WRONG, "Input arr must be non-negative"),
    ("tf.math.unsorted_segment_sum(i, [1, 0, 2], 2)", WRONG, "segment_ids must be below 2, got 2"),
    ("tf.math.segment_sum(i, [1, 0, 1])", WRONG, "segment ids are not increasing"),
    ("tf.math.segment_sum(i, [-1, 0, 1])", WRONG, "segment ids are not increasing"),
    ("tf.math.invert_permutation([0, 0])", WRONG, "no permutation"),
    ("tf.einsum('ij,jk->ik', [[1.0, 2.0, 3.0]], [[1.0], [2.0]])", WRONG, "[Op:Einsum]"),
    ("tf.math.l2_normalize(i)", WRONG, "l2_normalize is of floats, got int32"),
    ("tf.saturate_cast([True], tf.int32)", TYPE, "of numbers, got bool to int32"),
    ("tf.saturate_cast(i, tf.bool)", TYPE, "of numbers, got int32 to bool"),
    ("tf.math.acosh(i)", WRONG, "acosh is of floats, got int32"),
    ("tf.math.rint([1j])", WRONG, "rint is of floats, got complex128"),
    ("tf.truncatediv(i, 0)", WRONG, "Integer division by zero"),
    ("tf.truncatediv([1, 2], [1, 0])", WRONG, "Integer division by zero"),
    ("tf.truncatemod([1, 2], [1, 0])", WRONG, "Integer division by zero"),
    ("tf.constant([np.array([1.5, 2])], tf.int32)", TYPE, "to a tensor of dtype int32: floats are not cut"),
    ("tf.cast(['a'], tf.int32)", tf.errors.UnimplementedError, "Cast string to int32 is not supported"),
    ("tf.concat([q, q], 0)", TYPE, "use tf.sparse.concat"),
    ("tf.concat([], 0)", VALUE, "there must be at least one tensor"),
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
    ("D.assert_rank_at_least(t, 4, 'm')", VALUE, "m Tensor must have rank at least 4. Received rank 3"),
    ("D.assert_rank(t, 2, 'm')", VALUE, "m Tensor must have rank 2. Received rank 3"),
    ("D.assert_rank(t, 2)", VALUE, " Tensor must have rank 2. Received rank 3"),
    ("D.assert_scalar(i, message='m')", VALUE, "mExpected scalar shape, saw shape: (3,)."),
    ("D.assert_integer(f, 'm')", TYPE, 'm Expected "x" to be integer type. Found: tf.float32'),
    ("D.assert_type(i, tf.int64, 'm')", TYPE, "m tensor must be of type tf.int64; got tf.int32"),
    ("D.assert_near([1.0], [2.0], message='m')", WRONG, "mx and y not equal to tolerance"),
    ("D.assert_equal(i, 1, 'm')", WRONG, "mCondition x == y did not hold"),
    ("D.assert_positive(i, 'm')", WRONG, "mCondition x > 0 did not hold element-wise"),
    ("D.assert_all_finite([np.inf], 'm')", WRONG, "m : Tensor had NaN or Inf values"),
    ("D.assert_shapes([(i, [2])], message='m')", VALUE, "mSpecified by tensor of shape (3,): expected [2]"),
    ("tf.Assert(False, ['x'])", WRONG, "Expected 'condition' to be true. Summarized data: ['x']"),
    ("tf.Assert(False, [], name='n')", WRONG, "Expected 'n' to be true"),
    ("tf.io.decode_compressed('a', 'BZIP2')", WRONG, "Unsupported compression type: 'BZIP2'"),
    ("tf.io.decode_compressed('zz', 'GZIP')", LOSS, "decode_compressed: "),
    ("tf.io.decode_compressed('zz', 'ZLIB')", LOSS, "decode_compressed: "),
    ("tf.io.decode_compressed(zipped[:-9], 'GZIP')", LOSS, "decode_compressed: "),
    ("tf.io.deserialize_many_sparse([tf.io.serialize_sparse(q)], tf.int32, 2)", VALUE, "have 3 dimensions with that"),
    ("tf.image.decode_and_crop_jpeg(tf.io.encode_jpeg(np.zeros([4, 5, 3], np.uint8)), [0, 0, 5, 5])", WRONG, "window"),
    ("tf.image.extract_jpeg_shape(b'\\xff\\xd8\\x00\\xc0' + bytes(20))", WRONG, "Invalid JPEG data"),
    ("tf.image.extract_jpeg_shape(b'\\x89PNG')", WRONG, "Expected image (JPEG)"),
    ("tf.cond(True, lambda: 1)", TYPE, "cond() takes two functions"),
    ("tf.cond(True, None, lambda: 1)", TYPE, "cond() takes two functions"),
    ("tf.case([(True, lambda: 1), (True, lambda: 2)], exclusive=True)", WRONG, "more than one condition is true"),
    ("tf.case([(False, lambda: 1)])", WRONG, "no condition is true, and there is no default"),
    ("tf.py_function(lambda x: x, [i], tf.float32)", WRONG, "the function returned int32, expected tf.float32"),
    ("tf.numpy_function(lambda x: np.float64(3), [i], tf.float32)", WRONG, "returned float64, expected tf.float32"),
    ("tf.ones([2], tf.string)", TYPE, "there are no ones among strings"),
    ("tf.fill([2], [1, 2])", WRONG, "value must be a scalar, got shape [2]"),
    ("tf.fill([-1], 2)", WRONG, "[Op:Fill]"),
    ("tf.meshgrid([1.5], [1])", WRONG, "a grid of several dtypes: ['float32', 'int32']"),
    ("tf.one_hot([0], -1)", WRONG, "depth is a scalar, and not negative, got -1"),
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
    ("tf.gather(r, [0], axis=1)", WRONG, "rows of a RaggedTensor are gathered along axis 0"),
    ("tf.gather(r, [0], batch_dims=1)", WRONG, "rows of a RaggedTensor are gathered along axis 0"),
    ("tf.gather(r, [3])", WRONG, "indices are not in [0, 3)"),
    ("tf.gather(r, -1)", WRONG, "indices are not in [0, 3)"),
    ("tf.gather(i, [0, 5])", WRONG, "indices = 5 is not in [0, 3)"),
    ("tf.gather(i, [-2, 5])", WRONG, "indices = -2 is not in [0, 3)"),
    ("tf.gather_nd(i, [[3]])", WRONG, "do not index into param shape [3]"),
    ("tf.boolean_mask(i, True)", VALUE, "mask cannot be scalar"),
    ("tf.boolean_mask(i, [True])", VALUE, "Shapes (3,) and (1,) are incompatible"),
    ("tf.where([True], i, None)", VALUE, "must both be non-None"),
    ("tf.where([True, False], i, i)", WRONG, "[Op:SelectV2]"),
    ("tf.slice(i, [1], [5])", WRONG, "Expected size[0] in [0, 2], but got 5"),
    ("tf.sort(i, direction='x')", VALUE, "Received: x"),
    ("tf.ragged.constant([1], ragged_rank=-1)", VALUE, "a depth of 1, which does not fit ragged_rank=-1"),
    ("tf.ragged.constant([[1], 2])", VALUE, "same nesting depth, got 2"),
    ("tf.ragged.constant([[[1, 2]], [[3, 4]]], ragged_rank=1, inner_shape=(3,))", VALUE, "values of shape (2,)"),
    ("tf.ragged.stack([[1], [2, 3]], 1)", VALUE, "has axis 0, got 1"),
    ("tf.ragged.boolean_mask(r, [True, False])", VALUE, "a mask of 2 values for 3 rows"),
    ("tf.concat([r, r[:2]], 1)", WRONG, "values of one number of rows are joined, got [3, 2]"),
    ("tf.concat([r, r], 2)", WRONG, "axis=2 is out of bounds: expected -2 <= axis < 2"),
    ("tf.concat([r, rr], 0)", WRONG, "got the ranks [2, 3]"),
    ("tf.concat([r, tf.cast(r, tf.int64)], 0)", WRONG, "value #0 is of dtype int32, #1 of int64"),
    ("S.concat(0, [p, q])", WRONG, "Input shapes should match except along axis 0"),
    ("S.concat(2, [q, q])", WRONG, "axis=2 is out of bounds: expected -2 <= axis < 2"),
    ("S.concat(0, [q, tf.cast(q, tf.int64)])", WRONG, "SparseTensors of several dtypes"),
    ("S.expand_dims(q, -4)", WRONG, "axis=-4 is out of bounds: expected -3 <= axis < 3"),
    ("S.reset_shape(q, [2, 2])", WRONG, "new_shape [2, 2] is too small for [2, 3]"),
    ("S.reset_shape(q, [2, 3, 1])", WRONG, "new_shape [2, 3, 1] is too small for [2, 3]"),
    ("S.reshape(q, [4])", WRONG, "with 6 dense values, but the requested shape has 4"),
    ("S.to_indicator(q, 3)", WRONG, "values are not in [0, 3)"),
    ("tf.strings.substr('abc', 1.5, 1.0)", WRONG, "pos and len are int32 or int64, got float32"),
    ("tf.strings.substr('abc', 4, 1)", WRONG, "pos 4 out of range"),
    ("tf.strings.substr('abc', 0, 1, 'X')", WRONG, "unit is BYTE or UTF8_CHAR, got 'X'"),
    ("tf.strings.reduce_join(rs, 1)", tf.errors.UnimplementedError, "RaggedTensors of two dimensions"),
    ("tf.strings.reduce_join('a', 0)", tf.errors.OutOfRangeError, "Invalid reduction dimension 0"),
    ("tf.strings.unicode_split('a', 'latin-1')", WRONG, "UTF-32-BE, got 'latin-1'"),
    ("tf.strings.unicode_split('a', 'UTF-8', 'x')", WRONG, "'replace', 'ignore' or 'strict', got 'x'"),
    ("tf.strings.unicode_split(b'\\xff', 'UTF-8', 'strict')", WRONG, "Invalid formatting on input string"),
    ("tf.strings.regex_replace('a', ['a'], 'b')", WRONG, "Pattern must be scalar, but received [1]"),
    ("tf.strings.to_number('x')", WRONG, "could not correctly convert string: x"),
    ("tf.strings.as_string(1, fill='x')", WRONG, "Fill argument not supported: 'x'"),
    ("tf.strings.format('{}', [1, 2])", VALUE, "the template has 1 places for 2 inputs"),
    ("tf.io.decode_base64('!')", WRONG, "Invalid character found in base64: b'!'"),
    (
        "tf.compat.v1.image.resize_images(np.zeros([2, 2, 1]), [3, 3], 2)",
        NotImplementedError,
        "resize_images by bicubic",
    ),
    ("tf.image.flip_left_right([[1]])", VALUE, "must have either 3 or 4 dimensions"),
    ("tf.image.resize(np.zeros([2, 2, 1]), [3])", VALUE, "1-D Tensor of 2 elements"),
    ("tf.image.resize(np.zeros([2, 2, 1]), [3, 0])", WRONG, "output dimensions must be positive, got [3, 0]"),
    ("tf.image.central_crop(np.zeros([2, 2, 1]), 0.0)", VALUE, "central_fraction must be within (0, 1]"),
    ("tf.image.grayscale_to_rgb(np.zeros([2, 2, 3]))", VALUE, "should be size 1"),
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


@pytest.mark.parametrize("expression, error, text", REFUSED, ids=[one for one, *_ in REFUSED])
def test_refused(expression, error, text):
    with pytest.raises(error) as raised:
        eval(expression, dict(NAMES))
    assert type(raised.value) is error and text in str(raised.value)


def test_limits_of_casts():
    def cast(values, before, after):
        return tf.saturate_cast(tf.constant(values, before), after).numpy().tolist()

    # The greatest float32 that is not beyond the integers.
    assert cast([1e20, -1e20, np.inf], tf.float32, tf.int64) == [2**63 - 2**39, -(2**63), 2**63 - 2**39]
    assert cast([np.inf, -np.inf, -2.5], tf.float32, tf.int32) == [2**31 - 2**7, -(2**31), -2]
    assert cast([1, -5, 2**62], tf.int64, tf.uint64) == [1, 0, 2**62]
    assert cast([2**63, 7], tf.uint64, tf.int64) == [2**63 - 1, 7]
    assert cast([255, 254.5], tf.float32, tf.uint8) == [255, 254]


def test_numbers_of_branches():
    functions = [lambda: 10, lambda: 20]
    assert [tf.switch_case(number, functions) for number in (0, 1, 2, -1)] == [10, 20, 20, 20]
    assert [tf.switch_case(number, functions, lambda: 30) for number in (0, 1, 2, -1)] == [10, 20, 30, 30]
    assert [tf.switch_case(number, {0: functions[0], 3: functions[1]}) for number in (0, 1, 3)] == [10, 20, 20]
    assert [tf.switch_case(number, [(1, functions[0]), (0, functions[1])]) for number in (0, 1)] == [20, 10]


def test_functions_that_decorate_keep_their_name():
    for decorate in (tf.py_function(Tout=tf.int32), tf.numpy_function(Tout=tf.int32)):

        def doubled(x):
            """Twice."""
            return x * 2

        made = decorate(doubled)
        assert (made.__name__, made.__doc__) == ("doubled", "Twice.") and int(made(tf.constant(4))) == 8


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
            assert [one.getMessage() for one in caplog.records] == (["text 5"] if is_told else [])
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
