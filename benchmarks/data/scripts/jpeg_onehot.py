"""JPEGs that already have the model's size, with a one-hot label; the order of files does not matter."""

import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
HEIGHT, WIDTH = 200, 200
NUM_CLASSES = 104
BATCH_SIZE = 64
SHUFFLE_BUFFER = 512

feature_description = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "class": tf.io.FixedLenFeature([], tf.int64),
}


def parse_tfrecord(example_proto):
    features = tf.io.parse_single_example(example_proto, feature_description)
    image = tf.image.decode_jpeg(features["image"], channels=3)
    image = tf.cast(image, tf.float32) / 255.0
    image = tf.reshape(image, [HEIGHT, WIDTH, 3])
    label = tf.one_hot(features["class"], NUM_CLASSES)
    return image, label


def get_dataset(filenames, shuffle_buffer=SHUFFLE_BUFFER):
    ignore_order = tf.data.Options()
    ignore_order.experimental_deterministic = False
    dataset = tf.data.TFRecordDataset(filenames, num_parallel_reads=AUTOTUNE)
    dataset = dataset.with_options(ignore_order)
    dataset = dataset.map(parse_tfrecord, num_parallel_calls=AUTOTUNE)
    return dataset.shuffle(shuffle_buffer).batch(BATCH_SIZE).prefetch(AUTOTUNE)
