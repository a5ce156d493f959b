"""Functions of RaggedTensors of several ragged dimensions, their slices, masks and parts, as TensorFlow has them."""

import pytest

from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

STRINGS = """
s = tf.ragged.constant([[[" Ab ", "c"], []], [], [["D"]]]); n = tf.ragged.constant([[["1"], ["2", "3"]], []])
q = tf.ragged.constant([[["a"]], [["b", "c"], []]], row_splits_dtype=tf.int32)
u = tf.RaggedTensor.from_row_splits(tf.constant([["a", "b"], ["c", "d"], ["e", "f"]]), [0, 2, 3])
b = tf.ragged.constant([[["YQ"], []], [["Yg", "Yw"]]]); e = tf.ragged.constant([[], []], tf.string, ragged_rank=2)
k = tf.RaggedTensor.from_tensor([["a", "b"], ["c", "d"]]); i = tf.ragged.constant([[[1, 2], [3]], [[]]])
u2 = tf.RaggedTensor.from_row_splits([[1, 2], [3, 4]], [0, 1, 2])
"""
EACH = """
tf.strings.strip({0}); tf.strings.length({0}); tf.strings.length({0}, unit='UTF8_CHAR')
tf.strings.regex_replace({0}, 'a', 'x'); tf.strings.length({0}).row_splits; tf.strings.substr({0}, 0, 1)
tf.strings.join([{0}, {0}], '-'); tf.strings.bytes_split({0}); tf.strings.split({0}); tf.strings.reduce_join({0}, -1)
tf.strings.as_string({0}); tf.strings.split({0}).nested_row_splits; tf.strings.join([{0}, 'x'])
"""
ALONE = """
tf.strings.to_number(n); tf.strings.to_number(n, tf.int64); tf.strings.as_string(n); tf.strings.length(s).flat_values
tf.cast(tf.strings.to_number(n), tf.int32); tf.reduce_sum(i, 2); tf.reduce_max(i, -1, keepdims=True)
tf.reduce_mean(i, -1); tf.reduce_sum(u2, 2); tf.reduce_sum(i, 3); tf.strings.to_hash_bucket_fast(s, 10)
tf.strings.bytes_split([]); tf.strings.split([]); tf.RaggedTensorSpec([None], tf.int32, 1)
tf.RaggedTensorSpec([None, 2], tf.int32, 1)
"""
SLICES = """
a = tf.ragged.constant([[[1, 2, 3]], [[4], [5]]]); r = tf.ragged.constant([[1, 2], [], [3, 4, 5]])
i = tf.ragged.constant([[1, 2], [3]], row_splits_dtype=tf.int32); f = tf.ragged.constant([[1.5], [2.5, 3.5]])
u = tf.RaggedTensor.from_row_splits([[1, 2], [3, 4], [5, 6]], [0, 2, 3])
s = tf.ragged.constant([["a"], [], ["b", "c"]])
k = tf.RaggedTensor.from_tensor([[1, 2], [3, 4]]); z = tf.ragged.constant([], ragged_rank=2)
"""
KEYS = [":1, :", "5:, :1", ":, 0", "::-1", "...", ":, tf.newaxis", "0", "-1", "0, 0", "1, -1", "-1, :1", ":, :",
        ":, 1:",
        ":, :-1", ":, ::2", "::2", "::-2", "1:0", ":, ::-1", "..., :1", "tf.newaxis", "tf.newaxis, 0", "0, tf.newaxis",
        "..., 0", "0, ...", ":, ...", "tf.constant(0)", "tf.constant(1):", "0, :, :1", ":, :, :1", ":, :, 0",
        ":, :, tf.newaxis",
        ":, -1", "0, 0, 0", "10", "0, 10", "0:1, 0", ":, tf.newaxis, :1", "..., tf.newaxis", "1.5", "'a'", ":, 'a'",
        "[0]", "[0, 1]",
        "..., ...", "2:, :", "-2:", ":, -1:", ":, :, ::-1", "0, ::-1", "tf.newaxis, :, :1", "-5:5", "0, 0, :2", ":, 5:",
        "0, tf.newaxis, :1", "1, 0, ...", "True", "np.int64(1)", ":, :, -1:", "::-1, ::-1", "..., :1, :1"]  # fmt: skip
