"""The folder of a cache of objects, without stores: copies, room to the byte, locks and remains."""

import errno
import os
from types import SimpleNamespace

import pytest

from tests.support.alarms import alarmed
from tests.support.forks import status_of_child
from tfrecord_fast.files.stores import StoreSettings, cache, cache_folder
from tfrecord_fast.files.stores.cache_folder import CacheError, Draft, Folder, Lock, NoRoomError, ObjectCopy
from tfrecord_fast.files.streams.fetching import Fetching


def wanted(number, size=10):
    return ObjectCopy(f"{number:040x}", size, "v")


def fill(folder, copy):
    draft = folder.draft(copy)
    draft.write(0, memoryview(b"x" * copy.size))
    folder.publish(draft, copy)
    draft.discard()


def content(folder, copy):
    descriptor = folder.opened(copy)
    if descriptor is None:
        return None
    with open(descriptor, "rb") as file:
        return file.read()


def kept(folder):
    return sorted(int(name.partition(".")[0], 16) for name in os.listdir(folder.directory) if name.endswith(".data"))


def used(folder):
    with open(os.path.join(folder.directory, "cache.bytes")) as file:
        text = file.read()
    assert len(text) == 21 and text.endswith("\n")
    return int(text)


def age(folder, *numbers):
    """The first was used first."""
    for place, number in enumerate(numbers):
        os.utime(folder.path(wanted(number).name, "data"), (1000 + place, 1000 + place))


@pytest.fixture
def folder(tmp_path):
    return Folder(str(tmp_path / "cache"), None)


@pytest.fixture
def bounded(tmp_path):
    return Folder(str(tmp_path / "cache"), 100)


# ---- Copies ----


def test_a_copy_has_the_size_of_its_object(folder):
    os.makedirs(folder.directory)
    fill(folder, wanted(1))
    assert content(folder, wanted(1)) == b"x" * 10
    assert sorted(os.listdir(folder.directory)) == [f"{1:040x}.data", "cache.lock"]
    for size in (9, 11):
        os.truncate(folder.path(wanted(1).name, "data"), size)
        assert content(folder, wanted(1)) is None
    assert folder.opened(wanted(2)) is None


def test_using_a_copy_keeps_its_time_of_modification(folder):
    os.makedirs(folder.directory)
    fill(folder, wanted(1))
    path = folder.path(wanted(1).name, "data")
    os.utime(path, (5, 6))
    content(folder, wanted(1))
    assert os.stat(path).st_mtime == 6 and os.stat(path).st_atime > 6


def test_using_a_copy_makes_it_the_last_to_go(bounded):
    os.makedirs(bounded.directory)
    for number in (1, 2, 3):
        fill(bounded, wanted(number, 30))
    age(bounded, 1, 2, 3)
    assert content(bounded, wanted(1, 30)) is not None
    fill(bounded, wanted(4, 30))
    assert kept(bounded) == [1, 3, 4]


# ---- Room ----


def test_room_is_used_to_the_last_byte(bounded):
    os.makedirs(bounded.directory)
    for number in (1, 2, 3, 4):
        fill(bounded, wanted(number, 25))
        assert used(bounded) == 25 * number
    os.unlink(os.path.join(bounded.directory, "cache.bytes"))
    os.unlink(bounded.path(wanted(4).name, "data"))
    fill(bounded, wanted(4, 25))  # everything is counted, and there is just as much room as is needed
    assert kept(bounded) == [1, 2, 3, 4] and used(bounded) == 100


def test_a_little_more_room_is_made_than_is_needed(bounded):
    os.makedirs(bounded.directory)
    for number in range(10):
        fill(bounded, wanted(number))
    age(bounded, *range(10))
    fill(bounded, wanted(10))
    assert kept(bounded) == [2, 3, 4, 5, 6, 7, 8, 9, 10] and used(bounded) == 90


def test_an_object_as_large_as_the_room_takes_it_all(bounded):
    os.makedirs(bounded.directory)
    for number in (1, 2):
        fill(bounded, wanted(number, 30))
    fill(bounded, wanted(3, 100))
    assert kept(bounded) == [3] and used(bounded) == 100
    with pytest.raises(NoRoomError, match="no room"):
        bounded.draft(wanted(4, 101))
    assert kept(bounded) == []


