"""encode_examples of Arrow arrays and tables, pandas and polars frames: the bytes of the same rows as Python lists."""

import datetime
import os
import re
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tfrecord_fast import _core

pa = pytest.importorskip("pyarrow")
pytest.importorskip("google.protobuf")

from tests.support import oracle_protobuf as oracle  # noqa: E402

CASES = settings(max_examples=int(os.environ.get("TFRECORD_FAST_CASES", "100")))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)  # C strings
INTEGERS = {f"{sign}int{bits}": (sign, bits) for sign in ("", "u") for bits in (8, 16, 32, 64)}


def integers(name):
    sign, bits = INTEGERS[name]
    return st.integers(0, 2 ** min(bits, 63) - 1) if sign else st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


# Arrow types of single values, by what they hold.
SCALARS = [
    *((getattr(pa, name)(), "int64", integers(name)) for name in INTEGERS),
    (pa.bool_(), "int64", st.booleans()),
    (pa.float16(), "float", st.integers(-2048, 2048).map(lambda i: np.float16(i / 4))),
    (pa.float32(), "float", st.floats(width=32, allow_nan=False)),
    (pa.float64(), "float", st.floats(width=32, allow_nan=False)),
    *((kind, "bytes", TEXT) for kind in (pa.string(), pa.large_string(), pa.string_view())),
    *((kind, "bytes", st.binary(max_size=30)) for kind in (pa.binary(), pa.large_binary(), pa.binary_view())),
    (pa.binary(3), "bytes", st.binary(min_size=3, max_size=3)),
]


def plain(value):
    return value.encode() if isinstance(value, str) else int(value) if isinstance(value, bool) else value


@st.composite
def arrays(draw, rows):
    """An Arrow array and its rows: (kind, values) or None."""
    type, kind, values = draw(st.sampled_from(SCALARS))
    form = draw(st.sampled_from(["scalar", "list", "large_list", "fixed_size_list", "list of lists", "dictionary"]))
    length = {"min_size": 2, "max_size": 2} if form == "fixed_size_list" else {"max_size": 4}
    if form in ("scalar", "dictionary"):
        elements, flat = values, lambda value: [value]
    elif form == "list of lists":
        elements = st.lists(st.lists(values, min_size=2, max_size=2), max_size=3)
        flat = lambda value: [item for run in value for item in run]  # noqa: E731
        type = pa.list_(pa.large_list(type))
    else:
        elements, flat = st.lists(values, **length), lambda value: value
        make = {"list": pa.list_, "large_list": pa.large_list, "fixed_size_list": lambda t: pa.list_(t, 2)}[form]
        type = make(type)
    if draw(st.booleans()):
        elements = st.none() | elements
    spare = draw(st.integers(0, 9))  # rows before and after, cut off: Arrow's offset
    items = draw(st.lists(elements, min_size=rows + 2 * spare, max_size=rows + 2 * spare))
    array = pa.array(items, type)
    if form == "dictionary":
        try:
            array = array.dictionary_encode()
        except (pa.ArrowNotImplementedError, pa.ArrowTypeError):
            pass
    array, items = array.slice(spare, rows), items[spare : spare + rows]
    return array, [None if item is None else (kind, [plain(value) for value in flat(item)]) for item in items]


@st.composite
def tables(draw):
    rows = draw(st.integers(0, 25))
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    made = [draw(arrays(rows)) for _ in names]
    expected = [
        {name: column[i] for name, (_, column) in zip(names, made, strict=True) if column[i] is not None}
        for i in range(rows)
    ]
    return names, [array for array, _ in made], expected


def check(columns, expected):
    assert tf.encode_examples(columns).tolist() == [oracle.example(row) for row in expected]


@CASES
@given(tables())
def test_a_dict_of_arrays(case):
    names, made, expected = case
    check(dict(zip(names, made, strict=True)), expected)


@CASES
@given(tables())
def test_a_record_batch(case):
    names, made, expected = case
    check(pa.RecordBatch.from_arrays(made, names=names), expected)


