"""A worker that is killed, and what is there when its bundle has run again."""

import os

import pytest

pytest.importorskip("apache_beam")

import apache_beam as beam

import tfrecord_fast as tf
from tests.support.pipelines import KilledOnce, collected, processes
from tfrecord_fast.integrations.beam import ReadFromTFRecord, WriteToTFRecord
from tools.kills.beam_kit import (
    NAME_STAGES,
    READ_STAGES,
    WRITE_STAGES,
    check,
    check_folder,
    make_files,
    read_while,
    write_while,
)


@pytest.mark.parametrize("stage", READ_STAGES)
@pytest.mark.parametrize("split_at", [None, 0.5])
def test_a_worker_that_reads(tmp_path, stage, split_at):
    check(read_while(make_files(tmp_path / "in"), tmp_path, stage, 1, split_at))


@pytest.mark.parametrize("stage", WRITE_STAGES)
@pytest.mark.parametrize("kind", ["", "GZIP"])
def test_a_worker_that_writes(tmp_path, stage, kind):
    (tmp_path / "out").mkdir()
    write_while(tmp_path / "out", tmp_path, stage, 2, kind)
    check_folder(tmp_path / "out")


@pytest.mark.parametrize("stage", NAME_STAGES)
def test_a_worker_that_names_the_shards(tmp_path, stage):
    (tmp_path / "out").mkdir()
    write_while(tmp_path / "out", tmp_path, stage, None)
    check_folder(tmp_path / "out")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # of Beam's threads
def test_beams_local_runner_gives_up_and_leaves_nothing_under_the_names(tmp_path):
    """It does not try again; who starts the pipeline again gets every record once."""
    with tf.ExampleWriter(tmp_path / "in") as writer:
        writer.write({"i": range(1000)})
    with pytest.raises(RuntimeError, match="closed"):
        copy(tmp_path)
    assert all(name.startswith(".") for name in os.listdir(tmp_path / "out"))
    copy(tmp_path)
    assert sorted(tf.read_table(f"{tmp_path}/out/a*").column("i").to_pylist()) == list(range(1000))
    records, _ = collected(ReadFromTFRecord(tmp_path / "out"))  # what the first left there is hidden
    assert len(records) == 1000


def copy(folder):
    with processes() as pipeline:
        rows = pipeline | ReadFromTFRecord(f"{folder}/in", {"i": tf.io.FixedLenFeature([], tf.int64)})
        kept = rows | beam.Map(lambda row: row["i"]) | beam.ParDo(KilledOnce(f"{folder}/mark", 700))
        kept | "Row" >> beam.Map(lambda i: {"i": i}) | WriteToTFRecord(f"{folder}/out/a")
