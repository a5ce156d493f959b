"""encode_examples: the bytes that the protobuf runtime gives for the same rows, whatever the columns are made of."""

import os

import hypothesis
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tfrecord_fast.examples.encode import encode_example

pytest.importorskip("google.protobuf")

from tests.support import oracle_protobuf as oracle

INTEGERS = ["bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]
FLOATS = ["float16", "float32", "float64"]
KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
ROWS = st.integers(0, 30)
CASES = settings(max_examples=int(os.environ.get("TFRECORD_FAST_CASES", "100")))


def kind_of(dtype):
    return "float" if np.dtype(dtype).kind == "f" else "int64"


def plain(values):
    """What a list of an Example holds for these values: Python numbers, floats rounded to float32, or bytes."""
    values = np.asarray(values)
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return values.astype(np.float32).ravel().tolist()
    return [int(value) for value in values.ravel().tolist()]


def utf8(value):
    return value.encode() if isinstance(value, str) else bytes(value)


def elements(dtype):
    """All values of the dtype that fit an Example. Of NaNs, one."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return st.floats(width=8 * dtype.itemsize, allow_nan=False) | st.just(float("nan"))
    if dtype.kind == "b":
        return st.booleans()
    info = np.iinfo(dtype)
    most = min(int(info.max), 2**63 - 1)
    return st.integers(int(info.min), most) | st.sampled_from([0, 1, 127, int(info.min), most])


@st.composite
def arrays(draw, rows):
    """A numeric array, of any dtype, shape and layout, and its rows."""
    dtype = draw(st.sampled_from(INTEGERS + FLOATS))
    shape = (rows, *draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=4)))
    array = draw(hnp.arrays(dtype, shape, elements=elements(dtype)))
    layout = draw(st.sampled_from(["as is", "big-endian", "strided", "Fortran", "read-only"]))
    if layout == "big-endian":
        array = array.astype(array.dtype.newbyteorder(">"))
    elif layout == "strided":
        array = np.repeat(array, 2, axis=0)[::2]
    elif layout == "Fortran":
        array = np.asfortranarray(array)
    elif layout == "read-only":
        array.flags.writeable = False
    return array, [(kind_of(array.dtype), plain(row)) for row in array]


@st.composite
def masked(draw, rows):
    array, expected = draw(arrays(rows))
    hidden = draw(hnp.arrays(bool, rows))
    mask = np.broadcast_to(hidden.reshape(rows, *[1] * (array.ndim - 1)), array.shape)
    if array.size == 0:
        hidden[:] = False  # there is nothing that could be masked
    return np.ma.masked_array(array, mask), [None if h else row for h, row in zip(hidden, expected, strict=True)]


@st.composite
def fixed_strings(draw, rows):
    """'S', 'U', object and StringDType arrays. NumPy's own strings end before their zeros."""
    count = draw(st.integers(0, 3))
    texts = draw(st.lists(TEXT, min_size=rows * count, max_size=rows * count))
    kinds = ["U", "S", "O"] + (["T"] if hasattr(np.dtypes, "StringDType") else [])
    kind = draw(st.sampled_from(kinds))
    if kind == "S":
        array = np.array([text.encode() for text in texts], "S" if texts else "S1")
    else:
        array = np.array(texts, {"O": object, "T": "T", "U": "U" if texts else "U1"}[kind])
    flat = [text.encode() for text in texts]
    if count == 1 and draw(st.booleans()):
        return array, [("bytes", [text]) for text in flat]
    expected = [("bytes", flat[i * count : (i + 1) * count]) for i in range(rows)]
    return array.reshape(rows, count), [None] * rows if kind == "O" and count == 0 else expected


def or_none(values):
    return st.none() | values


@st.composite
def scalars(draw, rows):
    """A list of numbers or strings, or None; the array of objects of it."""
    kind, values = draw(
        st.sampled_from(
            [
                ("int64", st.integers(-(2**63), 2**63 - 1) | st.booleans()),
                ("float", st.floats(width=32, allow_nan=False)),
                ("bytes", st.binary(max_size=40) | TEXT | st.binary(max_size=40).map(bytearray)),
                ("bytes", st.binary(max_size=40).map(memoryview)),
            ]
        )
    )
    column = draw(st.lists(draw(st.sampled_from([values, or_none(values)])), min_size=rows, max_size=rows))
    rows = [None if v is None else (kind, [utf8(v)] if kind == "bytes" else plain([v])) for v in column]
    if kind == "bytes" and draw(st.booleans()):
        array = np.empty(len(column), object)
        array[:] = column
        return array, rows
    return draw(st.sampled_from([list, tuple]))(column), rows


@st.composite
def lists(draw, rows):
    """A list of lists, arrays or None. Of no kind where there is no value at all."""
    kind, values = draw(
        st.sampled_from(
            [
                ("int64", st.integers(-(2**63), 2**63 - 1)),
                ("float", st.floats(width=32, allow_nan=False)),
                ("bytes", st.binary(max_size=20) | TEXT),
            ]
        )
    )
    runs = st.lists(values, max_size=5)
    column = draw(st.lists(draw(st.sampled_from([runs, or_none(runs)])), min_size=rows, max_size=rows))
    none = not any(column)
    convert = utf8 if kind == "bytes" else lambda v: v
    expected = [None if run is None or none else (kind, [convert(v) for v in run]) for run in column]
    form = draw(st.sampled_from(["lists", "tuples", "arrays"]))
    if form == "tuples":
        column = [None if run is None else tuple(run) for run in column]
    elif form == "arrays" and kind != "bytes" and not none:
        dtype = "float32" if kind == "float" else "int64"
        column = [None if run is None else np.array(run, dtype) for run in column]
    return column, expected


def flat_column(draw, size):
    """(kind, flat values as a column of 'values' may be, what they are in an Example)."""
    kind = draw(st.sampled_from(["int64", "float", "bytes"]))
    if kind == "bytes":
        values = draw(st.lists(st.binary(max_size=20), min_size=size, max_size=size))
        return kind, tf.BytesArray(values), values
    dtype = draw(st.sampled_from(FLOATS if kind == "float" else INTEGERS))
    array = draw(hnp.arrays(dtype, size, elements=elements(dtype)))
    return kind, array, plain(array)


def splits_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


@st.composite
def bytes_arrays(draw, rows):
    count = draw(st.integers(0, 3))
    values = draw(st.lists(st.binary(max_size=20), min_size=rows * count, max_size=rows * count))
    column = tf.BytesArray(values).reshape(rows, count)
    return column, [("bytes", values[i * count : (i + 1) * count]) for i in range(rows)]


@st.composite
def ragged(draw, rows):
    lengths = draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
    outer = splits_of(lengths)
    if draw(st.booleans()):
        kind, values, expected = flat_column(draw, int(outer[-1]))
        column, cuts = tf.RaggedTensor(values, outer.astype(draw(st.sampled_from(["int32", "int64"])))), outer
    else:
        count = int(outer[-1])
        inner = splits_of(draw(st.lists(st.integers(0, 3), min_size=count, max_size=count)))
        kind, values, expected = flat_column(draw, int(inner[-1]))
        column, cuts = tf.RaggedTensor(tf.RaggedTensor(values, inner), outer), inner[outer]
    return column, [(kind, expected[cuts[i] : cuts[i + 1]]) for i in range(rows)]


@st.composite
def sparse(draw, rows):
    lengths = draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
    cuts = splits_of(lengths)
    kind, values, expected = flat_column(draw, int(cuts[-1]))
    indices = np.array([(i, j) for i, n in enumerate(lengths) for j in range(n)], np.int64).reshape(-1, 2)
    return tf.sparse.SparseTensor(indices, values, [rows, 4]), [
        (kind, expected[cuts[i] : cuts[i + 1]]) for i in range(rows)
    ]


ALL = [arrays, masked, fixed_strings, scalars, lists, bytes_arrays, ragged, sparse]


@st.composite
def columns(draw, kinds=ALL, most=4):
    """A dict of columns and, of each row, the features that its Example must have."""
    rows = draw(ROWS)
    made, expected = {}, [{} for _ in range(rows)]
    for key in draw(st.lists(KEYS, min_size=1, max_size=most, unique=True)):
        made[key], features = draw(draw(st.sampled_from(kinds))(rows))
        for row, feature in zip(expected, features, strict=True):
            if feature is not None:
                row[key] = feature
    return made, expected


def check(made, expected):
    encoded = tf.encode_examples(made)
    assert encoded.tolist() == [oracle.example(row) for row in expected]
    return encoded


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_bytes_are_protobufs(kind):
    @CASES
    @given(columns([kind], most=2))
    def run(case):
        check(*case)

    run()


@CASES
@given(columns())
def test_bytes_of_mixed_columns_are_protobufs_with_any_number_of_threads(case):
    encoded = check(*case)
    assert tf.encode_examples(case[0], num_threads=1).tolist() == encoded.tolist()
    assert tf.encode_examples(case[0], num_threads=3).tolist() == encoded.tolist()


@CASES
@given(columns())
def test_a_row_alone_is_the_same_record(case):
    _, expected = case
    for row in expected[:3]:
        if all(values for _, values in row.values()):
            example = {key: values for key, (_, values) in row.items()}
            assert encode_example(example).tolist() == [oracle.example(row)]


@CASES
@given(columns())
def test_parsed_again_they_are_the_same_values(case):
    made, expected = case
    encoded = tf.encode_examples(made)
    kinds = {key: kind for row in expected for key, (kind, _) in row.items()}
    dtypes = {"int64": tf.int64, "float": tf.float32, "bytes": tf.string}
    hypothesis.assume(kinds)
    parsed = tf.parse_example(encoded, {key: tf.VarLenFeature(dtypes[kind]) for key, kind in kinds.items()})
    for key, column in parsed.items():
        values, cuts = np.asarray(column.values).tolist(), column.row_splits
        rows = [values[cuts[i] : cuts[i + 1]] for i in range(len(expected))]
        wanted = [row.get(key, (None, []))[1] for row in expected]
        np.testing.assert_equal(rows, wanted)


def their_values(records, kinds):
    """What TensorFlow parses: of each key the values and the row of each."""
    dtypes = {"int64": tf.int64, "float": tf.float32, "bytes": tf.string}
    features = {key: tf.io.VarLenFeature(dtypes[kind]) for key, kind in kinds.items()}
    parsed = tf.io.parse_example(records, features)
    return {key: (made.indices.numpy()[:, 0].tolist(), made.values.numpy().tolist()) for key, made in parsed.items()}


def test_tensorflow_parses_them_to_the_same_values(tensorflow):
    @settings(max_examples=30)
    @given(columns(most=3))
    def run(case):
        made, expected = case
        kinds = {key: kind for row in expected for key, (kind, _) in row.items() if key}
        if not kinds:
            return
        theirs = tensorflow(their_values, tf.encode_examples(made).tolist(), kinds)
        for key, got in theirs.items():
            lists = [row.get(key, (None, []))[1] for row in expected]
            rows = [i for i, values in enumerate(lists) for _ in values]
            np.testing.assert_equal(got, (rows, [value for values in lists for value in values]))

    run()


# ---- Large ----


def test_many_rows_and_long_keys_are_protobufs():
    n = 5000
    rng = np.random.default_rng(7)
    made = {
        "k" * 300: rng.integers(-(2**63), 2**63 - 1, n),
        "ids": rng.integers(0, 2**40, (n, 7)) >> rng.integers(0, 40, (n, 7)),
        "x": rng.normal(size=n).astype(np.float32),
        "vector": rng.normal(size=(n, 64)),
        "text": [b"x" * int(size) for size in rng.integers(0, 300, n)],
    }
    expected = [
        {
            key: ("bytes", [column[i]]) if key == "text" else (kind_of(column.dtype), plain(column[i]))
            for key, column in made.items()
        }
        for i in range(n)
    ]
    check(made, expected)


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152])
def test_lengths_around_those_of_varints_are_protobufs(size):
    made = {"a": [b"x" * size], "b": np.zeros((1, size), np.int8)}
    check(made, [{"a": ("bytes", [b"x" * size]), "b": ("int64", [0] * size)}])


