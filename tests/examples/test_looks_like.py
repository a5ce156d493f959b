"""Errors for records that are not Examples say what the records look like."""

import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.paths import REAL_FILES
from tests.support.real_files import manifest
from tfrecord_fast import _core
from tfrecord_fast.cli import main

EXAMPLE = wire.example([(b"a", wire.feature("int64", [1])), (b"b", wire.feature("bytes", [b"x"]))])
ONE_FEATURE = wire.example([(b"a", wire.feature("int64", [1]))])
SEQUENCE = wire.sequence_example([], [(b"s", [wire.feature("int64", [1])])])


def number(field, value):
    return wire.varint(field << 3) + wire.varint(value)


def double(field, value):
    return wire.varint(field << 3 | 1) + struct.pack("<d", value)


SUMMARY = wire.field(1, wire.field(1, b"loss") + wire.varint(2 << 3 | 5) + struct.pack("<f", 0.5))
STATE = wire.field(3, double(2, 1.0) + double(3, 2.0))
TRACK = wire.field(2, number(1, 7) + number(2, 1) + STATE + STATE)
SHAPE = wire.field(2, number(1, 3))
STATISTICS = wire.field(1, number(2, 100) + wire.field(3, wire.field(1, b"x") + number(2, 1)))

# What it looks like, and records that do.
OTHERS = [
    ("TensorBoard event", double(1, 1.5) + wire.field(3, b"brain.Event:2")),
    ("TensorBoard event", double(1, 1.5) + number(2, 10) + wire.field(5, SUMMARY)),
    ("ELWC", wire.field(1, EXAMPLE) + wire.field(1, EXAMPLE) + wire.field(2, EXAMPLE)),
    ("ELWC", wire.field(1, ONE_FEATURE)),
    ("ELWC", wire.field(1, EXAMPLE) + wire.field(2, ONE_FEATURE)),
    ("Waymo Scenario", double(1, 0.0) + double(1, 0.1) + TRACK + TRACK + wire.field(5, b"6b3ce1") + number(6, 1)),
    ("statistics of TFX", STATISTICS),
    ("serialized tensor (TensorProto)", number(1, 1) + wire.field(2, SHAPE) + wire.field(4, b"\0" * 12)),
    ("serialized tensor (TensorProto)", number(1, 3) + wire.field(2, b"") + wire.field(7, b"\x05")),
    ("message with Examples inside", wire.field(1, wire.field(1, EXAMPLE) + wire.field(1, EXAMPLE)) + number(3, 1)),
    ("message with Examples inside", number(1, 7) + wire.field(4, ONE_FEATURE)),
    ("protobuf message, with field 3 (bytes)", wire.field(3, b"abc\x01")),
    ("protobuf message, with fields 4 (varint), 9 (bytes)", number(4, 1) + wire.field(9, b"\x00")),
    ("fields 2 (varint), 2 (fixed64)", number(2, 1) + double(2, 1.0)),
    ("6 (varint), 7 (varint), 8 (varint), …", b"".join(number(n, 1) for n in range(1, 12))),
    ("text", b"just a line\n"),
    ("text", "zwölf Boxkämpfer".encode()),
    ("JSON text", b' {"a": 1}'),
    ("JPEG", b"\xff\xd8\xff\xe0\x00\x10JFIF"),
    ("PNG", b"\x89PNG\r\n\x1a\n"),
    ("GIF", b"GIF89a\x01\x00"),
    ("WebP", b"RIFF\x04\x00\x00\x00WEBPVP8 "),
    ("WAV", b"RIFF\x04\x00\x00\x00WAVE\xff"),
    ("TIFF", b"II*\x00\x08\x00\x00\x00"),
    ("BMP", b"BM\x08\x00\x00\x00\x00\xff"),
    ("unknown form", b"\xff\xfe\xfd"),
    ("unknown form", b"\x00\x00\x00\x01"),
]


@pytest.fixture(params=OTHERS, ids=[f"{name}-{number}" for number, (name, _) in enumerate(OTHERS)])
def other(request, tmp_path):
    """(what it looks like, a file that holds an Example, an empty record, and such a record)"""
    with tf.io.TFRecordWriter(tmp_path / "in.tfrecord") as writer:
        writer.write_batch([EXAMPLE, b"", request.param[1]])
    return request.param[0], tmp_path / "in.tfrecord"


