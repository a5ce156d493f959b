"""Images in functions on blocks: TensorFlow's pixels, whatever the size of blocks, and one pass over each image."""

import io

import numpy as np
import pytest
from PIL import Image

import tfrecord_fast.tensorflow as tf
from tests.support import live_tensorflow
from tests.tensorflow.blocks.records import outcomes
from tfrecord_fast.data.nodes.blocks.sizes import fixed
from tfrecord_fast.values.blocks.images import Images

COUNT = 13
SIZES = (1, 2, 3, 1000, None)


def jpeg(number, height, width, channels=3):
    pixels = np.random.default_rng(number).integers(0, 256, (4, 4, channels), np.uint8)
    spots = Image.fromarray(pixels.squeeze()).resize((width, height), Image.Resampling.BICUBIC)
    file = io.BytesIO()
    spots.save(file, "PNG" if number % 3 == 2 else "JPEG")
    return file.getvalue()


def write(path, even):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for number in range(COUNT):
            image = jpeg(number, *((24, 32) if even else (20 + number % 3, 30 - number % 2)))
            features = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())
    return str(path)


@pytest.fixture(scope="module", params=["even", "uneven"])
def path(request, tmp_path_factory):
    return write(tmp_path_factory.mktemp("images") / request.param, request.param == "even")


@pytest.fixture(scope="module")
def even(tmp_path_factory):
    return write(tmp_path_factory.mktemp("images") / "even", True)


# Each function gets a decoded image and its label.
FUNCTIONS = """
image
tf.image.resize(image, [9, 11])
tf.image.resize(image, [9, 11]) / 255.0
tf.image.resize(image, [9, 11]) / 127.5 - 1
tf.image.resize(tf.image.convert_image_dtype(image, tf.float32), [9, 11])
tf.image.resize(tf.cast(image, tf.float32) / 255.0, [9, 11])
tf.cast(image, tf.float32) / 255.0
tf.cast(image, tf.float32) * (1. / 255) + 0.5
(tf.cast(image, tf.float32) - [123.68, 116.78, 103.94]) / tf.constant([58.4, 57.12, 57.38])
tf.multiply(tf.subtract(tf.divide(tf.cast(image, tf.float32), 255.0), 0.5), 2.0)
2.0 * tf.cast(image, tf.float32) + 1.0
1.0 - tf.cast(image, tf.float32) / 255.0
255.0 / (tf.cast(image, tf.float32) + 1.0)
tf.cast(image, tf.float32) * tf.cast(label, tf.float32)
tf.cast(image, tf.float32) + tf.ones([1, 1, 1])
tf.cast(image, tf.int32) + 1
tf.image.flip_left_right(image)
tf.image.flip_up_down(tf.image.flip_left_right(tf.image.resize(image, [5, 7]))) - 1
tf.image.resize(tf.image.flip_left_right(image), [5, 7])
tf.image.flip_left_right(tf.image.flip_left_right(image))
tf.image.resize(tf.image.resize(image, [30, 10]), [5, 7])
tf.image.resize(image, [9, 11], 'nearest')
tf.image.resize(image, [9, 11], antialias=True)
tf.image.resize(image, [30, 40], 'bicubic') / 255.0
tf.image.resize(image, [9, 11], 'area')
tf.image.resize(tf.image.convert_image_dtype(image, tf.float32), [9, 11], 'lanczos3', antialias=True)
tf.image.resize(tf.image.resize(image, [9, 11], 'mitchellcubic'), [4, 4], 'gaussian')
tf.image.resize(image, [9, 11], 'none')
tf.image.resize(tf.image.resize(image, [9, 11]), [4, 4], 'nearest')
tf.image.resize(tf.cast(image, tf.int32), [9, 11])
tf.image.resize(image[..., :1], [9, 11])
tf.image.resize(image[2:15, 3:20], [9, 11])
tf.image.resize(tf.image.central_crop(image, 0.5), [9, 11])
tf.image.resize(image, [9, 11])[1:, ::2]
tf.image.resize(image, [12, 12])[..., tf.newaxis]
tf.reshape(tf.image.resize(image, [9, 11]), [9, 11, 3])
tf.reshape(tf.image.resize(image, [9, 11]), [-1, 33])
tf.image.resize(image, tf.stack([8 + 0 * tf.cast(label, tf.int32), 9]))
tf.image.resize(image, [9 + int(label) % 2, 11])
tf.image.resize(image, [4, 40], preserve_aspect_ratio=True)
tf.image.resize_with_pad(image, 16, 16)
tf.image.crop_to_bounding_box(tf.image.resize(image, [9, 11]), 1, 2, 3, 4)
tf.reduce_sum(tf.image.resize(image, [2, 2]))
tf.cast(tf.image.resize(image, [9, 11]), tf.uint8)
tf.cond(label > 6, lambda: tf.image.resize(image, [4, 4]), lambda: tf.image.resize(image + 1, [4, 4]))
tf.shape(image)
tf.shape(tf.image.resize(image, [9, 11]))
tf.stack([tf.image.resize(image, [4, 4]), tf.image.resize(image, [4, 4])])
tf.image.per_image_standardization(tf.image.resize(image, [4, 4]))
tf.image.resize(image, [0, 4])
tf.image.resize(image, [4])
tf.cast(image, tf.float32) + tf.constant(1)
"""
LINES = FUNCTIONS.strip().splitlines()


