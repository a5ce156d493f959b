"""What records are decoded to: events with all that a summary holds, tensors of every form, unknown messages."""

import struct

import numpy as np
import pytest

from tests.support import wire_writer as wire
from tfrecord_fast.cli.records.decoding import Decoded, Undecodable, decode
from tfrecord_fast.dtypes import DATA_TYPES


def number(field, value):
    return wire.varint(field << 3) + wire.varint(value)


def double(field, value):
    return wire.varint(field << 3 | 1) + struct.pack("<d", value)


def event(*values):
    return double(1, 1.5) + number(2, -1) + wire.field(5, b"".join(wire.field(1, one) for one in values))


def summary(*values):
    kind, tree = decode(event(*values))
    assert kind == "TensorBoard event" and (tree["wall_time"], tree["step"]) == (1.5, -1)
    return tree["summary"]


def tensor(dtype, *fields, shape=()):
    dims = b"".join(wire.field(2, number(1, one)) for one in shape)
    return number(1, DATA_TYPES.get(dtype, dtype)) + wire.field(2, dims) + b"".join(fields)


def decoded(record):
    kind, tree = decode(record)
    assert kind == "TensorProto"
    return tree


def test_a_summary_holds_values_of_many_kinds():
    image = wire.field(4, number(1, 8) + number(2, 6) + wire.field(4, b"GIF89a"))
    empty = wire.field(4, number(1, 8))
    metadata = wire.field(9, wire.field(1, b"plugin"))
    inner = wire.field(8, tensor("int32", wire.field(4, struct.pack("<2i", 5, -6)), shape=[2]))
    audio = wire.field(6, b"sound")
    made = summary(
        wire.field(1, b"loss") + wire.fixed32(2, struct.pack("<f", 0.1)) + wire.field(7, b"node"),
        wire.field(1, b"i") + image,
        empty,
        wire.field(1, b"t") + metadata + inner,
        audio,
    )
    assert made == [
        {"tag": b"loss", "simple_value": 0.1, "node_name": b"node"},
        {"tag": b"i", "image": b"GIF89a"},
        {"image": b""},
        {"tag": b"t", "tensor": {"dtype": "int32", "shape": [2], "values": [5, -6]}},
        {"field 6": b"sound"},
    ]


def test_a_histogram_has_its_numbers_single_or_packed():
    plain = [double(field, field / 2) for field in range(1, 6)]
    packed = [wire.field(6, struct.pack("<3d", 1, 2, 3)), wire.field(7, struct.pack("<d", 4))]
    (made,) = summary(wire.field(1, b"h") + wire.field(5, b"".join([*plain, *packed, number(6, 1), double(8, 1)])))
    numbers = {"min": 0.5, "max": 1.0, "num": 1.5, "sum": 2.0, "sum_squares": 2.5}
    assert made == {"tag": b"h", "histogram": {**numbers, "bucket_limit": [1.0, 2.0, 3.0], "bucket": [4.0]}}


def test_an_event_of_other_kinds():
    names = {3: "file_version", 4: "graph_def", 6: "log_message", 7: "session_log", 8: "tagged_run_metadata"}
    names |= {9: "meta_graph_def", 10: "source_metadata"}
    for field, name in names.items():
        record = double(1, 2.0) + wire.field(field, b"brain.Event:2")
        if decode(record).kind == "TensorBoard event":
            assert decode(record).tree == {"wall_time": 2.0, name: b"brain.Event:2"}
    assert decode(double(1, 2.0) + wire.field(3, b"brain.Event:2")).tree["file_version"] == b"brain.Event:2"


@pytest.mark.parametrize(
    ("dtype", "field", "values", "expected"),
    [
        ("float32", 5, wire.field(5, struct.pack("<2f", 0.5, -2)), [0.5, -2.0]),
        ("float32", 5, wire.fixed32(5, struct.pack("<f", 0.5)), [0.5]),
        ("float64", 6, wire.field(6, struct.pack("<2d", 0.1, -2)), [0.1, -2.0]),
        ("int32", 7, wire.field(7, wire.varint(3) + wire.varint(-4)), [3, -4]),
        ("int32", 7, number(7, 3) + number(7, -4), [3, -4]),
        ("int64", 10, wire.field(10, wire.varint(1 << 40) + wire.varint(-4)), [1 << 40, -4]),
        ("bool", 11, wire.field(11, b"\1\0"), [1, 0]),
        ("uint32", 16, wire.field(16, wire.varint((1 << 32) - 1)), [(1 << 32) - 1]),
        ("uint64", 17, wire.field(17, wire.varint(7)), [7]),
        ("string", 8, wire.field(8, b"one") + wire.field(8, b"two"), [b"one", b"two"]),
    ],
)
def test_values_of_a_tensor(dtype, field, values, expected):
    assert decoded(tensor(dtype, values, shape=[len(expected)])) == {
        "dtype": dtype,
        "shape": [len(expected)],
        "values": expected,
    }


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1, -2, 3]], "<i2"),
        np.array([0.1, 2.5], "<f8"),
        np.array([True, False]),
        np.array([1 + 2j], "<c8"),
        np.array([1 - 2j, 0], "<c16"),
    ],
)
def test_a_tensor_whose_content_is_its_memory(array):
    made = decoded(tensor(array.dtype.name, wire.field(4, array.tobytes()), shape=array.shape))
    values = array.ravel().tolist()
    values = [str(one) for one in values] if array.dtype.kind == "c" else values
    assert made == {"dtype": array.dtype.name, "shape": list(array.shape), "values": values}


