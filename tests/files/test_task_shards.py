"""Shards of an engine's tasks: all or none, and one for each task."""

import json
import os
import pickle

import pytest

import tfrecord_fast as tf
from tfrecord_fast.files.rewriting import task_shards
from tfrecord_fast.files.rewriting.task_shards import TaskShards


@pytest.fixture(params=["local", "memory"])
def folder(request, tmp_path):
    """A local folder, and one of a store in memory."""
    return str(tmp_path / "out") if request.param == "local" else f"memory://{tmp_path.name}/out"


def read(folder):
    """The values in all shards that can be seen, and the names."""
    gfile = tf.io.gfile
    if not gfile.exists(folder):
        return [], []
    names = sorted(
        f"{top[len(gfile_root(folder)) :]}/{name}".strip("/")
        for top, _, found in gfile.walk(folder)
        if "/._tfrecord-" not in top
        for name in found
    )
    shards = [f"{folder}/{name}" for name in names if name.rpartition("/")[2].startswith("part-")]
    values = [value for shard in shards for value in tf.read_table(shard).column("a").to_pylist()]
    return sorted(values), names


def gfile_root(folder):
    return next(iter(tf.io.gfile.walk(folder)))[0]


def begun(folder, mode="error", **options):
    shards = TaskShards(folder, mode, **options)
    shards.begin()
    return shards, pickle.loads(pickle.dumps(shards))


def test_shards_appear_with_a_manifest(folder):
    driver, task = begun(folder)
    written = [task.write(i, [{"a": [i, i + 10]}]) for i in range(3)] + [task.write(3, [])]
    if "://" not in folder:
        assert read(folder)[0] == [] and not os.path.exists(f"{folder}/_manifest.json")
    files = driver.commit(file for one in written for file in one)
    values, names = read(folder)
    assert values == [0, 1, 2, 10, 11, 12] and len(names) == 4 and "_manifest.json" in names
    assert [file.records for file in files] == [2, 2, 2]
    assert tf.ShardReader(tf.ShardList(f"{folder}/_manifest.json")).num_records == 6


def test_a_task_that_runs_twice_has_one_shard(folder):
    driver, task = begun(folder)
    first = task.write(0, [{"a": [1, 2]}])
    again = task.write(0, [{"a": [1, 2]}])
    driver.commit(again)
    assert read(folder)[0] == [1, 2] and len(read(folder)[1]) == 2
    del first


def test_a_try_that_is_late_changes_nothing(folder):
    driver, task = begun(folder)
    driver.commit(task.write(0, [{"a": [1, 2]}]))
    if "://" in folder:
        task.write(0, [{"a": [1, 2]}])
    else:
        with pytest.raises(FileNotFoundError, match="the write has ended"):
            task.write(0, [{"a": [1, 2]}])
    assert read(folder)[0] == [1, 2] and len(read(folder)[1]) == 2


def test_a_try_that_fails_leaves_nothing(folder):
    driver, task = begun(folder)

    def tables():
        yield {"a": [1]}
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        task.write(0, tables())
    driver.commit(task.write(1, [{"a": [2]}]))
    assert read(folder)[0] == [2] and len(read(folder)[1]) == 2


def test_what_is_aborted_leaves_nothing(folder):
    driver, task = begun(folder)
    task.write(0, [{"a": [1]}, ("k=1/j=2", {"a": [2]})])
    driver.abort()
    assert read(folder) == ([], [])
    if "://" not in folder:
        assert not os.path.exists(folder)


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_what_is_aborted_leaves_what_was_there(folder, mode):
    driver, task = begun(folder)
    driver.commit(task.write(0, [{"a": [1]}, ("k=1", {"a": [5]})]))
    before = read(folder)
    driver, task = begun(folder, mode)
    task.write(0, [{"a": [2]}, ("k=1", {"a": [6]}), ("k=2", {"a": [7]})])
    driver.abort()
    assert read(folder) == before


def test_a_commit_that_fails_leaves_nothing(folder, monkeypatch):
    driver, task = begun(folder)
    written = task.write(0, [{"a": [1]}])

    def fail(*args):
        raise OSError(28, "no space left")

    monkeypatch.setattr(task_shards, "write_manifest", fail)
    with pytest.raises(OSError, match="no space"):
        driver.commit(written)
    assert read(folder) == ([], [])


def test_what_can_not_be_removed_costs_no_new_shard(folder, monkeypatch):
    driver, task = begun(folder)
    driver.commit(task.write(0, [{"a": [1]}]))
    driver, task = begun(folder, "overwrite")
    written = task.write(0, [{"a": [2]}])

    remove = task_shards.file_system.remove

    def refuse(path, **options):
        if driver.id not in path:
            raise PermissionError(13, "Permission denied", path)
        remove(path, **options)

    monkeypatch.setattr(task_shards.file_system, "remove", refuse)
    with pytest.raises(PermissionError):
        driver.commit(written)
    task.abort()  # as an engine does then
    monkeypatch.undo()
    listed = tf.ShardReader(tf.ShardList(f"{folder}/_manifest.json"))
    assert listed.num_records == 1 and 2 in read(folder)[0]


