# ruff: noqa: E501
"""Pipelines of tf.data, each run here and by TensorFlow: the same elements in the same order, the same dtypes."""

import numpy as np
import pytest

import tfrecord_fast
from tests.support import live_tensorflow

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SIZES = (5, 2, 4, 3)


def run_all(pipelines, files):
    """What each pipeline gives, twice over: for each element its plain form, or the word "error"."""

    import collections

    def plain(value):
        if isinstance(value, dict):
            made = {key: plain(item) for key, item in value.items()}
            return made if type(value) is dict else (type(value).__name__, list(made.items()))
        if isinstance(value, tuple):
            made = tuple(plain(item) for item in value)
            return made if type(value) is tuple else (type(value).__name__, made)
        if hasattr(value, "dense_shape"):
            return ("sparse", plain(value.indices), plain(value.values), list(map(int, value.dense_shape)))
        if hasattr(value, "to_list"):
            return ("ragged", value.to_list())
        if value is None or isinstance(value, bytes):
            return value
        if hasattr(value, "as_numpy_iterator"):
            return [plain(item) for item in value.as_numpy_iterator()]
        if hasattr(value, "numpy"):
            return plain(value.numpy())
        array = np.asarray(value)
        return (array.dtype.name, array.shape, array.tolist())

    def epochs(*sizes):
        """A dataset whose epochs have these sizes, and 9 from then on."""
        left = iter(sizes)
        return tf.data.Dataset.from_generator(lambda: [7] * next(left, 9), tf.int32, ())  # noqa: F821

    def elements(dataset):
        iterator = iter(dataset)
        found = []
        while len(found) < 60:
            try:
                found.append(plain(next(iterator)))
            except StopIteration:
                break
            except Exception:
                found.append("error")
        return found

    results = {}
    for source in pipelines:
        data = tf.data  # noqa: F821 (of the process it runs in)
        names = {"tf": tf, "np": np, "D": data.Dataset, "R": data.TFRecordDataset}  # noqa: F821
        names |= {"collections": collections, "Pair": collections.namedtuple("Pair", "x y")}
        names["EPOCHS"] = epochs
        names |= {"files": files[:-1], "examples": files[-1]}
        names["make_tf_record_dataset"] = getattr(data.experimental, "make_tf_record_dataset", None)
        if names["make_tf_record_dataset"] is None:  # TensorFlow does not export it
            from tensorflow.python.data.experimental.ops import readers

            names["make_tf_record_dataset"] = readers.make_tf_record_dataset
        try:
            dataset = eval(source, names)
            first = elements(dataset)
            results[source] = (first, elements(dataset), int(dataset.cardinality()))
        except Exception as error:
            results[source] = type(error).__name__
    return results


