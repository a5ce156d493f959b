"""URLs of HTTP with a query, as stores sign them."""

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames
from tfrecord_fast.files.stores.addresses import is_pattern


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