@CASES
@given(tables(), st.integers(1, 9))
def test_a_table_of_chunks(case, chunk):
    names, made, expected = case
    chunks = [pa.chunked_array([a.slice(i, chunk) for i in range(0, len(a), chunk)], a.type) for a in made]
    check(pa.table(chunks, names=names), expected)
    check(dict(zip(names, chunks, strict=True)), expected)


@CASES
@given(tables())
def test_a_slice_of_a_batch_is_its_own_rows(case):
    names, made, expected = case
    check(pa.RecordBatch.from_arrays(made, names=names).slice(1), expected[1:])


@pytest.mark.parametrize("nulls", [pa.nulls(2), pa.array([None, None], pa.int64())], ids=["null", "int64"])
@pytest.mark.parametrize("make", [dict, pa.table])
def test_a_column_of_nulls_has_no_key(nulls, make):
    check(make({"a": nulls}), [{}, {}])


def test_an_empty_table_is_no_records():
    check(pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.list_(pa.int8()))}), [])


def test_strings_hold_their_memory_until_they_are_encoded():
    """Whoever gave them need not."""
    alive = []

    class Given:
        def __arrow_c_array__(self, requested_schema=None):
            alive.append([memory() is not None for memory in held])
            data = np.frombuffer(b"abcdef" * 100, np.uint8).copy()
            held.append(weakref.ref(data))
            buffers = [None, pa.py_buffer(np.arange(0, 601, 6, np.int32)), pa.py_buffer(data)]
            return pa.Array.from_buffers(pa.binary(), 100, buffers).__arrow_c_array__()

    held = []
    records = tf.encode_examples({"a": Given(), "b": Given()})
    assert alive == [[], [True]] and [memory() for memory in held] == [None, None]
    assert records.tolist() == tf.encode_examples({key: [b"abcdef"] * 100 for key in "ab"}).tolist()


@pytest.mark.parametrize(
    "wrap", [pa.list_, pa.large_list, lambda kind: pa.list_(pa.list_(kind))], ids=["", "large", "two"]
)
@pytest.mark.parametrize("value", [pa.string(), pa.binary(), pa.float32(), pa.int64()], ids=str)
def test_lists_that_are_all_empty_are_of_the_dictionarys_kind(value, wrap):
    def records(kind, rows):
        return list(tf.encode_examples({"x": pa.array(rows, wrap(kind))}))

    for rows in ([[], [], []], [[], None]):
        assert records(pa.dictionary(pa.int8(), value), rows) == records(value, rows)


def dictionary(kind, rows):
    """A chunk whose dictionary has just the values of its rows."""
    used = list(dict.fromkeys(row for row in rows if row is not None))
    places = [None if row is None else used.index(row) for row in rows]
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), pa.array(used, kind))


def test_a_chunk_of_a_dictionary_may_have_no_values():
    """As a row group of nulls is read."""
    for kind in [kind for kind, _, _ in SCALARS]:
        for order in [[0, 1], [1, 0], [1, 0, 1], [1], [0, 0, 1], [1, 1]]:
            some = {"bool": [True, False], "halffloat": [np.float16(5), np.float16(7)]}.get(str(kind), [5, 7])
            some = ["abc", "bcd"] if "string" in str(kind) else [b"abc", b"bcd"] if "binary" in str(kind) else some
            chunks = [[[some[0], None, some[1], some[0]], [None, None]][which] for which in order]
            plain = pa.chunked_array([pa.array(chunk, kind) for chunk in chunks])
            packed = pa.chunked_array([dictionary(kind, chunk) for chunk in chunks])
            expected = tf.encode_examples({"x": plain}).tolist()
            assert tf.encode_examples({"x": packed}).tolist() == expected
            assert tf.encode_examples(pa.table({"x": packed})).tolist() == expected
            halves = [pa.table({"x": chunk}) for chunk in packed.chunks]
            assert tf.encode_examples(pa.concat_tables(halves)).tolist() == expected


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.float32(), pa.float64(), pa.string()], ids=str)
@pytest.mark.parametrize("order", [[0, 1], [1, 0], [1]])
def test_a_chunk_of_lists_of_a_dictionary_may_have_no_values(kind, order):
    some = ["a", "b"] if kind == pa.string() else [5, 7]
    rows = [[some, [], None, some[:1]], [[], None]]

    def chunk(which, child):
        splits = pa.array(np.cumsum([0, *(len(row or ()) for row in rows[which])]), pa.int32())
        return pa.ListArray.from_arrays(splits, child, mask=pa.array([row is None for row in rows[which]]))

    def column(make):
        flat = [[value for row in one for value in row or ()] for one in rows]
        return pa.chunked_array([chunk(which, make(kind, flat[which])) for which in order])

    expected = tf.encode_examples({"x": column(lambda kind, flat: pa.array(flat, kind))}).tolist()
    assert tf.encode_examples({"x": column(dictionary)}).tolist() == expected


