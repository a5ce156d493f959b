"""Spark reads and writes files: see tests/contracts/test_engines.py for what all engines promise."""

import glob
import os

import pytest
from pyspark.sql import functions as f

import tfrecord_fast as tf
from tests.integrations.spark_kit import load, rows
from tests.support.engine_rows import columns_of
from tests.support.frames import frames

SCHEMA = "id BIGINT, price DOUBLE, name STRING, tags ARRAY<STRING>, counts ARRAY<INT>, maybe INT, none FLOAT"


def test_a_schema_says_the_types(spark, written):
    frame = load(spark, written(), SCHEMA)
    found = frame.where("id < 5").orderBy("id").collect()
    columns = columns_of(0)
    for i, row in enumerate(found[:5]):
        assert row.id == i and row.name == columns["name"][i].decode() and row.price == columns["price"][i]
        assert row.tags == [tag.decode() for tag in columns["tags"][i]] or row.tags is None
        assert row.maybe == columns["maybe"][i] and row.none is None
        assert row.counts == columns["counts"][i] or row.counts is None


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("name INT", "name"),
        ("id BIGINT NOT NULL, maybe BIGINT NOT NULL", "maybe.*lacks"),
        ("id TINYINT", "id.*tinyint"),
        ("id TIMESTAMP", "id.*timestamp"),
        ("id ARRAY<ARRAY<BIGINT>>", "id"),
    ],
)
def test_what_does_not_fit_is_an_error_with_the_file(spark, written, schema, text):
    with pytest.raises(Exception, match=f"(?s){text}"):
        load(spark, written(), schema).collect()


def test_records_that_are_not_parsed(spark, tmp_path):
    records = [b"a", b"", b"\xff\0"]
    (tmp_path / "x").write_bytes(frames(records))
    frame = load(spark, tmp_path / "x", recordType="ByteArray")
    assert [bytes(row.byteArray) for row in frame.collect()] == records
    frame.write.format("tfrecord").mode("append").option("recordType", "ByteArray").save(str(tmp_path / "out"))
    found = tf.ShardReader(sorted(glob.glob(f"{tmp_path}/out/part-*")))
    assert sorted(record for batch in found for record in batch.tolist()) == sorted(records)


def test_several_paths(spark, tmp_path):
    names = [str(tmp_path / name) for name in ("a", "b,c", "d")]
    for number, name in enumerate(names):
        with tf.ExampleWriter(name) as writer:
            writer.write({"id": [number]})
    read = spark.read.format("tfrecord")
    for found, numbers in [
        (read.load(names), [0, 1, 2]),
        (read.load(names[1]), [1]),
        (read.option("paths", f"{names[0]}, {names[2]}").load(), [0, 2]),
        (spark.read.format("tfrecord").load(str(tmp_path / "[ad]")), [0, 2]),
    ]:
        assert sorted(row.id for row in found.collect()) == numbers


def test_sequences(spark, tmp_path):
    data = [("a", [[1, 2], [3]], [["x"], []]), ("b", [[4]], [["y", "z"]])]
    frame = spark.createDataFrame(data, "id STRING, numbers ARRAY<ARRAY<BIGINT>>, words ARRAY<ARRAY<STRING>>")
    frame.write.format("tfrecord").mode("append").option("recordType", "SequenceExample").save(str(tmp_path / "out"))
    again = load(spark, tmp_path / "out", frame.schema, recordType="SequenceExample")
    found = {row.id: (row.numbers, row.words) for row in again.collect()}
    assert found == {"a": ([[1, 2], [3]], [["x"], []]), "b": ([[4]], [["y", "z"]])}
    inferred = load(spark, tmp_path / "out", recordType="SequenceExample")
    assert dict(inferred.dtypes) == {"id": "binary", "numbers": "array<array<bigint>>", "words": "array<array<binary>>"}
    assert inferred.count() == 2


@pytest.mark.parametrize("codec", [None, "gzip", "org.apache.hadoop.io.compress.ZStandardCodec"])
def test_what_is_written_is_read_again(spark, tmp_path, written, codec):
    frame = load(spark, written()).repartition(3)
    writer = frame.write.format("tfrecord").mode("overwrite")
    (writer if codec is None else writer.option("codec", codec)).save(str(tmp_path / "out"))
    again = load(spark, tmp_path / "out")
    assert rows(again.select(sorted(again.columns))) == rows(frame.select(sorted(again.columns)))
    names = os.listdir(tmp_path / "out")
    assert len(names) == 4 and sum(name.startswith("part-") for name in names) == 3 and "_manifest.json" in names


def test_append_and_overwrite(spark, tmp_path):
    out = str(tmp_path / "out")
    for mode, count in [("append", 10), ("append", 20), ("overwrite", 10)]:
        spark.range(10).write.format("tfrecord").mode(mode).save(out)
        assert load(spark, out).count() == count
        assert tf.ShardReader(tf.ShardList(f"{out}/_manifest.json")).num_records == count


def test_folders_are_columns_and_are_pruned(spark, tmp_path):
    out = str(tmp_path / "out")
    frame = spark.range(100).select("id", (f.col("id") % 3).alias("k"), f.when(f.col("id") < 50, "a/b").alias("s"))
    frame.write.format("tfrecord").mode("append").option("partitionBy", "k,s").save(out)
    assert sorted(os.listdir(out)) == ["_manifest.json", "k=0", "k=1", "k=2"]
    assert sorted(os.listdir(f"{out}/k=0")) == ["s=__HIVE_DEFAULT_PARTITION__", "s=a%2Fb"]
    again = load(spark, out)
    assert dict(again.dtypes) == {"id": "bigint", "k": "int", "s": "string"}
    assert sorted(map(tuple, again.select("id", "k", "s").collect()), key=str) == sorted(
        map(tuple, frame.collect()), key=str
    )
    for path in glob.glob(f"{out}/k=1/*/part-*"):
        with open(path, "wb") as file:
            file.write(b"damaged")
    assert again.where("k = 2").count() == 33 and again.where("k in (0, 2) and s is null").count() == 34
    with pytest.raises(Exception, match="k=1"):
        again.where("k > 0").collect()


def test_a_write_that_fails_leaves_nothing(spark, tmp_path):
    @f.udf("bigint")
    def fail(x):
        if x == 77:
            raise RuntimeError("mine")
        return x

    out = tmp_path / "out"
    with pytest.raises(Exception, match="mine"):
        spark.range(100, numPartitions=4).select(fail("id").alias("x")).write.format("tfrecord").mode("append").save(
            str(out)
        )
    assert not out.exists()
    spark.range(3).write.format("tfrecord").mode("append").save(str(out))
    before = sorted(os.listdir(out))
    with pytest.raises(Exception, match="mine"):
        spark.range(100).select(fail("id").alias("x")).write.format("tfrecord").mode("overwrite").save(str(out))
    assert sorted(os.listdir(out)) == before


def test_what_no_record_holds_is_refused_at_the_driver(spark, tmp_path):
    with pytest.raises(Exception, match=r"x.*timestamp"):
        spark.sql("select now() as x").write.format("tfrecord").mode("append").save(str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