PIPELINES = """
D.range(5)
D.range(2, 9, 3)
D.range(9, 2, -3)
D.range(3, output_type=tf.int32)
D.from_tensors([1, 2])
D.from_tensor_slices([1, 2, 3])
D.from_tensor_slices([1.5, 2])
D.from_tensor_slices([np.float64(1.5), 2])
D.from_tensor_slices([1.5, np.float64(2)])
D.from_tensor_slices([-1, 2**63])
D.from_tensor_slices([[1], [2**63]])
D.from_tensor_slices([1, 2.5, 2**63])
D.from_tensor_slices([1.5, 2**63])
D.from_tensor_slices([1, 1e30, -np.inf, np.nan]).take(3)
D.from_tensor_slices(["a", b"bc"])
D.from_tensor_slices([True, False])
D.from_tensor_slices([[1, 2], [3, 4]])
D.from_tensor_slices(([1, 2], {"b": [3, 4], "a": ["x", "y"]}))
D.from_tensor_slices(np.arange(6, dtype=np.uint8).reshape(3, 2))
D.from_tensor_slices(([1, 2], [1, 2, 3]))
D.from_tensor_slices(1)
D.range(10).batch(3)
D.range(10).batch(3, drop_remainder=True)
D.range(10).batch(5).batch(2)
D.range(0).batch(3)
D.range(3).batch(0)
D.range(10).batch(4).unbatch()
D.from_tensor_slices(["a", "b", "c"]).batch(2)
D.from_tensor_slices(([1, 2, 3], ["x", "y", "z"])).batch(2)
D.from_tensor_slices({"a": [1, 2, 3]}).batch(2).unbatch()
D.range(5).map(lambda x: x * x)
D.range(5).map(lambda x: x * x, num_parallel_calls=2)
D.range(5).map(lambda x: (x, x + 1)).map(lambda a, b: a * b)
D.range(3).map(lambda x: [x, x + 1])
D.range(3).map(lambda x: {"a": x, "b": 2})
D.range(3).map(lambda x: {"a": [1, 2], "b": 2.5})
D.range(3).map(lambda x: (x, (x, "s")))
D.range(3).map(lambda x: True)
D.from_tensor_slices(([1, 2], [3, 4])).map(lambda *args: args[1])
D.from_tensors((1, (2, 3))).map(lambda a, b: b)
D.from_tensors({"a": 1}).map(lambda d: d["a"])
D.range(10).filter(lambda x: x % 3 == 0)
D.from_tensor_slices(([1, 2], [3, 2])).filter(lambda a, b: a < b)
D.range(4).enumerate()
D.range(4).enumerate(start=5)
D.from_tensor_slices(([1, 2], [3, 4])).enumerate()
D.range(3).repeat(2)
D.range(3).repeat(0)
D.range(3).repeat().take(7)
D.range(0).repeat()
D.range(5).repeat(2).batch(3)
D.range(5).batch(3).repeat(2)
D.range(10).take(3)
D.range(10).take(-1)
D.range(10).take(20)
D.range(10).skip(3)
D.range(10).skip(-1)
D.range(10).skip(20)
D.range(10).skip(2).take(5).shard(2, 1)
D.range(10).shard(3, 1).skip(1).take(2)
D.range(10).shard(3, 3)
D.range(10).shard(0, 0)
D.range(10).shard(3, -1)
D.range(10).take(7).repeat(2).skip(3).batch(4)
D.range(3).concatenate(D.range(5, 7))
D.range(3).prefetch(2)
D.range(3).prefetch(tf.data.AUTOTUNE)
D.range(3).cache()
D.range(3).cache().repeat(2)
D.range(6).shuffle(1)
D.range(6).shuffle(1, seed=3).repeat(2)
EPOCHS(2, 0, 0, 2, 0, 1).repeat().take(9)
EPOCHS(2, 0, 0, 2, 0, 1).shuffle(9).repeat().take(9)
EPOCHS(2, 0, 0, 2, 0, 1).shuffle(9, reshuffle_each_iteration=False).repeat().take(9)
EPOCHS(2, 0, 0, 2, 0, 1).shuffle(9).repeat(4)
EPOCHS(2, 0, 0, 2, 0, 1).apply(tf.data.experimental.shuffle_and_repeat(9)).take(9)
EPOCHS(2, 0, 0, 2, 0, 1).shuffle(9).prefetch(1).repeat().take(9)
EPOCHS(0, 2, 3).shuffle(9).repeat().take(9)
D.zip((D.range(3), D.range(5, 7)))
D.zip(D.range(3), D.range(5, 7))
D.zip({"a": D.range(2), "b": (D.range(3), D.range(4))})
D.zip(D.range(3))
D.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()
D.from_tensor_slices(["a", "", "a", "b"]).unique()
D.range(8).batch(3).padded_batch(2).ragged_batch(3)
D.from_tensor_slices(tf.SparseTensor([[0, 0], [2, 1]], [1, 2], [4, 2])).ragged_batch(3)
D.range(7).group_by_window(lambda x: x % 2, lambda key, group: group.batch(3), 3)
D.range(9).group_by_window(lambda x: x % 3 - 1, lambda key, group: group.batch(2), window_size_func=lambda key: key + 2)
D.range(7).group_by_window(lambda x: x % 2, lambda key, group: group.map(lambda x: (key, x)), 2)
D.range(7).group_by_window(lambda x: x % 2, lambda key, group: group.filter(lambda x: x > 3).repeat(2), 2)
D.range(7).group_by_window(lambda x: x % 2, lambda key, group: group.batch(2), 0)
D.range(7).group_by_window(lambda x: x % 2, lambda key, group: group.batch(2))
D.range(7).group_by_window(lambda x: x % 2, lambda key, group: group.batch(2), 2, window_size_func=lambda key: 2)
D.range(0).group_by_window(lambda x: x % 2, lambda key, group: group.batch(2), 2)
D.range(1, 7).map(lambda n: tf.constant([5, 6, 7, 8, 9, 3, 4, 2])[:n]).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 5], [2, 2, 1])
D.range(1, 5).map(lambda n: tf.constant([5, 6, 7, 8, 9, 3, 4, 2])[:n]).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 5], [2, 2, 1], pad_to_bucket_boundary=True)
D.range(1, 8).map(lambda n: tf.constant([5, 6, 7, 8, 9, 3, 4, 2])[:n]).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2], drop_remainder=True)
D.range(1, 8).map(lambda n: tf.constant([5, 6, 7, 8, 9, 3, 4, 2])[:n]).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2], [2, 3], no_padding=True)
D.range(1, 8).map(lambda n: {"a": tf.constant([5, 6, 7, 8, 9, 3, 4, 2])[:n], "b": n}).bucket_by_sequence_length(lambda x: tf.shape(x["a"])[0], [3], [2, 3], padding_values={"a": -1, "b": tf.constant(0, tf.int64)})
D.range(1, 8).bucket_by_sequence_length(lambda x: x, [3], [2])
D.range(3).flat_map(lambda x: D.range(x))
D.range(1, 6).interleave(lambda x: D.from_tensors(x).repeat(3), cycle_length=2)
D.range(1, 6).interleave(lambda x: D.from_tensors(x).repeat(6), cycle_length=2, block_length=4)
D.range(1, 6).interleave(lambda x: D.range(x), cycle_length=3, block_length=2)
D.range(1, 6).interleave(lambda x: D.range(x % 3), cycle_length=2, block_length=1)
D.range(5).interleave(lambda x: D.range(x), cycle_length=4, num_parallel_calls=2)
D.range(4).interleave(lambda x: D.range(0), cycle_length=2)
D.range(3).interleave(lambda x: D.range(x), cycle_length=0)
D.range(6).interleave(lambda x: D.from_tensors(x).repeat(3))
D.range(6).interleave(lambda x: D.from_tensors(x).repeat(3), cycle_length=tf.data.AUTOTUNE, block_length=2)
D.range(6).interleave(lambda x: D.from_tensors(x).repeat(3), num_parallel_calls=1)
D.range(6).interleave(lambda x: D.from_tensors(x).repeat(3), num_parallel_calls=tf.data.AUTOTUNE)
D.range(6).interleave(lambda x: D.from_tensors(x).repeat(3), cycle_length=None, num_parallel_calls=0)
D.from_tensor_slices(files).interleave(R, num_parallel_calls=tf.data.AUTOTUNE)
D.range(7).window(3).flat_map(lambda w: w.batch(3))
D.range(7).window(3, drop_remainder=True).flat_map(lambda w: w.batch(3))
D.range(7).window(3, shift=1).flat_map(lambda w: w.batch(3))
D.range(7).window(2, shift=1, stride=2, drop_remainder=True).flat_map(lambda w: w.batch(2))
D.range(9).window(2, shift=4).flat_map(lambda w: w.batch(2))
D.range(9).window(3, shift=2, stride=3).flat_map(lambda w: w.batch(3))
D.from_tensor_slices(([1, 2, 3], [4, 5, 6])).window(2).flat_map(lambda a, b: D.zip((a, b)))
D.range(1, 5).map(lambda x: tf.one_hot(x, 4)).batch(2)
D.range(1, 4).flat_map(lambda n: D.range(n).batch(3)).padded_batch(2)
D.range(1, 4).flat_map(lambda n: D.range(n).batch(3)).padded_batch(2, padded_shapes=[5])
D.range(1, 4).flat_map(lambda n: D.range(n).batch(3)).padded_batch(2, padded_shapes=[None], padding_values=np.int64(-1))
D.range(1, 4).flat_map(lambda n: D.range(n).batch(3)).padded_batch(2, drop_remainder=True)
D.range(1, 4).flat_map(lambda n: D.range(n).batch(3)).map(lambda x: (x, 7)).padded_batch(2, padded_shapes=([None], []))
D.range(1, 4).flat_map(lambda n: D.range(n).batch(3)).padded_batch(2, padded_shapes=[2])
D.range(1, 4).flat_map(lambda n: D.range(n).batch(3)).batch(2)
D.range(1, 4).flat_map(lambda n: D.range(n).batch(3)).ragged_batch(2)
D.range(1, 4).flat_map(lambda n: D.range(n).batch(3)).ragged_batch(2, False, tf.int32)
D.range(1, 4).flat_map(lambda n: D.range(n).batch(3)).ragged_batch(2).ragged_batch(2, row_splits_dtype=tf.int32)
D.range(1, 4).flat_map(lambda n: D.range(n).batch(3)).unbatch()
D.range(10).batch(4).rebatch(3)
D.range(10).apply(lambda d: d.take(2))
D.range(10).batch(4).apply(tf.data.experimental.unbatch())
D.range(5).scan(np.int64(0), lambda s, x: (s + x, s))
D.range(5).take_while(lambda x: x < 3)
D.from_tensors(D.range(5).reduce(np.int64(0), lambda s, x: s + x))
D.from_tensors(D.range(4).get_single_element())
D.from_generator(lambda: [1, 2], output_types=tf.int32)
D.from_generator(lambda: [(1, "a")], output_signature=(tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.string)))
D.from_generator(lambda n: range(n), output_types=tf.float32, args=(3,))
D.choose_from_datasets([D.range(3), D.range(10, 20)], D.from_tensor_slices(np.int64([0, 1, 1, 0])))
D.counter(3, 2).take(3)
D.from_tensor_slices(collections.OrderedDict(b=[1, 2], a=["x", "y"]))
D.from_tensor_slices(collections.OrderedDict(b=[1, 2], a=["x", "y"])).batch(2)
D.from_tensor_slices(collections.OrderedDict(b=[1, 2], a=["x", "y"])).padded_batch(2)
D.from_tensor_slices(collections.OrderedDict(b=[1, 2], a=["x", "y"])).batch(2).unbatch()
D.from_tensors(collections.defaultdict(list, b=[1, 2], a="x")).repeat(2)
D.range(2).map(lambda x: collections.OrderedDict(b=1, a="s")).batch(2)
D.range(2).map(lambda x: collections.OrderedDict(b=(1, 2.5), a={"c": [1, 2]})).batch(2)
D.range(2).map(lambda x: Pair(x, "s")).batch(2).unbatch().enumerate()
D.from_tensor_slices(Pair([1, 2], ["a", "b"])).padded_batch(2)
D.zip(Pair(D.range(3), D.range(2)))
D.zip(collections.OrderedDict(b=D.range(3), a=(D.range(2), Pair(D.range(4), D.range(5)))))
D.from_tensor_slices({"t": ["a", "bc"], "n": [1, 2]}).padded_batch(2)
D.zip((D.range(3), D.from_tensor_slices({"a": [[1], [2], [3]]}))).padded_batch(2, ((), {"a": [3]}), (np.int64(1), None))
D.from_tensor_slices({"a": [[1], [2]], "b": ([[3], [4]], [["s"], ["t"]])}).padded_batch(2, {"a": [2], "b": ([3], [2])}, {"a": 9, "b": None})
D.from_tensor_slices(([[1], [2]], ([[3], [4]], [["s"], ["t"]]))).padded_batch(2, ([2], ([3], [2])), (None, None))
D.from_tensors("text").padded_batch(1)
D.from_tensor_slices([["a", "b"], ["c", "d"]]).padded_batch(2, padded_shapes=[3], padding_values="-")
D.range(1).concatenate(D.from_tensor_slices([1.5]))
D.range(1).concatenate(D.range(1, output_type=tf.int32))
D.from_tensors({"a": 1}).concatenate(D.from_tensors({"b": 1}))
D.from_tensors({"a": 1}).concatenate(D.from_tensors({"a": 1, "b": 1}))
D.from_tensors((1, 2)).concatenate(D.from_tensors(Pair(1, 2)))
D.from_tensors((1, 2)).concatenate(D.from_tensors((1, 2, 3)))
D.from_tensors([1, 2]).concatenate(D.from_tensors([1]))
D.from_tensors([1, 2]).concatenate(D.from_tensors("a"))
D.from_tensors(1).concatenate(D.from_tensors(2)).concatenate(D.from_tensors(True))
D.range(0).repeat().concatenate(D.range(2))
D.range(3).filter(lambda x: x > 9).repeat()
D.range(3).filter(lambda x: x > 9).repeat(2)
D.range(6).window(3, 1)
D.range(6).window(2, 1, 2, drop_remainder=True)
D.choose_from_datasets([D.range(1), D.range(10, 13)], D.from_tensor_slices(np.int64([0, 0, 0, 1, 1, 0, 1])))
D.choose_from_datasets([D.range(1), D.range(10, 13)], D.from_tensor_slices(np.int64([0, 0, 0, 1, 1, 0, 1])), stop_on_empty_dataset=False)
D.choose_from_datasets([D.range(1), D.range(10, 13)], D.range(2).repeat(), stop_on_empty_dataset=False)
D.choose_from_datasets([D.range(20, 30), D.range(10, 20)], D.from_tensor_slices(np.int64([0, -1, 1])))
D.choose_from_datasets([D.range(20, 30), D.range(10, 20)], D.from_tensor_slices(np.int64([0, 2, 1])))
D.choose_from_datasets([D.range(2), D.from_tensor_slices([1.5])], D.range(2))
D.choose_from_datasets([], D.range(0))
D.sample_from_datasets([D.range(2), D.from_tensor_slices([1.5])])
D.sample_from_datasets([])
D.sample_from_datasets([D.range(2), D.range(3)], [1.0])
D.sample_from_datasets([D.range(3), D.range(9)], [1.0, 0.0])
D.from_generator(lambda: [{"a": 1, "b": 2}], output_types={"a": tf.int64})
D.from_generator(lambda: [{"a": 1}], output_types={"a": tf.int64, "b": tf.int64})
D.from_generator(lambda: [1, "a", 3], output_types=tf.int64)
R(files)
R(files[0]).batch(2)
R(files).batch(4)
R(files).batch(4, drop_remainder=True)
R(files).take(6).batch(4)
R(files).skip(6).batch(4)
R(files).skip(3).take(8).batch(4)
R(files).shard(3, 1)
R(files).shard(3, 1).batch(2)
R(files).shard(2, 0).shard(2, 1).batch(2)
R(files).take(9).shard(2, 1).skip(1).batch(3)
R(files).skip(1).shard(3, 2).take(2).batch(5)
R(files).repeat(2)
R(files).repeat(2).batch(4)
R(files).batch(4).repeat(2)
R(files).repeat().take(30).batch(7)
R(files).repeat(3).skip(20).batch(5)
R(files).take(3).repeat(2).batch(4)
R(files).repeat(2).take(0).batch(4)
R(files).take(-1).skip(-1).batch(4)
R(files).shuffle(1).batch(4)
R(files).shuffle(1).repeat(2).batch(5)
R(files).batch(4).unbatch()
R(files).batch(2).batch(3)
R(files).map(lambda r: (r, 1)).batch(3)
R(files).enumerate().skip(10)
R(files, num_parallel_reads=2)
R(files, num_parallel_reads=3).batch(4)
R(D.from_tensor_slices(files))
R([])
D.from_tensor_slices(files).interleave(R, cycle_length=2)
D.from_tensor_slices(files).interleave(R, cycle_length=2, block_length=3).batch(5)
D.from_tensor_slices(files).interleave(lambda f: R(f), cycle_length=3).batch(5)
D.from_tensor_slices(files).interleave(lambda f: R(f).take(2), cycle_length=3).batch(5)
D.from_tensor_slices(files).interleave(lambda f: R(f).skip(1).map(lambda r: (r, 0)), cycle_length=4, block_length=2)
D.from_tensor_slices(files).batch(2).interleave(R, cycle_length=2)
D.from_tensor_slices(files).repeat(2).flat_map(R).batch(10)
D.from_tensor_slices(files).shard(2, 1).flat_map(R)
D.list_files(files, shuffle=False).flat_map(R).take(5)
D.list_files("nothing*", shuffle=False)
R(files).ignore_errors()
D.zip((R(files), D.range(6))).batch(4)
R(files).concatenate(R(files[0])).batch(6)
D.range(4).map(lambda x: tf.io.decode_raw("abcd", tf.uint8))
""".strip().split("\n")

