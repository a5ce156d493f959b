"""Every real file of Examples and SequenceExamples: read as columns, encoded, read again."""

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.real_files import manifest

FILES = {
    kind: [row["file"] for row in manifest() if row["kind"] == kind and not row["tf_error"]]
    for kind in ("Example", "SequenceExample")
}


def assert_same(ours, expected):
    assert ours.keys() == expected.keys()
    for key, column in ours.items():
        other = expected[key]
        assert type(column) is type(other)
        if isinstance(column, tf.sparse.SparseTensor):
            assert column.shape == other.shape and np.array_equal(column.indices, other.indices)
            column, other = column.values, other.values
        if isinstance(column, tf.BytesArray):
            assert column.tolist() == other.tolist()
        else:
            np.testing.assert_array_equal(column, other)


def read(path):
    return tf._core.concatenate(list(tf.data.TFRecordDataset(path).batch(1000)))


def test_there_are_files_of_both_kinds(data_dir):
    assert len(FILES["Example"]) > 20 and len(FILES["SequenceExample"]) >= 3


@pytest.mark.parametrize("name", FILES["Example"] or ["no files here"])
def test_a_file_of_examples_makes_the_round_trip(name, data_dir):
    records = read(data_dir / name)
    features = tf.infer_features(records, max_records=None)
    columns = tf.parse_example(records, features)
    encoded = tf.encode_examples(columns)
    assert len(encoded) == len(records)
    assert_same(tf.parse_example(encoded, features), columns)
    assert tf.encode_examples(tf.parse_example(encoded, features)).tolist() == encoded.tolist()


@pytest.mark.parametrize("name", FILES["SequenceExample"] or ["no files here"])
def test_a_file_of_sequence_examples_makes_the_round_trip(name, data_dir):
    records = read(data_dir / name)
    context, lists = tf.io.infer_sequence_features(records, max_records=None)
    columns, sequences, lengths = tf.parse_sequence_example(records, context, lists)
    encoded = tf.encode_sequence_examples(columns, sequences, lengths=lengths)
    assert len(encoded) == len(records)
    again = tf.parse_sequence_example(encoded, context, lists)
    assert_same(again[0], columns)
    assert_same(again[1], sequences)
    assert_same(again[2], lengths)
