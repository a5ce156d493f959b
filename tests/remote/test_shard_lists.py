"""Lists of files that are kept in a store, or name files in one."""

import errno
import json

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames

RECORDS = [[b"%d-%d" % (file, number) for number in range(50 + file)] for file in range(4)]


def listed(names, sizes, counts):
    entries = [{"name": n, "bytes": b, "records": r} for n, b, r in zip(names, sizes, counts, strict=True)]
    return json.dumps({"files": entries}).encode()


@pytest.fixture
def shards(proxied_s3, s3_proxy):
    """Four shards in train/ and their manifest; the list, and the keywords to read with."""
    data = [frames(records) for records in RECORDS]
    names = [f"{number}.tfrecord" for number in range(4)]
    for name, content in zip(names, data, strict=True):
        proxied_s3.put(f"train/{name}", content)
    url = proxied_s3.put("train/manifest.json", listed(names, map(len, data), map(len, RECORDS)))
    options = {"storage_options": proxied_s3.options}
    files = tf.ShardList(url, **options)
    s3_proxy.clear()
    return files, options


def test_a_bucket_is_not_listed(shards, proxied_s3, s3_proxy):
    files, options = shards
    assert list(files) == [proxied_s3.url(f"train/{number}.tfrecord") for number in range(4)]
    read = [record for batch in tf.ShardReader(files, **options) for record in batch.tolist()]
    assert read == [record for records in RECORDS for record in records]
    assert {one.path for one in s3_proxy.requests()} == {f"/{proxied_s3.name}/train/{n}.tfrecord" for n in range(4)}


def test_the_length_of_a_reader_takes_no_request(shards, s3_proxy):
    files, options = shards
    reader = tf.ShardReader(files, batch_size=10, **options)
    assert reader.num_records == sum(map(len, RECORDS)) == files.num_records
    assert len(reader) == -(-reader.num_records // 10)
    assert len(tf.ShardReader(files[1:3], batch_size=1, **options)) == 51 + 52
    assert s3_proxy.requests() == []


def test_equal_shards_are_made_by_the_counts(shards, s3_proxy):
    files, options = shards
    parts = [tf.ShardReader(files, batch_size=1, shard=(i, 2), equal_shards="drop", **options) for i in range(2)]
    assert len(parts[0]) == len(parts[1]) == 50 + 52
    assert s3_proxy.requests() == []
    assert [len(list(part)) for part in parts] == [102, 102]


def test_a_file_that_is_not_as_listed_is_not_read(shards, proxied_s3):
    files, options = shards
    proxied_s3.put("train/2.tfrecord", frames(RECORDS[2][:-1]))
    with pytest.raises(OSError, match=r"the shard list specifies.*train/2\.tfrecord") as raised:
        list(tf.ShardReader(files, **options))
    assert raised.value.errno == errno.ESTALE


def test_counts_of_damaged_files_are_not_believed(shards, proxied_s3):
    files, options = shards
    damaged = bytearray(frames(RECORDS[1]))
    damaged[13] ^= 1
    proxied_s3.put("train/1.tfrecord", bytes(damaged))
    reader = tf.ShardReader(files, on_corrupt="skip", **options)
    assert reader.num_records == files.num_records - 1


def test_a_local_file_that_is_not_as_listed_is_counted(tmp_path):
    for number in range(2):
        (tmp_path / f"{number}").write_bytes(frames(RECORDS[number]))
    size = (tmp_path / "0").stat().st_size
    (tmp_path / "list.json").write_bytes(listed("01", [size, size - 1], [77, 77]))
    reader = tf.ShardReader(tf.ShardList(tmp_path / "list.json"))
    assert reader.num_records == 77 + len(RECORDS[1])


def test_a_text_list_in_a_bucket_names_what_is_beside_it(shards, proxied_s3):
    _, options = shards
    url = proxied_s3.put("train/list.txt", b"# two\n3.tfrecord\n0.tfrecord\n")
    read = list(tf.TFRecordDataset(tf.ShardList(url, **options), **options))
    assert read == RECORDS[3] + RECORDS[0]
