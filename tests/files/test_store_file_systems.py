"""Stores behind fsspec's file systems: how their files are kept open, patterns of keys, files that know no size."""

import errno
import io
import os
import threading

import fsspec
import pytest

from tfrecord_fast.files.stores import ObjectInfo, StoreSettings, find_store
from tfrecord_fast.files.stores.fsspec_store import _OPEN_FILES, FileSystemStore, _opened, _OpenFiles
from tfrecord_fast.files.stores.matching import matches_of
from tfrecord_fast.files.stores.objects import stored_objects
from tfrecord_fast.files.system import remote_files
from tfrecord_fast.io import gfile

# ---- Patterns ----

KEYS = ["/s/a/x/1", "/s/a/x/2", "/s/a/y/1", "/s/b/x/1", "/s/b/z", "/s/c", "/t/a/x/1"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("/s/*/x/1", ["/s/a/x/1", "/s/b/x/1"]),
        ("/s/*/x", ["/s/a/x", "/s/b/x"]),
        ("/s/*/x/*", ["/s/a/x/1", "/s/a/x/2", "/s/b/x/1"]),
        ("/?/a/x/1", ["/s/a/x/1", "/t/a/x/1"]),
        ("/?/a/*/1", ["/s/a/x/1", "/s/a/y/1", "/t/a/x/1"]),
        ("/s/[ab]", ["/s/a", "/s/b"]),
        ("/s/*", ["/s/a", "/s/b", "/s/c"]),
        ("/s/c", ["/s/c"]),
        ("/s/a", ["/s/a"]),
        ("/s/a/", ["/s/a"]),
        ("/s/none", []),
        ("/s/*/none/1", []),
        ("/s/c/*", []),
        ("/none/*/x", []),
        ("/s/**/1", ["/s/a/x/1", "/s/a/y/1", "/s/b/x/1"]),
        ("/s/**", KEYS[:6]),
        ("/s/[!a]/**", ["/s/b/x/1", "/s/b/z"]),
    ],
)
def test_patterns_of_keys(memory, pattern, found):
    memory.pipe({key: b"x" for key in KEYS})
    store, _ = find_store("memory://s/a")
    assert list(matches_of(store, pattern)) == [f"memory://{key}" for key in found]


def test_patterns_match_as_local_ones_do(memory, tmp_path):
    for key in KEYS:
        path = tmp_path / key[1:]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    memory.pipe({key: b"x" for key in KEYS})
    store, _ = find_store("memory://s/a")
    for pattern in ("*/*/x/1", "s/*", "*/a/?/*", "s/[!b]/y/*", "s/b*"):
        local = sorted(f"memory:///{os.path.relpath(path, tmp_path)}" for path in gfile.glob(str(tmp_path / pattern)))
        assert sorted(matches_of(store, f"/{pattern}")) == local != []


# ---- Files that stay open ----


class System:
    """A file system that gives its files one by one, and knows no ranges. It says which of them it has opened."""

    def __init__(self, files):
        self.files = files
        self.opened = []

    def open(self, key, mode, cache_type=None):
        assert (mode, cache_type) == ("rb", "none")
        self.opened.append(key)
        return io.BytesIO(self.files[key])


class WithoutCaches(System):
    def open(self, key, mode):
        return super().open(key, mode, cache_type="none")


def test_a_file_is_opened_once_and_read_anywhere():
    system = System({"a": b"0123456789", "b": b"xyz"})
    files = _OpenFiles(system)
    assert [files.read("a", 2, 5), files.read("b", 0, 3), files.read("a", 0, 1)] == [b"234", b"xyz", b"0"]
    assert system.opened == ["a", "b"]


def test_files_that_were_used_last_stay_open():
    names = [str(i) for i in range(_OPEN_FILES + 1)]
    system = System({name: name.encode() for name in names})
    files = _OpenFiles(system)
    for name in names[:-1]:
        files.read(name, 0, 9)
    first, second = (files._files[name] for name in names[:2])
    assert files.read("0", 0, 9) == b"0"  # now "1" is the least recently used
    assert files.read(names[-1], 0, 9) == names[-1].encode()
    assert second.closed and not first.closed and len(files._files) == _OPEN_FILES == 32
    assert files.read("1", 0, 9) == b"1" and system.opened == [*names, "1"]