USES = {
    "infer_features": tf.infer_features,
    "infer_sequence_features": tf.io.infer_sequence_features,
    "infer_features of records": lambda path: tf.infer_features(list(tf.data.TFRecordDataset(path))),
    "ShardReader": lambda path: list(tf.ShardReader(path, features="infer")),
    "IndexedReader": lambda path: tf.IndexedReader(path, features="infer")[0],
}


def test_looking_for_features_says_what_it_is_instead(other):
    looks, path = other
    for use, read in USES.items():
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            read(path)
        assert looks in str(caught.value) and "(record 2)" in str(caught.value)
        assert use == "infer_features of records" or str(path) in str(caught.value)


def test_commands_say_what_it_is_instead(other, tmp_path, capsys):
    pytest.importorskip("pyarrow")
    looks, path = other
    for command in ["schema", "convert x.jsonl", "convert x.csv", "convert x.parquet"]:
        name, *output = command.split()
        assert main([name, str(path), *(str(tmp_path / one) for one in output)]) == 1
        printed = capsys.readouterr()
        assert looks in printed.err and str(path) in printed.err and "record 2" in printed.err and not printed.out
        assert [entry.name for entry in tmp_path.iterdir()] == ["in.tfrecord"]


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"\n\x00",
        EXAMPLE,
        wire.example([(b"k", b"")]),
        wire.example([(b"", wire.feature("float", []))]),
        wire.example([(b"\xff", wire.feature("bytes", [b""]))]),
        EXAMPLE + wire.field(7, b"unknown"),
    ],
)
def test_what_is_an_example_is_taken(record):
    assert set(tf.infer_features([record])) <= {"a", "b", "", "\udcff"}


@pytest.mark.parametrize(
    "record",
    [
        SEQUENCE,
        wire.sequence_example([], []),
        wire.sequence_example([], [(b"s", [])]),
        wire.sequence_example([(b"c", b"")], [(b"s", [b"", b""])]),
    ],
)
def test_what_is_a_sequence_example_is_taken(record):
    context, lists = tf.io.infer_sequence_features([record])
    assert context == {} and set(lists) <= {"s"}


def test_the_first_sequence_example_among_examples_is_named(tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "x") as writer:
        writer.write_batch([EXAMPLE] * 3000 + [SEQUENCE])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"/x: SequenceExamples have .* \(record 3000\)"):
        tf.infer_features(tmp_path / "x")


def test_a_message_of_a_known_form_has_its_name():
    assert _core.looks_like(EXAMPLE) == "an Example" and _core.looks_like(SEQUENCE) == "a SequenceExample"
    assert _core.looks_like(b"") == "an empty record"


UNKNOWN = "bytes of an unknown form"


def fields(*names):
    """The description of a message of another form."""
    return f"another protobuf message, with field{'s' if ',' in ''.join(names) else ''} {names[0]}"


GROUP = wire.varint(3 << 3 | 3) + number(1, 1) + wire.varint(3 << 3 | 4)
FLOAT = wire.varint(4 << 3 | 5) + bytes(4)
STEP = wire.field(1, wire.feature("int64", [1]))


