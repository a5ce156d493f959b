"""Writes word counts as sparse features, and images as raw bytes, to files for training, validation and test.

    python examples/sparse_text.py [FOLDER]

Needs the extras `examples` (scikit-learn) and `protobuf`.
"""

import os
import sys
import tempfile

import numpy as np

import tfrecord_fast as tf

SIDE, CHANNELS = 8, 3
WORDS = "a bird sat on the old stone wall and sang until rain fell over grey hills".split()
SPLITS = {"train": 60, "val": 20, "test": 20}


def make_texts():
    random = np.random.default_rng(11)
    return [" ".join(random.choice(WORDS, random.integers(1, 12))) for _ in range(sum(SPLITS.values()))]


def make_images():
    return np.random.default_rng(12).integers(0, 256, (sum(SPLITS.values()), SIDE, SIDE, CHANNELS), dtype=np.uint8)


def vectorize(texts):
    """Return a sparse matrix of counts: one row per text, one column per word."""
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(vocabulary=sorted(WORDS), token_pattern=r"\w+").fit_transform(texts)


def write(folder):
    counts, images = vectorize(make_texts()), make_images()
    row = 0
    for split, size in SPLITS.items():
        with tf.io.TFRecordWriter(os.path.join(folder, f"{split}.tfrecord")) as writer:
            for _ in range(size):
                words = counts[row].tocoo()
                feature = {
                    "index": tf.train.Feature(int64_list=tf.train.Int64List(value=words.col)),
                    "value": tf.train.Feature(float_list=tf.train.FloatList(value=words.data)),
                    "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[images[row].tobytes()])),
                    "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[row % 2])),
                }
                example = tf.train.Example(features=tf.train.Features(feature=feature))
                writer.write(example.SerializeToString())
                row += 1


FEATURES = {
    "text": tf.io.SparseFeature("index", "value", tf.float32, len(WORDS)),
    "image": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def parse(record):
    """Return dense word counts, an image of numbers around 0, and a label."""
    parsed = tf.io.parse_single_example(record, FEATURES)
    image = tf.reshape(tf.io.decode_raw(parsed["image"], tf.uint8), [SIDE, SIDE, CHANNELS])
    image = tf.cast(image, tf.float32) * (1.0 / 255) - 0.5
    return tf.sparse.to_dense(parsed["text"]), image, parsed["label"]


def dataset(folder, split, batch_size=16, shuffle=True):
    records = tf.data.TFRecordDataset(os.path.join(folder, f"{split}.tfrecord")).map(parse)
    if shuffle:
        records = records.shuffle(50 + 3 * batch_size).repeat()
    return records.batch(batch_size)


def read(folder):
    """Return all batches of each file, in order."""
    return {split: list(dataset(folder, split, shuffle=False)) for split in SPLITS}


def main(folder):
    write(folder)
    for split, batches in read(folder).items():
        print(split, [tuple(np.asarray(column).shape) for column in batches[-1]])
    for text, image, label in dataset(folder, "train").take(2):
        print("shuffled:", np.asarray(text).sum(axis=1), np.asarray(image).mean(), np.asarray(label))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
