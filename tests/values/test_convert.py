"""Values that users give: defaults, paddings, tensors made of Python's lists, as TensorFlow types them."""

import numpy as np
import pytest

import tfrecord_fast as tf

STRINGS = tf.SparseTensor([[0], [2]], np.array([b"a", b"b"], dtype=object), [3])
INTS = tf.SparseTensor([[0], [2]], np.array([1, 2]), [3])
FLOATS = tf.SparseTensor([[0], [2]], np.array([1, 2], dtype=np.float32), [3])
ROWS = tf.RaggedTensor(np.array([b"a", b"b", b"c"], dtype=object), np.array([0, 1, 3]))


@pytest.mark.parametrize("default", ["q", b"q", bytearray(b"q"), memoryview(b"q"), np.str_("q"), np.array("q")])
def test_a_default_of_strings_becomes_bytes(default):
    dense = tf.sparse.to_dense(STRINGS, default_value=default)
    assert dense.tolist() == [b"a", b"q", b"b"] and all(type(value) is bytes for value in dense)
    for fill in (tf.RaggedTensor.to_tensor, tf.sparse.to_dense):
        assert fill(ROWS, default).tolist() == [[b"a", b"q"], [b"b", b"c"]]


@pytest.mark.parametrize(
    ("tensor", "default"),
    [
        (STRINGS, 0),
        (STRINGS, 1.5),
        (STRINGS, True),
        (ROWS, 1),
        (INTS, "a"),
        (INTS, b""),
        (FLOATS, "1"),
        (INTS, 2.5),
        (INTS, 2.0),
        (INTS, np.nan),
        (INTS, np.float64(2.5)),
        (INTS, np.float32("nan")),
        (tf.SparseTensor([[0]], np.array([1], dtype=np.int8), [3]), np.nan),
        (tf.SparseTensor([[0]], np.array([True]), [3]), 1),
    ],
)
def test_a_default_of_another_kind_is_an_error(tensor, default):
    with pytest.raises(TypeError, match="default_value"):
        tf.sparse.to_dense(tensor, default)


SMALL = tf.SparseTensor([[0]], np.array([1], dtype=np.int8), [3])


@pytest.mark.parametrize(
    ("tensor", "default", "words"),
    [(SMALL, 1 << 40, "out of range"), (INTS, 1 << 70, "out of range"), (INTS, [2], "scalar")],
)
def test_a_default_that_the_dtype_does_not_hold_is_an_error(tensor, default, words):
    with pytest.raises(ValueError, match=words):
        tf.sparse.to_dense(tensor, default)


@pytest.mark.parametrize(
    ("tensor", "default", "filled"),
    [
        *((INTS, default, 2) for default in [2, np.int8(2), np.float64(2.0), np.array(2.0)]),
        *((FLOATS, default, 2) for default in [2, np.int8(2), 2.0, np.float64(2)]),
        (INTS, True, 1),
    ],
)
def test_defaults_that_tensorflow_converts(tensor, default, filled):
    assert tf.sparse.to_dense(tensor, default).tolist() == [1, filled, 2]


@pytest.mark.parametrize(
    ("arguments", "filled"), [({"sp_input": INTS, "default_value": 7, "name": "dense"}, 7), ({"x": INTS}, 0)]
)
def test_to_dense_by_tensorflows_names(arguments, filled):
    assert tf.sparse.to_dense(**arguments).tolist() == [1, filled, 2]


@pytest.mark.parametrize(
    ("dtype", "default", "expected"),
    [
        *((tf.int64, value, 1) for value in [True, [True], np.bool_(True), np.array([True])]),
        *((tf.float32, value, 0.0) for value in [False, [False], np.bool_(False), np.array([False])]),
        *((tf.int64, value, 4) for value in [np.float64(4.0), np.float32(4), np.array([4.0])]),
        (tf.float32, 1 << 70, float(1 << 70)),
        (tf.string, bytearray(b"x"), b"x"),
    ],
)
def test_default_values_of_features_that_tensorflow_converts(dtype, default, expected):
    for shape in ([], [1]):
        parsed = tf.parse_example([b""], {"a": tf.FixedLenFeature(shape, dtype, default)})["a"]
        assert np.asarray(parsed).ravel().tolist() == [expected]


@pytest.mark.parametrize("default", [4.0, [4.0], 4.5, np.array([4.5]), [np.float64(4.0)], "a"])
def test_default_values_of_features_that_would_be_cut_are_errors(default):
    with pytest.raises(TypeError):
        tf.parse_example([b""], {"a": tf.FixedLenFeature([1], tf.int64, default)})


