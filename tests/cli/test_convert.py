"""tfrecord-fast convert: what goes from one format to another, and back, is the same records."""

import gzip
import itertools
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.command import COMMAND, run_here
from tests.support.other_files import LFS
from tfrecord_fast.cli import main
from tfrecord_fast.cli.commands import convert

ROWS = 10_000
COLUMNS = {
    "id": np.arange(ROWS),
    "x": np.linspace(-1, 1, ROWS, dtype=np.float32),
    "text": [f"zwölf, {i}\n" for i in range(ROWS)],
    "vector": np.arange(2 * ROWS, dtype=np.float32).reshape(ROWS, 2),
    "tags": [[b"a", b"b"][: i % 3] or None for i in range(ROWS)],
    "maybe": [None if i % 2 else i for i in range(ROWS)],
}
SINGLE = {key: COLUMNS[key] for key in ("id", "x", "text", "maybe")}


@pytest.fixture
def run(capsysbinary):
    """Runs `convert`; returns (status, what it complained about)."""

    def call(*argv):
        status, out, err = run_here(capsysbinary, "convert", *argv)
        assert out == ""
        return status, err

    return call


def write(path, columns=COLUMNS, options=""):
    records = tf.encode_examples(columns)
    with tf.io.TFRecordWriter(path, options) as writer:
        writer.write_batch(records)
    return records.tolist()


def read(path):
    return [record for batch in tf.data.TFRecordDataset(str(path)).batch(4096) for record in batch]


# ---- TFRecord to TFRecord ----


@pytest.mark.parametrize("kind", ["none", "gzip", "zlib", "zstd", "snappy"])
def test_records_of_any_kind_pass_as_they_are(tmp_path, run, kind):
    records = [b"no example", b"", b"\xff" * 1000]
    with tf.io.TFRecordWriter(tmp_path / "in", "ZSTD") as writer:
        writer.write_batch(records)
    assert run(tmp_path / "in", tmp_path / "out.tfrecord", "--compression", kind) == (0, "")
    assert read(tmp_path / "out.tfrecord") == records
    detected = tf._core.detect_compression((tmp_path / "out.tfrecord").read_bytes()[:128])
    assert detected == ("" if kind == "none" else kind.upper())


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.tfrecord.gz", "GZIP"), ("a.rec.zst", "ZSTD"), ("a.tfrecords.snappy", "SNAPPY"), ("a.tfrecord", "")],
)
def test_the_outputs_name_decides_its_compression(tmp_path, run, name, kind):
    write(tmp_path / "in")
    assert run(tmp_path / "in", tmp_path / name) == (0, "")
    assert tf._core.detect_compression((tmp_path / name).read_bytes()[:128]) == kind


def test_a_level_is_passed_to_the_writer(tmp_path, run):
    records = write(tmp_path / "in")
    assert run(tmp_path / "in", tmp_path / "out.tfrecord.gz", "--level", 9, "--threads", 2) == (0, "")
    with tf.io.TFRecordWriter(tmp_path / "ours", tf.io.TFRecordOptions("GZIP", compression_level=9)) as writer:
        writer.write_batch(records)
    assert len((tmp_path / "out.tfrecord.gz").read_bytes()) < 1.02 * len((tmp_path / "ours").read_bytes())
    assert read(tmp_path / "out.tfrecord.gz") == records


def test_shards_hold_record_i_mod_n_of_all_inputs(tmp_path, run):
    records = write(tmp_path / "in-1") + write(tmp_path / "in-2", {"id": [7]})
    assert run(tmp_path / "in-*", tmp_path / "out.tfrecord", "--shards", 3) == (0, "")
    for shard in range(3):
        assert read(tmp_path / f"out-{shard:05d}-of-00003.tfrecord") == records[shard::3]


def test_a_file_can_be_recompressed_in_place(tmp_path, run):
    records = write(tmp_path / "in")
    assert run(tmp_path / "in", tmp_path / "in", "--to", "tfrecord", "--compression", "gzip") == (0, "")
    assert read(tmp_path / "in") == records and (tmp_path / "in").read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.parametrize("name", ["in", "link", "hard"])
