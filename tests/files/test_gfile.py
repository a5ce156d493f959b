"""tf.io.gfile and whole files: TensorFlow's answers; in memory through fsspec."""

import os

import pytest

import tfrecord_fast as tf
from tests.support import live_tensorflow

needs_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

PATTERNS = ["*.x", "a.x", "nope*", "sub/*", "*/c.x", "./*.x", ["*.x", "sub/*"], "su?", "[ab].x", "sub"]


def look_around(folder, patterns):
    here = os.getcwd()
    os.chdir(folder)
    try:
        gfile = tf.io.gfile
        return {
            "glob": [sorted(gfile.glob(pattern)) for pattern in patterns],
            "exists": [gfile.exists(name) for name in ("a.x", "sub", "nope")],
            "isdir": [gfile.isdir(name) for name in ("a.x", "sub", "nope")],
            "listdir": [sorted(gfile.listdir(name)) for name in (".", "sub")],
            "walk": [(top, dirs, sorted(names)) for top, dirs, names in gfile.walk(".")],
            "stat": [gfile.stat("a.x").length, gfile.GFile("a.x").size()],
            "lines": [list(gfile.GFile("a.x")), gfile.GFile("a.x", "rb").read(3), gfile.GFile("a.x").readline()],
            "files": [tf.io.read_file("a.x"), sorted(tf.data.Dataset.list_files("*.x").as_numpy_iterator())],
            "matching": [list(tf.io.matching_files(p)) for p in ("*.x", "nope*")],
            "join": gfile.join("a", "b", "c.x"),
        }
    finally:
        os.chdir(here)


@needs_tensorflow
def test_answers_are_tensorflows(tmp_path):
    tf.io.write_file(tmp_path / "a.x", "one\ntwo\n")
    tf.io.write_file(tmp_path / "b.x", b"")
    tf.io.write_file(tmp_path / "sub" / "c.x", b"3")
    ours = look_around(tmp_path, PATTERNS)
    theirs = live_tensorflow.call(look_around, str(tmp_path), PATTERNS)
    for name, answer in ours.items():
        assert answer == theirs[name], name


def test_files_are_copied_renamed_and_removed(tmp_path):
    gfile = tf.io.gfile
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    with gfile.GFile(one, "w") as file:
        file.write("text")
    gfile.copy(one, other)
    with pytest.raises(FileExistsError):
        gfile.rename(one, other)
    gfile.rename(one, other, overwrite=True)
    assert gfile.listdir(tmp_path) == ["other"] and tf.io.read_file(other) == b"text"
    gfile.makedirs(tmp_path / "x" / "y")
    gfile.makedirs(tmp_path / "x" / "y")
    gfile.rmtree(tmp_path / "x")
    gfile.remove(other)
    assert not gfile.exists(other) and gfile.listdir(tmp_path) == []
    for missing in (gfile.stat, gfile.listdir, gfile.remove, tf.io.read_file):
        with pytest.raises(FileNotFoundError):
            missing(tmp_path / "none")


def test_urls_go_through_fsspec():
    pytest.importorskip("fsspec")
    gfile = tf.io.gfile
    gfile.makedirs("memory://gfile/sub")
    tf.io.write_file("memory://gfile/sub/a.txt", "x")
    assert tf.io.read_file("memory://gfile/sub/a.txt") == b"x"
    assert gfile.glob("memory://gfile/sub/*") == ["memory:///gfile/sub/a.txt"]
    assert gfile.listdir("memory://gfile/sub") == ["a.txt"] and gfile.isdir("memory://gfile/sub")
    assert gfile.stat("memory://gfile/sub/a.txt").length == 1
    gfile.rmtree("memory://gfile")
    assert not gfile.exists("memory://gfile/sub/a.txt")


def test_the_old_names_are_there(tmp_path):
    assert tf.gfile.Exists(tmp_path) and tf.compat.v1.gfile.ListDirectory(tmp_path) == []
    with tf.gfile.Open(str(tmp_path / "a"), "wb") as file:
        file.write(b"1")
    with tf.gfile.FastGFile(str(tmp_path / "a"), "rb") as file:
        assert file.read() == b"1"


def test_mkdir_of_a_folder_that_exists_is_fine(tmp_path):
    tf.io.gfile.mkdir(tmp_path / "a")
    tf.io.gfile.mkdir(tmp_path / "a")
    with pytest.raises(FileNotFoundError):
        tf.io.gfile.mkdir(tmp_path / "b" / "c")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileExistsError):
        tf.io.gfile.mkdir(tmp_path / "file")
