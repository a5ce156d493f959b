"""Speech commands: a second of sound and the word."""

import tensorflow as tf

SAMPLES = 16384
NUM_LABELS = 35
BATCH_SIZE = 32
SHUFFLE_BUFFER = 256


def parse_tfrecord(serialized):
    example = tf.io.parse_single_example(
        serialized,
        features={
            "audio": tf.io.FixedLenFeature([SAMPLES], tf.float32),
            "label": tf.io.FixedLenFeature([], tf.int64),
        },
    )
    audio = tf.expand_dims(example["audio"], -1)
    label = tf.one_hot(example["label"], NUM_LABELS)
    return audio, label


def get_dataset(filenames, shuffle_buffer=SHUFFLE_BUFFER):
    ds = tf.data.TFRecordDataset(filenames)
    ds = ds.map(parse_tfrecord, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.shuffle(shuffle_buffer)
    return ds.batch(BATCH_SIZE).prefetch(tf.data.AUTOTUNE)
