"""What few readers meet: arguments that can't be, objects without a size, forks of iterators, no more threads."""

import errno
import io
import os
import threading
from typing import Any

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.forks import status_of_child
from tests.support.frames import frames
from tfrecord_fast.base.workers import NoThreadError
from tfrecord_fast.errors import FailedPreconditionError, InvalidArgumentError
from tfrecord_fast.files.naming.location import location_of
from tfrecord_fast.files.reading.tables import TableSource
from tfrecord_fast.files.stores import ObjectInfo, StoreSettings, find_store, retrying
from tfrecord_fast.files.stores.errors import of_store
from tfrecord_fast.files.stores.objects import matching_urls
from tfrecord_fast.files.streams import fetching as remote
from tfrecord_fast.files.streams import random_access
from tfrecord_fast.files.streams.core_files import local_path, local_paths
from tfrecord_fast.files.system import url_reader
from tfrecord_fast.files.system.url_reader import UrlReader, open_url
from tfrecord_fast.files.system.url_writer import UrlWriter

RECORDS = [b"%03d" % i for i in range(50)]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames(RECORDS))
    return str(path)


# ---- Arguments ----


@pytest.mark.parametrize("threads", [0, -1])
def test_no_threads_are_no_number_of_threads(path, threads):
    with pytest.raises(ValueError, match=f"`num_threads` must be > 0, got {threads}"):
        tf.IndexedReader(path, num_threads=threads)
    assert len(tf.IndexedReader(path, num_threads=1)) == 50


@pytest.mark.parametrize("make", [tf.IndexedReader, tf.ShardReader])
def test_a_word_for_features_is_infer(path, make):
    with pytest.raises(InvalidArgumentError, match="features must be a dict, None or \"infer\", got 'guess'"):
        make(path, "guess")


def test_a_word_for_the_features_of_a_table_is_infer(path):
    pytest.importorskip("pyarrow")
    with pytest.raises(
        InvalidArgumentError, match="features must be a dict, a pair of dicts or \"infer\", got 'guess'"
    ):
        TableSource(path, "guess")


def test_a_reader_of_records_has_one_type_or_two():
    assert tf.IndexedReader[bytes] == tf.IndexedReader[bytes, Any]
    assert tf.IndexedReader[bytes, int].__args__ == (bytes, int) and tf.IndexedReader[bytes].__args__ == (bytes, Any)


def test_a_reader_shows_how_many_records_it_has_once_they_are_known(path):
    reader = tf.IndexedReader([path, path])
    assert repr(reader) == "<IndexedReader of 2 files>"
    assert len(reader) == 100 and repr(reader) == "<IndexedReader of 2 files, 100 records>"


@pytest.mark.parametrize("version", [0, 3, None, "2"])
def test_another_version_of_a_state_is_refused(path, version):
    reader = tf.ShardReader(path)
    state = {**reader.state_dict(), "version": version}
    with pytest.raises(ValueError, match=f"not a state of ShardReader, .*its version is {version!r}"):
        reader.load_state_dict(state)


def test_sequences_are_shown(path):
    features = ({}, {"x": tf.io.FixedLenSequenceFeature([], "int64")})
    assert "SequenceExamples" in repr(tf.ShardReader(path, features))


def test_options_show_what_was_given():
    options = tf.io.TFRecordOptions("GZIP", compression_level=3)
    assert repr(options) == "TFRecordOptions(compression_type='GZIP', compression_level=3)"
    assert eval(repr(options), {"TFRecordOptions": tf.io.TFRecordOptions}).compression_level == 3


def test_a_state_needs_an_order_that_does_not_depend_on_timing(path):
    reader = tf.ShardReader(path, deterministic=False)
    with pytest.raises(ValueError, match="state_dict needs deterministic=True"):
        reader.state_dict()


def test_only_local_paths_are_local(path):
    assert local_path("file://" + path) == local_path(path) == os.fsencode(path)
    assert local_paths([path, [os.path.dirname(path) + "/*"]]) == [os.fsencode(path)] * 2
    assert local_paths(["*", b"x"], patterns=False) == [b"*", b"x"]
    with open(path, "rb") as file:
        with pytest.raises(TypeError, match="only a path supports random access, got BufferedReader"):
            local_paths([file])
        with pytest.raises(TypeError, match="only a path supports random access, got BufferedReader"):
            random_access.random_locations([file], StoreSettings())
    with pytest.raises(ValueError, match="only local files support random access, got the URL 's3://b/x'"):
        local_paths(["s3://b/x"])


