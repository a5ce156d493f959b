"""The shards of an engine's tasks, driver and tasks in one process: modes, tries, folders, stores, and what is left."""

import json
import os
import pickle

import fsspec
import pytest

import tfrecord_fast as tf
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.files.rewriting.task_shards import TaskShards


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


@pytest.fixture(params=["local", "store"])
def folder(request, tmp_path, memory):
    return str(tmp_path / "out") if request.param == "local" else "memory://s/out"


def files(folder):
    """What is in it, by the names without their folders' beginning."""
    if "://" in folder:
        found = fsspec.filesystem("memory").find("/s/out")
        return sorted(name.removeprefix("/s/out/") for name in found)
    return sorted(os.path.relpath(os.path.join(top, one), folder) for top, _, names in os.walk(folder) for one in names)


def read(folder):
    """The records that its manifest lists."""
    with tf.io.gfile.GFile(f"{folder}/_manifest.json") as file:
        listed = json.load(file)["files"]
    found = []
    for one in listed:
        (rows,) = tf.ShardReader(f"{folder}/{one['name']}", "infer", batch_size=100)
        assert len(rows["x"]) == one["records"]
        found += rows["x"].tolist()
    return found


def write(folder, mode, *tasks):
    shards = TaskShards(folder, mode)
    shards.begin()
    written = [one for number, values in enumerate(tasks) for one in shards.write(number, [{"x": values}])]
    return shards, shards.commit(written)


def test_shards_are_there_when_all_is_committed(folder):
    shards, final = write(folder, "error", [1, 2], [3])
    names = [f"part-{i:05d}-{shards.id}.tfrecord" for i in (0, 1)]
    assert files(folder) == ["_manifest.json", *names] and read(folder) == [1, 2, 3]
    place = shards.folder
    assert [(one.path, one.records) for one in final] == [(f"{place}/{names[0]}", 2), (f"{place}/{names[1]}", 1)]
    with pytest.raises(FileExistsError, match="the folder is not empty") as caught:
        write(folder, "error", [4])
    assert (caught.value.errno, caught.value.filename) == (17, shards.folder)
    assert read(folder) == [1, 2, 3]


def test_others_are_added_or_take_the_place(folder):
    write(folder, "error", [1])
    write(folder, "append", [2], [3])
    assert sorted(read(folder)) == [1, 2, 3] and len(files(folder)) == 4
    shards, _ = write(folder, "overwrite", [4])
    assert read(folder) == [4] and files(folder) == ["_manifest.json", f"part-00000-{shards.id}.tfrecord"]


def test_what_was_in_folders_is_replaced_with_them(folder):
    first = TaskShards(folder)
    first.begin()
    first.commit(first.write(0, [("y=1/z=2", {"x": [1]}), ("y=2", {"x": [2]})]))
    assert [name.rpartition("/")[0] for name in files(folder)] == ["", "y=1/z=2", "y=2"]
    second = TaskShards(folder, "overwrite")
    second.begin()
    second.commit(second.write(0, [("y=2", {"x": [3]})]))
    assert files(folder) == ["_manifest.json", f"y=2/part-00000-{second.id}.tfrecord"] and read(folder) == [3]
    if "://" not in folder:
        assert os.listdir(folder + "/y=2") and not os.path.exists(folder + "/y=1")


def test_a_task_that_runs_twice_counts_once(folder):
    shards = TaskShards(folder)
    shards.begin()
    first, second = (shards.write(7, [{"x": [1, 2]}]) for _ in range(2))
    shards.commit(second)
    assert read(folder) == [1, 2] and files(folder) == ["_manifest.json", f"part-00007-{shards.id}.tfrecord"]
    assert first[0].records == 2


def test_a_write_that_is_given_up_leaves_what_was_there(folder):
    write(folder, "error", [1])
    before = files(folder)
    for mode in ("append", "overwrite"):
        shards = TaskShards(folder, mode)
        shards.begin()
        shards.write(0, [("y=1", {"x": [9]})])
        shards.abort()
        assert files(folder) == before and read(folder) == [1]
    done, _ = write(folder, "append", [2])
    done.abort()  # engines do so after a commit whose answer was lost
    assert sorted(read(folder)) == [1, 2]


def test_a_task_that_fails_leaves_no_file(folder):
    shards = TaskShards(folder)
    shards.begin()

    def tables():
        yield {"x": [1]}
        raise KeyError

    with pytest.raises(KeyError):
        shards.write(0, tables())
    assert files(folder) == []
    shards.abort()
    if "://" not in folder:
        assert not os.path.exists(folder)


