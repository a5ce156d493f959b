"""Keys in any order: what a parser has learnt from the records before says nothing about the values of this one."""

import random
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import wire_writer as wire

INTS = {f"i{'x' * size}": size for size in (0, 1, 6, 20, 21, 60, 115)}  # short, at the edges of a vector, long
FLOATS = {f"f{'y' * size}": size for size in (0, 7, 21, 22, 100)}
FEATURES = {
    **{key: tf.FixedLenFeature([], tf.int64, -7) for key in INTS},
    **{key: tf.FixedLenFeature([], tf.float32, -7.0) for key in FLOATS},
    "strings": tf.FixedLenFeature([], tf.string, b"none"),
    "pair": tf.FixedLenFeature([2], tf.int64, [-1, -2]),
}
ASKED_FOR = list(FEATURES)
IGNORED = ["", "other", "z" * 21, "z" * 26, "z" * 120, "z" * 300]
INTEGERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 300),
    st.sampled_from([2**k - d for k in range(7, 63, 7) for d in (0, 1)]),
)
SINGLE = st.floats(width=32, allow_nan=False)


@pytest.fixture(autouse=True)
def every_backend(backend):
    pass


def a_feature(draw, key):
    """Its bytes, and the value that TensorFlow takes from it: None if it has none."""
    if key in INTS:
        if draw(st.integers(0, 9)) == 0:
            return b"", None
        value = draw(INTEGERS)
        return wire.feature("int64", [value], packed=draw(st.integers(0, 9)) > 0), value
    if key in FLOATS:
        value = draw(SINGLE)
        return wire.feature("float", [value], packed=draw(st.integers(0, 9)) > 0), value
    if key == "strings":
        value = draw(st.binary(max_size=200))
        return wire.feature("bytes", [value]), value
    if key == "pair":
        value = draw(st.lists(INTEGERS, min_size=2, max_size=2))
        return wire.feature("int64", value), value
    return draw(
        st.sampled_from([b"", wire.feature("bytes", [b"q" * 140]), wire.feature("int64", [5]), b"\xff" * 3])
    ), None


@st.composite
def batches(draw):
    """Records whose keys come in one of a few orders, some missing, some strange, some twice."""
    keys = ASKED_FOR + IGNORED
    orders = [draw(st.permutations(keys)) for _ in range(draw(st.integers(1, 3)))]
    records, rows = [], []
    for _ in range(draw(st.integers(1, 12))):
        order = [key for key in draw(st.sampled_from(orders)) if draw(st.integers(0, 19)) > 0]
        if order and draw(st.integers(0, 9)) == 0:
            order.insert(draw(st.integers(0, len(order))), draw(st.sampled_from(order)))
        row, entries = {}, []
        for key in order:
            data, value = a_feature(draw, key)
            entries.append((key.encode(), data))
            if value is not None:  # the last one counts; one without a kind doesn't
                row[key] = value
        records.append(wire.example(entries))
        rows.append(row)
    return records, rows


def expected(rows, key):
    default = FEATURES[key].default_value
    return [row.get(key, default) for row in rows]


@settings(max_examples=150)
@given(batches())
def test_any_order_gives_the_same_values(batch):
    records, rows = batch
    parsed = tf.parse_example(records, FEATURES)
    for key in FEATURES:
        assert parsed[key].tolist() == expected(rows, key), key
    for record, row in zip(records[:2], rows, strict=False):
        single = tf.parse_single_example(record, FEATURES)
        assert single["strings"] == row.get("strings", b"none")
        assert [single[key].tolist() for key in INTS] == [row.get(key, -7) for key in INTS]


def simple(row, order):
    return wire.example(
        [(key.encode(), wire.feature("int64" if key in INTS else "float", [row[key]])) for key in order]
    )


def test_every_record_in_an_order_of_its_own():
    rng = random.Random(3)
    keys = list(INTS) + list(FLOATS)
    rows = [{key: rng.randrange(1 << rng.randrange(1, 24)) for key in keys} for _ in range(500)]
    parsed = tf.parse_example([simple(row, rng.sample(keys, len(keys))) for row in rows], FEATURES)
    for key in keys:
        assert parsed[key].tolist() == expected(rows, key)


def test_a_record_that_ends_within_an_entry_is_malformed():
    """Whatever the parser expects there; the bytes after a record are never its own."""
    for last in [*INTS, *FLOATS]:
        row = dict.fromkeys([*INTS, *FLOATS], 300)
        order = [key for key in row if key != last] + [last]
        good = simple(row, order)
        before = simple(row, order[:-1])[3:]  # after a tag and a length of two bytes
        entries = good[3:]
        assert entries.startswith(before)
        for size in range(len(before) + 1, len(entries)):
            short = wire.field(1, entries[:size])
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"record 3"):
                tf.parse_example([good, good, good, short], FEATURES)


ONE = wire.example([(b"i", wire.feature("int64", [1]))])
VALUES = pytest.mark.parametrize("most", [False, None, True], ids=["0", "1", "all bits"])


def scalar_of(size, most):
    """A record of one varint of that many bytes, and its value modulo 2^64."""
    value = (1 << 7 * size) - 1 if most else int(most is None)
    groups = [value >> 7 * i & 0x7F | 0x80 for i in range(size)]
    groups[-1] &= 0x7F
    return wire.example([(b"i", wire.field(3, wire.field(1, bytes(groups))))]), value & (1 << 64) - 1


def test_varints_of_any_length_are_read():
    for most in [False, None, True]:
        for size in range(1, 11):
            record, value = scalar_of(size, most)
            wanted = struct.unpack("<q", struct.pack("<Q", value))[0]
            assert tf.parse_example([ONE, record, ONE, record], FEATURES)["i"].tolist() == [1, wanted, 1, wanted]


@VALUES
def test_a_varint_of_eleven_bytes_is_malformed(most):
    with pytest.raises(tf.errors.InvalidArgumentError, match="malformed"):
        tf.parse_example([ONE, scalar_of(11, most)[0]], FEATURES)


@pytest.mark.parametrize("wrong", [b"\x0a\x02\x05\x06", b"\x0a\x01\x85", b"\x0a\x00", b"\x0a\x02\x85\x86"])
def test_what_is_not_one_value_is_not_a_scalar(wrong):
    """Two varints, one that does not end, none, two that do not."""
    other = wire.example([(b"i", wire.feature("int64", [1]))])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'i'.*record 2"):
        tf.parse_example([other, other, wire.example([(b"i", wire.field(3, wrong))])], FEATURES)
