"""Standard output that is full, closed or no longer read: told under that name, and no process is aborted."""

import os
import resource
import signal
import subprocess

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.command import COMMAND
from tests.support.paths import ROOT
from tfrecord_fast.cli import app

FULL = "tfrecord-fast: standard output: No space left on device\n"
COPYING = ["merge IN -", "sample IN - -n 9000", "shuffle IN -", "dedup IN -", "repair IN -", "filter IN --where n -o -"]
FORMATS = ["tfrecord", "jsonl", "csv", "parquet", "arrow", "orc"]
CONVERTING = [f"convert IN - --to {form}" for form in FORMATS]
LOOKING = ["cat IN", "head IN", "count IN", "schema IN", "stats IN"]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """More than is held back in any buffer."""
    path = tmp_path_factory.mktemp("large") / "in.tfrecord"
    words = [b"%x" % one for one in np.random.default_rng(1).integers(0, 2**62, 10_000)]
    with tf.TFRecordWriter(path) as writer:
        writer.write_batch(tf.encode_examples({"n": np.arange(10_000), "w": [one * 20 for one in words]}))
    return path


def call(line, path, **how):
    words = [str(path) if word == "IN" else word for word in line.split()]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    return subprocess.run([*COMMAND, *words], stderr=subprocess.PIPE, text=True, env=environment, check=False, **how)


@pytest.mark.parametrize("line", [*COPYING, *CONVERTING, *LOOKING])
def test_a_full_standard_output_is_told_as_that(large, line):
    if line.split()[-1] in ("parquet", "arrow", "orc", "csv"):
        pytest.importorskip("pyarrow")
    with open("/dev/full", "wb") as full:
        done = call(line, large, stdout=full)
    assert (done.returncode, done.stderr) == (2, FULL)


@pytest.mark.parametrize("line", ["shuffle IN -", "repair IN -", *CONVERTING])
def test_a_pipe_that_nobody_reads_ends_the_command_silently(large, line):
    if line.split()[-1] in ("parquet", "arrow", "orc", "csv"):
        pytest.importorskip("pyarrow")
    reader, writer = os.pipe()
    os.close(reader)
    done = call(line, large, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, "")


@pytest.mark.parametrize("line", LOOKING)
def test_a_closed_standard_output_is_a_message(large, line):
    done = call(line, large, preexec_fn=lambda: os.close(1))
    assert (done.returncode, done.stderr) == (2, "tfrecord-fast: standard output: it is closed\n")


def test_an_orc_file_on_a_full_disk_leaves_nothing(large, tmp_path):
    pytest.importorskip("pyarrow")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))

    done = call("convert IN x.orc", large, cwd=tmp_path, preexec_fn=limit)
    assert (done.returncode, done.stderr) == (2, "tfrecord-fast: x.orc: File too large\n")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("line", COPYING)
def test_what_was_written_there_is_not_told_of_a_file_named_dash(large, line):
    done = call(line, large, stdout=subprocess.DEVNULL)
    assert done.returncode == 0 and "standard output" in done.stderr and "-:" not in done.stderr


def test_repair_names_standard_input(large):
    done = call("repair - - --json", large, stdin=large.open("rb"), stdout=subprocess.DEVNULL)
    assert done.returncode == 2
    done = call("repair - -", large, stdin=large.open("rb"), stdout=subprocess.DEVNULL)
    assert done.stderr == "tfrecord-fast: standard input: no damage, 10,000 records in standard output\n"


def test_a_report_that_can_not_be_written_is_named(large, tmp_path, capfd):
    assert app.run(["repair", str(large), str(tmp_path / "out"), "--report", "/dev/full"]) == 2
    assert capfd.readouterr().err == "tfrecord-fast: /dev/full: No space left on device\n"


def test_a_page_is_not_written_to_a_file_named_dash(large, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert app.run(["stats", str(large), "--html", "-"]) == 2
    assert "--html requires a file name" in capfd.readouterr().err and os.listdir(tmp_path) == []
