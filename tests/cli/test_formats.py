"""What `convert` carries between formats comes back as it was; what it can't carry, it refuses."""

import errno
import json
import math
import os
import string
import subprocess
import sys
import tempfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tfrecord_fast.cli import main
from tfrecord_fast.cli.formats.csv_files import CsvSink
from tfrecord_fast.cli.formats.json_lines import JsonSink


def convert(*argv):
    return main(["convert", *map(str, argv)])


@pytest.fixture
def run(capsys):
    """Runs `convert`; returns (status, what it complained about)."""
    return lambda *argv: (convert(*argv), capsys.readouterr().err)


def write(path, columns):
    records = tf.encode_examples(columns).tolist()
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(records)
    return records


def read(path):
    return list(tf.data.TFRecordDataset(str(path)))


def kinds(path):
    """The kind of each feature in each record."""
    examples = [tf.train.Example.FromString(record) for record in read(path)]
    return [{k: f.WhichOneof("kind") for k, f in example.features.feature.items()} for example in examples]


# ---- Round trips ----

FLOATS = st.floats(width=32, allow_nan=False) | st.just(math.nan)
INTEGERS = st.integers(-(2**63), 2**63 - 1)
NUMBERLIKE = st.sampled_from(
    [*"5 01234 13614453725717235415 1.0 -0 1e5 nan inf true False 1_0 +1 .".split(), "", " 7"],
)
TEXT = (
    NUMBERLIKE | st.text(string.printable, max_size=6) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
)
NAMES = st.sampled_from(["a", "b:float", "c:bytes", "d:int64:float", 'e"', "f,g", "", " ", "ü", "1"]) | TEXT


def column(values, rows):
    return st.lists(st.none() | values, min_size=rows, max_size=rows)


@st.composite
def tables(draw, kinds, names=NAMES):
    """Columns of one to four rows; one more column has no missing value."""
    rows = draw(st.integers(1, 4))
    made = draw(st.dictionaries(names, st.one_of([column(kind, rows) for kind in kinds]), max_size=4))
    return {**made, "id": list(range(rows))}


def comes_back(columns, name):
    columns = {k: [None if v == [] else v for v in values] for k, values in columns.items()}
    with tempfile.TemporaryDirectory() as folder:
        records = write(f"{folder}/in", columns)
        assert convert(f"{folder}/in", f"{folder}/{name}") == 0
        with open(f"{folder}/{name}", "rb") as file:
            text = file.read()
        assert convert(f"{folder}/{name}", f"{folder}/back.tfrecord") == 0
        assert read(f"{folder}/back.tfrecord") == records, text


FLOAT32S = FLOATS.map(np.float32).map(float) | st.sampled_from([float(np.finfo(np.float32).max), 1e-45, -0.0])


@given(tables([FLOAT32S, INTEGERS, TEXT]))
def test_csv_comes_back_with_its_kinds(columns):
    pytest.importorskip("pyarrow")
    comes_back(columns, "a.csv")


BYTES = st.binary(max_size=6) | TEXT
ANY = [FLOAT32S, INTEGERS, BYTES, *(st.lists(one, max_size=3) for one in (FLOAT32S, INTEGERS, BYTES))]


@given(tables(ANY))
def test_json_lines_come_back_with_their_kinds(columns):
    comes_back(columns, "a.jsonl")


@given(tables(ANY))
def test_parquet_comes_back_with_its_kinds(columns):
    pytest.importorskip("pyarrow")
    comes_back(columns, "a.parquet")


# ---- JSON ----


def test_json_lines_are_json(tmp_path):
    write(tmp_path / "in", {"f": np.array([1, np.nan, np.inf, -np.inf], np.float32), "g": [[np.nan, 1.0]] * 4})
    assert convert(tmp_path / "in", tmp_path / "out.jsonl") == 0
    bare = []
    lines = [json.loads(line, parse_constant=bare.append) for line in (tmp_path / "out.jsonl").open()]
    assert not bare and [line["f"] for line in lines] == [
        1.0, {"f": "NaN"}, {"f": "Infinity"}, {"f": "-Infinity"},
    ]  # fmt: skip
    assert lines[0]["g"] == [{"f": "NaN"}, 1.0]


