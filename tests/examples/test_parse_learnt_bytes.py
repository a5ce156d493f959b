"""An entry that is nearly the one that a parser has learnt is taken as a parser takes it that has learnt nothing."""

import itertools
import re

import pytest

import tfrecord_fast as tf
from tests.support import peak_memory
from tests.support import wire_writer as wire
from tests.support.forks import status_of_child
from tests.support.guarded import after_a_hole, before_a_hole

FEATURES = {
    "id": tf.FixedLenFeature([], tf.int64),
    "weight": tf.FixedLenFeature([], tf.float32),
    "last": tf.FixedLenFeature([], tf.int64, -1),
}
FRESH = (f"nobody has {n}" for n in itertools.count())
ROOM = wire.entry(b"room", wire.feature("bytes", [bytes(100)]))  # to read ahead


def outcome(records, features):
    """The values of the last record, or what is wrong with it."""
    try:
        found = tf.parse_example(records, features, num_threads=1)
    except tf.errors.InvalidArgumentError as error:
        return re.sub(r"record \d+|, Index: \d+", "", str(error))
    return [found[key][-1].tobytes() for key in FEATURES]


def not_learnt(record):
    """With features that no parser has seen."""
    return outcome([record], {**FEATURES, next(FRESH): tf.FixedLenFeature([], tf.int64, 0)})


def record(id=300, weight=0.5, skipped=b"abc", last=7):
    entries = [
        (b"id", wire.feature("int64", [id])),
        (b"weight", wire.feature("float", [weight])),
        (b"skipped", wire.feature("bytes", [skipped])),
        (b"last", wire.feature("int64", [last])),
    ]
    return b"".join(wire.entry(*entry) for entry in entries)


def assert_as_if_not_learnt(entries):
    usual, odd = wire.field(1, record() + ROOM), wire.field(1, entries + ROOM)
    assert outcome([usual] * 4 + [odd], FEATURES) == not_learnt(odd), odd


@pytest.mark.parametrize("id", [5, 300, 1 << 40])
def test_every_byte_changed_to_every_other(backend, id):
    entries = record(id=id)
    for at in range(len(entries)):
        for value in {entries[at] ^ 1 << bit for bit in range(8)} | {0, 1, 2, 0x0A, 0x12, 0x1A, 0x7F, 0x80, 0xFF}:
            assert_as_if_not_learnt(entries[:at] + bytes([value]) + entries[at + 1 :])


@pytest.mark.parametrize("key", [b"id", b"weight"])
def test_another_kind_whose_bytes_could_be_this_ones_values(backend, key):
    """A float of four bytes that are one varint, and a varint of as many bytes as a float."""
    as_float, as_int64 = (
        wire.field(2, wire.field(1, b"\x81\x82\x83\x04")),
        wire.field(3, wire.field(1, b"\x81\x82\x83\x04")),
    )
    for value in (as_float, as_int64):
        others = {b"id": wire.feature("int64", [300]), b"weight": wire.feature("float", [0.5]), key: value}
        assert_as_if_not_learnt(b"".join(wire.entry(*other) for other in others.items()))


def test_every_length_that_one_byte_can_say(backend):
    """Of a value that is skipped and of one that is taken: the lengths around it are larger by as much, modulo 256."""
    weight = wire.entry(b"weight", wire.feature("float", [0.5]))
    last = wire.entry(b"last", wire.feature("int64", [9]))
    before = wire.entry(b"id", wire.feature("int64", [300])) + weight
    empty = wire.entry(b"skipped", b"")
    taken = wire.entry(b"id", wire.feature("int64", [0]))[:-1]
    for size in range(256):
        skipped = bytearray(empty)
        for at in (1, -1):
            skipped[at] = (skipped[at] + size) % 256
        assert_as_if_not_learnt(before + bytes(skipped) + bytes(size) + last)
        one = bytearray(taken)
        for at in (1, -5, -3, -1):
            one[at] = (one[at] + size - 1) % 256
        for values in (b"\x80" * (size - 1) + b"\x01" if size else b"", b"\x01" * size):
            assert_as_if_not_learnt(bytes(one) + values + weight + last)


