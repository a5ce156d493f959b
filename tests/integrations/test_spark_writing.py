"""What Spark's data source writes, reads and infers, in this process, without a cluster."""

import json
import os

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa
from pyspark.sql import types as t

import tfrecord_fast as tf
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.integrations.spark import TFRecordDataSource, schemas, writing
from tfrecord_fast.integrations.spark.options import options_of
from tfrecord_fast.integrations.spark.schemas import as_spark, check_bytes, check_written, features_of, schema_of
from tfrecord_fast.integrations.spark.writing import TFRecordWriter


class Task:
    """A task of Spark, as it knows itself."""

    number = 0

    @classmethod
    def get(cls):
        return cls()

    def partitionId(self):
        return self.number


@pytest.fixture(autouse=True)
def task(monkeypatch):
    monkeypatch.setattr(writing, "TaskContext", Task)
    monkeypatch.setattr(Task, "number", 0)


def struct(**kinds):
    return t.StructType([t.StructField(name, kind) for name, kind in kinds.items()])


LONG, TEXT, BYTES = t.LongType(), t.StringType(), t.BinaryType()


def write(folder, schema, *tasks, overwrite=False, **options):
    """Each task has some batches."""
    writer = TFRecordDataSource({"path": str(folder), **options}).writer(schema, overwrite)
    messages = []
    for number, batches in enumerate(tasks):
        Task.number = number
        messages.append(writer.write(iter(batches)))
    writer.commit([*messages, None])


def read(folder, **options):
    data = TFRecordDataSource({"path": str(folder), **options})
    reader = data.reader(data.schema())
    return [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]


def files(folder):
    found = []
    for place, _, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(place, name), folder) for name in names]
    return sorted(found)


def batch(**columns):
    return pa.RecordBatch.from_pydict(columns)


# ---- Writing ----


def test_each_task_writes_its_batches_into_one_file(tmp_path):
    write(tmp_path, struct(x=LONG, s=TEXT),
          [batch(x=[1, 2], s=["a", "b"]), batch(x=[3], s=["c"])], [batch(x=[4], s=["d"])], [])  # fmt: skip
    assert sorted((row["x"], row["s"]) for row in read(tmp_path)) == [(1, b"a"), (2, b"b"), (3, b"c"), (4, b"d")]
    manifest, *shards = files(tmp_path)
    assert manifest == "_manifest.json" and [name[:10] for name in shards] == ["part-00000", "part-00001"]
    listed = json.loads((tmp_path / manifest).read_text())["files"]
    assert [(one["name"], one["records"]) for one in listed] == [(shards[0], 3), (shards[1], 1)]


def test_rows_go_into_folders_by_their_values(tmp_path):
    schema = struct(x=LONG, y=LONG, k=TEXT)
    batches = [
        batch(x=[1, 2, 3, 4], y=[7, 8, 7, None], k=["a/b", "c", "a/b", "c"]),
        batch(x=[5, 6], y=[8, 7], k=["c", None]),
        batch(x=pa.array([], pa.int64()), y=pa.array([], pa.int64()), k=pa.array([], pa.string())),
    ]
    write(tmp_path, schema, batches, partitionBy="y, k")
    null = "__HIVE_DEFAULT_PARTITION__"
    folders = {os.path.dirname(name) for name in files(tmp_path)} - {""}
    assert folders == {"y=7/k=a%2Fb", "y=8/k=c", f"y={null}/k=c", f"y=7/k={null}"}
    rows = sorted(read(tmp_path), key=lambda row: row["x"])
    assert [(row["x"], row["y"], row["k"]) for row in rows] == [
        (1, 7, "a/b"), (2, 8, "c"), (3, 7, "a/b"), (4, None, "c"), (5, 8, "c"), (6, 7, None),
    ]  # fmt: skip
    for name in files(tmp_path)[1:]:
        assert {key for row in tf.ShardReader(str(tmp_path / name), "infer") for key in row} <= {"x"}


