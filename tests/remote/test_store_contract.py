"""The contract of stores, for each way to an object: what is read is what was written, or an error that says why."""

from __future__ import annotations

import errno
import itertools
import time

import fsspec
import pytest

import tfrecord_fast as tf
from tests.support.frames import frames
from tfrecord_fast.files.stores import StoreSettings, find_store, read_range

from .child import KEY, SECRET
from .lying_server import LyingServer
from .servers import S3Bucket

RECORDS = [b"%07d" % i + bytes(1000) for i in range(9000)]  # more than a block
DATA = frames(RECORDS)
WAYS = ["http, obstore", "http, fsspec", "http, fsspec's options", "s3, obstore", "s3, fsspec"]
_numbers = itertools.count()


def through(way, address):
    """The URL of an object "a" behind a server, and the options, so that the package takes this way."""
    scheme, _, library = way.partition(", ")
    if scheme == "http":
        query = "?sig=1" if library == "fsspec" else ""
        return f"{address}/b/a{query}", {"headers": {"X-A": "b"}} if library == "fsspec's options" else {}
    options = {"key": KEY, "secret": SECRET, "endpoint_url": address, "client_kwargs": {"region_name": "us-east-1"}}
    return "s3://b/a", {**options, "config_kwargs": {}} if library == "fsspec" else options


@pytest.fixture
def server():
    server = LyingServer(DATA)
    yield server
    server.close()


def read(url, options, **more):
    reader = tf.ShardReader(url, batch_size=1000, storage_options=options, **more)
    return [record for batch in reader for record in batch.tolist()]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lie", ["honest", "ignores_ranges", "total_unknown", "placed_as_200", "breaks_once"])
def test_what_can_be_read_is_right(server, way, lie, tmp_path):
    server.lie = lie
    url, options = through(way, server.address)
    begun = time.monotonic()
    assert read(url, options) == RECORDS
    server.broken = False
    assert read(url, options, cache_dir=tmp_path) == RECORDS
    with tf.io.gfile.GFile(url, "rb", storage_options=options) as file:
        assert file.read() == DATA
    assert time.monotonic() - begun < 20 and server.requests < 60


