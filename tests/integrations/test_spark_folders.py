"""Folders `key=value` are columns of Spark, wherever the files lie and however they are named."""

import os
import pickle

import numpy as np
import pytest
from pyspark.sql.datasource import EqualTo
from pyspark.sql.types import (
    FloatType,
    IntegerType,
    LongType,
    StructField,
    StructType,
)

import tfrecord_fast as tf
from tests.integrations.spark_kit import load
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.integrations.spark import TFRecordDataSource
from tfrecord_fast.integrations.spark.folders import folder_name, typed
from tfrecord_fast.integrations.spark.reading import _condition


@pytest.fixture
def days(tmp_path, monkeypatch):
    """Two folders of days, in one that looks like a column, too."""
    folder = tmp_path / "run=3" / "days"
    for day in (1, 2):
        (folder / f"day={day}").mkdir(parents=True)
        for number in range(2):
            with tf.ExampleWriter(folder / f"day={day}" / f"{number}.tfrecord", num_shards=1) as writer:
                writer.write({"id": [day * 10 + number]})
    monkeypatch.chdir(folder.parent)
    return folder


def reader_of(*paths, **options):
    source = TFRecordDataSource({"paths": ",".join(map(str, paths)), **options})
    return source.reader(source.schema())


def values_of(reader):
    return sorted(values for task in reader.partitions() for _, values in task.pieces)


@pytest.mark.parametrize("name", ["{0}", "{0}/", "file://{0}", "days", "./days", "days//", "{0}/*/*", "days/day=*/0*"])
def test_columns_are_those_of_folders_below_the_one_that_was_named(days, name):
    reader = reader_of(name.format(days))
    assert reader._names == {"day"} and set(values_of(reader)) == {(1,), (2,)}


@pytest.mark.parametrize("name", ["days/day=1", "days/day=1/0.tfrecord", "{0}/day=1/1.tfrecord", "days/day=1/*"])
def test_those_that_were_named_are_no_columns(days, name):
    assert reader_of(name.format(days))._names == set()


def test_files_that_are_in_no_folder_are_named(days):
    with tf.ExampleWriter(days / "lost") as writer:
        writer.write({"id": [1]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="different columns"):
        reader_of(days)
    source = TFRecordDataSource({"path": str(days)})
    schema = TFRecordDataSource({"path": str(days / "day=1")}).schema().add("day", IntegerType())
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"lost is not in a folder day="):
        source.reader(schema)


def test_folders_share_tasks_and_a_task_knows_only_its_files(days):
    reader = reader_of(days)
    [task] = reader.partitions()
    assert len(task.pieces) == 2
    again, [task] = pickle.loads(pickle.dumps((reader, [task])))
    rows = [row for batch in again.read(task) for row in batch.to_pylist()]
    assert sorted((row["id"], row["day"]) for row in rows) == [(10, 1), (11, 1), (20, 2), (21, 2)]
    assert b".tfrecord" not in pickle.dumps(reader)
    size = os.path.getsize(days / "day=1" / "0.tfrecord")
    assert [len(one.pieces) for one in reader_of(days, splitBytes=str(2 * size)).partitions()] == [1, 1]


def test_a_filter_that_leaves_no_folder_leaves_no_rows(spark, days):
    assert load(spark, days).where("day = 7").collect() == []
    assert load(spark, days).where("day = 7").count() == 0


def test_filters_that_are_not_taken_are_left_to_spark(days):
    reader = reader_of(days)
    mine, other = EqualTo(("day",), 2), EqualTo(("id",), 10)
    assert list(reader.pushFilters([mine, other])) == [other] and set(values_of(reader)) == {(2,)}


def test_only_columns_of_folders(days):
    reader = TFRecordDataSource({"path": str(days)}).reader(StructType([StructField("day", IntegerType())]))
    batches = [batch for task in reader.partitions() for batch in reader.read(task)]
    assert sorted(row["day"] for batch in batches for row in batch.to_pylist()) == [1, 1, 2, 2]


@pytest.mark.parametrize("value", [b"\xff", [1], {"a": 1}])
def test_what_no_folder_can_be_called_is_an_error(value):
    with pytest.raises(tf.errors.InvalidArgumentError, match="partitionBy: column 'k'"):
        folder_name("k", value)


def test_spark_refuses_folders_that_leave_no_column(tmp_path):
    """Rows without a column would be lost."""
    schema = StructType([StructField("year", LongType())])
    with pytest.raises(InvalidArgumentError, match="partitionBy names all columns"):
        TFRecordDataSource({"path": str(tmp_path / "out"), "partitionBy": "year"}).writer(schema, True)


def test_spark_filters_a_folder_of_floats_as_it_reads_it():
    value = typed("0.1", FloatType())
    wanted = float(np.float32(0.1))  # as Spark hands a literal of type float over
    assert _condition(EqualTo(("f",), wanted), ["f"])((value,))