def test_a_column_of_nothing_but_nan_stays_floats(tmp_path):
    records = write(tmp_path / "in", {"f": np.full(3, np.nan, np.float32)})
    assert (
        convert(tmp_path / "in", tmp_path / "a.jsonl") == convert(tmp_path / "a.jsonl", tmp_path / "back.tfrecord") == 0
    )
    assert read(tmp_path / "back.tfrecord") == records


def test_bare_constants_as_python_writes_them_are_read(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"a": NaN}\n{"a": -Infinity}\n{"a": 1}\n')
    assert convert(tmp_path / "in.jsonl", tmp_path / "out.tfrecord") == 0
    assert read(tmp_path / "out.tfrecord") == tf.encode_examples({"a": [math.nan, -math.inf, 1.0]}).tolist()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1, "a": 2}\n', ["line 1", "'a' occurs twice"]),
        ('{"a": 1}\n{"a": 1e400}\n', ["line 2", "'a'", "exceeds float32"]),
        ('{"a": 3.5e38}\n', ["line 1", "'a'", "exceeds float32"]),
        ('{"a": 16777217}\n{"a": 0.5}\n', ["line 1", "'a'", "16777217 would be rounded"]),
        ('{"a": 0.5}\n{"a": [1, 13614453725717235415]}\n', ["line 2", "'a'", "13614453725717235415 would be rounded"]),
        ('{"a": 1}\n{"a": -9223372036854775809}\n', ["line 2", "'a'", "-9223372036854775809 is not an int64"]),
        ('{"a": [[1, 2], [3]]}\n', ["line 1", "'a'", "an Example cannot hold", "[1, 2]"]),
        ('{"a": {"float": "1.5"}}\n', ["line 1", "'a'", "an Example cannot hold"]),
        ('{"a": {"float": ["NaN"]}}\n', ["line 1", "'a'", "an Example cannot hold"]),
    ],
)
def test_json_that_no_example_can_hold_is_refused(tmp_path, run, text, words):
    (tmp_path / "in.jsonl").write_text(text)
    status, said = run(tmp_path / "in.jsonl", tmp_path / "out.tfrecord")
    assert status == 1 and all(word in said for word in [str(tmp_path / "in.jsonl"), *words])
    assert os.listdir(tmp_path) == ["in.jsonl"]


def test_integers_among_floats_that_a_float32_holds_are_floats(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"a": 16777216}\n{"a": 0.5}\n{"a": -33554436}\n{"a": 0}\n')
    assert convert(tmp_path / "in.jsonl", tmp_path / "out.tfrecord") == 0
    assert read(tmp_path / "out.tfrecord") == tf.encode_examples({"a": [16777216.0, 0.5, -33554436.0, 0.0]}).tolist()


# ---- CSV ----


