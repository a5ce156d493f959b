"""Writes the rows of a table and a folder of images to GZIP shards, reads them in batches, and trains a model.

    python examples/structured_rows.py [FOLDER]

Needs the extras `image` and `protobuf`. With Keras installed (on PyTorch or JAX), it also trains a small model.
"""

import os
import sys
import tempfile

import numpy as np

import tfrecord_fast as tf

ROWS, SHARDS, SIDE = 240, 4, 16


def make_rows():
    """Yield people as dicts of integers, floats, text and a list of hobbies."""
    random = np.random.default_rng(7)
    age = random.integers(18, 80, ROWS)
    height = random.normal(1.7, 0.1, ROWS).astype(np.float32)
    for i in range(ROWS):
        yield {
            "age": int(age[i]),
            "height": float(height[i]),
            "name": f"person {i}",
            "hobbies": random.integers(0, 9, random.integers(0, 4)),
            "tall": int(height[i] > 1.7),
        }


def write_images(folder):
    """Write a folder of JPEG files."""
    tf.io.gfile.makedirs(os.path.join(folder, "images"))
    y, x = np.mgrid[:SIDE, :SIDE]
    for i in range(ROWS):
        picture = np.stack([x * 15, y * 15, np.full_like(x, i)], axis=-1).astype(np.uint8)
        tf.io.write_file(os.path.join(folder, "images", f"{i:03}.jpg"), tf.io.encode_jpeg(picture))


def int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=np.atleast_1d(value)))


def float_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))


def bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def write(folder):
    """Write rows and images to the shards in turn."""
    paths = [os.path.join(folder, f"rows-{shard}.tfrecord.gz") for shard in range(SHARDS)]
    writers = [tf.io.TFRecordWriter(path, tf.io.TFRecordOptions("GZIP")) for path in paths]
    for i, row in enumerate(make_rows()):
        with tf.io.gfile.GFile(os.path.join(folder, "images", f"{i:03}.jpg"), "rb") as file:
            image = file.read()
        feature = {
            "age": int64_feature(row["age"]),
            "height": float_feature(row["height"]),
            "name": bytes_feature(row["name"].encode()),
            "image": bytes_feature(image),
            "tall": int64_feature(row["tall"]),
        }
        if len(row["hobbies"]):
            feature["hobbies"] = int64_feature(row["hobbies"])
        example = tf.train.Example(features=tf.train.Features(feature=feature))
        writers[i % SHARDS].write(example.SerializeToString())
    for writer in writers:
        writer.close()


FEATURES = {
    "age": tf.io.FixedLenFeature([], tf.int64),
    "height": tf.io.FixedLenFeature([], tf.float32),
    "name": tf.io.FixedLenFeature([], tf.string),
    "nickname": tf.io.FixedLenFeature([], tf.string, default_value="none"),
    "hobbies": tf.io.VarLenFeature(tf.int64),
    "image": tf.io.FixedLenFeature([], tf.string),
    "tall": tf.io.FixedLenFeature([], tf.int64),
}


def dataset(folder, **options):
    return tf.data.experimental.make_batched_features_dataset(
        os.path.join(folder, "rows-*.tfrecord.gz"),
        batch_size=32,
        features=FEATURES,
        reader=tf.data.TFRecordDataset,
        reader_args=["GZIP"],
        label_key="tall",
        **options,
    )


def read(folder):
    """Return every batch of one epoch in the order of the files, as arrays."""
    batches = []
    for columns, label in dataset(folder, shuffle=False, num_epochs=1):
        hobbies = tf.sparse.to_dense(columns["hobbies"], default_value=-1)
        first_image = tf.io.decode_jpeg(columns["image"][0])
        plain = {key: columns[key] for key in ("age", "height", "name", "nickname")}
        batches.append({**plain, "hobbies": hobbies, "image": first_image, "tall": label})
    return batches


def train(folder, steps=60):
    """Train a model on two numbers and the image; return the losses."""
    import keras

    keras.utils.set_random_seed(1)

    def batches():
        # Endless and shuffled by default; Keras takes an iterator over NumPy values.
        for columns, label in dataset(folder, shuffle_seed=1).as_numpy_iterator():
            numbers = np.stack([columns["age"] / 80, columns["height"] * 10 - 17], axis=1).astype(np.float32)
            images = np.stack([np.asarray(tf.io.decode_jpeg(image)) for image in columns["image"]])
            yield (numbers, images.astype(np.float32) / 255), np.asarray(label)

    numbers = keras.Input((2,))
    image = keras.Input((SIDE, SIDE, 3))
    flat = keras.layers.Flatten()(keras.layers.Conv2D(4, 3, strides=2, activation="relu")(image))
    merged = keras.layers.Dense(8, activation="relu")(keras.layers.Concatenate()([numbers, flat]))
    model = keras.Model([numbers, image], keras.layers.Dense(1, activation="sigmoid")(merged))
    model.compile(keras.optimizers.Adam(0.02), "binary_crossentropy")
    history = model.fit(batches(), steps_per_epoch=steps // 2, epochs=2, shuffle=False, verbose=0)
    return history.history["loss"]


def main(folder):
    write_images(folder)
    write(folder)
    first = read(folder)[0]
    for key, value in first.items():
        print(f"{key:9}", np.asarray(value).dtype, np.asarray(value).shape, np.asarray(value).ravel()[:4])
    try:
        print("losses:", train(folder))
    except ImportError as error:
        print("no model is trained:", error)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
