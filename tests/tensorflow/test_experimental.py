"""`tf.data.experimental`, and element specs of datasets without elements, as in TensorFlow."""

import pytest

import tfrecord_fast as plain
import tfrecord_fast.tensorflow as tf_compat
from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed

with_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SETUP = r"""
D = tf.data.Dataset
E = tf.data.experimental
n = D.range(3)
e = D.range(0)
record = b'\n\x0e\n\x0c\n\x01a\x12\x07\x1a\x05\n\x03\x01\x02\x03'
def spec(d): return repr(d.element_spec)
f = n.map(lambda x: tf.cast(x, tf.float32))
"""
SPECS = r"""
spec(e); spec(e.map(lambda x: x)); spec(e.map(lambda x: tf.cast(x, tf.float32))); spec(e.map(lambda x: (x, [x, x])))
spec(e.batch(2)); spec(e.batch(2, drop_remainder=True)); spec(e.padded_batch(2))
spec(e.map(lambda x: tf.fill([x], 1.0)).padded_batch(2)); spec(e.filter(lambda x: x > 1)); spec(e.enumerate())
spec(e.window(2)); spec(e.flat_map(lambda x: D.from_tensors([x, x])))
spec(e.interleave(lambda x: D.from_tensors('a'))); spec(e.scan(0.0, lambda s, x: (s, x)))
spec(e.group_by_window(lambda x: x, lambda k, d: d.batch(2), 3)); spec(e.unbatch()); spec(e.batch(2).unbatch())
spec(D.from_tensor_slices(tf.zeros([0, 3])))
spec(D.from_tensor_slices({'a': np.zeros([0, 3], np.int8), 'b': tf.zeros([0], tf.string)}))
spec(D.from_tensor_slices([])); spec(n.filter(lambda x: x > 5)); spec(n.filter(lambda x: x > 5).batch(2))
spec(n.filter(lambda x: x > 5).map(lambda x: tf.strings.as_string(x))); spec(n.skip(5)); spec(n.take(0))
spec(n.skip(5).map(lambda x: x * 2)); spec(tf.data.TextLineDataset([])); spec(tf.data.TFRecordDataset([]))
spec(tf.data.TFRecordDataset([]).batch(3))
spec(tf.data.TFRecordDataset([]).map(lambda r: tf.io.parse_single_example(r, {'a': tf.io.FixedLenFeature([2], tf.int64), 's': tf.io.VarLenFeature(tf.string)})))
spec(tf.data.TFRecordDataset([]).batch(3).map(lambda r: tf.io.parse_example(r, {'a': tf.io.FixedLenFeature([2], tf.int64), 's': tf.io.VarLenFeature(tf.string), 'r': tf.io.RaggedFeature(tf.float32)})))
spec(D.from_tensors(record).map(lambda r: tf.io.parse_single_example(r, {'a': tf.io.RaggedFeature(tf.int64)})))
spec(D.from_tensors(record).map(lambda r: tf.io.parse_single_example(r, {'a': tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)})))
spec(D.from_tensors([record]*2).map(lambda r: tf.io.parse_example(r, {'a': tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)})))
spec(D.from_tensors([record]*2).map(lambda r: tf.io.parse_example(r, {'a': tf.io.RaggedFeature(tf.int64)})))
spec(n.map(lambda x: tf.fill([x], 1.0))); spec(n.map(lambda x: tf.range(x))); spec(n.batch(2).map(lambda x: x * 2))
spec(n.batch(2).map(lambda x: tf.reduce_sum(x))); spec(n.batch(2).map(lambda x: tf.cast(x, tf.float32)))
spec(n.batch(2).map(lambda x: (x, x[:, tf.newaxis]))); spec(n.batch(2).prefetch(1).cache().repeat())
spec(n.batch(2).batch(2)); spec(D.random(seed=1)); spec(D.zip((n, {'a': n}))); spec(D.zip(n, n.batch(2)))
spec(n.batch(2).concatenate(n.batch(3))); spec(D.choose_from_datasets([n.batch(2), n.batch(3, True)], n))
spec(n.batch(3, True).concatenate(n.batch(2, True)))
spec(D.sample_from_datasets([n.batch(3, True), n.batch(2, True)]))
spec(n.bucket_by_sequence_length(lambda x: 1, [2], [2, 2])); spec(n.map(lambda x: tf.image.decode_jpeg('')))
spec(n.snapshot('FOLDER/snap')); spec(n.take_while(lambda x: True)); spec(n.window(2).flat_map(lambda w: w.batch(2)))
spec(n.rebatch(2)); spec(n.batch(2).rebatch(3)); spec(n.ragged_batch(2))
spec(n.map(lambda x: tf.fill([x],1)).ragged_batch(2).map(lambda x: x*2))
spec(D.from_tensors(tf.ragged.constant([[1],[2,3]]))); spec(D.from_tensors(tf.sparse.from_dense([[1,0]])))
spec(D.from_tensor_slices(tf.sparse.from_dense([[1,0]])))
spec(D.from_tensor_slices(tf.ragged.constant([[[1],[2]],[[3]]]))); repr(E.get_structure(n))
spec(n.apply(E.assert_cardinality(7)))
spec(n.map(lambda x: tf.fill([x], x)).apply(E.dense_to_ragged_batch(2, row_splits_dtype=tf.int32)))
spec(n.map(lambda x: tf.fill([x], x)).apply(E.dense_to_sparse_batch(2, [5])))
"""  # noqa: E501 - one expression on a line
TRANSFORMATIONS = r"""
[x for x in E.Counter(2, 3).take(2)]
list(n.apply(E.bucket_by_sequence_length(lambda x: tf.cast(x, tf.int32), [2], [2, 2])))
list(n.apply(E.group_by_window(lambda x: x % 2, lambda k, d: d.batch(2), 2)))
list(n.apply(E.copy_to_device('/cpu:0'))); list(n.apply(E.prefetch_to_device('/cpu:0')))
list(E.RandomDataset(seed=3).take(1))[0].dtype
list(n.apply(E.group_by_reducer(lambda x: x % 2, E.Reducer(lambda k: np.int64(0), lambda s, x: s + x, lambda s: s * 10))))
list(n.apply(E.group_by_reducer(lambda x: x % 2, E.Reducer(lambda k: (np.int64(0), np.int64(1)), lambda s, x: (s[0] + x, s[1] + 1), lambda s, k: s * 10 + k))))
list(E.from_list([(1, 'a'), (2, 'b')])); list(E.from_list([{'a': 1}, {'a': 2}])); E.from_list([]); E.at(n, 1)
E.at(n, 9); E.at(n.map(lambda x: x * 2), 2); list(n.apply(E.assert_cardinality(3)))
list(n.apply(E.assert_cardinality(4))); list(n.apply(E.assert_cardinality(2)))
n.apply(E.assert_cardinality(7)).cardinality()
n.repeat().apply(E.assert_cardinality(E.INFINITE_CARDINALITY)).cardinality()
list(n.apply(E.map_and_batch(lambda x: x * 2, 2)))
list(n.apply(E.map_and_batch(lambda x: x * 2, 2, drop_remainder=True)))
list(n.apply(E.map_and_batch(lambda x: x * 2, 2, num_parallel_calls=2)))
n.apply(E.map_and_batch(lambda x: x, 2, 2, False, 2))
list(D.range(4).apply(E.parallel_interleave(lambda x: D.from_tensors(x).repeat(2), cycle_length=2)))
sorted(int(x) for x in D.range(4).apply(E.parallel_interleave(lambda x: D.range(x), cycle_length=3, block_length=2)))
list(D.range(3).apply(E.parallel_interleave(lambda x: D.range(3 - x), cycle_length=2)))
sorted(int(x) for x in n.apply(E.shuffle_and_repeat(10, 2))); n.apply(E.shuffle_and_repeat(10)).cardinality()
n.apply(E.shuffle_and_repeat(0, 2)); n.apply(E.shuffle_and_repeat(10, 2, seed=3)).cardinality()
list(n.map(lambda x: tf.fill([x], x)).apply(E.dense_to_ragged_batch(2)))
list(n.map(lambda x: tf.fill([x], x)).apply(E.dense_to_ragged_batch(2, True)))
list(n.map(lambda x: tf.fill([x], x)).apply(E.dense_to_sparse_batch(2, [5]))); list(n.apply(E.unique()))
list(n.apply(E.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s)))); list(n.apply(E.take_while(lambda x: x < 1)))
list(n.apply(E.enumerate_dataset(4)))
list(E.choose_from_datasets([n, n], D.from_tensor_slices(np.array([0, 1, 1], np.int64))))
E.get_single_element(D.range(1)); E.cardinality(n); E.INFINITE_CARDINALITY; E.UNKNOWN_CARDINALITY; E.AUTOTUNE
E.SHARD_HINT; n.with_options(tf.data.Options()).apply(E.ignore_errors()).cardinality(); n.shard(2, 0).cardinality()
n.save('FOLDER/sv1'); list(D.load('FOLDER/sv1')); E.save(n, 'FOLDER/sv2')
list(E.load('FOLDER/sv2', tf.TensorSpec([], tf.int64))); E.save(n, 'FOLDER/sv3', compression='GZIP')
list(n.apply(E.snapshot('FOLDER/sn2'))); E.TFRecordWriter('FOLDER/w1').write(n.map(tf.strings.as_string))
list(tf.data.TFRecordDataset('FOLDER/w1')); E.TFRecordWriter('FOLDER/w1').write(n)
E.TFRecordWriter('FOLDER/w1').write(3); E.TFRecordWriter('FOLDER/w2', 'GZIP').write(D.from_tensors((1, 2)))
n.choose_from_datasets([n], n).cardinality(); D.counter().cardinality(); D.random().cardinality()
D.from_tensor_slices([1]).repeat(-1).cardinality(); n.batch(2).unbatch().cardinality(); n.window(2).cardinality()
n.take(-1).cardinality(); n.skip(-1).cardinality()
"""  # noqa: E501 - one expression on a line
LISTS = r"""
list(n.map(lambda x: (x, [x, x]))); list(n.map(lambda x: {'a': [x, 2]})); list(n.map(lambda x: {'a': [2, x]}))
list(n.map(lambda x: {'a': [2.5, x]})); list(f.map(lambda x: {'a': [2.5, x]}))
list(f.map(lambda x: {'a': [2, x, True]})); list(D.from_tensors([tf.constant(1, tf.int64)] * 2))
list(D.from_tensor_slices([tf.constant([1], tf.int8)] * 2))
list(D.from_tensors({'a': [tf.constant(1, tf.int64), 2]})); list(n.flat_map(lambda x: D.from_tensors([x, x])))
list(n.map(lambda x: {'a': [tf.cast(x, tf.int32), x]})); list(n.map(lambda x: {'a': [[x, x], [x, 1]]}))
list(n.map(lambda x: ([x], [[x]]))); list(n.map(lambda x: {'a': [tf.fill([2], x), [1, 2]]}))
list(n.map(lambda x: {'a': [True, x]})); list(n.scan(tf.constant(0), lambda s, x: (s + 1, [s, s])))
n.reduce(tf.constant(0, tf.int64), lambda s, x: s + x); n.reduce([0, 0], lambda s, x: s); list(n.window(2)) and 1
repr(n.window(2).element_spec); repr(n.window(2)); repr(D.zip((n, n)).window(2).element_spec)
repr(D.from_tensors(1).map(lambda x: n).element_spec)
"""