@pytest.fixture
def from_csv(tmp_path):
    """What a CSV becomes: a dict of columns of what records hold."""
    pytest.importorskip("pyarrow")

    def call(text):
        (tmp_path / "in.csv").write_text(text)
        assert convert(tmp_path / "in.csv", tmp_path / "out.tfrecord") == 0
        features = tf.infer_features(tmp_path / "out.tfrecord")
        columns = tf.io.parse_example(read(tmp_path / "out.tfrecord"), features)
        return {key: column.tolist() for key, column in columns.items()}

    return call


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "-20", "0"], [1, -20, 0]),
        ([" 1", "2 "], [1, 2]),
        (["1", "2.5"], [1.0, 2.5]),
        (["1.0", "2.0"], [1.0, 2.0]),
        ([".5", "1e3", "nan", "-inf"], [0.5, 1000.0, math.nan, -math.inf]),
        (["01234", "5"], [b"01234", b"5"]),
        (["00.5", "1.5"], [b"00.5", b"1.5"]),
        (["-0", "1"], [-0.0, 1.0]),
        (["1_000", "2"], [b"1_000", b"2"]),
        (["+1", "2"], [b"+1", b"2"]),
        (["0x10", "2"], [b"0x10", b"2"]),
        (["nan", "inf"], [b"nan", b"inf"]),
        (["true", "false"], [1, 0]),
        (["True", "False"], [1, 0]),
        (["True", "false"], [b"True", b"false"]),
        (["2020-01-02", "2020-01-03"], [b"2020-01-02", b"2020-01-03"]),
        (["12:30", "1:00"], [b"12:30", b"1:00"]),
    ],
)
def test_the_values_of_a_column_say_what_it_holds(from_csv, values, expected):
    found = from_csv("a\n" + "\n".join(values) + "\n")["a"]
    assert list(map(repr, found)) == list(map(repr, expected))


def test_a_header_says_what_a_column_holds(from_csv):
    assert from_csv("a:bytes,b:float,c:int64,d:x\n01,2,3,4\n") == {"a": [b"01"], "b": [2.0], "c": [3], "d:x": [4]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a\n1\n13614453725717235415\n", ["'a'", "exceeds int64", "a:bytes"]),
        ("a\n1.5\n16777217\n", ["'a', row 1", "'16777217' would be rounded", "a:bytes"]),
        ("a\n1.5\n1e39\n", ["'a', row 1", "'1e39' exceeds float32"]),
        ("a:float\n1.5\n1e39\n", ["'a', row 1", "'1e39' exceeds float32"]),
        ("a:int64\n1\n1.5\n", ["'a', row 1", "'1.5' is not a valid int64"]),
        ("a:int64\n1\n01\n", ["'a', row 1", "'01' is not a valid int64"]),
        ("a:float\nx\n", ["'a', row 0", "'x' is not a valid float"]),
        ("a,a\n1,2\n", ["several columns are named 'a'"]),
        ("a:float,a:int64\n1,2\n", ["several columns are named 'a'"]),
    ],
)
def test_csv_that_no_example_can_hold_is_refused(tmp_path, run, text, words):
    pytest.importorskip("pyarrow")
    (tmp_path / "in.csv").write_text(text)
    status, said = run(tmp_path / "in.csv", tmp_path / "out.tfrecord")
    assert status == 1 and all(word in said for word in [str(tmp_path / "in.csv"), *words])
    assert os.listdir(tmp_path) == ["in.csv"]


def test_a_kind_is_named_only_where_the_values_do_not_show_it(tmp_path):
    pytest.importorskip("pyarrow")
    columns = {
        "id": [1, 2],
        "x": np.float32([1, 2]),
        "name": ["a", "5"],
        "zip": ["01234", "99999"],
        "nan": np.float32([np.nan, np.inf]),
        "odd:int64": ["x", "y"],
    }
    write(tmp_path / "in", columns)
    assert convert(tmp_path / "in", tmp_path / "a.csv") == 0
    assert (tmp_path / "a.csv").read_text() == (
        '"id","name","nan:float","odd:int64:bytes","x","zip"\n1,"a",nan,"x",1.0,"01234"\n2,"5",inf,"y",2.0,"99999"\n'
    )


def test_pandas_reads_the_csv(tmp_path):
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    write(tmp_path / "in", {"id": [1, 2], "x": np.float32([0.5, 2]), "name": ['a,"b"\n', None]})
    assert convert(tmp_path / "in", tmp_path / "a.csv") == 0
    frame = pandas.read_csv(tmp_path / "a.csv")
    assert list(frame) == ["id", "name", "x"] and frame["x"].tolist() == [0.5, 2.0]
    assert frame["id"].tolist() == [1, 2] and frame["name"].tolist()[0] == 'a,"b"\n'


