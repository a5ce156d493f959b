"""`tf.data`: elements and the arguments of functions are tensors; pipelines yield what TensorFlow's yield."""

import pytest

import tfrecord_fast.tensorflow as tf
from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed, of_both

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SETUP = """
D = tf.data.Dataset
n = D.range(10)
x = D.from_tensor_slices({"a": [1, 2, 3], "b": ["x", "yy", "z"]})
p = D.from_tensor_slices(([1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0]))
r = D.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3]]))
q = D.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 2]]))
outside = tf.SparseTensor([[5, 0], [9, 1]], [1, 2], [4, 2])
unsorted = tf.SparseTensor([[3, 0], [0, 1]], [1, 2], [4, 2])
def gen():
    yield 1
    yield 2
def pairs():
    for i in range(3):
        yield {"x": i, "y": [i] * i}
"""
CHAINS = """
list(n); list(x); list(p.batch(3)); list(x.batch(2)); list(n.map(lambda v: v * 2)); list(x.map(lambda e: e["a"]))
list(p.map(lambda a, b: (tf.cast(a, tf.float32) + b, {"k": a}))); list(n.filter(lambda v: v % 2 == 0))
list(p.filter(lambda a, b: b > 2.0)); list(n.take(3).repeat(2)); list(n.skip(7)); list(n.shard(3, 1))
list(n.batch(4, drop_remainder=True)); list(n.window(3).flat_map(lambda w: w.batch(2)))
list(n.flat_map(lambda v: D.from_tensors(v).repeat(v % 3)))
list(n.take(3).interleave(lambda v: D.from_tensors(v).repeat(2), cycle_length=2)); list(n.enumerate())
list(x.enumerate(5)); list(D.zip((n, x))); list(D.zip(n, p)); list(n.concatenate(n.take(1))); list(r); list(q)
list(q.batch(2)); list(r.map(lambda v: tf.size(v))); list(r.map(lambda v: tf.reduce_sum(v))); list(x.padded_batch(2))
list(n.map(lambda v: tf.range(v % 3)).padded_batch(4))
list(n.map(lambda v: tf.range(v % 3)).padded_batch(4, padding_values=tf.constant(-1, tf.int64)))
list(n.map(lambda v: tf.range(v % 3)).ragged_batch(4)); list(p.batch(2).unbatch()); list(p.batch(2).rebatch(3))
n.reduce(np.int64(0), lambda s, v: s + v); n.reduce((0, np.int64(1)), lambda s, v: (s[0] + 1, s[1] * 2))
list(n.scan(np.int64(0), lambda s, v: (s + v, s * v))); list(n.take_while(lambda v: v < 4))
list(D.from_generator(gen, tf.int32)); list(D.from_generator(gen, output_signature=tf.TensorSpec([], tf.int64)))
list(D.from_generator(pairs, output_signature={"x": tf.TensorSpec([], tf.int32), "y": tf.TensorSpec([None], tf.int32)}))
list(D.from_generator(lambda: iter(["a", b"b"]), tf.string))
list(D.from_generator(gen, tf.int32, tf.TensorShape([2]))); n.cardinality(); len(n)
n.filter(lambda v: True).cardinality(); n.repeat().cardinality(); D.range(5).get_single_element()
D.from_tensors(3).get_single_element(); next(iter(n)); iter(n).get_next(); iter(n).next(); n.as_numpy_iterator().next()
iter(n.take(0)).get_next(); iter(n.take(0)).next(); n.take(0).as_numpy_iterator().next()
iter(n).get_next_as_optional().has_value(); iter(n).get_next_as_optional().get_value()
iter(n.take(0)).get_next_as_optional().has_value(); iter(n.take(0)).get_next_as_optional().get_value()
iter(n.take(0)).get_next_as_optional().element_spec; tf.experimental.Optional.from_value({"a": 1}).get_value()
tf.experimental.Optional.from_value("s").element_spec; tf.experimental.Optional.empty(n.element_spec).has_value()
tf.data.experimental.get_next_as_optional(iter(n)).get_value(); list(n.as_numpy_iterator())
list(x.as_numpy_iterator()); list(p.batch(2).as_numpy_iterator()); repr(n.element_spec); repr(x.element_spec)
repr(p.batch(2).element_spec); repr(x.map(lambda e: e["b"]).element_spec); repr(D.from_tensors(b"a").element_spec)
list(D.from_tensor_slices([1, 2]).map(lambda v: [v, v])); list(D.from_tensor_slices([1, 2]).map(lambda v: 5))
list(D.from_tensor_slices([1, 2]).map(lambda v: "s"))
list(D.from_tensor_slices([[1, 2], [3, 4]]).map(lambda v: v[0]))
list(D.from_tensor_slices([1, 2]).map(lambda v: tf.one_hot(v, 3)))
list(D.from_tensor_slices(["a b", "c"]).map(tf.strings.split))
list(D.from_tensor_slices(["a b", "c"]).map(tf.strings.length))
list(D.from_tensor_slices(["1,2", "3,4"]).map(lambda v: tf.io.decode_csv(v, [0, 0])))
list(D.from_tensor_slices([3, 4]).map(lambda v: v.shape.rank)); list(n.batch(3).map(lambda v: tf.reduce_sum(v)))
list(n.apply(lambda d: d.batch(5))); list(n.cache().take(2)); list(n.prefetch(2).take(1))
list(n.map(lambda v: v, num_parallel_calls=tf.data.AUTOTUNE))
list(n.apply(tf.data.experimental.take_while(lambda v: v < 2)))
list(n.apply(tf.data.experimental.enumerate_dataset()))
list(n.apply(tf.data.experimental.map_and_batch(lambda v: v + 1, 4)))
list(n.take(4).apply(tf.data.experimental.parallel_interleave(lambda v: D.from_tensors(v).repeat(2), 2)))
tf.data.experimental.cardinality(n); tf.data.experimental.get_single_element(n.take(1))
list(n.apply(tf.data.experimental.assert_cardinality(10))); list(n.apply(tf.data.experimental.assert_cardinality(3)))
list(D.choose_from_datasets([n, n.map(lambda v: -v)], D.from_tensor_slices(np.array([0, 1, 0], np.int64))))
list(D.sample_from_datasets([n], seed=1)); list(D.counter().take(2)); list(D.range(2, 8, 3))
list(D.range(3, output_type=tf.int32)); list(D.from_tensors({"a": [1], "b": (2, "c")}))
list(D.from_tensor_slices(tf.constant([1, 2]))); list(D.from_tensor_slices(([1, 2], [1])))
list(D.from_tensor_slices(5)); list(n.batch(0)); list(p.map(lambda a: a)); list(x.map(lambda e: e["zz"]))
list(n.batch(2).map(lambda v: v[5])); tf.compat.v1.data.make_one_shot_iterator(n).get_next()
tf.compat.v1.data.get_output_shapes(p.batch(2, drop_remainder=True)); tf.compat.v1.data.get_output_types(p)
isinstance(n, tf.data.Dataset); isinstance(n.batch(2), tf.data.Dataset); n.options() is not None
list(n.with_options(tf.data.Options()).take(1))
"""
UNCHECKED = """
list(D.from_tensors(outside)); list(D.from_tensors((unsorted, 1))); list(n.take(2).map(lambda v: outside))
list(n.take(2).map(lambda v: {"a": outside, "b": v})); list(n.take(2).map(lambda v: outside).batch(2))
list(n.take(2).map(lambda v: unsorted).batch(2)); list(D.from_tensors(outside).map(lambda s: s.values))
list(D.from_tensors(outside).cache().repeat(2)); list(D.from_tensors(outside).filter(lambda s: tf.size(s.values) > 1))
D.from_tensors(outside).element_spec; list(D.from_tensors(outside).enumerate())
list(D.from_generator(lambda: [outside], output_signature=tf.SparseTensorSpec([4, 2], tf.int32)))
list(D.from_tensor_slices(outside)); list(D.from_tensors(outside).unbatch()); tf.sparse.to_dense(outside)
"""


