"""Files for the tests of Grain and JAX, and their records as the protobuf runtime reads them."""

import itertools

import numpy as np
from absl import flags

import tfrecord_fast as tf
from tests.support.oracle_protobuf import Example

flags.FLAGS.mark_as_parsed()  # Grain's worker processes ask for absl's flags

SIZES = [0, 40, 1, 80, 120]
FEATURES = {
    "x": tf.FixedLenFeature([], tf.int64),
    "v": tf.FixedLenFeature([2], tf.float32),
    "s": tf.FixedLenFeature([], tf.string),
    "list": tf.VarLenFeature(tf.int64),
    "words": tf.VarLenFeature(tf.string),
}


def write_files(folder, sizes=SIZES, **options):
    """Files with so many records; the first one is empty."""
    paths, begin = [], 0
    for file, size in enumerate(sizes):
        x = np.arange(begin, begin + size)
        columns = {
            "x": x,
            "v": np.stack([x, -x], 1).astype(np.float32),
            "s": [b"%d\0" % i for i in x],
            "list": [list(range(i % 4)) for i in x],
            "words": [[b"w\0"] * (i % 3) for i in x],
        }
        paths.append(str(folder / f"{file}.tfrecord"))
        with tf.io.TFRecordWriter(paths[-1], **options) as writer:
            if size:
                writer.write_batch(tf.encode_examples(columns))
        begin += size
    return paths


def by_protobuf(record):
    """What the protobuf runtime finds in a serialized Example: lists by key."""
    feature = Example.FromString(record).features.feature
    return {key: list(getattr(value, value.WhichOneof("kind")).value) for key, value in feature.items()}


def joined(lists):
    return list(itertools.chain.from_iterable(lists))
