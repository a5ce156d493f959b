"""ImageFeature in PyTorch's and Grain's datasets: the crops of a ShardReader, with any number of workers."""

import grain
import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, default_collate

import tfrecord_fast as tf
from tests.support.frames import frames
from tests.support.pictures import examples, pictures
from tfrecord_fast import ImageFeature
from tfrecord_fast.integrations.grain import TFRecordDataSource, TFRecordIterDataset
from tfrecord_fast.integrations.torch import TFRecordIterableDataset, TFRecordMapDataset

FILES, RECORDS = 4, 6


def features(*arguments, **options):
    return {"image": ImageFeature(*arguments, **options), "number": tf.FixedLenFeature([], tf.int64)}


SANITIZED = bool(tf.build_info()["sanitizers"])
NO_FORKS = pytest.mark.skipif(SANITIZED, reason="a thread may hold the sanitizer's own locks when a worker is forked")
FORKED = [pytest.param(count, marks=NO_FORKS) for count in (1, 2)]
RANDOM = features(8, crop="random", flip=True, channels_first=True)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    for file in range(FILES):
        rows = examples(pictures(RECORDS, seed=file), first=file * RECORDS)
        (folder / f"{file}.tfrecord").write_bytes(frames(rows))
    return str(folder / "*.tfrecord")


def drawn(batches):
    return {
        number: np.asarray(image)
        for batch in batches
        for number, image in zip(batch["number"].tolist(), batch["image"], strict=True)
    }


def check_same(images, expected):
    assert images.keys() == expected.keys()
    for number in expected:
        np.testing.assert_array_equal(images[number], expected[number])


@pytest.fixture(scope="module")
def epochs(files):
    reader = tf.ShardReader(files, RANDOM, seed=4)
    return [drawn(reader) for _ in range(2)]


@pytest.mark.parametrize("workers", [0, *FORKED])
def test_workers_of_torch_draw_the_same_and_epochs_differ(files, epochs, workers):
    dataset = TFRecordIterableDataset(files, RANDOM, seed=4, batch_size=5)
    loader = DataLoader(dataset, batch_size=None, num_workers=workers)
    for expected in epochs:
        check_same(drawn(loader), expected)
    batch = next(iter(loader))
    assert batch["image"].shape == (5, 3, 8, 8)
    assert batch["image"].is_contiguous()
    assert batch["image"].dtype == torch.uint8


@pytest.mark.parametrize("workers", [0, 1])
def test_images_of_their_own_sizes_are_lists_of_tensors(files, workers):
    expected = drawn(tf.ShardReader(files, features()))
    dataset = TFRecordIterableDataset(files, features(), batch_size=5)
    batches = list(DataLoader(dataset, batch_size=None, num_workers=workers))
    assert all(isinstance(image, torch.Tensor) for batch in batches for image in batch["image"])
    check_same(drawn(batches), expected)


def test_a_map_dataset_of_torch_decodes_images(files):
    dataset = TFRecordMapDataset(files, features(8))
    expected = drawn(tf.ShardReader(files, features(8)))
    check_same(drawn(DataLoader(dataset, batch_size=5, shuffle=True)), expected)
    np.testing.assert_array_equal(dataset[3]["image"], expected[3])
    sizes = TFRecordMapDataset(files, features())
    assert default_collate(sizes.__getitems__([1, 2]))["image"][1].shape == sizes[2]["image"].shape


def test_grain_draws_the_same(files, epochs):
    dataset = TFRecordIterDataset(files, RANDOM, seed=4, batch_size=5)
    check_same(drawn(dataset), epochs[0])
    dataset.set_epoch(1)
    check_same(drawn(dataset), epochs[1])
    iterator = iter(dataset)
    next(iterator)
    state, expected = iterator.get_state(), list(iterator)
    resumed = iter(dataset)
    resumed.set_state(state)
    for a, b in zip(resumed, expected, strict=True):
        np.testing.assert_array_equal(a["image"], b["image"])


def test_grain_s_source_decodes_images(files):
    expected = drawn(tf.ShardReader(files, features(8)))
    source = TFRecordDataSource(files, features(8))
    check_same(drawn(grain.MapDataset.source(source).shuffle(seed=1).batch(4)), expected)


def test_grain_lists_records_whose_images_are_dropped(tmp_path):
    (tmp_path / "a").write_bytes(frames(examples([b"junk", *pictures(3)])))
    iterator = iter(TFRecordIterDataset(str(tmp_path / "a"), features(8, on_error="skip")))
    assert next(iterator)["number"].tolist() == [1, 2, 3]
    assert [stretch.offset for stretch in iterator.skipped] == [0]