@with_tensorflow
@pytest.mark.parametrize("group", [SPECS, TRANSFORMATIONS, LISTS], ids=["specs", "transformations", "lists"])
def test_the_same_as_tensorflow(group, tmp_path):
    (tmp_path / "ours").mkdir()
    assert not differences(listed(group.replace("FOLDER", str(tmp_path))), SETUP)


def _raises(x):
    raise OSError("no such thing")


def test_what_a_function_refuses_does_not_keep_elements_from_being_known():
    def plus_one(x):
        return x + 1 if x == 0 else _raises(x)

    assert plain.data.Dataset.range(1).map(plus_one).element_spec == plain.TensorSpec((), plain.int64)


def test_elements_that_nothing_tells_are_an_error():
    with pytest.raises(OSError, match="no such thing"):
        _ = plain.data.Dataset.range(2).map(_raises).element_spec
    with pytest.raises(plain.errors.InvalidArgumentError, match="empty"):
        _ = plain.data.Dataset.range(0).map(_raises).element_spec


def test_parsed_records_of_files_that_are_not_there_yet_are_known():
    features = {
        "image": tf_compat.io.FixedLenFeature([], tf_compat.string),
        "box": tf_compat.io.FixedLenFeature([4], tf_compat.float32),
        "words": tf_compat.io.VarLenFeature(tf_compat.string),
        "ids": tf_compat.io.RaggedFeature(tf_compat.int64),
        "pairs": tf_compat.io.FixedLenSequenceFeature([2], tf_compat.int64, allow_missing=True),
    }

    def parse(record):
        row = tf_compat.io.parse_single_example(record, features)
        image = tf_compat.reshape(tf_compat.io.decode_raw(row["image"], tf_compat.uint8), [-1])
        return image, row["box"], row["words"], row["ids"], row["pairs"]

    specs = tf_compat.data.TFRecordDataset("/no/such/file").map(parse).batch(2, drop_remainder=True).element_spec
    assert [str(item.shape) for item in specs] == ["(2, None)", "(2, 4)", "(2, None)", "(2, None)", "(2, None, 2)"]
    assert [item.dtype for item in specs] == [
        tf_compat.uint8,
        tf_compat.float32,
        tf_compat.string,
        tf_compat.int64,
        tf_compat.int64,
    ]