@pytest.mark.parametrize("bits", range(65))
def test_scalars_of_every_length_are_protobufs(bits):
    values = [v for v in (2**bits - 1, 2**bits, 1 - 2**bits, -(2**bits)) if -(2**63) <= v < 2**63]
    check({"a": np.array(values, np.int64)}, [{"a": ("int64", [value])} for value in values])


@pytest.mark.parametrize("size", range(70))
def test_keys_of_every_length_are_protobufs(size):
    key, integers, floats = "k" * size, [1, 2**62], [1.0, 2.0]
    expected = [{key: ("int64", [i]), "z": ("float", [x])} for i, x in zip(integers, floats, strict=True)]
    check({key: integers, "z": floats}, expected)


def test_every_float16_is_the_float32_that_numpy_says():
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    halves = halves[~np.isnan(halves)]
    assert tf.encode_examples({"a": halves}).tolist() == tf.encode_examples({"a": halves.astype(np.float32)}).tolist()


def test_bfloat16_is_the_float32_that_it_stands_for():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([0.0, -1.5, 3e38, np.inf], np.float32).astype(ml_dtypes.bfloat16).reshape(2, 2)
    assert tf.encode_examples({"a": array}).tolist() == tf.encode_examples({"a": array.astype(np.float32)}).tolist()


