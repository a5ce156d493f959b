"""One Example from a dict, natively: the bytes that columns of one row give, and the message that protobuf builds."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support.names import named
from tfrecord_fast import _core
from tfrecord_fast.examples.encoding.columns import as_columns, as_one_row
from tfrecord_fast.examples.encoding.encode import core_column, encode_example
from tfrecord_fast.examples.messages import build

INTEGERS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False, width=32)
SCALARS = st.one_of(INTEGERS, st.booleans(), FLOATS, st.binary(max_size=40), st.text(max_size=20))
LISTS = st.one_of(*(st.lists(kind, min_size=1, max_size=300) for kind in (INTEGERS, FLOATS, st.binary(), st.text())))
DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "f4", "f8"]


@st.composite
def arrays(draw):
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    values = draw(st.lists(st.integers(0, 100), min_size=1, max_size=60))
    made = np.array(values).astype(dtype)
    return draw(
        st.sampled_from([made, made[::-1], made[0], made.reshape(1, -1), np.asfortranarray([made, made]), made[:1][0]])
    )


VALUES = st.one_of(SCALARS, LISTS, LISTS.map(tuple), arrays(), st.none())


NOT_PLAIN = [
    [],
    [1, 2.5],
    [1, True],
    ["a", b"b"],
    [[1], [2]],
    2**63,
    -(2**63) - 1,
    "\ud800",
    bytearray(b"x"),
    memoryview(b"x"),
    np.arange(6)[::2],
    np.arange(3, dtype=">i4"),
    np.zeros(0),
    np.array(["a"]),
    np.array([1], "M8[s]"),
    np.uint64(2**63),
    np.float16(1),
    np.ma.masked_array([1], [True]),
    object(),
    tf.RaggedTensor(np.arange(3), [0, 3]),
]


def by_columns(example):
    named, _ = as_columns({key: as_one_row(value) for key, value in example.items()})
    return _core.encode_examples([core_column(key, column) for key, column in named], 1, 1)[0]


@given(st.dictionaries(st.text(max_size=12), VALUES, max_size=12))
def test_the_bytes_are_those_of_columns(example):
    expected = by_columns(example)
    plain = _core.encode_one(example)
    assert plain is None or plain == expected
    assert encode_example(example).tolist() == [expected]


@given(st.dictionaries(st.text(max_size=12), VALUES, max_size=12))
def test_the_message_is_protobufs(example):
    made = tf.train.Example()
    build._fill_features(made.features.feature, example)
    assert tf.train.example(example) == made


@pytest.mark.parametrize(
    "value",
    [5, True, 2.5, b"x", "x", [1, 2], (1.5,), ["a", "b"], [b"\0", b""], np.arange(3), np.float32(1), np.array(7)],
)
def test_plain_values_are_taken_natively(value):
    assert _core.encode_one({"key": value}) == by_columns({"key": value})


@pytest.mark.parametrize("value", NOT_PLAIN, ids=named)
def test_what_is_not_plain_is_left_to_the_columns(value):
    assert _core.encode_one({"a": 1, "key": value}) is None


@pytest.mark.parametrize("value", NOT_PLAIN, ids=named)
def test_what_is_not_plain_gains_no_reference(value):
    before = sys.getrefcount(value)
    _core.encode_one({"a": 1, "key": value})
    assert sys.getrefcount(value) == before


@pytest.mark.parametrize("example", [[("a", 1)], None, {1: 2}, {b"a": 1}], ids=str)
def test_what_is_not_a_dict_with_text_keys_is_left_to_the_columns(example):
    assert _core.encode_one(example) is None


def test_a_writer_takes_dicts_in_turns(tmp_path):
    with tf.ExampleWriter(tmp_path / "x", num_shards=2) as writer:
        for i in range(5):
            writer.write_example({"i": i})
        writer.write_example({"i": [[5], [6]]})
        writer.write({"i": [7, 8]})
    features = {"i": tf.VarLenFeature(tf.int64)}
    shards = [
        tf.parse_example(list(tf.data.TFRecordDataset(file.path)), features)["i"].values for file in writer.close()
    ]
    assert [shard.tolist() for shard in shards] == [[0, 2, 4, 7], [1, 3, 5, 6, 8]]
