"""Strings split into parts, bytes and characters, in every shape: as TensorFlow does."""

import pytest

from tests.faces.made_values import CALLED
from tests.faces.side_by_side import differences
from tests.faces.test_face_ops import listed
from tests.support import live_tensorflow

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
tf.strings.bytes_split(tf.zeros([0], tf.string)); tf.strings.unicode_split('aé', 'UTF-8')
tf.strings.unicode_split(['aé', ''], 'UTF-8'); tf.strings.unicode_split(w, 'UTF-8')
tf.strings.unicode_split(b'a\\xff', 'UTF-8'); tf.strings.unicode_split(b'a\\xff', 'UTF-8', 'ignore')
tf.strings.unicode_split(b'a\\xff', 'UTF-8', 'strict'); tf.strings.unicode_split(b'a\\xff', 'UTF-8', 'replace', 63)
tf.strings.unicode_split('ab', 'UTF-16-BE'); tf.strings.unicode_split('ab', input_encoding='UTF-8', errors='replace')
tf.strings.bytes_split(b'a\\xff\\x00'); tf.strings.bytes_split(['abc']).row_splits
tf.strings.unicode_split(['abc'], 'UTF-8').row_splits; tf.strings.unicode_split(rs, 'UTF-8')
tf.strings.bytes_split(rs); tf.strings.unicode_split(5, 'UTF-8'); tf.strings.bytes_split(5)
tf.strings.to_hash_bucket_fast(['a', 'b', 'c'], 10); tf.strings.to_hash_bucket_fast('a', 3)
tf.strings.to_hash_bucket_fast(w, tf.constant(1000)); tf.strings.to_hash_bucket_fast(['a'], 0)
tf.strings.to_hash_bucket_fast([1], 3); tf.strings.lower(rrs); tf.strings.length(rrs); tf.strings.upper(rs)
tf.strings.length(rs); tf.strings.regex_full_match(rrs, 'a'); tf.strings.bytes_split(rrs)
tf.strings.unicode_split(b'\\xe2\\x82', 'UTF-8')
tf.strings.unicode_split(b'a\\xe2\\x82b', 'UTF-8', replacement_char=42)
tf.strings.unicode_split(b'\\xff\\xfe', 'UTF-8'); tf.strings.unicode_split(b'\\xed\\xa0\\x80', 'UTF-8')
tf.strings.unicode_split('\\ufffda', 'UTF-8', replacement_char=42); tf.strings.unicode_split('abc', 'UTF-16-BE')
tf.strings.unicode_split(b'\\x00\\x00\\x00a', 'UTF-32-BE'); tf.strings.unicode_split('a', 'latin-1')
tf.strings.unicode_split('a', 'UTF-8', 'x'); tf.strings.unicode_split(b'a\\xffb', 'UTF-8', 'ignore')
tf.strings.unicode_split([['aé']], 'UTF-8'); tf.strings.unicode_split(b'a\\xff', 'UTF-8', 'strict', 63)
tf.strings.unicode_split('aé', 'UTF-8', 'strict')
tf.strings.unicode_split('ab\\ud83d\\ude00'.encode('utf-16-be', 'surrogatepass'), 'UTF-16-BE')
tf.strings.unicode_split(b'\\xd8\\x3d\\x00a', 'UTF-16-BE', 'replace', 42)
"""


def test_parts():
    assert not differences(listed(PARTS), CALLED)
