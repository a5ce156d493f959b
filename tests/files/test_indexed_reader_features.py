"""IndexedReader with features: columns and values instead of bytes."""

import pickle

import pytest

import tfrecord_fast as tf
from tests.support.index_files import write
from tests.support.wire_writer import example, feature
from tfrecord_fast import IndexedReader
from tfrecord_fast.errors import InvalidArgumentError

FEATURES = {
    "id": tf.FixedLenFeature([], tf.int64),
    "name": tf.FixedLenFeature([], tf.string),
    "list": tf.VarLenFeature(tf.float32),
}


def examples(count):
    return [
        example(
            [
                (b"id", feature("int64", [i])),
                (b"name", feature("bytes", [b"n%d" % i])),
                (b"list", feature("float", [0.5] * (i % 4))),
            ]
        )
        for i in range(count)
    ]


@pytest.fixture
def reader(tmp_path):
    """500 Examples in two files."""
    records = examples(500)
    return IndexedReader(write(tmp_path, [records[:300], records[300:]]), FEATURES)


def test_take_gives_columns(reader):
    got = reader.take([400, 3, 3, -1])
    assert got["id"].tolist() == [400, 3, 3, 499]
    assert got["name"].tolist() == [b"n400", b"n3", b"n3", b"n499"]
    assert got["list"].row_splits.tolist() == [0, 0, 3, 6, 9]


def test_a_slice_gives_columns(reader):
    assert reader[10:13]["id"].tolist() == [10, 11, 12]


def test_one_record_gives_values(reader):
    assert (reader[7]["id"], reader[7]["name"], reader[7]["list"].values.tolist()) == (7, b"n7", [0.5] * 3)


def test_a_list_of_records_gives_the_values_of_each(reader):
    assert [item["id"] for item in reader.__getitems__([4, 2])] == [4, 2]


def test_iterating_gives_the_values_of_each(reader):
    assert [item["id"] for item in reader] == list(range(500))


@pytest.mark.parametrize("read", [lambda r: r[1], lambda r: r.take([0, 1]), lambda r: r.__getitems__([0, 1]), list])
def test_record_that_does_not_fit_is_named(tmp_path, read):
    records = examples(2)
    records[1] = example([(b"id", feature("bytes", [b"x"]))])
    paths = write(tmp_path, [records])
    with pytest.raises(InvalidArgumentError, match=f"(?s){paths[0]}.*record 1"):
        read(IndexedReader(paths, FEATURES))


@pytest.mark.parametrize(
    ("features", "error"), [({"id": tf.FixedLenFeature([], "no such type")}, TypeError), ({}, ValueError)]
)
def test_features_that_make_no_sense_are_refused_immediately(features, error):
    with pytest.raises(error):
        IndexedReader("never opened", features)


@pytest.fixture
def inferring(tmp_path):
    """A reader that finds out for itself what 2,000 records hold: x = i, s = "i"."""
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"x": list(range(2000)), "s": [b"%d" % i for i in range(2000)]})
    return IndexedReader(tmp_path / "a", "infer")


def test_features_are_inferred_for_one_record(inferring):
    assert inferring[3] == {"s": b"3", "x": 3}


def test_features_are_inferred_for_many_records(inferring):
    assert inferring.take([5, 1])["x"].tolist() == [5, 1]


def test_features_are_inferred_for_a_list_of_records(inferring):
    assert inferring.__getitems__([7])[0]["s"] == b"7"


def test_reader_with_features_pickles(tmp_path):
    reader = IndexedReader(write(tmp_path, [examples(5)]), FEATURES)
    assert pickle.loads(pickle.dumps(reader))[3]["id"] == 3
