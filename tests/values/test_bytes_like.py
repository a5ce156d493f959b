"""What is bytes-like is the same for everything that takes byte strings, and nothing else is read as bytes."""

import array
import collections
import ctypes
import io
import mmap
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tfrecord_fast import _core
from tfrecord_fast.values.columns.strings import as_bytes, is_one, strings

CONTENT = tf.encode_examples({"a": [5]})[0]  # ASCII, and a record
FEATURES = {"a": tf.FixedLenFeature([], tf.int64)}


class Tensor:
    """As another library's: its NumPy value, and memory that must not be taken for it."""

    def __init__(self, value):
        self._value = value

    def numpy(self):
        return self._value

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._value, dtype)


def zero_d(value):
    made = np.empty((), object)
    made[()] = value
    return made


def mapped(content):
    memory = mmap.mmap(-1, len(content))
    memory[:] = content
    return memory


BYTES = np.frombuffer(CONTENT, np.uint8)
TEXT = np.dtypes.StringDType() if hasattr(np, "dtypes") and hasattr(np.dtypes, "StringDType") else np.dtype("U")
ONE = {
    "bytes": CONTENT,
    "str": CONTENT.decode(),
    "bytearray": bytearray(CONTENT),
    "memoryview": memoryview(CONTENT),
    "signed memoryview": memoryview(CONTENT).cast("b"),
    "memoryview of chars": memoryview(CONTENT).cast("c"),
    "np.bytes_": np.bytes_(CONTENT),
    "np.str_": np.str_(CONTENT.decode()),
    "array of B": array.array("B", CONTENT),
    "ctypes": (ctypes.c_ubyte * len(CONTENT)).from_buffer_copy(CONTENT),
    "ctypes string": (ctypes.c_char * len(CONTENT)).from_buffer_copy(CONTENT),
    "mmap": mapped(CONTENT),
    "BytesIO": io.BytesIO(CONTENT).getbuffer(),
    "uint8": BYTES,
    "int8": BYTES.view(np.int8),
    "strided uint8": np.repeat(BYTES, 2)[::2],
    "unmasked": np.ma.array(BYTES),
    "object": zero_d(CONTENT),
    "object in object": zero_d(zero_d(bytearray(CONTENT))),
    "S": np.array(CONTENT),
    "U": np.array(CONTENT.decode()),
    "T": np.array(CONTENT.decode(), TEXT),
    "tensor": Tensor(CONTENT),
    "tensor of object": Tensor(zero_d(CONTENT)),
}
ITSELF = np.empty((), object)
ITSELF[()] = ITSELF
NOT_BYTES = {
    "int": 7,
    "None": None,
    "float": 1.5,
    "object": object(),
    "list": [b"a"],
    "dict": {},
    "ellipsis": ...,
    "np.int64": np.int64(7),
    "np.uint8": np.uint8(7),
    "np.bool_": np.bool_(True),
    "datetime64": np.datetime64("2020-01-01"),
    "void": np.void(b"abc"),
    "int64 array": np.arange(2),
    "bool array": np.zeros(2, bool),
    "float scalar array": np.array(1.5),
    "void array": np.zeros(2, "V1"),
    "object array of an object": zero_d(object()),
    "object array of a number": zero_d(5),
    "array with a dimension": np.array([b"a", b"b"]),
    "object array with a dimension": np.array([b"a"], object),
    "memory of ints": memoryview(np.arange(2)),
    "memory of objects": memoryview(np.array([b"a"], object)),
    "memory of bools": memoryview(np.zeros(2, bool)),
    "gaps": memoryview(b"abcd")[::2],
    "array of i": array.array("i", [1]),
    "masked": np.ma.masked,
    "masked bytes": np.ma.array(np.array(b"a"), mask=True),
    "masked uint8": np.ma.array(BYTES, mask=np.arange(len(BYTES)) == 1),
    "RecordBatch": _core.record_batch([b"a"]),
    "BytesArray": tf.BytesArray([b"a"]),
    "tensor of numbers": Tensor(np.arange(3)),
}


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "out")