def test_content_that_is_no_numpy_array_is_shown_as_it_is():
    for dtype, name in ((DATA_TYPES["bfloat16"], "bfloat16"), (DATA_TYPES["string"], "string")):
        made = decoded(tensor(dtype, wire.field(4, b"\x80\x3f"), shape=[1]))
        assert made == {"dtype": name, "shape": [1], "content": b"\x80\x3f"}


def test_sizes_that_are_not_known():
    dims = wire.field(2, wire.field(2, number(1, -1)) + wire.field(2, b"") + number(3, 1))
    made = decoded(number(1, DATA_TYPES["float32"]) + dims + wire.field(5, struct.pack("<f", 1)))
    assert made == {"dtype": "float32", "shape": [-1, 0], "values": [1.0]}


def test_content_that_does_not_fit_its_type_is_shown_as_bytes():
    """Unless it was asked for."""
    record = event(wire.field(1, b"t") + wire.field(8, tensor("int32", wire.field(4, b"abc"), shape=[1])))
    assert decode(record) == Decoded("TensorBoard event", None)
    with pytest.raises(Undecodable) as error:
        decode(record, "event")
    assert str(error.value).startswith("cannot decode the record as event: buffer size must be a multiple")
    with pytest.raises(Undecodable) as error:
        decode(b"\xff", "proto")
    assert str(error.value) == "cannot decode the record as proto: a varint is truncated or too long"
    assert error.value.__cause__ is None and error.value.__suppress_context__


def test_fields_of_a_message_whose_form_is_not_known():
    inner = number(1, 1) + wire.field(2, b"\xff\xfe")
    record = (
        number(4, 1 << 63)
        + wire.fixed32(3, struct.pack("<f", 0.1))
        + double(2, -0.5)
        + wire.field(9, b"words")
        + wire.field(8, b"")
        + wire.field(5, inner)
        + wire.varint(6 << 3 | 3)
        + number(1, 2)
        + wire.varint(6 << 3 | 4)
    )
    assert decode(record, "proto").tree == {
        "fields": [
            {"field": 4, "type": "varint", "value": 1 << 63},
            {"field": 3, "type": "fixed32", "float": 0.1, "integer": 0x3DCCCCCD},
            {"field": 2, "type": "fixed64", "double": -0.5, "integer": 0xBFE0000000000000},
            {"field": 9, "type": "bytes", "value": b"words"},
            {"field": 8, "type": "bytes", "value": b""},
            {
                "field": 5,
                "type": "bytes",
                "message": [
                    {"field": 1, "type": "varint", "value": 1},
                    {"field": 2, "type": "bytes", "value": b"\xff\xfe"},
                ],
            },
            # A group ends with the tag that says so, which is no field of it.
            {"field": 6, "type": "group", "value": number(1, 2) + wire.varint(6 << 3 | 4)},
        ]
    }


def test_messages_in_messages_are_read_four_deep():
    record = number(1, 1)
    for _ in range(6):
        record = wire.field(1, record)
    made, depth = decode(record, "proto").tree["fields"][0], 0
    while "message" in made:
        made, depth = made["message"][0], depth + 1
    assert depth == 4 and made["value"] == wire.field(1, number(1, 1))


def test_an_example_list_with_context():
    one, two = (wire.example([(b"a", wire.feature("int64", [i]))]) for i in (1, 2))
    context = wire.example([(b"q", wire.feature("bytes", [b"words"]))])
    kind, tree = decode(wire.field(1, one) + wire.field(1, two) + wire.field(2, context))
    assert kind == "ELWC" and tree == {
        "context": {"q": ("bytes", [b"words"])},
        "examples": [{"a": ("int64", [1])}, {"a": ("int64", [2])}],
    }
