"""Pictures resized, cut, turned and coloured: as TensorFlow does."""

import pytest

from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed

pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SETUP = """
I = tf.image; V = tf.compat.v1.image; a = tf.cast(tf.reshape(tf.range(48), [4, 4, 3]) * 5, tf.uint8)
g = tf.cast(a, tf.float32) / 255; n = tf.stack([a, 255 - a]); h = tf.reshape(tf.range(30.0), [5, 6, 1])
M = I.ResizeMethod
"""
SIZES = """
I.resize(h, [3, 3], 'bicubic'); I.resize(h, [3, 3], M.AREA); I.resize(h, [8, 8], 'lanczos3', antialias=True)
I.resize(h, [3, 2], 'bicubic', antialias=True); I.resize(a, [2, 2], method='area')
I.resize(h, [3, 3], 'bicubic', True); I.resize(n, [2, 3], 'mitchellcubic'); I.resize(h, [3, 3])
I.resize(h, [3, 3], 'nearest'); I.resize(h, [3, 3], antialias=True); I.resize(h, [10, 3], antialias=True)
I.resize(h, [10, 12]); I.resize(h, [3, 3], preserve_aspect_ratio=True)
I.resize(h, [10, 3], preserve_aspect_ratio=True); I.resize(h, [3, 10], 'nearest', True); I.resize(n, [3, 5])
I.resize(n, [3, 5], 'nearest'); I.resize(h, [0, 3]); I.resize(h, [3]); I.resize(h, [3, 0]); I.resize(h, 3)
I.resize([1.0], [1, 1]); I.resize(a, [4, 4]); I.resize(h, [5, 6]); I.resize(h, [3, 3], 'x')
I.resize(h, tf.constant([2, 4])); I.resize(h, [1, 1]); I.resize(a, [4, 4], 'nearest')
I.resize(n, [7, 2], antialias=True); I.resize(h, [-1, 2]); V.resize_images(h, [3, 3]); V.resize_images(h, [3, 3], 1)
V.resize_images(h, [10, 12], 0, True); V.resize_images(h, [10, 12], 1, True)
V.resize_images(h, [3, 3], preserve_aspect_ratio=True); V.resize_images(h, [10, 3], preserve_aspect_ratio=True)
V.resize_images(h, [3, 10], preserve_aspect_ratio=True); V.resize_images(h, [5, 6]); V.resize_images(a, [4, 4])
V.resize_images(n, [3, 5]); V.resize_images(n, [3, 5], method=1); V.resize_images(h, [1, 1], align_corners=True)
V.resize_images(h, [1, 4], align_corners=True); V.resize_images(h, [4, 1], 1, True); V.resize_images(a, [8, 2])
V.resize_images(h, [7, 9], preserve_aspect_ratio=True, align_corners=True); V.resize(h, [2, 2])
V.resize_images(a, [6, 6], 1, True); V.resize_images([1.0], [1, 1])
V.resize_images(h, [4, 7], 1, preserve_aspect_ratio=True); I.resize_with_pad(h, 8, 8); I.resize_with_pad(h, 8, 4)
I.resize_with_pad(h, 3, 9, 'nearest'); I.resize_with_pad(n, 3, 6); I.resize_with_pad(h, 3, 3, antialias=True)
I.resize_with_pad(h, 4, 9); I.resize_with_pad(h, 0, 3); I.resize_with_pad(h, 3, -1); I.resize_with_pad(h, 5, 6)
I.resize_with_pad(a, 7, 3); I.resize_with_crop_or_pad(h, 3, 8); I.resize_with_crop_or_pad(h, 8, 3)
I.resize_with_crop_or_pad(h, 4, 4); I.resize_with_crop_or_pad(n, 2, 5); I.resize_with_crop_or_pad(h, 0, 3)
I.resize_with_crop_or_pad(h, 6, 7); I.resize_with_crop_or_pad(h, 2, 1); I.crop_to_bounding_box(h, 1, 2, 3, 4)
I.crop_to_bounding_box(h, 1, 2, 4, 4); I.crop_to_bounding_box(h, 1, 2, 5, 4); I.crop_to_bounding_box(h, 1, 3, 4, 4)
I.crop_to_bounding_box(h, -1, 0, 1, 1); I.crop_to_bounding_box(h, 0, -1, 1, 1); I.crop_to_bounding_box(h, 0, 0, 0, 1)
I.crop_to_bounding_box(h, 0, 0, 1, 0); I.crop_to_bounding_box(n, 0, 1, 4, 3); I.crop_to_bounding_box(h, 0, 0, 5, 6)
I.pad_to_bounding_box(h, 1, 2, 8, 9); I.pad_to_bounding_box(h, 0, 0, 5, 6); I.pad_to_bounding_box(h, -1, 0, 8, 8)
I.pad_to_bounding_box(h, 0, -1, 8, 8); I.pad_to_bounding_box(h, 4, 0, 8, 8); I.pad_to_bounding_box(h, 0, 3, 8, 8)
I.pad_to_bounding_box(n, 1, 0, 5, 6); I.pad_to_bounding_box(h, 3, 2, 8, 8); I.central_crop(h, 0.5)
I.central_crop(h, 1.0); I.central_crop(h, 0.0); I.central_crop(h, 1.5); I.central_crop(n, 0.3); I.central_crop(h, 0.7)
I.central_crop(h, -0.5); I.central_crop(h, tf.constant(0.5))
"""
COLOURS = """
I.flip_left_right(h); I.flip_up_down(h); I.flip_left_right(n); I.flip_up_down(n); I.flip_left_right([[1]]); I.rot90(h)
I.rot90(h, 2); I.rot90(h, k=3); I.rot90(n, 1); I.rot90(h, 4); I.rot90(h, -1); I.rot90(h, tf.constant(5))
I.rgb_to_grayscale(a); I.rgb_to_grayscale(g); I.rgb_to_grayscale(n); I.per_image_standardization(a)
I.per_image_standardization(n); I.per_image_standardization(tf.zeros([2, 2, 1])); I.per_image_standardization(g)
I.per_image_standardization(tf.ones([3, 2, 3], tf.uint8)); I.per_image_standardization(h * 1e-4)
I.adjust_brightness(g, 0.25); I.adjust_brightness(a, 0.25); I.adjust_brightness(a, -0.5); I.adjust_contrast(g, 2.0)
I.adjust_contrast(a, 0.5); I.adjust_contrast(n, 3.0); I.adjust_contrast([1.0], 2.0)
I.adjust_contrast(tf.cast(g, tf.float64), 2.0); I.adjust_saturation(g, 0.5); I.adjust_saturation(g, 5.0)
I.adjust_saturation(a, 2.0); I.adjust_saturation(g, 0.0); I.adjust_saturation(n, 0.3); I.adjust_hue(g, 0.3)
I.adjust_hue(g, -0.3); I.adjust_hue(a, 0.1); I.adjust_hue(g, 1.5); I.adjust_hue(g, -1.5); I.adjust_hue(g, 1.0)
I.adjust_hue(g, -1.0); I.adjust_hue(g, 0.0); I.adjust_hue(n, 0.6); I.random_saturation(g, 2.0, 1.0)
I.random_saturation(g, -1.0, 1.0); I.random_saturation(g, 1.0, 1.0); I.random_contrast(g, 2.0, 1.0)
I.random_contrast(g, -1.0, 1.0); I.random_contrast(g, 1.0, 1.0); I.random_hue(g, 0.6); I.random_hue(g, -0.1)
I.random_brightness(g, -0.1); I.random_crop(h, [5, 6, 1]); I.random_crop(h, [6, 6, 1])
tf.image.random_crop(h, [5, 6]); I.random_brightness(g, 0.0); I.random_hue(g, 0.0); I.random_flip_left_right([1.0])
I.random_flip_up_down([[1.0]])
"""


@pytest.mark.parametrize("text", [SIZES, COLOURS], ids=["sizes", "colours"])
def test_functions(text):
    assert not differences(listed(text), SETUP)