def written(path, write):
    with tf.io.TFRecordWriter(path) as writer:
        write(writer)
    return list(tf.data.TFRecordDataset(path))


def by_example_writer(path, value):
    with tf.ExampleWriter(path) as writer:
        writer.write_batch([value])
    return next(iter(tf.data.TFRecordDataset(path)))


def by_write_file(path, value):
    tf.io.write_file(path, value)
    return tf.io.read_file(path)


def by_gfile(path, value):
    with tf.io.gfile.GFile(path, "wb") as file:
        file.write(value)
    return tf.io.read_file(path)


def parsed(columns):
    assert int(np.ravel(columns["a"])[0]) == 5
    return CONTENT


# What each function makes of one byte string, as bytes.
USES = {
    "write": lambda path, value: written(path, lambda writer: writer.write(value))[0],
    "write_batch": lambda path, value: written(path, lambda writer: writer.write_batch([b"", value]))[1],
    "ExampleWriter.write_batch": by_example_writer,
    "RecordBatch": lambda path, value: _core.record_batch((b"x", value))[1],
    "BytesArray": lambda path, value: tf.BytesArray([value]).tolist()[0],
    "nested BytesArray": lambda path, value: tf.BytesArray([[b"x", value]]).tolist()[0][1],
    "decode_raw": lambda path, value: tf.io.decode_raw([value], tf.uint8)[0].tobytes(),
    "decode_raw of one": lambda path, value: tf.io.decode_raw(value, tf.uint8).tobytes(),
    "parse_example": lambda path, value: parsed(tf.parse_example([value], FEATURES)),
    "parse_example of one": lambda path, value: parsed(tf.parse_example(value, FEATURES)),
    "parse_single_example": lambda path, value: parsed(tf.parse_single_example(value, FEATURES)),
    "parse_sequence_example": lambda path, value: parsed(tf.parse_sequence_example([value], FEATURES)[0]),
    "parse_single_sequence_example": lambda path, value: parsed(tf.parse_single_sequence_example(value, FEATURES)[0]),
    "write_file": by_write_file,
    "GFile.write": by_gfile,
    "is_jpeg": lambda path, value: CONTENT if tf.io.is_jpeg(value) is False else b"",
    "as_bytes": lambda path, value: as_bytes(value),
    "strings": lambda path, value: strings([value])[0],
}
TAKES_ONE = {"as_bytes", "write", "write_file", "is_jpeg", "GFile.write"}
SAYS_SCALAR = {"parse_single_example", "parse_single_sequence_example", "is_jpeg"}  # as TensorFlow does, of lists
LISTS = {"list", "array with a dimension", "object array with a dimension", "RecordBatch", "BytesArray"}


@pytest.mark.parametrize("use", USES)
def test_what_is_bytes_like_is_taken(use, path):
    for kind in ONE:
        assert USES[use](path, ONE[kind]) == CONTENT


@pytest.mark.parametrize("use", USES)
def test_what_is_not_bytes_like_is_a_type_error(use, path):
    for kind in NOT_BYTES:
        value = NOT_BYTES[kind]
        if kind not in LISTS or use in TAKES_ONE:
            with pytest.raises(
                (TypeError, ValueError) if use in SAYS_SCALAR and kind in {*LISTS, "dict"} else TypeError
            ):
                USES[use](path, value)


def test_the_error_names_the_type(path):
    for kind in NOT_BYTES:
        value = NOT_BYTES[kind].numpy() if kind.startswith("tensor") else NOT_BYTES[kind]
        name = type(value.item() if kind.startswith("object array of") else value).__name__
        with pytest.raises(TypeError, match=re.escape(name)):
            USES["write"](path, NOT_BYTES[kind])


def test_an_array_that_holds_itself_ends_with_an_error(path):
    with pytest.raises(RecursionError):
        USES["write"](path, ITSELF)


