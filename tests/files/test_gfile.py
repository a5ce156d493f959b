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
            "walk up": [(top, sorted(names)) for top, _, names in gfile.walk(".", topdown=False)],
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


def read_by_bytes(path, mode):
    def errors(call):
        try:
            return call()
        except (UnicodeDecodeError, StopIteration) as error:
            return type(error).__name__

    def opened():
        return tf.io.gfile.GFile(path, mode)

    file = opened()
    steps = [lambda: next(file), file.tell, lambda: file.read(2), file.tell, file.readline, file.next, file.seekable]
    steps += [lambda: file.seek(1), lambda: file.read(1), file.tell, lambda: file.read(2), file.readlines, file.tell]
    steps += [file.next, file.readline, file.read, lambda: file.read(3)]
    whole = [opened().read(), opened().read(-1), list(opened()), opened().readlines(), iter(file) is file]
    return whole, [errors(step) for step in steps]


@needs_tensorflow
@pytest.mark.parametrize("mode", ["r", "rb"])
@pytest.mark.parametrize("text", ["héllo\r\nb\rc\n\nd", "wörld", "x", "a\n\r", "\r\n\r\r\n"])
def test_sizes_and_positions_count_bytes_and_newlines_stay(tmp_path, text, mode):
    path = str(tmp_path / "a")
    tf.io.write_file(path, text)
    assert read_by_bytes(path, mode) == live_tensorflow.call(read_by_bytes, path, mode)


@pytest.mark.parametrize("mode", ["w", "wb", "a"])
def test_str_and_bytes_are_written_as_they_are(tmp_path, mode):
    path = tmp_path / "a"
    with tf.io.gfile.GFile(path, mode) as file:
        file.write("é\r\n")
        assert file.tell() == 4
        file.write(b"x\n")
    assert path.read_bytes() == "é\r\nx\n".encode()


def test_a_folder_that_can_not_be_listed_is_told_while_walking(tmp_path):
    told = []
    assert list(tf.io.gfile.walk(tmp_path / "none", onerror=told.append)) == []
    assert [type(error) for error in told] == [FileNotFoundError]


def test_urls_are_walked_from_below():
    for name in ("a/x", "a/b/y"):
        tf.io.write_file(f"memory://upward/{name}", b"1")
    found = tf.io.gfile.walk("memory://upward", topdown=False)
    assert [(top.split("upward")[1], files) for top, _, files in found] == [("/a/b", ["y"]), ("/a", ["x"]), ("", [])]


@pytest.fixture
def one(tmp_path):
    """A file that holds b"text"."""
    with tf.io.gfile.GFile(str(tmp_path / "one"), "w") as file:
        file.write("text")
    return str(tmp_path / "one")


def test_a_file_is_copied(one, tmp_path):
    tf.io.gfile.copy(one, str(tmp_path / "other"))
    assert tf.io.read_file(str(tmp_path / "other")) == b"text"


def test_a_file_is_renamed(one, tmp_path):
    tf.io.gfile.rename(one, str(tmp_path / "other"))
    assert tf.io.gfile.listdir(tmp_path) == ["other"]


def test_a_file_is_not_renamed_to_one_that_exists(one, tmp_path):
    tf.io.write_file(tmp_path / "other", b"kept")
    with pytest.raises(FileExistsError):
        tf.io.gfile.rename(one, str(tmp_path / "other"))
    assert tf.io.read_file(tmp_path / "other") == b"kept"


def test_a_file_replaces_one_that_exists_if_asked_to(one, tmp_path):
    tf.io.write_file(tmp_path / "other", b"gone")
    tf.io.gfile.rename(one, str(tmp_path / "other"), overwrite=True)
    assert tf.io.gfile.listdir(tmp_path) == ["other"] and tf.io.read_file(tmp_path / "other") == b"text"


def test_a_file_is_removed(one, tmp_path):
    tf.io.gfile.remove(one)
    assert not tf.io.gfile.exists(one) and tf.io.gfile.listdir(tmp_path) == []


def test_folders_are_made_and_may_exist(tmp_path):
    for _ in range(2):
        tf.io.gfile.makedirs(tmp_path / "x" / "y")
    assert tf.io.gfile.isdir(tmp_path / "x" / "y")


def test_a_tree_is_removed(tmp_path):
    tf.io.gfile.makedirs(tmp_path / "x" / "y")
    tf.io.gfile.rmtree(tmp_path / "x")
    assert tf.io.gfile.listdir(tmp_path) == []


@pytest.mark.parametrize("use", [tf.io.gfile.stat, tf.io.gfile.listdir, tf.io.gfile.remove, tf.io.read_file])
def test_what_does_not_exist_is_file_not_found(tmp_path, use):
    with pytest.raises(FileNotFoundError):
        use(tmp_path / "none")


@pytest.fixture
def in_memory():
    """A file in memory that holds b"x"."""
    pytest.importorskip("fsspec")
    tf.io.gfile.makedirs("memory://gfile/sub")
    tf.io.write_file("memory://gfile/sub/a.txt", "x")
    yield "memory://gfile/sub/a.txt"
    if tf.io.gfile.exists("memory://gfile"):
        tf.io.gfile.rmtree("memory://gfile")


def test_a_url_is_written_and_read(in_memory):
    assert tf.io.read_file(in_memory) == b"x"


def test_urls_are_matched(in_memory):
    assert tf.io.gfile.glob("memory://gfile/sub/*") == ["memory:///gfile/sub/a.txt"]


@pytest.mark.usefixtures("in_memory")
def test_urls_are_listed():
    assert tf.io.gfile.listdir("memory://gfile/sub") == ["a.txt"] and tf.io.gfile.isdir("memory://gfile/sub")


def test_a_url_has_a_length(in_memory):
    assert tf.io.gfile.stat(in_memory).length == 1


def test_a_tree_of_urls_is_removed(in_memory):
    tf.io.gfile.rmtree("memory://gfile")
    assert not tf.io.gfile.exists(in_memory)


def test_tensorflow_1s_functions_exist(tmp_path):
    assert tf.gfile.Exists(tmp_path) and tf.compat.v1.gfile.ListDirectory(tmp_path) == []


def test_tensorflow_1s_files_exist(tmp_path):
    with tf.gfile.Open(str(tmp_path / "a"), "wb") as file:
        file.write(b"1")
    with tf.gfile.FastGFile(str(tmp_path / "a"), "rb") as file:
        assert file.read() == b"1"


def test_mkdir_of_a_folder_that_exists_is_fine(tmp_path):
    for _ in range(2):
        tf.io.gfile.mkdir(tmp_path / "a")
    assert tf.io.gfile.isdir(tmp_path / "a")


def test_mkdir_makes_one_folder_and_not_those_above(tmp_path):
    with pytest.raises(FileNotFoundError):
        tf.io.gfile.mkdir(tmp_path / "b" / "c")


def test_mkdir_where_a_file_exists_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileExistsError):
        tf.io.gfile.mkdir(tmp_path / "file")
