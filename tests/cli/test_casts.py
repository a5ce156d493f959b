"""Parquet to TFRecord and back to Parquet: the schema and the values are those of the source."""

import datetime
from decimal import Decimal

import pytest

from tfrecord_fast.cli import main

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

MOMENT = datetime.datetime(2020, 1, 2, 3, 4, 5, 678901)
PLAIN = {
    "z": pa.array(["a", None, "ü"]),
    "large": pa.array(["a", "b", "c"], pa.large_string()),
    "bytes": pa.array([b"\xff", None, b""]),
    "three": pa.array([b"abc", b"def", None], pa.binary(3)),
    "flag": pa.array([True, None, False]),
    "small": pa.array([1, -2, None], pa.int8()),
    "unsigned": pa.array([1, 2, 2**40], pa.uint64()),
    "float": pa.array([0.1, None, float("inf")], pa.float32()),
    "double": pa.array([0.5, None, 2.0**100], pa.float64()),
    "list": pa.array([[1, 2], None, []], pa.list_(pa.int32())),
    "one": pa.array([[1], [2], None], pa.list_(pa.int64())),
    "fixed": pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float32(), 2)),
    "words": pa.array([["a"], [], ["b", "c"]], pa.list_(pa.string())),
    "category": pa.array(["x", "y", "x"]).dictionary_encode(),
    "nothing": pa.array([None, None, None], pa.int64()),
}
TIMES = {
    "moment": pa.array([MOMENT, None, MOMENT], pa.timestamp("us")),
    "zoned": pa.array([MOMENT, None, MOMENT], pa.timestamp("ns", "UTC")),
    "date": pa.array([MOMENT.date(), None, MOMENT.date()]),
    "date64": pa.array([MOMENT.date(), None, MOMENT.date()], pa.date64()),
    "time": pa.array([MOMENT.time(), None, datetime.time()], pa.time64("us")),
    "decimal": pa.array([Decimal("1.50"), None, Decimal("-12345.67")], pa.decimal128(12, 2)),
}


def back(tmp_path, table, name, *options):
    """The table after it was written to TFRecord and back, and the path of its source."""
    source = tmp_path / f"in.{name}"
    if name == "parquet":
        parquet.write_table(table, source)
    else:
        with pa.ipc.new_file(source, table.schema) as writer:
            writer.write_table(table)
    assert main(["convert", str(source), str(tmp_path / "a.tfrecord"), *options]) == 0
    arguments = [str(tmp_path / "a.tfrecord"), str(tmp_path / f"back.{name}"), "--schema", str(source)]
    assert main(["convert", *arguments]) == 0
    if name == "parquet":
        return parquet.read_table(tmp_path / "back.parquet"), parquet.read_table(source)
    return pa.ipc.open_file(tmp_path / "back.arrow").read_all(), table


@pytest.mark.parametrize("name", ["parquet", "arrow"])
@pytest.mark.parametrize("column", PLAIN)
def test_columns_come_back_as_they_were(tmp_path, name, column):
    got, expected = back(tmp_path, pa.table({"id": [1, 2, 3], column: PLAIN[column]}), name)
    assert got.schema.equals(expected.schema) and got.to_pylist() == expected.to_pylist()


def test_all_together_keep_their_order(tmp_path):
    got, expected = back(tmp_path, pa.table(PLAIN), "parquet")
    assert got.schema.equals(expected.schema) and got.to_pylist() == expected.to_pylist()


@pytest.mark.parametrize("how", ["text", "int"])
@pytest.mark.parametrize("column", TIMES)
def test_times_and_decimals_come_back_from_text_and_integers(tmp_path, how, column):
    got, expected = back(tmp_path, pa.table({"id": [1, 2, 3], column: TIMES[column]}), "parquet", "--cast", how)
    assert got.schema.equals(expected.schema) and got.to_pylist() == expected.to_pylist()


def test_without_a_cast_it_says_what_to_do(tmp_path, capsys):
    parquet.write_table(pa.table({"moment": TIMES["moment"]}), tmp_path / "in.parquet")
    assert main(["convert", str(tmp_path / "in.parquet"), str(tmp_path / "a.tfrecord")]) == 1
    assert "--cast text or --cast int" in capsys.readouterr().err


