"""Stores of objects, apart from servers: which store a URL leads to, what errors say, how ranges are tried again."""

import errno
import itertools
import os
import pickle
import sys
import threading
import time

import fsspec
import pytest

import tfrecord_fast as tf
from tests.support.alarms import alarmed
from tfrecord_fast.files.naming.addresses import public_url
from tfrecord_fast.files.stores import ObjectInfo, StoreSettings, find_store, finding, read_range
from tfrecord_fast.files.stores.errors import call

SECRET = "hunter2hunter2"
SETTINGS = StoreSettings(timeout=10, request_timeout=3, hedge_after=0.2)


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("s3://bucket/a?b@c", "s3://bucket/a?b@c"),
        (f"https://me:{SECRET}@host/a?X-Amz-Signature={SECRET}#x", "https://host/a"),
        (f"sftp://me:{SECRET}@host/a", "sftp://host/a"),
        (f"zip://a::https://host/b?sig={SECRET}", "zip://a::https://host/b"),
        ("abfs://container@account.dfs.core.windows.net/a", "abfs://container@account.dfs.core.windows.net/a"),
    ],
)
def test_a_url_is_shown_without_credentials(url, shown):
    assert public_url(url) == shown


def test_settings_show_names_of_options_and_pickle_with_values():
    settings = StoreSettings(storage_options={"secret": SECRET}, max_requests=4)
    assert SECRET not in repr(settings) and "secret" in repr(settings) and "max_requests=4" in repr(settings)
    assert pickle.loads(pickle.dumps(settings)) == settings


@pytest.mark.parametrize("wrong", [{"max_requests": 0}, {"max_requests": True}, {"storage_options": 3}, {"timeout": 0}])
def test_settings_that_can_not_be_are_refused(wrong):
    with pytest.raises((TypeError, ValueError)):
        StoreSettings(**wrong)


class LibraryError(Exception):
    """Of a library that puts all that it knows into its text."""


@pytest.mark.parametrize(
    ("text", "kind", "number"),
    [
        ("status code: 404 Not Found", FileNotFoundError, errno.ENOENT),
        ("status code: 403 Forbidden: <Code>SignatureDoesNotMatch</Code>", PermissionError, errno.EACCES),
        ("status code: 401", PermissionError, errno.EACCES),
        ("status code: 503 <Code>SlowDown</Code>", ConnectionError, errno.ECONNABORTED),
        ("status code: 429", ConnectionError, errno.ECONNABORTED),
        ("status code: 412", OSError, errno.ESTALE),
        ("status code: 400", OSError, errno.EIO),
        ("error sending request: dns error", ConnectionError, errno.ECONNREFUSED),
        ("tcp connect error: Connection refused", ConnectionError, errno.ECONNREFUSED),
        ("operation timed out", TimeoutError, errno.ETIMEDOUT),
        ("something else", OSError, errno.EIO),
    ],
)
def test_an_error_of_a_library_is_pythons_own_and_has_only_what_is_harmless(text, kind, number):
    def fail():
        try:
            raise ValueError(SECRET)
        except ValueError as cause:
            raise LibraryError(f"{text} AWSAccessKeyId={SECRET}") from cause

    with pytest.raises(kind) as caught:
        call(f"https://me:{SECRET}@host/a?sig={SECRET}", fail)
    error = caught.value
    assert (error.errno, error.filename) == (number, "https://host/a")
    assert error.__cause__ is None and error.__context__ is None and SECRET not in repr(error) + str(error)


def test_a_store_is_kept_for_its_options():
    kept = find_store("s3://b/x", {"anon": True})
    assert find_store("s3://b/y", {"anon": True})[0] is kept[0] and kept[1] == "x"
    assert find_store("s3://b/x", {"skip_signature": True})[0] is not kept[0]
    assert find_store("s3://c/x", {"anon": True})[0] is not kept[0]
    assert SECRET not in repr(find_store("s3://b/x", {"key": SECRET, "secret": SECRET})[0])


@pytest.mark.parametrize("url", ["s3://b/x", "s3a://b/x", "gs://b/x", "az://b/x", "abfs://b@c.dfs.core.windows.net/x"])
def test_clouds_are_reached_through_obstore(url):
    options = {"anon": True, "account_name": "c"} if url.startswith("a") else {"anon": True}
    store, key = find_store(url, options)
    assert type(store).__name__ == "ObjectStore" and (key, store.url(key)) == ("x", url)


def test_options_of_fsspec_alone_lead_to_it():
    store, _ = find_store("s3://b/x", {"anon": True, "config_kwargs": {"signature_version": "s3v4"}})
    assert type(store).__name__ == "FileSystemStore"


@pytest.mark.parametrize("url", ["https://host/x", "s3://b/x"])
def test_without_obstore_fsspec_is_asked(monkeypatch, url):
    monkeypatch.setattr(finding, "_loaded", finding._Loaded())
    for name in ("obstore", "obstore.store", "obstore.exceptions"):
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    assert type(find_store(url)[0]).__name__ == "FileSystemStore"


def test_an_option_that_nobody_knows_is_named_without_its_value():
    with pytest.raises(tf.errors.InvalidArgumentError, match="nonsense") as caught:
        find_store("s3://b/x", {"nonsense": SECRET})
    assert SECRET not in str(caught.value) and caught.value.__context__ is None


