"""Columns of every kind that encode_examples takes, drawn by Hypothesis together with the rows they describe."""

import os

import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import tfrecord_fast as tf

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
    """A list of lists, arrays or None. Of no kind if there is no value at all."""
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
        inner = splits_of([draw(st.integers(0, 3))] * count)  # of other lengths it is an error
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
