"""What every engine reads: features of each kind, given and inferred, and files that are wrong."""

import numpy as np
import pytest

import tfrecord_fast as tf

__all__ = ["KINDS", "PARTS", "SEQUENCES", "WRONG", "write_kinds", "write_sequences"]

PARTS = [1, 2, 3, 4, 5, 7, 8, 11, 16]
ROWS = 400
SEQUENCES = (
    {"id": tf.io.FixedLenFeature([], tf.int64), "label": tf.io.VarLenFeature(tf.string)},
    {
        "frames": tf.io.FixedLenSequenceFeature([2], tf.float32),
        "words": tf.io.VarLenFeature(tf.string),
        "rows": tf.io.RaggedFeature(tf.int64),
    },
)
KINDS = {
    "scalar": {"id": tf.io.FixedLenFeature([], tf.int64)},
    "default": {"maybe": tf.io.FixedLenFeature([], tf.int64, default_value=-1)},
    "shape": {"vector": tf.io.FixedLenFeature([2, 3], tf.float32)},
    "shape of text": {"pair": tf.io.FixedLenFeature([2], tf.string)},
    "cast": {"small": tf.io.FixedLenFeature([], tf.uint8), "vector": tf.io.FixedLenFeature([6], tf.float16)},
    "raw": {"raw": tf.io.FixedLenFeature([2, 2], tf.uint8)},
    "list": {"tags": tf.io.VarLenFeature(tf.string), "counts": tf.io.VarLenFeature(tf.int64)},
    "ragged": {"counts": tf.io.RaggedFeature(tf.int64)},
    "partitions": {"vector": tf.io.RaggedFeature(tf.float32, partitions=[tf.io.RaggedFeature.UniformRowLength(3)])},
    "sparse": {"sparse": tf.io.SparseFeature("index", "value", tf.float32, 20)},
    "steps": {"steps": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)},
    "names": {"schlüssel 😀": tf.io.FixedLenFeature([], tf.int64)},
    "inferred": "infer",
}


def write_kinds(folder):
    """Files of Examples with a column for each of KINDS."""
    rng = np.random.default_rng(1)
    for number in range(3):
        lengths = rng.integers(0, 4, ROWS)
        ids = np.arange(ROWS) + number * ROWS
        columns = {
            "id": ids,
            "maybe": [None if i % 3 else int(i) for i in ids],
            "vector": rng.random((ROWS, 2, 3), np.float32),
            "pair": [[b"%d" % i, b"\0"] for i in ids],
            "small": ids % 256,
            "raw": [bytes([i % 256, 0, 1, 2]) for i in ids],
            "tags": [[b"t%d" % j for j in range(n)] for n in lengths],
            "counts": [list(range(n)) for n in lengths],
            "index": [sorted(rng.choice(20, n, replace=False).tolist()) for n in lengths],
            "value": [rng.random(n, np.float32).tolist() for n in lengths],
            "steps": [list(range(2 * n)) for n in lengths],
            "schlüssel 😀": ids,
        }
        with tf.ExampleWriter(f"{folder}/{number}.tfrecord") as writer:
            writer.write(columns)
    return str(folder)


def write_sequences(folder):
    """Files of SequenceExamples."""
    train = tf.train
    for number in range(3):
        with tf.io.TFRecordWriter(f"{folder}/{number}.tfrecord") as writer:
            for i in range(number * 50, number * 50 + 50):
                steps = i % 4
                lists = {
                    "frames": [train.Feature(float_list=train.FloatList(value=[i, j])) for j in range(steps)],
                    "words": [train.Feature(bytes_list=train.BytesList(value=[b"w"] * j)) for j in range(steps)],
                    "rows": [train.Feature(int64_list=train.Int64List(value=range(j))) for j in range(steps)],
                }
                context = {
                    "id": train.Feature(int64_list=train.Int64List(value=[i])),
                    "label": train.Feature(bytes_list=train.BytesList(value=[b"l"] * (i % 3))),
                }
                example = train.SequenceExample(
                    context=train.Features(feature=context),
                    feature_lists=train.FeatureLists(
                        feature_list={key: train.FeatureList(feature=one) for key, one in lists.items()}
                    ),
                )
                writer.write(example.SerializeToString())
    return str(folder)


def _kind(path):
    with tf.ExampleWriter(path) as writer:
        writer.write({"a": [b"x"] * 50})


def _absent(path):
    with tf.ExampleWriter(path) as writer:
        writer.write({"b": [1] * 50})


def _shape(path):
    with tf.ExampleWriter(path) as writer:
        writer.write({"a": [[1, 2]] * 50})


def _flipped(path):
    with tf.ExampleWriter(path) as writer:
        writer.write({"a": [1] * 50})
    data = bytearray(path.read_bytes())
    data[200] ^= 1
    path.write_bytes(data)


def _cut(path):
    with tf.ExampleWriter(path) as writer:
        writer.write({"a": [1] * 50})
    path.write_bytes(path.read_bytes()[:-5])


def _text(path):
    path.write_text("this is a text, and no records\n" * 20)


def _no_example(path):
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"\xff\xff\xff not an Example")


WRONG = [
    pytest.param(make, id=make.__name__[1:]) for make in (_kind, _absent, _shape, _flipped, _cut, _text, _no_example)
]
