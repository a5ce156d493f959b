"""Ray reads and writes objects, while its workers are killed."""

import glob
import threading

import numpy as np
import pytest

pytest.importorskip("ray")

import tfrecord_fast as tf
from tests.integrations.ray_kit import local_ray, table_of
from tests.remote import http_files
from tfrecord_fast.integrations.ray import read_tfrecords, write_tfrecords
from tools.kills.ray_kit import (
    WRITE_STAGES,
    Trap,
    check_rows,
    check_written,
    kill_worker,
    make_files,
    read_while,
    write_while,
)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with local_ray():
        yield


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    return make_files(str(tmp_path_factory.mktemp("local")))


@pytest.fixture
def stored(s3, local):
    """The folder with the files in a bucket."""
    for path in glob.glob(f"{local}/*"):
        with open(path, "rb") as file:
            s3.put(f"in/{path.rpartition('/')[2]}", file.read())
    return s3.url("in/")


def test_objects_are_read_and_written(s3, stored):
    dataset = read_tfrecords(stored, storage_options=s3.options, split_bytes=100_000)
    check_rows(table_of(dataset))
    files = write_tfrecords(dataset, s3.url("out"), storage_options=s3.options, options="GZIP")
    check_written(s3.url("out"), files, s3.options)
    assert len(files) > 3 and s3.uploads() == []


def test_a_worker_that_is_killed_while_it_reads_objects(s3, stored, tmp_path):
    read_while(Trap(tmp_path, "middle"), stored, kill_worker, storage_options=s3.options)


@pytest.mark.parametrize("stage", WRITE_STAGES)
def test_a_worker_that_is_killed_while_it_writes_objects(s3, local, tmp_path, stage):
    write_while(Trap(tmp_path, stage), local, s3.url("out"), kill_worker, s3.options)
    assert s3.uploads() == []


def test_parts_that_a_killed_worker_has_sent_are_not_seen(s3, tmp_path):
    """They are in the store until a rule of the bucket removes them: docs/object_stores.md says so."""
    path = tmp_path / "in"
    with tf.ExampleWriter(path) as writer:
        for number in range(3):
            writer.write(
                {"id": np.arange(200) + 200 * number, "text": [bytes([one % 251]) * 50_000 for one in range(200)]}
            )
    options = {**s3.options, "part_bytes": 5 << 20}
    out, trap = s3.url("out"), Trap(tmp_path / "trap", "middle")
    written = write_while(trap, str(path), out, kill_worker, options, split_bytes=1 << 30, blocks=1, check=False)
    [file] = written
    table = tf.read_table(s3.url("out/*.tfrecord"), storage_options=s3.options)
    assert table.column("id").to_pylist() == list(range(600)) and file.records == 600
    assert s3.keys() == sorted(["out/_manifest.json", f"out/{file.path.rpartition('/')[2]}"])
    assert set(s3.uploads()) <= set(s3.keys())
    s3.abort_uploads()


def test_a_write_that_fails_leaves_nothing_in_the_store(s3, local):
    def fail(batch):
        if 20_000 in batch["id"]:
            raise RuntimeError("mine")
        return batch

    dataset = read_tfrecords(local, split_bytes=100_000).map_batches(fail)
    with pytest.raises(Exception, match="mine"):
        write_tfrecords(dataset, s3.url("out"), storage_options=s3.options)
    assert s3.keys() == [] and s3.uploads() == []


@pytest.mark.parametrize("what", ["read", "write"])
def test_credentials_are_not_shown(s3, stored, local, what, capfd):
    """In errors, reprs, names of files and what Ray logs."""
    secret = s3.options["aws_secret_access_key"]
    wrong = {**s3.options, "endpoint": "http://127.0.0.1:1"}
    dataset = read_tfrecords(stored, storage_options=s3.options)
    shown = [repr(dataset), str(dataset.input_files()), dataset.materialize().stats()]
    with pytest.raises(Exception, match="connection refused") as caught:
        if what == "read":
            read_tfrecords(stored, storage_options=wrong)
        else:
            write_tfrecords(read_tfrecords(local), s3.url("out"), storage_options=wrong)
    shown += [repr(caught.value), str(caught.value), "".join(capfd.readouterr())]
    assert not [text for text in shown if secret in text]


class Signed(http_files.Handler):
    """Takes any query for a signature."""

    def answer(self, has_body):
        self.path = self.path.partition("?")[0]
        super().answer(has_body)


@pytest.fixture
def signed(tmp_path):
    """The signed URL of the file `a.tfrecord` in `tmp_path`."""
    server = http_files.Server(("127.0.0.1", 0), type("Handler", (Signed,), {"folder": str(tmp_path)}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/a.tfrecord?X-Amz-Signature=s3cr3t"
    server.shutdown()
    server.server_close()


def test_a_signature_in_a_url_is_not_shown(signed, tmp_path, capfd):
    for rows in (300, 200):
        with tf.ExampleWriter(tmp_path / "a.tfrecord") as writer:
            writer.write({"id": np.arange(rows)})
        if rows == 300:
            dataset = read_tfrecords(signed)
            assert table_of(dataset).num_rows == rows
    shown = [repr(dataset), str(dataset.input_files()), repr(vars(dataset))]
    with pytest.raises(Exception, match=r"a\.tfrecord") as caught:
        dataset.materialize()
    shown += [repr(caught.value), str(caught.value), "".join(capfd.readouterr())]
    assert not [text for text in shown if "s3cr3t" in text]