def test_nested_lists_are_not_flattened(tmp_path, capsys):
    parquet.write_table(pa.table({"a": [[[1], [2]]]}), tmp_path / "in.parquet")
    assert main(["convert", str(tmp_path / "in.parquet"), str(tmp_path / "a.tfrecord")]) == 1
    assert "Examples cannot hold" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"id": pa.bool_()}, "would change"),
        ({"id": pa.int8()}, "Integer value"),
        ({"other": pa.int64()}, "feature 'id' is not in the schema"),
    ],
)
def test_what_a_schema_can_not_hold_is_an_error(tmp_path, capsys, schema, words):
    parquet.write_table(pa.table({"id": [1, 2000]}), tmp_path / "in.parquet")
    parquet.write_table(pa.schema(schema).empty_table(), tmp_path / "other.parquet")
    assert main(["convert", str(tmp_path / "in.parquet"), str(tmp_path / "a.tfrecord")]) == 0
    arguments = [str(tmp_path / "a.tfrecord"), str(tmp_path / "b.parquet"), "--schema", str(tmp_path / "other.parquet")]
    assert main(["convert", *arguments]) == 2
    assert words in capsys.readouterr().err and not (tmp_path / "b.parquet").exists()


@pytest.mark.parametrize(
    ("column", "type"),
    [
        (pa.array([1.5, 0.0], pa.float32()), pa.bool_()),
        (pa.array([70000.0, 1.0], pa.float32()), pa.float16()),
        (pa.array([0.123, 1.0], pa.float32()), pa.decimal128(10, 2)),
        (pa.array([[2, 0], [1]], pa.list_(pa.int64())), pa.list_(pa.bool_())),
        (pa.array([[1.1, 0], [1]], pa.list_(pa.float32())), pa.list_(pa.float16())),
        (pa.array(["007", "1"]), pa.int64()),
        (pa.array(["1", "0"]), pa.bool_()),
        (pa.array(["007", "1"]), pa.dictionary(pa.int32(), pa.int64())),
    ],
)
def test_a_schema_changes_no_value(tmp_path, capsys, column, type):
    parquet.write_table(pa.table({"a": column}), tmp_path / "in.parquet")
    with pa.ipc.new_file(tmp_path / "other.arrow", pa.schema({"a": type})):
        pass
    assert main(["convert", str(tmp_path / "in.parquet"), str(tmp_path / "a.tfrecord")]) == 0
    arguments = [str(tmp_path / "a.tfrecord"), str(tmp_path / "b.arrow"), "--schema", str(tmp_path / "other.arrow")]
    assert main(["convert", *arguments]) == 2
    assert "would change" in capsys.readouterr().err and not (tmp_path / "b.arrow").exists()


def test_a_schema_takes_what_it_can_hold(tmp_path):
    columns = {
        "half": pa.array([0.5, None, float("nan"), float("inf")], pa.float16()),
        "halves": pa.array([[0.5], None, [], [float("-inf"), float("nan")]], pa.list_(pa.float16())),
        "flags": pa.array([[True], None, [], [False, True]], pa.list_(pa.bool_())),
        "codes": pa.array([1, None, 1, 2]).dictionary_encode(),
    }
    got, expected = back(tmp_path, pa.table(columns), "arrow")
    assert got.schema.equals(expected.schema) and str(got.to_pylist()) == str(expected.to_pylist())


@pytest.mark.parametrize("type", [pa.timestamp("s"), pa.timestamp("s", "UTC"), pa.date32()])
def test_a_time_that_text_can_not_say_is_an_error(tmp_path, capsys, type):
    with pa.ipc.new_file(tmp_path / "in.arrow", pa.schema({"a": type})) as writer:
        writer.write_table(pa.table({"a": pa.array([0, 2**30 if type == pa.date32() else 2**60], type)}))
    arguments = ["convert", str(tmp_path / "in.arrow"), str(tmp_path / "a.tfrecord")]
    assert main([*arguments, "--cast", "text"]) == 2
    assert "use --cast int" in capsys.readouterr().err and not (tmp_path / "a.tfrecord").exists()
    assert main([*arguments, "--cast", "int"]) == 0


def test_nanoseconds_of_a_time_stay_in_text(tmp_path):
    times = pa.array([1, None, 86_399_999_999_999], pa.time64("ns"))
    got, _ = back(tmp_path, pa.table({"a": times}), "arrow", "--cast", "text")
    assert got["a"].combine_chunks().cast(pa.int64()).equals(times.cast(pa.int64()))


def test_an_interval_can_not_be_cast(tmp_path, capsys):
    made = pa.table({"a": pa.array([(1, 2, 3)], pa.month_day_nano_interval())})
    with pa.ipc.new_file(tmp_path / "in.arrow", made.schema) as writer:
        writer.write_table(made)
    assert main(["convert", str(tmp_path / "in.arrow"), str(tmp_path / "a.tfrecord"), "--cast", "text"]) == 1
    assert "Examples cannot hold" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_lists_that_are_all_empty_come_back_as_lists(tmp_path, name):
    got, expected = back(tmp_path, pa.table({"a": pa.array([[], [], []], pa.list_(pa.int32()))}), name)
    assert got.to_pylist() == expected.to_pylist()
