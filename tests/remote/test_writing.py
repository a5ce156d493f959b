"""Writing to stores of objects: an object appears whole or not at all, and nothing of an upload stays behind."""

import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import threading

import pytest

import tfrecord_fast as tf
from tests.support.paths import ROOT

from .proxy import Fault

KINDS = ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"]
LARGE = 40 << 20  # of several parts


class MineError(Exception):
    """Of the user's code."""


@pytest.fixture(params=["s3", "signed_s3", "azure"])
def bucket(request):
    """A bucket of each kind. The server of GCS takes no writes of GCS's XML interface, which obstore uses."""
    return request.getfixturevalue(request.param)


def records_of(data):
    return list(tf.data.TFRecordDataset(memoryview(data)))


def threads():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("tfrecord-fast-u")]


@pytest.mark.parametrize("kind", KINDS)
def test_records_are_written(bucket, kind):
    with tf.io.TFRecordWriter(bucket.url("a b/ü.tfrecord"), kind, storage_options=bucket.options) as writer:
        writer.write_batch([b"one", b"two"])
        assert bucket.keys() == []
    assert bucket.keys() == ["a b/ü.tfrecord"] and records_of(bucket.get("a b/ü.tfrecord")) == [b"one", b"two"]


@pytest.mark.parametrize("kind", ["", "GZIP"])
def test_large_objects_are_sent_in_parts_while_they_are_written(bucket, kind):
    record = os.urandom(1 << 20)
    with tf.io.TFRecordWriter(bucket.url("x"), kind, storage_options=bucket.options) as writer:
        for _ in range(LARGE >> 20):
            writer.write(record)
        assert bucket.keys() == []
    found = records_of(bucket.get("x"))
    assert len(found) == LARGE >> 20 and set(found) == {record}
    assert bucket.uploads() == [] and threads() == []


@pytest.mark.parametrize("size", [100, LARGE])
@pytest.mark.parametrize("way", ["exception", "del", "discard"])
def test_what_is_not_closed_leaves_nothing(s3, size, way):
    s3.put("x", b"before")
    if way == "exception":
        with pytest.raises(MineError), tf.io.TFRecordWriter(s3.url("x"), storage_options=s3.options) as writer:
            writer.write(b"x" * size)
            raise MineError
    elif way == "del":
        writer = tf.io.TFRecordWriter(s3.url("x"), storage_options=s3.options)
        writer.write(b"x" * size)
        with pytest.warns(RuntimeWarning, match="x: not closed, so nothing was written"):
            del writer
            gc.collect()
    else:
        writer = tf.ExampleWriter(s3.url("x"), storage_options=s3.options)
        writer.write_batch([b"x" * size])
        writer.abort()
    assert s3.get("x") == b"before" and s3.uploads() == [] and threads() == []


ENDING = """
import os, signal, sys, time
import tfrecord_fast as tf
signal.signal(signal.SIGINT, signal.default_int_handler)  # started in the background, it would be ignored
url, options, how = sys.argv[1], eval(sys.argv[2]), sys.argv[3]
writer = tf.io.TFRecordWriter(url, storage_options=options)
for _ in range(40):
    writer.write(bytes(1 << 20))
print("written", flush=True)
if how == "signal":
    time.sleep(60)
"""


@pytest.mark.parametrize("how", ["exit", "signal"])
def test_a_process_that_ends_leaves_nothing(s3, how):
    command = [sys.executable, "-c", ENDING, s3.url("x"), repr(s3.options), how]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "written\n"
    if how == "signal":
        process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert "not closed, so nothing was written" in said
    assert s3.keys() == [] and s3.uploads() == []


def test_a_forked_process_leaves_the_upload_alone(s3):
    writer = tf.io.TFRecordWriter(s3.url("x"), storage_options=s3.options)
    writer.write(bytes(LARGE))
    child = os.fork()
    if child == 0:
        del writer
        gc.collect()
        with tf.io.TFRecordWriter(s3.url("of-child"), storage_options=s3.options) as other:
            other.write(b"child")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    writer.close()
    assert s3.keys() == ["of-child", "x"] and records_of(s3.get("x")) == [bytes(LARGE)]


@pytest.mark.parametrize("size", [100, LARGE])
def test_an_object_that_exists_is_not_replaced_if_that_is_asked_for(s3, size):
    s3.put("x", b"before")
    with (
        pytest.raises(FileExistsError, match=r"s3://.*/x"),
        tf.io.TFRecordWriter(s3.url("x"), overwrite=False, storage_options=s3.options) as writer,
    ):
        writer.write(b"x" * size)
    with tf.io.TFRecordWriter(s3.url("y"), overwrite=False, storage_options=s3.options) as writer:
        writer.write(b"x" * size)
    assert s3.get("x") == b"before" and s3.keys() == ["x", "y"] and s3.uploads() == []


def test_two_writers_that_do_not_overwrite_leave_the_first_object(s3):
    writers = [tf.io.TFRecordWriter(s3.url("x"), overwrite=False, storage_options=s3.options) for _ in range(2)]
    for number, writer in enumerate(writers):
        writer.write(b"%d" % number)
    writers[0].close()
    with pytest.raises(FileExistsError):
        writers[1].close()
    assert records_of(s3.get("x")) == [b"0"]


def test_appending_is_refused_with_a_reason(s3):
    with pytest.raises(ValueError, match="written as a whole"):
        tf.io.TFRecordWriter(s3.url("x"), append=True, storage_options=s3.options)
    with pytest.raises(tf.errors.InvalidArgumentError, match="appended"):
        tf.io.gfile.GFile(s3.url("x"), "a", storage_options=s3.options).write("x")


