"""Errors found when columns are put together, SparseFeature and RaggedFeature, name file, record and feature."""

import json

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire

SPLITS, LENGTHS = tf.RaggedFeature.RowSplits, tf.RaggedFeature.RowLengths
SPARSE = {"s": tf.SparseFeature("i", "v", tf.int64, 4)}
RAGGED = {"r": tf.RaggedFeature(tf.int64, "v", [LENGTHS("i")], validate=True)}
CASES = [  # features, indices of the record that does not fit (its values are 7, 8), the message
    (SPARSE, [1, 9], r"feature 's': index out of range: expected \[0, 4\) in 'i', got 9"),
    (SPARSE, [1], "feature 's': expected as many indices in 'i' as values in 'v', 2, got 1: Dimensions are not .*"),
    (RAGGED, [1, 4], "feature 'r': invalid partition: row_lengths must sum to 2, the number of values, got 5"),
]


def record(ids):
    return wire.example([(b"i", wire.feature("int64", ids)), (b"v", wire.feature("int64", [7, 8]))])


@pytest.fixture
def files(tmp_path):
    """Makes two files of twelve records: the one at index 10 of the second does not fit."""

    def make(ids):
        paths = [str(tmp_path / name) for name in ("ok", "A")]
        for path, at10 in zip(paths, ([0, 2], ids), strict=True):
            with tf.io.TFRecordWriter(path) as writer:
                writer.write_batch([record([1, 1])] * 10 + [record(at10), record([1, 1])])
        return paths

    return make


def shards(paths, features):
    for order in ({}, {"num_threads": 1}, {"shuffle_buffer": 5, "seed": 3}, {"deterministic": False}):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            list(tf.ShardReader(paths, features, batch_size=4, **order))
    raise caught.value


def datasets(paths, features):
    list(tf.data.TFRecordDataset(paths).batch(7).map(lambda batch: tf.io.parse_example(batch, features)))


def sliced(paths, features):
    [batch] = tf.data.TFRecordDataset(paths).batch(24)
    tf.io.parse_example(batch[22::-2], features)


def sliced_in_order(paths, features):
    [batch] = tf.data.TFRecordDataset(paths).batch(24)
    tf.io.parse_example(batch[:3], features)
    tf.io.parse_example(batch[3:], features)


def joined(paths, features):
    [batch] = tf.data.TFRecordDataset(paths).batch(24)
    tf.io.parse_example(tf._core.concatenate([batch[:2], batch[1::3]]), features)


def indexed(paths, features):
    tf.IndexedReader(paths, features).take([3, 22])


def indexed_alone(paths, features):
    tf.IndexedReader(paths, features)[22]


@pytest.mark.parametrize("read", [shards, datasets, sliced, sliced_in_order, joined, indexed, indexed_alone])
@pytest.mark.parametrize(("features", "ids", "text"), CASES, ids=["range", "length", "partition"])
def test_file_and_record_are_named(files, read, features, ids, text):
    ok, bad = files(ids)
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"^{bad}: {text} \(record 10\)$"):
        read([ok, bad], features)


@pytest.mark.parametrize(("features", "ids", "text"), CASES, ids=["range", "length", "partition"])
def test_without_a_file_the_row_is_named(features, ids, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"^{text} \(record 3\)$"):
        tf.io.parse_example([record([1, 1])] * 3 + [record(ids)], features)


@pytest.mark.parametrize(("features", "ids", "text"), CASES, ids=["range", "length", "partition"])
def test_the_error_of_one_record_names_no_row(features, ids, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"^{text}$"):
        tf.io.parse_single_example(record(ids), features)


def test_reading_on_without_errors_gives_the_same_as_parsing(files):
    """The batches that are kept for errors change neither results nor what is resumed."""
    paths = files([0, 3])
    reader = tf.ShardReader(paths, SPARSE, batch_size=5)
    batches = iter(reader)
    next(batches)
    again = tf.ShardReader(paths, SPARSE, batch_size=5)
    again.load_state_dict(json.loads(json.dumps(reader.state_dict())))
    rest = [columns["s"].indices.tolist() for columns in again]
    assert rest == [columns["s"].indices.tolist() for columns in batches] and len(rest) == 4
    records = list(tf.data.TFRecordDataset(paths))[5:10]
    assert rest[0] == tf.io.parse_example(records, SPARSE)["s"].indices.tolist()


def sequence(lengths):
    context = [(b"v", wire.feature("int64", [7, 8])), (b"i", wire.feature("int64", lengths))]
    lists = [
        (b"v", [wire.feature("int64", [1]), wire.feature("int64", [7, 8])]),
        (b"i", [wire.feature("int64", [1]), wire.feature("int64", lengths)]),
    ]
    return wire.sequence_example(context, lists)


MISFIT = r"feature 'r': invalid partition: row_lengths must sum to \d, the number of values, got \d"
PARTS = pytest.mark.parametrize("features", [(RAGGED, None), (None, RAGGED)], ids=["context", "lists"])


@pytest.fixture
def sequences(tmp_path):
    """A file of six SequenceExamples, of which number 4 does not fit."""
    with tf.io.TFRecordWriter(tmp_path / "S") as writer:
        writer.write_batch([sequence([2])] * 4 + [sequence([3]), sequence([2])])
    return str(tmp_path / "S")


@PARTS
def test_file_and_record_of_a_sequence_are_named_by_a_reader(sequences, features):
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"^{sequences}: {MISFIT} \(record 4\)$"):
        list(tf.ShardReader(sequences, features, batch_size=3))


@PARTS
def test_file_and_record_of_a_sequence_are_named_by_parsing(sequences, features):
    [batch] = tf.data.TFRecordDataset(sequences).batch(6)
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"^{sequences}: {MISFIT} \(record 4\)$"):
        tf.io.parse_sequence_example(batch, *features)


@PARTS
def test_of_one_sequence_the_feature_and_the_step_are_named(features):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^feature 'r': (step 1: )?invalid .* \(record 0\)$"):
        tf.io.parse_single_sequence_example(sequence([3]), *features)
