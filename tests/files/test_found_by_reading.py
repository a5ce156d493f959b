"""Faults that a reading of the code found: each gave wrong data without a word, or lost a resource."""

import copy
import os
import pickle
from datetime import datetime
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.files.naming.byte_range import FilePart
from tfrecord_fast.files.stores import find_store
from tfrecord_fast.files.stores.object_store import ObjectStore
from tfrecord_fast.files.streams.fetching import Fetching


def write(path, rows, **columns):
    with tf.ExampleWriter(path) as writer:
        writer.write({name: make(np.arange(rows)) for name, make in columns.items()})
    return str(path)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_plans_that_come_and_go_do_not_take_each_others_columns(tmp_path, threads):
    """Batches are parsed ahead by a plan that is learnt; another one may be made at its address once it is gone."""
    path = write(tmp_path / "f.tfrecord", 3000, a=lambda i: i, b=lambda i: i + 1_000_000, c=lambda i: i * 0.5)
    kinds = {"a": tf.int64, "b": tf.int64, "c": tf.float32}
    first = 0
    for number, batch in enumerate(tf.ShardReader([path], batch_size=3, num_threads=threads)):
        rows = np.arange(first, first + len(batch))
        expected = {"a": rows, "b": rows + 1_000_000, "c": (rows * 0.5).astype(np.float32)}
        for names in (["a"], ["b"], ["c", "a"], ["a", "b", "c"])[number % 2 :]:
            parsed = tf.parse_example(batch, {name: tf.io.FixedLenFeature([], kinds[name]) for name in names})
            for name in names:
                assert parsed[name].dtype == expected[name].dtype and parsed[name].tolist() == expected[name].tolist()
        first += len(batch)
    assert first == 3000


@pytest.mark.parametrize("equal", ["pad", "drop"])
def test_equal_parts_are_the_same_in_any_order(tmp_path, equal):
    paths = [
        write(tmp_path / f"{n}.tfrecord", rows, a=lambda i, n=n: i + 1000 * n) for n, rows in enumerate((70, 90, 50))
    ]
    features = {"a": tf.io.FixedLenFeature([], tf.int64)}

    def records(part, deterministic):
        given = {"batch_size": 8, "num_threads": 4, "equal_shards": equal, "deterministic": deterministic}
        reader = tf.ShardReader(paths, features, shard=(part, 2), **given)
        return sorted(int(one) for batch in reader for one in batch["a"])

    for part in range(2):
        for _ in range(5):
            assert records(part, False) == records(part, True)


# ---- SparseTensors that are not in order ----


def unordered():
    return tf.SparseTensor([[1, 0], [0, 0]], [10, 20], [2, 1])


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda: list(tf.data.Dataset.from_tensor_slices(unordered())), id="from_tensor_slices"),
        pytest.param(lambda: list(tf.data.Dataset.from_tensors(unordered()).unbatch()), id="unbatch"),
        pytest.param(lambda: unordered().row_splits, id="row_splits"),
        pytest.param(lambda: pytest.importorskip("pyarrow").array(unordered()), id="Arrow"),
    ],
)
def test_a_sparse_tensor_out_of_order_gives_no_rows(use):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = \[0, 0\] is out of order"):
        use()


def test_a_sparse_tensor_in_order_has_its_rows():
    rows = tf.data.Dataset.from_tensor_slices(tf.SparseTensor([[0, 1], [2, 0]], [10, 20], [3, 2]))
    assert [row.values.tolist() for row in rows] == [[10], [], [20]]


# ---- Structures ----


@pytest.mark.parametrize("nothing", [{"w": None}, (None,), {}, (), {"w": {"v": None}}])
def test_parts_without_values_have_as_many_rows_as_the_others(nothing):
    numbers = np.arange(3)
    for dataset in (
        tf.data.Dataset.from_tensors((numbers, nothing)).unbatch(),
        tf.data.Dataset.from_tensors({"n": numbers, "x": nothing}).unbatch().map(lambda row: (row["n"], row["x"])),
    ):
        assert [(int(number), rest) for number, rest in dataset] == [(n, nothing) for n in range(3)]
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(tf.data.Dataset.from_tensors(nothing).unbatch())