LIES = {
    "shifted": (OSError, "returned (another range|bytes .* instead of bytes)"),
    "unplaced": (OSError, "does not say which range it returned"),
    "half_unplaced": (OSError, "does not say which range it returned"),
    "beyond_the_total": (OSError, "another range|contradicts its Content-Range"),
    "too_long": (OSError, "more bytes than it announced|contradicts its Content-Range"),
    "cut": (OSError, "does not report the size of the object"),
    "without_length": (OSError, "does not report the size of the object"),
    "of_two_versions": (OSError, "changed while it was read"),
    "shrinks": (OSError, "changed while it was read"),
    401: (PermissionError, r"\(401"),
    403: (PermissionError, r"\(403"),
    404: (FileNotFoundError, "no such object"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lie", LIES)
def test_what_can_not_be_read_is_an_error_that_says_why(server, way, lie, tmp_path):
    server.lie = lie
    url, options = through(way, server.address)
    error, text = LIES[lie]
    for more in ({}, {"cache_dir": tmp_path}):
        begun = time.monotonic()
        with pytest.raises(error, match=text):
            read(url, options, **more)
        assert time.monotonic() - begun < 5
    with pytest.raises(error, match=text), tf.io.gfile.GFile(url, "rb", storage_options=options) as file:
        file.read()
    server.lie = "honest"
    assert read(url, options, cache_dir=tmp_path) == RECORDS  # nothing wrong was kept


PLACES = ["local", "memory", "http, obstore", "http, fsspec", "s3, obstore", "s3, fsspec"]


@pytest.fixture(params=PLACES)
def place(request, tmp_path):
    """A function (name, bytes) -> URL, options. It writes without the package."""
    if request.param in ("local", "memory"):
        system = fsspec.filesystem(request.param)
        folder = str(tmp_path) if request.param == "local" else f"/{next(_numbers)}"

        def put(name, data):
            system.makedirs(f"{folder}/{name}".rpartition("/")[0], exist_ok=True)
            system.pipe(f"{folder}/{name}", data)
            return f"{request.param}://{folder}/{name}", {}
    elif request.param.startswith("http"):
        http_folder = request.getfixturevalue("http_folder")

        def put(name, data):
            return http_folder.put(name, data) + ("?a=b" if "fsspec" in request.param else ""), {}
    else:
        bucket = S3Bucket(request.getfixturevalue("moto_port"))
        options = through(request.param, f"http://127.0.0.1:{bucket.port}")[1]

        def put(name, data):
            return bucket.put(name, data), options

    return put


def test_ranges_versions_and_absences(place):
    url, options = place("a", DATA)
    store, key = find_store(url, options)
    info = store.info(key)
    assert info.size == len(DATA) and info.version is not None and info.url.endswith("/a")
    for start, end in [(0, 1), (0, len(DATA)), (5, 70), (len(DATA) - 1, len(DATA)), (3, 3)]:
        assert bytes(store.read(key, start, end, version=info.version)) == DATA[start:end]
        assert b"".join(store.pieces(key, start, end, version=info.version)) == DATA[start:end]
    for most in (1, 1000, len(DATA) + 1):
        head, found = store.read_head(key, most)
        assert bytes(head) == DATA[:most] and found == info
    with pytest.raises(OSError, match="changed while it was read") as caught:
        read_range(store, key, 0, len(DATA) + 1, info.version, StoreSettings())
    assert caught.value.errno == errno.ESTALE
    time.sleep(1.1)  # times over HTTP have no fractions
    place("a", DATA[::-1])
    for start, end in [(0, 1), (5, 70)]:
        with pytest.raises(OSError, match="changed while it was read"):
            store.read(key, start, end, version=info.version)
    url, options = place("empty", b"")
    store, key = find_store(url, options)
    assert store.info(key).size == 0 and bytes(store.read_head(key, 10)[0]) == b""
    missing, key = find_store(url.replace("empty", "missing"), options)
    for attempt in (missing.info, lambda key: missing.read(key, 0, 1), lambda key: missing.read_head(key, 1)):
        with pytest.raises(FileNotFoundError, match="missing"):
            attempt(key)


@pytest.mark.parametrize("place", ["local", "memory", "s3, obstore", "s3, fsspec"], indirect=True)
def test_a_name_that_ends_in_a_slash_is_no_object_s(place, tmp_path):
    url, options = place("t/trail", frames([b"precious"]))
    gfile, shown = tf.io.gfile, f"{url}/"
    other, _ = place("t/other", frames([b"other"]))

    def written(make):
        with make() as writer:
            writer.write(b"new")

    uses = [
        lambda: written(lambda: tf.io.TFRecordWriter(shown, storage_options=options)),
        lambda: written(lambda: gfile.GFile(shown, "wb", storage_options=options)),
        lambda: tf.ExampleWriter(shown, storage_options=options).write({"a": [1]}),
        lambda: gfile.copy(other, shown, overwrite=True, storage_options=options),
        lambda: gfile.rename(other, shown, overwrite=True, storage_options=options),
        lambda: gfile.rename(shown, other, overwrite=True, storage_options=options),
        lambda: gfile.remove(shown, storage_options=options),
        lambda: gfile.GFile(shown, "rb", storage_options=options).read(),
        lambda: list(tf.ShardList(shown, storage_options=options)),
    ]
    for use in uses:
        with pytest.raises(IsADirectoryError, match="must not end in /"):
            use()
    for reader in (read, lambda url, options: len(tf.IndexedReader(url, storage_options=options))):
        with pytest.raises((FileNotFoundError, NotADirectoryError)):  # a folder, which has no files
            reader(shown, options)
    assert read(url, options) == [b"precious"] and read(other, options) == [b"other"]
    assert not gfile.exists(shown, storage_options=options)
    with pytest.raises(FileNotFoundError):
        gfile.stat(shown, storage_options=options)
    folder = url.removesuffix("trail")
    assert sorted(read(folder, options)) == [b"other", b"precious"]
    assert len(tf.IndexedReader(folder, storage_options=options)) == 2
    assert gfile.exists(folder, storage_options=options) and gfile.isdir(folder, storage_options=options)
    assert gfile.stat(folder, storage_options=options).is_directory
    assert gfile.listdir(folder, storage_options=options) == ["other", "trail"]


@pytest.mark.parametrize("way", ["http, obstore", "http, fsspec"])
def test_a_slash_at_the_end_of_a_url_of_http_is_requested(server, monkeypatch, way):
    paths = []
    monkeypatch.setattr(LyingServer, "seen", lambda self, path: paths.append(path))
    query = "?a=b" if "fsspec" in way else ""
    assert read(f"{server.address}/folder/{query}", {}) == RECORDS
    assert set(paths) == {f"/folder/{query}"}
