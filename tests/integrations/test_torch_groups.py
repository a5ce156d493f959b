"""Groups of features as tensors [n, k]."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

import tfrecord_fast as tf
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.integrations.torch import TFRecordIterableDataset, TFRecordMapDataset

FEATURES = {key: tf.FixedLenFeature([], tf.int64) for key in ("c0", "c1", "y")}
FEATURES |= {key: tf.FixedLenFeature([], tf.bfloat16) for key in ("d0", "d1", "d2")}
GROUPS = {"dense": ["d0", "d1", "d2"], "cat": ["c1", "c0"]}
N = 400


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups")
    for file in range(2):
        n = np.arange(N) + N * file
        dense = {f"d{i}": (n % 100 + i).astype(np.float32) for i in range(3)}
        with tf.ExampleWriter(folder / f"{file}.tfrecord") as writer:
            writer.write({**dense, "c0": n, "c1": -n, "y": n % 2})
    return str(folder / "*.tfrecord")


def check(batch, count):
    n = batch["cat"][:, 1]
    assert batch["cat"].dtype == torch.int64 and batch["cat"].shape == (count, 2)
    assert torch.equal(batch["cat"][:, 0], -n)
    assert batch["dense"].dtype == torch.bfloat16
    assert torch.equal(batch["dense"].float(), torch.stack([n % 100 + i for i in range(3)], 1).float())
    return n.tolist()


@pytest.mark.parametrize(("workers", "method"), [(0, None), (2, "fork"), (2, "spawn")])
def test_batches_have_them(paths, workers, method):
    dataset = TFRecordIterableDataset(
        paths, FEATURES, label_key="y", groups=GROUPS, batch_size=50, shuffle_buffer=100, seed=1
    )
    loader = DataLoader(dataset, batch_size=None, num_workers=workers, multiprocessing_context=method)
    for _ in range(2):
        seen = []
        for columns, label in loader:
            assert set(columns) == {"dense", "cat"}
            seen += check(columns, 50)
            assert torch.equal(label, columns["cat"][:, 1] % 2)
        assert sorted(seen) == list(range(2 * N))


def test_the_tensor_is_over_the_columns_memory(paths):
    reader = tf.ShardReader(paths, FEATURES, groups={"cat": ["c0", "c1"]})
    dataset, columns = TFRecordIterableDataset(reader), []
    converted = dataset._conversion._converted
    dataset._conversion._converted = lambda batch: converted(columns.append(batch) or batch)
    [batch] = dataset
    assert batch["cat"].data_ptr() == columns[0]["cat"].ctypes.data


def test_a_position_is_resumed(paths):
    def loader():
        dataset = TFRecordIterableDataset(paths, FEATURES, groups=GROUPS, batch_size=50, shuffle_buffer=90, seed=1)
        return StatefulDataLoader(dataset, batch_size=None, num_workers=2)

    want = [check(batch, 50) for batch in loader()]
    first, batches = loader(), []
    for batch in first:
        batches.append(check(batch, 50))
        if len(batches) == 5:
            break
    again = loader()
    again.load_state_dict(first.state_dict())
    assert batches + [check(batch, 50) for batch in again] == want


@pytest.mark.parametrize("workers", [0, 2])
def test_records_by_number_have_them(paths, workers):
    dataset = TFRecordMapDataset(paths, FEATURES, groups=GROUPS)
    assert dataset[5]["cat"].tolist() == [-5, 5] and dataset[5]["dense"].tolist() == [5, 6, 7]
    check(dataset[[3, 1, 700]], 3)
    loader = DataLoader(dataset, batch_size=100, shuffle=True, num_workers=workers)
    assert sorted(n for batch in loader for n in check(batch, 100)) == list(range(2 * N))


def test_rows_are_collated_by_ones_own_function(paths):
    dataset = TFRecordMapDataset(paths, FEATURES, groups=GROUPS, transform=lambda row: {**row, "twice": row["cat"] * 2})
    batch = next(iter(DataLoader(dataset, batch_size=10)))
    check(batch, 10)
    assert torch.equal(batch["twice"], 2 * batch["cat"])


def test_readers_have_their_own(paths):
    with pytest.raises(InvalidArgumentError, match="has its own features and options"):
        TFRecordIterableDataset(tf.ShardReader(paths, FEATURES), groups=GROUPS)
    with pytest.raises(InvalidArgumentError, match="an IndexedReader has its own features and options"):
        TFRecordMapDataset(tf.IndexedReader(paths, FEATURES), groups=GROUPS)
