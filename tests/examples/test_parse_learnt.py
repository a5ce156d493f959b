"""What a parser has learnt from earlier batches changes no answer: rows of feature lists written where they stay, lists
whose threads write into one array, context features taken by the script of their keys."""

import os
import random
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.paths import ROOT

SHAPES = {"floats": [3], "frames": [8], "vectors": [40], "pairs": [2]}
LISTS = {
    "ids": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    "pairs": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
    "small": tf.FixedLenSequenceFeature([], tf.int32, allow_missing=True),
    "floats": tf.FixedLenSequenceFeature([3], tf.float32, allow_missing=True),
    "frames": tf.FixedLenSequenceFeature([8], tf.float32, allow_missing=True),
    "vectors": tf.FixedLenSequenceFeature([40], tf.float32, allow_missing=True),
    "names": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True),
    "any_ids": tf.VarLenFeature(tf.int64),
}
KINDS = dict.fromkeys(("ids", "pairs", "small", "any_ids"), "int64") | {"names": "bytes"}


def step(rng, key):
    """A Feature and its values: nearly always of the usual form."""
    count = int(np.prod(SHAPES.get(key, [])))
    kind = KINDS.get(key, "float")
    if kind == "int64":
        bits = rng.choice([7, 14, 14, 14, 21, 31] + [63] * (key != "small"))
        values = [rng.randrange(-1, 1 << bits) for _ in range(count)]
    elif kind == "float":
        values = [float(rng.randrange(1 << 20)) for _ in range(count)]
    else:
        values = [b"x" * rng.randrange(40)]
    return wire.feature(kind, values, packed=rng.random() > 0.02), values


def a_record(rng, most):
    row, lists = {}, []
    for key in rng.sample(list(LISTS), len(LISTS)) if rng.random() < 0.1 else LISTS:
        if rng.random() < 0.05:
            continue
        made = [step(rng, key) for _ in range(rng.randrange(most + 1))]
        lists.append((key.encode(), [data for data, _ in made]))
        row[key] = [values for _, values in made]
    return wire.sequence_example([], lists), row


def check(parsed, rows):
    _, lists, lengths = parsed
    for key in LISTS:
        expected = [row.get(key, []) for row in rows]
        if key == "any_ids":
            assert [int(v) for v in lists[key].values] == [v for row in expected for one in row for v in one]
            continue
        longest = max(map(len, expected), default=0)
        assert lengths[key].tolist() == list(map(len, expected)), key
        assert lists[key].shape == (len(rows), longest, *SHAPES.get(key, [])), key
        empty = b"" if key == "names" else 0
        padded = [
            [v for one in row for v in one] + [empty] * ((longest - len(row)) * int(np.prod(SHAPES.get(key, []))))
            for row in expected
        ]
        got = lists[key].tolist() if key == "names" else lists[key].reshape(len(rows), -1).tolist()
        assert got == padded, key


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([0, 1, 3, 3, 3, 17, 40]), min_size=2, max_size=6), st.integers(0, 1 << 30))
def test_rows_longer_and_shorter_than_the_last_batches(mosts, seed):
    rng = random.Random(seed)
    features = dict(LISTS)
    for most in mosts:
        records, rows = zip(*(a_record(rng, most) for _ in range(rng.choice([1, 2, 20]))), strict=True)
        check(tf.parse_sequence_example(list(records), {}, features), rows)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_backend_and_number_of_threads(backend, threads):
    rng = random.Random(7)
    features = dict(LISTS)
    for most in (20, 20, 35, 20):
        records, rows = zip(*(a_record(rng, most) for _ in range(150)), strict=True)
        check(tf.parse_sequence_example(list(records), {}, features, num_threads=threads), rows)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (wire.feature("int64", [1, 2]), r"expected 1 value .*, got 2; .* \(step 3\)"),
        (wire.feature("float", [1.0]), r"expected int64 values, got float values; .* \(step 3\)"),
        (b"", r"got 0; .* \(step 3\)"),
        (wire.field(3, wire.field(1, b"\xff")), r"malformed protobuf \(step 3\)"),
    ],
)
def test_bad_steps_are_told_apart_wherever_they_would_go(bad, message):
    features = {"ids": tf.FixedLenSequenceFeature([], tf.int64)}
    good = wire.sequence_example([], [(b"ids", [wire.feature("int64", [i]) for i in range(6)])])
    bad_one = wire.sequence_example([], [(b"ids", [wire.feature("int64", [1])] * 3 + [bad])])
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            tf.parse_sequence_example([good, bad_one], {}, features)
        tf.parse_sequence_example([good, good], {}, features)


def test_columns_of_one_batch_are_not_those_of_the_next():
    features = {"ids": tf.FixedLenSequenceFeature([], tf.int64)}
    kept = []
    for i in range(5):
        records = [wire.sequence_example([], [(b"ids", [wire.feature("int64", [i])] * 9)])] * 2000
        kept.append(tf.parse_sequence_example(records, {}, features)[1]["ids"])
    assert [(column == i).all() for i, column in enumerate(kept)] == [True] * 5