def test_a_memory_store_lists_reads_writes_and_deletes(memory):
    memory.pipe({"/s/a": b"0123", "/s/ab/c": b"1", "/s/b": b""})
    store, key = find_store("memory://s/a")
    assert bytes(store.read(key, 1, 3)) == b"12" and store.info(key).size == 4
    assert [info.url for info in store.list("/s/a")] == ["memory:///s/a", "memory:///s/ab/c"]
    assert [info.url for info in store.list("/s/")] == ["memory:///s/a", "memory:///s/ab/c", "memory:///s/b"]
    folders, objects = store.folders("/s/")
    assert list(folders) == ["/s/ab/"] and [info.size for info in objects] == [4, 0]
    upload = store.upload("/s/new")
    upload.write(b"new")
    assert not memory.exists("/s/new")
    upload.complete()
    assert memory.cat("/s/new") == b"new"
    with pytest.raises(FileExistsError):
        store.upload("/s/new", overwrite=False)
    store.delete("/s/new")
    with pytest.raises(FileNotFoundError, match="memory:///s/new"):
        store.info("/s/new")


def test_an_object_that_changed_is_an_error(memory):
    memory.pipe("/s/a", b"0123")
    store, key = find_store("memory://s/a")
    version = store.info(key).version
    assert bytes(read_range(store, key, 0, 4, version)) == b"0123"
    time.sleep(0.01)
    memory.pipe("/s/a", b"4567")
    with pytest.raises(OSError, match="changed while it was read") as caught:
        read_range(store, key, 0, 4, version)
    assert caught.value.errno == errno.ESTALE


class Faulty:
    """A store whose requests do what a script says: an error, seconds to wait, or bytes to give before it breaks."""

    def __init__(self, *script):
        self.data = bytes(range(256)) * 64
        self.script = itertools.chain(script, itertools.repeat(None))
        self.asked = []
        self._lock = threading.Lock()

    def url(self, key):
        return f"faulty://{key}"

    def pieces(self, key, start, end, *, version=None, timeout=None):
        with self._lock:
            self.asked.append((start, end))
            what = next(self.script)
        if isinstance(what, Exception):
            raise what
        if isinstance(what, float):
            time.sleep(what)
        if isinstance(what, int):
            yield self.data[start : start + what]
            raise ConnectionError(errno.ECONNRESET, "broke", self.url(key))
        yield self.data[start:end]

    def read(self, key, start, end, *, version=None, timeout=None):
        return b"".join(self.pieces(key, start, end))

    def info(self, key):
        return ObjectInfo(self.url(key), len(self.data), None)


def busy():
    return ConnectionError(errno.ECONNABORTED, "busy")


@pytest.mark.parametrize("script", [[], [busy()], [busy(), TimeoutError(), busy()], [7, 9], [busy(), 1, 1, 1000]])
def test_a_range_is_asked_for_until_it_is_there(script):
    store = Faulty(*script)
    assert bytes(read_range(store, "x", 3, 9000, settings=SETTINGS)) == store.data[3:9000]
    assert len(store.asked) == len(script) + 1


def test_reading_goes_on_at_the_byte_where_the_connection_broke():
    store = Faulty(busy(), 100, 200)
    read_range(store, "x", 0, 5000, settings=SETTINGS)
    assert [start for start, _ in store.asked] == [0, 0, 100, 300]


def test_a_slow_request_gets_a_second_one_and_the_first_answer_counts():
    store = Faulty(6.0)
    begun = time.monotonic()
    assert bytes(read_range(store, "x", 0, 5000, settings=SETTINGS)) == store.data[:5000]
    assert time.monotonic() - begun < 5 and len(store.asked) == 2


@pytest.mark.parametrize(
    "error", [FileNotFoundError(2, "no"), PermissionError(13, "no"), OSError(errno.ESTALE, "no"), OSError(5, "no")]
)
def test_what_will_not_go_away_is_not_tried_again(error):
    store = Faulty(error)
    with pytest.raises(type(error)):
        read_range(store, "x", 0, 5, settings=SETTINGS)
    assert len(store.asked) == 1


def test_a_host_that_refuses_is_given_up_soon():
    store = Faulty(*[ConnectionError(errno.ECONNREFUSED, "refused") for _ in range(20)])
    begun = time.monotonic()
    with pytest.raises(ConnectionError):
        read_range(store, "x", 0, 5)
    assert time.monotonic() - begun < 10 and len(store.asked) == 3


def test_all_tries_together_have_a_time():
    store = Faulty(*[busy() for _ in range(99)])
    begun = time.monotonic()
    with pytest.raises(ConnectionError):
        read_range(store, "x", 0, 5, settings=StoreSettings(timeout=1.0))
    assert time.monotonic() - begun < 8


def test_no_answer_at_all_is_a_time_out_that_names_the_object():
    store = Faulty(*[4.0] * 9)
    with pytest.raises(TimeoutError, match="faulty://x"):
        read_range(store, "x", 0, 5, settings=StoreSettings(timeout=0.6, request_timeout=0.3, hedge_after=None))


def test_threads_of_requests_end_when_there_are_none():
    read_range(Faulty(), "x", 0, 5)
    until = time.monotonic() + 10
    while any(thread.name == "tfrecord_fast request" for thread in threading.enumerate()):
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_forked_process_reads_with_threads_of_its_own():
    read_range(Faulty(), "x", 0, 5)
    child = os.fork()
    if child == 0:
        store = Faulty()
        os._exit(0 if bytes(read_range(store, "x", 0, 5)) == store.data[:5] else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("error", [RuntimeError("mine"), TimeoutError("mine"), ValueError("mine")], ids=repr)
def test_what_a_signal_handler_raises_while_a_file_system_opens_is_no_error_of_the_store(monkeypatch, error):
    with alarmed(error=error) as ring:
        monkeypatch.setattr(fsspec.core, "url_to_fs", lambda *_, **__: ring())
        with pytest.raises(type(error)) as caught:
            find_store("zip://x::file:///a.zip")
    assert caught.value is error
