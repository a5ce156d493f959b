"""A tutorial in TensorFlow's style, run twice: with TensorFlow, and with the import changed and `.numpy()` left out."""

import os

import numpy as np
import pytest

from tests.support import live_tensorflow

pytest.importorskip("google.protobuf")
pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

# The value of `shown` after each block is compared. The blocks run in order, in one folder.
TUTORIAL = [
    """
import numpy as np
import tensorflow as tf

def bytes_feature(value):
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()  # a BytesList takes no tensor
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

def float_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))

def int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))

shown = [str(bytes_feature(b"a string")), str(float_feature(0.5)), str(int64_feature(int(True))), str(int64_feature(1))]
shown.append(float_feature(np.exp(1)).SerializeToString())
""",
    """
n_observations = 200
random = np.random.default_rng(0)
feature0 = random.choice([False, True], n_observations)
feature1 = random.integers(0, 5, n_observations)
strings = np.array([b"cat", b"dog", b"chicken", b"horse", b"goat"])
feature2 = strings[feature1]
feature3 = random.normal(0, 1, n_observations)

def serialize_example(feature0, feature1, feature2, feature3):
    feature = {
        "feature0": int64_feature(int(feature0)),
        "feature1": int64_feature(int(feature1)),
        "feature2": bytes_feature(feature2),
        "feature3": float_feature(feature3),
    }
    example_proto = tf.train.Example(features=tf.train.Features(feature=feature))
    return example_proto.SerializeToString()

serialized_example = serialize_example(False, 4, b"goat", 0.9876)
shown = [str(tf.train.Example.FromString(serialized_example))]
""",
    """
features_dataset = tf.data.Dataset.from_tensor_slices((feature0, feature1, feature2, feature3))
shown = []
for f0, f1, f2, f3 in features_dataset.take(2):
    shown.append((f0.numpy(), f1.numpy(), f2.numpy(), f3.numpy()))

serialized_features_dataset = features_dataset.map(
    lambda *f: tf.py_function(lambda *f: serialize_example(*(x.numpy() for x in f)), f, tf.string)
)
shown += [str(tf.train.Example.FromString(x)) for x in serialized_features_dataset.take(3).as_numpy_iterator()]
""",
    """
filename = "test.tfrecord"
with tf.io.TFRecordWriter(filename) as writer:
    for i in range(n_observations):
        writer.write(serialize_example(feature0[i], feature1[i], feature2[i], feature3[i]))

filenames = [filename]
raw_dataset = tf.data.TFRecordDataset(filenames)
shown = []
for raw_record in raw_dataset.take(3):
    example = tf.train.Example()
    example.ParseFromString(raw_record.numpy())
    shown.append(str(example))
result = {}
for key, feature in example.features.feature.items():
    kind = feature.WhichOneof("kind")
    result[key] = np.array(getattr(feature, kind).value)
shown.append(result)
""",
    """
feature_description = {
    "feature0": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "feature1": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "feature2": tf.io.FixedLenFeature([], tf.string, default_value=""),
    "feature3": tf.io.FixedLenFeature([], tf.float32, default_value=0.0),
}

def _parse_function(example_proto):
    return tf.io.parse_single_example(example_proto, feature_description)

parsed_dataset = raw_dataset.map(_parse_function)
shown = []
for parsed_record in parsed_dataset:
    shown.append({key: value.numpy() for key, value in parsed_record.items()})
""",
    """
batches = raw_dataset.map(_parse_function).batch(32).prefetch(tf.data.AUTOTUNE)
shown = [{key: value.numpy() for key, value in batch.items()} for batch in batches]
shuffled = raw_dataset.map(_parse_function, num_parallel_calls=tf.data.AUTOTUNE).shuffle(64, seed=1).batch(32)
shown.append(sorted(float(x) for batch in shuffled for x in batch["feature3"].numpy()))
whole = raw_dataset.shuffle(1000).repeat(2).batch(64, drop_remainder=True).prefetch(2)
whole = whole.map(lambda records: tf.io.parse_example(records, feature_description))
shown.append([batch["feature1"].numpy().shape for batch in whole])
""",
    """
y, x = np.mgrid[:24, :32]
picture = np.stack([x * 8, y * 10, x + y], axis=-1).astype(np.uint8)
tf.io.write_file("cat.png", tf.io.encode_png(picture))
image_string = open("cat.png", "rb").read()

def image_example(image_string, label):
    image_shape = tf.io.decode_png(image_string).shape
    feature = {
        "height": int64_feature(image_shape[0]),
        "width": int64_feature(image_shape[1]),
        "depth": int64_feature(image_shape[2]),
        "label": int64_feature(label),
        "image_raw": bytes_feature(image_string),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature))

with tf.io.TFRecordWriter("images.tfrecords") as writer:
    for label in range(3):
        writer.write(image_example(image_string, label).SerializeToString())

image_feature_description = {
    key: tf.io.FixedLenFeature([], tf.int64) for key in ("height", "width", "depth", "label")
}
image_feature_description["image_raw"] = tf.io.FixedLenFeature([], tf.string)
images = tf.data.TFRecordDataset("images.tfrecords").map(
    lambda record: tf.io.parse_single_example(record, image_feature_description)
)
shown = [tf.io.decode_png(features["image_raw"].numpy()) for features in images]
""",
    """
numbers = tf.data.Dataset.range(10).filter(lambda n: n % 2 == 0).map(lambda n: (n, tf.cast(n, tf.float32) / 2.0))
shown = [(n.numpy(), half.numpy()) for n, half in numbers.repeat(2).batch(4)]
shown.append([len(list(numbers)), int(tf.data.Dataset.range(7).batch(2).cardinality())])
files = tf.data.Dataset.list_files("*.tfrecord*", shuffle=False)
shown.append([name.numpy() for name in files])
everything = files.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=2)
shown.append([record.numpy() for record in everything.skip(3).take(4)] and sum(1 for _ in everything))
""",
    """
with tf.io.TFRecordWriter("words.tfrecord.gz", options="GZIP") as writer:
    for word in "some words to write".split():
        feature = {"word": bytes_feature(word.encode()), "letters": tf.train.Feature(
            int64_list=tf.train.Int64List(value=list(word.encode())))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

words = tf.data.TFRecordDataset("words.tfrecord.gz", compression_type="GZIP")
spec = {"word": tf.io.FixedLenFeature([], tf.string), "letters": tf.io.VarLenFeature(tf.int64)}
shown = []
for columns in words.batch(3).map(lambda records: tf.io.parse_example(records, spec)):
    shown.append((columns["word"].numpy(), tf.sparse.to_dense(columns["letters"]).numpy()))
for columns in words.map(lambda record: tf.io.parse_single_example(record, spec)).batch(3):
    shown.append((columns["word"].numpy(), tf.sparse.to_dense(columns["letters"]).numpy()))
""",
]


def run_blocks(blocks, folder):
    os.chdir(folder)
    names = {"__name__": "tutorial"}
    shown = []
    for block in blocks:
        exec(block, names)
        shown.append(names["shown"])
    return shown


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, str):
        return value
    array = np.asarray(value, object) if isinstance(value, bytes) else np.asarray(value)
    return array.dtype.name, array.shape, array.tolist()


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    pytest.importorskip("PIL")
    here = os.getcwd()
    blocks = [
        block.replace("import tensorflow as tf", "import tfrecord_fast as tf").replace(".numpy()", "")
        for block in TUTORIAL
    ]
    try:
        ours = run_blocks(blocks, tmp_path_factory.mktemp("ours"))
    finally:
        os.chdir(here)
    return ours, live_tensorflow.call(run_blocks, TUTORIAL, str(tmp_path_factory.mktemp("theirs")))


@pytest.mark.parametrize("number", range(len(TUTORIAL)))
def test_a_block_shows_what_it_shows_with_tensorflow(number, both):
    ours, theirs = (plain(shown[number]) for shown in both)
    assert ours == theirs
