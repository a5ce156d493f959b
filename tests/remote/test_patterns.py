"""Patterns of keys, with unusual names and unusual patterns."""

import contextlib
import fnmatch
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support.frames import frames
from tfrecord_fast.files.naming.patterns import python_pattern
from tfrecord_fast.files.stores.matching import pattern_of


@pytest.mark.parametrize(("pattern", "found"), [("[b-a]*", []), ("[!b-a]*", ["a", "b]"]), ("[]b]*", ["b]"])])
def test_odd_brackets(s3, pattern, found):
    for key in ("a", "b]"):
        s3.put(key, frames([b"x"]))
    assert tf.io.gfile.glob(s3.url(pattern), storage_options=s3.options) == [s3.url(key) for key in found]
    if not found:
        with pytest.raises(FileNotFoundError, match="no file matches the pattern"):
            list(tf.ShardReader(s3.url(pattern), storage_options=s3.options))
    else:
        reader = tf.ShardReader(s3.url(pattern), storage_options=s3.options)
        assert reader.num_records == len(found)


@given(st.text("[]!-ab*?\\x", max_size=8), st.text("[]!-ab\\x", max_size=4))
@example("[?--!]", "[")  # where Python's own translation makes a negation of what is left
def test_names_match_as_they_do_locally(pattern, name):
    if pattern != "**":  # which is any number of folders
        expected = re.match(fnmatch.translate(python_pattern(pattern)), name) is not None
        assert (pattern_of(pattern).fullmatch(name) is not None) == expected


TREE = ["a.x", "b.y", "s/a.x", "s/b.x", "s/t/a.x", "s/t/u/c.x", "t/a.x", "sa.x"]
DEEP = ["**.x", "**/*.x", "s/**.x", "s/**/a.x", "*/**.x", "**/t/*.x", "s**/a.x", "**a.x", "s/**t/a.x", "***.x"]


@pytest.mark.parametrize("pattern", DEEP)
def test_two_stars_find_what_they_find_locally(tmp_path, pattern):
    for name in TREE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        for place in (tmp_path, "memory://test_two_stars"):
            with tf.TFRecordWriter(f"{place}/{name}") as writer:
                writer.write(name)
    found = []
    for place in (tmp_path, "memory://test_two_stars"):
        try:
            batches = tf.ShardReader(f"{place}/{pattern}")
            found.append([record for batch in batches for record in batch.tolist()])
        except FileNotFoundError:
            found.append(None)
    assert found[0] == found[1]


def test_two_stars_at_the_end_are_all_that_is_below():
    for name in TREE:
        tf.io.write_file(f"memory://two_stars_at_the_end/{name}", name)
    found = tf.io.gfile.glob("memory://two_stars_at_the_end/s/**")
    assert [url.partition("two_stars_at_the_end/")[2] for url in found] == [one for one in TREE if one[:2] == "s/"]


def test_what_stands_for_a_folder_is_no_file(s3):
    s3.put("d/sub/", b"")
    with pytest.raises(FileNotFoundError, match="no file matches the pattern") as failed:
        list(tf.ShardReader(s3.url("d/*"), storage_options=s3.options))
    assert failed.value.errno == 2 and failed.value.filename == s3.url("d/*")
    s3.put("d/a", frames([b"x"]))
    s3.put("d/empty", b"")
    reader = tf.ShardReader(s3.url("d/*"), storage_options=s3.options)
    assert [bytes(record) for batch in reader for record in batch.tolist()] == [b"x"] and reader.num_records == 1


@pytest.mark.parametrize(
    ("key", "shown"), [("d//x", r"the key 'd//x?' has an empty part"), ("d/a\tb", r"the key 'd/a\\tb' has a character")]
)
def test_a_key_that_spoils_a_listing_is_named(s3, key, shown):
    s3.put(key, frames([b"x"]))
    s3.put("d/ok", frames([b"y"]))
    options = {"storage_options": s3.options}
    for function in (tf.io.gfile.glob, lambda url, **given: list(tf.ShardReader(url, **given))):
        with pytest.raises(OSError, match=shown):
            function(s3.url("d/*"), **options)
    with pytest.raises(OSError, match=r"must not contain //|rejected an argument"):
        list(tf.ShardReader(s3.url(key), **options))
    assert [bytes(one) for one in tf.data.TFRecordDataset(s3.url("d/ok"), **options)] == [b"y"]


def test_folders_of_a_bucket_are_those_of_a_disk(bucket):
    for key in ("d/a.tfrecord", "d/s/b", "d/c.csv", "d/.h/x.tfrecord", "d/_SUCCESS", "e/f"):
        bucket.put(key, frames([key.encode()]))
    with contextlib.suppress(RuntimeError):  # one server refuses such keys
        bucket.put("d/empty/", b"")  # as consoles mark a folder

    def names(files, **options):
        reader = tf.ShardReader(files, storage_options=bucket.options, **options)
        return [record.decode() for batch in reader for record in batch]

    inside = ["d/a.tfrecord", "d/s/b"]
    assert names(bucket.url("d/")) == inside
    assert sorted(name for i in range(2) for name in names(bucket.url("d/"), shard=(i, 2))) == inside
    assert len(tf.IndexedReader(bucket.url("d/"), storage_options=bucket.options)) == 2
    assert names(bucket.url("")) == names(bucket.url("").rstrip("/")) == [*inside, "e/f"]
    assert [name for name in names(bucket.url("d/**")) if name != "d/c.csv"] == ["d/_SUCCESS", *inside]
    assert names(bucket.url("d/.h/**")) == ["d/.h/x.tfrecord"]
    with pytest.raises(FileNotFoundError, match="no objects in the folder"):
        names(bucket.url("d/empty/"))
