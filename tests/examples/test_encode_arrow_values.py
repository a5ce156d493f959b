"""Arrow structures made by hand are taken once; offsets, views and indices that point nowhere are errors."""

import gc

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.arrow_structs import node

REFUSED = (tf.errors.InvalidArgumentError, TypeError)


def int32(*values):
    return np.array(values, np.int32)


def int64(*values):
    return np.array(values, np.int64)


def numbers(count=4):
    return node(b"l", count, [None, np.arange(count, dtype=np.int64)])


def views(*entries):
    return b"".join(int32(*fields).tobytes() for fields in entries)


SOUND = {
    "numbers": numbers,
    "bits": lambda: node(b"b", 4, [None, b"\x05"]),
    "strings": lambda: node(b"z", 2, [None, int32(0, 1, 3), b"abc"]),
    "large strings": lambda: node(b"U", 2, [None, int64(0, 1, 3), b"abc"]),
    "views": lambda: node(b"vz", 2, [None, views((1, 97, 0, 0), (13, 97, 0, 2)), b"x" * 15, int64(15)]),
    "fixed strings": lambda: node(b"w:2", 2, [None, b"abcd"]),
    "list": lambda: node(b"+l", 2, [None, int32(0, 1, 4)], [numbers()]),
    "large list": lambda: node(b"+L", 2, [None, int64(0, 1, 4)], [numbers()]),
    "fixed list": lambda: node(b"+w:2", 2, [None], [numbers()]),
    "dictionary": lambda: node(b"c", 3, [None, b"\x00\x03\x01"], dictionary=numbers()),
}


def table(column):
    return node(b"+s", column.array.length, [None], [column])


def test_what_is_sound_is_taken():
    for name in SOUND:
        made = SOUND[name]()
        rows = made.array.length
        assert len(tf.encode_examples(table(made))) == rows


def test_nothing_is_read_of_an_empty_array_without_buffers():
    empty = [
        node(b"z", 0, [None, None, None]),
        node(b"+l", 0, [None, None], [node(b"l", 0, [None, None])]),
        node(b"l", 0, [None, None]),
        node(b"b", 0, [None, None]),
    ]
    for made in empty:
        assert len(tf.encode_examples(table(made))) == 0


def test_an_array_is_taken_once():
    for name in SOUND:
        made = SOUND[name]()
        assert len(tf.encode_examples({"a": made})) == made.array.length
        with pytest.raises(tf.errors.InvalidArgumentError, match="released: a capsule can be used only once"):
            tf.encode_examples({"a": made})


def test_an_array_capsule_of_pyarrow_is_taken_once():
    pa = pytest.importorskip("pyarrow")

    class Twice:
        def __init__(self, array):
            self.capsules = array.__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.capsules

    twice = Twice(pa.array([b"x" * 100] * 1000, pa.large_binary()))
    assert len(tf.encode_examples({"a": twice})) == 1000
    gc.collect()
    with pytest.raises(tf.errors.InvalidArgumentError, match="only once"):
        tf.encode_examples({"a": twice})


def test_a_stream_capsule_is_taken_once():
    pa = pytest.importorskip("pyarrow")

    class Twice:
        def __init__(self, table):
            self.capsule = table.__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema=None):
            return self.capsule

    twice = Twice(pa.table({"a": [1, 2, 3]}))
    assert len(tf.encode_examples(twice)) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="only once"):
        tf.encode_examples(twice)


# ---- Values that point nowhere ----

LISTS = [(b"+l", int32), (b"+L", int64), (b"z", int32), (b"Z", int64)]


def test_offsets_out_of_order_are_refused():
    for format, of in LISTS:
        for offsets in [(-1, 1, 2), (0, 3, 1), (2, 1, 3), (0, -5, 2), (0, 1, -1)]:
            if format.startswith(b"+"):
                made = node(format, 2, [None, of(*offsets)], [numbers()])
            else:
                made = node(format, 2, [None, of(*offsets), b"abcd"])
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"offset \d is -?\d, expected"):
                tf.encode_examples({"a": made})


@pytest.mark.parametrize(("format", "of"), LISTS[:2])
def test_offsets_past_the_child_are_refused(format, of):
    with pytest.raises(tf.errors.InvalidArgumentError, match="offset 2 is 5, expected 1 to 4"):
        tf.encode_examples({"a": node(format, 2, [None, of(0, 1, 5)], [numbers()])})


@pytest.mark.parametrize("length", [3, 2**31])
def test_a_fixed_list_of_more_than_its_child_has_is_refused(length):
    with pytest.raises(tf.errors.InvalidArgumentError, match="too few for its parent"):
        tf.encode_examples({"a": node(b"+w:2", length, [None], [numbers()])})


def test_a_struct_whose_column_is_shorter_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="too few for its parent"):
        tf.encode_examples(node(b"+s", 5, [None], [numbers(4)]))


def test_a_view_of_bytes_that_are_not_there_is_refused():
    for view in [
        (-1, 0, 0, 0),
        (13, 0, 1, 0),
        (13, 0, -1, 0),
        (13, 0, 0, -1),
        (13, 0, 0, 3),
        (16, 0, 0, 0),
        (2**31 - 1, 0, 0, 0),
    ]:
        made = node(b"vz", 1, [None, views(view), b"x" * 15, int64(15)])
        with pytest.raises(tf.errors.InvalidArgumentError, match="which is shorter"):
            tf.encode_examples({"a": made})


def test_an_index_outside_of_the_dictionary_is_refused():
    for format, index in [(b"c", b"\xff"), (b"c", b"\x04"), (b"C", b"\xff"), (b"L", b"\xff" * 8)]:
        with pytest.raises(tf.errors.InvalidArgumentError, match="into a dictionary of 4 values"):
            tf.encode_examples({"a": node(format, 1, [None, index], dictionary=numbers())})


def test_an_index_of_a_null_means_nothing():
    made = node(b"c", 2, [b"\x02", b"\x7f\x01"], dictionary=numbers(), nulls=1)
    rows = tf.encode_examples({"a": made}).tolist()
    assert rows == [tf.encode_examples({"a": [None]})[0], tf.encode_examples({"a": [1]})[0]]
    strings = node(b"z", 2, [None, int32(0, 1, 3), b"abc"])
    made = node(b"c", 2, [b"\x02", b"\x7f\x01"], dictionary=strings, nulls=1)
    assert tf.encode_examples({"a": made}).tolist() == [rows[0], tf.encode_examples({"a": [b"bc"]})[0]]


def test_a_format_of_another_kind_or_of_none_is_refused():
    for format in [
        *(b"", b"?", b"w", b"w:", b"w:-1", b"w:9999999999999999999", b"w:x", b"+", b"+w:", b"+w:-2", b"+w:1x", b"ll"),
        *(b"+us:0,1", b"+r", b"tdD", b"d:19,10", b"\xff"),
    ]:
        with pytest.raises(REFUSED):
            tf.encode_examples({"a": node(format, 1, [None, int64(0, 0), b"abc"])})
