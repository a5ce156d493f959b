"""Folders, filters and batches of Spark's data source, in this process, without a cluster."""

import datetime

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import types as t
from pyspark.sql.datasource import EqualTo, GreaterThan, In, InputPartition, IsNotNull, IsNull

import tfrecord_fast as tf
from tests.support.frames import frames
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.files.stores.cache import store_settings
from tfrecord_fast.files.streams.listing import listed_parts
from tfrecord_fast.integrations.spark import TFRecordDataSource
from tfrecord_fast.integrations.spark.folders import NULL, FolderValues, folder_columns, folder_name, typed

FOLDERS = ["k=1/d=a", "k=1/d=b", "k=2/d=a", f"k={NULL}/d=b"]


@pytest.fixture
def folders(tmp_path):
    for number, name in enumerate(FOLDERS):
        (tmp_path / name).mkdir(parents=True)
        with tf.ExampleWriter(tmp_path / name / "part") as writer:
            writer.write({"x": [number]})
    return tmp_path


def rows(reader):
    return [row for task in reader.partitions() for batch in reader.read(task) for row in batch.to_pylist()]


def filtered(folders, *filters):
    data = TFRecordDataSource({"path": str(folders)})
    reader = data.reader(data.schema())
    left = list(reader.pushFilters(list(filters)))
    return sorted(row["x"] for row in rows(reader)), left


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ([], [0, 1, 2, 3]),
        ([EqualTo(("k",), 1)], [0, 1]),
        ([EqualTo(("k",), 3)], []),
        ([In(("k",), (2, 3))], [2]),
        ([In(("d",), ("a", "b"))], [0, 1, 2, 3]),
        ([IsNull(("k",))], [3]),
        ([IsNotNull(("k",))], [0, 1, 2]),
        ([IsNull(("d",))], []),
        ([IsNotNull(("d",)), EqualTo(("d",), "b")], [1, 3]),
        ([EqualTo(("k",), 1), EqualTo(("d",), "a")], [0]),
        ([EqualTo(("k",), None)], []),
    ],
)
def test_filters_of_folders_are_taken(folders, filters, expected):
    assert filtered(folders, *filters) == (expected, [])


@pytest.mark.parametrize("one", [GreaterThan(("k",), 1), EqualTo(("x",), 1), IsNull(("x",)), EqualTo(("k", "d"), 1)])
def test_other_filters_are_left_to_spark(folders, one):
    assert filtered(folders, one) == ([0, 1, 2, 3], [one])
    assert filtered(folders, one, EqualTo(("k",), 2)) == ([2], [one])


def test_a_task_without_files_gives_nothing(folders):
    data = TFRecordDataSource({"path": str(folders)})
    assert list(data.reader(data.schema()).read(InputPartition(None))) == []


@pytest.mark.parametrize("count", [0, 1, 1024, 1025, 3000])
def test_records_come_in_batches(tmp_path, count):
    (tmp_path / "k=7").mkdir()
    (tmp_path / "k=7" / "a").write_bytes(frames([b"%d" % i for i in range(count)]))
    data = TFRecordDataSource({"path": str(tmp_path), "recordType": "ByteArray"})
    schema = t.StructType([t.StructField("byteArray", t.BinaryType()), t.StructField("k", t.IntegerType())])
    assert data.schema() == schema
    assert rows(data.reader(schema)) == [{"byteArray": b"%d" % i, "k": 7} for i in range(count)]
    text = t.StructType([t.StructField("k", t.LongType()), t.StructField("other", t.StringType())])
    assert rows(data.reader(text)) == [{"k": 7, "other": str(i)} for i in range(count)]


def test_a_column_that_is_in_a_folder_too_is_the_folders(tmp_path):
    (tmp_path / "x=5").mkdir()
    with tf.ExampleWriter(tmp_path / "x=5" / "a") as writer:
        writer.write({"x": [1], "y": [2]})
    data = TFRecordDataSource({"path": str(tmp_path)})
    assert data.schema().names == ["y", "x"] and rows(data.reader(data.schema())) == [{"y": 2, "x": 5}]


def pairs_of(tmp_path, named, *names):
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(frames([b"x"]))
    paths = [str(tmp_path / one) for one in named]
    return list(map(FolderValues(paths).of, listed_parts(paths, store_settings(None))))


