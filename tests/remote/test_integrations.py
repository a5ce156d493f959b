"""Other projects' faces over a store that `storage_options` leads to."""

import json
import pickle

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.frames import frames
from tfrecord_fast.integrations import tfds

SIZES = [6, 4]
SCALAR = {"pythonClassName": "tensorflow_datasets.core.features.scalar.Scalar"}
FEATURES = {
    "pythonClassName": "tensorflow_datasets.core.features.features_dict.FeaturesDict",
    "featuresDict": {"features": {"id": {**SCALAR, "tensor": {"shape": {}, "dtype": "int64", "encoding": "none"}}}},
}
INFO = {
    "name": "small",
    "version": "1.0.0",
    "fileFormat": "tfrecord",
    "splits": [
        {
            "name": "train",
            "shardLengths": [str(size) for size in SIZES],
            "filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
        }
    ],
}


@pytest.fixture
def dataset(s3):
    """The folder of a dataset that TFDS could have prepared."""
    records = tf.encode_examples({"id": np.arange(sum(SIZES))}).tolist()
    for number, part in enumerate([records[: SIZES[0]], records[SIZES[0] :]]):
        s3.put(f"small/1.0.0/small-train.tfrecord-{number:05}-of-00002", frames(part))
    s3.put("small/1.0.0/dataset_info.json", json.dumps(INFO).encode())
    s3.put("small/1.0.0/features.json", json.dumps(FEATURES).encode())
    return s3.url("small")


def ids(examples):
    return [int(example["id"]) for example in examples]


@pytest.mark.parametrize("split", ["train", "train[2:8]"])
def test_tfds_reads_a_folder(s3, dataset, split):
    examples = tfds.load(dataset, split, storage_options=s3.options)
    expected = list(range(10)) if split == "train" else list(range(2, 8))
    assert ids(examples) == expected == ids(pickle.loads(pickle.dumps(examples)))
    assert [int(examples[i]["id"]) for i in (0, -1)] == [expected[0], expected[-1]]


def test_tfds_says_what_is_in_a_folder(s3, dataset):
    assert tfds.info(dataset, storage_options=s3.options).splits["train"].num_examples == sum(SIZES)


def test_a_source_of_grain_reads_objects(s3):
    grain = pytest.importorskip("tfrecord_fast.integrations.grain", reason="grain is not installed")
    url = s3.put("a.tfrecord", frames([b"one", b"two"]))
    source = grain.TFRecordDataSource(url, storage_options=s3.options)
    assert (source.paths, [source[i] for i in range(len(source))]) == ([url], [b"one", b"two"])


def test_a_dataset_of_grain_reads_objects(s3):
    grain = pytest.importorskip("tfrecord_fast.integrations.grain", reason="grain is not installed")
    url = s3.put("a.tfrecord", frames(tf.encode_examples({"id": np.arange(5)}).tolist()))
    batches = grain.TFRecordIterDataset(url, "infer", batch_size=2, storage_options=s3.options)
    assert [batch["id"].tolist() for batch in batches] == [[0, 1], [2, 3], [4]]


@pytest.mark.parametrize("workers", [0, 1])
def test_a_map_dataset_of_torch_reads_objects(s3, workers):
    data = pytest.importorskip("torch.utils.data", reason="torch is not installed")
    from tfrecord_fast.integrations.torch import TFRecordMapDataset

    url = s3.put("a.tfrecord", frames(tf.encode_examples({"id": np.arange(5)}).tolist()))
    dataset = TFRecordMapDataset(url, "infer", storage_options=s3.options)
    assert (len(dataset), dataset[[3, 1]]["id"].tolist()) == (5, [3, 1])
    method = "spawn" if workers else None
    loader = data.DataLoader(dataset, batch_size=2, num_workers=workers, multiprocessing_context=method)
    assert [batch["id"].tolist() for batch in loader] == [[0, 1], [2, 3], [4]]


def test_a_map_dataset_of_torch_keeps_objects(s3, tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    from tfrecord_fast.integrations.torch import TFRecordMapDataset

    url = s3.put("a.tfrecord", frames([b"one", b"two"]))
    dataset = TFRecordMapDataset(url, storage_options=s3.options, cache_dir=tmp_path)
    assert dataset[[1, 0]] == [b"two", b"one"] and any(tmp_path.iterdir())