# ---- Files ----


def test_a_directory_bucket_is_listed_to_its_end():
    """Its keys come in no order: one that is past the pattern says nothing of the next."""

    class Library:
        def list(self, store, prefix, offset, chunk_size):
            assert offset is None or prefix != "d/train-"
            keys = ("d/val-0", "d/train-1", "d/zzz", "d/train-0")
            return iter([[{"path": key, "size": 1, "e_tag": "x", "last_modified": datetime.now()} for key in keys]])

    store = object.__new__(ObjectStore)
    store._library, store._patient, store._kind, store._base = Library(), None, "S3", "s3://b--x-s3"
    store._is_express = True
    assert [info.url for info in store.list("d/train-")] == ["s3://b--x-s3/d/train-1", "s3://b--x-s3/d/train-0"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not list descriptors")
def test_a_shuffle_on_disk_keeps_no_descriptors(tmp_path):
    from tfrecord_fast.cli.app import main

    path = write(tmp_path / "f.tfrecord", 20_000, a=lambda i: i)
    main(["shuffle", path, str(tmp_path / "warm.tfrecord"), "--seed", "1"])
    before = len(os.listdir("/proc/self/fd"))
    assert main(["shuffle", path, str(tmp_path / "out.tfrecord"), "--seed", "1", "--memory", "100kB"]) == 0
    assert len(os.listdir("/proc/self/fd")) <= before


@pytest.mark.parametrize("seed", range(5))
def test_records_before_damage_are_of_the_same_order_of_files(tmp_path, seed):
    """A batch that can't be made is made anew of its records up to the damage, whatever order is drawn next."""
    for number in range(4):
        with tf.io.TFRecordWriter(tmp_path / f"{number}.tfrecord") as writer:
            for record in range(10):
                writer.write(b"%d-%d" % (number, record))
    damaged = tmp_path / "2.tfrecord"
    data = bytearray(damaged.read_bytes())
    data[-10] ^= 1  # in its last record
    damaged.write_bytes(data)
    names = tf.data.Dataset.list_files(f"{tmp_path}/*.tfrecord", seed=seed)
    order = [os.path.basename(name)[:1] for name in tf.data.Dataset.list_files(f"{tmp_path}/*.tfrecord", seed=seed)]
    good = [b"%s-%d" % (file, record) for file in order for record in range(10)][: 10 * order.index(b"2") + 9]
    taken = [record for batch in tf.data.TFRecordDataset(names).take(len(good)).batch(7) for record in batch]
    assert taken == good


@pytest.mark.parametrize("length_first", [True, False])
def test_only_lengths_that_vary_are_padded_to_the_boundary_of_a_bucket(length_first):
    def element(n):
        rows = np.ones((int(n), 3), np.float32)
        return rows if length_first else rows.T

    bucketed = (
        tf.data.Dataset.range(1, 5)
        .map(element)
        .bucket_by_sequence_length(
            lambda one: one.shape[0 if length_first else 1], [5], [2, 2], pad_to_bucket_boundary=True
        )
    )
    shape = (2, 4, 3) if length_first else (2, 3, 4)
    assert [(batch.shape, float(batch.sum())) for batch in bucketed] == [(shape, 9.0), (shape, 21.0)]


STEPS = [[[1, 2], [], [3]], [], [[4], [5, 6]]]


def a_feature_list():
    records = tf.encode_sequence_examples({}, {"a": STEPS})
    _, lists, _ = tf.parse_sequence_example(records, {}, {"a": tf.io.VarLenFeature(tf.int64)})
    return lists["a"]


def looked_at():
    tensor = a_feature_list()
    assert tensor.indices.shape == (6, 3)
    return tensor


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(a_feature_list, id="as parsed"),
        pytest.param(looked_at, id="with indices"),
        pytest.param(lambda: pickle.loads(pickle.dumps(looked_at())), id="pickled"),
        pytest.param(lambda: copy.copy(looked_at()), id="copied"),
        pytest.param(lambda: copy.deepcopy(looked_at()), id="copied deeply"),
        pytest.param(
            lambda: tf.SparseTensor(looked_at().indices, looked_at().values, looked_at().dense_shape), id="of its parts"
        ),
    ],
)
def test_a_sparse_feature_list_keeps_its_steps(made, tmp_path):
    expected = tf.encode_sequence_examples({}, {"a": STEPS})
    assert list(tf.encode_sequence_examples({}, {"a": made()})) == list(expected)
    dataset = tf.data.Dataset.from_tensors(made()).cache(str(tmp_path / "kept"))
    for _ in range(2):  # as it is made, and as it is read
        (tensor,) = dataset
        assert list(tf.encode_sequence_examples({}, {"a": tensor})) == list(expected)


