"""Strings split into parts, bytes and characters, in every shape: as TensorFlow does."""

import pytest

from tests.support import live_tensorflow
from tests.tensorflow.shared_values import CALLED
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

PARTS = """
tf.strings.substr('abc', 1.5, 1); tf.strings.substr('abc', 1, 1.5); tf.strings.substr('abc', 0.0, 1.0)
tf.strings.substr(w, 0, 2); tf.strings.substr(w[0], 1, 1); tf.strings.substr('abc', 4, 1)
tf.strings.substr('abc', -4, 1); tf.strings.reduce_join(rs); tf.strings.reduce_join(rs, 0)
tf.strings.reduce_join(rs, [1]); tf.strings.reduce_join(rs, 2); tf.strings.reduce_join(rs, -3)
tf.strings.reduce_join(rs, 0, True); tf.strings.reduce_join(rs, None, True)
tf.strings.reduce_join(rs, None, True, '-'); tf.strings.reduce_join(rs, -2, separator='+'); tf.strings.split(w)
tf.strings.split(w, ' '); tf.strings.split(w, maxsplit=1); tf.strings.split(w[None])
tf.strings.split(tf.zeros([0], tf.string)); tf.strings.split(tf.zeros([2, 0], tf.string)); tf.strings.split(w, sep='')
tf.strings.split('', ','); tf.strings.split(['a,b', ''], ','); tf.strings.split(w[0], tf.constant(' '))
tf.strings.split(tf.reshape(w, [2, 1, 2])); tf.strings.split(tf.reshape(w, [1, 4]), ' ', 1)
tf.strings.split(['a--b-c'], '--'); tf.strings.split([['a']]).row_splits; tf.strings.bytes_split('abc')
tf.strings.bytes_split(['ab', '', 'c']); tf.strings.bytes_split(''); tf.strings.bytes_split(w)
tf.strings.bytes_split(tf.zeros([0], tf.string)); tf.strings.bytes_split(b'a\\xff\\x00')
tf.strings.bytes_split(['abc']).row_splits; tf.strings.bytes_split(rs); tf.strings.bytes_split(5)
tf.strings.to_hash_bucket_fast(['a', 'b', 'c'], 10); tf.strings.to_hash_bucket_fast('a', 3)
tf.strings.to_hash_bucket_fast(w, tf.constant(1000)); tf.strings.to_hash_bucket_fast(['a'], 0)
tf.strings.to_hash_bucket_fast([1], 3); tf.strings.length(rrs); tf.strings.length(rs); tf.strings.bytes_split(rrs)
"""


def test_parts():
    assert not differences(listed(PARTS), CALLED)
