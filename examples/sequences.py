"""Writes tokens and labels as SequenceExamples, and images as bytes with their shapes.

    python examples/sequences.py [FOLDER]

Needs the extra `protobuf`.
"""

import os
import sys
import tempfile

import numpy as np

import tfrecord_fast as tf

SEQUENCES = [[1, 2, 3], [4, 5, 1], [1, 2], [7]]
LABELS = [[0, 1, 0], [1, 0, 0], [1, 1], [0]]
IMAGES = [np.arange(h * w * 3, dtype=np.uint8).reshape(h, w, 3) for h, w in [(4, 5), (2, 7)]]


def make_sequence(tokens, labels):
    """Make a SequenceExample with the length in its context, and a feature per step in its lists."""
    example = tf.train.SequenceExample()
    example.context.feature["length"].int64_list.value.append(len(tokens))
    token_list = example.feature_lists.feature_list["tokens"]
    label_list = example.feature_lists.feature_list["labels"]
    word_list = example.feature_lists.feature_list["letters"]
    for token, label in zip(tokens, labels, strict=True):
        token_list.feature.add().int64_list.value.append(token)
        label_list.feature.add().int64_list.value.append(label)
        word_list.feature.add().bytes_list.value.extend([b"x"] * token)
    return example


def make_image(image):
    shape = np.array(image.shape, np.int32)
    feature = {
        "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
        "shape": tf.train.Feature(bytes_list=tf.train.BytesList(value=[shape.tobytes()])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature))


def write(folder):
    with tf.io.TFRecordWriter(os.path.join(folder, "sequences.tfrecord")) as writer:
        for tokens, labels in zip(SEQUENCES, LABELS, strict=True):
            writer.write(make_sequence(tokens, labels).SerializeToString())
    with tf.io.TFRecordWriter(os.path.join(folder, "images.tfrecord")) as writer:
        for image in IMAGES:
            writer.write(make_image(image).SerializeToString())


CONTEXT = {"length": tf.io.FixedLenFeature([], dtype=tf.int64)}
STEPS = {
    "tokens": tf.io.FixedLenSequenceFeature([], dtype=tf.int64),
    "labels": tf.io.FixedLenSequenceFeature([], dtype=tf.int64),
    "letters": tf.io.VarLenFeature(tf.string),
}


def parse_sequence(record):
    context, steps = tf.io.parse_single_sequence_example(record, CONTEXT, STEPS)
    letters = tf.sparse.to_dense(steps["letters"])
    return context["length"], steps["tokens"], steps["labels"], letters


def parse_batch(records):
    context, steps, lengths = tf.io.parse_sequence_example(records, CONTEXT, STEPS)
    return context["length"], steps["tokens"], lengths["tokens"], tf.sparse.to_dense(steps["letters"])


def parse_image(record):
    features = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "shape": tf.io.FixedLenFeature([], tf.string),
    }
    parsed = tf.io.parse_single_example(record, features)
    shape = tf.io.decode_raw(parsed["shape"], tf.int32)
    return tf.reshape(tf.io.decode_raw(parsed["image"], tf.uint8), shape)


def read(folder):
    """Return single sequences, a padded batch, batches padded by the dataset, and the images."""
    sequences = tf.data.TFRecordDataset(os.path.join(folder, "sequences.tfrecord"))
    padded = sequences.map(parse_sequence).padded_batch(2, padded_shapes=([], [None], [None], [None, None]))
    return {
        "single": list(sequences.map(parse_sequence)),
        "batch": list(sequences.batch(3).map(parse_batch)),
        "padded": list(padded),
        "images": list(tf.data.TFRecordDataset(os.path.join(folder, "images.tfrecord")).map(parse_image)),
    }


def main(folder):
    write(folder)
    values = read(folder)
    for length, tokens, labels, letters in values["single"]:
        print(int(length), np.asarray(tokens), np.asarray(labels), np.asarray(letters).tolist())
    print("restored:", all((np.asarray(a) == b).all() for a, b in zip(values["images"], IMAGES, strict=True)))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
