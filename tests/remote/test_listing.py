"""Buckets with very many objects, and buckets that are not there."""

import re
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tfrecord_fast.files.stores import find_store

from .child import HOST, KEY, SECRET, free_port

COUNT = 100_000
PAGE = 1000
NAME = "folder/a-rather-long-name-of-a-shard-{:06}-of-100000.tfrecord"


class Pages(BaseHTTPRequestHandler):
    """Lists 100,000 objects as S3 does, page by page, made when they are asked for."""

    protocol_version = "HTTP/1.1"
    asked = 0

    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        assert query["list-type"] == ["2"]
        start = int(query.get("continuation-token", ["0"])[0])
        end = min(start + PAGE, COUNT)
        entry = (
            "<Contents><Key>{}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
            '<ETag>"{:032x}"</ETag><Size>{}</Size><StorageClass>STANDARD</StorageClass></Contents>'
        )
        listed = "".join(entry.format(NAME.format(number), number, number) for number in range(start, end))
        more = f"<NextContinuationToken>{end}</NextContinuationToken>" if end < COUNT else ""
        body = (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>bucket</Name><Prefix>folder/</Prefix><KeyCount>{end - start}</KeyCount><MaxKeys>{PAGE}</MaxKeys>"
            f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>{more}{listed}</ListBucketResult>"
        ).encode()
        type(self).asked += 1
        self.send_response(200)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def many():
    """The options of a store whose bucket has 100,000 objects."""
    server = ThreadingHTTPServer((HOST, 0), Pages)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    Pages.asked = 0
    yield {"endpoint": f"http://{HOST}:{server.server_address[1]}", "key": KEY, "secret": SECRET, "region": "us-east-1"}
    server.shutdown()
    thread.join()
    server.server_close()


def resident():
    with open("/proc/self/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read())[1]) << 10


def test_a_listing_of_100_000_objects_takes_the_memory_of_some_pages(many):
    store, key = find_store("s3://bucket/folder/", many)
    listing = store.list(key)
    assert next(listing).url == "s3://bucket/" + NAME.format(0)
    for _ in range(5 * PAGE):
        next(listing)
    before, most, found = resident(), 0, 5 * PAGE + 1
    for info in listing:
        found, last = found + 1, info
        if found % PAGE == 0:
            most = max(most, resident())
    assert last == ("s3://bucket/" + NAME.format(COUNT - 1), COUNT - 1, f"{COUNT - 1:032x}")
    assert found == COUNT
    assert Pages.asked == COUNT // PAGE
    assert most - before < 32 << 20


def test_a_listing_that_is_left_asks_for_no_more(many):
    store, key = find_store("s3://bucket/folder/", many)
    listing = store.list(key)
    for _ in range(10):
        next(listing)
    del listing
    time.sleep(0.2)
    assert Pages.asked <= 3


ASKED = {
    "info": lambda store, key: store.info(key),
    "read": lambda store, key: store.read(key, 0, 1),
    "list": lambda store, key: list(store.list(key)),
}


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["s3", "signed_s3", "gcs", "azure"])
@pytest.mark.parametrize("ask", ASKED)
def test_a_typo_in_the_name_of_a_bucket_fails_in_seconds(request, kind, ask):
    bucket = request.getfixturevalue(kind)
    url = bucket.url("a.tfrecord").replace(bucket.name, bucket.name + "-typo")
    store, key = find_store(url, bucket.options)
    # fake-gcs-server answers a listing of no bucket with 500.
    expected = ConnectionError if (kind, ask) == ("gcs", "list") else FileNotFoundError
    start = time.monotonic()
    with pytest.raises(expected, match=f"{bucket.name}-typo"):
        ASKED[ask](store, key)
    assert time.monotonic() - start < 5


@pytest.mark.alone
@pytest.mark.parametrize("url", ["s3://bucket/a", "gs://bucket/a", "az://container/a"])
def test_a_server_that_is_not_there_fails_in_seconds(url):
    options = {"endpoint": f"http://{HOST}:{free_port()}", "anon": "true"}
    options |= {"account_name": "me"} if url.startswith("az") else {}
    store, key = find_store(url, options)
    start = time.monotonic()
    with pytest.raises(ConnectionError, match=re.escape(url)):
        store.info(key)
    assert time.monotonic() - start < 10
