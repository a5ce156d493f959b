"""Rare arguments: orders of axes, forms of numbers, limits and empty values, as TensorFlow takes them."""

import itertools

import pytest

from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

TEXTS = """
x = tf.reshape(tf.constant(list("abcdefghijklmnopqrstuvwx")), [2, 3, 4]); y = tf.constant([["a", "b"], ["c", "d"]])
e = tf.zeros([0], tf.string); w = tf.zeros([2, 0], tf.string); r = tf.ragged.constant([["a", "b"], [], ["c"]])
"""
JOINED = """
tf.strings.reduce_join(y, axis=[0, 1]); tf.strings.reduce_join(y, axis=[1, 0]); tf.strings.reduce_join(y)
tf.strings.reduce_join(y, axis=[-1, -2]); tf.strings.reduce_join(y, axis=[1, 1]); tf.strings.reduce_join(y, axis=[])
tf.strings.reduce_join(y, axis=2); tf.strings.reduce_join(y, axis=-3); tf.strings.reduce_join(y, keepdims=True)
tf.strings.reduce_join(x); tf.strings.reduce_join(x, axis=[0, 2], separator='-'); tf.strings.reduce_join(x, [1, 0, 2])
tf.strings.reduce_join(x, axis=[2, 0], separator='-', keepdims=True); tf.strings.reduce_join(x, axis=[-1, 1])
tf.strings.reduce_join(x, axis=1, separator=','); tf.strings.reduce_join(x, axis=(1,), keepdims=True)
tf.strings.reduce_join('a'); tf.strings.reduce_join('a', 0); tf.strings.reduce_join('a', [])
tf.strings.reduce_join(e); tf.strings.reduce_join(e, 0); tf.strings.reduce_join(w); tf.strings.reduce_join(w, 0)
tf.strings.reduce_join(w, 1, separator=','); tf.strings.reduce_join(w, [0, 1]); tf.strings.reduce_join(w, 1, True)
tf.strings.reduce_join(r); tf.strings.reduce_join(r, 1); tf.strings.reduce_join(r, -1, separator='-')
tf.strings.reduce_join(r, 0); tf.strings.reduce_join(r, 1, keepdims=True); tf.compat.v1.reduce_join(y, axis=[0, 1])
tf.compat.v1.reduce_join(y, reduction_indices=[1, 0])
"""
PARTS = """
tf.strings.substr(['abc', 'de'], [1, 0], [-1, -2]); tf.strings.substr(['abc', 'de'], [[1], [0]], [[-1], [1]])
tf.strings.substr(b'\\xff\\xfeab', 1, 2, unit='UTF8_CHAR'); tf.strings.substr(b'a\\xc3', 0, 2, unit='UTF8_CHAR')
tf.strings.substr(b'\\x80\\x80', 0, 1, unit='UTF8_CHAR'); tf.strings.substr('abc', 0, 1, unit='X')
tf.strings.substr('abc', tf.constant(1, tf.int64), 1); tf.strings.length('ab', unit='X'); tf.strings.substr(e, 0, 1)
tf.strings.split([' a b ', 'z'], maxsplit=1); tf.strings.split(['a b  '], maxsplit=2); tf.strings.split('z', None, 1)
tf.strings.split(['a  b  c  '], maxsplit=4); tf.strings.split(['  ', ''], maxsplit=1)
tf.strings.split('a b', None, 2); tf.strings.split(['  a b', '', 'a'], maxsplit=0)
tf.strings.split(['a,b', 'z', ''], ',', maxsplit=1); tf.strings.split(['a\\tb\\n c'], maxsplit=1)
tf.strings.split(['a b c', ''], maxsplit=-5)
"""
NUMBERS = """
f = tf.constant([1.5, -2.25, 0.0, -0.0, 1e10, 123456.789, 1e-7, np.nan, np.inf, -np.inf]); t = tf.constant(['abc', ''])
i = tf.constant([5, -5, 0, 100]); u = tf.constant([5, 255, 0], tf.uint8); c = tf.constant([1 + 2j, -1.5j])
"""
ALONE = """
tf.strings.as_string(-np.float32('nan')); tf.strings.as_string(tf.constant(2**63, tf.uint64), fill='+')
tf.strings.as_string(tf.ragged.constant([[1], [2, 3]]), width=3); tf.strings.as_string(1.5, -1, True, True)
tf.strings.as_string(5, scientific=True); tf.strings.as_string(True, shortest=True)
tf.strings.as_string('a', 2, True); tf.strings.as_string(tf.constant(-5, tf.int8), width=4, fill='0')
tf.strings.as_string(tf.cast(f, tf.half), width=9); tf.strings.as_string(tf.constant(0.1, tf.float64), precision=17)
tf.strings.as_string(tf.cast(f, tf.bfloat16))
"""
LIMITS = """
tf.pad([1, 2], [[2, 0]], 'REFLECT'); tf.pad([1, 2], [[1, 1]], 'REFLECT'); tf.pad([1, 2], [[0, 2]], 'REFLECT')
tf.pad([1], [[0, 1]], 'REFLECT'); tf.pad([1], [[0, 0]], 'REFLECT'); tf.pad([1, 2], [[2, 2]], 'SYMMETRIC')
tf.pad([1, 2], [[3, 2]], 'SYMMETRIC'); tf.pad([1, 2], [[0, 3]], 'SYMMETRIC'); tf.pad([1, 2], [[0, -1]], 'SYMMETRIC')
tf.pad([1, 2], [[0, -1]]); tf.pad([[1, 2, 3], [4, 5, 6]], [[1, 1], [2, 2]], 'REFLECT')
tf.pad([1, 2], [[1, 1]], 'edge'); tf.pad([[1, 2, 3], [4, 5, 6]], [[2, 1], [2, 2]], 'REFLECT')
tf.pad([1, 2], [[1, 1]], 'wrap'); tf.pad([True], [[1, 1]])
tf.pad([[1, 2, 3], [4, 5, 6]], [[2, 1], [3, 2]], 'symmetric'); tf.pad(tf.zeros([0, 2]), [[0, 0], [1, 1]], 'REFLECT')
tf.pad(tf.zeros([0, 2]), [[0, 0], [1, 1]], 'SYMMETRIC'); tf.pad(['a', 'b'], [[1, 1]], 'REFLECT')
tf.pad([1, 2], [[1, 1]], constant_values=[3]); tf.pad(5, tf.zeros([0, 2], tf.int32), 'REFLECT')
tf.pad([1], [[1.5, 1]])
"""
ROWS = """
r = tf.ragged.constant([[1, 2], [3]]); f = tf.ragged.constant([[1.5], [2.5, 3.5]]); s = tf.ragged.constant([["a"], []])
l = tf.ragged.constant([[1], [2, 3]], tf.int64); q = tf.ragged.constant([[[1], [2, 3]], [[4]]])
e = tf.ragged.constant([[], []], tf.int32); z = tf.RaggedTensor.from_row_splits(tf.zeros([0], tf.int32), [0])
u = tf.ragged.constant([[1, 2], [4]], tf.uint8)
"""
MIXED = """
tf.concat([r, [[9], [8]]], 1); tf.concat([[[9], [8]], r], 1); tf.concat([r, [[9, 8]]], 0); tf.concat([r, [[9, 8]]], 1)
tf.concat([r, [[9.5], [8]]], 1); tf.concat([f, [[9], [8]]], 1); tf.concat([r, f], 1); tf.concat([r, l], 0)
tf.concat([s, [['x'], ['y']]], 1); tf.concat([r, np.array([[1], [2]])], 1); tf.concat([l, [[9], [8]]], 1)
tf.concat([r, r], -1); tf.concat([r, r], -2); tf.concat([r, r], 2); tf.concat([r, e], 1); tf.concat([e, e], 1)
tf.concat([z, z], 0); tf.concat([r], 0); tf.concat([q, q], 0); tf.concat([q, q], 1); tf.concat([q, q], 2)
tf.concat([r, [9]], 0); tf.concat([r, [[1], [2, 3]]], 0); tf.concat([r, q], 0); tf.concat([r, [[True], [False]]], 1)
tf.stack([r, r]); tf.stack([r, r], 1); tf.stack([r, [[9], [8]]]); tf.stack([r, [[9], [8]]], 1); tf.stack([r, l])
tf.stack([r, [[9], [8]]], 2); tf.stack([r]); r + [[1], [2]]; [[1], [2]] + r; r + [[1]]; r + [1]; r + 1; r + 1.5
l + [[1], [2]]; f + [[1], [2]]; r + l; r + tf.constant([[1], [2]], tf.int64); r + [[1, 2]]; r * [[1.5], [2]]; s + 'x'
s + [['x'], ['y']]; r < [[2], [2]]; r + np.array([[1], [2]]); r + np.array([[1.5], [2]]); tf.add(r, [[1], [2]])
tf.add([[1], [2]], r); tf.add(r, l); tf.add(r, tf.ragged.constant([[1], [2, 3]])); tf.maximum(r, [[2], [2]])
tf.subtract([[5], [6]], r); tf.add(1, r); tf.multiply(r, [[1.5], [2]]); tf.add(r, r); tf.math.add(l, [[1], [2]])
tf.reduce_max(r, 0); tf.reduce_max(r, -2); tf.reduce_max(r, 1, keepdims=True); tf.reduce_max(r, keepdims=True)
tf.reduce_sum(f, 0, keepdims=True); tf.reduce_sum(r, [0, 1]); tf.reduce_sum(r, [1]); tf.reduce_any(r > 1, 0)
tf.reduce_max(e, 0); tf.reduce_max(e, 1); tf.reduce_sum(z, 1); tf.reduce_max(z, 0); tf.reduce_max(r, 2)
tf.reduce_sum(r, [2, 1]); tf.reduce_mean(r, 0); tf.reduce_mean(r, 1); tf.reduce_mean(r); tf.reduce_mean(u, 1)
tf.reduce_mean(e, 1); tf.reduce_mean(l, 1); tf.reduce_mean(f, 0)
"""
MADE = """
M.from_sparse(q); M.from_sparse(b); M.from_sparse(s); M.from_sparse(none); M.from_sparse(q, 'x'); M.from_sparse([[1]])
M.from_sparse(q, row_splits_dtype=tf.int32).row_splits; M.from_sparse(q).row_splits
M.from_sparse(tf.SparseTensor([[0]], [1], [2])); M.from_sparse(tf.SparseTensor([[0, 0, 0]], [1], [2, 2, 2]))
M.from_value_rowids(v, [0, 2], 5); M.from_value_rowids(v, [0, 2], nrows=3); M.from_value_rowids(v, [0, 2], nrows=2)
M.from_value_rowids(v, [0, 2], nrows=-1); M.from_value_rowids([], [], nrows=2); M.from_value_rowids(v, [0, 2], [3])
M.from_value_rowids(v, [0, 2], tf.constant(4, tf.int64)); M.from_value_rowids(v, [0, 2], None, 'name', False)
M.from_value_rowids(v, tf.constant([0, 2]), nrows=4).row_splits; M.from_value_rowids(v, [0, 2], nrows=2.5)
M.from_row_splits(v, [0, 2], 'name', False); M.from_row_lengths(v, [2], None, True); M.from_row_limits(v, [1, 2], 'n')
M.from_nested_value_rowids([1, 2, 3], [[0, 1], [0, 0, 1]], [3, 2]); M.from_uniform_row_length([], 0, nrows=3)
M.from_nested_value_rowids([1, 2, 3], [[0, 1], [0, 0, 1]]); M.from_uniform_row_length(v, 2, nrows=1)
M.from_uniform_row_length(v, 2, nrows=2); M.from_nested_value_rowids(v, [[0, 1]], [1, 2])
"""
SPARSE = """
q = tf.sparse.from_dense([[1, 2, 0], [0, 0, 0], [3, 0, 0]]); b = tf.sparse.from_dense([[0, 2], [1, 0]]); v = [1, 2]
s = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["a", "b", "c"], [3, 2]); M = tf.RaggedTensor
none = tf.SparseTensor(tf.zeros([0, 2], tf.int64), tf.zeros([0], tf.int32), [3, 2])
"""
FILES = """
import gzip, os, tempfile
folder = tempfile.mkdtemp()

def written(data):
    path = os.path.join(folder, str(len(os.listdir(folder))))
    with open(path, "wb") as file:
        file.write(data)
    return path

def columns(data):
    return list(tf.data.experimental.make_csv_dataset(written(data), 2, num_epochs=1, shuffle=False))

def fixed(data, *sizes, **options):
    got, records = [], iter(tf.data.FixedLengthRecordDataset(written(data), *sizes, **options))
    try:
        got.extend(one.numpy() for one in records)
    except (ValueError, tf.errors.InvalidArgumentError):
        got.append("failed")
    return got

I = tf.constant([], tf.int32); S = tf.constant([], tf.string)
"""
EMPTY = """
tf.io.decode_csv([''], [[1]]); tf.io.decode_csv([''], [['x']]); tf.io.decode_csv([''], [S])
tf.io.decode_csv('', [[1]]); tf.io.decode_csv([''], [[1], [2]]); tf.io.decode_csv([''], [[1]], select_cols=[0])
tf.io.decode_csv([''], []); tf.io.decode_csv([''], [['a']], use_quote_delim=False); tf.io.decode_csv(['""'], [[1]])
tf.io.decode_csv(['""'], [I]); tf.io.decode_csv([','], [[1], ['']]); tf.io.decode_csv([',,'], [[1], [2]])
tf.io.decode_csv(['1,'], [[1], I]); tf.io.decode_csv(['1,""'], [[1], [7]]); tf.io.decode_csv(['1,2'], [[1], []])
tf.io.decode_csv(['1', ''], [[7]]); tf.io.decode_csv(['1,,3'], [[7], [8]], select_cols=[1, 2])
tf.io.decode_csv(['1,,3'], [I, [8]], select_cols=[1, 2]); tf.io.decode_csv(['NA'], [I], na_value='NA')
tf.io.decode_csv(['\\n'], [['x']]); tf.io.decode_csv([' '], [[7]]); tf.io.decode_csv(tf.zeros([0], tf.string), [[7]])
tf.io.decode_csv(['1'], [])
"""
INFERRED = ["nan,1", "1,nan", "1.5,nan", "nan,nan", "inf,1", "1,Infinity", "1.5,-inf", "-inf,1", "1e400,1",
            "1e39,1", "0x10,1", "1e3,1", "1e-50,1", "99999999999999999999,1", "+5,1", " 1,.5", "x,nan"]  # fmt: skip