def test_chains():
    assert not differences(listed(CHAINS), SETUP)


RAISING = """
D.range(1, 5, 0); D.range(); D.range(1, 2, 3, 4); D.range([3]); D.range(np.array([1, 2])); D.range("a"); D.range(2.5)
D.range(3, output_type=tf.string); D.range(3, output_type=tf.bool); D.choose_from_datasets([], n)
D.choose_from_datasets([n, n], D.from_tensor_slices([0.0])); D.choose_from_datasets([n, n], D.from_tensors([0, 1]))
D.choose_from_datasets([n, n], D.from_tensors("a")); D.choose_from_datasets([n, n], D.zip((n, n)))
D.choose_from_datasets([n, n], [0, 1]); D.choose_from_datasets([n, n], None); D.choose_from_datasets([n, n], n)
D.choose_from_datasets([n, n], n.map(lambda v: 1.5)); D.choose_from_datasets([n, n], n.map(lambda v: v > 1))
D.choose_from_datasets([n, n], n.map(lambda v: (v, v))); D.choose_from_datasets([n, x], n)
tf.data.TextLineDataset([1, 2]); tf.data.TextLineDataset(3); tf.data.TextLineDataset(n); tf.data.TFRecordDataset([1])
tf.data.TFRecordDataset(n); tf.data.TFRecordDataset(n.take(2)); tf.data.TFRecordDataset(p.take(2))
tf.data.FixedLengthRecordDataset([1, 2], 3); tf.data.FixedLengthRecordDataset(D.from_tensor_slices([1.5]), 3)
tf.data.TextLineDataset(p); tf.data.TextLineDataset(x); tf.data.TextLineDataset(n.map(lambda v: v))
n.apply(by(lambda v: 1.0)); n.apply(by(lambda v: "a")); n.apply(by(lambda v: True)); n.apply(by(lambda v: None))
n.apply(by(lambda v: tf.constant([1, 2], tf.int64))); n.apply(by(3)); n.apply(by(lambda v: v, first=None))
n.apply(by(lambda v: v, step=lambda s, v: 1.5)); n.apply(by(lambda v: v, step=lambda s, v: "a"))
n.apply(by(lambda v: v, last=lambda a, b: a)); n.apply(by(lambda v: v, step=lambda s: s))
"""
UNHOLDABLE = """
object(); {1, 2}; lambda: 1; (v, object()); {"a": {1}}; (i for i in [1]); iter([1]); np.datetime64("2020-01-01")
tf.int64; ...; np.array([object()]); np.array([1, None]); np.float128(1); tf; slice(1, 2); None; {"a": None}; 1j
([1, "a"],); np.void(b"ab"); (v, None); tf.TensorShape([1, 2]); range(3); {1: v}; n; v.dtype
tf.cast(v, tf.bfloat16); "s"; True
"""
BY = """
def by(key, first=lambda k: 0, step=lambda s, v: s, last=lambda s: s):
    return tf.data.experimental.group_by_reducer(key, tf.data.experimental.Reducer(first, step, last))
"""


