"""Tables of random records, compared with what protobuf and TensorFlow read in them."""

import os
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import live_tensorflow
from tests.support import wire_writer as wire

FLOATS = st.floats(width=32, allow_nan=False)
VALUES = {"int64": st.integers(-(2**63), 2**63 - 1), "float": FLOATS, "bytes": st.binary(max_size=20)}
DTYPES = {"int64": tf.int64, "float": tf.float32, "bytes": tf.string}
KEYS = "abcd"


@st.composite
def tables(draw, most_values=3):
    """The kinds of some keys, and records: for each key None if it is absent, or values."""
    kinds = {key: draw(st.sampled_from(sorted(VALUES))) for key in KEYS}
    row = st.fixed_dictionaries(
        {key: st.none() | st.lists(VALUES[kind], max_size=most_values) for key, kind in kinds.items()}
    )
    return kinds, draw(st.lists(row, min_size=1, max_size=12))


def serialized(kinds, row, order):
    return wire.example([(key.encode(), wire.feature(kinds[key], row[key])) for key in order if row[key] is not None])


def written(path, records, draw):
    with tf.io.TFRecordWriter(path, draw.draw(st.sampled_from(["", "GZIP", "ZSTD"]))) as writer:
        writer.write_batch(records)
    return path


def by_protobuf(record, key):
    """The values of a key as protobuf sees them, or None."""
    features = tf.train.Example.FromString(record).features.feature
    if key not in features or features[key].WhichOneof("kind") is None:
        return None
    return list(getattr(features[key], features[key].WhichOneof("kind")).value)


@pytest.fixture(scope="module")
def path():
    with tempfile.TemporaryDirectory() as folder:
        yield os.path.join(folder, "a.tfrecord")


@given(table=tables(), draw=st.data())
@settings(max_examples=60, deadline=None)
def test_lists_are_those_that_protobuf_reads(path, table, draw):
    kinds, rows = table
    records = [serialized(kinds, row, draw.draw(st.permutations(KEYS))) for row in rows]
    written(path, records, draw)
    features = {key: tf.VarLenFeature(DTYPES[kind]) for key, kind in kinds.items()}
    read = tf.read_table(path, features, batch_size=draw.draw(st.integers(1, 5)))
    read.validate(full=True)
    for key in KEYS:
        assert read[key].to_pylist() == [by_protobuf(record, key) for record in records]


@given(table=tables(most_values=2), draw=st.data())
@settings(max_examples=80, deadline=None)
def test_what_is_inferred_holds_all_values(path, table, draw):
    kinds, rows = table
    records = [serialized(kinds, row, draw.draw(st.permutations(KEYS))) for row in rows]
    if not any(values is not None for row in rows for values in row.values()):
        return
    written(path, records, draw)
    strings = draw.draw(st.sampled_from(["plain", "view"]))
    read = tf.read_table(path, infer_records=draw.draw(st.sampled_from([1, 3, None])), strings=strings, batch_size=4)
    read.validate(full=True)
    assert set(read.column_names) == {key for key in KEYS if any(row[key] is not None for row in rows)}
    for key in read.column_names:
        values = [by_protobuf(record, key) for record in records]
        got = read[key].to_pylist()
        assert got == values or got == [None if one is None else one[0] for one in values]


def test_all_records_are_looked_at_if_the_first_ones_have_no_values(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch([b"", b"", tf.train.example({"a": b"x"}).SerializeToString()])
    assert tf.read_table(path, infer_records=1).to_pydict() == {"a": [None, None, b"x"]}


def parse_with_tensorflow(records):
    features = {
        "fixed": tf.io.FixedLenFeature([2], tf.int64, [7, 8]),
        "ragged": tf.io.RaggedFeature(tf.string),
        "cut": tf.io.RaggedFeature(tf.float32, "values", [tf.io.RaggedFeature.RowLengths("lengths")]),
        "sparse": tf.io.SparseFeature(["i", "j"], "text", tf.string, [10, 10]),
        "steps": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True, default_value=-1),
    }
    parsed = tf.io.parse_example(tf.constant(records), features)
    sparse = parsed.pop("sparse")
    made = {
        key: value.to_list() if hasattr(value, "to_list") else value.numpy().tolist() for key, value in parsed.items()
    }
    return made, sparse.indices.numpy().tolist(), sparse.values.numpy().tolist()


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_columns_are_those_that_tensorflow_reads(path):
    random = np.random.default_rng(0)
    records = []
    for _ in range(200):
        strings = [random.bytes(random.integers(0, 20)) for _ in range(random.integers(0, 4))]
        lengths = random.integers(0, 3, random.integers(0, 4)).tolist()
        places = sorted({tuple(place) for place in random.integers(0, 10, (len(strings), 2)).tolist()})
        strings = strings[: len(places)]
        values = {
            "fixed": ("int64", random.integers(0, 99, 2).tolist()),
            "ragged": ("bytes", strings),
            "text": ("bytes", strings),
            "i": ("int64", [i for i, _ in places]),
            "j": ("int64", [j for _, j in places]),
            "lengths": ("int64", lengths),
            "values": ("float", random.random(sum(lengths), np.float32).tolist()),
            "steps": ("int64", random.integers(0, 99, 2 * random.integers(0, 4)).tolist()),
        }
        if random.random() < 0.3:
            del values["fixed"]
        if random.random() < 0.3:
            del values["steps"]
        records.append(wire.example([(key.encode(), wire.feature(*value)) for key, value in values.items()]))
    expected, indices, sparse_values = live_tensorflow.call(parse_with_tensorflow, records)
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(records)
    features = {
        "fixed": tf.FixedLenFeature([2], tf.int64, [7, 8]),
        "ragged": tf.RaggedFeature(tf.string),
        "cut": tf.RaggedFeature(tf.float32, "values", [tf.RaggedFeature.RowLengths("lengths")]),
        "sparse": tf.SparseFeature(["i", "j"], "text", tf.string, [10, 10]),
        "steps": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True, default_value=-1),
    }
    table = tf.read_table(path, features, batch_size=50)
    for key in ("fixed", "ragged", "cut"):
        assert table[key].to_pylist() == expected[key]
    entries = [(row, one) for row, ones in enumerate(table["sparse"].to_pylist()) for one in ones]
    assert [[row, *one["index"]] for row, one in entries] == indices
    assert [one["value"] for _, one in entries] == sparse_values
    assert [one or [] for one in table["steps"].to_pylist()] == [
        [step for step in steps if step != [-1, -1]] for steps in expected["steps"]
    ]
