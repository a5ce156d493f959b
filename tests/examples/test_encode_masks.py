"""What is masked, missing, there twice or out of place in columns is left out as said, or refused: never written."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support.names import named

HALF = np.ma.array([1, 2], mask=[0, 1])
ALL = np.ma.array([1, 2], mask=[1, 1])
NONE = np.ma.array([1, 2], mask=[0, 0])


def rows_of(records):
    """Of each record the values under "a", or None without the key."""
    found = []
    for record in records:
        features = tf.parse_single_example(record, {"a": tf.VarLenFeature(tf.int64), "b": tf.VarLenFeature(tf.int64)})
        found.append(features["a"].values.tolist() if b"\x01a" in record else None)
    return found


@pytest.mark.parametrize(
    "column",
    [
        [HALF],
        [[1], HALF],
        [None, HALF],
        np.array([HALF, None], object),
        [[HALF]],
        [[[1], [np.ma.masked]]],
        [[1, np.ma.masked]],
        [[ALL]],
        [[b"a", np.ma.masked]],
        [np.ma.array([b"a", b"b"], mask=[0, 1])],
        [np.ma.array(["a", "b"], object, mask=[0, 1])],
        np.ma.array([[1, 2]], mask=[[0, 1]]),
        np.ma.array([["a", "b"]], mask=[[0, 1]]),
    ],
    ids=repr,
)
def test_a_row_that_is_masked_in_part_is_refused(column):
    with pytest.raises(ValueError, match=r"feature 'a'.*(masked|null)"):
        tf.encode_examples({"a": column})
    with pytest.raises(ValueError, match="feature list 'a'"):
        tf.encode_sequence_examples(None, {"a": [[row] for row in column]})


@pytest.mark.parametrize(
    "column",
    [
        [ALL, NONE],
        [np.ma.masked, [1, 2]],
        [ALL, [1, 2]],
        [None, NONE],
        np.ma.array([[1, 2], [1, 2]], mask=[[1, 1], [0, 0]]),
        np.ma.array([[1, 2], [1, 2]], object, mask=[[1, 1], [0, 0]]),
    ],
    ids=repr,
)
def test_a_row_that_is_masked_whole_is_missing(column):
    assert rows_of(tf.encode_examples({"a": column})) == [None, [1, 2]]


@pytest.mark.parametrize("first", [1, 1.5, b"a", "a", True, np.float32(2)])
def test_masked_among_values_is_missing(first):
    assert (
        tf.encode_examples({"a": [first, np.ma.masked]}).tolist() == tf.encode_examples({"a": [first, None]}).tolist()
    )
    assert (
        tf.encode_examples({"a": [np.ma.masked, first]}).tolist() == tf.encode_examples({"a": [None, first]}).tolist()
    )


def test_one_example_has_no_masked_values(tmp_path):
    pytest.importorskip("google.protobuf")
    with tf.ExampleWriter(tmp_path / "out") as writer:
        for write in (tf.train.example, writer.write_example, lambda row: tf.train.sequence_example(row)):
            with pytest.raises(ValueError, match=r"'a'.*masked"):
                write({"a": HALF})
        writer.write_example({"a": ALL, "b": NONE})
    assert tf.train.example({"a": ALL, "b": NONE}) == tf.train.example({"b": [1, 2]})
    with pytest.raises(ValueError, match=r"^(?!.*feature ''.*).*masked"):
        tf.train.feature(HALF)
    with pytest.raises(ValueError, match="masked"):
        tf.train.sequence_example(None, {"a": [HALF]})
    assert rows_of(tf.data.TFRecordDataset(str(tmp_path / "out"))) == [None]


PADDED = np.arange(6).reshape(2, 3)


def test_masked_padding_needs_lengths():
    padded = np.ma.array(PADDED, mask=[[0, 0, 1], [0, 1, 1]])
    with pytest.raises(ValueError, match=r"row 0 is masked in part.*lengths"):
        tf.encode_sequence_examples(None, {"a": padded})
    made = tf.encode_sequence_examples(None, {"a": padded}, lengths={"a": [2, 1]})
    assert made.tolist() == tf.encode_sequence_examples(None, {"a": [[0, 1], [3]]}).tolist()
    with pytest.raises(ValueError, match="row 1 is masked in part"):
        tf.encode_sequence_examples(None, {"a": padded}, lengths={"a": [2, 2]})


def test_a_masked_row_of_steps_is_missing():
    expected = tf.encode_sequence_examples(None, {"a": [None, [3, 4, 5]]}).tolist()
    padded = np.ma.array(PADDED, mask=[[1, 1, 1], [0, 0, 0]])
    assert tf.encode_sequence_examples(None, {"a": padded}).tolist() == expected
    assert tf.encode_sequence_examples(None, {"a": list(padded)}).tolist() == expected


# ---- Lengths ----


@pytest.mark.parametrize(
    "lengths",
    [[1.5, 1], [1.0, 1.0], [True, False], [-1, 1], [4, 0], [1], [1, 1, 1], [[1, 1]], 1, ["1", "1"], [None, 1],
     [2**70, 1], np.array([1, 2**63], np.uint64), np.ma.array([1, 1], mask=[0, 1]), [1, np.ma.masked]],
    ids=repr,
)  # fmt: skip
def test_lengths_are_whole_numbers_that_fit(lengths):
    with pytest.raises(ValueError, match=r"feature list 's'.*length"):
        tf.encode_sequence_examples(None, {"s": PADDED}, lengths={"s": lengths})


def test_lengths_belong_to_padded_arrays():
    with pytest.raises(ValueError, match="lengths has keys that sequences lacks: 'x'"):
        tf.encode_sequence_examples(None, {"s": PADDED}, lengths={"x": [1, 1]})
    with pytest.raises(TypeError, match="padded"):
        tf.encode_sequence_examples(None, {"s": [[1]]}, lengths={"s": [1]})


# ---- Keys ----


class Frame(dict):
    """A mapping that is not a plain dict."""


@pytest.mark.parametrize("kind", [dict, Frame])
def test_a_key_given_twice_is_refused(kind, tmp_path):
    pytest.importorskip("google.protobuf")
    twice = kind({"a": [1], b"a": [2]})
    with tf.ExampleWriter(tmp_path / "out") as writer:
        for use in (
            tf.encode_examples,
            writer.write,
            writer.write_example,
            tf.train.example,
            tf.train.sequence_example,
            lambda columns: tf.train.sequence_example(None, columns),
            lambda columns: tf.encode_sequence_examples(columns, {}),
            lambda columns: tf.encode_sequence_examples(None, {key: [value] for key, value in columns.items()}),
        ):
            with pytest.raises(ValueError, match="'a' is given twice"):
                use(twice)
            with pytest.raises(ValueError, match="given twice"):
                use({**twice, **{"b" * 50: [1], b"b" * 50: [1]}})


def test_the_core_refuses_a_key_twice():
    core = tf._core
    column = core.EncodeColumn(key="a", type="int64", values=np.arange(1))
    with pytest.raises(ValueError, match="'a' is given twice"):
        core.encode_examples([column, column], 1, 1)


def test_arrow_columns_of_one_name_are_refused():
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_arrays([pa.array([0]), pa.array([1]), pa.array([2])], names=["first", "a", "a"])
    for given_ in (table, table.to_batches()[0], table.to_reader()):
        with pytest.raises(ValueError, match="'a' is given twice"):
            tf.encode_examples(given_)
    for names in (["first", "a", "a\0b"], ["first", "a\0b", "c"]):
        with pytest.raises(ValueError, match=r"NUL|twice"):
            tf.encode_examples(table.rename_columns(names))


def test_pandas_columns_of_one_name_are_refused():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="'a' is given twice"):
        tf.encode_examples(pd.DataFrame([[0, 1, 2]], columns=["first", "a", "a"]))


def test_objects_in_polars_are_refused():
    pl = pytest.importorskip("polars")
    series = pl.Series("a", [object()], dtype=pl.Object)
    for columns in (pl.DataFrame([series]), {"a": series}):
        with pytest.raises(TypeError, match=r"feature 'a'.*Object"):
            tf.encode_examples(columns)


# ---- Sparse and ragged ----


@pytest.mark.parametrize(
    ("indices", "words"),
    [
        ([[0, 1], [0, 1]], "is repeated"),
        ([[0, 1], [0, 0]], "is out of order"),
        ([[1, 0], [0, 1]], "is out of order"),
        ([[0, 0], [0, 3]], "out of bounds"),
        ([[0, -1], [0, 0]], "out of bounds"),
        ([[0, 0], [2, 0]], "out of bounds"),
    ],
)
@pytest.mark.parametrize("shape", [[2, 3], [2, 2**62]])
def test_sparse_indices_are_in_order_inside_and_there_once(indices, words, shape):
    if shape[1] > 3 and indices[1][1] == 3:
        indices = [indices[0], [0, 2**62]]
    tensor = tf.sparse.SparseTensor(indices, [1, 2], shape)
    with pytest.raises(ValueError, match=words):
        tf.encode_examples({"a": tensor})


@pytest.mark.parametrize("splits", [[0, 2], [1, 3], [0, 4], []])
def test_ragged_rows_leave_no_value_out(splits):
    ragged = tf.RaggedTensor.from_row_splits(np.arange(3), splits, validate=False)
    with pytest.raises(ValueError, match="row splits must ascend from 0 to 3"):
        tf.encode_examples({"a": ragged})
    with pytest.raises(ValueError, match="row splits must ascend from 0 to 3"):
        tf.encode_sequence_examples(None, {"a": ragged})


# ---- Kinds ----


def test_integers_stay_integers():
    large = 2**60 + 1
    assert rows_of(tf.encode_examples({"a": [np.array([large]), np.array([2], np.uint64)]})) == [[large], [2]]
    assert rows_of(tf.encode_examples({"a": [np.int64(-large), np.uint64(large)]})) == [[-large], [large]]
    assert rows_of(tf.encode_examples({"a": [np.array([]), np.array([large])]})) == [[], [large]]


@pytest.mark.parametrize("column", [[2**24 + 1, 0.5], [[2**24 + 1], [0.5]], [np.array([2**24 + 1]), np.array([0.5])]])
def test_an_integer_that_a_float_list_would_change_is_refused(column):
    with pytest.raises(ValueError, match="16777217"):
        tf.encode_examples({"a": column})


@pytest.mark.parametrize(
    "column",
    [
        [tf.sparse.SparseTensor([[0]], [1], [3])],
        [[1], {2, 3}],
        [[1], {2: 3}],
        [[1], bytearray(b"ab")],
        [[1], memoryview(b"ab")],
        [b"a", np.array([1, 2], np.uint8)],
        [b"a", np.int64(7)],
        [memoryview(np.arange(2))],
        [np.datetime64("2020-01-01")],
        [b"a", memoryview(np.arange(2))],
        [np.void(b"ab")],
    ],
    ids=named,
)
def test_what_is_neither_numbers_nor_strings_is_refused(column):
    with pytest.raises(TypeError, match="feature 'a'"):
        tf.encode_examples({"a": column})


def test_dates_and_voids_are_no_bytes(tmp_path):
    with tf.ExampleWriter(tmp_path / "out") as writer:
        for value in (np.datetime64("2020-01-01"), np.timedelta64(1, "s"), np.void(b"a")):
            with pytest.raises(TypeError, match="feature 'a'"):
                writer.write_example({"a": value})


def test_a_missing_row_may_hold_a_uint64_beyond_int64():
    array = np.ma.array(np.array([1, 2**64 - 1], np.uint64), mask=[0, 1])
    assert rows_of(tf.encode_examples({"a": array})) == [[1], None]
    rows = np.ma.array(np.array([[1, 2], [2**64 - 1, 3]], np.uint64), mask=[[0, 0], [1, 1]])
    assert rows_of(tf.encode_examples({"a": rows})) == [[1, 2], None]


# ---- NaN ----


NAN = float("nan")


@pytest.fixture(scope="module")
def pd():
    return pytest.importorskip("pandas")


def floats_of(records):
    feature = {"a": tf.VarLenFeature(tf.float32)}
    return [tf.parse_single_example(r, feature)["a"].values.tolist() if b"\x01a" in r else None for r in records]


@pytest.mark.parametrize(
    ("make", "missing", "value"),
    [
        (lambda pd: pd.Series([1.0, NAN]), None, [NAN]),
        (lambda pd: pd.Series([1.0, NAN], dtype=object), None, [NAN]),
        (lambda pd: pd.Series([1.0, None], dtype=object), None, None),
        (lambda pd: pd.Series([1.0, np.float32("nan")], dtype=object), None, [NAN]),
        (lambda pd: pd.Series(pd.arrays.SparseArray([1.0, NAN])), None, [NAN]),
        (lambda pd: pd.Series([1.0, None], dtype="Float64"), None, None),
        (lambda pd: pd.Series([1.0, None], dtype="category"), None, None),
        (lambda pd: pd.array([1.0, None], dtype="Float32"), None, None),
    ],
)
def test_nan_in_pandas_is_what_is_asked_for(pd, make, missing, value, tmp_path):
    def rows(records):
        return repr(floats_of(records))

    frame = pd.DataFrame({"a": make(pd)})
    expected = {"missing": repr([[1.0], missing]), "value": repr([[1.0], value])}
    assert rows(tf.encode_examples(frame)) == expected["missing"]
    for nan, text in expected.items():
        assert rows(tf.encode_examples(frame, nan=nan)) == text
        assert rows(tf.encode_examples({"a": make(pd)}, nan=nan)) == text
        with tf.ExampleWriter(tmp_path / "out") as writer:
            writer.write(frame, nan=nan)
        assert rows(tf.data.TFRecordDataset(str(tmp_path / "out"))) == text


@pytest.mark.parametrize("nan", ["missing", "value"])
def test_nan_elsewhere_is_a_value(nan):
    for column in (np.array([NAN]), [NAN], [np.array([NAN])]):
        assert repr(floats_of(tf.encode_examples({"a": column}, nan=nan))) == "[[nan]]"


@pytest.mark.parametrize("nan", ["", None, "Value", True])
def test_another_meaning_of_nan_is_refused(nan):
    with pytest.raises(ValueError, match="nan must be 'missing' or 'value'"):
        tf.encode_examples({"a": [1.0]}, nan=nan)


# ---- The round trip ----

INTEGERS = st.integers(-(2**63), 2**63 - 1)
SCALARS = st.none() | st.booleans() | INTEGERS | st.floats(width=32) | st.binary()
SCALARS |= st.text(st.characters(codec="utf-8"))
SCALARS |= INTEGERS.map(np.int64) | st.just(np.ma.masked) | st.integers(0, 2**64 - 1).map(np.uint64)
ARRAYS = st.lists(INTEGERS, max_size=3).map(lambda v: np.array(v, np.int64))
ARRAYS |= st.lists(st.floats(width=32), max_size=3).map(lambda v: np.array(v, np.float32))
ARRAYS |= st.lists(st.binary(max_size=3), max_size=3).map(lambda v: np.array([*v, None], object)[:-1])
ARRAYS |= st.lists(st.tuples(INTEGERS, st.booleans()), min_size=1, max_size=3).map(
    lambda pairs: np.ma.array([v for v, _ in pairs], mask=[m for _, m in pairs])
)
VALUES = st.recursive(SCALARS | ARRAYS, lambda inner: st.lists(inner, max_size=4), max_leaves=8)


def flattened(value):
    """The values of a row; None for a missing one."""
    if value is None or value is np.ma.masked:
        return None
    if isinstance(value, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(value)
        if mask.all():
            return None
        assert not mask.any(), "a row that is masked in part was written"
    if isinstance(value, list | np.ndarray):
        found = []
        for item in np.ma.getdata(value).tolist() if isinstance(value, np.ndarray) else value:
            inner = flattened(item)
            assert inner is not None, "a missing value inside a row was written"
            found += inner
        return found
    return [value.encode() if isinstance(value, str) else value]


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_any_nested_values_come_back_or_are_refused(rows):
    try:
        records = tf.encode_examples({"a": rows})
    except (TypeError, ValueError):
        return
    for row, record in zip(rows, records, strict=True):
        expected = flattened(row)
        if b"\x01a" not in record[:12]:
            assert not expected
            continue
        for dtype in (tf.int64, tf.float32, tf.string):
            try:
                found = tf.parse_single_example(record, {"a": tf.VarLenFeature(dtype)})["a"].values.tolist()
            except tf.errors.InvalidArgumentError:
                continue
            if found or not expected:
                break
        assert expected is not None
        assert len(found) == len(expected)
        assert all(a == b or (a != a and b != b) for a, b in zip(found, expected, strict=True))
