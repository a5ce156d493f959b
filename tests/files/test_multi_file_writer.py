"""Files that get their names together, and how one gets its name: parts, drafts, manifests."""

import errno
import json
import os
import stat

import pytest

import tfrecord_fast as tf
from tests.support.forks import status_of_child
from tests.support.frames import frames
from tfrecord_fast.files.rewriting.multi_file_writer import MultiFileWriter
from tfrecord_fast.files.rewriting.task_shards import TaskShards
from tfrecord_fast.files.system import drafts
from tfrecord_fast.files.system.drafts import complete_file, targets_of
from tfrecord_fast.files.writing import output_files
from tfrecord_fast.files.writing.example_writer import _abort_all, _open
from tfrecord_fast.files.writing.output_files import WrittenFile, publish_all, write_manifest


def batch(*records):
    return list(records)


def records(path, compression=""):
    return list(tf.data.TFRecordDataset(str(path), compression))


def names(folder):
    return sorted(os.listdir(folder))


# ---- MultiFileWriter ----


def test_parts_get_their_names_at_the_end(tmp_path):
    paths = [str(tmp_path / name) for name in "abc"]
    with MultiFileWriter(num_threads=1) as writer:
        assert len(writer) == 0
        writer.open(paths[:2])
        writer.open(paths[2:])
        assert len(writer) == 3
        for number in (2, 0, 2):
            writer.write(number, batch(b"%d" % number, b"x"))
        writer.complete(2)
        assert not any(os.path.exists(path) for path in paths)
    assert [records(path) for path in paths] == [[b"0", b"x"], [], [b"2", b"x", b"2", b"x"]]
    assert names(tmp_path) == ["a", "b", "c"]


def test_closing_says_what_was_written(tmp_path):
    writer = MultiFileWriter("GZIP")
    writer.open([str(tmp_path / "a"), str(tmp_path / "b")])
    writer.write(1, batch(b"x", b"y", b"z"))
    written = writer.close()
    sizes = [os.path.getsize(tmp_path / name) for name in "ab"]
    assert written == [(str(tmp_path / "a"), 0, sizes[0]), (str(tmp_path / "b"), 3, sizes[1])]
    assert records(tmp_path / "b", "GZIP") == [b"x", b"y", b"z"]
    writer.abort()  # nothing is left to remove
    assert names(tmp_path) == ["a", "b"]


def test_no_parts_are_no_files():
    assert MultiFileWriter().close() == []


def test_an_exception_removes_the_parts(tmp_path):
    (tmp_path / "a").write_bytes(b"before")
    with pytest.raises(KeyError), MultiFileWriter() as writer:
        writer.open([str(tmp_path / "a"), str(tmp_path / "b")])
        writer.write(0, batch(b"x"))
        raise KeyError
    assert names(tmp_path) == ["a"] and (tmp_path / "a").read_bytes() == b"before"


def test_a_part_that_can_not_get_its_name_is_removed(tmp_path):
    writer = MultiFileWriter()
    writer.open([str(tmp_path / name) for name in "abc"])
    (tmp_path / "b").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        writer.close()
    assert (caught.value.errno, caught.value.filename) == (errno.EISDIR, str(tmp_path / "b"))
    assert names(tmp_path) == ["a", "b"]  # those before it have theirs


def test_files_whose_number_is_known_at_the_end(tmp_path):
    pattern = str(tmp_path / "p-{shard:02d}-of-{num_shards}")
    with MultiFileWriter() as writer:
        for number in range(3):
            writer.open_next(pattern)
            writer.write(number, batch(b"%d" % number))
            writer.complete(number)
        writer.name_all(pattern)
    assert names(tmp_path) == ["p-00-of-00003", "p-01-of-00003", "p-02-of-00003"]
    assert [records(tmp_path / name) for name in names(tmp_path)] == [[b"0"], [b"1"], [b"2"]]


