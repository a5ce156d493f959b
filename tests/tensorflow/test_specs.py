"""`element_spec` and `repr` of datasets are TensorFlow's."""

import pickle

import pytest

import tfrecord_fast as plain
from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import of_both
from tfrecord_fast.values.elements.specs import RaggedTensorSpec, TensorSpec, batch_spec, row_spec

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SETUP = """
D = tf.data.Dataset
E = tf.data.experimental
n = D.range(3)
rows = D.range(1, 4).map(lambda n: tf.fill([n], n))
record = b'\\n\\x0e\\n\\x0c\\n\\x01a\\x12\\x07\\x1a\\x05\\n\\x03\\x01\\x02\\x03'
def parsed(feature):
    return D.from_tensors(record).map(lambda r: tf.io.parse_single_example(r, {'a': feature}))
def many(feature):
    return D.from_tensors([record, b'']).map(lambda r: tf.io.parse_example(r, {'a': feature}))
"""
SPECS = """parsed(tf.io.VarLenFeature(tf.int64)); parsed(tf.io.VarLenFeature(tf.int64)).batch(2)
parsed(tf.io.VarLenFeature(tf.int64)).batch(2, drop_remainder=True); many(tf.io.VarLenFeature(tf.int64))
parsed(tf.io.FixedLenFeature([3], tf.int64)).batch(4); rows.sparse_batch(2, [4]); rows.sparse_batch(2, [None])
rows.ragged_batch(2); rows.ragged_batch(2, True); rows.ragged_batch(2, row_splits_dtype=tf.int32)
rows.map(lambda x: [x, x]).ragged_batch(2); rows.padded_batch(2); rows.padded_batch(2, [5])
rows.padded_batch(2, drop_remainder=True); n.padded_batch(2)
rows.map(lambda x: (x, {'a': x})).padded_batch(2, ([None], {'a': [7]})); D.from_tensors([[1, 2]]).padded_batch(2)
rows.padded_batch(2).unbatch(); n.batch(2).rebatch([1, 2]); n.batch(2).rebatch([2, 2], drop_remainder=True)
n.batch(2).rebatch(2, drop_remainder=True); n.rejection_resample(lambda x: x, [1.0] * 3)
D.from_generator(lambda: iter([]), output_signature=tf.TensorSpec([None, 2], tf.float32))
D.from_generator(lambda: iter([]), output_signature=(tf.TensorSpec([], tf.string), {'a': tf.TensorSpec([3], tf.int8)}))
D.from_generator(lambda: iter([]), output_signature=tf.SparseTensorSpec([None], tf.int64))
D.from_generator(lambda: iter([]), output_signature=tf.RaggedTensorSpec([None, None], tf.int32))
D.from_generator(lambda: iter([]), output_types=tf.int64, output_shapes=[])
D.from_generator(lambda: iter([]), output_types=(tf.int64, tf.string), output_shapes=([2], [None])).batch(3)
tf.data.TextLineDataset('/none'); tf.data.FixedLengthRecordDataset('/none', 3)
tf.data.TFRecordDataset('/none')""".replace("\n", ";").split(";")
REPRS = """n; n.map(lambda x: x); n.batch(2); D.from_tensors({'a': 1}); tf.data.TFRecordDataset('x')
tf.data.TFRecordDataset(['x'], num_parallel_reads=3); n.padded_batch(2); D.zip((n, n)); tf.data.TextLineDataset('x')
n.shuffle(3); n.repeat(); n.take(2); n.skip(1); n.shard(2, 0); n.prefetch(1); n.cache(); n.enumerate()
n.flat_map(lambda x: D.range(1)); n.interleave(lambda x: D.range(1)); n.map(lambda x: x, num_parallel_calls=2)
n.filter(lambda x: True); n.unique(); n.scan(tf.constant(0), lambda s, x: (s, x)); n.take_while(lambda x: True)
n.with_options(tf.data.Options()); n.concatenate(n); n.group_by_window(lambda x: x, lambda k, d: d, 1)
n.apply(E.ignore_errors()); n.ragged_batch(2); n.ignore_errors(); D.choose_from_datasets([n], n)
D.sample_from_datasets([n, n]); D.from_tensor_slices([1]); D.random(); n.batch(2).rebatch(2); n.batch(2).unbatch()
tf.data.FixedLengthRecordDataset('x', 1)
D.from_generator(lambda: iter([1]), output_signature=tf.TensorSpec([], tf.int32))
rows.sparse_batch(2, [4]); D.from_tensors((1, 'a')).batch(4, drop_remainder=True)""".replace("\n", ";").split(";")


def texts(setup, expressions, attribute):
    space = {"tf": tf}  # noqa: F821
    exec(setup, space)
    result = [eval(item.strip(), space) for item in expressions]
    return [repr(getattr(item, attribute) if attribute else item) for item in result]


@pytest.mark.parametrize(("expressions", "attribute"), [(SPECS, "element_spec"), (REPRS, "")])
def test_specs_and_reprs_are_tensorflows(expressions, attribute):
    ours, theirs = of_both(texts, SETUP, expressions, attribute)
    assert [item for item in zip(expressions, ours, theirs, strict=True) if item[1] != item[2]] == []


def test_repr_does_not_raise_where_a_function_does():
    import tfrecord_fast.tensorflow as tf_compat

    dataset = tf_compat.data.Dataset.range(3).map(lambda x: 1 / 0)
    assert repr(dataset) == "<_MapDataset element_spec=<unknown: ZeroDivisionError>>"


def test_a_generator_is_not_called_for_what_its_signature_says():
    called = []

    def numbers():
        called.append(1)
        yield 1

    dataset = plain.data.Dataset.from_generator(numbers, output_signature=plain.TensorSpec((), plain.int64))
    assert dataset.element_spec.dtype == plain.int64 and not called
    assert [int(item) for item in dataset] == [1] and called


def test_batches_and_rows_of_ragged_rows():
    ragged = RaggedTensorSpec((None, None, 2), plain.int64, 1, plain.int32)
    stacked = batch_spec(ragged, 3)
    assert (stacked.shape, stacked.ragged_rank, stacked.row_splits_dtype) == ((3, None, None, 2), 2, plain.int32)
    assert row_spec(stacked) == ragged and row_spec(stacked).ragged_rank == 1
    row = row_spec(ragged)
    assert (type(row), row.shape, row.dtype) == (TensorSpec, (None, 2), plain.int64)
    copied = pickle.loads(pickle.dumps(stacked))
    assert (copied, copied.ragged_rank, copied.row_splits_dtype) == (stacked, 2, plain.int32)
