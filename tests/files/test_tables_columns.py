"""Columns that are asked for by name are looked for in all records; how large batches are."""

import pickle

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.files.reading.tables import TableSource

ONE = wire.feature("int64", [1])
USUAL, RARE = wire.example([(b"a", ONE)]), wire.example([(b"a", ONE), (b"rare", wire.feature("int64", [7]))])
VALUES = [None] * 10 + [7]


def write(path, records):
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(records)
    return str(path)


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "a.tfrecord", [USUAL] * 10 + [RARE])


@pytest.mark.parametrize("columns", [["rare"], ["rare", "a"], ("a", "rare")])
def test_a_column_that_the_first_records_lack_is_found(columns, path):
    table = tf.read_table(path, columns=columns, infer_records=5)
    assert table.column_names == list(columns) and table["rare"].to_pylist() == VALUES


def test_batches_have_it_too(path):
    assert tf.read_batches(path, columns=["rare"], infer_records=5).read_all()["rare"].to_pylist() == VALUES


def test_polars_and_duckdb_and_datasets_have_it_too(path):
    from tfrecord_fast.integrations import duckdb, huggingface, polars

    options = {"columns": ["rare"], "infer_records": 5}
    assert polars.scan_tfrecord(path, **options).collect()["rare"].to_list() == VALUES
    assert [value for (value,) in duckdb.from_tfrecord(path, **options).fetchall()] == VALUES
    assert huggingface.from_tfrecord(path, **options)["rare"][:] == VALUES


@pytest.mark.parametrize("late", ["context", "lists"])
def test_of_sequences_it_may_be_of_the_context_or_a_list(late, tmp_path):
    usual = wire.sequence_example([(b"a", ONE)], [(b"s", [ONE])])
    rare = wire.sequence_example(
        [(b"a", ONE), *([(b"rare", ONE)] if late == "context" else [])],
        [(b"s", [ONE]), *([(b"rare", [ONE])] if late == "lists" else [])],
    )
    path = write(tmp_path / "a", [usual] * 5 + [rare])
    found = tf.read_table(path, columns=["rare"], infer_records=3)["rare"].to_pylist()
    assert found[:5] == [None] * 5 and found[5] is not None


def test_a_column_that_no_record_has_is_refused(path):
    with pytest.raises(InvalidArgumentError, match=r"columns \['b'\] are not among the features \['a', 'rare'\]"):
        tf.read_table(path, columns=["b"], infer_records=5)


def test_a_column_that_the_first_records_have_costs_no_second_look(path, monkeypatch):
    looks = []
    infer = TableSource._infer
    monkeypatch.setattr(TableSource, "_infer", lambda self, most: looks.append(most) or infer(self, most))
    assert tf.read_batches(path, columns=["a"], infer_records=5).read_all().num_rows == 11
    assert looks == [5]


def test_the_number_of_records_to_look_at_is_checked(tmp_path):
    with pytest.raises(TypeError, match="infer_records must be an integer, got float"):
        tf.read_table(tmp_path / "a", infer_records=1.5)


def test_records_that_somebody_else_has_read(tmp_path):
    examples = tf.encode_examples({"a": [1, 2], "b": [[b"x"], []]})
    with tf.io.TFRecordWriter(str(tmp_path / "f")) as writer:
        writer.write_batch(examples)
    source = TableSource(tmp_path / "f")
    [records] = tf.ShardReader(tmp_path / "f", batch_size=10)
    assert source.over([]).parse(records).to_pylist() == tf.read_table(tmp_path / "f").to_pylist()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'a'.*record 0"):
        TableSource([], {"a": tf.FixedLenFeature([1], tf.string)}, allow_empty=True).parse(records)
    (tmp_path / "empty").touch()
    with pytest.raises(tf.errors.InvalidArgumentError, match="files without records"):
        TableSource(tmp_path / "empty").parse(records)


@pytest.mark.parametrize("features", [{}, ({}, {}), ({}, None)], ids=str)
def test_no_features_are_refused(tmp_path, features):
    """A table without columns has no rows: it would look as if there were no records."""
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"id": [1, 2]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="features must not be empty"):
        tf.read_table(tmp_path / "a", features)


def test_the_sample_that_features_come_from_is_of_files_all_over(tmp_path):
    for i in range(200):
        with tf.io.TFRecordWriter(tmp_path / f"{i:03d}") as writer:
            writer.write(wire.example([(b"%03d" % i, wire.feature("int64", [i]))]))
    names = tf.read_batches(tmp_path / "*", infer_records=64).schema.names
    assert [int(name) for name in names] == [i * 200 // 64 for i in range(64)]


@pytest.mark.parametrize("features", ["infer", {"s": tf.FixedLenFeature([], tf.string)}])
def test_a_batch_has_as_many_bytes_as_its_reader_wants(features, tmp_path):
    path = write(tmp_path / "a", [wire.example([(b"s", wire.feature("bytes", [b"x" * 1000]))])] * 5000)
    source = TableSource(path, features, batch_bytes=1 << 20)
    sizes = [batch.num_rows for batch in source]
    assert 950 < sizes[0] < 1050 and sum(sizes) == 5000
    small = TableSource(
        write(tmp_path / "b", [b""] * 5000), {"s": tf.FixedLenFeature([], tf.string, b"")}, batch_bytes=1 << 20
    )
    assert [batch.num_rows for batch in small] == [2048, 2048, 904]


INT = tf.io.FixedLenFeature([], tf.int64)


def examples(path, rows=10):
    with tf.io.ExampleWriter(path) as writer:
        writer.write({"x": np.arange(rows), "y": np.arange(rows) * 2})
    return str(path)


@pytest.mark.parametrize(
    "copied", [lambda one: one, lambda one: pickle.loads(pickle.dumps(one))], ids=["own", "pickle"]
)
def test_a_table_has_the_columns_of_its_schema(tmp_path, copied):
    pytest.importorskip("pyarrow")
    from tfrecord_fast.files.reading.tables import TableSource

    features = {"x": INT}
    source = TableSource(examples(tmp_path / "a.tfrecord"), features)
    features["y"] = INT
    source = copied(source)
    assert next(iter(source)).schema.names == source.schema.names == ["x"]
