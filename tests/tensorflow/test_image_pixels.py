"""`tf.image` computes TensorFlow's pixels."""

import numpy as np
import pytest

import tfrecord_fast.tensorflow as tf
from tests.support import live_tensorflow
from tests.tensorflow import resize_picture
from tests.tensorflow.side_by_side import differences, listed
from tfrecord_fast import _core

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SETUP = """
rng = np.random.default_rng(7)
c = tf.constant(rng.integers(0, 256, (7, 5, 3)), tf.uint8); f = tf.constant(rng.random((7, 5, 3)), tf.float32)
one = tf.constant(rng.random((6, 8, 1)), tf.float32)
many = tf.constant(rng.integers(0, 256, (2, 4, 6, 3)), tf.uint8); even = tf.zeros([3, 3, 3])
gray = tf.constant([[[5], [250]]], tf.uint8); i16 = tf.constant(rng.integers(-999, 999, (3, 4, 3)), tf.int16)
"""
IMAGES = ["c", "f", "one", "many", "gray", "i16"]
SIZES = ["[3, 4]", "[14, 10]", "[7, 5]", "[1, 1]", "[5, 9]", "(20, 3)"]
METHODS = "bilinear nearest bicubic area lanczos3 lanczos5 gaussian mitchellcubic".split()
OTHERS = """
tf.image.resize(c, [3]); tf.image.resize(f[0, 0], [2, 2]); tf.image.resize(c, [0, 2])
tf.image.resize(c, [4, 4], 'none'); tf.image.resize(c, [10, 10], preserve_aspect_ratio=True)
tf.image.resize(c, [3, 9], preserve_aspect_ratio=True); tf.image.resize(c, tf.constant([2, 2]))
tf.image.resize(c, [4, 4], tf.image.ResizeMethod.NEAREST_NEIGHBOR); tf.image.crop_to_bounding_box(c, 1, 2, 3, 2)
tf.image.crop_to_bounding_box(c, 5, 0, 3, 2); tf.image.pad_to_bounding_box(c, 1, 1, 9, 8)
tf.image.pad_to_bounding_box(c, 1, 1, 7, 8); tf.image.central_crop(c, 0.5); tf.image.central_crop(f, 0.34)
tf.image.central_crop(c, 1.0); tf.image.central_crop(c, 0); tf.image.central_crop(many, 0.5)
tf.image.resize_with_crop_or_pad(c, 4, 4); tf.image.resize_with_crop_or_pad(c, 10, 3)
tf.image.resize_with_crop_or_pad(many, 5, 5); tf.image.resize_with_pad(f, 10, 10); tf.image.resize_with_pad(c, 4, 9)
tf.image.resize_with_pad(many, 3, 3); tf.image.resize_with_pad(f, 9, 4, method='nearest')
tf.image.adjust_brightness(c, 0.1); tf.image.adjust_brightness(f, -0.2); tf.image.adjust_contrast(f, 1.5)
tf.image.adjust_contrast(c, 0.5); tf.image.adjust_saturation(f, 0.5); tf.image.adjust_saturation(c, 2.0)
tf.image.adjust_hue(f, 0.1); tf.image.adjust_hue(c, -0.3); tf.image.adjust_saturation(even, 2.0)
tf.image.rgb_to_grayscale(c); tf.image.rgb_to_grayscale(f); tf.image.rgb_to_grayscale(many)
tf.image.per_image_standardization(c); tf.image.per_image_standardization(f); tf.image.per_image_standardization(even)
tf.image.per_image_standardization(many); tf.image.convert_image_dtype(c, tf.float32)
tf.image.convert_image_dtype(f, tf.uint8); tf.image.convert_image_dtype(f, tf.uint8, saturate=True)
tf.io.decode_png(tf.io.encode_png(c)); tf.image.decode_image(tf.io.encode_png(c))
tf.image.extract_jpeg_shape(tf.io.encode_jpeg(c))
tf.shape(tf.io.decode_and_crop_jpeg(tf.io.encode_jpeg(c), [1, 1, 3, 2])); tf.image.extract_jpeg_shape(b'no')
tf.image.extract_jpeg_shape(b'\\xff\\xd8\\xff\\xff' + tf.io.encode_jpeg(c).numpy()[2:])
tf.image.extract_jpeg_shape(b'\\xff\\xd8\\xff\\x01\\xff\\xd0' + tf.io.encode_jpeg(c).numpy()[2:])
tf.shape(tf.image.random_crop(c, [3, 3, 3])); tf.image.random_crop(c, [9, 3, 3])
tf.shape(tf.image.random_flip_left_right(c)); tf.shape(tf.image.random_brightness(f, 0.1))
tf.image.random_brightness(f, -0.1); tf.image.random_contrast(f, 0.5, 0.2); tf.image.random_saturation(f, -1.0, 0.2)
tf.image.random_hue(f, 0.7); tf.shape(tf.image.random_hue(f, 0.1))
tf.shape(tf.image.random_saturation(many, 0.5, 1.5)); tf.compat.v1.image.resize_images(c, [14, 10])
tf.compat.v1.image.resize_images(f, [3, 4]); tf.compat.v1.image.resize_images(c, [14, 10], align_corners=True)
tf.compat.v1.image.resize_images(c, [14, 10], 1); tf.compat.v1.image.resize_images(c, [3, 9], 1, align_corners=True)
tf.compat.v1.image.resize_bilinear(many, [3, 3])
"""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("method", METHODS)
def test_resize(size, method):
    calls = [f"tf.image.resize({image}, {size}, '{method}'" for image in IMAGES]
    assert not differences([f"{call}{end})" for call in calls for end in ("", ", antialias=True")], SETUP, 1e-3)


