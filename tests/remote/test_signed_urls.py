"""URLs of HTTP with a query, as stores sign them."""

import json
import threading

import pytest

import tfrecord_fast as tf
from tests.remote import http_files
from tests.support.frames import frames
from tfrecord_fast.files.naming.addresses import is_pattern, unsigned

LONG, SHORT = [b"a%05d" % i for i in range(41)], [b"b%05d" % i for i in range(10)]


AMAZON = "&".join(f"X-Amz-{name}=1" for name in "Algorithm Credential Date Expires SignedHeaders Signature".split())
AZURE = "account.blob.core.windows.net"


@pytest.fixture
def urls(tmp_path, chosen):
    (tmp_path / "long").write_bytes(frames(LONG))
    (tmp_path / "short").write_bytes(frames(SHORT))
    return [chosen("long"), chosen("short")]


@pytest.fixture(params=[False, True], ids=["urls", "listed"])
def files(request, urls, tmp_path):
    """The same, or a list of them that says how many records each has."""
    if not request.param:
        return urls
    found = [{"name": url, "bytes": (tmp_path / url.split("=")[1]).stat().st_size} for url in urls]
    records = {"long": len(LONG), "short": len(SHORT)}
    said = {"files": [{**one, "records": records[one["name"].split("=")[1]]} for one in found]}
    (tmp_path / "list.json").write_text(json.dumps(said))
    return tf.ShardList(tmp_path / "list.json")


@pytest.mark.parametrize("turned", [False, True])
def test_files_whose_urls_differ_in_the_query_are_counted_each(files, turned):
    files = list(files)[::-1] if turned else list(files)
    reader = tf.ShardReader(files, batch_size=1)
    assert [reader.num_records for _ in range(3)] == [51] * 3 and len(reader) == 51
    parts = [
        tf.ShardReader(files, batch_size=1, shard=(i, 2), shard_by="record", equal_shards="drop") for i in range(2)
    ]
    for _ in range(3):
        assert [sum(1 for _ in part) for part in parts] == [25, 25]


def test_the_query_is_part_of_the_name_for_random_access_too(urls):
    with_index = tf.IndexedReader(urls)
    assert [with_index[i] for i in range(51)] == LONG + SHORT
    shuffled = [record for batch in tf.ShardReader(urls, global_shuffle=True, seed=1) for record in batch.tolist()]
    assert sorted(shuffled) == LONG + SHORT


def test_a_signed_url_is_a_name_and_no_pattern(http_folder):
    url = http_folder.put("a.tfrecord", frames([b"one", b"two"]))
    assert list(tf.TFRecordDataset(f"{url}?X-Amz-Signature=a[b*")) == [b"one", b"two"]


@pytest.mark.parametrize(
    "url, expected",
    [
        ("http://host/a?b", False),
        ("https://host/*.tfrecord?b", True),
        ("zip://*.tfrecord::https://host/a?b", True),
        ("zip://a::https://host/a?b*", False),
        ("s3://bucket/a?b", True),
        ("s3://bucket/a[0-9]", True),
        ("s3://bucket/a", False),
    ],
)
def test_what_is_a_pattern(url, expected):
    assert is_pattern(url) is expected


def test_files_whose_urls_differ_in_the_query_are_kept_each(urls, tmp_path):
    for _ in range(2):
        for url, records in zip(urls, (LONG, SHORT), strict=True):
            reader = tf.ShardReader([url], cache_dir=tmp_path / "cache")
            assert [record for batch in reader for record in batch.tolist()] == records