# ---- The context ----

CONTEXT = {"id": tf.FixedLenFeature([], tf.int64, -7), "score": tf.FixedLenFeature([], tf.float32, 0.5)}


def ints(*values, packed=True):
    return wire.feature("int64", list(values), packed)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([(b"id", ints(1)), (b"id", ints(2, packed=False))], 2),
        ([(b"id", ints(1, packed=False)), (b"id", ints(2))], 2),
        ([(b"id", ints(1)), (b"x" * 300, b""), (b"id", ints(3))], 3),
        ([(b"score", wire.feature("float", [1.0])), (b"id", ints(-1))], -1),
        ([], -7),
    ],
)
def test_the_last_of_equal_context_keys_counts(backend, entries, expected):
    features = dict(CONTEXT)
    usual = wire.sequence_example([(b"id", ints(9)), (b"score", wire.feature("float", [2.0]))], [])
    record = wire.sequence_example(entries, [])
    for tail in (b"", wire.field(2, b""), wire.field(2, wire.field(1, wire.field(1, b"k" * 90) + wire.field(2, b"")))):
        for _ in range(3):
            context, _, _ = tf.parse_sequence_example([usual, record + tail, usual + tail], features, {})
            assert context["id"].tolist() == [9, expected, 9]


def test_contexts_in_two_messages_merge_and_end_where_they_end(backend):
    features = dict(CONTEXT)
    first = wire.sequence_example([(b"id", ints(1))], [])
    second = wire.sequence_example([(b"score", wire.feature("float", [4.0]))], [])
    cut = bytearray(first + second)
    cut[1] -= 1  # the first context ends within its entry
    for _ in range(3):
        context, _, _ = tf.parse_sequence_example([first + second, second + first + second], features, {})
        assert context["id"].tolist() == [1, 1] and context["score"].tolist() == [4.0, 4.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="malformed"):
            tf.parse_sequence_example([bytes(cut)], features, {})


# ---- Lists of Examples on several threads ----

EXAMPLE = {
    "tokens": tf.VarLenFeature(tf.int64),
    "weights": tf.VarLenFeature(tf.float32),
    "words": tf.VarLenFeature(tf.string),
    "narrow": tf.VarLenFeature(tf.int32),
    "rest": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
}


def lists_record(rng, odd):
    n = rng.randrange(100, 700)
    tokens = [rng.randrange(1 << rng.choice([7, 14, 20])) for _ in range(n)]
    entries = [
        (b"tokens", wire.feature("int64", tokens, packed=not (odd and rng.random() < 0.05))),
        (b"weights", wire.field(2, wire.field(1, struct.pack(f"<{n}f", *map(float, tokens))))),
        (b"words", wire.feature("bytes", [b"w" * (t % 5) for t in tokens[:9]])),
        (b"narrow", wire.feature("int64", tokens[:50])),
        (b"rest", wire.feature("int64", tokens[:20])),
    ]
    if odd and rng.random() < 0.05:
        entries.insert(0, (b"tokens", wire.feature("int64", [1] * 5000)))  # counted, but the last one counts
    return wire.example(entries), tokens


@pytest.mark.parametrize("threads", [2, 3, 7])
@pytest.mark.parametrize("odd", [False, True])
def test_lists_of_many_threads_are_one_after_the_other(threads, odd):
    rng = random.Random(threads)
    features = dict(EXAMPLE)
    for _ in range(4):
        records, rows = zip(*(lists_record(rng, odd) for _ in range(400)), strict=True)
        parsed = tf.parse_example(list(records), features, num_threads=threads)
        assert parsed["tokens"].values.tolist() == [t for row in rows for t in row]
        assert parsed["weights"].values.tolist() == [float(t) for row in rows for t in row]
        assert parsed["narrow"].values.tolist() == [t for row in rows for t in row[:50]]
        assert parsed["words"].values.tolist() == [b"w" * (t % 5) for row in rows for t in row[:9]]
        assert parsed["rest"].tolist() == [[row[i : i + 2] for i in range(0, 20, 2)] for row in rows]


def test_a_bad_row_after_counting_leaves_the_next_batch_whole():
    features = {"narrow": tf.VarLenFeature(tf.int8)}
    good = [wire.example([(b"narrow", ints(*([5] * 800)))])] * 600
    bad = [*good[:-1], wire.example([(b"narrow", ints(*([5] * 800 + [1000])))])]
    for batch in (good, good, bad, good, bad[::-1], good):
        if batch is good:
            assert (tf.parse_example(batch, features, num_threads=2)["narrow"].values == 5).all()
        else:
            with pytest.raises(tf.errors.InvalidArgumentError, match="1000 is out of range for int8"):
                tf.parse_example(batch, features, num_threads=2)


