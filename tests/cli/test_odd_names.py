"""Names of files with newlines, escape sequences and bytes that are not UTF-8: printed on one line, in JSON exactly."""

import json

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.command import run_here
from tfrecord_fast.cli import app

NAME = "a\nb\x1b[31m\udcff\u202e.tfrecord"
SHOWN = r"a\nb\x1b[31m\xff\u202e.tfrecord"
RECORDS = [wire.example([(b"n", wire.feature("int64", [i]))]) for i in (1, 1, 2)]


@pytest.fixture
def run(capfd):
    def call(*argv):
        status, *printed = run_here(capfd, *argv)
        for text in printed:
            assert all(line.isprintable() for line in text.split("\n")), text
        return status, *printed

    return call


@pytest.fixture
def odd(tmp_path):
    path = tmp_path / NAME
    with tf.TFRecordWriter(path) as writer:
        writer.write_batch(RECORDS)
    return path


@pytest.mark.parametrize("command", ["info", "verify", "stats"])
def test_a_file_is_one_line(odd, run, command):
    status, out, _ = run(command, odd, odd)
    lines = [line for line in out.splitlines() if SHOWN in line]
    assert status == 0 and len(lines) == 2


def test_cat_names_files_on_one_line(odd, run):
    status, out, _ = run("cat", odd, odd)
    assert status == 0 and sum(f"{SHOWN} [" in line for line in out.splitlines()) == 6


def test_a_schema_of_two_kinds_has_a_comment_of_one_line(odd, tmp_path, run):
    other = tmp_path / "other"
    with tf.TFRecordWriter(other) as writer:
        writer.write(wire.example([(b"z", wire.feature("int64", [1]))]))
    status, out, _ = run("schema", odd, other)
    comments = [line for line in out.splitlines() if SHOWN in line]
    assert (status, comments) == (0, [f"# 1 file of Examples: {tmp_path}/{SHOWN}"])
    exec(out, {"tf": tf})


@pytest.mark.parametrize("command", ["merge", "shuffle", "dedup", "sample -n 2", "repair"])
def test_an_output_is_one_line(odd, tmp_path, run, command):
    status, out, err = run(*command.split(), odd, tmp_path / "x\ny.tfrecord")
    assert (status, err) == (0, "") and len(out.splitlines()) == 1


def test_each_output_of_split_is_one_line(odd, tmp_path, run):
    status, out, err = run("split", "--into", 2, odd, "-o", tmp_path / "x\n{shard}.tfrecord")
    assert (status, err) == (0, "") and len(out.splitlines()) == 3


@pytest.mark.parametrize("command", ["info", "count", "verify", "cat", "head", "schema", "stats", "index"])
def test_a_missing_file_is_one_line(tmp_path, run, command):
    status, _, err = run(command, tmp_path / NAME)
    assert status == 2 and len(err.splitlines()) == 1 and SHOWN in err


@pytest.mark.parametrize("command", ["info", "count", "verify", "cat", "head", "schema", "stats"])
def test_a_damaged_file_is_one_line(odd, run, command):
    odd.write_bytes(odd.read_bytes()[:-3])
    status, out, err = run(command, odd)
    assert status == 1 and sum(SHOWN in line for line in err.splitlines()) == (command != "verify")
    assert command != "verify" or len(out.splitlines()) == 1


def test_json_is_exact(odd, run):
    for command in ("info", "verify", "index"):
        assert json.loads(run(command, odd, "--json")[1])["path"] == str(odd)
    assert {json.loads(line)["path"] for line in run("cat", odd, odd, "--json")[1].splitlines()} == {str(odd)}
    assert json.loads(run("stats", odd, "--json")[1])["shards"][0]["path"] == str(odd)


def test_an_unknown_option_is_one_line(capfd):
    with pytest.raises(SystemExit):
        app.run(["info", "a", "--x\ny"])
    assert "--x\\ny" in capfd.readouterr().err