@pytest.mark.parametrize("more", [["--limit", 3], ["--to", "jsonl"], ["other"]])
def test_an_input_is_not_lost(tmp_path, run, name, more):
    records = write(tmp_path / "in")
    write(tmp_path / "other", {"id": [7]})
    (tmp_path / "link").symlink_to("in")
    os.link(tmp_path / "in", tmp_path / "hard")
    others = [tmp_path / one if one == "other" else one for one in more]
    status, said = run("--to", "tfrecord", tmp_path / "in", *others, tmp_path / name)
    assert status == 2 and f"{tmp_path / name}: the output is also an input" in said
    assert read(tmp_path / "in") == records


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("way", ["append", "replace"])
def test_a_file_that_changes_between_two_looks_is_an_error(tmp_path, run, monkeypatch, form, way):
    """Features that were not there at first would have no column."""
    write(tmp_path / "in", {"id": [1, 2]})
    write(tmp_path / "more", {"id": [3], "new": [4]})

    def change(sink, scanner):
        begin(sink, scanner)
        if way == "replace":
            os.replace(tmp_path / "more", tmp_path / "in")
        else:
            with open(tmp_path / "in", "ab") as file:
                file.write((tmp_path / "more").read_bytes())

    begin = convert.RowSink.begin
    monkeypatch.setattr(convert.RowSink, "begin", change)
    status, said = run("--from", "tfrecord", tmp_path / "in", tmp_path / f"out.{form}")
    assert status == 2 and "in: the file changed while being read" in said
    assert not (tmp_path / f"out.{form}").exists()


def test_standard_output_is_no_input(tmp_path):
    records = write(tmp_path / "in")
    with open(tmp_path / "in", "ab") as out:
        command = [*COMMAND, "convert", str(tmp_path / "in"), "-", "--to", "jsonl"]
        result = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, check=False)
    assert result.returncode == 2 and b"standard output is also an input" in result.stderr
    assert read(tmp_path / "in") == records


@pytest.mark.parametrize("form", ["tfrecord", "jsonl", "csv", "parquet", "arrow", "orc"])
def test_a_pipe_that_would_be_read_twice_is_refused(tmp_path, run, form):
    os.mkfifo(tmp_path / "fifo")
    status, said = run("--from", form, tmp_path / "fifo", tmp_path / "a.jsonl")
    assert status == 2 and "fifo: " in said and not (tmp_path / "a.jsonl").exists()


def test_standard_input_is_read(tmp_path):
    records = write(tmp_path / "in")
    command = [*COMMAND, "convert", "-", str(tmp_path / "out.tfrecord")]
    subprocess.run(command, stdin=(tmp_path / "in").open("rb"), check=True)
    assert read(tmp_path / "out.tfrecord") == records


# ---- Rows ----


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson.gz", "a.parquet", "a.arrow", "a.feather.zst", "a.orc"])
def test_rows_and_back_are_the_same_records(tmp_path, run, name):
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    records = write(tmp_path / "in", options="GZIP")
    assert run(tmp_path / "in", tmp_path / name) == (0, "")
    assert run(tmp_path / name, tmp_path / "back.tfrecord") == (0, "")
    assert read(tmp_path / "back.tfrecord") == records
    assert sorted(os.listdir(tmp_path)) == sorted(["in", name, "back.tfrecord"])


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_csv_and_back_is_the_same_records(tmp_path, run, name):
    pytest.importorskip("pyarrow")
    records = write(tmp_path / "in", SINGLE)
    assert run(tmp_path / "in", tmp_path / name) == (0, "")
    assert run(tmp_path / name, tmp_path / "back.tfrecord") == (0, "")
    assert read(tmp_path / "back.tfrecord") == records


def test_between_rows_it_goes_directly(tmp_path, run):
    pytest.importorskip("pyarrow")
    records = write(tmp_path / "in", SINGLE)
    names = [tmp_path / name for name in ("in", "a.csv", "b.parquet", "c.jsonl", "d.rec")]
    for before, after in itertools.pairwise(names):
        assert run(before, after) == (0, "")
    assert read(tmp_path / "d.rec") == records


def test_formats_can_be_given(tmp_path, run):
    write(tmp_path / "in.csv", {"id": [1]})
    assert run(tmp_path / "in.csv", tmp_path / "out.tfrecord", "--from", "tfrecord", "--to", "jsonl") == (0, "")
    assert (tmp_path / "out.tfrecord").read_text() == '{"id":1}\n'


def test_json_lines_read_as_people_write_them(tmp_path, run):
    columns = {
        "b": [[b"\xff\x00"], [b"", "ü".encode()]],
        "f": np.float32([[0.1, 1.0], [1e30, -0.0]]),
        "i": [[], [2**62]],
        "s": ["one", None],
    }
    write(tmp_path / "in", columns)
    assert run(tmp_path / "in", tmp_path / "out.jsonl") == (0, "")
    first, second = (tmp_path / "out.jsonl").read_text().splitlines()
    assert first == '{"b":[{"base64":"/wA="}],"f":[0.1,1.0],"i":{"empty":"int64"},"s":"one"}'
    assert second.replace("e+", "e") == '{"b":["","ü"],"f":[1e30,-0.0],"i":4611686018427387904}'