def test_parts_have_the_size_that_is_asked_for_and_a_number_that_stores_take(s3, monkeypatch):
    monkeypatch.setattr("tfrecord_fast.files.stores.obstore_upload._MOST_PARTS", 3)
    options = {**s3.options, "part_bytes": 6 << 20}
    with tf.io.TFRecordWriter(s3.url("x"), storage_options=options) as writer:
        writer.write(bytes(17 << 20))
    with pytest.raises(OSError, match="part_bytes"):
        with tf.io.TFRecordWriter(s3.url("y"), storage_options=options) as writer:
            writer.write(bytes(25 << 20))
    assert s3.keys() == ["x"] and s3.uploads() == []


@pytest.mark.parametrize("wrong", [0, True, "16", 6 << 30])
def test_sizes_of_parts_that_no_store_takes_are_refused(wrong):
    with pytest.raises(ValueError, match="part_bytes"):
        tf.io.TFRecordWriter("s3://bucket/x", storage_options={"part_bytes": wrong})


# ---- Many shards ----


@pytest.mark.parametrize("kind", ["", "ZSTD"])
def test_shards_appear_when_the_writer_is_closed(bucket, kind):
    pattern = bucket.url("set/part-{shard}-of-{num_shards}")
    with tf.ExampleWriter(
        pattern, num_shards=7, options=kind, manifest="all.json", storage_options=bucket.options
    ) as writer:
        writer.write({"id": list(range(1000))})
        assert bucket.keys() == []
    names = [f"part-{shard:05d}-of-00007" for shard in range(7)]
    assert bucket.keys() == ["set/all.json", *(f"set/{name}" for name in names)]
    listed = json.loads(bucket.get("set/all.json"))["files"]
    assert [one["name"] for one in listed] == names
    for one in listed:
        data = bucket.get(f"set/{one['name']}")
        assert len(data) == one["bytes"] and len(records_of(data)) == one["records"]
    assert [file.path for file in writer.close()] == [bucket.url(f"set/{name}") for name in names]


def test_large_shards_are_sent_side_by_side(s3):
    record = os.urandom(1 << 20)
    with tf.ExampleWriter(s3.url("x"), num_shards=3, storage_options=s3.options) as writer:
        writer.write_batch([record] * 50)
        assert s3.keys() == []
    assert len(s3.keys()) == 3 and s3.uploads() == []
    assert sum(len(records_of(s3.get(key))) for key in s3.keys()) == 50


def test_an_exception_leaves_no_shard(s3):
    with (
        pytest.raises(MineError),
        tf.ExampleWriter(s3.url("x"), num_shards=3, manifest="m", storage_options=s3.options) as writer,
    ):
        writer.write_batch([bytes(1 << 20)] * 40)
        raise MineError
    assert s3.keys() == [] and s3.uploads() == [] and threads() == []


def test_a_manifest_of_local_files_lies_beside_them(tmp_path):
    with tf.ExampleWriter(tmp_path / "x.tfrecord", num_shards=2, manifest="m.json") as writer:
        writer.write({"id": [1, 2, 3]})
    listed = json.loads((tmp_path / "m.json").read_text())["files"]
    sizes = [(tmp_path / one["name"]).stat().st_size for one in listed]
    assert [(one["name"], one["records"]) for one in listed] == [
        ("x-00000-of-00002.tfrecord", 2),
        ("x-00001-of-00002.tfrecord", 1),
    ]
    assert [one["bytes"] for one in listed] == sizes


def test_local_files_that_exist_are_not_replaced_if_that_is_asked_for(tmp_path):
    (tmp_path / "x").write_bytes(b"before")
    for writer in (tf.ExampleWriter, tf.io.TFRecordWriter):
        with pytest.raises(FileExistsError):
            writer(tmp_path / "x", overwrite=False)
    late = tf.ExampleWriter(tmp_path / "y", overwrite=False)
    (tmp_path / "y").write_bytes(b"before")
    late.write({"a": [1]})
    with pytest.raises(FileExistsError):
        late.close()
    assert sorted(os.listdir(tmp_path)) == ["x", "y"] and (tmp_path / "y").read_bytes() == b"before"


# ---- Faults ----

WRITE_FAULTS = ["500", "503", "429", "reset", "reset_in_request"]


@pytest.mark.parametrize("kind", WRITE_FAULTS)
@pytest.mark.parametrize("size", [100, LARGE])
def test_a_fault_gives_the_object_or_an_error_and_nothing_in_part(proxied_s3, s3_proxy, kind, size):
    record = os.urandom(size)
    for at in range(2 if size == 100 else 6):
        key = f"{kind}-{at}"
        s3_proxy.configure(Fault(kind, at=at))
        error = None
        try:
            with tf.io.TFRecordWriter(proxied_s3.url(key), storage_options=proxied_s3.options) as writer:
                writer.write(record)
        except OSError as one:
            error = one
        s3_proxy.configure()
        if key in proxied_s3.keys():
            assert records_of(proxied_s3.get(key)) == [record]
        else:
            assert error is not None and key in str(error)
        assert proxied_s3.uploads() == [] and threads() == []


def test_a_store_that_refuses_for_good_is_an_error_and_nothing_stays(proxied_s3, s3_proxy):
    s3_proxy.configure(Fault("reset", at=3, times=10_000, method="PUT"))
    writer = tf.io.TFRecordWriter(proxied_s3.url("x"), storage_options=proxied_s3.options)
    with pytest.raises(ConnectionError, match=r"s3://.*/x"):
        for _ in range(200):
            writer.write(bytes(1 << 20))
    with contextlib.suppress(OSError):
        writer.close()
    s3_proxy.configure()
    assert proxied_s3.keys() == [] and proxied_s3.uploads() == []
