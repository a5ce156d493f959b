"""Detection: an image, and as many boxes as it has objects."""

import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
IMAGE_SIZE = 256
BATCH_SIZE = 16
SHUFFLE_BUFFER = 256

IMAGE_FEATURE_MAP = {
    "image/encoded": tf.io.FixedLenFeature([], tf.string),
    "image/object/bbox/xmin": tf.io.VarLenFeature(tf.float32),
    "image/object/bbox/ymin": tf.io.VarLenFeature(tf.float32),
    "image/object/bbox/xmax": tf.io.VarLenFeature(tf.float32),
    "image/object/bbox/ymax": tf.io.VarLenFeature(tf.float32),
    "image/object/class/label": tf.io.VarLenFeature(tf.int64),
}


def parse_tfrecord(tfrecord):
    x = tf.io.parse_single_example(tfrecord, IMAGE_FEATURE_MAP)
    image = tf.image.decode_jpeg(x["image/encoded"], channels=3)
    image = tf.image.resize(image, (IMAGE_SIZE, IMAGE_SIZE)) / 255.0
    boxes = tf.stack(
        [
            tf.sparse.to_dense(x["image/object/bbox/xmin"]),
            tf.sparse.to_dense(x["image/object/bbox/ymin"]),
            tf.sparse.to_dense(x["image/object/bbox/xmax"]),
            tf.sparse.to_dense(x["image/object/bbox/ymax"]),
        ],
        axis=1,
    )
    labels = tf.cast(tf.sparse.to_dense(x["image/object/class/label"]), tf.int32)
    return image, boxes, labels


def get_dataset(filenames, shuffle_buffer=SHUFFLE_BUFFER):
    dataset = tf.data.TFRecordDataset(filenames)
    dataset = dataset.map(parse_tfrecord, num_parallel_calls=AUTOTUNE)
    dataset = dataset.shuffle(shuffle_buffer)
    dataset = dataset.padded_batch(
        BATCH_SIZE,
        padded_shapes=([IMAGE_SIZE, IMAGE_SIZE, 3], [None, 4], [None]),
        padding_values=(0.0, 1e-8, -1),
    )
    return dataset.prefetch(AUTOTUNE)