def test_json_numbers_of_a_feature_are_of_one_kind(tmp_path, run):
    lines = [{"a": 1, "b": True, "c": None, "d": []}, {"a": [2.5, 3], "b": 7, "d": "x"}, {}]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    assert run(tmp_path / "in.jsonl", tmp_path / "out.tfrecord") == (0, "")
    expected = {"a": [[1.0], [2.5, 3.0], None], "b": [1, 7, None], "d": [None, "x", None]}
    assert read(tmp_path / "out.tfrecord") == tf.encode_examples(expected).tolist()


def test_csv_as_others_write_it(tmp_path, run):
    pytest.importorskip("pyarrow")
    (tmp_path / "in.csv").write_text('n,s,when,half\n1,,2020-01-02,1\n,"",2021-01-02,2.5\n3,"a ""b""\nc",2022-01-02,\n')
    assert run(tmp_path / "in.csv", tmp_path / "out.tfrecord") == (0, "")
    expected = {
        "n": [1, None, 3],
        "s": [None, "", 'a "b"\nc'],
        "when": ["2020-01-02", "2021-01-02", "2022-01-02"],
        "half": [1.0, 2.5, None],
    }
    assert read(tmp_path / "out.tfrecord") == tf.encode_examples(expected).tolist()


def test_parquet_is_what_pyarrow_reads(tmp_path, run):
    parquet = pytest.importorskip("pyarrow.parquet")
    write(tmp_path / "in")
    assert run(tmp_path / "in", tmp_path / "a.parquet", "--compression", "zstd", "--level", 5) == (0, "")
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table.column_names == sorted(COLUMNS) and table.num_rows == ROWS
    assert table["maybe"].to_pylist()[:3] == [0, None, 2] and table["tags"].to_pylist()[:3] == [
        None,
        ["a"],
        ["a", "b"],
    ]


@pytest.mark.parametrize(
    ("given", "kind"), [([], "SNAPPY"), (["--compression", "gzip"], "GZIP"), (["--compression", "zstd"], "ZSTD")]
)
def test_columns_of_parquet_are_compressed_as_asked_for(tmp_path, run, given, kind):
    parquet = pytest.importorskip("pyarrow.parquet")
    write(tmp_path / "in")
    assert run(tmp_path / "in", tmp_path / "a.parquet", *given) == (0, "")
    group = parquet.ParquetFile(tmp_path / "a.parquet").metadata.row_group(0)
    assert {group.column(at).compression for at in range(group.num_columns)} == {kind}


def test_the_level_of_parquets_compression_is_taken(tmp_path, run):
    pytest.importorskip("pyarrow")
    steps = np.random.default_rng(1).integers(0, 50, (500, 100))
    write(tmp_path / "in", {"a": [b" ".join(b"%d" % n for n in row) for row in np.cumsum(steps, axis=1)]})
    sizes = []
    for level in (1, 19):
        assert run(tmp_path / "in", tmp_path / "a.parquet", "--compression", "zstd", "--level", level) == (0, "")
        sizes.append((tmp_path / "a.parquet").stat().st_size)
    assert sizes[1] < 0.9 * sizes[0]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet", "a.arrow", "a.orc", "a.tfrecord"])
def test_no_records_are_a_file_without_any(tmp_path, run, name):
    pytest.importorskip("pyarrow")
    write(tmp_path / "in", {})
    assert run(tmp_path / "in", tmp_path / name) == (0, "")
    assert (tmp_path / name).exists()


# ---- What is wrong ----


def complains(result, status, *words):
    return result[0] == status and all(word in result[1] for word in words) and result[1].count("\n") == 1


