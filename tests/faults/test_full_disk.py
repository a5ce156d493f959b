"""A disk that fills up: the error names the file that the user named, and no draft stays."""

import errno
import os
from fnmatch import fnmatch

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.command import run_here
from tests.support.mounts import refused
from tfrecord_fast.files.rewriting.task_shards import TaskShards
from tfrecord_fast.files.writing.output_files import WrittenFile, write_manifest

RECORDS = 40_000


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A file that no small disk holds, in any format."""
    path = tmp_path_factory.mktemp("large") / "a.tfrecord"
    with tf.ExampleWriter(path) as writer:
        writer.write({"i": np.random.default_rng(1).integers(0, 2**62, RECORDS)})
    return path


@pytest.fixture
def full_disk(small_disk):
    """A disk with room for 16 KiB."""
    (small_disk / "others").write_bytes(bytes(1008 << 10))
    return small_disk


def write_tasks(folder):
    shards = TaskShards(folder, "overwrite")
    shards.begin()
    try:
        shards.commit(shards.write(0, [{"i": np.random.default_rng(1).integers(0, 2**62, RECORDS)}]))
    except OSError:
        shards.abort()
        raise


WAYS = {
    "save": (lambda large, out: tf.TFRecordDataset(large).save(out), "out/elements.tfrecord"),
    "snapshot": (lambda large, out: list(tf.TFRecordDataset(large).snapshot(out)), "out/*/elements.tfrecord"),
    "cache": (lambda large, out: list(tf.TFRecordDataset(large).cache(out)), "out.tfrecord"),
    "index": (lambda large, out: tf.RecordIndex.build(large).save(out), "out"),
    "manifest": (lambda large, out: write_manifest(out, [WrittenFile("a" * 99, 0, 0)] * RECORDS, None), "out"),
    "copy": (lambda large, out: tf.io.gfile.copy(large, out), "out"),
    "tasks": (lambda large, out: write_tasks(out), "out"),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_error_names_the_file_that_the_user_named(full_disk, large, way):
    write, name = WAYS[way]
    with pytest.raises(OSError) as caught:
        write(large, str(full_disk / "out"))
    shown = caught.value.filename or ""
    assert fnmatch(os.path.relpath(shown, full_disk), name), caught.value
    assert refused(caught.value, errno.ENOSPC, shown), caught.value
    assert [path.name for path in full_disk.rglob("*") if path.is_file()] == ["others"]


@pytest.mark.parametrize("write", [lambda path: tf.io.write_file(path, bytes(1 << 24)), None])
def test_files_written_in_place_are_named(full_disk, write):
    with pytest.raises(OSError) as caught:
        if write is None:
            with tf.io.gfile.GFile(full_disk / "out", "w") as file:
                file.write("x" * (1 << 24))
        else:
            write(full_disk / "out")
    assert refused(caught.value, errno.ENOSPC, full_disk / "out")


@pytest.mark.parametrize(
    "arguments",
    [
        *(f"convert IN OUT.{extension}" for extension in ("tfrecord.gz", "csv", "jsonl", "parquet", "arrow", "orc")),
        "merge IN IN OUT",
        "shuffle IN OUT",
        "sample IN OUT -n 39000",
        "dedup IN OUT",
        "index IN --output OUT",
    ],
)
def test_commands_name_the_output(full_disk, large, capfd, arguments):
    argv = [word.replace("IN", str(large)).replace("OUT", str(full_disk / "out")) for word in arguments.split()]
    status, _, told = run_here(capfd, *argv)
    output = next(word for word in argv if word.startswith(str(full_disk)))
    assert status == 2 and told.startswith(f"tfrecord-fast: {output}: "), told
    assert told.endswith(f"{os.strerror(errno.ENOSPC)}\n")
    assert os.listdir(full_disk) == ["others"]
