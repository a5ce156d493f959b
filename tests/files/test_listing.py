"""Which files a name stands for where other processes read them; lists of files; single records by their offsets."""

import errno
import json
import os
import pickle
import threading
from datetime import datetime

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.frames import frames
from tfrecord_fast.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from tfrecord_fast.files.naming.file_objects import FileObject
from tfrecord_fast.files.naming.folders import files_below
from tfrecord_fast.files.naming.foreign_formats import foreign_format, head_of
from tfrecord_fast.files.reading import record_counts
from tfrecord_fast.files.reading.task_splits import plan_splits
from tfrecord_fast.files.rewriting import shuffling
from tfrecord_fast.files.stores import StoreSettings, find_store
from tfrecord_fast.files.stores.obstore_store import ObjectStore
from tfrecord_fast.files.streams.listing import listed_parts
from tfrecord_fast.files.streams.record_reader import tf_record_random_reader

SETTINGS = StoreSettings()


def put(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(frames([b"x"]))


def listed(folder, *files):
    parts = listed_parts([os.path.join(folder, file) for file in files], SETTINGS)
    return [os.path.relpath(part.file, folder) for part in parts]


# ---- Local files ----


def test_parts_and_paths_are_listed_in_their_order(tmp_path):
    put(tmp_path, "a", "b", "c")
    (second,) = listed_parts(str(tmp_path / "b"), SETTINGS)
    files = [part.file for part in listed_parts([str(tmp_path / "c"), second, str(tmp_path / "a")], SETTINGS)]
    assert files == [str(tmp_path / name) for name in "cba"]


def test_a_folder_stands_for_the_files_below_it(tmp_path):
    put(tmp_path, "b", "a/2", "a/1", "a/1.idx", ".hidden", "_hidden/x", "a/.x/y", "c/d/e")
    assert listed(tmp_path, "") == ["a/1", "a/2", "b", "c/d/e"]
    assert listed(tmp_path, "b", "a", "b") == ["b", "a/1", "a/2", "b"]
    assert listed(tmp_path, "a/*") == ["a/1", "a/1.idx", "a/2"] and listed(tmp_path, "**/e") == ["c/d/e"]
    assert listed(tmp_path, "*") == ["a/1", "a/2", "b", "c/d/e"]


def test_indexes_are_files_where_there_is_nothing_else(tmp_path):
    put(tmp_path, "b.idx", "a.idx")
    assert listed(tmp_path, "") == ["a.idx", "b.idx"]
    put(tmp_path, "c")
    assert listed(tmp_path, "") == ["c"]


def test_links_that_lead_in_circles_have_an_end(tmp_path):
    put(tmp_path, "a/x", "b/y")
    os.symlink(tmp_path, tmp_path / "a" / "up")
    os.symlink(tmp_path / "b", tmp_path / "a" / "side")
    assert listed(tmp_path, "") == ["a/side/y", "a/x"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("empty", "no files in the folder"),
        ("none*", "no file matches the pattern"),
        ("em*", "only folders without files match the pattern"),
        ("none", "No such file or directory"),
    ],
)
def test_a_name_of_no_file_is_named(tmp_path, name, said):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".hidden").write_bytes(b"")
    path = str(tmp_path / name)
    with pytest.raises(FileNotFoundError, match=said) as caught:
        listed_parts(path, SETTINGS)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, path)


def test_files_that_others_can_not_open_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TypeError, match=f"{tmp_path}/pipe is not a regular file; other processes could not read"):
        listed_parts(str(tmp_path / "pipe"), SETTINGS)
    put(tmp_path, "a")
    with open(tmp_path / "a", "rb") as file:
        for given in (file, FileObject(file, 0)):
            with pytest.raises(TypeError, match="by other processes, got BufferedReader"):
                listed_parts([given], SETTINGS)
            assert file.tell() == 0


def test_a_folder_that_can_not_be_read_is_an_error(tmp_path, monkeypatch):
    put(tmp_path, "a/x")
    scandir = os.scandir

    def fail(path):
        if str(path).endswith("/a"):
            raise PermissionError(errno.EACCES, "no", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", fail)
    for function in (lambda: listed_parts(str(tmp_path), SETTINGS), lambda: files_below(str(tmp_path))):
        with pytest.raises(PermissionError) as caught:
            function()
        assert caught.value.filename == str(tmp_path / "a")


def test_files_below_are_those_that_are_called_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="no files in the folder") as caught:
        files_below(str(tmp_path))
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, str(tmp_path))
    put(tmp_path, "b/readme.md", "a.idx")
    assert files_below(str(tmp_path)) == [str(tmp_path / "b/readme.md")]
    put(tmp_path, "z.TFRecord.gz", "b/c.tfrec-00000-of-00001")
    assert files_below(str(tmp_path)) == [str(tmp_path / "b/c.tfrec-00000-of-00001"), str(tmp_path / "z.TFRecord.gz")]


