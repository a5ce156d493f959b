"""What `integrations.torch` makes of columns: tensors of the right kind, without a copy, which may be written to."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch
from torch.utils.data import Dataset, IterableDataset

import tfrecord_fast as tf
from tests.support.paths import ROOT
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.integrations.torch import (
    Batch,
    LabelledBatch,
    SequenceBatch,
    TFRecordIterableDataset,
    TFRecordMapDataset,
)
from tfrecord_fast.integrations.torch.tensors import Choices, tensor_of

N = 5
LISTS = [[1, 2], [], [3], [4, 5, 6], []]
WORDS = [b"one", b"", b"three", b"fo", b"\x00"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("tensors") / "a.tfrecord")
    with tf.io.ExampleWriter(path) as writer:
        writer.write(
            {
                "i": np.arange(N),
                "f": np.arange(N, dtype=np.float32) / 4,
                "v": np.arange(N * 6, dtype=np.float32).reshape(N, 2, 3),
                "s": WORDS,
                "list": LISTS,
                "words": [WORDS[:k] for k in range(N)],
                "at": [[0, 3], [], [1], [9, 2], []],
                "val": [[0.5, 1.5], [], [2.5], [3.5, 4.5], []],
                "raw": [np.full(4, k, np.uint8).tobytes() for k in range(N)],
            }
        )
    return path


def batch(path, features, **given):
    return next(iter(TFRecordIterableDataset(path, features, **given)))


# ---- Kinds of datasets ----


def test_datasets_are_what_torch_calls_datasets():
    assert issubclass(TFRecordIterableDataset, IterableDataset) and issubclass(TFRecordMapDataset, Dataset)
    assert not issubclass(TFRecordMapDataset, IterableDataset)


@pytest.mark.parametrize("first", ["torch", "tfrecord_fast", "tfrecord_fast.integrations.torch"])
def test_the_order_of_imports_does_not_matter(first):
    code = f"import {first}, torch.utils.data as data, tfrecord_fast.integrations.torch as ours\n"
    code += "print(issubclass(ours.TFRecordIterableDataset, data.IterableDataset))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


# ---- Dense columns ----


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"])
def test_integers_keep_their_dtype(path, dtype):
    made = batch(path, {"i": tf.FixedLenFeature([], dtype)}, batch_size=2)["i"]
    assert made.dtype == getattr(torch, dtype) and made.tolist() == [0, 1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floats_keep_their_dtype(path, dtype):
    made = batch(path, {"f": tf.FixedLenFeature([], dtype)})["f"]
    assert made.dtype == getattr(torch, dtype) and made.tolist() == [0, 0.25, 0.5, 0.75, 1]


def test_shapes_are_kept(path):
    made = batch(path, {"v": tf.FixedLenFeature([2, 3], tf.float32)})["v"]
    assert torch.equal(made, torch.arange(N * 6.0).reshape(N, 2, 3))


def test_bytes_that_are_numbers_become_tensors(path):
    made = batch(path, {"raw": tf.FixedLenFeature([4], tf.uint8)})["raw"]
    assert torch.equal(made, torch.arange(N, dtype=torch.uint8)[:, None].expand(N, 4))


def test_a_tensor_is_over_the_columns_own_memory():
    column = np.arange(6.0)
    made = tensor_of(column, Choices("list", "jagged"), "x")
    assert made.data_ptr() == column.__array_interface__["data"][0]


def test_an_array_that_may_not_be_written_to_is_copied_without_a_warning():
    column = np.arange(6.0)
    column.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = tensor_of(column, Choices("list", "jagged"), "x")
    made += 1
    assert column[0] == 0


@pytest.mark.parametrize("column", [np.arange(6)[::-1], np.arange(6, dtype=">i4"), np.arange(12).reshape(3, 4).T])
def test_arrays_of_any_order_become_tensors(column):
    assert tensor_of(column, Choices("list", "jagged"), "x").tolist() == column.tolist()


# ---- Strings ----


def test_strings_are_lists_of_bytes(path):
    assert batch(path, {"s": tf.FixedLenFeature([], tf.string)})["s"] == WORDS


def test_strings_of_a_shape_are_nested_lists():
    column = tf.io.parse_example(
        tf.encode_examples({"s": [[b"a", b"bb"], [b"", b"d"]]}), {"s": tf.FixedLenFeature([2], tf.string)}
    )["s"]
    assert tensor_of(column, Choices("list", "jagged"), "s") == [[b"a", b"bb"], [b"", b"d"]]
    padded = tensor_of(column, Choices("uint8", "padded"), "s")
    assert padded.shape == (2, 2, 2) and bytes(padded[0, 1].tolist()) == b"bb"


def test_strings_can_be_jagged_tensors_of_bytes(path):
    made = batch(path, {"s": tf.FixedLenFeature([], tf.string)}, strings="uint8")["s"]
    assert made.layout == torch.jagged and made.dtype == torch.uint8
    assert [bytes(row.tolist()) for row in made.unbind()] == WORDS


def test_strings_can_be_padded_tensors_of_bytes(path):
    made = batch(path, {"s": tf.FixedLenFeature([], tf.string)}, strings="uint8", ragged="padded")["s"]
    assert made.dtype == torch.uint8 and made.shape == (N, 5)
    assert [bytes(row.tolist()) for row in made] == [word.ljust(5, b"\0") for word in WORDS]


def test_lists_of_strings(path):
    features = {"words": tf.VarLenFeature(tf.string)}
    assert batch(path, features)["words"] == [WORDS[:k] for k in range(N)]
    padded = batch(path, features, strings="uint8", ragged="padded")["words"]
    assert padded.shape == (N, 4, 5) and bytes(padded[4, 2].tolist()) == b"three"
    assert not padded[0].any()


def test_lists_of_strings_in_a_jagged_tensor_are_refused(path):
    with pytest.raises(InvalidArgumentError, match=r"'words'.*lists of strings"):
        batch(path, {"words": tf.VarLenFeature(tf.string)}, strings="uint8")


def test_records_are_lists_of_bytes_or_tensors(path):
    records = list(tf.data.TFRecordDataset(path))
    assert batch(path, None, batch_size=3) == records[:3]
    made = batch(path, None, batch_size=3, strings="uint8")
    assert [bytes(row.tolist()) for row in made.unbind()] == records[:3]


# ---- Lists of different lengths ----


@pytest.mark.parametrize("feature", [tf.VarLenFeature(tf.int64), tf.RaggedFeature(tf.int64)], ids=["VarLen", "Ragged"])
class TestRagged:
    def test_jagged(self, path, feature):
        made = batch(path, {"list": feature})["list"]
        assert made.layout == torch.jagged and made.dtype == torch.int64
        assert [row.tolist() for row in made.unbind()] == LISTS

    def test_padded(self, path, feature):
        made = batch(path, {"list": feature}, ragged="padded")["list"]
        assert made.tolist() == [[*one, *[0] * (3 - len(one))] for one in LISTS]


def test_sparse_features_are_sparse_tensors(path):
    made = batch(path, {"x": tf.SparseFeature("at", "val", tf.float32, 10)})["x"]
    assert made.layout == torch.sparse_coo
    expected = torch.zeros(N, 10)
    expected[[0, 0, 2, 3, 3], [0, 3, 1, 2, 9]] = torch.tensor([0.5, 1.5, 2.5, 4.5, 3.5])
    assert torch.equal(made.to_dense(), expected)


def test_a_list_that_a_sparse_feature_uses_as_well_stays_a_list(path):
    features = {"x": tf.SparseFeature("at", "val", tf.float32, 10), "at": tf.VarLenFeature(tf.int64)}
    made = batch(path, features)
    assert made["at"].layout == torch.jagged and made["x"].layout == torch.sparse_coo


def test_strings_of_a_shape_in_a_jagged_tensor_are_refused():
    with pytest.raises(InvalidArgumentError, match=r"'x'.*strings of shape \[2\] per record.*strings=\"list\""):
        tensor_of(tf.BytesArray([[b"a", b"b"]]), Choices("uint8", "jagged"), "x")


def test_sparse_strings_are_refused():
    column = tf.sparse.SparseTensor([[0, 3]], [b"a"], [1, 10])
    with pytest.raises(InvalidArgumentError, match=r"'x'.*sparse"):
        tensor_of(column, Choices("list", "jagged"), "x")


def test_two_ragged_dimensions_are_padded_or_refused():
    column = tf.RaggedTensor(tf.RaggedTensor([1, 2, 3], [0, 1, 3]), [0, 2, 2])
    assert tensor_of(column, Choices("list", "padded"), "x").tolist() == [[[1, 0], [2, 3]], [[0, 0], [0, 0]]]
    with pytest.raises(InvalidArgumentError, match="2 ragged dimensions"):
        tensor_of(column, Choices("list", "jagged"), "x")


def test_no_rows_are_no_rows():
    features = {"a": tf.FixedLenFeature([2], tf.int64), "b": tf.VarLenFeature(tf.float32)}
    columns = tf.io.parse_example([], features)
    for ragged in ("jagged", "padded"):
        made = {key: tensor_of(column, Choices("list", ragged), key) for key, column in columns.items()}
        assert made["a"].shape == (0, 2) and made["b"].shape[0] == 0


# ---- Batches ----


def test_a_label_comes_beside_the_columns(path):
    features = {"i": tf.FixedLenFeature([], tf.int64), "f": tf.FixedLenFeature([], tf.float32)}
    columns, label = batch(path, features, label_key="i")
    assert list(columns) == ["f"] and label.tolist() == list(range(N))
    assert type(batch(path, features, label_key="i")) is LabelledBatch


def test_sequence_examples_are_three_dicts(tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "a") as writer:
        writer.write(tf.train.sequence_example({"c": 7}, {"s": [[1, 2], [3, 4]]}).SerializeToString())
        writer.write(tf.train.sequence_example({"c": 8}, {"s": [[5, 6]]}).SerializeToString())
    features = {"c": tf.FixedLenFeature([], tf.int64)}, {"s": tf.FixedLenSequenceFeature([2], tf.int64)}
    made = batch(tmp_path / "a", features)
    assert type(made) is SequenceBatch and made.context["c"].tolist() == [7, 8]
    assert made.sequences["s"].tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]]]
    assert made.lengths["s"].tolist() == [2, 1]


@pytest.mark.parametrize("features", [(), ({},), ({}, {}, {})])
def test_features_of_sequence_examples_are_a_pair(path, features):
    with pytest.raises(InvalidArgumentError, match=r"context_features, sequence_features|must not be empty, got \(\)"):
        TFRecordIterableDataset(path, features)


def test_a_transform_has_the_last_word(path):
    features = {"i": tf.FixedLenFeature([], tf.int64)}
    made = batch(path, features, transform=lambda columns: {"twice": 2 * columns["i"]})
    assert type(made) is Batch and made["twice"].tolist() == [0, 2, 4, 6, 8]
    assert type(batch(path, features, transform=lambda columns: (columns["i"], 1))) is LabelledBatch


def test_inferred_features(path):
    made = batch(path, "infer")
    assert made["i"].dtype == torch.int64 and made["v"].shape == (N, 6) and made["list"].layout == torch.jagged


@pytest.mark.parametrize("wrong", [{"strings": "bytes"}, {"ragged": "sparse"}])
def test_unknown_choices_are_refused(path, wrong):
    with pytest.raises(InvalidArgumentError, match=next(iter(wrong))):
        TFRecordIterableDataset(path, **wrong)


FEATURES = {"i": tf.FixedLenFeature([], tf.int64)}


def test_what_has_its_features_already_is_given_alone(path):
    reader, elements = tf.ShardReader(path, FEATURES, batch_size=3), tf.data.Dataset.range(3)
    assert [batch["i"].tolist() for batch in TFRecordIterableDataset(reader)] == [[0, 1, 2], [3, 4]]
    for source, name in ((reader, "a ShardReader"), (elements, "a Dataset")):
        for more in ({"features": FEATURES}, {"label_key": "i"}, {"groups": {}}, {"batch_size": 3}):
            with pytest.raises(InvalidArgumentError, match=f"^{name} has its own features and options: pass it alone$"):
                TFRecordIterableDataset(source, **more)


def test_datasets_show_what_they_read(path):
    dataset, by_number = TFRecordIterableDataset(path, FEATURES, batch_size=3), TFRecordMapDataset(path, FEATURES)
    assert repr(dataset) == f"TFRecordIterableDataset({dataset.source!r})" and type(dataset.source) is tf.ShardReader
    assert repr(by_number) == f"TFRecordMapDataset({by_number.reader!r})" and bool(dataset)