def test_a_copy_that_is_being_fetched_keeps_its_room(bounded):
    os.makedirs(bounded.directory)
    fill(bounded, wanted(1, 60))
    lock = bounded.lock(wanted(1))
    with pytest.raises(NoRoomError, match="no room"):
        bounded.draft(wanted(2, 50))
    assert kept(bounded) == [1]
    fill(bounded, wanted(2, 40))
    lock.release()
    assert kept(bounded) == [1, 2] and used(bounded) == 100


def test_a_copy_that_is_taken_just_now_is_not_removed(bounded, monkeypatch):
    os.makedirs(bounded.directory)
    fill(bounded, wanted(1, 60))
    fill(bounded, wanted(2, 30))
    age(bounded, 1, 2)
    found = bounded._listed()
    lock = bounded.lock(wanted(1))
    assert bounded._removed(wanted(1).name) is False and kept(bounded) == [1, 2]
    monkeypatch.setattr(bounded, "_listed", lambda: found)  # as it was before the lock
    assert bounded._make_room(40, 100) == 60 and kept(bounded) == [1]
    lock.release()
    assert bounded._removed(wanted(1).name) is True and kept(bounded) == []


def test_a_copy_that_is_gone_was_used_first(bounded):
    os.makedirs(bounded.directory)
    assert bounded._last_use("0" * 40) == 0
    fill(bounded, wanted(1))
    age(bounded, 1)
    assert bounded._last_use(wanted(1).name) == 1000 * 10**9


@pytest.mark.parametrize("text", ["", "-1", "x"])
def test_a_count_that_is_none_is_made_again(bounded, text):
    os.makedirs(bounded.directory)
    fill(bounded, wanted(1, 30))
    with open(os.path.join(bounded.directory, "cache.bytes"), "w") as file:
        file.write(text)
    fill(bounded, wanted(2, 30))
    assert used(bounded) == 60


def test_without_a_bound_nothing_is_counted(tmp_path, bounded, folder):
    os.makedirs(bounded.directory)
    fill(bounded, wanted(1, 30))
    fill(folder, wanted(2, 90))
    assert not os.path.exists(os.path.join(folder.directory, "cache.bytes")) and kept(folder) == [1, 2]


def test_who_counts_for_long_is_not_waited_for(bounded, monkeypatch):
    os.makedirs(bounded.directory)
    monkeypatch.setattr(cache_folder, "_ROOM_WAIT", 0.05)
    lock = Lock.taken(os.path.join(bounded.directory, "cache.lock"))
    with pytest.raises(OSError, match=r"another process has locked cache\.lock for too long") as caught:
        bounded._room()
    assert caught.value.errno == errno.EBUSY
    with pytest.raises(CacheError, match="another process has locked"):
        bounded.draft(wanted(1))
    lock.release(keep=True)
    bounded._room().release(keep=True)
    assert os.listdir(bounded.directory) == ["cache.lock"]


# ---- Remains ----


def touch(folder, number, *kinds):
    for kind in kinds:
        with open(folder.path(wanted(number).name, kind), "wb") as file:
            file.write(b"x" * 10)


def test_what_killed_processes_left_is_removed_once(folder):
    os.makedirs(folder.directory)
    fill(folder, wanted(1))
    touch(folder, 1, "draft", "lock")
    touch(folder, 2, "draft")
    touch(folder, 3, "lock")
    touch(folder, 4, "draft")
    held = folder.lock(wanted(4))
    again = Folder(folder.directory, None)
    fill(again, wanted(5))
    found = {name.lstrip("0") for name in os.listdir(folder.directory) if not name.startswith("cache.")}
    assert found == {"1.data", "4.draft", "4.lock", "5.data"} and content(folder, wanted(1)) == b"x" * 10
    held.release()
    touch(folder, 6, "draft")
    fill(again, wanted(7))
    assert os.path.exists(folder.path(wanted(6).name, "draft"))  # looking once is enough


def test_remains_take_no_room(bounded):
    os.makedirs(bounded.directory)
    touch(bounded, 1, "draft")
    fill(bounded, wanted(2, 95))
    assert kept(bounded) == [2] and used(bounded) == 95
    assert not os.path.exists(bounded.path(wanted(1).name, "draft"))


def test_drafts_of_others_take_room(bounded):
    os.makedirs(bounded.directory)
    touch(bounded, 1, "draft")
    lock = bounded.lock(wanted(1))
    with pytest.raises(NoRoomError):
        bounded.draft(wanted(2, 91))
    fill(bounded, wanted(2, 90))
    lock.release()
    assert used(bounded) == 100


# ---- Drafts and locks ----


