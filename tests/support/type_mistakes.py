"""Mistakes that type checkers find without running anything: one in each line of `mistakes`."""
# ruff: noqa: B018

from pathlib import Path

import tfrecord_fast as tf

FEATURES = {"id": tf.io.FixedLenFeature([], tf.int64)}


def mistakes(path: Path, reader: tf.ShardReader[tf.RecordBatch], by_number: tf.IndexedReader[bytes]) -> None:
    tf.ShardReader(3)
    tf.ShardReader(path, 3)
    tf.ShardReader(path, "infered")
    tf.ShardReader(path, ["id"])
    tf.ShardReader(path, FEATURES, batch_size="32")
    tf.ShardReader(path, FEATURES, batch_size=None)
    tf.ShardReader(path, FEATURES, batch_size=32.0)
    tf.ShardReader(path, FEATURES, shuffle=True)
    tf.ShardReader(path, FEATURES, epochs=2)
    tf.ShardReader(path, FEATURES, num_workers=2)
    tf.ShardReader(path, FEATURES, shard=1)
    tf.ShardReader(path, FEATURES, shard="rank")
    tf.ShardReader(path, FEATURES, shard_by="files")
    tf.ShardReader(path, FEATURES, equal_shards=True)
    tf.ShardReader(path, FEATURES, on_corrupt="ignore")
    tf.ShardReader(path, FEATURES, seed="one")
    tf.ShardReader(path, FEATURES, columns=3)
    tf.ShardReader(path, FEATURES, label_key=3)
    tf.ShardReader(path, FEATURES, verify_crc="no")
    tf.ShardReader(path, FEATURES, compression=9)
    tf.ShardReader(path, FEATURES, storage_options="anon")
    tf.ShardReader(path, label_key="id")
    reader[0]
    reader.shuffle(10)
    reader.batch(10)
    next(reader)
    reader.set_epoch("1")
    reader.load_state_dict("state")
    reader.batch_size = 3
    reader.files.strip()
    reader.features.shape
    reader.skipped[0].record
    reader.num_records + "1"
    [batch["id"] for batch in reader]
    tf.IndexedReader(path, "infered")
    tf.IndexedReader(path, FEATURES, columns=["id"])
    by_number["id"]
    by_number.take("id")
    by_number[0].shape
    tf.RecordIndex.load(3)
    tf.io.TFRecordWriter(3)
    tf.io.TFRecordWriter(path, compression=3)
    tf.io.TFRecordWriter(path, level=3)
    tf.io.TFRecordWriter(path).write(3)
    tf.io.TFRecordWriter(path).write({"id": 3})
    tf.io.TFRecordWriter(path).write_all([b""])
    tf.ExampleWriter(path, num_shards="2")
    tf.ExampleWriter(path, shards=2)
    tf.ExampleWriter(path).write([{"id": 3}])
    tf.ExampleWriter(path).write({"id": [1]}, nan="drop")
    tf.ExampleWriter(path).files[0].size
    tf.io.parse_example([b""], {"id": tf.int64})
    tf.io.parse_example([b""])
    tf.io.FixedLenFeature(tf.int64)
    tf.io.FixedLenFeature([], 3)
    tf.io.VarLenFeature([], tf.int64)
    tf.io.RaggedFeature(tf.int64, shape=[2])
    tf.ImageFeature(224, crop="middle")
    tf.read_table(path, strings="utf8")
    tf.read_table(path, label_key="id")
    tf.infer_features(path, max_records="all")
    tf.TFRecordDataset(path).shufle(3)
    tf.as_dtype()