# ---- Objects ----


def test_objects_are_listed_as_files_are(memory):
    memory.pipe({f"/s/{name}": frames([b"x"] * i) for i, name in enumerate(["a", "b.idx", "c/d", ".h", "_h/x"])})
    found = listed_parts("memory://s/", SETTINGS)
    assert [(part.file.rpartition("s/")[2], part.bytes) for part in found] == [("a", 0), ("c/d", 34)]
    found = listed_parts(["memory://s/c/d", "memory://s/*"], SETTINGS)
    assert [part.bytes for part in found] == [34, 0, 17] and found[0].version == found[0].version != found[1].version
    with pytest.raises(FileNotFoundError, match="no objects in the folder") as caught:
        listed_parts("memory://none/", SETTINGS)
    assert caught.value.errno == errno.ENOENT


# ---- Lists ----


def made(tmp_path, content):
    path = tmp_path / "list"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def test_a_manifest_is_a_sequence_with_sums(tmp_path):
    entries = [{"name": "a", "bytes": 10, "records": 1}, {"name": "/b", "bytes": 5, "records": 2}, {"name": "s3://c/d"}]
    path = made(tmp_path, {"files": entries})
    whole = tf.ShardList(path)
    assert list(whole) == [str(tmp_path / "a"), "/b", "s3://c/d"] and whole[-1] == "s3://c/d" and len(whole) == 3
    assert (whole.num_bytes, whole.num_records, whole.path) == (None, None, str(path))
    part = whole[:2]
    assert (part.num_bytes, part.num_records, part.path) == (15, 3, str(path))
    assert repr(whole) == f"<ShardList '{path}': 3 files>" and repr(part) == f"<ShardList '{path}': 2 files, 3 records>"
    assert whole == tf.ShardList(path) and part != whole and whole.__eq__([]) is NotImplemented
    assert (part[1].bytes, part[1].records, whole[2].bytes, whole[2].records) == (5, 2, None, None)
    copied = pickle.loads(pickle.dumps(part))
    assert copied == part and copied.path == part.path and (copied[0].bytes, copied[0].records) == (10, 1)
    other = made(tmp_path, {"files": [{**entries[0], "records": 9}, entries[1]]})
    assert tf.ShardList(other) != part


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff", "the list is not UTF-8 text"),
        (b"a\nb\0c\n", "line 2 has a null character"),
        (b"# nothing\n\n", "the list is empty"),
        (b"{", "the manifest is not valid JSON: "),
        ({"file": []}, 'the manifest has no "files": [...]'),
        ({"files": []}, "the list is empty"),
        ({"files": ["a"]}, "entry 0 of the manifest is not an object"),
        ({"files": [{"name": "a"}, {"bytes": 3}]}, 'entry 1 of the manifest has no valid "name"'),
        ({"files": [{"name": ""}]}, 'entry 0 of the manifest has no valid "name"'),
        ({"files": [{"name": "a\0"}]}, 'entry 0 of the manifest has no valid "name"'),
        (
            {"files": [{"name": "a", "bytes": -1}]},
            'entry 0 of the manifest: "bytes" must be a non-negative integer, got -1',
        ),
        (
            {"files": [{"name": "a", "records": True}]},
            'entry 0 of the manifest: "records" must be a non-negative integer, got True',
        ),
        (
            {"files": [{"name": "a", "records": 1 << 62}]},
            'entry 0 of the manifest: "records" must be a non-negative integer, got 46',
        ),
    ],
)
def test_what_is_no_list_says_why(tmp_path, content, said):
    path = made(tmp_path, content)
    with pytest.raises(InvalidArgumentError) as caught:
        tf.ShardList(path)
    assert str(caught.value).startswith(f"{path}: {said}")


def test_a_list_in_a_store_is_shown_without_credentials(memory):
    memory.pipe("/s/list", b"# two\na\n  sub/b  \n./c\n/d\nmemory://e\n")
    assert list(tf.ShardList("memory://s/list")) == [
        "memory://s/a",
        "memory://s/sub/b",
        "memory://s/c",
        "/d",
        "memory://e",
    ]


# ---- Single records ----


