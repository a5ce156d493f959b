"""A language model: token lists of any length, the input and the same shifted by one."""

import tensorflow as tf

BATCH_SIZE = 16
SHUFFLE_BUFFER = 1000


def _parse_record(record):
    features = {"input_token_ids": tf.io.VarLenFeature(tf.int64)}
    example = tf.io.parse_single_example(record, features)
    tokens = tf.cast(tf.sparse.to_dense(example["input_token_ids"]), tf.int32)
    return tokens[:-1], tokens[1:]


def get_dataset(filenames, shuffle_buffer=SHUFFLE_BUFFER):
    dataset = tf.data.TFRecordDataset(filenames)
    dataset = dataset.map(_parse_record, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.shuffle(shuffle_buffer)
    dataset = dataset.padded_batch(BATCH_SIZE, padded_shapes=([None], [None]))
    return dataset.prefetch(tf.data.AUTOTUNE)
