"""What code that uses the package looks like; tests/house/test_types.py has mypy check it, strictly."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

import tfrecord_fast as tf
from tfrecord_fast.typing import Column, Columns, Features, SequenceColumns

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


def epochs(pattern: str) -> Iterator[npt.NDArray[np.uint64]]:
    for batch in tf.ShardReader(pattern, batch_size=64):
        sizes: npt.NDArray[np.int64] = batch.sizes
        first: bytes = batch[0]
        yield np.asarray(sizes + len(first), np.uint64)


def labelled(pattern: str) -> Iterator[tuple[list[str], npt.NDArray[np.int64]]]:
    for columns, label in tf.ShardReader(pattern, FEATURES, label_key="label", shuffle_buffer=100, seed=1):
        yield sorted(columns.keys()), label + 1


def inferred(pattern: str) -> list[str]:
    reader = tf.ShardReader(pattern, "infer")
    batch: Columns = next(iter(reader))
    return list(batch)


def of_sequences(pattern: str) -> Iterator[Columns]:
    features = ({"id": tf.VarLenFeature(tf.int64)}, {"step": tf.FixedLenSequenceFeature([], tf.float32)})
    for context, sequences, lengths in tf.ShardReader(pattern, features):
        yield {**context, **sequences, **lengths}


def picked(path: Path) -> tuple[bytes, int, list[str]]:
    records = tf.IndexedReader(path)
    columns = tf.IndexedReader([path], FEATURES, indexes=records.indexes)
    one: bytes = records[-1]
    some: tf.RecordBatch = records.take(np.arange(2))
    return one, some.nbytes + records[:1].nbytes, list(columns[0]) + list(columns[::2].keys())


def either(pattern: str, features: Features | None) -> int:
    reader: tf.ShardReader[tf.RecordBatch] | tf.ShardReader[Columns] = tf.ShardReader(pattern, features)
    return sum(len(batch) for batch in reader)


def encoded(words: list[str]) -> tf.RecordBatch:
    batch = tf.encode_examples({"words": words, "ids": np.arange(len(words)), "scores": [[0.5]] * len(words)})
    parsed: Columns = tf.parse_example(batch, tf.infer_features(batch))
    assert (parsed["ids"] + 1).min() == 1
    return batch


if TYPE_CHECKING:
    from typing_extensions import assert_type

    assert_type(tf.ShardReader("a", num_threads=2), tf.ShardReader[tf.RecordBatch])
    assert_type(tf.ShardReader(["a", Path("b")], FEATURES), tf.ShardReader[Columns])
    assert_type(tf.ShardReader("a", "infer"), tf.ShardReader[Columns])
    assert_type(tf.ShardReader("a", "infer", label_key="label"), tf.ShardReader[tuple[Columns, Column]])
    assert_type(tf.ShardReader("a", (FEATURES, None)), tf.ShardReader[SequenceColumns])
    assert_type([batch[0] for batch in tf.ShardReader("a")], list[bytes])
    assert_type(tf.IndexedReader("a"), tf.IndexedReader[bytes, tf.RecordBatch])
    assert_type(tf.IndexedReader("a", FEATURES)[1:2], Columns)
    assert_type(tf.IndexedReader("a").take([1, 2]), tf.RecordBatch)
    assert_type(tf.parse_example([b""], FEATURES), Columns)
    tf.ShardReader("a", 5)  # type: ignore[call-overload]
    tf.ShardReader("a", batch_sice=5)  # type: ignore[call-overload]
    tf.parse_example([1], FEATURES)  # type: ignore[list-item]
    tf.parse_example([b""], {"a": 1})  # type: ignore[arg-type]
    tf.VarLenFeature(5)  # type: ignore[arg-type]
