"""Messages read and written field by field in Python: fields of all types, what is cut, lists packed and not."""

import struct

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tfrecord_fast.examples.messages.wire import (
    DELIMITED,
    FIXED32,
    FIXED64,
    VARINT,
    Value,
    array_of,
    entries_of,
    example_of,
    fields_of,
    has_lists,
    sequence_of,
    steps_of,
    to_example,
    to_sequence,
)

START, END = 3, 4


def tag(number, type):
    return wire.varint(number << 3 | type)


def fields(message):
    return [tuple(field) for field in fields_of(message)]


def test_fields_of_all_types():
    group = tag(2, START) + tag(2, VARINT) + b"\5" + tag(7, END) + tag(2, END)
    inner = tag(1, VARINT) + b"\xff\1" + tag(7, START) + tag(3, DELIMITED) + b"\2ab" + tag(4, FIXED32) + b"\x0c" * 4
    inner += tag(4, FIXED64) + b"\x1c" * 8 + tag(7, END) + tag(9, END)
    message = (
        tag(1, VARINT)
        + wire.varint(-1)
        + tag((1 << 29) - 1, DELIMITED)
        + b"\3abc"
        + tag(3, FIXED32)
        + b"1234"
        + tag(4, FIXED64)
        + b"12345678"
        + tag(9, START)
        + inner
        + tag(5, DELIMITED)
        + b"\0"
    )
    assert fields(message) == [
        (1, VARINT, (1 << 64) - 1),
        ((1 << 29) - 1, DELIMITED, b"abc"),
        (3, FIXED32, b"1234"),
        (4, FIXED64, b"12345678"),
        (9, START, inner),
        (5, DELIMITED, b""),
    ]
    with pytest.raises(ValueError, match="a group does not end"):
        fields(group)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (b"\0\0", "a field has no valid number"),
        (tag(1 << 29, VARINT) + b"\0", "a field has no valid number"),
        (tag(5, 6) + b"\0", "field 5 has no valid type"),
        (tag(5, 7) + b"\0", "field 5 has no valid type"),
        (tag(5, END), "field 5 has no valid type"),
        (tag(5, FIXED32) + b"123", "field 5 is truncated"),
        (tag(6, FIXED64) + b"1234567", "field 6 is truncated"),
        (tag(7, DELIMITED) + b"\3ab", "field 7 is truncated"),
        (tag(7, DELIMITED), "a varint is truncated or too long"),
        (b"\x80", "a varint is truncated or too long"),
        (tag(1, VARINT) + b"\x80" * 10 + b"\1", "a varint is truncated or too long"),
        (tag(1, START), "a varint is truncated or too long"),
        (tag(1, START) + tag(1, 6), "a field has no valid type"),
        (tag(1, START) + tag(2, END), "a group does not end"),
        (tag(1, START) + tag(2, DELIMITED) + b"\x7f" + tag(1, END), "a varint is truncated or too long"),
    ],
)
def test_what_is_no_message(message, said):
    with pytest.raises(ValueError) as error:
        fields(tag(1, VARINT) + b"\0" + message)
    assert str(error.value) == said


def test_a_number_has_ten_bytes_at_most():
    assert fields(tag(1, VARINT) + b"\x81" + b"\x80" * 8 + b"\0") == [(1, VARINT, 1)]
    assert fields(tag(1, VARINT) + b"\xff" * 9 + b"\x7f") == [(1, VARINT, (1 << 64) - 1)]  # beyond 64 bits: cut


def integers(message):
    kind, values = array_of(message)
    assert kind == "int64" and values.dtype == np.int64
    return values.tolist()


def packed(*values):
    return wire.field(1, b"".join(map(wire.varint, values)))


def single(*values):
    return b"".join(tag(1, VARINT) + wire.varint(value) for value in values)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (b"", []),
        (packed(), []),
        (packed(1, -2), [1, -2]),
        (single(1, -2), [1, -2]),
        (single(3) + packed(1, 2), [3, 1, 2]),
        (packed(1, 2) + single(3), [1, 2, 3]),
        (packed(1) + packed(2), [1, 2]),
        (single(1) + packed(2) + single(3) + packed(4) + single(-5, 6), [1, 2, 3, 4, -5, 6]),
        (wire.field(2, b"\7") + packed(8) + tag(3, VARINT) + b"\7", [8]),
        (wire.fixed32(1, b"\1\1\1\1") + packed(8), [8]),
    ],
)
def test_integers_are_packed_or_single_in_any_order(parts, expected):
    message = wire.field(3, parts)
    assert integers(message) == expected
    assert example_of(wire.example([(b"a", message)])) == {"a": Value("int64", expected)}