@pytest.mark.parametrize("name", ["out.tfrecord", "out.jsonl"])
def test_damage_is_status_1_and_no_output(tmp_path, run, name):
    write(tmp_path / "in")
    data = (tmp_path / "in").read_bytes()
    (tmp_path / "in").write_bytes(data[:-5])
    assert complains(run(tmp_path / "in", tmp_path / name), 1, f"{tmp_path}/in: ", "truncated record", "(record 9999")
    assert os.listdir(tmp_path) == ["in"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1}\n{"a": \n', ["line 2"]),
        ("[1]\n", ["item 1: expected an object, got int"]),
        ('{"a": 1}\n{"a": "x"}\n', ["line 2", "'a'", "text here, integers before"]),
        ('{"a": {"b": 1}}\n', ["line 1", "'a'", "an Example cannot hold"]),
        ('{"a": [1, null]}\n', ["line 1", "'a'", "an Example cannot hold"]),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}\n", ["line 1", "nested too deeply"]),
        ('{"a": 9223372036854775808}\n', ["'a'", "int64"]),
        ('{"a": "x"}\n{"a": {"base64": "?"}}\n', ["line 2: feature 'a': bad base64"]),
        ('{"a": {"base64": "é"}}\n', ["line 1: feature 'a': bad base64"]),
        ('{"a": "x"}\n{"a": ["x", "\\ud800"]}\n', ["line 2: feature 'a': text that is not UTF-8", "surrogates"]),
        ('{"\\udc80": 1}\n', ["line 1: feature '\\udc80': text that is not UTF-8"]),
    ],
)
def test_json_that_makes_no_examples_is_status_1_and_names_the_line(tmp_path, run, text, words):
    (tmp_path / "in.jsonl").write_text(text)
    assert complains(run(tmp_path / "in.jsonl", tmp_path / "out.tfrecord"), 1, f"{tmp_path}/in.jsonl", *words)
    assert os.listdir(tmp_path) == ["in.jsonl"]


@pytest.mark.parametrize("name", ["in.csv", "in.parquet"])
def test_a_broken_file_is_status_1_and_named(tmp_path, run, name):
    pytest.importorskip("pyarrow")
    (tmp_path / name).write_text("a,b\n1,2\n3\n")
    assert complains(run(tmp_path / name, tmp_path / "out.tfrecord"), 1, f"{tmp_path}/{name}")


def test_records_that_are_not_examples_have_no_rows(tmp_path, run):
    with tf.io.TFRecordWriter(tmp_path / "in") as writer:
        writer.write(b"no example")
    assert complains(run(tmp_path / "in", tmp_path / "a.jsonl"), 1, "malformed")


def test_sequence_examples_have_no_rows(tmp_path, run):
    with tf.io.TFRecordWriter(tmp_path / "in") as writer:
        writer.write_batch(tf.encode_sequence_examples({}, {"a": [[1, 2]]}))
    assert complains(run(tmp_path / "in", tmp_path / "a.csv"), 2, "SequenceExamples")


def test_files_that_disagree_on_a_kind_are_status_1(tmp_path, run):
    pytest.importorskip("pyarrow")
    (tmp_path / "1.csv").write_text("a\n1\n")
    (tmp_path / "2.csv").write_text("a\n1.5\n")
    assert complains(
        run(tmp_path / "1.csv", tmp_path / "2.csv", tmp_path / "out.tfrecord"), 1, "'a'", "conflicting kinds"
    )
    assert sorted(os.listdir(tmp_path)) == ["1.csv", "2.csv"]


def test_csv_refuses_lists_and_bytes(tmp_path, run):
    pytest.importorskip("pyarrow")
    write(tmp_path / "lists", {"a": [[1, 2]]})
    assert complains(run(tmp_path / "lists", tmp_path / "a.csv"), 2, "'a'", "several values")
    write(tmp_path / "bytes", {"a": [b"\xff"]})
    assert complains(run(tmp_path / "bytes", tmp_path / "a.csv"), 2, "'a'", "UTF-8")
    assert not (tmp_path / "a.csv").exists()


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["in", "a.jsonl", "--shards", "2"], "--shards requires a TFRecord"),
        (["in", "-"], "standard output has no extension"),
        (["in", "out"], "cannot tell the format without an extension; use one of .tfrecord"),
        (["in", "out.gz"], "use one of .tfrecord"),
        (["in", "out.xlsx"], "unknown extension .xlsx; use one of .tfrecord"),
        (["in", "a.jsonl", "--compression", "zstd"], "does not support ZSTD"),
        (["in", "out.rec", "--compression", "gzip", "--level", "12"], "compression_level 12"),
        (["in", "b.jsonl", "out.rec"], "several formats"),
        (["in", "{num_shards}.rec", "--shards", "2"], "shard"),
        (["-", "a.jsonl"], "standard input can be read only once"),
        (["none", "out.rec"], "none: No such file"),
        (["in", "nowhere/out.rec"], "nowhere/out.rec: no folder 'nowhere', create it first"),
        (["in", "nowhere/a.jsonl"], "nowhere/a.jsonl: no folder 'nowhere', create it first"),
    ],
)
def test_usage_is_status_2(tmp_path, monkeypatch, run, argv, words):
    monkeypatch.chdir(tmp_path)
    write("in")
    assert complains(run(*argv), 2, words)
    assert os.listdir(".") == ["in"]


