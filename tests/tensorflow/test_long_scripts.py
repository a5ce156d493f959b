"""Whole scripts in the style of TensorFlow's pages, in our own words: they print the same with the import changed.

One writes and reads a file as the TFRecord tutorial does, one trains on images in records as Keras' recipe does, one
walks through what the guide to `tf.data` does with records, batches and windows.
"""

import os
import subprocess
import sys

import pytest

from tests.support import live_tensorflow
from tests.support.paths import ROOT
from tests.tensorflow.test_tutorial import TUTORIAL

pytest.importorskip("google.protobuf")
pytest.importorskip("PIL")
pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SHOW = """
def show(value):
    if isinstance(value, dict):
        for key in sorted(value):
            print(key, end=": ")
            show(value[key])
    elif isinstance(value, (list, tuple)):
        for item in value:
            show(item)
    else:
        print(getattr(value, "dtype", type(value)), value)
"""

RECIPE = """
import functools
import numpy as np
import tensorflow as tf

tf.random.set_seed(1)
AUTOTUNE = tf.data.AUTOTUNE
IMAGE_SIZE = [12, 12]
rng = np.random.default_rng(0)

def _bytes(value):
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

for part in range(2):
    with tf.io.TFRecordWriter(f"melanoma-{part}.tfrec") as writer:
        for number in range(10):
            dark = number % 2
            image = rng.integers(0, 120, (16, 16, 3)) + 120 * dark
            feature = {
                "image": _bytes(tf.io.encode_png(tf.constant(image, tf.uint8))),
                "target": tf.train.Feature(int64_list=tf.train.Int64List(value=[dark])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

FILENAMES = tf.io.gfile.glob("melanoma*.tfrec")
split = int(0.5 * len(FILENAMES))
TRAINING, VALID = sorted(FILENAMES)[:split], sorted(FILENAMES)[split:]
print("files:", len(TRAINING), len(VALID))

def decode_image(image):
    image = tf.image.decode_png(image, channels=3)
    image = tf.cast(image, tf.float32)
    return tf.reshape(image, [16, 16, 3])

def read_tfrecord(example, labeled):
    description = {"image": tf.io.FixedLenFeature([], tf.string)}
    if labeled:
        description["target"] = tf.io.FixedLenFeature([], tf.int64)
    example = tf.io.parse_single_example(example, description)
    image = tf.image.resize(decode_image(example["image"]), IMAGE_SIZE) / 255.0
    if labeled:
        return image, tf.cast(example["target"], tf.int32)
    return image

def load_dataset(filenames, labeled=True):
    options = tf.data.Options()
    options.deterministic = True
    dataset = tf.data.TFRecordDataset(filenames)
    dataset = dataset.with_options(options)
    return dataset.map(functools.partial(read_tfrecord, labeled=labeled), num_parallel_calls=AUTOTUNE)

def get_dataset(filenames, labeled=True):
    return load_dataset(filenames, labeled=labeled).cache().prefetch(buffer_size=AUTOTUNE).batch(4)

image_batch, label_batch = next(iter(get_dataset(TRAINING)))
print(image_batch.shape, image_batch.dtype, label_batch.numpy())
print(np.round(image_batch.numpy()[0, :2, :2], 4).tolist(), float(tf.reduce_max(image_batch)) <= 1.0)
print(get_dataset(TRAINING, labeled=False).element_spec.dtype)

tf.keras.utils.set_random_seed(3)
model = tf.keras.Sequential([
    tf.keras.Input((*IMAGE_SIZE, 3)),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=tf.keras.optimizers.Adam(0.5), loss="binary_crossentropy", metrics=["accuracy"])
history = model.fit(get_dataset(TRAINING), epochs=8, validation_data=get_dataset(VALID), verbose=0)
print({key: f"{values[-1]:.4f}" for key, values in sorted(history.history.items())})
print(np.round(model.predict(get_dataset(VALID, labeled=False), verbose=0)[:4, 0], 3))
"""