def test_a_file_that_is_read_as_another_version_is_opened_again():
    """A listing may tell the version, without a look at the file itself."""
    system = System({"a": b"0123"})
    files = _OpenFiles(system)
    read = [files.read("a", 0, 2, version) for version in ("old", "old", "new", "new")]
    assert read == [b"01"] * 4 and system.opened == ["a", "a"]


class Unclosable(io.BytesIO):
    """As a file whose connection broke."""

    def close(self):
        raise RuntimeError("Socket is closed")

    def __del__(self):
        pass


def test_a_file_that_can_not_be_closed_is_opened_again_all_the_same():
    system = System({str(i): b"0123" for i in range(_OPEN_FILES + 2)})
    files = _OpenFiles(system)
    files.read("0", 0, 1)
    files._files["0"] = Unclosable()
    assert files.read("0", 1, 3, "of another version") == b"12"
    files._files["0"] = Unclosable()
    files.forget_unless("0", None)
    assert files.read("0", 2, 4) == b"23"
    files._files["0"] = Unclosable()
    for key in list(system.files)[1:]:
        assert files.read(key, 0, 2) == b"01"


def test_a_file_that_was_closed_is_opened_again():
    system = System({"a": b"0123"})
    files = _OpenFiles(system)
    assert files.read("a", 0, 2) == b"01"
    files._files["a"].close()
    assert files.read("a", 2, 4) == b"23" and system.opened == ["a", "a"]


def test_a_file_that_failed_is_opened_again():
    system = System({"a": b"0123"})
    files = _OpenFiles(system)
    files.read("a", 0, 1)
    kept = files._files["a"]
    with pytest.raises(ValueError, match="negative seek"):
        files.read("a", -1, 3)
    assert not files._files and files.read("a", 1, 3) == b"12" and files._files["a"] is not kept


def test_a_file_system_that_knows_no_caches_opens_files_too():
    assert _opened(WithoutCaches({"a": b"0123"}), "a").read() == b"0123"


# ---- What a store does not say ----


class Sizeless(fsspec.AbstractFileSystem):
    """A file system that knows of one file "f", but not how large it is, and of a folder "d"."""

    protocol = "sizeless"
    cachable = False

    def info(self, path, **given):
        if path.endswith("denied"):
            raise PermissionError(1, "no")
        if path not in ("f", "d"):
            raise FileNotFoundError(path)
        return {"name": path, "size": None, "type": "file" if path == "f" else "directory"}

    def isdir(self, path):
        return path == "d"


@pytest.fixture
def sizeless(monkeypatch):
    store = FileSystemStore(Sizeless(), fsspec.AbstractFileSystem)
    monkeypatch.setattr(remote_files, "find_store", lambda url, options, lists=False: (store, url.partition("//")[2]))
    return store


def test_a_size_that_a_store_does_not_say_is_an_error_that_names_the_object(sizeless):
    with pytest.raises(OSError, match="does not report the size of the object") as caught:
        sizeless.info("f")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOTSUP, "sizeless://f")
    with pytest.raises(IsADirectoryError) as caught:
        sizeless.info("d")
    assert (caught.value.errno, caught.value.filename) == (errno.EISDIR, "sizeless://d")


def test_an_object_of_no_known_size_exists(sizeless):
    assert remote_files.exists("sizeless://f", None) is True and remote_files.exists("sizeless://d", None) is True
    assert remote_files.exists("sizeless://none", None) is False
    assert remote_files._info_or_none(sizeless, "f") == ObjectInfo("sizeless://f", 0, None)
    assert remote_files._info_or_none(sizeless, "d") is None and remote_files._info_or_none(sizeless, "none") is None
    with pytest.raises(FileExistsError) as caught:
        remote_files.make_folder("sizeless://f", None, parents=False)
    assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, "sizeless://f")


def test_another_error_is_no_absence(sizeless):
    with pytest.raises(PermissionError, match="permission denied"):
        remote_files.exists("sizeless://denied", None)


# ---- Folders ----