def test_a_draft_takes_room_and_nothing_after_its_end(tmp_path):
    path = str(tmp_path / "draft")
    with open(path, "wb") as file:
        file.write(b"before")
    draft = Draft(path, 8)
    assert os.path.getsize(path) == 8
    draft.write(2, memoryview(b"abc"))
    draft.close()
    draft.write(0, memoryview(b"z"))
    draft.close()
    assert open(path, "rb").read() == b"\0\0abc\0\0\0"


def test_a_draft_is_written_in_as_many_parts_as_it_takes(tmp_path, monkeypatch):
    draft, pwrite = Draft(str(tmp_path / "draft"), 8), os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, data, at: pwrite(file, data[:3], at))
    draft.write(0, memoryview(b"abcdefgh"))
    assert (tmp_path / "draft").read_bytes() == b"abcdefgh"
    draft.close()


def test_a_lock_is_one_persons(tmp_path):
    path = str(tmp_path / "lock")
    lock = Lock.taken(path)
    assert Lock.taken(path) is None and status_of_child(lambda: Lock.taken(path) is None) == 0
    lock.release(keep=True)
    assert os.path.exists(path)
    lock = Lock.taken(path)
    lock.release()
    assert not os.path.exists(path)


def test_progress_is_what_changes_of_a_draft(folder):
    os.makedirs(folder.directory)
    assert folder.progress(wanted(1)) is None
    draft = folder.draft(wanted(1))
    first = folder.progress(wanted(1))
    os.utime(folder.path(wanted(1).name, "draft"), (5, 5))
    assert first is not None and folder.progress(wanted(1)) not in (None, first)
    draft.discard()
    assert folder.progress(wanted(1)) is None


def test_a_forked_process_has_caches_of_its_own(tmp_path, monkeypatch):
    settings = StoreSettings(cache_dir=str(tmp_path))
    monkeypatch.setattr(cache, "_caches", {})
    monkeypatch.setattr(cache, "_lock", cache.threading.Lock())
    monkeypatch.setattr(cache, "_origin", cache.Origin())
    before = cache.cache_of(settings)
    assert cache.cache_of(settings) is before
    cache._origin._process = -1
    with cache._lock:  # as if a thread held it that is not in the child
        after = cache.cache_of(settings)
    assert after is not before and cache.cache_of(settings) is after and cache._origin.is_here()


def test_a_cached_copy_that_is_cut_off_is_no_copy(tmp_path):
    copied = tmp_path / "copy"
    copied.write_bytes(b"0123456789")
    cache = SimpleNamespace(open=lambda *given: os.open(copied, os.O_RDONLY))
    fetching = SimpleNamespace(_cache=cache, _settings=None)
    found = SimpleNamespace(url="s3://b/k", size=12, version="1", store=None, key="k")
    assert Fetching._kept(fetching, found, 2, 10) == b"23456789"
    assert Fetching._kept(fetching, found, 2, 12) is None


# ---- What others put into a shared folder ----

NAMES = ["cache.bytes", "cache.lock", f"{1:040x}.data", f"{1:040x}.lock", f"{1:040x}.draft"]


@pytest.fixture
def victim(tmp_path):
    path = tmp_path / "victim"
    path.write_bytes(b"precious!!")
    return path


def use(folder):
    """Fetch a copy; return its content, or None if the folder can't be used. It ends, whatever is there."""
    with alarmed(5):
        try:
            lock = folder.lock(wanted(1))
            fill(folder, wanted(1))
            lock.release()
        except CacheError:
            return None
        return content(folder, wanted(1))


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "dangling link"])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_file_of_the_cache_is_not_used(bounded, victim, tmp_path, name, kind):
    os.makedirs(bounded.directory)
    path = os.path.join(bounded.directory, name)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "hard link":
        os.link(victim, path)
    else:
        os.symlink(victim if kind == "link" else tmp_path / "new", path)
    assert use(bounded) in (None, b"x" * 10)
    assert content(bounded, wanted(1)) in (None, b"x" * 10, b"precious!!" if kind == "hard link" else None)
    assert victim.read_bytes() == b"precious!!" and not (tmp_path / "new").exists()


@pytest.mark.parametrize("size", [22, 1 << 40])
def test_a_count_that_is_too_long_is_made_again(bounded, size):
    os.makedirs(bounded.directory)
    with open(os.path.join(bounded.directory, "cache.bytes"), "wb") as file:
        file.truncate(size)
    assert use(bounded) == b"x" * 10
    assert used(bounded) == 10
