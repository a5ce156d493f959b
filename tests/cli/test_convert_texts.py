"""`convert` from CSV with other delimiters, from JSON arrays, and of floats that float32 can't tell apart."""

import gzip
import json

import pytest

import tfrecord_fast as tf
from tests.cli.test_convert import complains, read, run
from tests.support import wire_writer as wire

__all__ = ["run"]  # a fixture


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_another_delimiter_of_csv_is_found_in_the_header(tmp_path, run, delimiter):
    text = f'id{delimiter}name\n1{delimiter}"a{delimiter}b"\n2{delimiter}x, y\n'
    (tmp_path / "in.csv").write_text(text)
    assert run(tmp_path / "in.csv", tmp_path / "out.tfrecord") == (0, "")
    table = tf.read_table(tmp_path / "out.tfrecord", strings="plain").to_pydict()
    assert table == {"id": [1, 2], "name": [f"a{delimiter}b".encode(), b"x, y"]}
    assert (
        run(tmp_path / "in.csv", tmp_path / "one.tfrecord", "--delimiter", ",", "--strings")[0] == 1
    )  # a quote inside


def test_the_delimiter_of_csv_can_be_given(tmp_path, run):
    (tmp_path / "in.csv").write_text("a,b;c\n1,2;3\n")
    assert run(tmp_path / "in.csv", tmp_path / "out.tfrecord", "--delimiter", ";") == (0, "")
    assert tf.read_table(tmp_path / "out.tfrecord").to_pydict() == {"a,b": [b"1,2"], "c": [3]}
    assert complains(run(tmp_path / "in.csv", tmp_path / "no", "--to", "tfrecord", "--delimiter", "ab"), 2, "one ASCII")


@pytest.mark.parametrize("name", ["in.json", "in.jsonl", "in.json.gz"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_array_of_objects_is_read(tmp_path, run, name, indent):
    rows = [{"a": i, "b": [0.5, i], "c": f"x{i}"} for i in range(3)]
    text = ("\n  " + json.dumps(rows, indent=indent) + "\n").encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert run(tmp_path / name, tmp_path / "out.tfrecord") == (0, "")
    assert tf.read_table(tmp_path / "out.tfrecord").to_pydict()["a"] == [0, 1, 2]
    (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, rows)))
    run(tmp_path / "lines.jsonl", tmp_path / "lines.tfrecord")
    assert read(tmp_path / "lines.tfrecord") == read(tmp_path / "out.tfrecord")


TIMES = {"csv": "t\n1700000000.123\n1700000001.123\n", "jsonl": '{"t": 1700000000.123}\n{"t": 1700000001.123}\n'}


@pytest.mark.parametrize("format", TIMES)
def test_floats_that_collapse_need_a_flag(tmp_path, run, format):
    source = tmp_path / f"in.{format}"
    source.write_text(TIMES[format])
    assert complains(run(source, tmp_path / "out.tfrecord"), 1, "'t'", "--allow-rounding")
    assert run(source, tmp_path / "out.tfrecord", "--allow-rounding") == (0, "")
    if format == "csv":
        source.write_text(TIMES[format].replace("t\n", "t:float\n"))
        assert run(source, tmp_path / "out.tfrecord") == (0, "")


@pytest.mark.parametrize("name", ["out.parquet", "out.arrow", "out.orc"])
def test_what_is_all_utf8_is_text_and_anything_else_is_binary(tmp_path, run, name):
    rows = 9000
    columns = {
        "text": [f"grüße {i}" for i in range(rows)],
        "texts": [["a", "ü"][: i % 3] for i in range(rows)],
        "maybe": [None if i % 2 else "x" for i in range(rows)],
        "late": [b"a"] * (rows - 1) + [b"\xff"],
        "early": [b"\xff"] + [b"a"] * (rows - 1),
        "n": list(range(rows)),
    }
    with tf.ExampleWriter(tmp_path / "in.tfrecord") as writer:
        writer.write(columns)
    assert run(tmp_path / "in.tfrecord", tmp_path / name) == (0, "")
    dataset = pytest.importorskip("pyarrow.dataset")
    table = dataset.dataset(tmp_path / name, format=name[4:]).to_table()
    types = {
        field.name: str(field.type).replace("large_", "").partition("<")[2] or str(field.type) for field in table.schema
    }
    types = {
        key: type.removeprefix("large_").removeprefix("item: ").removeprefix("element: ") for key, type in types.items()
    }
    assert types["text"] == types["maybe"] == "string" and types["texts"].startswith("string")
    assert types["late"] == types["early"] == "binary" and types["n"] == "int64"
    assert table["text"].to_pylist() == columns["text"] and table["texts"].to_pylist() == columns["texts"]
    assert run(tmp_path / name, tmp_path / "back.tfrecord") == (0, "")
    assert read(tmp_path / "back.tfrecord") == read(tmp_path / "in.tfrecord")


def test_a_schema_keeps_text_binary(tmp_path, run):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    with tf.ExampleWriter(tmp_path / "in.tfrecord") as writer:
        writer.write({"a": ["x", "ü"]})
    parquet.write_table(pa.schema({"a": pa.binary()}).empty_table(), tmp_path / "types.parquet")
    assert run(tmp_path / "in.tfrecord", tmp_path / "o.parquet", "--schema", tmp_path / "types.parquet") == (0, "")
    assert parquet.read_table(tmp_path / "o.parquet")["a"].to_pylist() == [b"x", "ü".encode()]


def test_a_name_of_bytes_that_is_not_utf8_is_named(tmp_path, run):
    pytest.importorskip("pyarrow")
    with tf.io.TFRecordWriter(tmp_path / "in") as writer:
        writer.write(wire.example([(b"a\xff", wire.feature("bytes", [b"x"]))]))
    assert complains(run(tmp_path / "in", tmp_path / "o.parquet"), 2, "the name of feature", "is not UTF-8")
