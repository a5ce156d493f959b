"""Copies of whole objects on a local disk."""

import contextlib
import errno
import os
import pickle
import random
import re
import resource
import threading
import warnings

import pytest

from tests.support.mounts import mounted, unmount
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.files.stores import ObjectInfo, StoreSettings, find_store
from tfrecord_fast.files.stores.cache import PIECE, ObjectCache, cache_of, store_settings
from tfrecord_fast.files.stores.cache_folder import Lock

from .fake_store import FakeStore

SMALL = random.Random(0).randbytes(3000)
LARGE = random.Random(1).randbytes(2 * PIECE + 5)


def content(cache, store, key, **more):
    """The bytes of the copy; None if there is none."""
    descriptor = cache.open(store, key, **more)
    if descriptor is None:
        return None
    with open(descriptor, "rb") as file:
        return file.read()


def copies(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".data"))


def is_tidy(folder):
    """Return True if the folder holds only copies and the count of their bytes."""
    names = {name for name in os.listdir(folder) if not name.startswith("cache.")}
    return all(name.endswith(".data") for name in names)


@pytest.fixture
def cache(tmp_path):
    return ObjectCache(tmp_path / "cache")


@pytest.mark.parametrize("data", [b"", b"x", SMALL, LARGE[:PIECE], LARGE], ids=len)
def test_an_object_is_fetched_once(cache, data):
    store = FakeStore(a=data)
    assert content(cache, store, "a") == data
    asked = len(store.reads)
    assert content(cache, store, "a") == data
    assert len(store.reads) == asked == -(-len(data) // PIECE)
    assert is_tidy(cache.directory)


def test_a_new_process_finds_the_copy(cache):
    store = FakeStore(a=SMALL)
    content(cache, store, "a")
    assert content(ObjectCache(cache.directory), store, "a") == SMALL
    assert len(store.reads) == 1


def test_who_knows_the_object_asks_nothing(cache):
    store = FakeStore(a=SMALL)
    info = store.info("a")
    content(cache, store, "a", info=info)
    content(cache, store, "a", info=info)
    assert store.infos == 1


def test_the_path_is_that_of_the_copy(cache):
    store = FakeStore(a=SMALL)
    path = cache.local_path(store, "a", store.info("a"), StoreSettings())
    assert os.path.dirname(path) == cache.directory
    with open(path, "rb") as file:
        assert file.read() == SMALL
    assert cache.local_path(store, "a") == path


def test_an_object_that_was_replaced_is_fetched_again(cache):
    store = FakeStore(a=SMALL)
    content(cache, store, "a")
    store.put("a", SMALL[::-1])
    assert content(cache, store, "a") == SMALL[::-1]
    assert len(store.reads) == 2


def test_a_change_while_it_is_fetched_is_an_error(cache):
    store = FakeStore(a=SMALL)
    info = store.info("a")
    store.put("a", SMALL[::-1])
    with pytest.raises(OSError, match="changed") as raised:
        cache.open(store, "a", info)
    assert raised.value.errno == errno.ESTALE
    assert set(os.listdir(cache.directory)) <= {"cache.lock"}


def test_an_object_without_a_version_is_not_kept(cache):
    store = FakeStore(a=SMALL)
    assert cache.open(store, "a", ObjectInfo(store.url("a"), len(SMALL), None)) is None
    assert not os.path.exists(cache.directory)


def test_a_missing_object_is_not_found(cache):
    with pytest.raises(FileNotFoundError, match="fake://bucket/a"):
        cache.open(FakeStore(), "a")


def test_the_same_name_on_another_server_is_another_object(cache):
    one, other = FakeStore(a=SMALL), FakeStore(a=SMALL[::-1])
    here, there = ({"endpoint_url": f"http://127.0.0.1:{port}"} for port in (1, 2))
    assert content(cache, one, "a", settings=StoreSettings(here)) == SMALL
    assert content(cache, other, "a", settings=StoreSettings(there)) == SMALL[::-1]
    assert content(cache, other, "a", settings=StoreSettings({"client_kwargs": here})) == SMALL


def test_no_secret_is_written(cache):
    store = FakeStore(a=SMALL)
    content(cache, store, "a", settings=StoreSettings({"secret": "hush", "endpoint": "http://x"}))
    for name in os.listdir(cache.directory):
        with open(os.path.join(cache.directory, name), "rb") as file:
            assert b"hush" not in file.read()


def cut(path):
    os.truncate(path, 1000)


def extended(path):
    with open(path, "ab") as file:
        file.write(b"x")


@pytest.mark.parametrize("damage", [cut, extended, os.unlink])
def test_a_copy_of_another_size_is_fetched_again(cache, damage):
    store = FakeStore(a=LARGE)
    content(cache, store, "a")
    (path,) = copies(cache.directory)
    damage(path)
    store.reads.clear()
    assert content(cache, store, "a") == LARGE
    assert len(store.reads) == 3
    assert is_tidy(cache.directory)
    assert content(cache, store, "a") == LARGE
    assert len(store.reads) == 3


def test_a_folder_that_was_copied_is_a_cache(cache, tmp_path):
    store = FakeStore(a=LARGE)
    content(cache, store, "a")
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in os.listdir(cache.directory):
        with open(os.path.join(cache.directory, name), "rb") as file:
            (moved / name).write_bytes(file.read())
    store.reads.clear()
    assert content(ObjectCache(moved), store, "a") == LARGE
    assert store.reads == []
    assert is_tidy(moved)


def test_what_was_not_used_for_the_longest_time_goes(tmp_path):
    cache = ObjectCache(tmp_path, max_bytes=3500)
    store = FakeStore(**{name: name.encode() * 1000 for name in "abcd"})
    for name in "abca":
        assert content(cache, store, name) == name.encode() * 1000
    content(cache, store, "d")  # b goes, the oldest, to 90 %
    store.reads.clear()
    for name in "ad":
        content(cache, store, name)
    assert store.reads == []
    content(cache, store, "b")
    assert store.reads == [("b", 0, 1000)]


def test_the_bound_holds(tmp_path):
    cache = ObjectCache(tmp_path, max_bytes=20_000)
    rng = random.Random(2)
    store = FakeStore(**{f"k{number}": rng.randbytes(rng.randrange(8000)) for number in range(60)})
    for _ in range(200):
        key = f"k{rng.randrange(60)}"
        assert content(cache, store, key) == store.objects[key][0]
        assert sum(os.path.getsize(path) for path in copies(tmp_path)) <= 20_000
    assert is_tidy(tmp_path)
    assert len(copies(tmp_path)) > 1


def test_a_bound_counts_what_was_kept_without_one(tmp_path):
    store = FakeStore(**{name: name.encode() * 1000 for name in "abcd"})
    content(ObjectCache(tmp_path, max_bytes=3000), store, "a")
    for name in "bc":
        content(ObjectCache(tmp_path), store, name)
    content(ObjectCache(tmp_path, max_bytes=3000), store, "d")
    assert sum(os.path.getsize(path) for path in copies(tmp_path)) <= 3000


def test_what_is_larger_than_the_cache_is_not_kept(tmp_path):
    cache = ObjectCache(tmp_path, max_bytes=2999)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert content(cache, FakeStore(a=SMALL), "a") is None
    assert os.listdir(tmp_path) == []


def test_a_copy_that_is_open_stays_readable(tmp_path):
    cache = ObjectCache(tmp_path, max_bytes=3500)
    store = FakeStore(a=SMALL, b=SMALL[::-1])
    with open(cache.open(store, "a"), "rb") as file:
        content(cache, store, "b")
        assert len(copies(tmp_path)) == 1
        assert file.read() == SMALL


@pytest.mark.parametrize("max_bytes", [None, 10_000])
def test_what_killed_processes_left_goes_with_the_next_fetch(tmp_path, max_bytes):
    for name in ("draft", "lock"):
        (tmp_path / f"{'a' * 40}.{name}").write_bytes(b"x")
    assert content(ObjectCache(tmp_path, max_bytes), FakeStore(a=SMALL), "a") == SMALL
    assert is_tidy(tmp_path) and len(copies(tmp_path)) == 1


def test_other_files_in_the_folder_are_left_alone(tmp_path):
    others = {"mine.data": b"1", "a" * 40 + ".txt": b"2", "A" * 40 + ".data": b"3"}
    for name, data in others.items():
        (tmp_path / name).write_bytes(data)
    cache = ObjectCache(tmp_path, max_bytes=3500)
    store = FakeStore(a=SMALL, b=SMALL)
    content(cache, store, "a")
    content(cache, store, "b")
    assert {name: (tmp_path / name).read_bytes() for name in others} == others


def test_threads_fetch_an_object_once(cache):
    store = FakeStore(a=LARGE)
    store.delay = 0.05
    found = []
    threads = [threading.Thread(target=lambda: found.append(content(cache, store, "a"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [LARGE] * 8
    assert len(store.reads) == 3


def test_the_threads_that_fetched_end(cache):
    assert content(cache, FakeStore(a=LARGE), "a") == LARGE
    for thread in threading.enumerate():
        if thread.name.startswith("tfrecord_fast cache"):
            thread.join(10)
            assert not thread.is_alive()


def test_there_are_never_more_requests_than_allowed(cache):
    store = FakeStore(a=LARGE, b=LARGE[::-1])
    store.delay = 0.05
    settings = StoreSettings(max_requests=2)
    threads = [
        threading.Thread(target=content, args=(cache, store, key), kwargs={"settings": settings}) for key in "ab"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.most == 2


def test_who_fetches_and_gets_nowhere_is_not_waited_for(cache):
    store = FakeStore(a=SMALL)
    settings = StoreSettings(timeout=0.2)
    path = cache.local_path(store, "a")
    os.unlink(path)
    lock = Lock.taken(path.replace(".data", ".lock"))
    assert content(cache, store, "a", settings=settings) is None
    lock.release()
    assert content(cache, store, "a", settings=settings) == SMALL


def test_a_full_disk_is_read_past_with_one_warning(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    full = mounted(folder, "size=1m")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if full is None:  # only root may mount
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        cache = ObjectCache(folder)
        store = FakeStore(a=LARGE, b=SMALL)
        assert content(cache, store, "b") == SMALL
        with pytest.warns(RuntimeWarning, match=re.escape(str(folder))) as warned:
            assert content(cache, store, "a") is None
            assert content(cache, store, "a") is None
            assert content(cache, store, "b") == SMALL
        assert len(warned) == 1
        assert is_tidy(folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        if full is not None:
            unmount(folder)


def test_a_folder_that_can_not_be_is_read_past(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    cache = ObjectCache(tmp_path / "file" / "cache")
    with pytest.warns(RuntimeWarning, match="Not a directory"):
        assert content(cache, FakeStore(a=SMALL), "a") is None


def test_an_error_of_the_store_leaves_nothing(cache):
    store = FakeStore(a=LARGE)
    info = store.info("a")
    del store.objects["a"]
    with pytest.raises(KeyError):
        cache.open(store, "a", info)
    assert set(os.listdir(cache.directory)) <= {"cache.lock"}


def test_a_cache_pickles(tmp_path):
    cache = pickle.loads(pickle.dumps(ObjectCache(tmp_path, max_bytes=5)))
    assert repr(cache) == f"ObjectCache({str(tmp_path)!r}, max_bytes=5)"


def test_a_bound_of_nothing_is_refused(tmp_path):
    with pytest.raises(InvalidArgumentError, match="max_bytes"):
        ObjectCache(tmp_path, max_bytes=0)


def test_a_reader_takes_a_cache_with_its_bound(tmp_path):
    cache = ObjectCache(tmp_path, max_bytes=5000)
    settings = store_settings(cache_dir=cache)
    assert cache_of(settings).max_bytes == 5000
    assert os.fspath(cache) == cache_of(settings).directory == str(tmp_path)
    assert cache_of(store_settings(cache_dir=str(tmp_path))).max_bytes is None


def test_settings_have_one_cache(tmp_path):
    settings = StoreSettings(cache_dir=tmp_path, cache_bytes=10_000)
    assert cache_of(settings) is cache_of(StoreSettings(cache_dir=tmp_path, cache_bytes=10_000))
    assert cache_of(settings).max_bytes == 10_000
    assert cache_of(StoreSettings()) is None
    with pytest.raises(InvalidArgumentError, match="cache_dir"):
        cache_of(StoreSettings(cache_bytes=5))


@pytest.mark.parametrize("kind", ["s3", "signed_s3", "gcs", "azure"])
def test_each_kind_of_store_is_kept(request, tmp_path, kind):
    bucket = request.getfixturevalue(kind)
    url = bucket.put("folder/a.bin", LARGE)
    settings = StoreSettings(bucket.options, cache_dir=tmp_path)
    store, key = find_store(url, settings)
    assert content(cache_of(settings), store, key, settings=settings) == LARGE
    bucket.put("folder/a.bin", LARGE[::-1])
    assert content(cache_of(settings), store, key, settings=settings) == LARGE[::-1]


def test_a_second_use_makes_no_request_for_data(tmp_path, proxied_s3, s3_proxy):
    url = proxied_s3.put("a", LARGE)
    settings = StoreSettings(proxied_s3.options, cache_dir=tmp_path)
    store, key = find_store(url, settings)
    assert content(cache_of(settings), store, key, settings=settings) == LARGE
    assert sorted(one.range for one in s3_proxy.requests("GET")) == [
        (0, PIECE),
        (PIECE, 2 * PIECE),
        (2 * PIECE, len(LARGE)),
    ]
    s3_proxy.clear()
    assert content(cache_of(settings), store, key, settings=settings) == LARGE
    assert [one.method for one in s3_proxy.requests()] == ["HEAD"]


def test_nothing_stays_open(tmp_path):
    cache = ObjectCache(tmp_path, max_bytes=3 * PIECE)
    store = FakeStore(a=LARGE, b=LARGE, c=SMALL)
    for key in "abc":
        content(cache, store, key)
    left = [name for name in os.listdir("/proc/self/fd") if links_to(name, str(tmp_path))]
    assert left == []


def links_to(name, folder):
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/self/fd/{name}").startswith(folder)
    return False