def test_the_kinds_survive_csv(tmp_path):
    pytest.importorskip("pyarrow")
    write(tmp_path / "in", {"f": np.array([1, 2], np.float32), "s": [b"5", b"13614453725717235415"], "b": ["true"] * 2})
    assert convert(tmp_path / "in", tmp_path / "a.csv") == convert(tmp_path / "a.csv", tmp_path / "back.tfrecord") == 0
    assert kinds(tmp_path / "back.tfrecord") == [{"f": "float_list", "s": "bytes_list", "b": "bytes_list"}] * 2


# ---- Parquet ----


@pytest.fixture
def parquet(tmp_path):
    """Writes one column to in.parquet."""
    pa, module = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

    def call(values, type=None):
        module.write_table(pa.table({"a": pa.array(values, type)}), tmp_path / "in.parquet")
        return tmp_path / "in.parquet"

    return call


@pytest.mark.parametrize(
    ("values", "type", "words"),
    [
        ([[[1, 2], [3]]], lambda pa: None, "list<"),
        ([{"x": 1}], lambda pa: None, "struct<"),
        ([[{"x": 1}]], lambda pa: None, "struct<"),
        ([1], lambda pa: pa.timestamp("s"), "timestamp"),
        ([1], lambda pa: pa.date32(), "date32"),
        ([1], lambda pa: pa.decimal128(5, 2), "decimal"),
        ([[("k", 1)]], lambda pa: pa.map_(pa.string(), pa.int64()), "map<"),
        ([1.0, 1e300], lambda pa: pa.float64(), "1e+300 exceeds float32 (row 1)"),
        ([[1.0, 1e300]], lambda pa: pa.list_(pa.float64()), "1e+300 exceeds float32"),
        ([2**63], lambda pa: pa.uint64(), "int64 list can't hold"),
        ([[1, None]], lambda pa: pa.list_(pa.int64()), "null inside a list"),
    ],
)
def test_parquet_that_no_example_can_hold_is_refused(tmp_path, run, parquet, values, type, words):
    pa = pytest.importorskip("pyarrow")
    status, said = run(parquet(values, type(pa)), tmp_path / "out.tfrecord")
    assert status == 1 and f"{tmp_path}/in.parquet" in said and "'a'" in said and words in said
    assert os.listdir(tmp_path) == ["in.parquet"]


def test_a_parquet_file_with_two_columns_of_one_name_is_refused(tmp_path, run):
    pa, module = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    module.write_table(table, tmp_path / "in.parquet")
    status, said = run(tmp_path / "in.parquet", tmp_path / "out.tfrecord")
    assert status == 1 and "several columns are named 'a'" in said


# ---- What rows can't hold ----


def write_records(path, *records):
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(list(records))


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_rows_without_any_column_are_refused(tmp_path, run, name):
    pytest.importorskip("pyarrow")
    write_records(tmp_path / "in", b"", b"\n\x00")
    status, said = run(tmp_path / "in", tmp_path / name)
    assert status == 2 and "no record has a feature" in said and os.listdir(tmp_path) == ["in"]


def test_records_without_features_are_empty_objects_and_back(tmp_path):
    write_records(tmp_path / "in", b"", b"\n\x00")
    assert convert(tmp_path / "in", tmp_path / "a.jsonl") == 0
    assert (tmp_path / "a.jsonl").read_text() == "{}\n{}\n"
    assert (
        convert(tmp_path / "a.jsonl", tmp_path / "back.tfrecord") == 0
        and read(tmp_path / "back.tfrecord") == [b"\n\x00"] * 2
    )


def test_a_row_of_csv_that_would_be_an_empty_line_is_refused(tmp_path, run):
    pytest.importorskip("pyarrow")
    write(tmp_path / "in", {"a": ["x", None, "y"]})
    status, said = run(tmp_path / "in", tmp_path / "a.csv")
    assert status == 2 and f"{tmp_path}/in: " in said and "empty line" in said and "(record 1)" in said