# ---- What has no key ----


def test_a_row_without_any_feature_is_an_example_without_any():
    assert tf.encode_examples({"a": [None, 1]})[0] == oracle.example({})


def test_no_columns_are_no_records_and_one_row_of_none_is_one_record():
    assert tf.encode_examples({}).tolist() == []
    assert encode_example({}).tolist() == [oracle.example({})]


def test_an_empty_row_is_an_empty_list():
    assert tf.encode_examples({"a": [[], [1]]})[0] == oracle.example({"a": ("int64", [])})


def test_keys_may_be_bytes():
    assert tf.encode_examples({b"a": [1]}).tolist() == tf.encode_examples({"a": [1]}).tolist()


# ---- What parsing gives ----


def test_what_parse_example_gives_is_taken_as_it_is():
    made = {"i": np.arange(6).reshape(3, 2), "f": np.float32([1, 2, 3]), "b": [b"x", b"", b"z"], "v": [[1], [], [2, 3]]}
    records = tf.encode_examples(made)
    features = {
        "i": tf.FixedLenFeature([2], tf.int64),
        "f": tf.FixedLenFeature([], tf.float32),
        "b": tf.FixedLenFeature([], tf.string),
        "v": tf.VarLenFeature(tf.int64),
    }
    assert tf.encode_examples(tf.parse_example(records, features)).tolist() == records.tolist()
    features["v"] = tf.RaggedFeature(tf.int64)
    assert tf.encode_examples(tf.parse_example(records, features)).tolist() == records.tolist()