def test_the_number_of_objects_has_to_be_known():
    with pytest.raises(ValueError, match=r"^memory://b/p: the number of objects must be known in advance$"):
        MultiFileWriter().open_next("memory://b/p")
    assert len(MultiFileWriter()) == 0


def test_a_part_does_not_get_the_name_of_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with MultiFileWriter() as writer:
        writer.open([str(tmp_path / "a")])
        (pipe,) = targets_of([str(tmp_path / "pipe")])
        with pytest.raises(FileExistsError, match="a device or a pipe has this name") as caught:
            writer._shards[0].rename(pipe)
        assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, str(tmp_path / "pipe"))
        with pytest.raises(FileExistsError, match="a device or a pipe has this name") as caught:
            output_files.open_unnamed([], pipe, None, 1)
        assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, str(tmp_path / "pipe"))
    assert names(tmp_path) == ["a", "pipe"] and stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


def test_a_part_does_not_move_to_another_disk(tmp_path):
    if not os.path.isdir("/dev/shm") or os.stat("/dev/shm").st_dev == os.stat(tmp_path).st_dev:
        pytest.skip("there is no other disk")
    name = f"/dev/shm/tfrecord_fast-{os.getpid()}"
    with MultiFileWriter() as writer:
        writer.open([str(tmp_path / "a")])
        with pytest.raises(OSError, match="cross-device") as caught:
            writer._shards[0].rename(targets_of([name])[0])
        assert (caught.value.errno, caught.value.filename) == (errno.EXDEV, name)
    assert names(tmp_path) == ["a"] and not os.path.exists(name)


def test_objects_are_put_together_at_the_end(memory):
    with MultiFileWriter(num_threads=1) as writer:
        writer.open([f"memory://b/{name}" for name in "abc"])
        for number in range(3):
            writer.write(number, batch(b"%d" % number, b"x"))
            writer.complete(number)
        assert not any(memory.exists(f"/b/{name}") for name in "abc")
    assert [records(f"memory://b/{name}") for name in "abc"] == [[b"%d" % number, b"x"] for number in range(3)]
    assert [shard.sync_name() for shard in writer._shards] == [None] * 3
    with pytest.raises(NotImplementedError):
        writer._shards[0].rename(targets_of(["/tmp/never"])[0])


def test_objects_say_what_was_written_in_order(memory):
    writer = MultiFileWriter(num_threads=1)
    writer.open([f"memory://b/{number:02d}" for number in range(20)])
    for number in range(20):
        writer.write(number, batch(*[b"x" * number] * number))
    found = writer.close()
    assert found == [(f"memory://b/{i:02d}", i, i * (16 + i)) for i in range(20)]
    assert [memory.size(f"/b/{number:02d}") for number in range(20)] == [one.bytes for one in found]


def test_an_exception_leaves_no_objects(memory):
    with pytest.raises(KeyError), MultiFileWriter(num_threads=1) as writer:
        writer.open(["memory://b/a", "memory://b/b"])
        writer.write(0, batch(b"x"))
        writer.complete(1)
        raise KeyError
    assert memory.find("/b") == []


def test_an_object_whose_writer_can_not_be_made_is_given_up(memory, monkeypatch):
    opened = []

    def fail(out, options, num_threads):
        opened.append(out)
        raise MemoryError

    monkeypatch.setattr(output_files, "TFRecordWriter", fail)
    with pytest.raises(MemoryError):
        MultiFileWriter().open(["memory://b/a"])
    assert len(opened) == 1 and opened[0].closed and memory.find("/b") == []


def test_a_file_whose_writer_can_not_be_made_is_removed(tmp_path, monkeypatch):
    def fail(path, options, num_threads):
        open(path, "wb").close()
        raise MemoryError

    monkeypatch.setattr(output_files, "TFRecordWriter", fail)
    with pytest.raises(MemoryError):
        MultiFileWriter().open([str(tmp_path / "a")])
    assert names(tmp_path) == []


