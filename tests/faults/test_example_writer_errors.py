"""ExampleWriter: what the system refuses names the file and leaves nothing."""

import errno
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.mounts import refused

KINDS = ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"]


def names(folder):
    return sorted(entry.name for entry in Path(folder).iterdir())


def write_until_refused(writer):
    with pytest.raises(OSError) as caught:
        for _ in range(100):
            writer.write({"i": np.random.default_rng().integers(0, 2**62, 20_000)})
        writer.close()
    with pytest.raises(tf.errors.FailedPreconditionError):
        writer.write({"i": [1]})
    return caught.value


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_names_the_file_and_leaves_nothing(small_disk, kind):
    writer = tf.ExampleWriter(small_disk / "x-{shard}", num_shards=2, options=kind)
    error = write_until_refused(writer)
    assert error.errno == errno.ENOSPC and error.filename in [str(small_disk / f"x-0000{i}") for i in range(2)]
    assert names(small_disk) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_of_file_size_names_the_file_and_leaves_nothing(tmp_path, kind):
    code = """
import resource, sys
import numpy as np
import tfrecord_fast as tf
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    with tf.ExampleWriter(sys.argv[1], options=sys.argv[2]) as writer:
        writer.write({"i": np.random.default_rng(1).integers(0, 2**62, 100_000)})
except OSError as error:
    print(error.errno, error.filename)
"""
    path = tmp_path / "x"
    run = subprocess.run([sys.executable, "-c", code, str(path), kind], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == (f"{errno.EFBIG} {path}\n", "")
    assert names(tmp_path) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_device_that_refuses_stays_a_device(kind):
    assert refused(write_until_refused(tf.ExampleWriter("/dev/full", options=kind)), errno.ENOSPC, "/dev/full")
    assert not Path("/dev/full").is_file()


@pytest.mark.parametrize("kind", KINDS)
def test_a_device_is_written_to_and_stays_a_device(kind):
    with tf.ExampleWriter("/dev/null", options=kind, sync=True) as writer:
        writer.write({"i": [1]})
    assert not Path("/dev/null").is_file()


def test_a_missing_folder_is_file_not_found_immediately(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        tf.ExampleWriter(tmp_path / "none" / "x")
    assert caught.value.errno == errno.ENOENT and caught.value.filename == str(tmp_path / "none" / "x")
    assert f"no folder '{tmp_path}/none', create it first" in str(caught.value)


def test_a_folder_of_that_name_is_refused_immediately(tmp_path):
    with pytest.raises(IsADirectoryError) as caught:
        tf.ExampleWriter(tmp_path)
    assert refused(caught.value, errno.EISDIR, tmp_path)
    assert names(tmp_path) == []


def test_a_folder_that_vanishes_is_an_error_of_close(tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    writer = tf.ExampleWriter(folder / "x", num_shards=2)
    writer.write({"i": [1, 2]})
    for entry in list(folder.iterdir()):
        entry.unlink()
    folder.rmdir()
    with pytest.raises(FileNotFoundError) as caught:
        writer.close()
    assert refused(caught.value, errno.ENOENT, folder / "x-00000-of-00002")


def test_a_shard_that_cannot_be_opened_is_refused(tmp_path):
    (tmp_path / "00001").mkdir()
    with pytest.raises(OSError):
        tf.ExampleWriter(tmp_path / "{shard}" / "x", num_shards=2)


def test_a_second_shard_that_cannot_be_opened_removes_the_first(tmp_path):
    (tmp_path / "00000").mkdir()
    with pytest.raises(FileNotFoundError):
        tf.ExampleWriter(tmp_path / "{shard}" / "x", num_shards=2)
    assert names(tmp_path / "00000") == []


@pytest.mark.parametrize("options", ["lzma", tf.io.TFRecordOptions("GZIP", compression_level=11)])
def test_options_that_are_none_are_a_value_error_and_leave_nothing(tmp_path, options):
    with pytest.raises(ValueError):
        tf.ExampleWriter(tmp_path / "x", options=options)
    assert names(tmp_path) == []