@pytest.mark.parametrize("size", [20, 100])
def test_every_end_of_a_map(backend, size):
    """The last entry is skipped, and does not end where the map does."""
    first = record(skipped=b"abc")
    learnt = first + wire.entry(b"room", bytes(size))
    for kept in range(len(first), len(learnt) + 1):
        usual, odd = wire.field(1, learnt), wire.field(1, learnt[:kept])
        assert outcome([usual] * 4 + [odd], FEATURES) == not_learnt(odd), kept
        context, lists = wire.field(1, learnt[:kept]), wire.field(2, wire.entry(b"steps", wire.field(1, bytes(80))))
        found = []
        for extra in ({}, {next(FRESH): tf.FixedLenFeature([], tf.int64, 0)}):
            records = [odd + lists] if extra else [usual + lists] * 4 + [context + lists]
            try:
                parsed = tf.io.parse_sequence_example(records, {**FEATURES, **extra}, {})[0]
                found.append([parsed[key][-1].tobytes() for key in FEATURES])
            except tf.errors.InvalidArgumentError as error:
                found.append(re.sub(r"record \d+|, Index: \d+", "", str(error)))
        assert found[0] == found[1], kept


TAILS = [wire.entry(b"room", bytes(size)) for size in range(116)] + [b""]
LONG = [wire.field(1, record(last=last) + tail) for tail in TAILS for last in (1, 1 << 20)]
SHORT = [
    wire.field(1, wire.entry(b"last", wire.feature("int64", [last])) + wire.entry(b"s", bytes(size)))
    for size in range(60)
    for last in (1, 1 << 20)
]


@pytest.mark.parametrize("placed", [before_a_hole, after_a_hole])
@pytest.mark.parametrize(("records", "keys"), [(LONG, [*FEATURES]), (SHORT, ["last"])], ids=["long", "short"])
def test_no_byte_outside_of_a_record_is_read(backend, records, keys, placed):
    """Neither at the end of its memory nor at the beginning, however little of it is left."""
    features = {key: FEATURES[key] for key in keys}
    expected = tf.parse_example(records, features, num_threads=1)

    def child():
        for n, one in enumerate(records):
            found = tf.parse_example([records[0]] * 4 + [placed(one)], features, num_threads=1)
            if any(found[key][-1] != expected[key][n] for key in keys):
                return False
        return True

    assert status_of_child(child) == 0


MANY_KEYS = """
from tests.support import wire_writer as wire

count, size = map(int, sys.argv[1:])
features = {"a": tf.FixedLenFeature([], tf.int64, 0)}
n = max(1, min(100, count // 10))  # in a record
keys = [str(number).encode().zfill(size) for number in range(count)]
records = [wire.example([(key, b"") for key in keys[at : at + n]]) for at in range(0, count, n)]
del keys
before = peak()
tf.parse_example(records, features, num_threads=1)
print(peak() - before)
"""


@pytest.mark.parametrize(("count", "size"), [(130_000, 6), (500, 100_000)])
def test_keys_that_nobody_asked_for_are_not_all_kept(count, size):
    grown, _ = peak_memory.run("import sys\n" + MANY_KEYS, count, size)
    assert int(grown) < 8 * peak_memory.MIB


def test_a_third_order_of_keys_and_the_first_again(backend):
    """Two orders are known at a time: what was known of the one that makes room is forgotten."""
    keys = ["a", "bb", "ccc", "dddd", "eeeee"]
    features = {key: tf.FixedLenFeature([], tf.int64, -1) for key in keys}
    orders = [keys, keys[::-1], keys[2:] + keys[:2], keys, keys[3:] + keys[:3], keys[::-1]]
    rows = [{key: n % 100 + at for at, key in enumerate(order)} for order in orders for n in range(300)]
    records = [wire.example([(key.encode(), wire.feature("int64", [v])) for key, v in row.items()]) for row in rows]
    found = tf.parse_example(records, features, num_threads=1)
    for key in keys:
        assert found[key].tolist() == [row[key] for row in rows]


LISTS = {key: tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True) for key in ("ids", "more")}


def lists_of(records, extra):
    """The values of the last record, or what is wrong with it."""
    try:
        _, lists, lengths = tf.parse_sequence_example(records, {}, {**LISTS, **extra}, num_threads=1)
    except tf.errors.InvalidArgumentError as error:
        return re.sub(r"record \d+|, Index: \d+", "", str(error))
    return [lists[key][-1][: lengths[key][-1]].tolist() for key in LISTS]


@pytest.mark.parametrize("count", [3, 30])
def test_every_byte_around_lists_changed_to_every_other(backend, count):
    """Lists of less than 128 bytes, and of more; what follows them could be bytes of theirs."""
    steps = b"".join(wire.field(1, wire.feature("int64", [value])) for value in range(count))
    after = wire.field(15, wire.entry(b"more", steps))
    good = wire.field(2, b"".join(wire.entry(key.encode(), steps) for key in LISTS)) + after
    around = [*range(14), *range(good.index(b"more") - 8, good.index(b"more") + 8)]
    for at in around:
        for value in range(256):
            odd = good[:at] + bytes([value]) + good[at + 1 :]
            fresh = {next(FRESH): tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
            assert lists_of([good] * 4 + [odd], {}) == lists_of([odd], fresh), (at, value)