def walked(url, **given):
    return [(folder, list(folders), list(files)) for folder, folders, files in gfile.walk(url, **given)]


def test_a_walk_gives_folders_before_or_after_what_is_in_them(memory):
    memory.pipe({key: b"x" for key in KEYS[:6]})
    top = ("memory:///s", ["a", "b"], ["c"])
    below = [
        [("memory:///s/a", ["x", "y"], []), ("memory:///s/a/x", [], ["1", "2"]), ("memory:///s/a/y", [], ["1"])],
        [("memory:///s/b", ["x"], ["z"]), ("memory:///s/b/x", [], ["1"])],
    ]
    assert walked("memory://s") == [top, *below[0], *below[1]]
    (a, a_x, a_y), (b, b_x) = below
    assert walked("memory://s", topdown=False) == [a_x, a_y, a, b_x, b, top]
    assert walked("memory://none") == []


@pytest.mark.parametrize("topdown", [True, False])
def test_a_folder_that_can_not_be_listed_is_told_and_left_out(memory, monkeypatch, topdown):
    memory.pipe({"/s/a/x": b"", "/s/b/y": b""})
    listed = FileSystemStore._listed

    def fail(store, folder):
        if folder.rstrip("/").endswith("/a"):
            raise PermissionError(1, "no")
        return listed(store, folder)

    monkeypatch.setattr(FileSystemStore, "_listed", fail)
    told = []
    found = list(remote_files.walk("memory://s", None, topdown, told.append))
    expected = [("memory:///s", ["a", "b"], []), ("memory:///s/b", [], ["y"])]
    assert found == (expected if topdown else expected[::-1])
    assert [(type(error), error.filename) for error in told] == [(PermissionError, "memory:///s/a")]
    with pytest.raises(PermissionError, match="permission denied"):
        list(remote_files.walk("memory://s", None, topdown))


def test_a_copy_and_a_new_name_within_a_store(memory):
    memory.pipe("/s/a", b"0123")
    gfile.copy("memory://s/a", "memory://s/b")
    assert memory.cat("/s/b") == b"0123" and memory.exists("/s/a")
    gfile.rename("memory://s/a", "memory://s/c")
    assert memory.cat("/s/c") == b"0123" and not memory.exists("/s/a")
    assert remote_files.rename("memory://s/c", "memory://s/c", None) is True and memory.cat("/s/c") == b"0123"
    assert remote_files.is_same_object("memory://s/c", "memory://s/c", None)
    with pytest.raises(FileNotFoundError):
        remote_files.rename("memory://s/none", "memory://s/none", None)
    with pytest.raises(FileNotFoundError):
        remote_files.remove("memory://s/none", None)


def test_a_position_in_a_file(memory, tmp_path):
    for name in (str(tmp_path / "a"), "memory://s/a"):
        with gfile.GFile(name, "wb") as file:
            file.write(b"01234567\n89")
        with gfile.GFile(name, "rb") as file:
            assert file.tell() == 0 and file.read(3) == b"012" and file.tell() == 3
            file.seek(2, 1)
            assert file.tell() == 5 and file.readline() == b"567\n" and file.tell() == 9
            file.flush()


def test_what_was_flushed_is_in_the_file(tmp_path):
    file = gfile.GFile(str(tmp_path / "a"), "w")
    file.flush()  # nothing is open yet
    assert not (tmp_path / "a").exists()
    file.write("text")
    file.flush()
    assert (tmp_path / "a").read_text() == "text"
    file.close()


# ---- Empty objects ----


@pytest.mark.parametrize("name", ["memory://e/", "memory://e/*"])
def test_empty_objects_that_mark_folders_are_found_several_at_a_time(memory, monkeypatch, name):
    memory.pipe({f"/e/{number}": b"x" * (number == 4) for number in range(5)})
    meeting, info = threading.Barrier(4, timeout=30), FileSystemStore.info

    def asked(store, key):
        meeting.wait()
        if key == "/e/2":
            raise FileNotFoundError(key)
        return info(store, key)

    monkeypatch.setattr(FileSystemStore, "info", asked)
    found = stored_objects(name, StoreSettings())
    assert [source.key for source in found] == ["/e/0", "/e/1", "/e/3", "/e/4"]