def test_lists_of_nulls_of_a_dictionary_are_of_its_kind():
    of_text = pa.array([[None], []], pa.list_(pa.dictionary(pa.int8(), pa.string()))).slice(1, 1)
    assert tf.encode_examples({"x": of_text}).tolist() == tf.encode_examples({"x": [["a"], []]}).tolist()[1:]


@pytest.mark.parametrize(("kind", "dtype"), [("int16", np.int64), ("int64", np.int32), ("float32", np.float64)])
def test_values_of_another_size_are_not_read_as_what_they_are_not(kind, dtype):
    with pytest.raises(TypeError, match=f"feature 'a': not values of type {kind}"):
        _core.EncodeColumn(key="a", type=kind, values=np.zeros(4, dtype))


def test_a_null_inside_a_list_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="feature 'a': a null inside a list"):
        tf.encode_examples({"a": pa.array([[1, None]])})


UNDER_NULL = {"values": pa.array([1, 2, None, None]), "mask": pa.array([False, True])}


@pytest.mark.parametrize(
    "array",
    [
        pa.FixedSizeListArray.from_arrays(UNDER_NULL["values"], 2, mask=UNDER_NULL["mask"]),
        pa.ListArray.from_arrays(pa.array([0, 2, 4]), **UNDER_NULL),
    ],
    ids=["fixed size", "list"],
)
def test_a_null_under_a_null_list_is_not_seen(array):
    check({"a": array}, [{"a": ("int64", [1, 2])}, {}])


PAIRS = pa.map_(pa.int8(), pa.int8())


@pytest.mark.parametrize(
    "array", [pa.array([{"x": 1}]), pa.array([datetime.datetime(2020, 1, 1)]), pa.array([[(1, 2)]], PAIRS)]
)
@pytest.mark.parametrize("make", [dict, pa.table])
def test_a_type_without_a_form_in_an_example_names_the_feature(array, make):
    with pytest.raises(TypeError, match="feature 'a'"):
        tf.encode_examples(make({"a": array}))