@pytest.mark.parametrize("codec", ["GZIP", "gzip", "org.apache.hadoop.io.compress.GzipCodec"])
def test_files_are_compressed_as_said(tmp_path, codec):
    write(tmp_path, struct(x=LONG), [batch(x=[1])], codec=codec)
    (name,) = files(tmp_path)[1:]
    assert name.endswith(".tfrecord.gz") and (tmp_path / name).read_bytes()[:2] == b"\x1f\x8b"
    assert read(tmp_path) == [{"x": 1}]


def test_what_can_not_be_written_is_said_at_once(tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"^partitionBy: column 'z' does not exist$"):
        TFRecordDataSource({"path": str(tmp_path / "a"), "partitionBy": "x,z"}).writer(struct(x=LONG, y=LONG), False)
    with pytest.raises(InvalidArgumentError, match=r"^expected one path to write to, got "):
        TFRecordWriter(options_of({"paths": "a,b"}), struct(x=LONG), False)
    for schema in (struct(x=TEXT), struct(x=BYTES, y=BYTES), struct(x=LONG)):
        with pytest.raises(InvalidArgumentError, match="recordType ByteArray needs one column, of type binary"):
            check_written(schema, "ByteArray")
    check_written(struct(x=BYTES), "ByteArray")
    with pytest.raises(InvalidArgumentError, match="column 'd': Example can't hold values of type date"):
        check_written(struct(x=LONG, d=t.DateType()), "Example")
    assert os.listdir(tmp_path) == []


# ---- Types ----


def test_records_are_read_as_one_column_of_bytes_or_text():
    check_bytes(struct(x=BYTES), t.BinaryType, t.StringType)
    check_bytes(struct(x=TEXT), t.BinaryType, t.StringType)
    for schema, shown in (
        (struct(x=LONG), "struct<x:bigint>"),
        (struct(x=BYTES, y=BYTES), "struct<x:binary,y:binary>"),
    ):
        with pytest.raises(InvalidArgumentError, match=f"needs one column, of type binary, got {shown}"):
            check_bytes(schema, t.BinaryType, t.StringType)


def test_features_are_those_of_the_columns():
    deep = t.ArrayType(t.ArrayType(TEXT))
    wanted = {"x": tf.FixedLenFeature([], tf.int64), "f": tf.VarLenFeature(tf.float32)}
    assert features_of(struct(x=LONG, f=t.ArrayType(t.DoubleType())), "Example") == wanted
    assert features_of(struct(x=t.BooleanType(), s=deep), "SequenceExample") == (
        {"x": tf.FixedLenFeature([], tf.int64)},
        {"s": tf.VarLenFeature(tf.string)},
    )
    with pytest.raises(
        InvalidArgumentError, match=r"column 's': Example can't hold values of type array<array<string>>"
    ):
        features_of(struct(s=deep), "Example")
    with pytest.raises(
        InvalidArgumentError, match="column 's': SequenceExample can't hold values of type array<array<arr"
    ):
        features_of(struct(s=t.ArrayType(deep)), "SequenceExample")


def test_columns_are_those_of_the_features():
    pair = (
        {
            "a": tf.FixedLenFeature([], tf.int64),
            b"b": tf.FixedLenFeature([2], tf.float32),
            "c": tf.VarLenFeature(tf.string),
        },
        {"d": tf.VarLenFeature(tf.int64), "e": tf.FixedLenFeature([], tf.string)},
    )
    flat = {"a": LONG, "b": t.ArrayType(t.FloatType()), "c": t.ArrayType(BYTES)}
    assert schema_of(pair[0]) == struct(**flat)
    found = schema_of(pair)
    assert found.fields[:3] == struct(**flat).fields
    assert all(isinstance(one.dataType, t.ArrayType) for one in found.fields[3:])


@pytest.mark.parametrize(
    ("column", "kind", "expected"),
    [
        (pa.array([1, 0, None]), t.BooleanType(), [True, False, None]),
        (pa.array([[1, 0], [], None]), t.ArrayType(t.BooleanType()), [[True, False], [], None]),
        (pa.array([[[1], [0, 1]]]), t.ArrayType(t.ArrayType(t.BooleanType())), [[[True], [False, True]]]),
        (pa.array([127, -128]), t.ByteType(), [127, -128]),
        (pa.array([b"a"]), TEXT, ["a"]),
        (pa.array([0.5], pa.float32()), t.DoubleType(), [0.5]),
    ],
)
def test_values_become_those_of_spark(column, kind, expected):
    assert as_spark(column, t.StructField("x", kind), "here").to_pylist() == expected


