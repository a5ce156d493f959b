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
