"""The wire rules: those of the protobuf specification where the README says so, TensorFlow's elsewhere."""

import random

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire

V = tf.VarLenFeature
INTS = {"a": V(tf.int64)}


def values(message, dtype=tf.int64):
    return tf.parse_example([message], {"a": V(dtype)})["a"].values.tolist()


def one(value):
    return wire.example([(b"a", value)])


def test_packed_chunks_concatenate():
    assert values(one(wire.field(3, wire.int64_list([1, 2]) + wire.int64_list([3])))) == [1, 2, 3]


def test_packed_and_unpacked_mix():
    both = wire.int64_list([1]) + wire.int64_list([2, 3], packed=False) + wire.int64_list([4])
    assert values(one(wire.field(3, both))) == [1, 2, 3, 4]


def test_same_member_twice_merges():
    assert values(one(wire.feature("int64", [1]) + wire.feature("int64", [2]))) == [1, 2]


def test_last_member_of_the_oneof_wins():
    value = wire.feature("int64", [1]) + wire.feature("float", [5.0]) + wire.feature("int64", [2])
    assert values(one(value)) == [2]


def test_unknown_fields_are_skipped_everywhere_inside():
    rng = random.Random(0)
    for _ in range(200):
        unknown = lambda: wire.unknown_field(rng, groups=True)  # noqa: E731
        value = unknown() + wire.field(3, unknown() + wire.int64_list([7]) + unknown()) + unknown()
        entry = wire.field(1, unknown() + wire.field(1, b"a") + unknown() + wire.field(2, value) + unknown())
        assert values(wire.field(1, unknown() + entry + unknown())) == [7]


def test_context_feature_of_unknown_fields_only_has_no_values():
    message = wire.sequence_example([(b"a", wire.field(5, b"x"))], [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected 1"):
        tf.parse_sequence_example([message], {"a": tf.FixedLenFeature([], tf.int64, 3)})
    context, _, _ = tf.parse_sequence_example([message], {"a": V(tf.int64)})
    assert context["a"].values.tolist() == []


def test_last_of_two_equal_keys_wins():
    message = wire.example([(b"a", wire.feature("float", [1.0])), (b"a", wire.feature("int64", [2]))])
    assert values(message) == [2]


def test_concatenated_examples_merge():
    message = wire.example([(b"a", wire.feature("int64", [1]))]) + wire.example([(b"b", wire.feature("int64", [2]))])
    parsed = tf.parse_example([message], {"a": V(tf.int64), "b": V(tf.int64)})
    assert parsed["a"].values.tolist() == [1] and parsed["b"].values.tolist() == [2]


def test_kindless_last_key_hides_nothing_from_fixed_but_all_from_lists():
    message = wire.example([(b"a", wire.feature("int64", [1])), (b"a", b"")])
    assert tf.parse_example([message], {"a": tf.FixedLenFeature([], tf.int64)})["a"].tolist() == [1]
    assert values(message) == []
    assert tf.parse_single_example(message, INTS)["a"].values.tolist() == [1]


@pytest.mark.parametrize(
    "message",
    [
        b"\x0a\x05ab",  # a length beyond the end
        b"\x0a",
        b"\xff" * 11,
        wire.field(1, wire.field(1, wire.field(1, b"a"))),  # a map entry without a value
        wire.field(1, wire.field(1, wire.field(2, b""))),
        wire.field(1, b"\x0a\x00"),  # an empty map entry
        one(b"\x1a\x05\x0a\x01"),
        one(wire.field(3, wire.field(1, b"\x80" * 10 + b"\x01"))),  # eleven bytes
        one(wire.field(3, wire.field(1, b"\x01\x80"))),  # the run ends inside a varint
        one(wire.field(3, b"\x0b")),  # a group that does not end
        wire.varint(5 << 3 | 3) + wire.varint(5 << 3 | 4),  # a group at the top, as TensorFlow
    ],
)
def test_malformed_records_raise(message):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.parse_example([message], INTS)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.parse_single_example(message, INTS)


def test_packed_floats_cut_short_raise():
    with pytest.raises(tf.errors.InvalidArgumentError):
        values(one(wire.field(2, wire.field(1, bytes(7)))), tf.float32)


def test_garbage_in_what_nobody_asked_for_is_not_looked_at():
    message = wire.example([(b"other", b"\xff\xff"), (b"a", wire.feature("int64", [1]))])
    assert values(message) == [1]


def test_ten_byte_varints_keep_64_bits():
    assert values(one(wire.field(3, wire.field(1, b"\xff" * 9 + b"\x7f")))) == [-1]


def test_every_cut_of_a_record_raises_or_parses():
    message = wire.example(
        [
            (b"a", wire.feature("int64", [1, 300])),
            (b"b", wire.feature("bytes", [b"xyz"])),
            (b"c" * 20, wire.feature("float", [1.0])),
        ]
    )
    features = {"a": V(tf.int64), "b": V(tf.string), "c" * 20: V(tf.float32)}
    for size in range(1, len(message)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.parse_example([message[:size]], features)


def test_against_protobuf():
    """Random values of all three kinds, split at random into what the specification lets a writer split."""
    feature_pb2 = pytest.importorskip("google.protobuf").__name__ and _feature_class()
    rng = random.Random(7)
    for _ in range(3000):
        value = b""
        for _ in range(rng.randrange(4)):
            kind = rng.choice(["int64", "int64", "float", "bytes"])
            if kind == "bytes":
                value += wire.field(
                    1, wire.bytes_list([rng.randbytes(rng.randrange(4)) for _ in range(rng.randrange(3))])
                )
                continue
            number, make = (3, wire.int64_list) if kind == "int64" else (2, wire.float_list)
            draw = (
                (lambda: rng.randrange(-5, 1 << rng.choice([3, 40])))
                if kind == "int64"
                else (lambda: float(rng.randrange(9)))
            )
            chunks = [
                make([draw() for _ in range(rng.randrange(3))], rng.random() < 0.5) for _ in range(rng.randrange(3))
            ]
            value += wire.field(number, b"".join(chunks))
        message = feature_pb2.FromString(value)
        kind = message.WhichOneof("kind")
        features = {
            "a": V({"int64_list": tf.int64, "float_list": tf.float32, "bytes_list": tf.string, None: tf.int64}[kind])
        }
        got = tf.parse_example([one(value)], features)["a"].values.tolist()
        assert got == (list(getattr(message, kind).value) if kind else []), value


def _feature_class():
    """The Feature message, in a descriptor pool of its own."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="f.proto", package="t", syntax="proto3")
    kinds = [("BytesList", "bytes_list", 12), ("FloatList", "float_list", 2), ("Int64List", "int64_list", 3)]
    feature = descriptor_pb2.DescriptorProto(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, (name, field, kind) in enumerate(kinds, 1):
        file.message_type.add(name=name).field.add(name="value", number=1, type=kind, label=3)
        feature.field.add(name=field, number=number, type=11, label=1, type_name=f".t.{name}", oneof_index=0)
    file.message_type.append(feature)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("t.Feature"))