# ---- Forks ----


def test_a_forked_process_has_a_reader_of_its_own(path, memory):
    memory.pipe("/b/a", frames(RECORDS))
    for name in (path, "memory://b/a"):
        reader = tf.IndexedReader(name)
        assert reader[7] == b"007"

        def reads(reader=reader):
            return reader[8] == b"008" and len(reader) == 50 and reader.take([3, 1]).tolist() == [b"003", b"001"]

        assert status_of_child(reads) == 0 and reads()


def test_a_shuffled_iteration_belongs_to_its_process(path):
    reader = tf.ShardReader(path, global_shuffle=True, seed=3, batch_size=10)
    batches = iter(reader)
    assert len(next(batches)) == 10

    def refuses():
        for call in (lambda: next(batches), reader.state_dict):
            with pytest.raises(ValueError, match="started by another process, of which this one is a fork"):
                call()
        return reader.skipped == []

    assert status_of_child(refuses) == 0
    assert sum(map(len, batches)) == 40


def test_a_forked_process_can_not_tell_how_far_a_shuffled_iteration_came(path):
    reader = tf.ShardReader(path, global_shuffle=True, seed=3, batch_size=10, num_epochs=None)
    reader.set_epoch(4)
    batches = iter(reader)
    for _ in range(8):
        next(batches)
    assert reader.epoch == 6
    assert status_of_child(lambda: reader.epoch == 5) == 0  # the one after that with which it began


def test_equal_shards_go_on_after_a_fork(path):
    reader = tf.ShardReader(path, shard=(0, 2), equal_shards="drop", batch_size=5)
    batches = iter(reader)
    assert len(next(batches)) == 5
    assert status_of_child(lambda: reader.state_dict()["given"] == 1) == 0


# ---- A URL as a file ----


def in_blocks(monkeypatch, memory, size=103, block=10):
    monkeypatch.setattr(url_reader, "_BLOCK", block)
    data = bytes(i % 251 for i in range(size))
    memory.pipe("/b/a", data)
    asked = []
    read_range = url_reader.read_range

    def noted(store, key, start, end, *rest):
        asked.append((start, end))
        return read_range(store, key, start, end, *rest)

    monkeypatch.setattr(url_reader, "read_range", noted)
    return UrlReader(*find_store("memory://b/a")), data, asked


def test_an_object_is_read_in_blocks_from_start_to_end(monkeypatch, memory):
    file, data, asked = in_blocks(monkeypatch, memory)
    parts = []
    while part := file.read(7):
        parts.append(part)
    assert b"".join(parts) == data and file.tell() == 103 and file.read(1) == b""
    assert sorted(asked) == [(start, min(start + 10, 103)) for start in range(0, 103, 10)]
    assert [len(part) for part in parts[:4]] == [7, 3, 7, 3]


def test_what_is_read_here_and_there_is_asked_for_alone(monkeypatch, memory):
    file, data, asked = in_blocks(monkeypatch, memory)
    for place in (55, 95, 33, 100, 71):
        assert file.seek(place) == place
        assert file.read(3) == data[place : place + 3]
    assert sorted(asked) == [(30, 40), (50, 60), (70, 80), (90, 100), (100, 103)]


def test_places_in_an_object(monkeypatch, memory):
    file, data, _ = in_blocks(monkeypatch, memory)
    assert (file.seek(-3, io.SEEK_END), file.read()) == (100, data[100:])
    assert (file.seek(5), file.seek(7, io.SEEK_CUR), file.tell(), file.read(2)) == (5, 12, 12, data[12:14])
    assert (file.seek(200), file.read(1)) == (200, b"")
    for offset, whence in ((-1, io.SEEK_SET), (-201, io.SEEK_CUR), (-104, io.SEEK_END)):
        with pytest.raises(OSError, match="negative seek position") as caught:
            file.seek(offset, whence)
        assert (caught.value.errno, caught.value.filename) == (errno.EINVAL, "memory:///b/a")
    assert file.tell() == 200 and file.readable() and file.seekable() and not file.writable()
    assert file.readinto(bytearray()) == 0
    file.close()
    with pytest.raises(ValueError, match="I/O operation on closed file"):
        file.readinto(bytearray(3))