TIMES = {
    "timestamps": [pa.timestamp("us"), pa.timestamp("s", "UTC")],
    "dates": [pa.date32(), pa.date64()],
    "times": [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")],
    "durations": [pa.duration("s"), pa.duration("ns")],
}


@pytest.mark.parametrize("noun, type", [(noun, type) for noun, types in TIMES.items() for type in types])
def test_the_remedy_for_times_works(noun, type):
    array = pa.array([0, None], pa.int32() if type.bit_width == 32 else pa.int64()).cast(type)
    with pytest.raises(TypeError, match=f"feature 'a': an Example cannot hold {noun}; write integers") as error:
        tf.encode_examples({"a": array})
    cast = re.search(r"column(\.cast\(.*\)) in pyarrow", str(error.value))[1]
    assert tf.encode_examples({"a": eval(f"array{cast}")}).tolist() == tf.encode_examples({"a": [0, None]}).tolist()


def test_the_remedy_for_times_in_polars_works():
    pl = pytest.importorskip("polars")
    column = pl.Series("a", [datetime.date(1970, 1, 2)])
    with pytest.raises(TypeError, match=r"cannot hold dates; .* column\.to_physical\(\) in polars"):
        tf.encode_examples(column.to_frame())
    assert tf.encode_examples(column.to_physical().to_frame()).tolist() == tf.encode_examples({"a": [1]}).tolist()


def test_a_stream_that_fails_says_why():
    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            def batches():
                yield pa.record_batch({"a": [1]})
                raise ValueError("the source is gone")

            schema = pa.schema([("a", pa.int64())])
            return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__()

    with pytest.raises(ValueError, match="the source is gone"):
        tf.encode_examples(Broken())


def test_columns_that_parsing_gives_go_through_arrow_and_back():
    records = tf.encode_examples({"a": [1, 2, 3], "b": [[b"x"], [], [b"y", b"z"]]})
    features = {"a": tf.FixedLenFeature([], tf.int64), "b": tf.VarLenFeature(tf.string)}
    parsed = tf.parse_example(records, features)
    assert tf.encode_examples({key: pa.array(column) for key, column in parsed.items()}).tolist() == records.tolist()


# ---- pandas ----


def frame():
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(
        {
            "i": np.array([1, 2, 3], np.int16),
            "f": [1.5, np.nan, -2.0],
            "n": pd.array([1, None, 3], dtype="Int64"),
            "s": ["a", None, "ü"],
            "o": pd.Series([b"x", b"", None], dtype=object),
            "l": pd.Series([[1, 2], None, []], dtype=object),
            "b": [True, False, True],
            "c": pd.Categorical(["u", "v", None]),
        }
    )


PANDAS_ROWS = [
    {
        "i": ("int64", [1]),
        "f": ("float", [1.5]),
        "n": ("int64", [1]),
        "s": ("bytes", [b"a"]),
        "o": ("bytes", [b"x"]),
        "l": ("int64", [1, 2]),
        "b": ("int64", [1]),
        "c": ("bytes", [b"u"]),
    },
    {"i": ("int64", [2]), "o": ("bytes", [b""]), "b": ("int64", [0]), "c": ("bytes", [b"v"])},
    {
        "i": ("int64", [3]),
        "f": ("float", [-2.0]),
        "n": ("int64", [3]),
        "s": ("bytes", ["ü".encode()]),
        "l": ("int64", []),
        "b": ("int64", [1]),
    },
]


def test_a_pandas_frame():
    check(frame(), PANDAS_ROWS)
    check(dict(frame().items()), PANDAS_ROWS)
    check(frame().iloc[[2, 0]], [PANDAS_ROWS[2], PANDAS_ROWS[0]])  # whose index is another
    over_arrow = frame().drop(columns=["c", "o", "l"]).convert_dtypes(dtype_backend="pyarrow")
    check(over_arrow, [{key: row[key] for key in row if key not in "col"} for row in PANDAS_ROWS])


# ---- polars ----


def polars_frame(pl):
    return pl.DataFrame(
        {
            "i": [1, None, 3],
            "f": [1.5, float("nan"), None],
            "s": ["a", None, "a string of more than twelve bytes"],
            "y": [b"x", None, b""],
            "l": [[1, 2], None, []],
            "a": pl.Series([[1.0, 2.0], None, [3.0, 4.0]], dtype=pl.Array(pl.Float32, 2)),
            "b": [True, False, None],
            "c": pl.Series(["u", "v", None], dtype=pl.Categorical),
        }
    )


POLARS_ROWS = [
    {
        "i": ("int64", [1]),
        "f": ("float", [1.5]),
        "s": ("bytes", [b"a"]),
        "y": ("bytes", [b"x"]),
        "l": ("int64", [1, 2]),
        "a": ("float", [1.0, 2.0]),
        "b": ("int64", [1]),
        "c": ("bytes", [b"u"]),
    },
    {"f": ("float", [float("nan")]), "b": ("int64", [0]), "c": ("bytes", [b"v"])},
    {
        "i": ("int64", [3]),
        "s": ("bytes", [b"a string of more than twelve bytes"]),
        "y": ("bytes", [b""]),
        "l": ("int64", []),
        "a": ("float", [3.0, 4.0]),
    },
]


def test_a_polars_frame():
    pl = pytest.importorskip("polars")
    frame = polars_frame(pl)
    check(frame, POLARS_ROWS)
    check({name: frame[name] for name in frame.columns}, POLARS_ROWS)
    check(pl.concat([frame, frame], rechunk=False), POLARS_ROWS * 2)
    check(frame.slice(1, 2), POLARS_ROWS[1:])