SPEC = (
    "{'a': tf.io.FixedLenFeature([], tf.int64), 'v': tf.io.VarLenFeature(tf.int64), 'r': tf.io.RaggedFeature(tf.float32),"
    " 's': tf.io.FixedLenFeature([2], tf.string, default_value=['x', 'y']),"
    " 'q': tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}"
)
SINGLE = f"lambda r: tf.io.parse_single_example(r, {SPEC})"
BATCH = f"lambda r: tf.io.parse_example(r, {SPEC})"
NO_RAGGED = "lambda d: {k: v for k, v in d.items() if k != 'r'}"
EXAMPLES = [
    line.replace("SINGLE", SINGLE).replace("BATCH", BATCH).replace("SPEC", SPEC).replace("NO_RAGGED", NO_RAGGED)
    for line in """
R(examples).map(SINGLE)
R(examples).map(SINGLE).map(lambda d: {"v": d["v"], "a": d["a"], "s": d["s"]}).batch(3)
R(examples).map(SINGLE).map(lambda d: d["v"]).batch(2).batch(2)
R(examples).map(SINGLE).map(lambda d: d["v"]).batch(4).unbatch()
R(examples).map(SINGLE).map(lambda d: tf.sparse.to_dense(d["v"])).padded_batch(3)
R(examples).map(SINGLE).map(lambda d: (d["q"], d["a"])).padded_batch(3, padded_shapes=([None], []), padding_values=(np.int64(-1), np.int64(0)))
R(examples).map(SINGLE).map(lambda d: {"q": d["q"], "a": d["a"]}).padded_batch(2)
R(examples).map(SINGLE).map(lambda d: d["q"]).batch(2)
R(examples).map(SINGLE).map(lambda d: d["q"]).ragged_batch(2)
R(examples).batch(4).map(BATCH)
R(examples).batch(4).map(BATCH).unbatch()
R(examples).batch(4).map(BATCH).map(lambda d: d["r"]).unbatch().ragged_batch(3)
R(examples).batch(4).map(BATCH).map(NO_RAGGED).unbatch().batch(3)
R(examples).batch(4).map(BATCH, num_parallel_calls=2).prefetch(1)
R(examples).batch(4).map(BATCH).map(lambda d: (d["a"], d["v"])).filter(lambda a, v: a[0] > 3)
R(examples).batch(4).apply(tf.data.experimental.parse_example_dataset(SPEC))
R(examples).map(SINGLE).filter(lambda d: d["a"] % 2 == 0).map(lambda d: d["a"]).repeat(2).batch(3)
D.from_tensor_slices(next(iter(R(examples).batch(20).map(BATCH)))).map(lambda d: d["v"]).batch(3)
tf.data.experimental.make_batched_features_dataset(examples, 4, SPEC, shuffle=False, num_epochs=1)
tf.data.experimental.make_batched_features_dataset(examples, 4, SPEC, shuffle=False, num_epochs=2, drop_final_batch=True)
tf.data.experimental.make_batched_features_dataset(examples, 4, SPEC, label_key="a", shuffle=False).take(5)
tf.data.experimental.make_batched_features_dataset([examples, examples], 4, SPEC, shuffle=False, num_epochs=1, reader_num_threads=2)
tf.data.experimental.make_batched_features_dataset(examples, 4, SPEC, label_key="nope")
tf.data.experimental.make_batched_features_dataset("nothing*", 4, SPEC)
make_tf_record_dataset(files, 4, shuffle=False, num_epochs=1)
make_tf_record_dataset(files, 4, shuffle=False, num_parallel_reads=2).take(5)
make_tf_record_dataset(files, 4, parser_fn=lambda r: (r, 1), shuffle=False, num_epochs=2, drop_final_batch=True)
""".strip().split("\n")
]