def test_what_parse_single_example_gives_is_taken_as_one_row():
    record = encode_example({"b": [b"x", b""], "f": 2.0, "v": [1, 2, 3], "w": [b"a"]})[0]
    features = {
        "b": tf.FixedLenFeature([2], tf.string),
        "f": tf.FixedLenFeature([], tf.float32),
        "v": tf.VarLenFeature(tf.int64),
        "w": tf.RaggedFeature(tf.string),
    }
    assert encode_example(tf.parse_single_example(record, features))[0] == record


# ---- Errors ----


@pytest.mark.parametrize(
    ("column", "error", "words"),
    [
        ([1, "x"], TypeError, "more than one kind"),
        (["x", 1], TypeError, "element 1 is int"),
        ([b"x", [1]], TypeError, "element 1 is list"),
        ([[1], 2], TypeError, "a single value"),
        ([1, 2**63], ValueError, "int64 does not hold|2\\^63"),
        ([2**64], ValueError, "int64"),
        ([[1], [None]], ValueError, "null inside a list"),
        (np.array([1 + 2j]), TypeError, "complex128"),
        (np.array(["2020-01-01"], "M8[D]"), TypeError, "datetime64"),
        (np.int64(3), TypeError, "column"),
        (np.array(3), TypeError, "single value"),
        ("abc", TypeError, "got str"),
        (b"abc", TypeError, "got bytes"),
        ({"a": 1}, TypeError, "got dict"),
        (7, TypeError, "got int"),
        (None, TypeError, "got NoneType"),
        ([object()], TypeError, "object"),
        ([{1: 2}], TypeError, "dict"),
        ("\ud800".split(), ValueError, "surrogates"),
        (np.ma.masked_array([[1, 2]], [[True, False]]), ValueError, "row 0 is masked in part"),
        (tf.RaggedTensor.from_row_splits(np.arange(3), [0, 4], validate=False), ValueError, "row splits"),
        (tf.RaggedTensor.from_row_splits(np.arange(3), [2, 1], validate=False), ValueError, "row splits"),
        (tf.sparse.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 1]), ValueError, "row-major"),
        (tf.sparse.SparseTensor([[5, 0]], [1], [2, 1]), ValueError, "dense_shape"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value[:10],
)
def test_what_has_no_form_in_an_example_is_refused_and_the_feature_named(column, error, words):
    with pytest.raises(error, match=rf"(?s)feature 'bad'.*({words})"):
        tf.encode_examples({"bad": column})


def test_a_uint64_above_int64_names_feature_and_row():
    column = np.zeros((9000, 2), np.uint64)
    column[8500, 1] = 2**63
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"feature 'big', row 8500: a uint64 above 2\^63 - 1"):
        tf.encode_examples({"a": np.zeros(9000), "big": column})


def test_columns_of_unequal_length_are_named_with_their_lengths():
    with pytest.raises(tf.errors.InvalidArgumentError, match="'a' has 2 rows, 'b' has 3"):
        tf.encode_examples({"a": [1, 2], "b": [1, 2, 3]})


@pytest.mark.parametrize("columns", [None, 7, "abc", [1, 2], np.zeros(3)])
def test_what_is_no_dict_of_columns_is_a_type_error(columns):
    with pytest.raises(TypeError, match="expected a dict of columns"):
        tf.encode_examples(columns)


def test_a_key_that_is_no_string_is_a_type_error():
    with pytest.raises(TypeError, match="keys are strings, got int"):
        tf.encode_examples({1: [1]})


def test_a_record_beyond_protobufs_limit_is_refused_before_it_is_made():
    chunk = b"x" * (1 << 20)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"row 0 takes \d+ bytes, more than the 2 GiB"):
        tf.encode_examples({"a": [[chunk] * 2048]})


def test_a_column_that_is_changed_later_leaves_the_records_alone():
    array = np.arange(3)
    records = tf.encode_examples({"a": array})
    before = records.tolist()
    array[:] = 9
    assert records.tolist() == before