def test_a_block_that_failed_is_asked_for_again(monkeypatch, memory):
    file, data, _ = in_blocks(monkeypatch, memory)
    answers, read_range = [PermissionError(13, "no")], url_reader.read_range

    def once(*arguments):
        if answers:
            raise answers.pop()
        return read_range(*arguments)

    monkeypatch.setattr(url_reader, "read_range", once)
    with pytest.raises(PermissionError):
        file.read(5)
    assert file.tell() == 0 and file.read(5) == data[:5]


def test_a_url_is_itself_and_a_pattern_its_matches(memory):
    memory.pipe({"/b/a1": b"1", "/b/a2": b"2", "/b/.a3": b"3"})
    assert matching_urls("memory://b/none") == ["memory://b/none"]
    assert matching_urls("memory://b/a*") == ["memory:///b/a1", "memory:///b/a2"]
    assert matching_urls("memory://b/*") == ["memory:///b/a1", "memory:///b/a2"]
    assert matching_urls("memory://b/.*") == ["memory:///b/.a3"]
    with pytest.raises(FileNotFoundError, match="no file matches the pattern") as caught:
        matching_urls("memory://b/x*")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, "memory://b/x*")
    assert open_url("memory://b/a1", "r").read() == b"1"


def test_what_is_closed_takes_nothing_more(memory):
    writer = UrlWriter("memory://b/a")
    assert (writer.write(b"012"), writer.write(memoryview(np.arange(2))), writer.tell()) == (3, 16, 19)
    assert not writer.closed and (writer.readable(), writer.writable(), writer.seekable()) == (False, True, False)
    writer.close()
    assert writer.closed
    with pytest.raises(ValueError, match="I/O operation on closed file"):
        writer.write(b"3")
    assert len(memory.cat("/b/a")) == 19 and writer.tell() == 19
    discarded = UrlWriter("memory://b/b")
    discarded.discard()
    assert discarded.write(b"012") == 3 and discarded.tell() == 0 and not memory.exists("/b/b")
    with pytest.raises(InvalidArgumentError, match="memory://b/b: mode 'ab' is not supported for URLs"):
        UrlWriter("memory://b/b", "ab")


# ---- Files of a writer ----


def test_a_file_that_a_writer_made_and_can_not_write_goes(tmp_path, monkeypatch):
    def fail(*arguments):
        raise MemoryError

    monkeypatch.setattr(tf._core, "open_writer", fail)
    with pytest.raises(MemoryError):
        tf.io.TFRecordWriter(tmp_path / "a", overwrite=False)
    assert os.listdir(tmp_path) == []
    (tmp_path / "b").write_bytes(b"before")
    with pytest.raises(MemoryError):
        tf.io.TFRecordWriter(tmp_path / "b")
    with pytest.raises(FileExistsError):
        tf.io.TFRecordWriter(tmp_path / "b", overwrite=False)
    assert (tmp_path / "b").read_bytes() == b"before"


def test_an_object_that_a_writer_can_not_write_is_given_up(memory, monkeypatch):
    uploads, discard = [], UrlWriter.discard
    monkeypatch.setattr(UrlWriter, "discard", lambda self: (uploads.append(self), discard(self))[1])

    def fail(*arguments):
        raise MemoryError

    monkeypatch.setattr(tf._core, "open_writer", fail)
    with pytest.raises(MemoryError):
        tf.io.TFRecordWriter("memory://b/a")
    assert len(uploads) == 1 and uploads[0].closed and memory.find("/b") == []


@pytest.mark.parametrize("content", [None, b""])
def test_appending_to_nothing_begins_a_file(tmp_path, content):
    if content is not None:
        (tmp_path / "a").write_bytes(content)
    for record in (b"x", b"y"):
        with tf.io.TFRecordWriter(tmp_path / "a", append=True) as writer:
            writer.write(record)
    assert list(tf.data.TFRecordDataset(str(tmp_path / "a"))) == [b"x", b"y"]


# ---- Objects ----


class Busy:
    """A store that has an answer after some tries."""

    def __init__(self, *errors):
        self.errors = [of_store(error) for error in errors]
        self.asked = 0

    def info(self, key):
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)
        return ObjectInfo(f"busy://{key}", 7, "v")