def test_another_write_that_was_quicker_is_an_error(folder):
    slow = TaskShards(folder)
    slow.begin()
    quick = TaskShards(folder)
    quick.begin()
    quick.commit(quick.write(0, [{"x": [2]}]))
    written = slow.write(0, [{"x": [1]}])
    with pytest.raises(FileExistsError, match="another write has filled the folder meanwhile") as caught:
        slow.commit(written)
    assert (caught.value.errno, caught.value.filename) == (17, slow.folder)
    assert read(folder) == [2] and not [name for name in files(folder) if slow.id in name]


def test_a_task_that_comes_too_late_is_told(tmp_path):
    shards = TaskShards(str(tmp_path / "out"))
    shards.begin()
    shards.commit([])
    assert files(str(tmp_path / "out")) == ["_manifest.json"]
    with pytest.raises(
        FileNotFoundError, match="the write has ended, or its folder is not reachable from here"
    ) as caught:
        shards.write(0, [])
    assert (caught.value.errno, caught.value.filename) == (2, str(tmp_path / "out"))


def test_files_without_a_manifest_get_none_that_leaves_them_out(folder):
    write(folder, "error", [1])
    tf.io.gfile.remove(f"{folder}/_manifest.json")
    write(folder, "append", [2])
    assert "_manifest.json" not in files(folder) and len(files(folder)) == 2


def test_the_driver_and_the_tasks_are_different_processes(tmp_path):
    shards = TaskShards(str(tmp_path / "out"), options="GZIP")
    shards.begin()
    (written,) = pickle.loads(pickle.dumps(shards)).write(3, [{"x": [5]}])
    pickle.loads(pickle.dumps(shards)).commit([written])
    assert files(str(tmp_path / "out"))[1] == f"part-00003-{shards.id}.tfrecord.gz" and read(str(tmp_path / "out")) == [
        5
    ]
    assert len(shards.id) == 12 and TaskShards(str(tmp_path)).id != shards.id


def test_a_mode_is_one_of_three():
    with pytest.raises(InvalidArgumentError, match='mode must be "error", "append" or "overwrite", got \'x\''):
        TaskShards("a", "x")


# ---- What readers and writers say ----


def test_writers_that_are_dropped_say_what_was_not_written(tmp_path):
    for shards, said in ((1, "a: not closed"), (3, "a-00000-of-00003 and 2 more: not closed")):
        writer = tf.ExampleWriter(str(tmp_path / "a"), num_shards=shards)
        writer.write({"x": [1]})
        with pytest.warns(RuntimeWarning, match=f"{said}, so nothing was written"):
            del writer
    writer = tf.ExampleWriter(str(tmp_path / "a"))
    writer.close()
    for call in (lambda: writer.write({"x": [1]}), lambda: writer.write_batch([b"x"])):
        with pytest.raises(tf.errors.FailedPreconditionError, match="Writer is closed"):
            call()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"on_corrupt": "x"}, 'on_corrupt must be "raise", "skip" or "skip_file", got \'x\''),
        ({"shard_by": "x"}, 'shard_by must be "auto", "file" or "record", got \'x\''),
        ({"equal_shards": "x"}, 'equal_shards must be None, "drop" or "pad", got \'x\''),
        ({"features": {}}, "features must not be empty, got {}"),
        ({"label_key": "x"}, "label_key needs features"),
        ({"columns": ["x"]}, "columns needs features"),
        ({"groups": {}}, "groups needs features"),
    ],
)
def test_a_choice_that_there_is_not_is_named(tmp_path, given, said):
    with pytest.raises(InvalidArgumentError) as caught:
        tf.ShardReader(str(tmp_path / "a"), **given)
    assert str(caught.value) == said


def test_a_reader_shows_its_epochs(tmp_path):
    for count in (-1, 0, 3):
        reader = tf.ShardReader(str(tmp_path / "a"), num_epochs=count)
        reader.set_epoch(2)
        assert f"num_epochs={count}, epoch 2>" in repr(reader)


def test_only_files_with_a_path_are_appended_to(tmp_path):
    with (
        open(tmp_path / "a", "wb") as file,
        pytest.raises(ValueError, match="append=True needs a local path, not a file"),
    ):
        tf.TFRecordWriter(file, append=True)
    with pytest.raises(ValueError, match=r"^memory://b/a: append=True needs a local path: an object behind a URL is"):
        tf.TFRecordWriter("memory://b/a", append=True)
    with pytest.raises(
        ValueError, match='append=True is not supported for "ZLIB": TensorFlow reads only the first stream'
    ):
        tf.TFRecordWriter(tmp_path / "a", "ZLIB", append=True)
