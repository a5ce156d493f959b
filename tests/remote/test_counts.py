"""Counts of objects are those of what is there now, and cost no request where its version is known."""

import json

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.frames import frames

OLD, NEW = [b"old-%d" % i for i in range(4)], [b"new-%03d" % i for i in range(9)]


@pytest.fixture
def put(proxied_s3):
    """A function that writes an object, and gives its URL."""
    return lambda records, name="a.tfrecord": proxied_s3.put(name, frames(records))


def reader(bucket, files, **options):
    return tf.ShardReader(files, batch_size=1, storage_options=bucket.options, **options)


def asked(proxy):
    """(method, whether it is a listing) of each request, after which they are forgotten."""
    found = [(request.method, "list-type" in request.query) for request in proxy.requests()]
    proxy.clear()
    return found


@pytest.mark.parametrize("by_pattern", [False, True])
@pytest.mark.parametrize("cached", [False, True])
def test_an_object_that_is_replaced_is_counted_again(proxied_s3, put, tmp_path, by_pattern, cached):
    files = proxied_s3.url("*.tfrecord") if by_pattern else put(OLD)
    put(OLD)
    one = reader(proxied_s3, files, cache_dir=tmp_path / "cache" if cached else None)
    assert (len(one), one.num_records) == (4, 4)
    put(NEW)
    assert (len(one), one.num_records) == (9, 9)


def test_content_of_the_same_size_is_counted_again(proxied_s3, put):
    one = reader(proxied_s3, put([b"x" * 40]))
    assert len(one) == 1
    put([b"x" * 4, b"x" * 20])  # a record has 16 bytes besides its data
    assert len(one) == 2


@pytest.mark.parametrize("by_pattern", [False, True])
def test_parts_of_a_replaced_object_are_equal_and_whole(proxied_s3, put, by_pattern):
    files = proxied_s3.url("*.tfrecord") if by_pattern else put(OLD)
    put(OLD)
    parts = [reader(proxied_s3, files, shard=(i, 2), shard_by="record", equal_shards="drop") for i in range(2)]
    assert [len([*part]) for part in parts] == [2, 2]
    put(NEW)
    given = [np.concatenate([batch.tolist() for batch in part]).tolist() for part in parts]
    assert given == [NEW[0:8:2], NEW[1:8:2]]


def test_a_count_of_a_listed_object_is_remembered_by_the_listing(proxied_s3, s3_proxy, put):
    put(OLD)
    put(NEW, "b.tfrecord")
    one = reader(proxied_s3, proxied_s3.url("*.tfrecord"))
    assert len(one) == 13
    asked(s3_proxy)
    assert len(one) == 13
    assert asked(s3_proxy) == [("GET", True)]


def test_a_remembered_count_of_a_named_object_costs_one_request(proxied_s3, s3_proxy, put):
    url = put(OLD)
    one = reader(proxied_s3, url)
    asked(s3_proxy)
    assert len(one) == 4
    assert set(asked(s3_proxy)) == {("GET", False)}  # which say the version, too
    assert len(one) == 4
    assert asked(s3_proxy) == [("HEAD", False)]


def test_what_a_list_says_is_not_asked_for(proxied_s3, s3_proxy, put, tmp_path):
    url = put(OLD)
    entry = {"name": url, "bytes": len(frames(OLD)), "records": 4}
    (tmp_path / "list.json").write_text(json.dumps({"files": [entry]}))
    one = reader(proxied_s3, tf.ShardList(tmp_path / "list.json"))
    asked(s3_proxy)
    assert (len(one), len(one), asked(s3_proxy)) == (4, 4, [])