def raised_classes(expressions, setup):
    """Return the names of the class, and of its base classes, that each expression raises when it is iterated."""
    names = {"tf": tf, "np": np}  # noqa: F821
    exec(setup, names)
    raised = []
    for expression in expressions:
        try:
            raised.append(f"no error: {list(eval(expression, names))!r}")
        except Exception as error:
            raised.append([base.__name__ for base in type(error).__mro__])
    return raised


def test_a_script_catches_the_class_that_tensorflow_raises():
    expressions = listed(RAISING)
    classes = of_both(raised_classes, expressions, SETUP + BY)
    wrong = [pair for pair in zip(expressions, *classes, strict=True) if pair[2][0] not in pair[1]]
    assert not wrong


def test_functions_return_what_tensors_can_hold():
    returns = listed(UNHOLDABLE)
    expressions = [f"n.take(1).map(lambda v: {value})" for value in returns]
    classes = of_both(raised_classes, expressions, SETUP)
    wrong = [value for value, ours, theirs in zip(returns, *classes, strict=True) if type(ours) is not type(theirs)]
    assert not wrong


def test_only_steps_that_use_indices_of_sparse_tensors_check_them():
    assert not differences(listed(UNCHECKED), SETUP)


def records(path, compression):
    """Return what a script prints."""

    def plain(value):
        return value.numpy().tolist() if hasattr(value, "numpy") else value

    features = {
        "i": tf.io.FixedLenFeature([], tf.int64),
        "f": tf.io.FixedLenFeature([2], tf.float32),
        "s": tf.io.VarLenFeature(tf.string),
        "r": tf.io.RaggedFeature(tf.int64),
    }
    with tf.io.TFRecordWriter(path, options=compression) as writer:
        for number in range(7):
            feature = {
                "i": tf.train.Feature(int64_list=tf.train.Int64List(value=[tf.constant(number)])),
                "f": tf.train.Feature(float_list=tf.train.FloatList(value=[number / 2, 1.0])),
                "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x"] * (number % 3))),
                "r": tf.train.Feature(int64_list=tf.train.Int64List(value=range(number % 4))),
            }
            writer.write(
                tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString(deterministic=True)
            )
    dataset = tf.data.TFRecordDataset(path, compression_type=compression)
    shown = []
    for record in dataset.take(2):
        shown.append((type(record.numpy()).__name__, repr(record), len(record.numpy()), str(record.dtype)))
    for row in dataset.map(lambda item: tf.io.parse_single_example(item, features)):
        dense = tf.sparse.to_dense(row["s"], default_value=b"")
        shown.append(
            (plain(row["i"]), plain(row["f"]), plain(dense), plain(row["r"]), repr(row["f"]), row["i"].shape.rank)
        )
    for batch in dataset.batch(3).map(lambda some: tf.io.parse_example(some, features)):
        shown.append((repr(batch["i"]), repr(batch["s"]), repr(batch["r"]), plain(batch["s"].values), repr(batch["f"])))
    shown.append(repr(dataset.map(lambda item: tf.io.parse_single_example(item, features)["f"]).element_spec))
    return shown


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_records_that_are_written_and_parsed(tmp_path, compression):
    ours, theirs = of_both(records, str(tmp_path / "a.tfrecord"), compression)
    assert ours == theirs