def test_an_empty_text_alone_in_a_row_of_csv_comes_back(tmp_path):
    pytest.importorskip("pyarrow")
    records = write(tmp_path / "in", {"a": ["x", "", "y"]})
    assert convert(tmp_path / "in", tmp_path / "a.csv") == convert(tmp_path / "a.csv", tmp_path / "back.tfrecord") == 0
    assert read(tmp_path / "back.tfrecord") == records


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_a_feature_whose_name_is_not_utf8_is_refused(tmp_path, run, name):
    pytest.importorskip("pyarrow")
    write_records(tmp_path / "in", wire.example([(b"a\xff", wire.feature("int64", [1]))]))
    status, said = run(tmp_path / "in", tmp_path / name)
    assert status == 2 and "is not UTF-8" in said and os.listdir(tmp_path) == ["in"]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"a": [[1]] * 5000 + [[1, 2]]}, ["'a' has several values", "(record 5000)"]),
        ({"a": ["x"] * 5000 + [b"\xff"]}, ["'a'", "not UTF-8", "(record 5000)"]),
        ({"a": [None, "x", None, b"\xff"], "b": [1] * 4}, ["'a'", "not UTF-8", "(record 3)"]),
    ],
)
def test_csv_refuses_a_record_by_its_number(tmp_path, run, columns, words):
    pytest.importorskip("pyarrow")
    write(tmp_path / "in", columns)
    status, said = run(tmp_path / "in", tmp_path / "a.csv")
    assert status == 2 and all(word in said for word in [f"{tmp_path}/in: ", *words])
    assert os.listdir(tmp_path) == ["in"]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_sequence_example_is_refused_by_its_number(tmp_path, run, name):
    pytest.importorskip("pyarrow")
    example = wire.example([(b"a", wire.feature("int64", [1]))])
    write_records(tmp_path / "in", example, wire.sequence_example([], [(b"s", [])]))
    status, said = run(tmp_path / "in", tmp_path / name)
    assert status == 2 and "SequenceExamples" in said and f"{tmp_path}/in: " in said and "(record 1)" in said


# ---- Which format ----


@pytest.mark.parametrize("name", ["a.txt", "a.tsv", "a.avro", "a.jsonl.bz2", "a.txt.gz", "a.parquett", "v1.5"])
def test_an_unknown_extension_of_the_output_is_refused(tmp_path, run, name):
    write(tmp_path / "in", {"a": [1]})
    status, said = run(tmp_path / "in", tmp_path / name)
    assert status == 2 and name in said and "--to" in said and os.listdir(tmp_path) == ["in"]
    assert run(tmp_path / "in", tmp_path / name, "--to", "tfrecord") == (0, "")


@pytest.mark.parametrize(
    "name",
    ["a.tfrecord", "a.TFRecords", "a.tfr", "a.tfrec.gz", "a.record", "a.rec.zst", "a.tfrecord-00000-of-00001"],
)
def test_names_of_tfrecord_files_need_no_format(tmp_path, run, name):
    records = write(tmp_path / "in", {"a": [1]})
    assert run(tmp_path / "in", tmp_path / name) == (0, "")
    assert read(tmp_path / name) == records


@pytest.mark.parametrize("name", ["memory://x/a.jsonl", "s3://b/a.csv", "nope://x/a.parquet"])
def test_an_output_that_is_a_url_is_refused(tmp_path, monkeypatch, run, name):
    monkeypatch.chdir(tmp_path)
    write("in", {"a": [1]})
    status, said = run("in", name)
    assert status == 2 and name in said and "URL" in said and os.listdir() == ["in"]


def test_tfrecord_files_are_written_to_urls(tmp_path, run):
    records = write(tmp_path / "in", {"a": [1]})
    assert run(tmp_path / "in", "memory://formats/a.tfrecord") == (0, "")
    assert read("memory://formats/a.tfrecord") == records


