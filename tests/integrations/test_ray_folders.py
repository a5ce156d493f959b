"""What is in the folder after a write with Ray: of datasets without rows, and when several write into it."""

import json
import os
import signal
import threading

import pytest
import ray
import ray.data

import tfrecord_fast as tf
from tfrecord_fast.files.rewriting.task_shards import TaskShards
from tfrecord_fast.integrations.ray import TFRecordDatasink, write_tfrecords

pytestmark = pytest.mark.usefixtures("cluster")


def listed(folder):
    return [one["name"] for one in json.loads((folder / "_manifest.json").read_text())["files"]]


NO_ROWS = {
    "no block": lambda: ray.data.range(0),
    "no items": lambda: ray.data.from_items([]),
    "all filtered": lambda: ray.data.range(5).filter(lambda row: False),
}


@pytest.mark.parametrize("name", NO_ROWS)
def test_a_dataset_without_rows_is_a_manifest_without_files(tmp_path, name):
    assert write_tfrecords(NO_ROWS[name](), tmp_path / "out") == []
    assert os.listdir(tmp_path / "out") == ["_manifest.json"] and listed(tmp_path / "out") == []


@pytest.mark.parametrize("name", NO_ROWS)
def test_a_dataset_without_rows_respects_what_is_there(tmp_path, name):
    out = tmp_path / "out"
    [file] = write_tfrecords(ray.data.from_items([{"a": 3}]), out)
    with pytest.raises(FileExistsError):
        write_tfrecords(NO_ROWS[name](), out)
    with pytest.raises(FileExistsError):
        NO_ROWS[name]().write_datasink(TFRecordDatasink(TaskShards(out)))
    write_tfrecords(NO_ROWS[name](), out, mode="append")
    assert listed(out) == [os.path.basename(file.path)] and os.path.exists(file.path)
    write_tfrecords(NO_ROWS[name](), out, mode="overwrite")
    assert os.listdir(out) == ["_manifest.json"] and listed(out) == []


def test_a_folder_with_something_in_it_is_told_before_anything_runs(tmp_path):
    (tmp_path / "x").touch()

    def fail(batch):
        raise AssertionError("it ran")

    with pytest.raises(FileExistsError, match="not empty"):
        write_tfrecords(ray.data.range(3).map_batches(fail), tmp_path)


def test_an_interrupt_leaves_nothing(tmp_path):
    def wait(batch):
        if not (tmp_path / "running").exists():
            (tmp_path / "running").touch()
        threading.Event().wait(20)
        return batch

    def interrupt():
        while not (tmp_path / "running").exists():
            threading.Event().wait(0.05)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    # A shell that starts the tests in the background has interrupts ignored.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            write_tfrecords(ray.data.range(3).map_batches(wait), tmp_path / "out")
    finally:
        signal.signal(signal.SIGINT, handler)
        thread.join()
    assert not (tmp_path / "out").exists()


def test_what_is_written_at_once_into_one_folder_is_all_there(tmp_path):
    out = tmp_path / "out"
    threads = [
        threading.Thread(
            target=write_tfrecords, args=(ray.data.from_items([{"a": i}] * 10), out), kwargs={"mode": "append"}
        )
        for i in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(tf.read_table(str(out / "*.tfrecord")).column("a").to_pylist()) == sorted([0, 1, 2] * 10)
    assert sorted(listed(out)) == sorted(name for name in os.listdir(out) if name != "_manifest.json")
