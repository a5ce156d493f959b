"""Objects in parts: every record is in one, only its bytes are asked for, and a replaced object is an error."""

import pickle

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames
from tfrecord_fast.files.reading.task_splits import plan_splits
from tfrecord_fast.files.stores import StoreSettings


def numbered(count, size=1000, mark=b""):
    return [mark + b"%06d" % i + bytes(size) for i in range(count)]


def read(parts, bucket, **options):
    reader = tf.ShardReader(list(parts), storage_options=bucket.options, **options)
    return [record for batch in reader for record in batch.tolist()]


def splits_of(bucket, files, **options):
    settings = StoreSettings(storage_options=bucket.options)
    return pickle.loads(pickle.dumps(plan_splits(files, settings=settings, **options)))


@pytest.mark.parametrize("given", ["url", "pattern", "folder"])
@pytest.mark.parametrize("compression", [None, ""])
def test_every_record_is_in_one_part(bucket, given, compression):
    expected = [numbered(3000), numbered(5), numbered(700, 3000)]
    urls = [bucket.put(f"d/{number}", frames(records)) for number, records in enumerate(expected)]
    files = {"url": urls, "pattern": bucket.url("d/*"), "folder": bucket.url("d/")}[given]
    splits = splits_of(bucket, files, split_bytes=500_000, compression=compression)
    assert len(splits) > 8
    found = [read(split.parts, bucket, compression=compression) for split in splits]
    assert [record for one in found for record in one] == [record for one in expected for record in one]


def test_only_the_bytes_of_a_part_are_asked_for(proxied_s3, s3_proxy):
    records = numbered(4000, 5000)
    url = proxied_s3.put("x", frames(records))
    splits = splits_of(proxied_s3, url, split_bytes=2 << 20, compression="")
    s3_proxy.clear()
    (part,) = splits[3].parts
    assert read([part], proxied_s3, compression="") == records[part.first_record :][: part.records]
    asked = sorted(request.range for request in s3_proxy.requests("GET"))
    assert asked[0][0] == part.begin and asked[-1][1] == part.end
    assert sum(end - begin for begin, end in asked) == part.end - part.begin
    s3_proxy.clear()
    assert read([part], proxied_s3) == records[part.first_record :][: part.records]
    asked = sorted(request.range for request in s3_proxy.requests("GET"))
    assert sum(end - begin for begin, end in asked) == part.end - part.begin + 128  # to see how it is compressed


@pytest.mark.parametrize("larger", [False, True])
def test_an_object_that_was_replaced_is_an_error(s3, larger):
    url = s3.put("x", frames(numbered(2000)))
    splits = splits_of(s3, url, split_bytes=500_000)
    s3.put("x", frames(numbered(3000 if larger else 2000, mark=b"b"[: int(larger)])) + b"")
    if not larger:
        s3.put("x", frames([record[:-1] + b"x" for record in numbered(2000)]))
    with pytest.raises(OSError, match="changed"):
        read(splits[1].parts, s3)


def test_compressed_objects_are_not_divided(s3):
    records = numbered(3000)
    with tf.io.TFRecordWriter(s3.url("x.gz"), "GZIP", storage_options=s3.options) as writer:
        writer.write_batch(records)
    splits = splits_of(s3, s3.url("x.gz"), split_bytes=5000)
    assert len(splits) == 1 and read(splits[0].parts, s3) == records


def test_hidden_names_and_missing_ones(s3):
    for key in ("d/a", "d/_b", "d/.c", "d/_tmp/d", "d/e/f"):
        s3.put(key, frames([key.encode()]))
    (split,) = splits_of(s3, s3.url("d/"))
    assert read(split.parts, s3) == [b"d/a", b"d/e/f"]
    with pytest.raises(FileNotFoundError, match="no objects in the folder"):
        splits_of(s3, s3.url("none/"))
    with pytest.raises(FileNotFoundError):
        splits_of(s3, s3.url("none"))


def test_parts_are_shown_without_credentials(tmp_path):
    (tmp_path / "x").write_bytes(b"")
    part = plan_splits(tmp_path / "x")[0].parts[0]
    assert str(type(part)("https://me:hush@h/x?sig=hush", 10)) == "https://h/x"
    assert "hush" not in repr(type(part)("https://me:hush@h/x?sig=hush", 10))