def resized(images, sizes, methods):
    return [
        tf.image.resize(image, size, method, antialias=antialias).numpy()
        for image, size in zip(images, sizes, strict=True)
        for method in methods
        for antialias in (False, True)
    ]


def test_resize_to_any_size():
    rng = np.random.default_rng(3)
    images, sizes = [], []
    for number in range(140):
        height, width, *size = rng.integers(1, 71, 4).tolist()
        images.append(rng.integers(0, 256, (height, width, (3, 1, 4, 3, 2)[number % 5]), np.uint8))
        sizes.append([height, width] if number % 10 == 0 else size)
    theirs = live_tensorflow.call(resized, images, sizes, METHODS)
    before = _core.resize_backend()
    for backend in _core.resize_backends():
        _core.set_resize_backend(backend)
        for inputs in (images, [image.astype(np.float32) for image in images]):
            for mine, other in zip(resized(inputs, sizes, METHODS), theirs, strict=True):
                assert mine.shape == other.shape
                assert np.abs(mine - other.astype(np.float32)).max() <= 1e-4
    _core.set_resize_backend(before)


@pytest.mark.parametrize("method", range(4))
@pytest.mark.parametrize("corners", [False, True])
def test_resize_of_tensorflow_1(method, corners):
    call = "tf.compat.v1.image.resize({}, {}, {}, align_corners={})"
    assert not differences(
        [call.format(image, size, method, corners) for image in IMAGES for size in SIZES], SETUP, 1e-3
    )


def test_sizes_of_tensors():
    """A list that holds tensors is cast to integers; any other float is an error."""
    sizes = "[s, 3]; [s, t]; [s * 0.3, 9]; [i, 4]; [6.0, 3]; tf.constant([6.0, 3]); tf.constant([6, 3])"
    setup = SETUP + "s = tf.constant(6.9); t = tf.constant(4.0); i = tf.constant(5, tf.int64)\n"
    calls = "tf.image.resize(f, {}); tf.zeros({}); tf.fill({}, 1); tf.tile([[1]], {})"
    expressions = [call.strip().format(size.strip()) for call in calls.split(";") for size in sizes.split(";")]
    assert not differences(expressions, setup, 1e-4)


def test_turned():
    each = ["flip_left_right({})", "flip_up_down({})", "transpose({})", "rot90({})", "rot90({}, 3)", "rot90({}, k=2)"]
    assert not differences([f"tf.image.{item.format(image)}" for item in each for image in [*IMAGES, "c[0]"]], SETUP)


def test_other_functions():
    assert not differences(listed(OTHERS), SETUP, 1e-4)


@pytest.mark.parametrize("case", resize_picture.CASES)
def test_the_picture_in_the_docs(case):
    pixels = resize_picture.image()
    theirs = live_tensorflow.call(resize_picture.theirs, pixels, *resize_picture.CASES[case])
    assert np.abs(resize_picture.resized(pixels, *resize_picture.CASES[case]) - theirs).max() < 1e-3
    assert resize_picture.PICTURE.stat().st_size > 10_000
