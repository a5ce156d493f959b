"""Columns of every kind of feature for tests of engines, and rows that can be compared."""

import numpy as np

import tfrecord_fast as tf

ROWS = 600


def columns_of(seed, rows=ROWS):
    rng = np.random.default_rng(seed)
    return {
        "id": np.arange(rows) + seed * 1_000_000,
        "price": rng.random(rows, np.float32),
        "name": [b"%d-%d" % (seed, i) for i in range(rows)],
        "vector": rng.random((rows, 2, 3), np.float32),
        "tags": [[b"t%d" % j for j in range(n)] for n in rng.integers(0, 4, rows)],
        "counts": [rng.integers(0, 9, n).tolist() for n in rng.integers(0, 5, rows)],
        "maybe": [None if i % 3 else i for i in range(rows)],
    }


FEATURES = {
    "id": tf.io.FixedLenFeature([], tf.int64),
    "price": tf.io.FixedLenFeature([], tf.float32),
    "name": tf.io.FixedLenFeature([], tf.string),
    "vector": tf.io.FixedLenFeature([2, 3], tf.float32),
    "tags": tf.io.VarLenFeature(tf.string),
    "counts": tf.io.RaggedFeature(tf.int64),
    "maybe": tf.io.FixedLenFeature([], tf.int64, default_value=-1),
}


def rows_of(table):
    """The rows of a table of Arrow as something that can be compared in any order."""
    return plain_rows(table.to_pylist())


def plain_rows(rows):
    """Dicts as something that can be compared in any order."""
    return sorted(repr(_plain(row)) for row in rows)


def _plain(value):
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in sorted(value.items())}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