SIZES = ["b'abcdef', 2", "b'abcde', 2", "b'abcde', 2, 1", "b'abcdef', 2, 1, 1", "b'abcdef', 2, 1", "b'a', 2", "b'', 2",
         "b'abcdef', 2, 6", "b'abcdef', 2, 0, 6", "b'abcdef', 2, 7", "b'abcdef', 2, footer_bytes=1",
         "gzip.compress(b'abcdef'), 2, compression_type='GZIP'"]  # fmt: skip


@pytest.mark.parametrize("text", [JOINED, PARTS], ids=["joined", "parts"])
def test_strings(text):
    assert not differences(listed(text), TEXTS)


@pytest.mark.parametrize("unit", ["BYTE", "UTF8_CHAR"])
def test_parts_of_strings_from_any_place(unit):
    places = itertools.product(["hello", "hällö", ""], [0, 1, -1, -2, 5, -5, 6, -6], [-9, -1, 0, 2, 9])
    assert not differences([f"tf.strings.substr({s!r}, {p}, {n}, unit={unit!r})" for s, p, n in places])


@pytest.mark.parametrize("fill", ["", "0", "-", "+", " ", "#", "x", "00"])
def test_numbers_as_text(fill):
    more = ["", ", scientific=True", ", shortest=True"]
    forms = itertools.product("f i u t c".split(), [-5, 0, 3, 8], [-1, 0, 3], more)
    expressions = [f"tf.strings.as_string({v}, {p}, fill={fill!r}, width={w}{more})" for v, w, p, more in forms]
    assert not differences([*expressions, f"tf.strings.as_string([True, False], width=7, fill={fill!r})"], NUMBERS)


@pytest.mark.parametrize("text", [ALONE, LIMITS], ids=["as text", "limits"])
def test_limits(text):
    assert not differences(listed(text), NUMBERS)


def test_rows_with_lists():
    assert not differences(listed(MIXED), ROWS)


def test_rows_from_their_numbers_and_from_places():
    assert not differences(listed(MADE), SPARSE)


def test_empty_fields_and_headers():
    assert not differences(listed(EMPTY), FILES)


def test_types_that_columns_seem_to_have():
    tables = ["a\n" + item.replace(",", "\n") + "\n" for item in INFERRED]
    assert not differences([f"columns({table.encode()!r})" for table in [*tables, "", "a\n", "a"]], FILES)


def test_excess_bytes_are_told_before_the_first_record():
    assert not differences([f"fixed({item})" for item in SIZES], FILES)
