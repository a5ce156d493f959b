"""Click-through rates: 40 scalar features, stacked by kind."""

import tensorflow as tf

BATCH_SIZE = 256
SHUFFLE_BUFFER = 4096
NUMERIC = [f"I{i}" for i in range(1, 14)]
CATEGORICAL = [f"C{i}" for i in range(1, 27)]

feature_spec = {name: tf.io.FixedLenFeature([], tf.float32) for name in NUMERIC}
feature_spec.update({name: tf.io.FixedLenFeature([], tf.int64) for name in CATEGORICAL})
feature_spec["label"] = tf.io.FixedLenFeature([], tf.int64)


def parse_example(serialized):
    parsed = tf.io.parse_single_example(serialized, feature_spec)
    dense = tf.stack([parsed[name] for name in NUMERIC])
    dense = tf.math.log(tf.maximum(dense, 0.0) + 1.0)
    sparse = tf.stack([parsed[name] for name in CATEGORICAL])
    label = tf.cast(parsed["label"], tf.float32)
    return {"dense": dense, "sparse": sparse}, label


def get_dataset(filenames, shuffle_buffer=SHUFFLE_BUFFER):
    dataset = tf.data.TFRecordDataset(filenames)
    dataset = dataset.map(parse_example, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.shuffle(shuffle_buffer)
    dataset = dataset.batch(BATCH_SIZE)
    return dataset.prefetch(tf.data.AUTOTUNE)