PARTS = """
e = tf.ragged.constant([[], []], dtype=tf.string, ragged_rank=1); w = tf.ragged.constant([[], ["x y"]])
v = tf.constant([["a b", "c"], ["d", ""]]); q = tf.ragged.constant([[["a b"], []], [["c", "d e f"]]])
i = tf.ragged.constant([["a b"], []], row_splits_dtype=tf.int32); t = tf.constant([[["a", "b c"]]])
u = tf.RaggedTensor.from_row_splits(tf.constant([["a b", "b"], ["c", "d"]]), [0, 2]); o = tf.zeros([0, 2], tf.string)
k = tf.RaggedTensor.from_tensor([["a b", "b"], ["c", "d"]]); z = tf.ragged.constant([], dtype=tf.string, ragged_rank=1)
p = tf.constant(["a b", ""]); y = tf.constant("a b"); n = tf.zeros([0], tf.string); c = tf.constant([["a"], ["b"]])
"""
SPLIT = """
tf.strings.split({0}); tf.strings.split({0}).nested_row_splits; tf.strings.split({0}, ' ', 1)
tf.strings.split({0}).ragged_rank; tf.strings.bytes_split({0}); tf.strings.bytes_split({0}).ragged_rank
tf.strings.bytes_split({0}).nested_row_splits
"""
GATHERED = """
tf.gather([[1, 2], [3, 4]], [1], batch_dims=-1); tf.gather([[1, 2], [3, 4]], [[1], [0]], batch_dims=-1)
tf.gather([[1, 2], [3, 4]], [1], axis=0, batch_dims=-1)
tf.gather([[1, 2], [3, 4]], [[1], [0]], axis=1, batch_dims=-1)
tf.gather([[1, 2], [3, 4]], [[1], [0]], axis=0, batch_dims=-1); tf.gather([[1, 2], [3, 4]], [[1], [0]], batch_dims=1)
tf.gather([[1, 2], [3, 4]], [1, 0], batch_dims=1); tf.gather([[1, 2], [3, 4]], [1, 0], batch_dims=-2)
tf.gather([[1, 2], [3, 4]], [[1, 0]], batch_dims=-2); tf.gather([[1, 2], [3, 4]], [[1, 0]], batch_dims=-3)
tf.gather([[1, 2], [3, 4]], 1, batch_dims=-1); tf.gather([[1, 2], [3, 4]], 1, batch_dims=0)
tf.gather([[1, 2], [3, 4]], [1], batch_dims=2); tf.gather([[[1, 2], [3, 4]]], [[1]], batch_dims=-1)
tf.gather([[[1, 2], [3, 4]]], [[1]], axis=-1, batch_dims=-1)
tf.gather([[[1, 2], [3, 4]]], [[1]], axis=2, batch_dims=1); tf.gather([[[1, 2], [3, 4]]], [[1]], axis=1, batch_dims=1)
tf.gather([[[1, 2], [3, 4]]], [[1, 0]], axis=0, batch_dims=1); tf.gather([[1, 2], [3, 4]], [1], axis=2)
tf.gather([[1, 2]], [0], axis=-3); tf.gather([[1, 2], [3, 4]], [2]); tf.gather([[1, 2], [3, 4]], [-1])
tf.gather(5, 0); tf.gather([1, 2], []); tf.gather([[1, 2], [3, 4]], [1], axis=-1)
tf.gather(tf.zeros([0, 2]), tf.zeros([0, 1], tf.int32), batch_dims=1); tf.gather([1, 2], [0.5])
tf.gather([[1, 2], [3, 4]], [1], axis=-1, batch_dims=-1); tf.gather([1, 2], [1], axis=tf.constant(0))
tf.gather([[1, 2], [3, 4]], [[1]], batch_dims=1)
tf.gather(tf.zeros([2, 3, 4]), tf.zeros([2, 3, 5], tf.int32), batch_dims=2).shape
tf.gather(tf.zeros([2, 3, 4]), tf.zeros([2, 3, 5], tf.int32), batch_dims=-1).shape
tf.gather(tf.zeros([2, 3, 4]), tf.zeros([2, 5], tf.int32), batch_dims=-1, axis=2).shape
tf.gather(tf.zeros([2, 3, 4]), tf.zeros([2, 3, 5], tf.int32), batch_dims=1).shape
"""
ROWS = """
r = tf.ragged.constant([["a", "b"], [], ["c"]]); q = tf.ragged.constant([[[1, 2], [3]], [[4], []], []])
i = tf.ragged.constant([[1], [2]], row_splits_dtype=tf.int32)
k = tf.RaggedTensor.from_tensor([[1, 2], [3, 4]]); x = tf.ragged.constant([[0, 1], [1]])
y = tf.ragged.constant([[0, 1], [1, 0]]); d = tf.constant([[10, 20, 30], [40, 50, 60]])
"""
GATHERED_ROWS = """
tf.gather(r, [2, 0]); tf.gather(r, 0); tf.gather(r, [[2, 0]]); tf.gather(r, [2, -1]); tf.gather(r, [3])
tf.gather(q, [1, 0]); tf.gather(i, [1, 0]).row_splits; tf.gather(d, x); tf.gather(d, x, batch_dims=1); tf.gather(d, y)
tf.gather(q, x); tf.gather(r, [[0], [1]]); tf.gather(k, [1]); tf.gather(r, [[0], [1], [0]], batch_dims=1)
tf.gather(r, []); tf.gather(r, tf.zeros([0], tf.int32)); tf.gather(d, y, batch_dims=-1)
"""


@pytest.mark.parametrize("name", "s n q u b e k".split())
def test_strings_of_several_ragged_dimensions(name):
    assert not differences(listed(EACH.replace("{0}", name)), STRINGS)


def test_numbers_of_several_ragged_dimensions():
    assert not differences(listed(ALONE), STRINGS)


@pytest.mark.parametrize("name", "a r i f u s k z".split())
def test_slices(name):
    expressions = [f"{name}[{key}]" for key in KEYS]
    assert not differences([*expressions, *(f"{item}.row_splits" for item in expressions if "'" not in item)], SLICES)


@pytest.mark.parametrize("name", "e w v q i t u o k z p y n c".split())
def test_parts_of_strings(name):
    assert not differences(listed(SPLIT.replace("{0}", name)), PARTS)


@pytest.mark.parametrize(("text", "setup"), [(GATHERED, ""), (GATHERED_ROWS, ROWS)], ids=["dense", "ragged"])
def test_gather(text, setup):
    assert not differences(listed(text), setup)


def test_rows_that_are_counted_in_two_dtypes_are_not_joined():
    setup = """
r = tf.ragged.constant([[1], [2, 3]]); n = tf.ragged.constant([[4], []], row_splits_dtype=tf.int32)
"""
    joined = ["tf.concat([r, n], 0)", "tf.concat([n, r], 1)", "tf.stack([r, n])", "tf.concat([n, n], 0)"]
    assert differences(joined, setup) == []