def mapped(tf, path, line):
    def function(record):
        features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
        row = tf.io.parse_single_example(record, features)
        image = tf.io.decode_jpeg(row["image"], channels=3)
        return eval(line, {"tf": tf, "image": image, "label": row["label"]})

    return tf.data.TFRecordDataset(path).map(function)


@pytest.mark.parametrize("line", LINES)
def test_blocks_of_any_size_give_the_same(path, line):
    with fixed(0):
        expected = outcomes(mapped(tf, path, line))
    for size in SIZES:
        with fixed(size):
            assert outcomes(mapped(tf, path, line)) == expected


def all_of(path, lines):
    def function(record, line):
        features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
        row = tf.io.parse_single_example(record, features)
        image = tf.io.decode_jpeg(row["image"], channels=3)
        return eval(line, {"tf": tf, "image": image, "label": row["label"]})

    results = {}
    for line in lines:
        try:
            dataset = tf.data.TFRecordDataset(path).map(lambda record, line=line: function(record, line))
            results[line] = [np.asarray(element) for element in dataset.as_numpy_iterator()]
        except Exception as error:
            results[line] = type(error).__name__
    return results


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_tensorflow_gives_the_same_pixels(path):
    lines = [
        line
        for line in LINES
        if not any(word in line for word in ("int(label)", "standardization", "reduce_sum", "'area'"))
    ]
    theirs = live_tensorflow.call(all_of, path, lines)
    for line in lines:
        try:
            ours = [np.asarray(element) for element in mapped(tf, path, line).as_numpy_iterator()]
        except Exception:
            assert isinstance(theirs[line], str), line
            continue
        assert len(ours) == len(theirs[line])
        for mine, other in zip(ours, theirs[line], strict=True):
            assert mine.dtype == other.dtype, line
            assert np.array_equal(mine, other), line


# ---- What happens to the images ----


def parse(record):
    features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
    row = tf.io.parse_single_example(record, features)
    return tf.io.decode_jpeg(row["image"], channels=3), row["label"]


def test_images_are_drawn_once_by_batch(even, monkeypatch):
    drawn = []
    draw = Images._draw

    def counted(self, pixels):
        drawn.append(len(pixels))
        return draw(self, pixels)

    monkeypatch.setattr(Images, "_draw", counted)
    dataset = (
        tf.data.TFRecordDataset(even).map(parse).map(lambda image, label: (tf.image.resize(image, [32, 32]), label))
    )
    dataset = dataset.map(lambda image, label: (tf.image.random_flip_left_right(image) / 255.0, label))
    batches = list(dataset.shuffle(10).batch(5))
    assert [count for count in drawn if count > 1] == [5, 5, 3]  # single ones are drawn to check the element_spec
    assert [batch[0].shape.as_list() for batch in batches] == [[5, 32, 32, 3], [5, 32, 32, 3], [3, 32, 32, 3]]


def test_large_images_do_not_wait_for_the_batch(even, monkeypatch):
    settled = []
    settle = Images.settle

    def noted(self):
        settle(self)
        settled.append(self.is_drawn)

    monkeypatch.setattr(Images, "settle", noted)
    list(tf.data.TFRecordDataset(even).map(lambda record: tf.image.resize(parse(record)[0], [12, 12])).batch(4))
    list(tf.data.TFRecordDataset(even).map(lambda record: parse(record)[0][:2]).batch(4))
    assert settled
    assert all(settled)


def test_flips_are_drawn_for_each_image_and_differ_between_epochs(even):
    dataset = tf.data.TFRecordDataset(even).map(lambda record: tf.image.random_flip_left_right(parse(record)[0]))
    plain = [parse_alone.numpy() for parse_alone in tf.data.TFRecordDataset(even).map(lambda record: parse(record)[0])]
    epochs = []
    for _ in range(4):
        flips = []
        for image, original in zip(dataset.as_numpy_iterator(), plain, strict=True):
            is_flipped = np.array_equal(image, original[:, ::-1])
            assert is_flipped or np.array_equal(image, original)
            flips.append(is_flipped)
        epochs.append(flips)
    assert 8 < sum(map(sum, epochs)) < 4 * COUNT - 8
    assert any(flips != epochs[0] for flips in epochs[1:])


def test_flips_follow_the_seed(even):
    def images():
        tf.random.set_seed(3)
        flip = tf.image.random_flip_up_down
        return list(
            tf.data.TFRecordDataset(even).map(lambda record: flip(parse(record)[0], seed=5)).as_numpy_iterator()
        )

    assert np.array_equal(images(), images())


def test_a_file_that_is_no_image_is_an_error_in_its_place(tmp_path):
    with tf.io.TFRecordWriter(str(tmp_path / "a")) as writer:
        for number in range(40):
            writer.write(b"\xff\xd8\xff no" if number == 20 else jpeg(0, 8, 8))
    dataset = tf.data.TFRecordDataset(str(tmp_path / "a")).map(tf.io.decode_jpeg)
    for threads in (None, 2):
        dataset = tf.data.TFRecordDataset(str(tmp_path / "a")).map(tf.io.decode_jpeg, threads)
        results = outcomes(dataset)
        assert len(results) == 40
        assert results[20][0] == "InvalidArgumentError"
        assert len(list(dataset.ignore_errors())) == 39


def test_a_cache_keeps_the_images(even):
    dataset = tf.data.TFRecordDataset(even).map(lambda record: tf.image.resize(parse(record)[0], [30, 40])).cache()
    first, second = (np.stack(list(dataset.as_numpy_iterator())) for _ in range(2))
    assert np.array_equal(first, second)
