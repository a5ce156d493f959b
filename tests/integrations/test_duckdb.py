"""Files as relations of DuckDB."""

import duckdb
import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.integrations.duckdb import from_tfrecord


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tf.ExampleWriter(path) as writer:
        writer.write(
            {
                "id": np.arange(1000),
                "x": np.arange(1000, dtype=np.float32) / 2,
                "text": [f"a text that is longer than twelve bytes {i}" for i in range(1000)],
                "tags": [["t"] * (i % 3) for i in range(1000)],
                "box": np.arange(2000, dtype=np.float32).reshape(1000, 2),
            }
        )
    return str(path)


@pytest.fixture
def connection():
    with duckdb.connect() as connection:
        yield connection


def test_a_relation_is_queried_again_and_again(path, connection):
    rows = from_tfrecord(path, connection=connection)
    for _ in range(2):
        assert rows.filter("id >= 998").project("x").fetchall() == [(499.0,), (499.5,)]
        assert rows.aggregate("count(*), sum(id)").fetchall() == [(1000, 999 * 500)]


def test_all_kinds_of_columns_arrive(path, connection):
    [row] = from_tfrecord(path, connection=connection).filter("id = 2").fetchall()
    assert row == ((4.0, 5.0), 2, [b"t", b"t"], b"a text that is longer than twelve bytes 2", 1.0)


def test_a_relation_is_a_view_in_sql(path, connection):
    from_tfrecord(path, connection=connection).create_view("clicks")
    query = "select count(*) from clicks a join clicks b using (id) where decode(a.text) like '% 77'"
    assert connection.sql(query).fetchall() == [(1,)]


def test_a_relation_of_the_default_connection(path):
    clicks = from_tfrecord(path, columns=["id"])  # noqa: F841
    assert duckdb.sql("select max(id) from clicks").fetchall() == [(999,)]


def test_batches_are_a_relation_once(path, connection):
    connection.register("clicks", tf.read_batches(path, batch_size=100))
    assert connection.sql("select sum(id) from clicks").fetchall() == [(999 * 500,)]


def test_a_table_is_a_relation(path, connection):
    connection.register("clicks", tf.read_table(path))
    for _ in range(2):
        query = "select count(*) from clicks where len(tags) = 2"
        assert connection.sql(query).fetchall() == [(333,)]


def test_an_error_of_a_record_is_the_querys(tmp_path, connection):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"id": [[1], [2, 3]]})
    rows = from_tfrecord(tmp_path / "a", {"id": tf.FixedLenFeature([], tf.int64)}, connection=connection)
    with pytest.raises(duckdb.Error, match=r"feature 'id'.*record 1\)"):
        rows.fetchall()
