"""TFRecordMapDataset: records by number, whose batches cost a DataLoader no Python per record."""

from functools import partial

import numpy as np
import pytest
import torch
from torch.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    DistributedSampler,
    SequentialSampler,
    Subset,
)

import tfrecord_fast as tf
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.integrations.torch import Batch, TFRecordMapDataset
from tfrecord_fast.integrations.torch import map as integration

N = 100
FEATURES = {
    "x": tf.FixedLenFeature([], tf.int64),
    "v": tf.FixedLenFeature([2], tf.float32),
    "s": tf.FixedLenFeature([], tf.string),
    "list": tf.VarLenFeature(tf.int64),
    "words": tf.VarLenFeature(tf.string),
    "sparse": tf.SparseFeature("list", "list", tf.int64, 1000),
}


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("map")
    paths = [str(folder / f"{file}.tfrecord") for file in range(2)]
    for file, path in enumerate(paths):
        x = np.arange(N // 2) + file * N // 2
        with tf.io.ExampleWriter(path) as writer:
            writer.write(
                {
                    "x": x,
                    "v": np.stack([x, -x], 1).astype(np.float32),
                    "s": [b"%d" % i for i in x],
                    "list": [list(range(i % 4)) for i in x],
                    "words": [[b"w"] * (i % 3) for i in x],
                }
            )
    return paths


@pytest.fixture
def dataset(paths):
    return TFRecordMapDataset(paths, FEATURES)


def assert_is(batch, numbers):
    """Whether it is the batch of these records."""
    assert type(batch) is Batch
    assert batch["x"].tolist() == numbers
    assert batch["v"].tolist() == [[i, -i] for i in numbers]
    assert batch["s"] == [b"%d" % i for i in numbers]
    assert [row.tolist() for row in batch["list"].unbind()] == [list(range(i % 4)) for i in numbers]
    assert batch["words"] == [[b"w"] * (i % 3) for i in numbers]
    dense = batch["sparse"].to_dense()
    assert [row.nonzero().flatten().tolist() for row in dense] == [list(range(1, i % 4)) for i in numbers]


def test_a_record(dataset):
    assert len(dataset) == N
    row = dataset[57]
    assert row["x"].shape == () and row["x"] == 57 and row["v"].tolist() == [57, -57]
    assert row["s"] == b"57" and row["list"].tolist() == [0] and row["words"] == []
    assert row["sparse"].shape == (1000,)
    assert dataset[-1]["x"] == N - 1


@pytest.mark.parametrize("i", [N, -N - 1])
def test_there_are_no_other_records(dataset, i):
    with pytest.raises(IndexError, match="100 records"):
        dataset[i]


@pytest.mark.parametrize("key", [[7, 3, 60], np.array([7, 3, 60]), torch.tensor([7, 3, 60]), (7, 3, 60)])
def test_several_records(dataset, key):
    assert_is(dataset[key], [7, 3, 60])


def test_a_slice_of_records(dataset):
    assert_is(dataset[40:70:10], [40, 50, 60])
    assert len(dataset[5:5]["x"]) == 0


@pytest.mark.parametrize(("workers", "method"), [(0, None), (2, "fork"), (1, "spawn")])
def test_a_loader_shuffles_and_batches(dataset, workers, method):
    loader = DataLoader(dataset, batch_size=16, shuffle=True, num_workers=workers, multiprocessing_context=method)
    seen = []
    for batch in loader:
        assert_is(batch, batch["x"].tolist())
        seen += batch["x"].tolist()
    assert sorted(seen) == list(range(N)) != seen


def test_a_batch_is_read_at_once(dataset, monkeypatch):
    calls = []
    take = dataset.reader.take

    def counted(indices):
        calls.append(len(indices))
        return take(indices)

    monkeypatch.setattr(dataset.reader, "take", counted)
    list(DataLoader(dataset, batch_size=30))
    assert calls == [30, 30, 30, 10]


def test_a_sampler_of_batches(dataset):
    sampler = BatchSampler(SequentialSampler(dataset), 30, drop_last=True)
    batches = list(DataLoader(dataset, sampler=sampler, batch_size=None))
    assert len(batches) == 3
    assert_is(batches[1], list(range(30, 60)))


def test_subsets_and_ranks(dataset):
    assert_is(next(iter(DataLoader(Subset(dataset, [9, 8, 7]), batch_size=3))), [9, 8, 7])
    sampler = DistributedSampler(dataset, num_replicas=3, rank=1, shuffle=False)
    assert_is(next(iter(DataLoader(dataset, batch_size=4, sampler=sampler))), [1, 4, 7, 10])


def test_rows_of_several_datasets_make_a_batch(paths):
    features = {key: FEATURES[key] for key in ("x", "v", "s", "list", "words")}
    several = ConcatDataset([TFRecordMapDataset(path, features) for path in paths])
    batch = next(iter(DataLoader(several, batch_size=4, sampler=[3, 70, 4, 99])))
    assert type(batch) is Batch and batch["x"].tolist() == [3, 70, 4, 99]
    assert [row.tolist() for row in batch["list"].unbind()] == [[0, 1, 2], [0, 1], [], [0, 1, 2]]
    assert batch["s"] == [b"3", b"70", b"4", b"99"] and batch["words"][3] == []


def test_a_transform_sees_records(paths):
    dataset = TFRecordMapDataset(paths, {"x": FEATURES["x"]}, transform=lambda row: {"y": row["x"] * 2})
    assert dataset[4] == {"y": torch.tensor(8)}
    batch = next(iter(DataLoader(dataset, batch_size=3, num_workers=1, multiprocessing_context="fork")))
    assert type(batch) is Batch and batch["y"].tolist() == [0, 2, 4]
    assert dataset[[5, 6]]["y"].tolist() == [10, 12]


def test_a_collation_of_ones_own_sees_rows(dataset):
    loader = DataLoader(
        dataset, batch_size=3, collate_fn=lambda rows: [(row["s"], row["list"].tolist()) for row in rows]
    )
    assert next(iter(loader)) == [(b"0", []), (b"1", [0]), (b"2", [0, 1])]


def test_records_as_they_are(paths):
    dataset = TFRecordMapDataset(paths)
    records = list(tf.data.TFRecordDataset(paths))
    assert dataset[60] == records[60] and dataset[[3, 1]] == [records[3], records[1]]
    assert next(iter(DataLoader(dataset, batch_size=2))) == records[:2]


def test_padded_and_bytes(paths):
    dataset = TFRecordMapDataset(paths, FEATURES, strings="uint8", ragged="padded")
    batch = dataset[[2, 13]]
    assert batch["list"].tolist() == [[0, 1], [0, 0]] and batch["s"].tolist() == [[50, 0], [49, 51]]


PADDED = {
    "x": tf.FixedLenFeature([], tf.int64),
    "list": tf.VarLenFeature(tf.int64),
    "ragged": tf.RaggedFeature(tf.int64, "again"),
    "parts": tf.RaggedFeature(tf.int64, "again", [tf.io.RaggedFeature.UniformRowLength(1)]),
    "s": tf.FixedLenFeature([], tf.string),
    "words": tf.VarLenFeature(tf.string),
}


@pytest.fixture(scope="module")
def uneven(tmp_path_factory):
    path = tmp_path_factory.mktemp("uneven") / "a.tfrecord"
    numbers = [list(range(i % 5)) for i in range(20)]
    words = [[b"w" * (j + 1) for j in range(i % 3)] for i in range(20)]
    columns = {"x": range(20), "list": numbers, "again": numbers, "s": ["s" * i for i in range(20)], "words": words}
    with tf.ExampleWriter(path) as writer:
        writer.write(columns)
    return path


def equal(a, b):
    return type(a) is type(b) and (torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b)


@pytest.mark.parametrize("strings", ["list", "uint8"])
def test_a_padded_row_is_what_it_is_alone(uneven, strings):
    dataset = TFRecordMapDataset(uneven, PADDED, strings=strings, ragged="padded")
    seen = []
    noted = TFRecordMapDataset(uneven, PADDED, strings=strings, ragged="padded", transform=seen.append)
    numbers = [3, 0, 14, 5, 4]
    noted.__getitems__(numbers)
    for number, row, other in zip(numbers, dataset.__getitems__(numbers), seen, strict=True):
        alone = dataset[number]
        assert alone["list"].tolist() == list(range(number % 5))
        assert all(equal(row[key], alone[key]) and equal(other[key], alone[key]) for key in PADDED)


@pytest.mark.parametrize("strings", ["list", "uint8"])
@pytest.mark.parametrize("workers", [0, 2])
def test_rows_that_are_read_one_by_one_are_padded_together(uneven, strings, workers):
    dataset = TFRecordMapDataset(uneven, PADDED, strings=strings, ragged="padded")
    same = TFRecordMapDataset(uneven, PADDED, strings=strings, ragged="padded", transform=dict)
    whole = dataset[range(10)]
    loader = partial(DataLoader, batch_size=10, num_workers=workers)
    for batch in (next(iter(loader(one))) for one in (dataset, ConcatDataset([dataset, dataset]), same)):
        assert batch.keys() == whole.keys()
        assert all(equal(batch[key], whole[key]) for key in whole)


@pytest.mark.parametrize(
    "option",
    [
        {"verify_crc": False},
        {"verify_crc": True},
        {"max_record_bytes": 1 << 20},
        {"num_threads": 1},
        {"indexes": "x.idx"},
        {"groups": {"g": ["x"]}},
        {"storage_options": {}},
        {"max_requests": 16},
        {"cache_dir": "x"},
    ],
    ids=str,
)
def test_no_option_beside_an_indexed_reader_is_passed_over(paths, option):
    reader = tf.IndexedReader(paths, {"x": FEATURES["x"]})
    with pytest.raises(InvalidArgumentError, match="an IndexedReader has its own features and options"):
        TFRecordMapDataset(reader, **option)


def test_the_reader_is_given_every_option(paths, monkeypatch):
    given = {}

    class Reader:
        def __init__(self, *files_and_features, **options):
            given.update(options)

    monkeypatch.setattr(integration, "IndexedReader", Reader)
    options = {
        "indexes": [None],
        "verify_crc": False,
        "max_record_bytes": 1000,
        "num_threads": 3,
        "groups": {"g": ["x"]},
        "storage_options": {"anon": True},
        "max_requests": 5,
        "cache_dir": "copies",
    }
    TFRecordMapDataset(paths, FEATURES, **options)
    assert given == options