@pytest.mark.parametrize(
    ("column", "kind", "nullable", "said"),
    [
        (pa.array([1, 2]), t.BooleanType(), True, "not of type boolean: 2 is neither 0 nor 1"),
        (
            pa.array([[0], [1, -1]]),
            t.ArrayType(t.BooleanType()),
            True,
            "not of type array<boolean>: -1 is neither 0 nor 1",
        ),
        (pa.array([128]), t.ByteType(), True, "not of type tinyint: "),
        (pa.array([b"\xff"]), TEXT, True, "not of type string: "),
        (pa.array([1, None]), LONG, False, "not nullable"),
    ],
)
def test_a_value_that_does_not_fit_is_named(column, kind, nullable, said):
    with pytest.raises(InvalidArgumentError) as caught:
        as_spark(column, t.StructField("x", kind, nullable), "file, record")
    assert str(caught.value).startswith(f"file, record: column 'x': {said}")
    assert schemas.RECORD_TYPES == ("Example", "SequenceExample", "ByteArray")


# ---- Options ----


@pytest.mark.parametrize(
    ("text", "codec"),
    [("gzip", "GZIP"), ("ZLIB", "ZLIB"), ("deflate", "ZLIB"), ("zstandard", "ZSTD"), ("none", ""), ("uncompressed", ""),
     ("org.apache.hadoop.io.compress.DefaultCodec", "ZLIB"), ("org.apache.hadoop.io.compress.DeflateCodec", "ZLIB"),
     ("org.apache.hadoop.io.compress.ZStandardCodec", "ZSTD"), ("org.apache.hadoop.io.compress.SnappyCodec", "SNAPPY")],
)  # fmt: skip
def test_codecs_have_hadoops_names_too(text, codec):
    assert options_of({"path": "a", "codec": text}).compression == codec
    assert options_of({"path": "a", "compression": text}).compression == codec


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("codec", "lz5", "option 'codec': expected one of .*, or Hadoop's name for it, got 'lz5'"),
        ("verifyCrc", "yes", "option 'verifycrc': expected true or false, got 'yes'"),
        ("recordType", "Row", "option 'recordtype': expected one of Example, SequenceExample, ByteArray, got 'Row'"),
    ],
)
def test_a_value_that_an_option_can_not_have_is_named(name, value, said):
    with pytest.raises(InvalidArgumentError, match=said):
        options_of({"path": "a", name: value})


def test_options_are_what_is_said():
    found = options_of({
        "path": "a", "recordType": "sequenceexample", "inferRecords": "All", "splitBytes": "7", "verifyCrc": "FALSE",
        "onCorrupt": "skip", "maxRecordBytes": "9", "maxRequests": "3", "storage.key": "k", "partitionBy": " a ,,b",
    })  # fmt: skip
    assert (found.paths, found.record_type, found.infer_records, found.split_bytes) == (
        ["a"],
        "SequenceExample",
        None,
        7,
    )
    assert found.reader == {"verify_crc": False, "on_corrupt": "skip", "max_record_bytes": 9, "max_requests": 3}
    assert found.storage == {"key": "k"} and found.partition_by == ("a", "b") and found.compression is None
    assert options_of({"path": "a", "verifyCrc": "True", "inferRecords": "5"}).reader == {"verify_crc": True}
    assert (
        options_of({"path": "a"}).storage is None and options_of({"path": "a", "inferRecords": "5"}).infer_records == 5
    )
    assert options_of({"path": "x", "paths": '["a,b", "c"]'}).paths == ["a,b", "c"]
    assert options_of({"paths": "a, b"}).paths == ["a", "b"] and options_of({"paths": "[1]"}).paths == ["[1]"]
