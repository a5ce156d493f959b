"""Signals, some of which were recorded backwards: a Python `if` on a tensor."""

import tensorflow as tf

LENGTH = 256
BATCH_SIZE = 64
SHUFFLE_BUFFER = 1000

description = {
    "signal": tf.io.FixedLenFeature([LENGTH], tf.float32),
    "backwards": tf.io.FixedLenFeature([], tf.int64),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def parse(record):
    example = tf.io.parse_single_example(record, description)
    signal = example["signal"]
    if example["backwards"] == 1:
        signal = tf.reverse(signal, axis=[0])
    signal = (signal - tf.reduce_mean(signal)) * 0.5
    return signal, example["label"]


def get_dataset(filenames, shuffle_buffer=SHUFFLE_BUFFER):
    dataset = tf.data.TFRecordDataset(filenames)
    dataset = dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.shuffle(shuffle_buffer)
    return dataset.batch(BATCH_SIZE).prefetch(tf.data.AUTOTUNE)
