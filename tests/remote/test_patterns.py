"""Patterns of keys, with unusual names and unusual patterns."""

import fnmatch
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support.frames import frames
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
def test_names_match_as_they_do_locally(pattern, name):
    if "**" not in pattern:
        expected = re.match(fnmatch.translate(pattern), name) is not None
        assert (pattern_of(pattern).fullmatch(name) is not None) == expected


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
    with pytest.raises(OSError, match=r"an empty part|does not take"):
        list(tf.ShardReader(s3.url(key), **options))
    assert [bytes(one) for one in tf.data.TFRecordDataset(s3.url("d/ok"), **options)] == [b"y"]