@pytest.mark.parametrize("extension", ["csv", "jsonl", "parquet"])
def test_a_file_without_records_comes_back(tmp_path, extension):
    write_records(tmp_path / "none.tfrecord")
    assert convert(tmp_path / "none.tfrecord", tmp_path / f"x.{extension}") == 0
    assert convert(tmp_path / f"x.{extension}", tmp_path / "back.tfrecord") == 0
    assert read(tmp_path / "back.tfrecord") == []


@pytest.mark.parametrize("text", ["", "\n", "\r\n\r\n", "a,b\n"])
def test_csv_without_a_row_is_no_records(tmp_path, text):
    (tmp_path / "x.csv").write_bytes(text.encode())
    assert convert(tmp_path / "x.csv", tmp_path / "back.tfrecord") == 0
    assert read(tmp_path / "back.tfrecord") == []


@pytest.mark.parametrize("rows", [5, 3000])  # what fails is the end, or a batch before it
@pytest.mark.parametrize("extension", ["csv", "jsonl", "parquet", "csv.gz", "tfrecord"])
def test_a_file_that_grows_too_large_is_named(tmp_path, extension, rows):
    texts = [os.urandom(250).hex() for _ in range(rows)]
    write(tmp_path / "in.tfrecord", {"a": texts, "b": texts})
    code = f"""
import resource, sys
from tfrecord_fast.cli import main
from tfrecord_fast.cli.formats.csv_files import CsvSink
from tfrecord_fast.cli.formats.json_lines import JsonSink
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
sys.exit(main(["convert", {str(tmp_path / "in.tfrecord")!r}, {str(tmp_path / ("x." + extension))!r}]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, os.listdir(tmp_path)) == (2, ["in.tfrecord"])
    assert f"{tmp_path}/x.{extension}: " in done.stderr and "File too large" in done.stderr


# ---- The files that are written ----


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_a_level_is_that_of_the_rows_file(tmp_path, run, name):
    draw = np.random.default_rng(1)
    write(tmp_path / "in", {"id": draw.integers(0, 1000, 20_000)})
    sizes = {}
    for level in (None, 1, 6, 9):
        out = tmp_path / f"{level}-{name}.gz"
        given = [] if level is None else ["--level", level]
        assert run(tmp_path / "in", out, "--compression", "gzip", *given) == (0, "")
        sizes[level] = out.stat().st_size
    assert sizes[None] == sizes[6] < sizes[1] and sizes[9] != sizes[1]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_an_error_of_the_source_is_not_told_of_the_file_that_is_written(tmp_path, name):
    sink = (JsonSink if name.endswith("jsonl") else CsvSink)(str(tmp_path / name), "", None)
    error = OSError(errno.EIO, "of the source")
    with pytest.raises(OSError) as caught, sink.opened():
        raise error
    assert caught.value is error and error.filename is None


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_an_error_at_the_end_is_told_of_the_file_that_is_written(tmp_path, run, name):
    write(tmp_path / "in", {"id": [1]})
    os.symlink("/dev/full", tmp_path / name)
    status, said = run(tmp_path / "in", tmp_path / name)
    assert status == 2 and f"{tmp_path / name}: No space left" in said


def test_parquet_has_few_row_groups(tmp_path):
    """A small one for each batch that was read made files half as large again as the records."""
    parquet = pytest.importorskip("pyarrow.parquet")
    with tf.ExampleWriter(tmp_path / "a.tfrecord") as writer:
        writer.write({"x": np.arange(30_000 * 32, dtype=np.float32).reshape(-1, 32), "n": np.arange(30_000)})
    assert main(["convert", str(tmp_path / "a.tfrecord"), str(tmp_path / "a.parquet")]) == 0
    file = parquet.ParquetFile(tmp_path / "a.parquet")
    assert file.num_row_groups == 1 and file.metadata.num_rows == 30_000
    assert file.read().column("n").to_pylist() == list(range(30_000))
    assert (tmp_path / "a.parquet").stat().st_size < 1.2 * (tmp_path / "a.tfrecord").stat().st_size