# ---- Names ----


def no_links(source, target):
    raise OSError(errno.EPERM, os.strerror(errno.EPERM), source)


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_came_meanwhile_is_not_replaced(tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr(drafts.os, "link", no_links)
    path = str(tmp_path / "a")
    (target,) = targets_of([path])
    with open(target.written, "wb") as file:
        file.write(b"new")
    (tmp_path / "a").write_bytes(b"before")
    with pytest.raises(FileExistsError, match="File exists") as caught:
        target.publish(overwrite=False)
    assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, path) and caught.value.__cause__ is None
    assert (tmp_path / "a").read_bytes() == b"before" and len(names(tmp_path)) == 2
    target.publish()
    assert (tmp_path / "a").read_bytes() == b"new" and names(tmp_path) == ["a"]


@pytest.mark.parametrize("links", [True, False])
def test_a_file_gets_its_name_where_there_is_none(tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr(drafts.os, "link", no_links)
    (target,) = targets_of([str(tmp_path / "a")])
    with open(target.written, "wb") as file:
        file.write(b"new")
    target.publish(overwrite=False)
    assert (tmp_path / "a").read_bytes() == b"new" and names(tmp_path) == ["a"]


def test_without_links_a_broken_link_is_a_name_too(tmp_path, monkeypatch):
    monkeypatch.setattr(drafts.os, "link", no_links)
    (target,) = targets_of([str(tmp_path / "a")])
    with open(target.written, "wb"):
        os.symlink(tmp_path / "none", tmp_path / "a")
    with pytest.raises(FileExistsError):
        target.publish(overwrite=False)
    assert os.path.islink(tmp_path / "a")


def test_errors_about_the_hidden_name_name_the_file(tmp_path):
    (target,) = targets_of([str(tmp_path / "a")])
    for name in (target.draft, os.fsencode(target.draft)):
        with pytest.raises(OSError, match="full") as caught, target.named():
            raise OSError(errno.ENOSPC, "full", name)
        assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / "a"))
    with pytest.raises(OSError, match="full") as caught, target.named():
        raise OSError(errno.ENOSPC, "full", "other")
    assert caught.value.filename == "other"


def test_a_file_that_is_not_complete_goes(tmp_path):
    with pytest.raises(KeyError), complete_file(str(tmp_path / "a")) as name, open(name, "wb"):
        raise KeyError
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("folder", "path", "shown"),
    [
        ("/d", "/d/a", "a"),
        ("/d", "/d/e/a", "e/a"),
        ("/d", "/e/a", "/e/a"),
        ("/d", "/dd/a", "/dd/a"),
        ("d", "d/a", "a"),
        ("d", "e/a", "../e/a"),
        ("d", "/e/a", "/e/a"),
        ("", "e/a", "e/a"),
        ("", "memory://b/a", "memory://b/a"),
        ("memory://b", "memory://b/e/a", "e/a"),
        ("memory://b", "memory://c/a", "memory://c/a"),
        ("memory://b", "/e/a", "/e/a"),
        ("memory://b", "e/a", os.path.abspath("e/a")),
    ],
)
def test_a_list_names_files_as_they_are_found_from_its_folder(folder, path, shown):
    assert output_files._relative(path, folder) == shown


def test_a_list_of_objects_is_one(memory):
    write_manifest("memory://b/list.json", [WrittenFile("memory://b/a", 3, 70)], None)
    text = memory.cat("/b/list.json")
    assert json.loads(text) == {"files": [{"name": "a", "bytes": 70, "records": 3}]} and text.endswith(b"}\n")


@pytest.mark.parametrize("manifest", [True, 3, ["a"]])
def test_a_manifest_that_is_no_path_is_named(tmp_path, manifest):
    with pytest.raises(TypeError, match=f"^manifest must be a path .* got {type(manifest).__name__}$"):
        tf.ExampleWriter(str(tmp_path / "a"), manifest=manifest)
    assert names(tmp_path) == []


