"""Lists of files, kept as a file."""

import json
import os
import pickle

import pytest

import tfrecord_fast as tf
from tfrecord_fast.errors import InvalidArgumentError

RECORDS = [b"one", b"two", b"three"]


@pytest.fixture
def shards(tmp_path):
    """Three files in data/, of a record each."""
    folder = tmp_path / "data"
    folder.mkdir()
    for number, record in enumerate(RECORDS):
        with tf.TFRecordWriter(folder / f"{number}.tfrecord") as writer:
            writer.write(record)
    return folder


def text_list(folder, text):
    path = folder / "list.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def manifest(folder, *files):
    return text_list(folder, json.dumps({"files": files}))


def test_names_are_relative_to_the_list(tmp_path, shards, monkeypatch):
    path = text_list(tmp_path, f"# shards\n\ndata/2.tfrecord \r\n  {shards}/0.tfrecord\ngs://b/x y.tfrecord\n")
    names = [str(shards / "2.tfrecord"), str(shards / "0.tfrecord"), "gs://b/x y.tfrecord"]
    assert list(tf.ShardList(path)) == names
    monkeypatch.chdir(tmp_path)
    assert list(tf.ShardList("list.txt")) == names


def test_readers_take_it(tmp_path, shards):
    files = tf.ShardList(text_list(tmp_path, "data/2.tfrecord\ndata/0.tfrecord\n"))
    assert [record for batch in tf.ShardReader(files) for record in batch.tolist()] == [b"three", b"one"]
    assert list(tf.TFRecordDataset(files)) == [b"three", b"one"]
    assert tf.IndexedReader(files).take([1, 0]).tolist() == [b"one", b"three"]


def test_a_manifest_has_sizes_and_counts(tmp_path):
    one, two = {"name": "a", "bytes": 5, "records": 2}, {"name": "s3://b/k", "records": 3, "more": []}
    files = tf.ShardList(manifest(tmp_path, one, two))
    assert [(str(file), file.bytes, file.records) for file in files] == [
        (str(tmp_path / "a"), 5, 2),
        ("s3://b/k", None, 3),
    ]
    assert (files.num_bytes, files.num_records, files[:1].num_bytes) == (None, 5, 5)
    assert repr(files) == f"<ShardList {str(tmp_path / 'list.txt')!r}: 2 files, 5 records>"


def test_slices_are_lists(tmp_path):
    files = tf.ShardList(text_list(tmp_path, "a\nb\nc\n"))
    assert isinstance(files[1:], tf.ShardList)
    assert [os.path.basename(name) for name in files[1:]] == ["b", "c"]
    assert files[1:] != files and files[:] == files and files != list(files)


def test_it_pickles_without_its_file(tmp_path):
    path = manifest(tmp_path, {"name": "a", "bytes": 5, "records": 2})
    files = tf.ShardList(path)
    path.unlink()
    copy = pickle.loads(pickle.dumps(files))
    assert copy == files and copy[0].records == 2 and copy.path == str(path)


def test_a_mark_of_utf_8_is_no_part_of_a_name(tmp_path):
    assert list(tf.ShardList(text_list(tmp_path, b"\xef\xbb\xbf/a\n"))) == ["/a"]


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "the list is empty"),
        ("# nothing\n", "the list is empty"),
        ('{"files": []}', "the list is empty"),
        (b"\xff\xfe", "UTF-8"),
        ("a\nb\0c\n", "line 2"),
        ('{"files": [', "not valid JSON"),
        ('{"file": []}', "files"),
        ('{"files": {}}', "files"),
        ('{"files": ["a"]}', "entry 0"),
        ('{"files": [{"name": "a"}, {"bytes": 1}]}', "entry 1"),
        ('{"files": [{"name": "a", "bytes": -1}]}', "bytes"),
        ('{"files": [{"name": "a", "records": 1.5}]}', "records"),
        ('{"files": [{"name": "a", "records": true}]}', "records"),
    ],
)
def test_what_is_no_list_is_refused(tmp_path, text, said):
    path = text_list(tmp_path, text)
    with pytest.raises(InvalidArgumentError, match=said) as raised:
        tf.ShardList(path)
    assert str(path) in str(raised.value)


def test_a_missing_list_is_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        tf.ShardList(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="nowhere/none"):
        tf.ShardList("memory://nowhere/none")


def test_a_list_in_a_store_names_what_is_beside_it():
    tf.io.write_file("memory://lists/sub/list.txt", "a.tfrecord\n./b/c.tfrecord\n/local\n")
    assert list(tf.ShardList("memory://lists/sub/list.txt")) == [
        "memory://lists/sub/a.tfrecord",
        "memory://lists/sub/b/c.tfrecord",
        "/local",
    ]