def test_a_size_is_asked_for_until_it_is_there(monkeypatch):
    waits = []
    monkeypatch.setattr(retrying.time, "sleep", waits.append)
    busy = [ConnectionError(errno.ECONNABORTED, "busy") for _ in range(9)]
    store = Busy(*busy)
    assert retrying.read_info(store, "k", StoreSettings(timeout=1000)).size == 7
    longest = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 8.0, 8.0]
    assert store.asked == 10 and all(0.5 * most <= wait <= most for wait, most in zip(waits, longest, strict=True))


def test_what_will_not_go_away_is_not_asked_again(monkeypatch):
    monkeypatch.setattr(retrying.time, "sleep", None)
    for errors, kind in (([PermissionError(13, "no")], PermissionError), ([ConnectionError(5, "x")], ConnectionError)):
        store = Busy(*errors)
        with pytest.raises(kind):
            retrying.read_info(store, "k", StoreSettings(timeout=0.01))
        assert store.asked == 1


@pytest.mark.parametrize(
    ("error", "number"),
    [
        (FileNotFoundError(), errno.ENOENT),
        (PermissionError(), errno.EACCES),
        (TimeoutError(), errno.ETIMEDOUT),
        (ConnectionError(), errno.ECONNRESET),
        (BrokenPipeError(), errno.ECONNRESET),
        (OSError(), errno.EIO),
        (OSError(errno.ENOSPC, "full"), errno.ENOSPC),
        (PermissionError(errno.EPERM, "no"), errno.EPERM),
    ],
)
def test_an_error_without_a_number_has_that_of_its_class(error, number):
    assert remote._error_number(error) == number


def refuse(thread):
    raise RuntimeError("can't start new thread")


def test_an_object_can_not_be_fetched_without_a_thread(memory, monkeypatch):
    memory.pipe("/b/a", frames(RECORDS))
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(NoThreadError, match="can't start new thread"):
        next(iter(tf.ShardReader("memory://b/a")))


def test_sizes_are_asked_for_here_where_there_are_no_threads(memory, monkeypatch):
    memory.pipe({"/b/a": frames(RECORDS), "/b/b": frames(RECORDS[:3])})
    settings = StoreSettings()
    objects = random_access.found_objects([location_of(f"memory://b/{name}") for name in "ab"], settings)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert [one.size for one in random_access.infos_of(objects, settings)] == [one.size for one in objects]
    assert random_access.infos_of([], settings) == []


def test_local_files_and_objects_are_read_in_one_order(memory, path):
    memory.pipe({"/b/a": frames([b"x", b"y"]), "/b/b": frames([b"z"])})
    reader = tf.IndexedReader(["memory://b/a", path, "memory://b/b", path])
    assert len(reader) == 103
    assert reader.take([0, 1, 2, 51, 52, 53, 102]).tolist() == [b"x", b"y", b"000", b"049", b"z", b"000", b"049"]


def test_an_index_that_can_not_be_written_leaves_nothing(memory, monkeypatch):
    index = tf.RecordIndex([0, 19], [19, 20])
    index.save("memory://b/a.idx")
    assert memory.cat("/b/a.idx") == b"0 19\n19 20\n"
    ended = []
    store = find_store("memory://b/a.idx")[0]

    class Full:
        def write(self, data):
            raise OSError(errno.ENOSPC, "full")

        def abort(self):
            ended.append("aborted")

    monkeypatch.setattr(type(store), "upload", lambda self, key, **given: Full())
    with pytest.raises(OSError, match="full"):
        index.save("memory://b/b.idx")
    assert ended == ["aborted"]


def test_a_writer_of_another_process_is_refused(memory):
    writer = UrlWriter("memory://b/a")

    def refuses():
        for call in (lambda: writer.write(b"x"), writer.close):
            with pytest.raises(FailedPreconditionError, match="opened by the parent process"):
                call()
        return True

    assert status_of_child(refuses) == 0
    writer.discard()


def test_a_reader_of_a_missing_object_can_be_closed():
    reader = UrlReader.__new__(UrlReader)
    with pytest.raises(FileNotFoundError):
        reader.__init__(*find_store("memory://b/missing"))
    reader.close()  # as the interpreter does: Python 3.13 and later report what it raises