def test_one_object_needs_no_threads(memory, monkeypatch):
    monkeypatch.setattr(output_files, "ThreadPoolExecutor", None)
    writer = MultiFileWriter(num_threads=1)
    writer.open(["memory://b/a"])
    writer.complete(0)
    assert publish_all(writer._shards) == [("memory://b/a", 0, 0)]


# ---- ExampleWriter at the end ----


def test_a_writer_that_is_open_at_the_end_leaves_nothing_and_says_so(tmp_path):
    path = str(tmp_path / "a")
    writer = tf.ExampleWriter(path)
    writer.write({"i": [1, 2]})
    assert writer in _open
    with pytest.warns(RuntimeWarning, match="not closed, so nothing was written"):
        writer._abort_at_exit()
    assert names(tmp_path) == [] and writer.closed
    writer._abort_at_exit()  # without another warning


def test_all_writers_go_at_the_end_even_if_one_fails(tmp_path, monkeypatch):
    writers = [tf.ExampleWriter(str(tmp_path / name)) for name in "ab"]
    before = set(_open) - set(writers)
    for other in before:
        _open.discard(other)

    def fail():
        raise OSError

    monkeypatch.setattr(writers[0], "_drop", fail)
    _abort_all()
    assert not writers[0].closed and writers[1].closed and len(names(tmp_path)) == 1
    monkeypatch.undo()
    writers[0].abort()
    for other in before:
        _open.add(other)
    assert names(tmp_path) == []


def test_a_writer_in_which_a_thread_writes_is_left_at_the_end(tmp_path):
    writer = tf.ExampleWriter(str(tmp_path / "a"))
    asked = []

    class Held:
        def acquire(self, timeout):
            asked.append(timeout)
            return False

    lock, writer._lock = writer._lock, Held()
    writer._abort_at_exit()
    writer._lock = lock
    assert asked == [1] and not writer.closed
    writer.abort()


def test_a_forked_process_can_not_use_a_writer(tmp_path):
    writer = tf.ExampleWriter(str(tmp_path / "a"))
    writer.write({"i": [1]})

    def refuses():
        for call in (lambda: writer.write({"i": [1]}), lambda: writer.write_batch([b"x"]), writer.close):
            with pytest.raises(tf.errors.FailedPreconditionError, match="the writer belongs to the process that this"):
                call()
        writer.abort()
        writer._abort_at_exit()
        return len(names(tmp_path)) == 1 and not writer.closed

    with writer._lock:  # as if a thread held it that is not in the child
        assert status_of_child(refuses) == 0
    process = writer._origin._process
    writer._origin._process = -1
    assert refuses()
    writer._origin._process = process
    assert writer.close()[0].records == 1


# ---- Tasks ----


def test_a_task_has_one_file_for_each_folder_with_rows(tmp_path):
    (tmp_path / "in").write_bytes(frames([b"a", b"b", b"c"]))
    source = tf.IndexedReader(str(tmp_path / "in"))
    task = TaskShards(str(tmp_path / "out"))
    task.begin()
    tables = [("y=1", source[:2]), ("y=2", {}), ("y=3", source[:0]), source[2:], ("y=1", {"i": [3]}), source[:1], {}]
    assert task.write(4, []) == []
    written = task.write(3, tables)
    assert [one.records for one in written] == [3, 2]
    final = task.commit(written)
    assert [os.path.relpath(one.path, tmp_path / "out") for one in final] == [
        f"part-00003-{task.id}.tfrecord",
        f"y=1/part-00003-{task.id}.tfrecord",
    ]
    assert records(final[0].path) == [b"c", b"a"] and records(final[1].path)[:2] == [b"a", b"b"]
    assert tf.io.parse_example(records(final[1].path)[2:], {"i": tf.io.FixedLenFeature([], "int64")})["i"] == [3]
