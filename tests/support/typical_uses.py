"""What code that uses the package looks like; tests/house/test_types.py has mypy check it, strictly."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

import tfrecord_fast as tf

FEATURES = {
    "label": tf.io.FixedLenFeature([], tf.int64),
    "image": tf.io.FixedLenFeature([], tf.string),
    "tags": tf.VarLenFeature(tf.string),
    "scores": tf.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
    "words": tf.SparseFeature("index", "value", tf.float32, 100),
    "rows": tf.RaggedFeature(tf.int64),
}


def write(path: Path) -> None:
    example = tf.train.Example(
        features=tf.train.Features(feature={"label": tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))})
    )
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        writer.write(example.SerializeToString())
        writer.write(tf.train.example({"label": 1, "image": b"", "scores": [0.5, 1.0]}).SerializeToString())
        writer.write_batch([b"one", b"two"])


def read_records(path: Path) -> list[bytes]:
    records: list[bytes] = []
    for record in tf.data.TFRecordDataset([path], num_parallel_reads=2):
        records.append(record)
    for batch in tf.data.TFRecordDataset(path).batch(2):
        records.extend(batch.tolist())
    return records


def parse_batches(pattern: str) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]]:
    dataset = (
        tf.data.TFRecordDataset(pattern)
        .shuffle(1000, seed=1)
        .repeat(2)
        .batch(32, drop_remainder=True)
        .map(lambda batch: tf.io.parse_example(batch, FEATURES), num_parallel_calls=tf.data.AUTOTUNE)
        .prefetch(tf.data.AUTOTUNE)
    )
    for columns in dataset:
        yield columns["label"], tf.sparse.to_dense(columns["words"])


def count(pattern: str) -> int:
    files = tf.data.Dataset.list_files(pattern, shuffle=False)
    records = files.interleave(tf.data.TFRecordDataset, cycle_length=4, block_length=2)
    total: int = records.map(lambda record: 1).reduce(np.int64(0), lambda state, one: state + one)
    return total


def shards(pattern: str) -> tf.ShardReader:
    reader = tf.ShardReader(pattern, FEATURES, batch_size=64, shuffle_buffer=1000, num_epochs=None, label_key="label")
    reader.load_state_dict(reader.state_dict())
    return reader


def image_of(serialized: bytes) -> npt.NDArray[np.uint8]:
    parsed = tf.parse_single_example(serialized, FEATURES)
    image: npt.NDArray[np.uint8] = tf.io.decode_jpeg(parsed["image"], channels=3)
    return image


def save(folder: str, array: npt.NDArray[np.float32]) -> bool:
    path = tf.io.gfile.join(folder, "array")
    tf.io.write_file(path, tf.io.serialize_tensor(array))
    return bool((tf.io.parse_tensor(tf.io.read_file(path), tf.float32) == array).all())


def damaged(path: str) -> tuple[str | None, int | None]:
    try:
        list(tf.data.TFRecordDataset(path))
    except tf.errors.DataLossError as error:
        return error.path, error.record_index
    return None, None


def batches_for_training(pattern: str) -> tf.data.Dataset[tuple[dict[str, npt.NDArray[np.int64]], object]]:
    return tf.data.experimental.make_batched_features_dataset(
        pattern, batch_size=8, features=FEATURES, label_key="label", num_epochs=1
    )
