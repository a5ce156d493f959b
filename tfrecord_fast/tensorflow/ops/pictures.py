"""`tf.image`: sizes, crops, flips and corrections of images `[height, width, channels]`, or of batches of them."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...images import conversion
from ..fallback import of_tensorflow
from ..tensors import Tensor
from ..types import as_dtype, dtype_of
from .arguments import array_of, integer, lengths_of, tensor
from .randoms import generator_of

__all__ = [
    "ResizeMethod",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "central_crop",
    "crop_to_bounding_box",
    "flip_left_right",
    "flip_up_down",
    "grayscale_to_rgb",
    "hsv_to_rgb",
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
    "resize_with_crop_or_pad",
    "resize_with_pad",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rot90",
    "transpose",
]


class ResizeMethod(str, enum.Enum):
    """How pixels are made of others."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def _images(image: Any) -> Any:
    given = array_of(image)
    if given.ndim not in (3, 4):
        raise ValueError(f"'image' (shape {given.shape}) must have either 3 or 4 dimensions.")
    return given


# ---- Size ----


def resize(
    images: Any,
    size: Any,
    method: Any = "bilinear",
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """The images in another size.

    Args:
      images: `[height, width, channels]`, or a batch of such.
      size: (height, width).
      method: "bilinear" or "nearest", with centres of pixels at half steps; others are TensorFlow's.
      preserve_aspect_ratio: whether the size is a frame that the image fits into.
      antialias: whether a smaller image is made of all pixels.

    Returns:
      float32; the dtype of the images if the method is "nearest", or the size does not change.
    """
    given = _images(images)
    wanted = lengths_of(size)
    if len(wanted) != 2:
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    height, width = given.shape[-3:-1]
    if preserve_aspect_ratio:
        scale = min(np.float32(wanted[0]) / np.float32(height), np.float32(wanted[1]) / np.float32(width))
        wanted = tuple(int(np.round(scale * np.float32(length))) for length in (height, width))
    if min(wanted) <= 0:
        raise InvalidArgumentError(f"output dimensions must be positive, got {list(wanted)}")
    way = ResizeMethod(_METHODS[method] if isinstance(method, int) else str(getattr(method, "value", method)).lower())
    if way is ResizeMethod.NEAREST_NEIGHBOR:
        rows, columns = (_nearest(length, new) for length, new in zip((height, width), wanted, strict=True))
        return tensor(np.take(np.take(given, rows, axis=-3), columns, axis=-2))
    if way is not ResizeMethod.BILINEAR:
        return tensor(np.asarray(of_tensorflow("tf.image.resize")(given, wanted, way.value, antialias=antialias)))
    made = given.astype(np.float32)
    if antialias:
        for axis, length, new in ((-3, height, wanted[0]), (-2, width, wanted[1])):
            made = np.moveaxis(np.tensordot(_triangles(length, new), made, (1, made.ndim + axis)), 0, axis)
        return tensor(np.ascontiguousarray(made, dtype=np.float32))
    return tensor(_bilinear(_bilinear(made, -2, wanted[1]), -3, wanted[0]))


_METHODS = ["bilinear", "nearest", "bicubic", "area"]


def _nearest(length: int, new: int) -> Any:
    scale = np.float32(length) / np.float32(new)
    return np.minimum(
        np.floor((np.arange(new, dtype=np.float32) + np.float32(0.5)) * scale).astype(np.int64), length - 1
    )


def _bilinear(image: Any, axis: int, new: int) -> Any:
    length = image.shape[axis]
    scale = np.float32(length) / np.float32(new)
    return _between(image, axis, (np.arange(new, dtype=np.float32) + np.float32(0.5)) * scale - np.float32(0.5))


def _between(image: Any, axis: int, place: Any) -> Any:
    """The pixels at these places along an axis, made of the two beside them."""
    length = image.shape[axis]
    before = np.floor(place)
    share = (place - before).reshape(-1, *[1] * (-axis - 1))
    first = np.clip(before, 0, length - 1).astype(np.int64)
    second = np.clip(before + 1, 0, length - 1).astype(np.int64)
    one, other = np.take(image, first, axis=axis), np.take(image, second, axis=axis)
    return (one + (other - one) * share).astype(np.float32)


def _triangles(length: int, new: int) -> Any:
    """For each new pixel the shares of the old ones: a triangle, as wide as a new pixel at least."""
    scale = length / new
    wide = max(scale, 1.0)
    centres = (np.arange(new) + 0.5) * scale
    shares = np.maximum(0, 1 - np.abs((np.arange(length) + 0.5 - centres[:, None]) / wide))
    return (shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)


def resize_by_corners(
    images: Any,
    size: Any,
    method: Any = 0,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Any:
    """TensorFlow 1's `resize`: pixels are placed by their corners; or by the centres of the outermost ones."""
    given = _images(images)
    wanted = lengths_of(size)
    height, width = given.shape[-3:-1]
    if preserve_aspect_ratio:
        scale = min(wanted[0] / height, wanted[1] / width)
        wanted = (round(height * scale), round(width * scale))
    if (height, width) == wanted:
        return tensor(given)
    way = ResizeMethod(_METHODS[method] if isinstance(method, int) else str(getattr(method, "value", method)).lower())
    if way not in (ResizeMethod.BILINEAR, ResizeMethod.NEAREST_NEIGHBOR):
        raise NotImplementedError(f"resize_images by {way.value}: only bilinear and nearest are there")
    made = given if way is ResizeMethod.NEAREST_NEIGHBOR else given.astype(np.float32)
    for axis, length, new in ((-3, height, wanted[0]), (-2, width, wanted[1])):
        corners = align_corners and new > 1
        step = np.float32(length - 1) / np.float32(new - 1) if corners else np.float32(length) / np.float32(new)
        place = np.arange(new, dtype=np.float32) * step
        if way is ResizeMethod.NEAREST_NEIGHBOR:
            rounded = np.floor(place + np.float32(0.5)) if corners else np.floor(place)
            made = np.take(made, np.minimum(rounded.astype(np.int64), length - 1), axis=axis)
        else:
            made = _between(made, axis, place)
    return tensor(made)


def resize_with_pad(
    image: Any, target_height: Any, target_width: Any, method: Any = "bilinear", antialias: bool = False
) -> Any:
    """In a frame of that size: as large as fits, and zeros around it."""
    given = _images(image)
    height, width = given.shape[-3:-1]
    frame = integer(target_height), integer(target_width)
    # In float32, as TensorFlow counts: a size that comes out just below a whole number is one smaller.
    ratio = max(np.float32(width) / np.float32(frame[1]), np.float32(height) / np.float32(frame[0]))
    new_height, new_width = np.float32(height) / ratio, np.float32(width) / ratio
    made = resize(given, (int(np.floor(new_height)), int(np.floor(new_width))), method, antialias=antialias)
    above = max(int(np.floor((np.float32(frame[0]) - new_height) / 2)), 0)
    left = max(int(np.floor((np.float32(frame[1]) - new_width) / 2)), 0)
    return pad_to_bounding_box(made, above, left, *frame)


def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """Of that size: cut, or with zeros around it, evenly on both sides."""
    given = _images(image)
    height, width = given.shape[-3:-1]
    new_height, new_width = integer(target_height), integer(target_width)
    cut = crop_to_bounding_box(
        given,
        max((height - new_height) // 2, 0),
        max((width - new_width) // 2, 0),
        min(height, new_height),
        min(width, new_width),
    )
    return pad_to_bounding_box(
        cut, max((new_height - height) // 2, 0), max((new_width - width) // 2, 0), new_height, new_width
    )


# ---- Crops and frames ----


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """The part from a corner on, of that size."""
    given = _images(image)
    top, left, height, width = map(integer, (offset_height, offset_width, target_height, target_width))
    _check_box(top >= 0, "offset_height must be >= 0.")
    _check_box(left >= 0, "offset_width must be >= 0.")
    _check_box(height > 0, "target_height must be > 0.")
    _check_box(width > 0, "target_width must be > 0.")
    _check_box(given.shape[-3] >= top + height, "height must be >= target + offset.")
    _check_box(given.shape[-2] >= left + width, "width must be >= target + offset.")
    return tensor(given[..., top : top + height, left : left + width, :])


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """Zeros around it, up to that size."""
    given = _images(image)
    top, left, height, width = map(integer, (offset_height, offset_width, target_height, target_width))
    below, right = height - top - given.shape[-3], width - left - given.shape[-2]
    _check_box(top >= 0, "offset_height must be >= 0")
    _check_box(left >= 0, "offset_width must be >= 0")
    _check_box(right >= 0, "width must be <= target - offset")
    _check_box(below >= 0, "height must be <= target - offset")
    widths = [(0, 0)] * (given.ndim - 3) + [(top, below), (left, right), (0, 0)]
    return tensor(np.pad(given, widths))


def _check_box(holds: bool, message: str) -> None:
    if not holds:
        raise InvalidArgumentError(message)


def central_crop(image: Any, central_fraction: Any) -> Any:
    """The middle, of that share of the height and the width."""
    given = _images(image)
    # As exact as it was given: Python's 0.8 is not that of float32.
    is_plain = isinstance(central_fraction, int | float)
    share: Any = central_fraction if is_plain else array_of(central_fraction)[()]
    if not 0 < share <= 1:
        raise ValueError("central_fraction must be within (0, 1]")
    if share == 1:
        return tensor(given)
    top, left = (int((length - length * share) / 2) for length in given.shape[-3:-1])
    height, width = given.shape[-3] - 2 * top, given.shape[-2] - 2 * left
    return tensor(given[..., top : top + height, left : left + width, :])


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Any:
    """A part of that size, somewhere."""
    given, lengths = array_of(value), lengths_of(size)
    lengths = tuple(have if length == -1 else length for have, length in zip(given.shape, lengths, strict=True))
    if any(have < length for have, length in zip(given.shape, lengths, strict=True)):
        raise InvalidArgumentError(f"Need value.shape >= size, got {list(given.shape)} {list(lengths)}")
    generator = generator_of(seed)
    starts = [int(generator.integers(0, have - length + 1)) for have, length in zip(given.shape, lengths, strict=True)]
    return tensor(given[tuple(slice(start, start + length) for start, length in zip(starts, lengths, strict=True))])


# ---- Turned ----


def flip_left_right(image: Any) -> Any:
    """The other way round from left to right."""
    return tensor(np.flip(_images(image), -2))


def flip_up_down(image: Any) -> Any:
    """Upside down."""
    return tensor(np.flip(_images(image), -3))


def transpose(image: Any, name: str | None = None) -> Any:
    """Rows as columns."""
    return tensor(np.swapaxes(_images(image), -3, -2))


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Any:
    """Turned to the left by right angles."""
    return tensor(np.rot90(_images(image), integer(k) % 4, (-3, -2)))


def random_flip_left_right(image: Any, seed: Any = None) -> Any:
    """Flipped or not; of a batch, each image by itself."""
    return _perhaps(_images(image), -2, seed)


def random_flip_up_down(image: Any, seed: Any = None) -> Any:
    """Flipped or not; of a batch, each image by itself."""
    return _perhaps(_images(image), -3, seed)


def _perhaps(given: Any, axis: int, seed: Any) -> Any:
    if given.ndim == 3:
        return tensor(np.flip(given, axis) if generator_of(seed).random() < 0.5 else given)
    turned = generator_of(seed).random(len(given)) < 0.5
    return tensor(np.where(turned[:, None, None, None], np.flip(given, axis), given))


# ---- Colours ----


def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    """One channel: how bright the pixels look."""
    given = array_of(images)
    kind = dtype_of(given)
    floats = array_of(conversion.convert_image_dtype(given, np.float32)) if kind.is_integer else given
    shares = np.array([0.2989, 0.5870, 0.1140], dtype=floats.dtype)
    gray = np.tensordot(floats, shares, (-1, -1))[..., None].astype(floats.dtype)
    return tensor(conversion.convert_image_dtype(gray, given.dtype) if kind.is_integer else gray)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Any:
    """The one channel three times."""
    given = array_of(images)
    if given.shape[-1] != 1:
        raise ValueError("Last dimension of a grayscale image should be size 1.")
    return tensor(np.repeat(given, 3, axis=-1))


def per_image_standardization(image: Any) -> Any:
    """float32 with a mean of 0 and a variance of 1; of even images, zeros."""
    given = _images(image).astype(np.float32)
    axes = (-1, -2, -3)
    mean = given.mean(axis=axes, keepdims=True)
    least = np.float32(1) / np.sqrt(np.float32(np.prod(given.shape[-3:])))
    spread = np.maximum(given.std(axis=axes, keepdims=True), least)
    return tensor(((given - mean) / spread).astype(np.float32))


def adjust_brightness(image: Any, delta: Any) -> Any:
    """So much added, in images from 0 to 1; integers are taken for such."""
    given = array_of(image)
    floats = _as_floats(given)
    return _as_before(floats + floats.dtype.type(array_of(delta)), given)


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """So many times as far from the mean of each channel."""
    given = _images(images)
    floats = _as_floats(given)
    factor = floats.dtype.type(array_of(contrast_factor))
    mean = floats.mean(axis=(-3, -2), keepdims=True, dtype=floats.dtype)
    return _as_before((floats - mean) * factor + mean, given)


def _to_hsv(image: Any) -> Any:
    greatest, least = image.max(axis=-1), image.min(axis=-1)
    spread = greatest - least
    red, green, blue = np.moveaxis(image, -1, 0)
    with np.errstate(all="ignore"):
        by_red = (green - blue) / spread / 6
        by_green = (blue - red) / spread / 6 + np.float32(1 / 3)
        by_blue = (red - green) / spread / 6 + np.float32(2 / 3)
        saturation = np.where(greatest > 0, spread / greatest, 0)
    hue = np.where(red == greatest, by_red, np.where(green == greatest, by_green, by_blue))
    hue = np.where(spread > 0, hue, 0)
    return np.stack([np.where(hue < 0, hue + 1, hue), saturation, greatest], axis=-1).astype(image.dtype)


def _to_rgb(image: Any) -> Any:
    hue, saturation, value = np.moveaxis(image, -1, 0)
    turn = hue * 6
    shares = [np.abs(turn - 3) - 1, 2 - np.abs(turn - 2), 2 - np.abs(turn - 4)]
    return np.stack(
        [((1 - saturation) + saturation * np.clip(share, 0, 1)) * value for share in shares], axis=-1
    ).astype(image.dtype)


def rgb_to_hsv(images: Any, name: str | None = None) -> Any:
    """Hue, saturation and value of colours, each from 0 to 1."""
    return tensor(_to_hsv(_colours(images, "RGBToHSV")))


def hsv_to_rgb(images: Any, name: str | None = None) -> Any:
    """Colours of hue, saturation and value."""
    return tensor(_to_rgb(_colours(images, "HSVToRGB")))


def _colours(images: Any, op: str) -> Any:
    given = array_of(images)
    if given.dtype.kind in "fV":
        return given
    if isinstance(images, Tensor):
        raise InvalidArgumentError(f"images are floats from 0 to 1 here, got {dtype_of(given).name} [Op:{op}]")
    return given.astype(np.float32)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Any:
    """So many times as colourful."""
    given = array_of(image)
    colours = _to_hsv(_as_floats(given))
    colours[..., 1] = np.clip(colours[..., 1] * float(array_of(saturation_factor)), 0, 1)
    return _as_before(_to_rgb(colours), given)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Any:
    """Every hue turned by so much of the circle."""
    if not -1 <= float(array_of(delta)) <= 1:
        raise InvalidArgumentError("delta must be in the interval [-1, 1]")
    given = array_of(image)
    colours = _to_hsv(_as_floats(given))
    colours[..., 0] = np.mod(colours[..., 0] + float(array_of(delta)), 1)
    return _as_before(_to_rgb(colours), given)


def random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> Any:
    """From lower to upper times as colourful."""
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return adjust_saturation(image, generator_of(seed).uniform(lower, upper))


def random_hue(image: Any, max_delta: float, seed: Any = None) -> Any:
    """Hues turned by at most so much of the circle."""
    if not 0 <= max_delta <= 0.5:
        raise ValueError("max_delta must be <= 0.5 and non-negative.")
    return adjust_hue(image, generator_of(seed).uniform(-max_delta, max_delta))


def random_brightness(image: Any, max_delta: float, seed: Any = None) -> Any:
    """Brighter or darker by at most that much."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, generator_of(seed).uniform(-max_delta, max_delta))


def random_contrast(image: Any, lower: float, upper: float, seed: Any = None) -> Any:
    """With a contrast from lower to upper."""
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return adjust_contrast(image, generator_of(seed).uniform(lower, upper))


def _as_floats(given: Any) -> Any:
    if dtype_of(given).is_floating:
        return given.astype(np.float32) if given.dtype.itemsize < 4 else given
    return conversion.convert_image_dtype(given, np.float32)


def _as_before(made: Any, given: Any) -> Any:
    kind = dtype_of(given)
    if kind.is_floating:
        return tensor(made.astype(as_dtype(kind).as_numpy_dtype))
    return tensor(conversion.convert_image_dtype(made, given.dtype, saturate=True))