def test_every_form_is_told_from_those_beside_it():
    for record, looks in [
        # Events: one time, and then what an event has.
        (double(1, 0.0), "a TensorBoard event (tensorflow.Event)"),
        (double(1, 0.0) + wire.field(10, b"x"), "a TensorBoard event (tensorflow.Event)"),
        (double(1, 0.0) + double(1, 0.0), fields("1 (fixed64)")),
        (double(1, 0.0) + wire.field(11, b"x"), fields("1 (fixed64), 11 (bytes)")),
        (double(1, 0.0) + wire.field(2, b"\0"), fields("1 (fixed64), 2 (bytes)")),
        (double(1, 0.0) + FLOAT, fields("1 (fixed64), 4 (fixed32)")),
        # Scenarios: times, tracks, and one name.
        (double(1, 0.0) + TRACK + wire.field(5, b"id"), "a Waymo Scenario"),
        (double(1, 0.0) + TRACK, fields("1 (fixed64), 2 (bytes)")),
        (double(1, 0.0) * 2 + wire.field(5, b"id"), fields("1 (fixed64), 5 (bytes)")),
        (number(1, 0) + TRACK + wire.field(5, b"id"), fields("1 (varint), 2 (bytes), 5")),
        (
            double(1, 0.0) + TRACK + wire.field(5, b"id") * 2,
            fields("1 (fixed64), 2 (bytes)"),
        ),
        # Statistics: a count and features in every data set.
        (STATISTICS * 2, "statistics of TFX (DatasetFeatureStatisticsList)"),
        (STATISTICS + wire.field(1, number(2, 1)), fields("1 (bytes)")),
        (wire.field(1, wire.field(3, b"\1")), fields("1 (bytes)")),
        (STATISTICS + number(2, 1), fields("1 (bytes), 2 (varint)")),
        # Tensors: one type, one shape, and values.
        (number(1, 1) + wire.field(2, number(3, 1)), "a serialized tensor (TensorProto)"),
        (number(1, 1) + wire.field(2, SHAPE) + number(3, 0), "a serialized tensor (TensorProto)"),
        (number(1, 1) + wire.field(2, SHAPE) + number(18, 0), "a serialized tensor (TensorProto)"),
        (
            number(1, 1) + wire.field(2, wire.field(2, number(1, 3) + wire.field(2, b"x"))),
            "a serialized tensor (TensorProto)",
        ),
        (
            number(1, 1) + wire.field(2, SHAPE) + number(19, 0),
            fields("1 (varint), 2 (bytes), 19 (varint)"),
        ),
        (number(1, 1) + wire.field(2, number(1, 1)), fields("1 (varint), 2 (bytes)")),
        (
            number(1, 1) + wire.field(2, wire.field(2, number(3, 1))),
            fields("1 (varint), 2 (bytes)"),
        ),
        (number(1, 1) * 2 + wire.field(2, SHAPE), fields("1 (varint), 2 (bytes)")),
        (number(1, 1) + wire.field(2, SHAPE) * 2, fields("1 (varint), 2 (bytes)")),
        (wire.field(2, SHAPE), fields("2 (bytes)")),
        # Examples: maps of names and features.
        (b"\n\x00" + wire.field(2, b""), "a SequenceExample"),
        (wire.sequence_example([], [(b"s", [b"", wire.feature("int64", [1])])]), "a SequenceExample"),
        (wire.field(1, wire.field(1, wire.field(1, b"a"))), fields("1 (bytes)")),
        (wire.field(1, wire.field(1, wire.field(1, b"a") * 2)), fields("1 (bytes)")),
        (
            wire.field(
                1, wire.field(1, wire.field(1, b"a") + wire.field(2, wire.feature("int64", [1])) + number(3, 1))
            ),
            fields("1 (bytes)"),
        ),
        (wire.example([(b"a", number(3, 1))]), fields("1 (bytes)")),
        (wire.example([(b"a", wire.field(4, b""))]), fields("1 (bytes)")),
        (wire.field(2, wire.field(1, wire.field(1, b"s") + wire.field(2, STEP))), "a SequenceExample"),
        (
            wire.field(2, wire.field(1, wire.field(1, b"s") + wire.field(2, wire.field(2, STEP)))),
            fields("2 (bytes)"),
        ),
        # Lists of Examples.
        (wire.field(2, ONE_FEATURE) + wire.field(1, b""), "an ELWC (ExampleListWithContext)"),
        (wire.field(3, ONE_FEATURE), "a message with Examples inside"),
        (wire.field(3, b"\n\x00"), fields("3 (bytes)")),
        (wire.field(3, wire.field(4, ONE_FEATURE)), "a message with Examples inside"),
        (
            wire.field(3, wire.field(4, wire.field(4, ONE_FEATURE))),
            fields("3 (bytes)"),
        ),
        # Other messages.
        (GROUP + FLOAT, fields("3 (group), 4 (fixed32)")),
        (
            b"".join(number(n, 1) for n in range(4, 12)),
            "another protobuf message, with fields " + ", ".join(f"{n} (varint)" for n in range(4, 12)),
        ),
        (number(4, 1) + wire.varint(5 << 3 | 2) + b"\x05abc", UNKNOWN),
        (number(4, 1) + b"\x28", UNKNOWN),
        # Bytes.
        (b"\x1f\x8b" + bytes(6), "GZIP data"),
        (b"\x1f\x8b" + bytes(5), UNKNOWN),
        (b"GIF87a\1\0", "a GIF image"),
        (b"GIF87a", "text"),
        (b"MM\0*\0\0\0\x08", "a TIFF image"),
        (b"MM\0+\0\0\0\x08", UNKNOWN),
        (b"RIFF\x04\0\0\0WEBP", "a WebP image"),
        (b"RIFF\x04\0\0\0WEB", "a RIFF file"),
        (b"RIFF\x04\0\0\0WAVE", "WAV audio"),
        (b"RIFF", "text"),
        (b"BM\x06\0\0\0", "a BMP image"),
        (b"BM\x07\0\0\0", UNKNOWN),
        (b"BM\x06\0\0", UNKNOWN),
        (b"\t\r\n [1]", "JSON text"),
        (b" \n", "text"),
    ]:
        assert _core.looks_like(record).startswith(looks)
        assert looks.startswith("another") or _core.looks_like(record) == looks