ALL = [b"ab", b"", b"c\0"]
SEVERAL = {
    "list": ALL,
    "tuple": tuple(ALL),
    "generator": lambda: iter(ALL),
    "RecordBatch": _core.record_batch(ALL),
    "slice of a RecordBatch": _core.record_batch([b"x", *ALL])[1:],
    "BytesArray": tf.BytesArray(ALL),
    "BytesArray of two dimensions": tf.BytesArray(ALL).reshape(3, 1),
    "objects": np.array(ALL, object),
    "objects of two dimensions": np.array(ALL, object).reshape(1, 3),
    "strided objects": np.repeat(np.array(ALL, object), 2)[::2],
    "tensor": Tensor(np.array(ALL, object)),
    "mixed": ["ab", bytearray(), zero_d(b"c\0")],
}


def test_several_are_their_elements(path):
    for kind in SEVERAL:
        assert written(path, lambda writer, kind=kind: writer.write_batch(several(kind))) == ALL
        assert _core.record_batch(several(kind)).tolist() == ALL
        assert tf.BytesArray(several(kind)).ravel().tolist() == ALL


def several(kind):
    strings = SEVERAL[kind]
    return strings() if callable(strings) else strings


@pytest.mark.parametrize("dtype", ["S2", "U2", TEXT])
def test_strings_of_numpy_are_what_numpy_says_they_are(dtype, path):
    array = np.array([["ab", ""], ["a\0", "é"]], dtype if dtype != "S2" else object)
    array = np.char.encode(array.astype("U"), "utf-8") if dtype == "S2" else array
    items = [item.encode() if isinstance(item, str) else item for item in array.ravel().tolist()]
    assert written(path, lambda writer: writer.write_batch(array)) == items
    assert tf.BytesArray(array).tolist() == [items[:2], items[2:]]


def test_rows_of_uint8_are_byte_strings(path):
    rows = np.arange(12, dtype=np.uint8).reshape(3, 4)
    expected = [row.tobytes() for row in rows]
    assert written(path, lambda writer: writer.write_batch(np.asfortranarray(rows))) == expected
    assert tf.BytesArray(rows).tolist() == expected


@pytest.mark.parametrize(
    "batch",
    [
        b"abc",
        "abc",
        bytearray(b"abc"),
        memoryview(b"abc"),
        mapped(b"abc"),
        BYTES,
        np.arange(3),
        np.zeros((2, 2)),
        np.array(b"abc"),
        zero_d([b"abc"]),
        {b"a": 1},
        collections.UserDict({b"a": 1}),
        {b"a", b"b"},
        7,
        None,
        Tensor(b"abc"),
        np.ma.array(np.array([b"a", b"b"]), mask=[True, False]),
        np.ma.array(np.array([b"a", b"b"], object), mask=[True, False]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_one_string_and_numbers_are_no_batch(batch, path):
    with pytest.raises(TypeError):
        written(path, lambda writer: writer.write_batch(batch))
    assert not is_one(batch) or not isinstance(batch, list)


def test_a_frame_of_pandas_is_no_batch_and_a_series_is_one(path):
    pd = pytest.importorskip("pandas")
    series = pd.Series([b"x", b"y"], name="a")
    assert written(path, lambda writer: writer.write_batch(series)) == [b"x", b"y"]
    with pytest.raises(TypeError, match="DataFrame"):
        written(path, lambda writer: writer.write_batch(series.to_frame()))
    with pytest.raises(TypeError, match="DataFrame"):
        tf.BytesArray(series.to_frame())


def test_a_list_that_an_element_shortens_is_not_read_past_its_end():
    class Shortens:
        def numpy(self):
            del several[1:]
            return b"x"

    several = [Shortens(), *([b"y"] * 100)]
    assert _core.record_batch(several).tolist() == [b"x"]
    several = [b"a", Shortens(), *([b"y"] * 100)]
    with pytest.raises(ValueError, match="changed size"):
        tf.encode_examples({"a": several})


@given(st.recursive(st.binary() | st.text(st.characters(codec="utf-8")), lambda items: st.lists(items, max_size=3)))
def test_nested_lists_of_strings_come_back_or_are_refused(value):
    def utf8(item):
        return [utf8(inner) for inner in item] if isinstance(item, list) else as_bytes(item)

    try:
        made = strings(value)
    except ValueError as error:
        assert "unequal lengths" in str(error)
        return
    assert made.tolist() == utf8(value)
