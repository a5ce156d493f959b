"""`tf.image` of the face."""

from .fallback import face_names
from .ops.coding import decode_and_crop_jpeg, extract_jpeg_shape, is_jpeg
from .ops.pictures import (
    ResizeMethod,
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
    central_crop,
    crop_to_bounding_box,
    flip_left_right,
    flip_up_down,
    grayscale_to_rgb,
    hsv_to_rgb,
    pad_to_bounding_box,
    per_image_standardization,
    random_brightness,
    random_contrast,
    random_crop,
    random_flip_left_right,
    random_flip_up_down,
    random_hue,
    random_saturation,
    resize,
    resize_by_corners,
    resize_with_crop_or_pad,
    resize_with_pad,
    rgb_to_grayscale,
    rgb_to_hsv,
    rot90,
    transpose,
)
from .ops.stateless import (
    stateless_random_crop,
    stateless_random_flip_left_right,
    stateless_random_flip_up_down,
)

__all__ = [
    "ResizeMethod",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "central_crop",
    "crop_to_bounding_box",
    "decode_and_crop_jpeg",
    "extract_jpeg_shape",
    "flip_left_right",
    "flip_up_down",
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "is_jpeg",
    "pad_to_bounding_box",
    "per_image_standardization",
    "random_brightness",
    "random_contrast",
    "random_crop",
    "random_flip_left_right",
    "random_flip_up_down",
    "random_hue",
    "random_saturation",
    "resize",
    "resize_image_with_crop_or_pad",
    "resize_images",
    "resize_with_crop_or_pad",
    "resize_with_pad",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rot90",
    "stateless_random_crop",
    "stateless_random_flip_left_right",
    "stateless_random_flip_up_down",
    "transpose",
]

resize_image_with_crop_or_pad = resize_with_crop_or_pad  # of TensorFlow 1
resize_images = resize_by_corners
_names = face_names(__name__, "tf.image", "tfrecord_fast.image")
__getattr__ = _names.getattr
__dir__ = _names.dir