def test_modes(folder):
    driver, task = begun(folder)
    driver.commit(task.write(0, [{"a": [1]}, ("k=1", {"a": [5]})]))
    with pytest.raises(FileExistsError):
        begun(folder)
    driver, task = begun(folder, "append")
    driver.commit(task.write(0, [{"a": [2]}, ("k=2", {"a": [6]})]))
    assert read(folder)[0] == [1, 2, 5, 6]
    assert tf.ShardReader(tf.ShardList(f"{folder}/_manifest.json")).num_records == 4
    driver, task = begun(folder, "overwrite")
    driver.commit(task.write(0, [("k=2", {"a": [9]})]))
    values, names = read(folder)
    assert (
        values == [9] and len(names) == 2 and tf.ShardReader(tf.ShardList(f"{folder}/_manifest.json")).num_records == 1
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode"):
        TaskShards(folder, "replace")


def test_files_of_others_are_not_listed_by_a_manifest_that_is_not_there(tmp_path):
    out = tmp_path / "out"
    with tf.ExampleWriter(f"{out.mkdir() or out}/other.tfrecord") as writer:
        writer.write({"a": [1]})
    driver, task = begun(out, "append")
    driver.commit(task.write(0, [{"a": [2]}]))
    assert not (out / "_manifest.json").exists()


def test_compressed_shards_have_an_extension(tmp_path):
    driver, task = begun(tmp_path / "out", options="GZIP")
    (file,) = driver.commit(task.write(0, [{"a": [1]}]))
    assert file.path.endswith(".tfrecord.gz")
    assert json.loads((tmp_path / "out" / "_manifest.json").read_text())["files"][0]["records"] == 1


def commit_of(driver, task, values):
    return driver.commit(task.write(0, [{"a": values}]))


def test_of_two_writes_that_want_an_empty_folder_one_fails(folder):
    one, other = begun(folder), begun(folder)
    commit_of(*one, [1, 2])
    with pytest.raises(FileExistsError, match="meanwhile"):
        commit_of(*other, [3])
    assert read(folder)[0] == [1, 2] and len(read(folder)[1]) == 2


def test_two_writes_that_append_at_once_are_both_in_the_manifest(folder):
    one, other = begun(folder, "append"), begun(folder, "append")
    commit_of(*one, [1, 2])
    commit_of(*other, [3])
    assert read(folder)[0] == [1, 2, 3]
    assert tf.ShardReader(tf.ShardList(f"{folder}/_manifest.json")).num_records == 3


def test_the_last_of_two_writes_that_overwrite_stays(folder):
    one, other = begun(folder, "overwrite"), begun(folder, "overwrite")
    commit_of(*one, [1, 2])
    commit_of(*other, [3])
    assert read(folder)[0] == [3]
    assert tf.ShardReader(tf.ShardList(f"{folder}/_manifest.json")).num_records == 1


def test_a_write_that_fails_leaves_another_one_its_drafts(tmp_path):
    one, other = begun(str(tmp_path / "out"), "append"), begun(str(tmp_path / "out"), "append")
    one[0].abort()
    commit_of(*other, [3])
    assert read(str(tmp_path / "out"))[0] == [3]


LINKS = ["link", "sub/link", "k=1", "file", "_manifest.json"]


@pytest.mark.parametrize("scheme", ["", "local://"])
@pytest.mark.parametrize("name", LINKS)
def test_an_overwrite_leaves_what_links_lead_to(tmp_path, scheme, name):
    outside, out = tmp_path / "outside", tmp_path / "out"
    (outside / "deep").mkdir(parents=True)
    for file in ("a", "deep/b"):
        (outside / file).write_text("precious")
    (out / name).parent.mkdir(parents=True)
    (out / name).symlink_to(outside if name in ("link", "sub/link", "k=1") else outside / "a")
    driver, task = begun(f"{scheme}{out}", "overwrite")
    rows = [{"a": [1]}] if scheme else [{"a": [1]}, ("k=1", {"a": [2]})]
    driver.commit(task.write(0, rows))
    if not scheme or name != "_manifest.json":  # a store writes to the names that it has
        assert all((outside / file).read_text() == "precious" for file in ("a", "deep/b"))
    if not scheme:
        assert read(str(out))[0] == [1, 2] and not (out / name).is_symlink()
        assert tf.ShardReader(tf.ShardList(out / "_manifest.json")).num_records == 2
        assert sorted(os.listdir(outside)) == ["a", "deep"]


def test_deleting_a_folder_does_not_follow_links(tmp_path):
    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    (outside / "a").write_text("precious")
    for folder in (str(out), f"local://{out}"):
        out.mkdir()
        (out / "link").symlink_to(outside)
        tf.io.gfile.rmtree(folder)
        assert not out.exists() and (outside / "a").read_text() == "precious"
    out.symlink_to(outside)
    with pytest.raises(NotADirectoryError, match="symbolic link"):
        tf.io.gfile.rmtree(f"{out}/")
    assert (outside / "a").read_text() == "precious"
