"""Bytes of two versions of an object are never mixed, whatever a server says of its versions, and with which answer."""

import os
import threading

import pytest

import tfrecord_fast as tf
from tests.remote import http_files
from tests.support.frames import frames
from tfrecord_fast.files.stores import ObjectCache, find_store
from tfrecord_fast.files.stores.store import Version

OLD, NEW = [b"%05d-" % i + b"a" * 1000 for i in range(9000)], [b"%05d-" % i + b"b" * 1000 for i in range(9000)]
SAID = {  # which headers answers to HEAD have, and answers to GET
    "all": ({"ETag", "Last-Modified"}, {"ETag", "Last-Modified"}),
    "a tag with HEAD": ({"ETag", "Last-Modified"}, {"Last-Modified"}),
    "a tag with GET": ({"Last-Modified"}, {"ETag", "Last-Modified"}),
    "times": ({"Last-Modified"}, {"Last-Modified"}),
    "tags": ({"ETag"}, {"ETag"}),
}


class Terse(http_files.Handler):
    said = (set(), set())

    def say(self, status, body, has_body, headers=None):
        hidden = {"ETag", "Last-Modified"} - self.said[1 if has_body else 0]
        super().say(status, body, has_body, {k: v for k, v in (headers or {}).items() if k not in hidden})


@pytest.fixture
def served(tmp_path):
    """A function that serves `tmp_path` with some headers, and gives the URL of a file in it."""
    servers = []

    def serve(said, name):
        handler = type("Handler", (Terse,), {"folder": str(tmp_path), "said": said})
        server = http_files.Server(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/{name}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("query", ["", "?a=b"], ids=["obstore", "fsspec"])
@pytest.mark.parametrize("said", SAID)
def test_an_object_that_is_replaced_while_it_is_read_is_an_error(served, tmp_path, said, query):
    path = tmp_path / "x"
    path.write_bytes(frames(OLD))
    os.utime(path, (1_000_000_000, 1_000_000_000))
    url = served(SAID[said], "x") + query
    assert [bytes(one) for one in tf.data.TFRecordDataset(url)] == OLD
    file = tf.io.gfile.GFile(url, "rb")
    head = file.read(1000)
    path.write_bytes(frames(NEW))
    with pytest.raises(OSError, match="changed"):
        head += file.read()
    assert head == frames(OLD)[: len(head)]


@pytest.mark.parametrize("query", ["", "?a=b"], ids=["obstore", "fsspec"])
@pytest.mark.parametrize("said", SAID)
def test_a_copy_in_the_cache_is_of_the_object_as_it_is(served, tmp_path, said, query):
    path = tmp_path / "x"
    url = served(SAID[said], "x") + query
    for time, records in [(1_000_000_000, OLD), (1_000_000_001, NEW), (1_000_000_002, OLD)]:
        path.write_bytes(frames(records))
        os.utime(path, (time, time))
        for _ in range(2):
            reader = tf.ShardReader([url], cache_dir=tmp_path / "cache")
            assert [record for batch in reader for record in batch.tolist()] == records


@pytest.mark.parametrize("query", ["", "?a=b"], ids=["obstore", "fsspec"])
def test_what_has_no_version_is_not_kept(served, tmp_path, query):
    (tmp_path / "x").write_bytes(frames(OLD[:3]))
    store, key = find_store(served((set(), set()), "x") + query)
    assert store.info(key).version is None
    assert ObjectCache(tmp_path / "cache").open(store, key) is None


def test_answers_that_say_less_are_compared_by_what_they_say():
    both = Version.of("a", 5.25, 10)
    assert both == "a" and both.fits("a", 6.0, 10) and not both.fits("a", 5.25, 11) and not both.fits("b", 5.25, 10)
    assert both.fits(None, 5.0, 10) and both.fits(None, None, 10)
    assert not both.fits(None, 6.0, 10) and not both.fits(None, 5.25, 11)
    timed = Version.of(None, 5.25, 10)
    assert timed.fits("a", 5.0, 10) and not timed.fits("a", 5.0, 11) and not timed.fits("a", 4.0, 10)
    assert Version.of(None, None, 10) is None