def test_a_record_is_read_where_it_begins(tmp_path):
    put(tmp_path, "a")
    (tmp_path / "a").write_bytes(frames([b"first", b"", b"third"]))
    path = str(tmp_path / "a")
    reader = tf_record_random_reader(path)
    assert [reader.read(place) for place in (0, 21, 37)] == [(b"first", 21), (b"", 37), (b"third", 58)]
    for place in (-1, 58, 100):
        with pytest.raises(
            OutOfRangeError, match=f"{path}: Out of range at reading offset {place}: the file has 58 bytes"
        ):
            reader.read(place)
    for place, end in ((43, 43 + 16 + int.from_bytes(frames([b"first", b"", b"third"])[43:51], "little")), (50, None)):
        with pytest.raises(DataLossError, match=f"corrupted record at {place}: it would end at {end or ''}") as caught:
            reader.read(place)
        assert (caught.value.path, caught.value.offset) == (path, place)
    reader.close()
    reader.close()
    with pytest.raises(FailedPreconditionError, match=f"{path}: the reader is closed"):
        reader.read(0)
    with pytest.raises(DataLossError):
        tf_record_random_reader(path, max_record_bytes=4).read(0)
    assert tf_record_random_reader(path, max_record_bytes=5).read(0)[0] == b"first"
    data = bytearray((tmp_path / "a").read_bytes())
    data[13] ^= 1
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(DataLossError):
        tf_record_random_reader(path).read(0)


# ---- Counts, splits, kinds ----


def test_records_are_counted_here_where_there_are_no_threads(tmp_path, monkeypatch):
    for i in range(3):
        with tf.TFRecordWriter(tmp_path / f"{i}.gz", "GZIP") as writer:
            writer.write_batch([b"x"] * (i + 1))

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.setattr(record_counts, "default_threads", lambda: 2)
    reader = tf.ShardReader(str(tmp_path / "*.gz"), compression_type="GZIP", index_cache=False)
    assert reader.num_records == 6


def test_a_file_of_no_records_is_one_split(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "b").write_bytes(frames([b"x" * 84] * 10))
    splits = plan_splits([str(tmp_path / "a"), str(tmp_path / "b")], split_bytes=300)
    parts = [(os.path.basename(part.file), part.part_bytes) for split in splits for part in split.parts]
    assert parts[0] == ("a", 0) and [name for name, _ in parts[1:]] == ["b"] * 3 and sum(b for _, b in parts) == 1000


def test_only_regular_files_have_a_head(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a").write_bytes(b"x" * 70000)
    assert head_of(str(tmp_path / "a")) == (b"x" * 65536, 70000)
    for name in ("pipe", "none", "", "a\0b"):
        assert head_of(str(tmp_path / name)) == (b"", None)
    assert foreign_format(b"\x1f\x8b no gzip") is None


def test_errors_of_a_file_without_a_name_name_its_folder(tmp_path):
    kept = next(one for one in vars(shuffling).values() if isinstance(one, type) and hasattr(one, "_named"))
    made = object.__new__(kept)
    made._folder, made._writer = str(tmp_path), None
    for error, said in (
        (OSError(errno.ENOSPC, "full"), "full (a temporary file)"),
        (OSError(errno.ENOSPC, "full", "<memory>"), "full (a temporary file)"),
        (OSError("odd"), "odd (a temporary file)"),
    ):
        with pytest.raises(OSError, match=r"\(a temporary file\)") as caught, made._named():
            raise error
        assert (caught.value.errno, caught.value.strerror) == (error.errno, said)
        assert caught.value.filename == str(tmp_path) and caught.value.__cause__ is error
    named = OSError(errno.ENOSPC, "full", f"{tmp_path}/x")
    with pytest.raises(OSError, match="full") as caught, made._named():
        raise named
    assert caught.value is named


@pytest.mark.parametrize("wrong", [{"storage_options": 3}, {"max_requests": 1.0}, {"max_requests": True}])
def test_a_setting_of_another_type_is_named(wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(TypeError, match=f"{name} must be an? (dict|integer), got {type(value).__name__}"):
        StoreSettings(**wrong)
    for given in ({"timeout": 0}, {"request_timeout": 0}, {"timeout": -1}):
        with pytest.raises(ValueError, match="timeouts must be more than 0 seconds"):
            StoreSettings(**given)
    assert StoreSettings(timeout=0.1, request_timeout=0.1, max_requests=np.int64(3).item()).max_requests == 3


def test_a_directory_bucket_is_listed_to_its_end():
    """Its keys come in no order: one that is past the pattern says nothing of the next."""

    class Library:
        def list(self, store, prefix, offset, chunk_size):
            assert offset is None or prefix != "d/train-"
            keys = ("d/val-0", "d/train-1", "d/zzz", "d/train-0")
            return iter([[{"path": key, "size": 1, "e_tag": "x", "last_modified": datetime.now()} for key in keys]])

    store = object.__new__(ObjectStore)
    store._library, store._patient, store._provider, store._base = Library(), None, "S3", "s3://b--x-s3"
    store._is_express = True
    assert [info.url for info in store.list("d/train-")] == ["s3://b--x-s3/d/train-1", "s3://b--x-s3/d/train-0"]


@pytest.mark.parametrize("bucket, ordered", [("b--x-s3", False), ("b", True)])
def test_a_directory_bucket_is_known_by_its_name(bucket, ordered):
    pytest.importorskip("obstore")
    store, _ = find_store(f"s3://{bucket}/k", {"anon": True, "region": "us-east-1"})
    assert store._is_express is not ordered
