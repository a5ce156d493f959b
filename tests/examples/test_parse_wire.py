"""The wire rules: those of the protobuf specification if docs/differences.md says so, TensorFlow's otherwise."""

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


OF_UNKNOWN_FIELDS = wire.sequence_example([(b"a", wire.field(5, b"x"))], [])


def test_context_feature_of_unknown_fields_only_does_not_take_the_default():
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected 1"):
        tf.parse_sequence_example([OF_UNKNOWN_FIELDS], {"a": tf.FixedLenFeature([], tf.int64, 3)})


def test_context_feature_of_unknown_fields_only_has_no_values():
    context, _, _ = tf.parse_sequence_example([OF_UNKNOWN_FIELDS], {"a": V(tf.int64)})
    assert context["a"].values.tolist() == []


def test_last_of_two_equal_keys_wins():
    message = wire.example([(b"a", wire.feature("float", [1.0])), (b"a", wire.feature("int64", [2]))])
    assert values(message) == [2]


PLACES = [
    lambda field: one(wire.feature("int64", [1])) + field,
    lambda field: wire.field(1, wire.entry(b"a", wire.feature("int64", [1])) + field),
    lambda field: wire.field(1, wire.field(1, wire.field(1, b"a") + wire.field(2, wire.feature("int64", [1])) + field)),
    lambda field: one(wire.feature("int64", [1]) + field),
    lambda field: one(wire.field(3, wire.int64_list([1]) + field)),
]
MALFORMED = [
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
    one(wire.field(3, b"\x0b\x14")),  # a group that the end of another field closes
    one(wire.field(3, wire.groups(101))),
    one(wire.field(3, b"\x11" + bytes(7))),  # an unknown fixed64 that is cut
    one(wire.field(3, b"\x15" + bytes(3))),  # an unknown fixed32 that is cut
    wire.varint(5 << 3 | 3) + wire.varint(5 << 3 | 4),  # a group at the top, as TensorFlow
    *(
        place(tag + b"\0") for tag in (b"\0", b"\2", wire.varint(1 << 32)) for place in PLACES
    ),  # no field has such a tag
]


def test_concatenated_examples_merge():
    message = wire.example([(b"a", wire.feature("int64", [1]))]) + wire.example([(b"b", wire.feature("int64", [2]))])
    parsed = tf.parse_example([message], {"a": V(tf.int64), "b": V(tf.int64)})
    assert parsed["a"].values.tolist() == [1] and parsed["b"].values.tolist() == [2]


def test_what_follows_a_map_in_its_message_is_no_entry():
    """After a second map, an unknown field that could be the value of an entry whose key is that map's first one."""
    first, second = (wire.entry(b"a", wire.feature("int64", [value])) for value in (1, 2))
    assert values(wire.field(1, first) + wire.field(1, second + wire.field(2, b"x"))) == [2]


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize(
    "fields", [[1, 2, 2], [1, 2, 1], [1, 1, 2], [2, 2], [1, 1], [2, 1, 2], [1, 2, 1, 2]], ids=lambda fields: str(fields)
)
def test_an_entry_has_one_key_and_one_value(fields, batch):
    """As for TensorFlow. A protobuf library would merge the values."""
    parts = {1: wire.field(1, b"a"), 2: wire.field(2, wire.feature("int64", [1]))}
    message = wire.field(1, wire.field(1, b"".join(parts[number] for number in fields)))
    for parse in (tf.parse_example, tf.infer_features):
        with pytest.raises(tf.errors.InvalidArgumentError, match="malformed"):
            parse([message] * batch, *([INTS] if parse is tf.parse_example else []))


KINDLESS_LAST = wire.example([(b"a", wire.feature("int64", [1])), (b"a", b"")])


def test_kindless_last_key_hides_nothing_from_fixed_features():
    assert tf.parse_example([KINDLESS_LAST], {"a": tf.FixedLenFeature([], tf.int64)})["a"].tolist() == [1]


def test_kindless_last_key_hides_all_from_lists():
    assert values(KINDLESS_LAST) == []


def test_kindless_last_key_hides_nothing_from_lists_of_one_record():
    assert tf.parse_single_example(KINDLESS_LAST, INTS)["a"].values.tolist() == [1]


def test_a_malformed_record_raises():
    for message in MALFORMED:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.parse_example([message], INTS)


def test_a_malformed_record_alone_raises():
    for message in MALFORMED:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.parse_single_example(message, INTS)


def test_packed_floats_cut_short_raise():
    with pytest.raises(tf.errors.InvalidArgumentError):
        values(one(wire.field(2, wire.field(1, bytes(7)))), tf.float32)


def test_a_hundred_groups_inside_each_other_are_skipped():
    assert values(one(wire.field(3, wire.groups(100) + wire.int64_list([7])))) == [7]


def test_garbage_in_what_was_not_asked_for_is_not_looked_at():
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


def random_chunks(rng, make, draw):
    """Lists of one kind, some packed, some not, as one member of a Feature may be split."""
    return b"".join(
        make([draw() for _ in range(rng.randrange(3))], rng.random() < 0.5) for _ in range(rng.randrange(3))
    )


def random_member(rng):
    """One member of a Feature's oneof, split at random into what the specification lets a writer split."""
    kind = rng.choice(["int64", "int64", "float", "bytes"])
    if kind == "bytes":
        return wire.field(1, wire.bytes_list([rng.randbytes(rng.randrange(4)) for _ in range(rng.randrange(3))]))
    if kind == "float":
        return wire.field(2, random_chunks(rng, wire.float_list, lambda: float(rng.randrange(9))))
    return wire.field(3, random_chunks(rng, wire.int64_list, lambda: rng.randrange(-5, 1 << rng.choice([3, 40]))))


def test_random_values_of_all_kinds_are_protobufs():
    pytest.importorskip("google.protobuf")
    from tests.support.oracle_protobuf import Feature

    dtypes = {"int64_list": tf.int64, "float_list": tf.float32, "bytes_list": tf.string, None: tf.int64}
    rng = random.Random(7)
    for _ in range(3000):
        value = b"".join(random_member(rng) for _ in range(rng.randrange(4)))
        message = Feature.FromString(value)
        kind = message.WhichOneof("kind")
        assert values(one(value), dtypes[kind]) == (list(getattr(message, kind).value) if kind else []), value