@given(st.one_of(st.text(), st.text(max_size=3), st.text(st.characters(min_codepoint=1, max_codepoint=300))))
@example("\x7f")
@example("\x1f")
@example("a\t\r\n")
@example("\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff")
def test_text_is_utf_8_without_control_characters(text):
    has_controls = any((c < " " and c not in "\t\r\n") or c == "\x7f" for c in text)
    data = b"\xef\xbb\xbf" + text.encode()
    assert _core.looks_like(data).endswith("text") != has_controls


@given(st.lists(st.sampled_from([0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xF5])))
@example([0xED, 0xA0, 0x80])  # a surrogate
@example([0xE0, 0x9F, 0xBF])  # what fits into two bytes
@example([0xF0, 0x8F, 0xBF, 0xBF])
@example([0xF4, 0x90, 0x80, 0x80])
@example([0xC3])
@example([0xC1, 0xBF])
@example([0xF5, 0x80, 0x80, 0x80])
def test_what_python_can_not_decode_is_no_text(values):
    data = b"text" + bytes(values)
    assert (_core.looks_like(data) == "text") == (data.decode(errors="replace").encode() == data)


messages = st.lists(
    st.one_of(
        st.builds(number, st.integers(1, 40), st.integers(0, 2**64 - 1)),
        st.builds(double, st.integers(1, 40), st.floats()),
        st.builds(wire.field, st.integers(3, 40), st.binary(max_size=20)),
    ),
    min_size=1,
).map(b"".join)


@given(messages)
def test_no_other_message_is_an_example_without_features(message):
    with pytest.raises(tf.errors.InvalidArgumentError, match="it looks like"):
        tf.io.infer_sequence_features([message])


values = st.one_of(
    st.just(b""),
    st.lists(st.integers(-(2**63), 2**63 - 1)).map(lambda v: wire.feature("int64", v)),
    st.lists(st.binary()).map(lambda v: wire.feature("bytes", v)),
    st.lists(st.floats(width=32)).map(lambda v: wire.feature("float", v)),
)


@given(st.lists(st.tuples(st.binary(), values)), st.lists(st.tuples(st.binary(), st.lists(values))))
def test_no_example_is_taken_for_something_else(features, lists):
    record = wire.sequence_example(features, lists)
    try:
        tf.io.infer_sequence_features([record])
    except tf.errors.InvalidArgumentError as error:
        assert "conflicting kinds" in str(error)  # within a list


@given(st.binary(min_size=1))
def test_bytes_of_any_form_are_described(data):
    assert _core.looks_like(data)


REAL = {"Event": "a TensorBoard event", "ELWC": "an ELWC", "other": "it looks like"}


@pytest.mark.parametrize("row", [row for row in manifest() if row["kind"] in REAL], ids=lambda row: row["file"])
def test_real_files_of_something_else_are_named(row):
    with pytest.raises(tf.errors.InvalidArgumentError, match=REAL[row["kind"]]):
        tf.infer_features(REAL_FILES / row["file"])