# If some element raises, the element is lost, and those after it come; a batch that it falls into is lost.
ERRORS_HERE = {
    "map": "D.range(6).map(fail)",
    "map in threads": "D.range(6).map(fail, num_parallel_calls=2)",
    "batch": "D.range(6).map(fail).batch(2)",
    "prefetch": "D.range(6).map(fail).prefetch(2)",
    "ignored": "D.range(6).map(fail).ignore_errors()",
    "ignored as a function": "D.range(6).map(fail).apply(tf.data.experimental.ignore_errors())",
    "ignored batch": "D.range(6).map(fail).batch(2).ignore_errors()",
    "take": "D.range(6).map(fail).take(4)",
    "skip": "D.range(6).map(fail).skip(1)",
    "filter": "D.range(6).map(fail).filter(lambda x: x > 0)",
    "enumerate": "D.range(6).map(fail).enumerate()",
    "repeat": "D.range(4).map(fail).repeat(2)",
    "interleave": "D.range(3).interleave(lambda x: D.range(4).map(fail), cycle_length=2)",
    "interleave blocks": "D.range(3).interleave(lambda x: D.range(4).map(fail), cycle_length=2, block_length=2)",
    "interleave over": "D.range(6).map(fail).interleave(lambda x: D.range(2), cycle_length=2)",
    "interleave to open": "D.range(6).interleave(lambda x: D.range(fail(x)), cycle_length=2)",
    "flat_map": "D.range(3).flat_map(lambda x: D.range(4).map(fail))",
    "flat_map over": "D.range(6).map(fail).flat_map(lambda x: D.range(2))",
    "flat_map to open": "D.range(6).flat_map(lambda x: D.range(fail(x)))",
    "batch of 3": "D.range(6).map(fail).batch(3)",
    "batch of 4": "D.range(6).map(fail).batch(4, drop_remainder=True)",
    "batch whose shapes differ": "D.range(6).flat_map(lambda n: D.range(1 + tf.cast(n == 2, tf.int64)).batch(3)).batch(2)",
    "padded_batch": "D.range(6).map(fail).padded_batch(2)",
    "padded_batch of 4": "D.range(6).map(fail).padded_batch(4)",
    "ragged_batch": "D.range(6).map(fail).ragged_batch(2)",
    "unbatch": "D.range(6).map(fail).map(lambda x: tf.stack([x, x])).unbatch()",
    "rebatch": "D.range(6).map(fail).batch(2).rebatch(3)",
    "filter itself": "D.range(6).filter(lambda x: fail(x) != 1)",
    "take_while": "D.range(6).map(fail).take_while(lambda x: x < 4)",
    "take_while itself": "D.range(6).take_while(lambda x: fail(x) < 4)",
    "take of less": "D.range(6).map(fail).take(2)",
    "take of all": "D.range(6).map(fail).take(6)",
    "shuffle": "D.range(6).map(fail).shuffle(1)",
    "cache": "D.range(6).map(fail).cache()",
    "cache repeated": "D.range(4).map(fail).cache().repeat(3)",
    "scan": "D.range(6).map(fail).scan(np.int64(0), lambda s, x: (s + x, s + x))",
    "scan itself": "D.range(6).scan(np.int64(0), lambda s, x: (s + x, s + fail(x)))",
    "concatenate": "D.range(4).map(fail).concatenate(D.range(4).map(fail))",
    "zip first": "D.zip(D.range(6).map(fail), D.range(10))",
    "zip second": "D.zip(D.range(10), D.range(6).map(fail))",
    "zip both": "D.zip(D.range(6).map(fail), D.range(6).map(fail))",
    "zip in turn": "D.zip(D.range(6).map(fail), D.range(3).concatenate(D.range(6).map(fail)))",
    "zip at the end": "D.zip(D.range(6).map(fail), D.range(2))",
    "zip at the end, before": "D.zip(D.range(2), D.range(6).map(fail))",
    "zip of a dict": "D.zip({'b': D.range(6).map(fail), 'a': (D.range(5), D.range(6))})",
    "choose": "D.choose_from_datasets([D.range(6).map(fail), D.range(9)], D.from_tensor_slices(np.int64([0, 1] * 4)))",
    "choose by": "D.choose_from_datasets([D.range(6), D.range(9)], D.range(6).map(fail).map(lambda x: x % 2))",
    "sample": "D.sample_from_datasets([D.range(6).map(fail), D.range(9)], [1.0, 0.0])",
    "generator": "D.from_generator(lambda: map(lambda x: 6 // x, range(-2, 3)), output_types=tf.int64)",
    "generator that ends": "D.from_generator(lambda: (6 // x for x in range(-2, 3)), output_types=tf.int64)",
    "window of 2": "D.range(6).map(fail).window(2).flat_map(lambda w: w.batch(9))",
    "window of 3": "D.range(6).map(fail).window(3).flat_map(lambda w: w.batch(9))",
    "windows that overlap": "D.range(6).map(fail).window(3, 1).flat_map(lambda w: w.batch(9))",
    "windows that stride": "D.range(6).map(fail).window(2, 1, 2).flat_map(lambda w: w.batch(9))",
    "windows beside it": "D.range(6).map(fail).window(1, 3).flat_map(lambda w: w.batch(9))",
    "windows before it": "D.range(6).map(fail).window(2, 3).flat_map(lambda w: w.batch(9))",
    "whole windows": "D.range(6).map(fail).window(2, 1, drop_remainder=True).flat_map(lambda w: w.batch(9))",
    "batch of a filter": "D.range(12).filter(lambda x: fail(x) != 1).batch(3)",
    "batch of a cache": "D.range(12).map(fail).cache().batch(3, drop_remainder=True)",
    "padded_batch that is too small": "D.range(1, 5).map(lambda n: tf.constant([1, 2, 3, 4])[:n]).padded_batch(1, padded_shapes=[2])",
    "unique": "D.range(6).map(fail).map(lambda x: x // 2).unique()",
    "groups": "D.range(6).map(fail).group_by_window(lambda x: x % 2, lambda key, group: group.batch(2), 2)",
    "groups by": "D.range(6).group_by_window(lambda x: fail(x) % 2, lambda key, group: group.batch(2), 2)",
    "groups of": "D.range(6).group_by_window(lambda x: x % 2, lambda key, group: group.map(fail).batch(2), 2)",
    "zip ignored": "D.zip(D.range(6).map(fail), D.range(10)).ignore_errors()",
    "everything": "D.zip(D.range(9).map(fail).cache(), D.range(9)).enumerate().window(2, 1).flat_map(lambda i, e: D.zip(i, D.zip(*e))).prefetch(1).take(9)",
}
UNSEEN = {"take of less", "windows beside it", "windows before it", "zip at the end, before"}
FAIL = "lambda x: tf.reshape(x, [1 + tf.cast(x == 2, tf.int32)])[0]"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("semantics")
    paths = [str(folder / f"{number}.tfrecord") for number in range(len(SIZES))]
    for number, (path, size) in enumerate(zip(paths, SIZES, strict=True)):
        with tfrecord_fast.io.TFRecordWriter(path) as writer:
            writer.write_batch([b"%d.%d" % (number, record) for record in range(size)])
    return paths