@pytest.mark.parametrize(
    ("values", "dtype"),
    [([1], np.int32), ([1 << 40], np.int64), ([1.5], np.float32), ([True], np.bool_)],
)
def test_sparse_tensors_of_lists_are_typed_as_by_tensorflow(values, dtype):
    assert tf.SparseTensor([[0]], values, [2]).dtype == dtype


def test_values_of_sparse_tensors():
    assert tf.SparseTensor(np.empty((0, 1), np.int64), [], [2]).dtype == np.float32
    strings = tf.SparseTensor([[0], [2]], ["a", "é"], [3])
    assert strings.values.dtype == object and strings.values.tolist() == [b"a", "é".encode()]
    for values in (np.array([1]), tf.BytesArray([b"a"])):
        assert tf.SparseTensor([[0]], values, [2]).values is values


@pytest.mark.parametrize(
    ("indices", "values", "shape"),
    [
        ([[0, 0]], [1, 2], [2, 2]),
        ([[0]], [1], [2, 2]),
        ([0], [1], [2]),
        ([], [], [2]),
        ([[0]], [[1]], [2]),
        ([[0]], [1], 3),
    ],
)
def test_parts_of_a_sparse_tensor_that_do_not_fit_are_errors(indices, values, shape):
    with pytest.raises(ValueError, match="dimensions"):
        tf.SparseTensor(indices, values, shape)


def test_indices_of_a_sparse_tensor_are_integers():
    with pytest.raises(TypeError, match="indices"):
        tf.SparseTensor([[0.0]], [1], [2])


@pytest.mark.parametrize("value", [1.5, 1.0, np.float64(1.0), ""])
def test_integers_are_not_padded_with_other_kinds(value):
    with pytest.raises(TypeError, match="padding_values"):
        list(tf.data.Dataset.range(3).batch(2).padded_batch(2, padding_values=value))


@pytest.mark.parametrize("value", [7, np.int64(7)])
def test_integers_are_padded_with_integers(value):
    batched = tf.data.Dataset.range(3).batch(2)
    assert next(iter(batched.padded_batch(2, padding_values=value))).tolist() == [[0, 1], [2, 7]]


def test_strings_are_padded_with_strings():
    strings = tf.data.Dataset.from_generator(lambda: iter([["a"], ["b", "c"]]), tf.string)
    assert next(iter(strings.padded_batch(2, padding_values="é"))).tolist() == [[b"a", "é".encode()], [b"b", b"c"]]
    with pytest.raises(TypeError, match="padding_values"):
        list(strings.padded_batch(2, padding_values=0))


@pytest.mark.parametrize("stop", [1.5, 1.0, "a", np.float64(2.5), np.nan])
def test_a_range_to_what_is_not_an_integer_is_an_error(stop):
    with pytest.raises(TypeError):
        tf.data.Dataset.range(stop)


@pytest.mark.parametrize("stop", [2, np.int32(2), np.float64(2.0), np.array(2)])
def test_ranges_to_whole_numbers(stop):
    assert list(tf.data.Dataset.range(stop)) == [0, 1]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        *((value, tf.int32) for value in [1.7, 2.0, np.float32(1.5), "a", None, 1 << 40, [1, [2]]]),
        *[(np.array([1.5]), tf.int64), (1, tf.string), (1, tf.bool), (300, tf.uint8)],
    ],
)
def test_what_a_generator_yields_must_be_of_its_dtype(value, dtype):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"expected type was {dtype.name}"):
        list(tf.data.Dataset.from_generator(lambda: iter([value]), dtype))


def first(value, dtype):
    """What becomes of the one value that a generator yields."""
    return next(iter(tf.data.Dataset.from_generator(lambda: iter([value]), dtype)))


@pytest.mark.parametrize(
    ("value", "dtype"), [(np.float64(2.0), tf.int32), (2, tf.float32), (np.int64(2), tf.int32), (True, tf.int32)]
)
def test_numbers_that_a_generator_yields_are_converted_as_by_tensorflow(value, dtype):
    assert first(value, dtype) == value and first(value, dtype).dtype == dtype


def test_str_that_a_generator_yields_becomes_bytes():
    assert first("é", tf.string) == "é".encode()
    assert first(["a"], tf.string).tolist() == [b"a"]


TYPES = (tf.int32, tf.string)


