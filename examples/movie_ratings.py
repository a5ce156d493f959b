"""Writes ratings of movies, with numbers, text and lists in one Example, reads them back, and prints them.

    python examples/movie_ratings.py [FOLDER]

Needs the extra `protobuf`.
"""

import os
import sys
import tempfile

import numpy as np

import tfrecord_fast as tf

RATINGS = [
    {"Age": 29, "Movie": ["The Long Walk", "Night Train"], "Movie Ratings": [9.0, 9.7], "Suggestion": "More trains"},
    {"Age": 34, "Movie": ["Harbour"], "Movie Ratings": [6.5], "Suggestion": "Fewer boats", "Tips": [3]},
    {"Age": 51, "Movie": [], "Movie Ratings": [], "Suggestion": "", "Tips": [1, 2]},
]


def example_of(row):
    """Make an Example of scalars and lists."""
    feature = {
        "Age": tf.train.Feature(int64_list=tf.train.Int64List(value=[row["Age"]])),
        "Movie": tf.train.Feature(
            bytes_list=tf.train.BytesList(value=[title.encode("utf-8") for title in row["Movie"]])
        ),
        "Movie Ratings": tf.train.Feature(float_list=tf.train.FloatList(value=row["Movie Ratings"])),
        "Suggestion": tf.train.Feature(bytes_list=tf.train.BytesList(value=[row["Suggestion"].encode("utf-8")])),
    }
    if "Tips" in row:
        feature["Tips"] = tf.train.Feature(int64_list=tf.train.Int64List(value=row["Tips"]))
    return tf.train.Example(features=tf.train.Features(feature=feature))


def write(folder):
    with tf.io.TFRecordWriter(os.path.join(folder, "ratings.tfrecord")) as writer:
        for row in RATINGS:
            writer.write(example_of(row).SerializeToString())


FEATURES = {
    "Age": tf.io.FixedLenFeature([], dtype=tf.int64),
    "Movie": tf.io.VarLenFeature(dtype=tf.string),
    "Movie Ratings": tf.io.VarLenFeature(dtype=tf.float32),
    "Suggestion": tf.io.FixedLenFeature([], dtype=tf.string),
    "Purchase Price": tf.io.FixedLenFeature([], dtype=tf.float32, default_value=9.99),
    "Tips": tf.io.FixedLenSequenceFeature([], dtype=tf.int64, allow_missing=True),
}


def read(folder):
    """Return one dict per record, and one for a batch of all records."""
    records = tf.data.TFRecordDataset([os.path.join(folder, "ratings.tfrecord")])
    singles = records.map(lambda record: tf.io.parse_single_example(record, features=FEATURES))
    batch = records.batch(3).map(lambda serialized: tf.io.parse_example(serialized, FEATURES))
    return [
        {key: tf.sparse.to_dense(value) if hasattr(value, "indices") else value for key, value in parsed.items()}
        for parsed in [*singles, *batch]
    ]


def main(folder):
    write(folder)
    for parsed in read(folder):
        for key, value in parsed.items():
            print(f"{key}: {np.asarray(value).tolist()}")
        print()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
