"""`tfrecord-fast filter`: the records that `cat --where` prints are written, or nothing is."""

import functools
import json
import os
import subprocess

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.command import COMMAND, run_here
from tests.support.copying import names, read
from tfrecord_fast._core import detect_compression

ROWS = 10_000
COLUMNS = {
    "id": np.arange(ROWS),
    "score": np.linspace(0, 1, ROWS, dtype=np.float32),
    "name": [f"n{i % 7}" for i in range(ROWS)],
    "maybe": [None if i % 3 else i for i in range(ROWS)],
}


@pytest.fixture
def run(capsysbinary):
    return functools.partial(run_here, capsysbinary, "filter")


@pytest.fixture
def path(tmp_path):
    with tf.ExampleWriter(tmp_path / "in.tfrecord") as writer:
        writer.write(COLUMNS)
    return tmp_path / "in.tfrecord"


CONDITIONS = {
    "id == 3": lambda row: row == 3,
    "id < 10 or id >= 9990": lambda row: row < 10 or row >= 9990,
    "score >= 0.5 and not name == 'n3'": lambda row: np.float32(COLUMNS["score"][row]) >= 0.5 and row % 7 != 3,
    "maybe": lambda row: row % 3 == 0,
    "not maybe == 3": lambda row: row != 3,
    "id == -1": lambda row: False,
}


@pytest.mark.parametrize("where", CONDITIONS)
def test_records_that_match_are_written_in_order(tmp_path, path, run, where, capsysbinary):
    expected = [record for row, record in enumerate(read(path)) if CONDITIONS[where](row)]
    status, out, err = run(path, "--where", where, "-o", tmp_path / "out")
    records = f"{len(expected):,} record" + ("" if len(expected) == 1 else "s")
    assert (status, out, err) == (0, f"{tmp_path}/out: {records} of 10,000\n", "")
    assert read(tmp_path / "out") == expected
    printed = run_here(capsysbinary, "cat", path, "--where", where, "--base64")[1]
    assert len(printed.splitlines()) == len(expected)


def test_a_float32_is_compared_as_its_shortest_decimal(tmp_path, run):
    with tf.ExampleWriter(tmp_path / "in") as writer:
        writer.write({"f": np.float32([0.1, 16777216, 3e-45])})
    for where, count in {"f == 0.1": 1, "f == 0.10000000149011612": 0, "f < 0.1": 1, "f >= 1.6777216e7": 1}.items():
        status = run(tmp_path / "in", "--where", where, "-o", tmp_path / "out")[0]
        assert (status, len(read(tmp_path / "out"))) == (0, count), where


def test_the_output_may_be_several_files_or_a_stream(tmp_path, path, run):
    status, out, _ = run(path, path, "--where", "id < 5", "--output", tmp_path / "out.zst", "--shards", 2, "--json")
    assert status == 0 and [file["records"] for file in json.loads(out)["files"]] == [5, 5]
    command = [*COMMAND, "filter", "-", "--where", "id < 5", "-o", "-", "--compression", "gzip"]
    done = subprocess.run(command, stdin=path.open("rb"), capture_output=True)
    (tmp_path / "stream").write_bytes(done.stdout)
    assert done.stderr == b"tfrecord-fast: standard output: 5 records of 10,000\n"
    assert done.stdout[:2] == b"\x1f\x8b" and read(tmp_path / "stream") == read(path)[:5]


def test_the_input_is_replaced_only_if_asked_for(path, run):
    before = read(path)
    status, _, err = run(path, "--where", "id < 5", "-o", path)
    assert status == 2 and "--in-place" in err and read(path) == before
    assert run(path, "--where", "id < 5", "-o", path, "--in-place")[0] == 0 and read(path) == before[:5]


@pytest.mark.parametrize(
    ("where", "status", "word"),
    [
        ("idd == 3", 2, "--where: no feature 'idd' in the 10,000 records read (did you mean 'id'?)"),
        ("id ==", 2, "--where: expected a name or a value"),
        ("id == 'x'", 1, "'id' is a number, compared with text"),
    ],
)
def test_a_condition_that_does_not_fit_writes_nothing(tmp_path, path, run, where, status, word):
    ended, out, err = run(path, "--where", where, "-o", tmp_path / "out")
    assert (ended, out, names(tmp_path)) == (status, "", ["in.tfrecord"]) and word in err


def test_a_record_that_does_not_fit_is_named(tmp_path, run):
    lists = wire.example([(b"a", wire.feature("int64", [1, 2]))])
    for record, word in ((lists, "'a' has 2 values"), (b"words", "looks like text")):
        with tf.io.TFRecordWriter(tmp_path / "in") as writer:
            writer.write_batch([*tf.encode_examples({"a": [1] * 5000}), record])
        status, _, err = run(tmp_path / "in", "--where", "a == 1", "-o", tmp_path / "out")
        assert status == 1 and f"{tmp_path}/in: " in err and word in err and "record 5000" in err
        assert names(tmp_path) == ["in"]


def test_damage_writes_nothing(tmp_path, path, run):
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) - 20)
        file.write(b"\xff" * 8)
    status, _, err = run(path, "--where", "id >= 0", "-o", tmp_path / "out")
    assert status == 1 and "corrupted record" in err and names(tmp_path) == ["in.tfrecord"]


@pytest.mark.parametrize("missing", [["-o", "out"], ["--where", "id"]])
def test_both_options_are_needed(path, run, missing):
    status, _, err = run(path, *missing)
    assert status == 2 and "arguments are required" in err


WRITING = {
    "filter": ["filter", "IN", "--where", "id", "-o", "OUT"],
    "split": ["split", "IN", "--into", "1", "-o", "OUT"],
    "sample": ["sample", "IN", "OUT", "-n", "5"],
    **{name: [name, "IN", "OUT"] for name in ("convert", "dedup", "merge", "repair", "shuffle")},
}


@pytest.mark.parametrize("command", WRITING)
@pytest.mark.parametrize(
    ("name", "option", "expected"),
    [
        ("o.tfrecord", None, ""), ("o.tfrecord.gz", None, "GZIP"), ("o.tfrecord.ZST", None, "ZSTD"),
        ("o.tfrecord.snappy", None, "SNAPPY"), ("o.tfrecord", "ZLIB", "ZLIB"), ("o.tfrecord", "Zstd", "ZSTD"),
        ("o.tfrecord.gz", "NONE", ""), ("o.tfrecord.gz", "auto", "GZIP"),
    ],
)  # fmt: skip
def test_every_command_that_writes_has_compression(tmp_path, path, capsysbinary, command, name, option, expected):
    words = [{"IN": path, "OUT": tmp_path / name}.get(word, word) for word in WRITING[command]]
    assert run_here(capsysbinary, *words, *(["--compression", option] if option else []))[0] == 0
    (written,) = tmp_path.glob("o*")
    assert detect_compression(written.read_bytes()[:128]) == expected
