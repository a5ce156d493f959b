"""Writes images and a JSON file of annotations, in the style of COCO, to shards; draws one; trains a classifier.

    python examples/images_with_annotations.py [FOLDER]

Writes FOLDER/sample.png: one image with the box around its shape. Needs the extras `examples` and `protobuf`. With
Keras installed (on PyTorch or JAX), it also trains a small convolutional network.
"""

import json
import os
import sys
import tempfile

import numpy as np

import tfrecord_fast as tf

SIDE = 32
IMAGES = 250
PER_FILE = 4096


def make_data(folder):
    """Write image files with a disc or a square each, and annotations.json."""
    random = np.random.default_rng(3)
    tf.io.gfile.makedirs(os.path.join(folder, "images"))
    annotations = []
    y, x = np.mgrid[:SIDE, :SIDE]
    for i in range(IMAGES):
        category = int(random.integers(2))
        radius = int(random.integers(4, 9))
        cx, cy = (int(v) for v in random.integers(radius, SIDE - radius, 2))
        far = np.hypot(x - cx, y - cy) if category else np.maximum(abs(x - cx), abs(y - cy))
        inside = far <= radius
        picture = np.where(inside[..., None], random.integers(150, 256, 3), random.integers(0, 90, 3))
        name = f"{i:012}.jpg"
        tf.io.write_file(os.path.join(folder, "images", name), tf.io.encode_jpeg(picture.astype(np.uint8)))
        annotations.append(
            {
                "id": 1000 + i,
                "image_id": i,
                "file_name": name,
                "category_id": category,
                "area": float(inside.sum()),
                "bbox": [float(v) for v in (cx - radius, cy - radius, 2 * radius + 1, 2 * radius + 1)],
            }
        )
    with open(os.path.join(folder, "annotations.json"), "w") as file:
        json.dump({"annotations": annotations}, file)


def image_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value.encode()]))


def float_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))


def float_list_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=value))


def int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def create_example(image, annotation):
    return tf.train.Example(
        features=tf.train.Features(
            feature={
                "image": image_feature(image),
                "path": bytes_feature(annotation["file_name"]),
                "area": float_feature(annotation["area"]),
                "bbox": float_list_feature(annotation["bbox"]),
                "category_id": int64_feature(annotation["category_id"]),
                "id": int64_feature(annotation["id"]),
                "image_id": int64_feature(annotation["image_id"]),
            }
        )
    )


def write(folder):
    """Write shards, named after their numbers and their record counts."""
    with open(os.path.join(folder, "annotations.json")) as file:
        annotations = json.load(file)["annotations"]
    for number, start in enumerate(range(0, len(annotations), PER_FILE)):
        samples = annotations[start : start + PER_FILE]
        path = os.path.join(folder, f"file_{number:02}-{len(samples)}.tfrec")
        with tf.io.TFRecordWriter(path) as writer:
            for sample in samples:
                with open(os.path.join(folder, "images", sample["file_name"]), "rb") as file:
                    writer.write(create_example(file.read(), sample).SerializeToString())


def parse(record):
    features = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "path": tf.io.FixedLenFeature([], tf.string),
        "area": tf.io.FixedLenFeature([], tf.float32),
        "bbox": tf.io.VarLenFeature(tf.float32),
        "category_id": tf.io.FixedLenFeature([], tf.int64),
        "id": tf.io.FixedLenFeature([], tf.int64),
        "image_id": tf.io.FixedLenFeature([], tf.int64),
    }
    example = tf.io.parse_single_example(record, features)
    example["image"] = tf.io.decode_jpeg(example["image"], channels=3)
    example["bbox"] = tf.sparse.to_dense(example["bbox"])
    return example


def records(folder):
    return tf.data.TFRecordDataset(sorted(tf.io.gfile.glob(os.path.join(folder, "*.tfrec"))))


def read(folder):
    """Return the first samples, in order."""
    return list(records(folder).map(parse).take(20))


def draw(folder):
    """Draw one sample with its box; return the path of the picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import Rectangle

    [sample] = records(folder).map(parse).take(1)
    x, y, width, height = np.asarray(sample["bbox"])
    figure, axes = pyplot.subplots(figsize=(4, 4))
    axes.imshow(np.asarray(sample["image"]))
    axes.add_patch(Rectangle((x - 0.5, y - 0.5), width, height, fill=False, edgecolor="lime", linewidth=2))
    axes.set_title(f"image {int(sample['image_id'])}: category {int(sample['category_id'])}")
    path = os.path.join(folder, "sample.png")
    figure.savefig(path)
    pyplot.close(figure)
    return path


def train(folder, steps=80):
    """Train a small convolutional network to classify discs and squares; return the losses."""
    import keras

    keras.utils.set_random_seed(1)

    def prepare(record):
        example = parse(record)
        return tf.cast(example["image"], tf.float32) / 255.0, example["category_id"]

    batches = (
        records(folder)
        .map(prepare, num_parallel_calls=tf.data.AUTOTUNE)
        .shuffle(256, seed=1)
        .repeat()
        .batch(32)
        .prefetch(tf.data.AUTOTUNE)
    )
    model = keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 3)),
            keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
            keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
            keras.layers.GlobalMaxPooling2D(),
            keras.layers.Dense(2),
        ]
    )
    model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit((batch for batch in batches), steps_per_epoch=steps // 4, epochs=4, shuffle=False, verbose=0)
    return history.history["loss"]


def main(folder):
    make_data(folder)
    write(folder)
    for key, value in read(folder)[0].items():
        print(f"{key:12}", np.asarray(value).dtype, np.asarray(value).shape)
    try:
        print("picture:", draw(folder))
        print("losses:", train(folder))
    except ImportError as error:
        print("left out:", error)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