@pytest.mark.parametrize("equal", [None, "drop", "pad"])
@pytest.mark.parametrize("parts", [2, 3])
def test_parts_of_files_are_counted_by_the_numbers_of_their_records(tmp_path, parts, equal):
    """Where records are divided, the number of a record is that in its whole file, within which a part begins."""
    path = write(tmp_path / "f.tfrecord", 40, a=lambda i: i)
    index = tf.IndexedReader(path)
    size = os.path.getsize(path) // 40
    assert len(index) == 40 and os.path.getsize(path) == 40 * size
    stamp = os.stat(path).st_mtime_ns
    cuts = [(1, 4), (4, 11), (17, 40)]
    files = [FilePart(path, 40 * size, stamp, a * size, b * size, a, b - a) for a, b in cuts]
    features = {"a": tf.io.FixedLenFeature([], tf.int64)}
    seen = []
    for part in range(parts):
        given = {"shard": (part, parts), "shard_by": "record", "batch_size": 1, "equal_shards": equal}
        reader = tf.ShardReader(files, features, **given)
        rows = [int(one) for batch in reader for one in batch["a"]]
        assert len(reader) == len(rows)
        seen += rows
    everything = [row for a, b in cuts for row in range(a, b)]
    assert sorted(seen) == everything if equal is None else len(seen) % parts == 0


def test_a_named_tuple_stays_one_in_torch():
    torch = pytest.importorskip("torch")
    from tfrecord_fast.integrations.torch import TFRecordIterableDataset

    numbers = tf.data.Dataset.range(4).map(lambda n: Pair(n, (n * 2, Pair(n, n)))).batch(2)
    for batch in torch.utils.data.DataLoader(TFRecordIterableDataset(numbers), batch_size=None):
        assert type(batch) is Pair and type(batch.y[1]) is Pair
        assert torch.equal(batch.y[0], batch.x * 2) and torch.equal(batch.y[1].x, batch.x)


def test_a_cached_copy_that_is_cut_off_is_no_copy(tmp_path):
    copied = tmp_path / "copy"
    copied.write_bytes(b"0123456789")
    cache = SimpleNamespace(open=lambda *given: os.open(copied, os.O_RDONLY))
    fetching = SimpleNamespace(_cache=cache, _settings=None)
    found = SimpleNamespace(url="s3://b/k", size=12, version="1", store=None, key="k")
    assert Fetching._kept(fetching, found, 2, 10) == b"23456789"
    assert Fetching._kept(fetching, found, 2, 12) is None


class Pair(NamedTuple):
    x: Any
    y: Any


@pytest.mark.parametrize("rank", [1, 2])
def test_the_first_element_of_a_generator_does_not_fix_the_length_of_a_bucket(rank):
    """Without a signature its shape is all that is known of the others."""
    elements = [np.ones((n, 3)[:rank], np.int32) for n in range(1, 5)]
    dataset = tf.data.Dataset.from_generator(lambda: elements, tf.int32)
    bucketed = dataset.bucket_by_sequence_length(len, [5], [2, 2], pad_to_bucket_boundary=True)
    assert [batch.shape for batch in bucketed] == [(2, 4, 3)[: rank + 1]] * 2


@pytest.mark.parametrize("bucket, ordered", [("b--x-s3", False), ("b", True)])
def test_a_directory_bucket_is_known_by_its_name(bucket, ordered):
    pytest.importorskip("obstore")
    store, _ = find_store(f"s3://{bucket}/k", {"anon": True, "region": "us-east-1"})
    assert store._is_express is not ordered
