"""Input of BERT; the features are described once, outside the function."""

import tensorflow as tf

MAX_SEQ_LENGTH = 128
BATCH_SIZE = 32
SHUFFLE_BUFFER = 1000

name_to_features = {
    "input_ids": tf.io.FixedLenFeature([MAX_SEQ_LENGTH], tf.int64),
    "input_mask": tf.io.FixedLenFeature([MAX_SEQ_LENGTH], tf.int64),
    "segment_ids": tf.io.FixedLenFeature([MAX_SEQ_LENGTH], tf.int64),
    "label_ids": tf.io.FixedLenFeature([], tf.int64),
}


def decode_record(record):
    """Decodes a record to a TensorFlow example."""
    example = tf.io.parse_single_example(record, name_to_features)

    # tf.Example only supports tf.int64, but the TPU only supports tf.int32.
    # So cast all int64 to int32.
    for name in list(example.keys()):
        t = example[name]
        if t.dtype == tf.int64:
            t = tf.cast(t, tf.int32)
        example[name] = t
    return example


def get_dataset(filenames, shuffle_buffer=SHUFFLE_BUFFER):
    d = tf.data.TFRecordDataset(filenames)
    d = d.map(decode_record)
    d = d.shuffle(buffer_size=shuffle_buffer)
    return d.batch(BATCH_SIZE, drop_remainder=True)
