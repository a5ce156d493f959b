"""Lists of a batch that several threads parse, each into its part of one array: whatever way a list is written."""

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire

ROWS = 3_000
FIXED = tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True)


def packed(values):
    return wire.field(1, b"".join(wire.varint(value) for value in values))


def unpacked(values):
    return b"".join(b"\x08" + wire.varint(value) for value in values)


def once(values):
    return wire.entry(b"a", wire.field(3, packed(values)))


WAYS = {
    "twice, the last one counts": lambda values: once([5] * 90) + once(values),
    "twice, the first one is empty": lambda values: once([]) + once(values),
    "in two runs": lambda values: wire.entry(b"a", wire.field(3, packed(values[:7]) + packed(values[7:]))),
    "in two lists": lambda values: wire.entry(
        b"a", wire.field(3, packed(values[:7])) + wire.field(3, packed(values[7:]))
    ),
    "one by one": lambda values: wire.entry(b"a", wire.field(3, unpacked(values))),
    "some one by one": lambda values: wire.entry(b"a", wire.field(3, packed(values[:7]) + unpacked(values[7:]))),
    "after another kind": lambda values: wire.entry(b"a", wire.field(2, b"") + wire.field(3, packed(values))),
}
WHERE = {"first": [0], "last": [ROWS - 1], "several": [1, ROWS // 3, ROWS // 2, ROWS - 2]}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("way", WAYS)
def test_every_row_has_its_values(way, where):
    lists = [[row % 128] * (100 + row % 90) for row in range(ROWS)]
    records = [wire.field(1, once(values)) for values in lists]
    for row in WHERE[where]:
        records[row] = wire.field(1, WAYS[way](lists[row]))
    values, lengths = np.concatenate(lists), np.array([len(values) for values in lists])
    padded = np.zeros((ROWS, lengths.max()), np.int64)
    padded[np.arange(lengths.max()) < lengths[:, None]] = values
    for feature in (tf.VarLenFeature(tf.int64), tf.RaggedFeature(tf.int64), FIXED):
        features = {"a": feature}
        for threads in (1, 2, 4, 7):  # how lists are placed is judged by the batch before
            found = tf.parse_example(records, features, num_threads=threads)["a"]
            if feature is FIXED:
                assert np.array_equal(found, padded)
            else:
                assert np.array_equal(found.values, values)
                assert np.array_equal(found.row_lengths() if hasattr(found, "row_lengths") else rows(found), lengths)


def rows(sparse):
    return np.bincount(sparse.indices[:, 0], minlength=ROWS)


def test_a_result_is_not_written_again():
    """Where the lists of one batch were placed, those of the next one, which can't be placed, do not go."""
    lists = [[row % 128] * 150 for row in range(ROWS)]
    usual = [wire.field(1, once(values)) for values in lists]
    others = [wire.field(1, once([127 - value for value in values])) for values in lists]
    others[5] = wire.field(1, WAYS["one by one"]([127 - value for value in lists[5]]))
    features, expected = {"a": tf.VarLenFeature(tf.int64)}, np.concatenate(lists)
    for threads in (4, 4, 2, 7):
        first = tf.parse_example(usual, features, num_threads=threads)["a"].values
        second = tf.parse_example(others, features, num_threads=threads)["a"].values
        assert np.array_equal(first, expected) and np.array_equal(second, 127 - expected)


@pytest.mark.parametrize("threads", [1, 2, 4, 7])
@pytest.mark.parametrize("row", [0, 1, ROWS // 2, ROWS - 1])
def test_the_error_says_which_row(row, threads):
    records = [wire.field(1, once([1] * 200))] * ROWS
    records[row] = wire.field(1, wire.entry(b"a", wire.feature("float", [1.0])))
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"\(record {row}\)"):
        tf.parse_example(records, {"a": tf.VarLenFeature(tf.int64)}, num_threads=threads)