def test_values_are_those_below_what_was_named(tmp_path):
    name = "a=1/b=x%2Fy/c/part"
    assert pairs_of(tmp_path, ["a=1/b=x%2Fy"], name) == [()]
    assert pairs_of(tmp_path, ["a=1"], name) == [(("b", "x/y"),)]
    assert pairs_of(tmp_path, [""], name) == [(("a", "1"), ("b", "x/y"))]
    assert pairs_of(tmp_path, ["*/*/c/part"], name) == [(("a", "1"), ("b", "x/y"))]
    assert pairs_of(tmp_path, ["a=1/*/c/*"], name) == [(("b", "x/y"),)]
    assert pairs_of(tmp_path, [name], name) == [()]


def columns(*values):
    (field,) = folder_columns([(("k", value),) for value in values]).fields
    return type(field.dataType)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "-2"], t.IntegerType),
        ([str(2**31 - 1)], t.IntegerType),
        (["1", str(2**31)], t.LongType),
        ([str(2**63 - 1)], t.LongType),
        ([str(2**63)], t.StringType),
        (["1", "1.5", "-2e3"], t.DoubleType),
        (["1", NULL], t.IntegerType),
        ([NULL, NULL], t.StringType),
        (["2024-01-02", NULL], t.DateType),
        (["2024-01-02", "2024-13-01"], t.StringType),
        (["2024-01-02", "x"], t.StringType),
        (["20240102", "2024-01-02"], t.StringType),
        (["", "1"], t.StringType),
    ],
)
def test_columns_have_the_narrowest_type(values, kind):
    assert columns(*values) is kind


def test_all_files_have_the_same_folders():
    with pytest.raises(InvalidArgumentError, match=r"^folders have different columns: \['a'\] and \['b'\]$"):
        folder_columns([(("a", "1"),), (("b", "1"),)])
    assert folder_columns([]).fields == [] and folder_columns([(), ()]).fields == []
    assert folder_columns([(("a", "1"), ("b", "x")), (("a", "2"), ("b", "3"))]).names == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("2024-01-02", t.DateType(), datetime.date(2024, 1, 2)),
        (NULL, t.DateType(), None),
        ("x", t.StringType(), "x"),
        ("ä", t.BinaryType(), "ä".encode()),
        ("1.5", t.DoubleType(), 1.5),
        ("1.5", t.FloatType(), 1.5),
        ("true", t.BooleanType(), True),
        ("False", t.BooleanType(), False),
        ("127", t.ByteType(), 127),
        ("-128", t.ByteType(), -128),
        ("32767", t.ShortType(), 32767),
        (str(-(2**31)), t.IntegerType(), -(2**31)),
        (str(2**63 - 1), t.LongType(), 2**63 - 1),
    ],
)
def test_a_value_is_of_its_type(text, kind, value):
    assert typed(text, kind) == value and type(typed(text, kind)) is type(value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2024-1-2", t.DateType()),
        ("128", t.ByteType()),
        ("-129", t.ByteType()),
        ("32768", t.ShortType()),
        (str(2**31), t.IntegerType()),
        (str(2**63), t.LongType()),
        ("x", t.DoubleType()),
        ("1.5", t.IntegerType()),
        ("yes", t.BooleanType()),
    ],
)
def test_a_value_that_is_of_another_type_is_named(text, kind):
    with pytest.raises(InvalidArgumentError, match=f"^folder value '{text}' does not have type {kind.simpleString()}$"):
        typed(text, kind)


def test_names_of_folders_are_escaped():
    text = "".join(map(chr, [0, 31, 127])) + "\"#%'*/:=?\\{[]^ aä"
    assert folder_name("k=", text) == "k%3D=%00%1F%7F%22%23%25%27%2A%2F%3A%3D%3F%5C%7B%5B%5D%5E aä"
    values = (False, 7, 1.5, b"home", datetime.date(2024, 1, 2), "", b"", None)
    names = ["false", "7", "1.5", "home", "2024-01-02", *[NULL] * 3]
    assert [folder_name("k", value) for value in values] == [f"k={name}" for name in names]