def pairs(**options):
    return list(tf.data.Dataset.from_generator(lambda: iter([([1], "a")]), **options))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"output_types": TYPES, "output_shapes": ([2], [])}, r"shape \(1,\) .* shape \(2,\)"),
        ({"output_types": TYPES, "output_shapes": ([1], [None])}, r"shape \(\) .* shape \(None,\)"),
        (
            {"output_signature": (tf.TensorSpec([2], tf.int32), tf.TensorSpec([], tf.string))},
            r"shape \(1,\) .* shape \(2,\)",
        ),
    ],
    ids=["size", "rank", "signature"],
)
def test_what_a_generator_yields_must_be_of_its_shape(options, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        pairs(**options)


@pytest.mark.parametrize("shapes", [([1], []), ([None], ()), (None, None), None])
def test_what_a_generator_yields_may_be_of_a_shape_known_in_part(shapes):
    assert len(pairs(output_types=TYPES, output_shapes=shapes)) == 1


def test_ragged_tensors_of_lists_are_typed_as_by_tensorflow():
    made = tf.RaggedTensor([1, 2, 3], [0, 1, 3])
    assert made.to_list() == [[1], [2, 3]] and made.dtype == np.int32 and made.row_splits.dtype == np.int64
    assert tf.RaggedTensor(made, [0, 2]).to_list() == [[[1], [2, 3]]]
    assert tf.RaggedTensor(["a", "b"], [0, 0, 2]).to_list() == [[], [b"a", b"b"]]
    assert tf.RaggedTensor.from_row_lengths([1.5, 2.5], [2, 0]).to_tensor().dtype == np.float32
    assert tf.RaggedTensor.from_value_rowids(["a", "b"], [0, 2]).to_list() == [[b"a"], [], [b"b"]]


@pytest.mark.parametrize("splits", [[], [1, 3], [0, 2, 1, 3], [0, 2], [0, 5], [[0, 3]], [0.0, 3.0], ["a"]])
@pytest.mark.parametrize("make", [tf.RaggedTensor, tf.RaggedTensor.from_row_splits])
def test_row_splits_that_do_not_fit_are_errors(splits, make):
    with pytest.raises(ValueError, match="invalid partition"):
        make([1, 2, 3], splits)


COMPLEX = pytest.mark.parametrize("dtype", [tf.complex64, tf.complex128], ids=str)


@COMPLEX
def test_complex_numbers_in_raw_bytes_and_serialized_tensors(dtype):
    values = np.array([1 + 2j, -3j], dtype=dtype)
    assert np.array_equal(tf.decode_raw(values.tobytes(), dtype), values)
    assert np.array_equal(tf.decode_raw(values.byteswap().tobytes(), dtype, little_endian=False), values)
    parsed = tf.io.parse_tensor(tf.io.serialize_tensor(values), dtype)
    assert parsed.dtype == dtype and np.array_equal(parsed, values)


@COMPLEX
@pytest.mark.parametrize(
    "make",
    [tf.VarLenFeature, lambda dtype: tf.FixedLenFeature([], dtype), tf.RaggedFeature],
    ids=["var", "fixed", "ragged"],
)
def test_there_are_no_complex_numbers_in_records(dtype, make):
    with pytest.raises(TypeError, match="records cannot hold"):
        tf.parse_example([b""], {"a": make(dtype)})


@pytest.mark.parametrize(("name", "field"), [("complex64", "scomplex_val"), ("complex128", "dcomplex_val")])
def test_complex_numbers_in_the_fields_of_a_tensor(name, field):
    from tfrecord_fast.examples.messages.protobuf import message

    proto = message("TensorProto")(dtype=tf.as_dtype(name).as_datatype_enum, **{field: [1, 2, 0, -3]})
    proto.tensor_shape.dim.add(size=2)
    assert tf.io.parse_tensor(proto.SerializeToString(), name).tolist() == [1 + 2j, -3j]
    getattr(proto, field).append(5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="half a value"):
        tf.io.parse_tensor(proto.SerializeToString(), name)


def test_dtypes_have_sizes_limits_and_tensorflows_numbers():
    sizes = {tf.int8: 1, tf.int64: 8, tf.float16: 2, tf.bool: 1, tf.string: 0, tf.complex64: 8}
    assert all(dtype.size == size for dtype, size in sizes.items())
    assert (tf.int8.min, tf.int8.max, tf.uint64.max) == (-128, 127, (1 << 64) - 1)
    assert tf.float32.max == np.finfo(np.float32).max and tf.float64.min == np.finfo(np.float64).min
    numbers = {tf.float32: 1, tf.string: 7, tf.int64: 9, tf.bool: 10, tf.uint64: 23}
    assert all(dtype.as_datatype_enum == number for dtype, number in numbers.items())


@pytest.mark.parametrize("dtype", [tf.bool, tf.string, tf.complex128], ids=str)
def test_dtypes_without_an_order_have_no_limits(dtype):
    with pytest.raises(TypeError, match="Cannot find maximum value"):
        _ = dtype.max