def test_parsed_sequences_and_images_are_known_without_one():
    def parse(record):
        context, lists = tf_compat.io.parse_single_sequence_example(
            record,
            {"label": tf_compat.io.FixedLenFeature([], tf_compat.int64)},
            {"frames": tf_compat.io.FixedLenSequenceFeature([3], tf_compat.float32)},
        )
        return tf_compat.io.decode_jpeg(record, channels=3), context["label"], lists["frames"]

    specs = tf_compat.data.TFRecordDataset([]).map(parse).element_spec
    assert [str(item.shape) for item in specs] == ["(None, None, 3)", "()", "(None, 3)"]


def test_real_records_are_never_replaced():
    features = {"a": plain.FixedLenFeature([], plain.int64)}
    dataset = plain.data.Dataset.from_tensor_slices([b"", b""]).map(
        lambda r: plain.io.parse_single_example(r, features)
    )
    assert dataset.element_spec == {"a": plain.TensorSpec((), plain.int64)}
    with pytest.raises(plain.errors.InvalidArgumentError, match="required"):
        next(iter(dataset))


NAMES = r"""
tf.scatter_nd([[0], [2], [0]], [1, 2, 3], [4]); tf.tensor_scatter_nd_update([1, 2, 3], [[1]], [9])
tf.searchsorted([1, 3, 5], [3], side='right')
tf.einsum('ij,kj->ik', tf.constant([[1., 2.]]), tf.constant([[3., 4.]])); tf.strings.bytes_split(['ab', '', 'c'])
str(tf.errors.InvalidArgumentError(None, None, 'no')); tf.errors.DataLossError(None, None, 'x').message
tf.gather(tf.ragged.constant([[1, 2], [], [3]]), [2, 0])
tf.gather(tf.ragged.constant([[[1], [2, 3]], [], [[4]]]), [2, 0])
tf.gather(tf.ragged.constant([[1, 2], [], [3]]), [5]); tf.ones_like(tf.ragged.constant([[1, 2], [], [3]]))
tf.ragged.constant([[[1], []], []]).to_sparse(); tf.one_hot([1.5], 3); tf.io.is_jpeg(b'\xff\xd8\xff')
repr(tf.unique([3, 1, 3]))
"""


@with_tensorflow
def test_names_of_scripts_give_what_tensorflows_give():
    assert not differences(listed(NAMES), SETUP)