@pytest.fixture(scope="module")
def examples(files):
    """A file of Examples whose lists differ in length."""
    path = files[0].replace("0.tfrecord", "examples.tfrecord")
    with tfrecord_fast.io.TFRecordWriter(path) as writer:
        for i in range(9):
            values = {"a": i, "v": np.arange(i % 4), "r": np.arange(i % 3) / 2, "q": np.arange(i % 5)}
            values |= {"s": [f"{i}", ""]} if i % 2 else {}
            writer.write(tfrecord_fast.train.example(values).SerializeToString())
    return path


def run_here(pipelines, files):
    names = dict(run_all.__globals__)
    function = type(run_all)(run_all.__code__, {**names, "tf": tfrecord_fast, "np": np})
    return function(pipelines, files)


@pytest.fixture(scope="module")
def theirs(files, examples):
    errors = [source.replace("fail", f"({FAIL})") for source in ERRORS_HERE.values()]
    return live_tensorflow.call(run_all, PIPELINES + EXAMPLES + errors, [*files, examples])


@pytest.mark.parametrize("source", PIPELINES + EXAMPLES)
def test_a_pipeline_gives_what_tensorflow_gives(source, theirs, files, examples):
    ours = run_here([source], [*files, examples])[source]
    expected = theirs[source]
    if isinstance(expected, str):
        assert isinstance(ours, str), f"TensorFlow raises {expected}"
        return
    assert not isinstance(ours, str), ours
    assert ours[0] == expected[0]
    assert ours[1] == expected[1]  # iterated again
    known = len(ours[0]) if expected[2] == -2 and ours[2] != -2 else expected[2]  # more than TensorFlow, or the same
    assert ours[2] == known


@pytest.mark.parametrize("case", ERRORS_HERE)
def test_an_error_takes_the_place_of_its_element(case, theirs, files):
    source = ERRORS_HERE[case].replace("fail", f"({FAIL})")
    ours = run_here([source], files)[source]
    assert ("error" in ours[0]) != (case in UNSEEN or "ignored" in case)
    assert ours[:2] == tuple(theirs[source][:2])
