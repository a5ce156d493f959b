"""Rows of a map dataset of torch: a change of a row is noticed, and stays."""

import numpy as np
import pytest
from torch.utils.data import DataLoader, default_collate

import tfrecord_fast as tf
from tfrecord_fast.integrations.torch import TFRecordMapDataset

INT = tf.io.FixedLenFeature([], tf.int64)


def examples(path, rows=10):
    with tf.io.ExampleWriter(path) as writer:
        writer.write({"x": np.arange(rows), "y": np.arange(rows) * 2})
    return str(path)


@pytest.mark.parametrize("takes", ["sets", "pops"])
def test_rows_that_a_collate_function_changes_stay_changed(tmp_path, takes):
    path = examples(tmp_path / "a.tfrecord")
    dataset = TFRecordMapDataset(path, {"x": INT, "y": INT})

    def collate(rows):
        for row in rows:
            if takes == "sets":
                row["x"] = row["x"] * 10
            else:
                row.pop("y")
        return default_collate(rows)

    batches = list(DataLoader(dataset, batch_size=4, collate_fn=collate))
    if takes == "sets":
        assert [x for batch in batches for x in batch["x"].tolist()] == [10 * i for i in range(10)]
    else:
        assert all(list(batch) == ["x"] for batch in batches)


def test_rows_that_a_fetched_list_is_asked_for_twice_are_the_same(tmp_path):
    rows = TFRecordMapDataset(examples(tmp_path / "a.tfrecord"), {"x": INT}).__getitems__([1, 2])
    rows[0]["new"] = 1
    assert "new" in rows[0]


@pytest.fixture
def padded_and_sparse(tmp_path):
    with tf.ExampleWriter(str(tmp_path / "a")) as writer:
        writer.write({"x": [[1.0, np.nan], [2.0]], "i": [[1], [2]], "v": [[1.0], [2.0]]})
    features = {"x": tf.RaggedFeature(tf.float32), "s": tf.SparseFeature("i", "v", tf.float32, 5)}
    return TFRecordMapDataset(str(tmp_path / "a"), features, ragged="padded").__getitems__([0, 1])


def test_a_row_with_nan_that_was_looked_at_is_not_changed(padded_and_sparse):
    assert [row["x"].shape for row in padded_and_sparse] == [(2,), (1,)]
    assert default_collate(padded_and_sparse) is padded_and_sparse.batch


@pytest.mark.parametrize("key", ["x", "s"])
def test_a_value_that_was_changed_in_place_is_a_change(padded_and_sparse, key):
    padded_and_sparse[1][key].mul_(3)
    assert padded_and_sparse.are_changed