@pytest.mark.parametrize("queries", [("st=1&sig=a", "st=2&sig=a"), ("policy=1&signature=a", "policy=2&signature=a")])
def test_what_looks_like_a_signature_is_part_of_the_name(tmp_path, queries):
    for query, content in zip(queries, (b"x", b"y"), strict=True):
        (tmp_path / query.partition("&")[0]).write_bytes(frames([content]))

    class BySomething(http_files.Handler):
        def answer(self, has_body):
            self.path = "/" + self.path.partition("?")[2].partition("&")[0]
            super().answer(has_body)

        def say(self, status, body, has_body, headers=None):
            stamp = {"ETag": "", "Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT"}
            super().say(status, body, has_body, {**(headers or {}), **stamp})

    server = http_files.Server(("127.0.0.1", 0), type("Handler", (BySomething,), {"folder": str(tmp_path)}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        urls = [f"http://127.0.0.1:{server.server_port}/get?{query}" for query in queries]
        readers = [tf.ShardReader(url, cache_dir=tmp_path / "cache") for url in urls]
        assert [batch.tolist() for reader in readers for batch in reader] == [[b"x"], [b"y"]]
    finally:
        server.shutdown()
        server.server_close()


def test_files_of_one_size_and_one_tag_are_kept_each(tmp_path):
    # A server may take a tag from what it does not send.
    for name, content in [("a", b"x"), ("b", b"y")]:
        (tmp_path / name).write_bytes(frames([content]))

    class OneTag(http_files.Chooser):
        def say(self, status, body, has_body, headers=None):
            super().say(status, body, has_body, {**(headers or {}), "ETag": '"1"'})

    server = http_files.Server(("127.0.0.1", 0), type("Handler", (OneTag,), {"folder": str(tmp_path)}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        for name, content in [("a", b"x"), ("b", b"y")]:
            url = f"http://127.0.0.1:{server.server_port}/get?file={name}"
            reader = tf.ShardReader([url], cache_dir=tmp_path / "cache")
            assert [record for batch in reader for record in batch.tolist()] == [content]
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("url", "same"),
    [
        (f"https://h/a?versionId=3&{AMAZON}&X-Amz-Security-Token=4", "https://h/a?versionId=3"),
        (f"https://h/a?{AMAZON.replace('X-Amz', 'X-Goog')}", "https://h/a?"),
        ("https://b.s3.amazonaws.com/a?v=3&AWSAccessKeyId=1&Signature=2&Expires=3", "https://b.s3.amazonaws.com/a?v=3"),
        (f"https://{AZURE}/a?sv=1&sp=r&sig=2&snapshot=4", f"https://{AZURE}/a?snapshot=4"),
        (f"https://{AZURE}:443/a?sv=1&sig=2", f"https://{AZURE}:443/a?"),
        ("https://x.cloudfront.net/a?Policy=1&Signature=2&Key-Pair-Id=3", "https://x.cloudfront.net/a?"),
        # Elsewhere, and without the rest of a signature, they may be anything.
        *[
            (url, url)
            for url in (
                "https://h/a?X-Amz-Date=1&X-Amz-Signature=2",
                f"https://{AZURE}/a?st=1&sp=r",
                "https://h/a?sv=1&sp=r&sig=2",
                f"https://{AZURE}.h/a?sv=1&sig=2",
                "https://h/a?Expires=1&Signature=2&AWSAccessKeyId=3",
                "https://h/a?Policy=1&Signature=2&Key-Pair-Id=3",
                f"https://{AZURE}@h/a?sv=1&sig=2",
            )
        ],
        ("s3://b/a?sig=1", "s3://b/a?sig=1"),
    ],
)
def test_a_signature_is_no_part_of_an_object_s_name(url, same):
    assert unsigned(url) == same


def test_headers_that_choose_an_object_are_part_of_a_copy_s_name(tmp_path):
    for name in ("x", "y"):
        (tmp_path / name).write_bytes(frames([name.encode()]))

    class ByHeader(http_files.Handler):
        def answer(self, has_body):
            self.path = f"/{self.headers['X-Name']}"
            super().answer(has_body)

        def say(self, status, body, has_body, headers=None):
            stamp = {"ETag": "", "Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT"}
            super().say(status, body, has_body, {**(headers or {}), **stamp})

    server = http_files.Server(("127.0.0.1", 0), type("Handler", (ByHeader,), {"folder": str(tmp_path)}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/get"
        for spelled in (lambda headers: {"headers": headers}, lambda headers: {"default_headers": headers}):
            options = [spelled({"X-Name": name}) for name in ("x", "y")]
            readers = [tf.ShardReader(url, cache_dir=tmp_path / "cache", storage_options=each) for each in options]
            assert [batch.tolist() for reader in readers for batch in reader] == [[b"x"], [b"y"]]
    finally:
        server.shutdown()
        server.server_close()
