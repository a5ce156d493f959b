"""The first bytes of an object with its size: what opens an object that no listing has named."""

import errno
import json

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames
from tfrecord_fast.files.stores import StoreSettings, find_store, read_head

from .proxy import Fault

DATA = bytes(range(256)) * 40


@pytest.fixture(params=["s3", "signed_s3", "gcs", "azure", "http_folder"])
def place(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("size", [0, 1, 999, 1000, 1001, 10_240])
def test_a_head_is_the_first_bytes_with_what_is_said_of_the_whole(place, size):
    store, key = find_store(place.put("object", DATA[:size]), place.options)
    data, info = read_head(store, key, 1000)
    assert (bytes(data), info) == (DATA[: min(size, 1000)], store.info(key))


def test_what_is_not_there_is_not_found(place):
    store, key = find_store(place.put("object", b"")[: -len("object")] + "other", place.options)
    with pytest.raises(FileNotFoundError):
        read_head(store, key, 1000)


def test_files_that_are_named_take_a_request_each(proxied_s3, s3_proxy):
    records = [b"%d" % n * 100 for n in range(40)]
    urls = [proxied_s3.put(f"{n}.tfrecord", frames([record] * 3)) for n, record in enumerate(records)]
    s3_proxy.clear()
    reader = tf.ShardReader(urls, storage_options=proxied_s3.options)
    assert [record for batch in reader for record in batch.tolist()] == [record for record in records for _ in range(3)]
    assert [one.method for one in s3_proxy.requests()] == ["GET"] * 40


@pytest.mark.parametrize("kind", ["500", "503", "429", "reset", "reset_in_answer", "short", "stall"])
@pytest.mark.parametrize("at", [0, 1])
def test_a_fault_is_tried_again(proxied_s3, s3_proxy, kind, at):
    store, key = find_store(proxied_s3.put("object", DATA), proxied_s3.options)
    s3_proxy.configure(Fault(kind, times=at + 1))
    settings = StoreSettings(request_timeout=1, hedge_after=None)
    data, info = read_head(store, key, 5000, settings)
    assert (bytes(data), info.size) == (DATA[:5000], len(DATA))


def test_a_size_that_is_not_the_one_of_the_list_is_an_error(proxied_s3, tmp_path):
    name = proxied_s3.put("a", frames([b"record"]))
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"files": [{"name": name, "bytes": 5, "records": 1}]}))
    with pytest.raises(OSError, match="but the shard list specifies") as raised:
        list(tf.ShardReader(tf.ShardList(manifest), storage_options=proxied_s3.options))
    assert raised.value.errno == errno.ESTALE
