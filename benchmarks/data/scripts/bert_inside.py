"""Input of BERT; the features are described in the function, anew in each call."""

import tensorflow as tf

BATCH_SIZE = 32
SHUFFLE_BUFFER = 1000


def _parse_function(example_proto, seq_length=128):
    name_to_features = {
        "input_ids": tf.io.FixedLenFeature([seq_length], tf.int64),
        "input_mask": tf.io.FixedLenFeature([seq_length], tf.int64),
        "segment_ids": tf.io.FixedLenFeature([seq_length], tf.int64),
        "label_ids": tf.io.FixedLenFeature([], tf.int64),
    }
    example = tf.io.parse_single_example(example_proto, name_to_features)
    x = {
        "input_word_ids": tf.cast(example["input_ids"], tf.int32),
        "input_mask": tf.cast(example["input_mask"], tf.int32),
        "input_type_ids": tf.cast(example["segment_ids"], tf.int32),
    }
    y = tf.cast(example["label_ids"], tf.int32)
    return x, y


def get_dataset(filenames, shuffle_buffer=SHUFFLE_BUFFER):
    dataset = tf.data.TFRecordDataset(filenames)
    dataset = dataset.map(lambda record: _parse_function(record), num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.shuffle(shuffle_buffer)
    dataset = dataset.batch(BATCH_SIZE)
    return dataset.prefetch(tf.data.AUTOTUNE)
