"""Texts that are cut or padded to one length with `tf.cond`."""

import tensorflow as tf

MAX_LEN = 128
BATCH_SIZE = 32
SHUFFLE_BUFFER = 1000


def parse(serialized):
    features = tf.io.parse_single_example(
        serialized,
        {"tokens": tf.io.VarLenFeature(tf.int64), "label": tf.io.FixedLenFeature([], tf.int64)},
    )
    tokens = tf.cast(tf.sparse.to_dense(features["tokens"]), tf.int32)
    length = tf.size(tokens)
    tokens = tf.cond(
        length > MAX_LEN,
        lambda: tokens[:MAX_LEN],
        lambda: tf.pad(tokens, [[0, MAX_LEN - length]]),
    )
    tokens = tf.reshape(tokens, [MAX_LEN])
    return tokens, tf.cast(features["label"], tf.int32)


def get_dataset(filenames, shuffle_buffer=SHUFFLE_BUFFER):
    dataset = tf.data.TFRecordDataset(filenames)
    dataset = dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.shuffle(shuffle_buffer)
    return dataset.batch(BATCH_SIZE).prefetch(tf.data.AUTOTUNE)
