"""`len` of a TFRecordIterableDataset is what a DataLoader gives, or isn't there; trainers stop by it."""

import lightning
import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

import tfrecord_fast as tf
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.integrations.torch import TFRecordIterableDataset

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")

FEATURES = {"id": tf.FixedLenFeature([], tf.int64)}
SIZES = [100, 1, 37]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lengths")
    for file, size in enumerate(SIZES):
        with tf.ExampleWriter(folder / f"{file}.tfrecord") as writer:
            writer.write({"id": np.arange(size) + 1000 * file})
    return str(folder / "*.tfrecord")


def loader(files, told, workers, **options):
    dataset = TFRecordIterableDataset(files, FEATURES, num_workers=told, **{"batch_size": 16, **options})
    return DataLoader(dataset, batch_size=None, num_workers=workers)


@pytest.mark.parametrize("workers", [0, 1, 2, 5])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"drop_remainder": True},
        {"num_epochs": 2, "shard_by": "record"},
        {"equal_shards": "pad", "shard": (1, 2)},
        {"equal_shards": "drop"},
        {"global_shuffle": True, "seed": 1},
    ],
    ids=str,
)
def test_a_dataset_that_knows_the_number_of_workers_has_the_loaders_length(workers, options, files):
    loading = loader(files, workers, workers, **options)
    assert len(loading) == len(list(loading))


@pytest.mark.parametrize("workers", [0, 2])
def test_without_that_number_there_is_no_length(workers, files):
    loading = loader(files, None, workers)
    with pytest.raises(TypeError, match=r"pass num_workers=… to the dataset"):
        len(loading)
    assert sum(len(batch["id"]) for batch in loading) == sum(SIZES)


def test_an_endless_dataset_has_no_length(files):
    with pytest.raises(TypeError, match="an endless reader has no length"):
        len(loader(files, 2, 2, num_epochs=None))


@pytest.mark.parametrize("told, workers", [(0, 1), (2, 0), (2, 3)])
def test_another_number_of_workers_than_was_told_is_refused(told, workers, files):
    with pytest.raises(InvalidArgumentError, match=f"num_workers={told}, but the DataLoader has {workers}"):
        list(loader(files, told, workers))


def test_a_number_below_0_is_refused(files):
    with pytest.raises(InvalidArgumentError, match="num_workers must be at least 0"):
        loader(files, -1, 0)


def length_in_worker(batch):
    return torch.utils.data.get_worker_info().dataset.__len__()


@pytest.mark.parametrize("told", [None, 2])
def test_in_a_worker_it_is_the_workers_own(told, files):
    found = list(loader(files, told, 2, transform=length_in_worker))
    assert sorted(set(found)) == [1, 9] and len(found) == 10


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_elements_of_a_dataset_are_as_many_with_any_number_of_workers(workers):
    dataset = TFRecordIterableDataset(tf.data.Dataset.range(10).batch(3))
    loading = DataLoader(dataset, batch_size=None, num_workers=workers)
    assert len(loading) == len(list(loading)) == 4


def test_a_reader_is_told_of_workers_too(files):
    reader = tf.ShardReader(files, FEATURES, batch_size=16)
    loading = DataLoader(TFRecordIterableDataset(reader, num_workers=2), batch_size=None, num_workers=2)
    assert len(loading) == len(list(loading)) == 10 and len(reader) == 9


class Counting(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.seen = 0

    def validation_step(self, batch, _):
        self.seen += len(batch["id"])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("told, workers", [(None, 2), (2, 2), (None, 0), (0, 0)])
def test_lightning_sees_every_record(told, workers, files):
    trainer = lightning.Trainer(accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False)
    model = Counting()
    trainer.validate(model, loader(files, told, workers), verbose=False)
    assert model.seen == sum(SIZES)
