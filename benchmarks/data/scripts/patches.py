"""Earth Engine: patches of bands, as its guide for TensorFlow reads them."""

import tensorflow as tf

BANDS = ["B2", "B3", "B4"]
RESPONSE = "impervious"
FEATURES = [*BANDS, RESPONSE]
KERNEL_SHAPE = [256, 256]
COLUMNS = [tf.io.FixedLenFeature(shape=KERNEL_SHAPE, dtype=tf.float32) for k in FEATURES]
FEATURES_DICT = dict(zip(FEATURES, COLUMNS, strict=True))
BATCH_SIZE = 8
BUFFER_SIZE = 16


def parse_tfrecord(example_proto):
    """The parsing function: a dict of tensors, keyed by feature name."""
    return tf.io.parse_single_example(example_proto, FEATURES_DICT)


def to_tuple(inputs):
    """Turn the tensors returned by parse_tfrecord into a stack in HWC shape."""
    inputsList = [inputs.get(key) for key in FEATURES]
    stacked = tf.stack(inputsList, axis=0)
    # Convert from CHW to HWC
    stacked = tf.transpose(stacked, [1, 2, 0])
    return stacked[:, :, : len(BANDS)], stacked[:, :, len(BANDS) :]


def get_dataset(filenames, buffer_size=BUFFER_SIZE):
    dataset = tf.data.TFRecordDataset(filenames)
    dataset = dataset.map(parse_tfrecord, num_parallel_calls=5)
    dataset = dataset.map(to_tuple, num_parallel_calls=5)
    return dataset.shuffle(buffer_size).batch(BATCH_SIZE)
