"""Datasets of Hugging Face that are streamed: what is opened is the whole URL, what is shown is not."""

import pickle

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.frames import frames

datasets = pytest.importorskip("datasets", reason="datasets is not installed")

from tfrecord_fast.files.reading.task_splits import plan_splits  # noqa: E402
from tfrecord_fast.integrations.huggingface import from_tfrecord  # noqa: E402

FEATURES = {"id": tf.FixedLenFeature([], tf.int64)}


def examples(ids):
    return frames(tf.encode_examples({"id": np.asarray(ids)}).tolist())


@pytest.fixture
def urls(tmp_path, chosen):
    (tmp_path / "a").write_bytes(examples([1, 2]))
    (tmp_path / "b").write_bytes(examples([3]))
    return [chosen("a"), chosen("b")]


def ids(dataset):
    return [row["id"] for row in dataset]


def test_urls_with_queries_are_streamed(urls):
    dataset = from_tfrecord(urls, FEATURES, streaming=True)
    assert ids(dataset) == [1, 2, 3] == ids(from_tfrecord(urls, FEATURES))
    assert ids(pickle.loads(pickle.dumps(dataset))) == [1, 2, 3]


def test_each_shard_is_its_own_url(urls):
    dataset = from_tfrecord(urls, FEATURES, streaming=True)
    assert [ids(dataset.shard(2, number)) for number in range(2)] == [[1, 2], [3]]


def test_keys_and_errors_show_no_query(tmp_path, urls):
    dataset = from_tfrecord(urls, FEATURES, streaming=True)
    keys = [key for key, _ in dataset._ex_iterable.iter_arrow()]
    assert keys == ["get:0", "get:0"]
    (tmp_path / "a").write_bytes(examples([1, 2])[:-1])
    with pytest.raises(tf.errors.DataLossError, match="/get: ") as raised:
        ids(dataset)
    assert "file=" not in str(raised.value)


def test_a_pattern_is_streamed_under_the_names_of_its_objects(s3):
    for name, rows in [("a", [1, 2]), ("b", [3])]:
        s3.put(f"{name}.tfrecord", examples(rows))
    dataset = from_tfrecord(s3.url("*.tfrecord"), FEATURES, streaming=True, storage_options=s3.options)
    assert dataset.num_shards == 2 and ids(dataset) == [1, 2, 3]


def test_a_part_of_a_file_is_streamed_as_a_part(tmp_path):
    (tmp_path / "a").write_bytes(examples(range(100)))
    parts = [part for split in plan_splits(tmp_path / "a", split_bytes=1000) for part in split.parts]
    assert len(parts) > 2
    assert ids(from_tfrecord(parts, FEATURES, streaming=True)) == list(range(100))
