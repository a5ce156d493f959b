"""Options of Spark's data source are checked where it is made, without a cluster."""

import pytest

pytest.importorskip("pyspark")

from pyspark.sql.types import ByteType, IntegerType, LongType, StringType, StructField, StructType

import tfrecord_fast as tf
from tfrecord_fast.integrations.spark import TFRecordDataSource


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "a path is missing"),
        ({"paths": ""}, "list of paths is empty"),
        ({"paths": "[]"}, "list of paths is empty"),
        ({"splitBytes": "0"}, "splitBytes must be at least 1"),
        ({"splitBytes": "1e6"}, "splitbytes.*1e6"),
        ({"splitBytes": str(2**70)}, "splitBytes must be below"),
        ({"inferRecords": "x"}, "inferrecords.*x"),
        ({"recordType": ""}, "one of Example"),
        ({"mergeSchema": "true"}, "unknown option 'mergeschema'"),
    ],
    ids=str,
)
def test_an_option_that_can_not_be(options, text):
    given = options if not options or "paths" in options else {"path": "x", **options}
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        TFRecordDataSource(given)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"inferRecords": "0"}, "infer_records must be at least 1"),
        ({"maxRecordBytes": "-1"}, "max_record_bytes must be at least 0"),
        ({"maxRequests": "0"}, "max_requests must be at least 1"),
        ({"onCorrupt": "x"}, "on_corrupt"),
    ],
    ids=str,
)
def test_an_option_that_no_reader_has(tmp_path, options, text):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"id": [1]})
    with pytest.raises(ValueError, match=text):
        TFRecordDataSource({"path": str(tmp_path), **options}).schema()


@pytest.mark.parametrize("name", ["plain", "a,b", "ä 😀", "a%20b", "[x]", "a=b"])
def test_a_path_may_be_called_anything(tmp_path, name):
    (tmp_path / name).mkdir()
    with tf.ExampleWriter(tmp_path / name / name, num_shards=1) as writer:
        writer.write({"id": [7]})
    for path in (tmp_path / name, tmp_path / name / name):
        source = TFRecordDataSource({"path": str(path)})
        reader = source.reader(source.schema())
        assert [row for task in reader.partitions() for batch in reader.read(task) for row in batch.to_pylist()] == [
            {"id": 7}
        ]


@pytest.mark.parametrize(("text", "kind"), [("300", ByteType()), ("99999999999", IntegerType()), ("", LongType())])
def test_a_folder_whose_value_does_not_fit_is_an_error_at_the_driver(tmp_path, text, kind):
    (tmp_path / f"k={text}").mkdir()
    with tf.ExampleWriter(tmp_path / f"k={text}" / "a") as writer:
        writer.write({"id": [7]})
    schema = StructType([StructField("id", LongType()), StructField("k", kind)])
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"'{text}' does not have type {kind.simpleString()}"):
        TFRecordDataSource({"path": str(tmp_path)}).reader(schema)
    assert TFRecordDataSource({"path": str(tmp_path)}).schema()["k"].dataType in (
        LongType(),
        IntegerType(),
        StringType(),
    )