def test_floats_are_packed_or_single_in_any_order():
    def floats(*values):
        return struct.pack(f"<{len(values)}f", *values)

    parts = wire.field(1, floats(0.1, 1e-45)) + wire.fixed32(1, floats(2)) + wire.field(2, b"abc")
    parts += tag(1, VARINT) + b"\1" + wire.field(1, floats(-3))
    kind, values = array_of(wire.field(2, parts))
    assert kind == "float" and values.dtype == np.float32
    assert values.tolist() == np.array([0.1, 1e-45, 2, -3], np.float32).tolist()
    feature = example_of(wire.example([(b"a", wire.field(2, parts))]))["a"]
    assert feature == Value("float", [0.1, float(str(np.float32(1e-45))), 2.0, -3.0])
    assert example_of(wire.example([(b"a", wire.field(2, b""))])) == {"a": Value("float", [])}
    with pytest.raises(ValueError) as error:
        array_of(wire.field(2, wire.field(1, b"12345")))
    assert str(error.value) == "a list of floats is truncated"


def test_the_last_kind_counts_and_lists_of_one_kind_are_joined():
    one = wire.feature("int64", [1]) + wire.feature("bytes", [b"a"]) + wire.feature("bytes", [b"b"])
    assert array_of(one) == ("bytes", [b"a", b"b"])
    assert array_of(wire.feature("bytes", [b"a"]) + wire.field(4, b"x") + tag(3, VARINT) + b"\1") == ("bytes", [b"a"])
    kind, values = array_of(b"")
    assert kind == "none" and len(values) == 0


def test_names_that_come_twice_and_values_that_are_given_twice():
    first, second = wire.feature("int64", [1]), wire.feature("int64", [2])
    entry = wire.field(1, wire.field(1, b"x") + wire.field(2, first) + wire.field(1, b"\xff") + wire.field(2, second))
    record = wire.field(1, wire.entry(b"a", first) + entry) + wire.field(1, wire.entry(b"a", second))
    made = example_of(record)
    assert made == {"a": Value("int64", [2]), "\udcff": Value("int64", [1, 2])} and list(made) == ["a", "\udcff"]
    assert [name for name, _ in entries_of(record, 1)] == ["a", "\udcff", "a"]
    assert example_of(wire.field(1, wire.field(1, b""))) == {"": Value("none", [])}


def test_sequences_have_contexts_and_steps():
    steps = [wire.feature("int64", [1]), b"", wire.feature("bytes", [b"a"])]
    record = wire.sequence_example([(b"c", wire.feature("float", [0.5]))], [(b"s", steps), (b"none", [])])
    context, lists = sequence_of(record)
    assert context == {"c": Value("float", [0.5])}
    assert lists == {"s": [Value("int64", [1]), Value("none", []), Value("bytes", [b"a"])], "none": []}
    assert has_lists(record) and not has_lists(wire.example([])) and has_lists(wire.field(2, b""))
    assert [(name, list(steps_of(one))) for name, one in entries_of(record, 2)] == [("s", steps), ("none", [])]


def test_what_is_written_is_what_the_encoder_writes():
    columns = {"f": [[0.1, 2.0]], "i": [[1, -2, 1 << 40]], "b": [[b"x" * 127, b"y" * 128, b"z" * 20_000]], "e": [[5]]}
    values = {
        "i": Value("int64", [1, -2, 1 << 40]),
        "f": Value("float", [0.1, 2.0]),
        "b": Value("bytes", columns["b"][0]),
        "e": Value("int64", [5]),
    }
    assert to_example(values) == tf.encode_examples(columns)[0]
    odd = {"none": Value("none", []), "i": Value("int64", []), "f": Value("float", []), "\udcff": Value("bytes", [])}
    assert example_of(to_example(odd)) == odd
    assert to_example({}) == wire.field(1, b"")


def test_sequences_are_written_and_read_back():
    lists = {"s": [Value("int64", [1]), Value("none", [])], "empty": []}
    context = {"c": Value("bytes", [b"a"])}
    assert sequence_of(to_sequence(context, lists)) == (context, lists)
    assert to_sequence({}, {}) == wire.field(2, b"")
    assert to_sequence(context, {}) == to_example(context) + wire.field(2, b"")
