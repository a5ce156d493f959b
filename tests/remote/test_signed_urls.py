"""URLs of HTTP with a query, as stores sign them."""

import json
import threading

import pytest

import tfrecord_fast as tf
from tests.remote import http_files
from tests.support.frames import frames
from tfrecord_fast.files.naming.addresses import is_pattern, unsigned

LONG, SHORT = [b"a%05d" % i for i in range(41)], [b"b%05d" % i for i in range(10)]


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
        ("https://h/a?versionId=3&X-Amz-Date=1&X-Amz-Signature=2", "https://h/a?versionId=3"),
        ("https://h/a?X-Goog-Expires=1&x-goog-signature=2", "https://h/a?"),
        ("https://h/a?sv=1&sp=r&sig=2&snapshot=4", "https://h/a?snapshot=4"),
        ("https://h/a?st=1&sp=r", "https://h/a?st=1&sp=r"),  # without a signature, they may be anything
        ("s3://b/a?sig=1", "s3://b/a?sig=1"),
    ],
)
def test_a_signature_is_no_part_of_an_object_s_name(url, same):
    assert unsigned(url) == same