def test_without_pyarrow_it_says_what_to_install(tmp_path, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    write(tmp_path / "in")
    assert complains(run(tmp_path / "in", tmp_path / "a.parquet"), 2, "tfrecord_fast[arrow]")


def test_gzip_output_is_the_same_bytes_each_time(tmp_path, run):
    write(tmp_path / "in")
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        assert run(tmp_path / "in", tmp_path / name) == (0, "")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert len(gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()).splitlines()) == ROWS


# ---- Standard output, the first records, and what input is ----


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "arrow", "orc", "tfrecord"])
@pytest.mark.parametrize("appended", [True, False])
def test_standard_output_is_written_to_as_it_is(tmp_path, form, appended):
    pytest.importorskip("pyarrow")
    write(tmp_path / "in", SINGLE)
    assert main(["convert", str(tmp_path / "in"), str(tmp_path / "expected"), "--to", form]) == 0
    (tmp_path / "out").write_bytes(b"before")
    with open(tmp_path / "out", "ab" if appended else "wb") as file:
        subprocess.run([*COMMAND, "convert", str(tmp_path / "in"), "-", "--to", form], stdout=file, check=True)
    before = b"before" if appended else b""
    assert (tmp_path / "out").read_bytes() == before + (tmp_path / "expected").read_bytes()


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "arrow", "orc", "tfrecord"])
def test_a_closed_pipe_ends_it_silently(tmp_path, form):
    pytest.importorskip("pyarrow")
    write(tmp_path / "in", {"id": np.arange(100_000)})
    command = [*COMMAND, "convert", str(tmp_path / "in"), "-", "--to", form]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b"" and process.wait() == -signal.SIGPIPE


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet", "a.arrow", "a.orc", "a.tfrecord"])
def test_the_first_records_alone(tmp_path, run, name):
    pytest.importorskip("pyarrow")
    records = write(tmp_path / "in", SINGLE)
    for most in (0, 1, 5000, ROWS + 1):
        assert run(tmp_path / "in", tmp_path / name, "--limit", most) == (0, "")
        assert run(tmp_path / name, tmp_path / "back.tfrecord") == (0, "")
        assert read(tmp_path / "back.tfrecord") == records[:most]


def test_input_without_an_extension_is_known_by_its_first_bytes(tmp_path, run):
    pytest.importorskip("pyarrow")
    records = write(tmp_path / "in", SINGLE)
    assert run(tmp_path / "in", tmp_path / "part-0", "--to", "parquet") == (0, "")
    assert run(tmp_path / "part-0", tmp_path / "back.tfrecord") == (0, "")
    assert read(tmp_path / "back.tfrecord") == records
    (tmp_path / "rows").write_text("a,b\n1,2\n")
    assert complains(run(tmp_path / "rows", tmp_path / "x.tfrecord"), 2, "looks like CSV text", "--from csv")


@pytest.mark.parametrize("name", ["in.csv", "in.jsonl", "in.parquet"])
def test_what_stands_in_place_of_the_data_is_no_data(tmp_path, run, name):
    (tmp_path / name).write_text(LFS)
    assert complains(
        run(tmp_path / name, tmp_path / "x.tfrecord"), 2, f"{tmp_path}/{name}: the file is a Git LFS pointer"
    )
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("form", ["jsonl", "tfrecord"])
def test_devices_pipes_and_links_are_not_replaced(tmp_path, form):
    write(tmp_path / "in", {"id": [1]})
    assert main(["convert", str(tmp_path / "in"), "/dev/null", "--to", form]) == 0
    assert not os.path.isfile("/dev/null")
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    assert main(["convert", str(tmp_path / "in"), str(tmp_path / "link"), "--to", form]) == 0
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").stat().st_size
    os.mkfifo(tmp_path / "fifo")
    command = [*COMMAND, "convert", str(tmp_path / "in"), str(tmp_path / "fifo"), "--to", form]
    with subprocess.Popen(command) as process, open(tmp_path / "fifo", "rb") as file:
        assert file.read() == (tmp_path / "file").read_bytes()
    assert process.returncode == 0 and (tmp_path / "fifo").is_fifo()
