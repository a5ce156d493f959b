"""encode_images: a column of images becomes JPEGs or PNGs, those of `encode_jpeg` and `encode_png`."""

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import live_tensorflow
from tfrecord_fast.errors import InvalidArgumentError


def image(height, width, channels=3, dtype=np.uint8, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, np.iinfo(dtype).max + 1, (height, width, channels), dtype)


EVEN = np.stack([image(13, 9, seed=seed) for seed in range(20)])
UNEVEN = [image(5 + n, 30 - n, (1, 3)[n % 2], seed=n) for n in range(20)]


@pytest.mark.parametrize("threads", [None, 1, 2, 5])
@pytest.mark.parametrize("images", [EVEN, UNEVEN, EVEN[:, ::-2, ::3], EVEN[:0], []])
def test_jpegs(images, threads):
    encoded = tf.io.encode_images(images, num_threads=threads)
    assert encoded == [tf.io.encode_jpeg(pixels) for pixels in images]


def test_the_quality_is_that_of_all():
    assert tf.io.encode_images(EVEN, quality=30) == [tf.io.encode_jpeg(pixels, quality=30) for pixels in EVEN]
    assert sum(map(len, tf.io.encode_images(EVEN, quality=30))) < sum(map(len, tf.io.encode_images(EVEN)))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_pngs_keep_their_pixels(dtype):
    images = [image(7, 5 + n, 1 + n % 4, dtype, n) for n in range(12)]
    encoded = tf.io.encode_images(images, "png")
    assert encoded == [tf.io.encode_png(pixels) for pixels in images]
    assert all(
        np.array_equal(tf.io.decode_png(file, dtype=np.dtype(dtype).name), pixels)
        for file, pixels in zip(encoded, images, strict=True)
    )


def test_the_writer_takes_them(tmp_path):
    with tf.ExampleWriter(tmp_path / "a.tfrecord", num_shards=2) as writer:
        writer.write({"image": tf.io.encode_images(UNEVEN, "png"), "label": np.arange(20)})
    features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
    paths = sorted(map(str, tmp_path.iterdir()))
    columns = tf.io.parse_example(list(tf.data.TFRecordDataset(paths)), features)
    for file, label in zip(columns["image"], columns["label"], strict=True):
        assert np.array_equal(tf.io.decode_png(file), UNEVEN[label])


def decoded(files):
    return [tf.io.decode_image(file).numpy() for file in files]


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_tensorflow_reads_them():
    files = [*tf.io.encode_images(UNEVEN), *tf.io.encode_images(UNEVEN, "png")]
    pixels = live_tensorflow.call(decoded, files)
    assert all(map(np.array_equal, pixels[20:], UNEVEN))
    assert all(map(np.array_equal, pixels, map(tf.io.decode_image, files)))


@pytest.mark.parametrize(
    ("images", "options", "message"),
    [
        ([EVEN[0], EVEN[0, 0]], {}, r"images\[1\] must be uint8 \[height, width, 1 or 3\], got uint8 \[9, 3\]"),
        (EVEN.astype(np.float32), {}, r"images\[0\] must be uint8"),
        ([image(3, 3, 4)], {}, "1 or 3"),
        ([image(3, 3, 5)], {"format": "png"}, "1 or 2 or 3 or 4"),
        ([image(3, 3, dtype=np.uint16)], {}, "must be uint8"),
        ([image(0, 3)], {}, "can't be encoded"),
        (EVEN, {"format": "gif"}, "'jpeg' or 'png', got 'gif'"),
        (EVEN, {"quality": 101}, "quality must be 0 to 100, got 101"),
        (EVEN, {"quality": -1}, "quality"),
    ],
)
def test_wrong_arguments(images, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        tf.io.encode_images(images, **options)


def test_threads_may_not_be_negative():
    with pytest.raises(ValueError, match="num_threads"):
        tf.io.encode_images(EVEN, num_threads=-1)