GUIDE = """
import numpy as np
import tensorflow as tf

np.set_printoptions(precision=4)
dataset = tf.data.Dataset.from_tensor_slices([8, 3, 0, 8, 2, 1])
for elem in dataset:
    print(elem.numpy())
print(next(iter(dataset)).numpy(), dataset.reduce(0, lambda state, value: state + value).numpy())

pairs = tf.data.Dataset.zip((
    tf.data.Dataset.from_tensor_slices(tf.reshape(tf.range(12, dtype=tf.float32), [4, 3])),
    tf.data.Dataset.from_tensor_slices((tf.ones([4]), tf.reshape(tf.range(8), [4, 2]))),
))
print(pairs.element_spec)
for a, (b, c) in pairs:
    print("shapes: {a.shape}, {b.shape}, {c.shape}".format(a=a, b=b, c=c))

def count(stop):
    i = 0
    while i < stop:
        yield i
        i += 1

counted = tf.data.Dataset.from_generator(count, args=[25], output_types=tf.int32, output_shapes=())
for batch in counted.repeat().batch(10).take(4):
    print(batch.numpy())

def series():
    for i in range(5):
        yield i, np.arange(i * 2, dtype=np.float32)

ragged = tf.data.Dataset.from_generator(series, output_types=(tf.int32, tf.float32), output_shapes=((), (None,)))
ids, padded = next(iter(ragged.padded_batch(3)))
print(ids.numpy(), padded.numpy(), sep="\\n")

with tf.io.TFRecordWriter("signs.tfrecord") as writer:
    for number in range(5):
        feature = {
            "image/text": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"Rue %d" % number])),
            "image/width": tf.train.Feature(int64_list=tf.train.Int64List(value=[600 + number])),
            "boxes": tf.train.Feature(float_list=tf.train.FloatList(value=np.arange(number) / 4)),
        }
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

records = tf.data.TFRecordDataset(filenames=["signs.tfrecord"])
raw_example = next(iter(records))
parsed = tf.train.Example.FromString(raw_example.numpy())
print(parsed.features.feature["image/text"])

def tf_parse(eg):
    example = tf.io.parse_example(
        eg[tf.newaxis],
        {
            "image/text": tf.io.FixedLenFeature(shape=(), dtype=tf.string),
            "image/width": tf.io.FixedLenFeature(shape=(), dtype=tf.int64),
            "boxes": tf.io.VarLenFeature(tf.float32),
        },
    )
    return example["image/text"][0], example["image/width"][0], tf.sparse.to_dense(example["boxes"])[0]

text, width, boxes = tf_parse(raw_example)
print(text.numpy(), repr(width), boxes.shape)
for text, width, boxes in records.map(tf_parse).padded_batch(3):
    print(text.numpy(), width.numpy(), boxes.numpy(), sep="\\n")

incremental = tf.data.Dataset.zip((tf.data.Dataset.range(100), tf.data.Dataset.range(0, -100, -1)))
for batch in incremental.batch(4).take(2):
    print([arr.numpy() for arr in batch])
print(tf.data.Dataset.range(10).batch(7, drop_remainder=True).element_spec)

ragged_rows = tf.data.Dataset.range(20).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x))
for batch in ragged_rows.padded_batch(4, padded_shapes=(None,)).take(2):
    print(batch.numpy())

for batch in tf.data.Dataset.range(20).batch(10, drop_remainder=True).map(lambda x: (x[:-1], x[1:])):
    print(batch[0].numpy(), " => ", batch[1].numpy())
windows = tf.data.Dataset.range(30).window(5, shift=5)
for sub in windows.take(2):
    print([number.numpy() for number in sub])
flat = windows.flat_map(lambda x: x).take(7)
print(*flat.as_numpy_iterator())
for example in tf.data.Dataset.range(40).window(10, shift=5, stride=3, drop_remainder=True).flat_map(
    lambda sub: sub.batch(10, drop_remainder=True)
).take(3):
    print(example.numpy())

lines = tf.data.Dataset.from_tensor_slices([[1.0, 22.0], [0.0, 38.0]])
print([float(x[1]) for x in lines.filter(lambda line: tf.not_equal(line[0], 0.0))])

def doubled(x):
    return np.asarray(x) * 2

print([x.numpy() for x in tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(doubled, [x], tf.int64))])
@tf.function
def squared(x):
    return tf.square(x)
print(list(tf.data.Dataset.range(4).map(squared).as_numpy_iterator()))
"""


def printed(script, folder, package):
    """Return the output of a script with a package in TensorFlow's place."""
    folder.mkdir()
    (folder / "script.py").write_text(script.replace("import tensorflow as tf", f"import {package} as tf"))
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


SCRIPTS = {
    "tutorial": SHOW + "".join(f"{block}\nshow(shown)\n" for block in TUTORIAL),
    "recipe": RECIPE,
    "guide": GUIDE,
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_prints_what_it_prints_with_tensorflow(name, tmp_path):
    theirs = printed(SCRIPTS[name], tmp_path / "theirs", "tensorflow")
    ours = printed(SCRIPTS[name], tmp_path / "ours", "tfrecord_fast.tensorflow")
    assert ours.splitlines() == theirs.splitlines()
    assert len(ours.splitlines()) > 5