@pytest.mark.parametrize("kind", ["int64", "float"])
def test_keys_of_one_length_are_told_apart(backend, kind):
    """Most records have them in one order, and then one has another, or a key of that length which nobody asked for."""
    keys, dtype = ["aa", "bb", "cc", "dd"], {"int64": tf.int64, "float": tf.float32}[kind]
    features = {key: tf.FixedLenFeature([], dtype, -1) for key in keys}
    orders = [keys] * 60
    for _ in range(2):
        orders += [keys[::-1], keys, [*keys[1:], keys[0]], keys, ["aa", "xx", "cc", "dd"], keys, ["yy", *keys], keys]
    rows = [{key: float(4 * row + n) for n, key in enumerate(order)} for row, order in enumerate(orders)]
    records = [
        wire.example([(key.encode(), wire.feature(kind, [int(v) if kind == "int64" else v])) for key, v in row.items()])
        for row in rows
    ]
    for _ in range(3):
        found = tf.parse_example(records, features)
        for key in keys:
            assert found[key].tolist() == [row.get(key, -1) for row in rows]
        assert [tf.parse_single_example(one, features)["bb"] for one in records] == found["bb"].tolist()


def test_several_values_where_one_was_are_an_error(backend):
    features = {"a": tf.FixedLenFeature([], tf.int64), "b": tf.FixedLenFeature([], tf.int64)}
    usual = wire.example([(b"a", wire.feature("int64", [300])), (b"b", wire.feature("int64", [2]))])
    for values in ([1, 2], [1, 2, 3], [300, 1], [1, 300]):
        for key in (b"a", b"b"):
            other = wire.example(
                [
                    (one, wire.feature("int64", values if one == key else [300 if one == b"a" else 2]))
                    for one in (b"a", b"b")
                ]
            )
            with pytest.raises(tf.errors.InvalidArgumentError, match=f"got {len(values)}"):
                tf.parse_example([usual] * 50 + [other] + [usual] * 50, features)


AFTERWARDS = """
import gc
import tfrecord_fast as tf

def parse():
    features = {"a": tf.FixedLenFeature([], tf.string, b"of a default" * 20)}
    return tf.parse_example([b"", b""], features)["a"]

found = parse()
for n in range(300):  # until the plan is forgotten
    tf.parse_example([b""], {f"{n}": tf.FixedLenFeature([], tf.int64, n)})
gc.collect()
others = [bytes([n % 256]) * 240 for n in range(1000)]
assert list(found) == [b"of a default" * 20] * 2, bytes(found[0])
"""


def test_default_strings_live_as_long_as_the_columns():
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "MALLOC_PERTURB_": "165", "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", AFTERWARDS], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("tag", [0x10, 0x1A, 0x15, 0x02, 0x92])
def test_what_is_no_value_is_not_skipped_as_one(backend, tag):
    """After many records with a key that nobody asked for, one whose entry has something else in the value's place."""
    features = {"a": tf.FixedLenFeature([], tf.int64), "c": tf.FixedLenFeature([], tf.int64)}
    one, other = wire.entry(b"a", wire.feature("int64", [300])), wire.entry(b"c", wire.feature("int64", [2]))
    other += wire.entry(b"d", wire.feature("bytes", [bytes(100)]))  # room to read ahead
    usual = wire.field(1, one + wire.entry(b"b", wire.feature("int64", [7])) + other)
    odd = wire.field(1, one + wire.field(1, wire.field(1, b"b") + bytes([tag, 5]) + b"\xff" * 5) + other)
    with pytest.raises(tf.errors.InvalidArgumentError, match="record 50"):
        tf.parse_example([usual] * 50 + [odd] + [usual] * 50, features)


@pytest.mark.parametrize("kind, dtype", [("int64", tf.int64), ("float", tf.float32)])
@pytest.mark.parametrize("place", ["before", "between", "after", "alone"])
def test_unknown_fields_beside_the_steps_of_a_row_move_no_other_row(kind, dtype, place):
    """A row with as many steps as the longest one before, and a field that is no step."""
    unknown = wire.varint(15 << 3) + wire.varint(1)
    features = {"a": tf.FixedLenSequenceFeature([], dtype, allow_missing=True)}

    def record(values, odd=False):
        steps = [wire.field(1, wire.feature(kind, [value])) for value in values]
        if odd and place in ("before", "alone"):
            steps.insert(0, unknown)
        if odd and place in ("between", "alone"):
            steps.insert(len(steps) // 2 + 1, unknown)
        if odd and place in ("after", "alone"):
            steps.append(unknown)
        return wire.field(2, wire.entry(b"a", b"".join(steps)))

    for longest in (0, 1, 2, 3):
        tf.parse_sequence_example([record(range(1, longest + 1))], {}, features)  # the width that is learnt
        rows = [list(range(10 * row, 10 * row + length)) for row, length in enumerate((longest, 5, 0, longest, 4, 1))]
        records = [record(row, odd=True) for row in rows]
        _, lists, lengths = tf.parse_sequence_example(records, {}, features)
        assert lengths["a"].tolist() == list(map(len, rows))
        assert lists["a"].tolist() == [row + [0] * (5 - len(row)) for row in rows]
        tf.parse_sequence_example([record(range(1, longest + 1))], {}, features)
