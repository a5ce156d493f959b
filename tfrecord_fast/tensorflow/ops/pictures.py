"""`tf.image`: sizes, crops, flips and colours of images `[height, width, channels]`, or of batches of them."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...images import conversion
from ...values.blocks.images import (
    AREA,
    CORNERS,
    HALF_PIXELS,
    NEAREST,
    TOP_LEFT,
    Resizing,
    resize_as_floats,
    resize_nearest,
)
from ..tensors.tensor_dtypes import array_dtype, as_dtype
from .arguments import as_array, as_lengths, integer, tensor
from .randoms import seeded_generator, stateless_generator


class ResizeMethod(str, enum.Enum):
    """The interpolation of pixels."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"

    @property
    def number(self) -> int:
        """The number of the method in the core."""
        return [*ResizeMethod].index(self)


def _images(image: Any) -> Any:
    array = as_array(image)
    if array.ndim not in (3, 4):
        raise ValueError(f"'image' (shape {array.shape}) must have either 3 or 4 dimensions.")
    return array


# ---- Size ----


def resize(
    images: Any,
    size: Any,
    method: Any = "bilinear",
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """Resize images. Pixels have half-pixel centres.

    The result is float32 or, for "nearest", has the dtype of the images.
    """
    array = _images(images)
    target = new_size(size, array.shape[-3:], preserve_aspect_ratio)
    return tensor(_resized(array, target, Resizing(resize_method(method).number, HALF_PIXELS, bool(antialias))))


def new_size(size: Any, shape: Any, preserve_aspect_ratio: Any) -> tuple[int, int]:
    """Return the (height, width) that images `[height, width, …]` are resized to, or raise an error."""
    height, width = shape[:2]
    lengths = as_lengths(size)
    if len(lengths) != 2:
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    if preserve_aspect_ratio:
        scale = min(np.float32(lengths[0]) / np.float32(height), np.float32(lengths[1]) / np.float32(width))
        lengths = tuple(int(np.round(scale * np.float32(length))) for length in (height, width))
    if min(lengths) <= 0:
        raise InvalidArgumentError(f"output dimensions must be positive, got {list(lengths)}")
    return lengths[0], lengths[1]


def _resized(array: Any, size: Any, resizing: Resizing) -> Any:
    """Resize one image or a batch of them."""
    if 0 in array.shape[-3:-1]:
        raise InvalidArgumentError(f"input image must be of non-zero size, got {list(array.shape)}")
    images = array if array.ndim == 4 else array[None]
    is_nearest = resizing.method == NEAREST
    if not len(images):
        return np.empty((0, *size, array.shape[-1]), array.dtype if is_nearest else np.float32)
    if is_nearest:
        resized = resize_nearest(images, size, resizing.alignment)
    else:
        floats = images if images.dtype == np.uint8 else images.astype(np.float32, copy=False)
        resized = resize_as_floats(floats, size, resizing)
    return resized if array.ndim == 4 else resized[0]


def resize_method(method: Any) -> ResizeMethod:
    names = ("bilinear", "nearest", "bicubic", "area")
    try:
        return ResizeMethod(names[method] if isinstance(method, int) else str(getattr(method, "value", method)).lower())
    except (ValueError, IndexError):
        raise ValueError(
            f"Resize method is not implemented: {method}; use {', '.join(known.value for known in ResizeMethod)}"
        ) from None


def resize_by_corners(
    images: Any,
    size: Any,
    method: Any = 0,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Any:
    """Resize as TensorFlow 1 does: pixels are aligned by their corners, or by the outermost centres."""
    array = _images(images)
    target = as_lengths(size)
    height, width = array.shape[-3:-1]
    if preserve_aspect_ratio:
        scale = min(target[0] / height, target[1] / width)
        target = (round(height * scale), round(width * scale))
    if (height, width) == target:
        return tensor(array)
    method = resize_method(method)
    if method.number > AREA:
        raise ValueError(f"Resize method is not implemented: {method.value}; use bilinear, nearest, bicubic or area")
    return tensor(_resized(array, target, Resizing(method.number, CORNERS if align_corners else TOP_LEFT)))


def resize_with_pad(
    image: Any, target_height: Any, target_width: Any, method: Any = "bilinear", antialias: bool = False
) -> Any:
    """Resize to the largest size that fits a frame, and pad with zeros."""
    array = _images(image)
    height, width = array.shape[-3:-1]
    frame = integer(target_height), integer(target_width)
    # In float32, like TensorFlow: a size just below a whole number is rounded down.
    ratio = max(np.float32(width) / np.float32(frame[1]), np.float32(height) / np.float32(frame[0]))
    new_height, new_width = np.float32(height) / ratio, np.float32(width) / ratio
    resized = resize(array, (int(np.floor(new_height)), int(np.floor(new_width))), method, antialias=antialias)
    above = max(int(np.floor((np.float32(frame[0]) - new_height) / 2)), 0)
    left = max(int(np.floor((np.float32(frame[1]) - new_width) / 2)), 0)
    return pad_to_bounding_box(resized, above, left, *frame)


def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """Crop or pad with zeros, evenly on both sides."""
    array = _images(image)
    height, width = array.shape[-3:-1]
    new_height, new_width = integer(target_height), integer(target_width)
    cut = crop_to_bounding_box(
        array,
        max((height - new_height) // 2, 0),
        max((width - new_width) // 2, 0),
        min(height, new_height),
        min(width, new_width),
    )
    return pad_to_bounding_box(
        cut, max((new_height - height) // 2, 0), max((new_width - width) // 2, 0), new_height, new_width
    )


# ---- Crops and padding ----


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """Crop to a size, from a corner on."""
    array = _images(image)
    top, left, height, width = map(integer, (offset_height, offset_width, target_height, target_width))
    _check_box(top >= 0, "offset_height must be >= 0.")
    _check_box(left >= 0, "offset_width must be >= 0.")
    _check_box(height > 0, "target_height must be > 0.")
    _check_box(width > 0, "target_width must be > 0.")
    _check_box(array.shape[-3] >= top + height, "height must be >= target + offset.")
    _check_box(array.shape[-2] >= left + width, "width must be >= target + offset.")
    return tensor(array[..., top : top + height, left : left + width, :])


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """Pad with zeros to a size."""
    array = _images(image)
    top, left, height, width = map(integer, (offset_height, offset_width, target_height, target_width))
    below, right = height - top - array.shape[-3], width - left - array.shape[-2]
    _check_box(top >= 0, "offset_height must be >= 0")
    _check_box(left >= 0, "offset_width must be >= 0")
    _check_box(right >= 0, "width must be <= target - offset")
    _check_box(below >= 0, "height must be <= target - offset")
    widths = [(0, 0)] * (array.ndim - 3) + [(top, below), (left, right), (0, 0)]
    return tensor(np.pad(array, widths))


def _check_box(holds: bool, message: str) -> None:
    if not holds:
        raise InvalidArgumentError(message)


def central_crop(image: Any, central_fraction: Any) -> Any:
    """Crop to the middle fraction of the height and the width."""
    array = _images(image)
    # Keep the precision of a Python float: 0.8 differs from its float32.
    is_plain = isinstance(central_fraction, int | float)
    share: Any = central_fraction if is_plain else as_array(central_fraction)[()]
    if not 0 < share <= 1:
        raise ValueError("central_fraction must be within (0, 1]")
    if share == 1:
        return tensor(array)
    top, left = (int((length - length * share) / 2) for length in array.shape[-3:-1])
    height, width = array.shape[-3] - 2 * top, array.shape[-2] - 2 * left
    return tensor(array[..., top : top + height, left : left + width, :])


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Any:
    """Crop to a size at a random position."""
    return _random_crop(value, size, seeded_generator(seed))


def _random_crop(value: Any, size: Any, generator: np.random.Generator) -> Any:
    array, lengths = as_array(value), as_lengths(size)
    lengths = tuple(have if length == -1 else length for have, length in zip(array.shape, lengths, strict=True))
    if any(have < length for have, length in zip(array.shape, lengths, strict=True)):
        raise InvalidArgumentError(f"Need value.shape >= size, got {list(array.shape)} {list(lengths)}")
    starts = [int(generator.integers(0, have - length + 1)) for have, length in zip(array.shape, lengths, strict=True)]
    return tensor(array[tuple(slice(start, start + length) for start, length in zip(starts, lengths, strict=True))])


# ---- Flips ----


def flip_left_right(image: Any) -> Any:
    """Flip horizontally."""
    return tensor(np.flip(_images(image), -2))


def flip_up_down(image: Any) -> Any:
    """Flip vertically."""
    return tensor(np.flip(_images(image), -3))


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Any:
    """Rotate counter-clockwise by right angles."""
    return tensor(np.rot90(_images(image), integer(k) % 4, (-3, -2)))


def random_flip_left_right(image: Any, seed: Any = None) -> Any:
    """Flip at random; in a batch, each image independently."""
    return _random_flip(_images(image), -2, seeded_generator(seed))


def random_flip_up_down(image: Any, seed: Any = None) -> Any:
    """Flip at random; in a batch, each image independently."""
    return _random_flip(_images(image), -3, seeded_generator(seed))


def _random_flip(array: Any, axis: int, generator: np.random.Generator) -> Any:
    if array.ndim == 3:
        return tensor(np.flip(array, axis) if generator.random() < 0.5 else array)
    turned = generator.random(len(array)) < 0.5
    return tensor(np.where(turned[:, None, None, None], np.flip(array, axis), array))


# ---- Colours ----


def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    """Convert to one channel of luminance."""
    array = as_array(images)
    dtype = array_dtype(array)
    floats = as_array(conversion.convert_image_dtype(array, np.float32)) if dtype.is_integer else array
    shares = np.array([0.2989, 0.5870, 0.1140], dtype=floats.dtype)
    gray = np.tensordot(floats, shares, (-1, -1))[..., None].astype(floats.dtype)
    return tensor(conversion.convert_image_dtype(gray, array.dtype) if dtype.is_integer else gray)


def per_image_standardization(image: Any) -> Any:
    """Scale to mean 0 and variance 1, float32; uniform images become zeros."""
    array = _images(image).astype(np.float32)
    axes = (-1, -2, -3)
    mean = array.mean(axis=axes, keepdims=True)
    least = np.float32(1) / np.sqrt(np.float32(np.prod(array.shape[-3:])))
    spread = np.maximum(array.std(axis=axes, keepdims=True), least)
    return tensor(((array - mean) / spread).astype(np.float32))


def adjust_brightness(image: Any, delta: Any) -> Any:
    """Add `delta`, on a scale from 0 to 1 for all dtypes."""
    array = as_array(image)
    floats = _as_floats(array)
    return _as_before(floats + floats.dtype.type(as_array(delta)), array)


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """Scale the distance from the mean of each channel."""
    array = _images(images)
    floats = _as_floats(array)
    factor = floats.dtype.type(as_array(contrast_factor))
    mean = floats.mean(axis=(-3, -2), keepdims=True, dtype=floats.dtype)
    return _as_before((floats - mean) * factor + mean, array)


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


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Any:
    """Scale the saturation."""
    array = as_array(image)
    colours = _to_hsv(_as_floats(array))
    colours[..., 1] = np.clip(colours[..., 1] * float(as_array(saturation_factor)), 0, 1)
    return _as_before(_to_rgb(colours), array)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Any:
    """Rotate all hues by a fraction of the circle."""
    if not -1 <= float(as_array(delta)) <= 1:
        raise InvalidArgumentError("delta must be in the interval [-1, 1]")
    array = as_array(image)
    colours = _to_hsv(_as_floats(array))
    colours[..., 0] = np.mod(colours[..., 0] + float(as_array(delta)), 1)
    return _as_before(_to_rgb(colours), array)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """Raise the pixels, on a scale from 0 to 1 for all dtypes, to a power, and multiply them."""
    if float(as_array(gamma)) < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    array = as_array(image)
    floats = _as_floats(array)
    number = floats.dtype.type
    return _as_before(number(as_array(gain)) * floats ** number(as_array(gamma)), array)


def random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> Any:
    """Scale the saturation by a random factor."""
    return adjust_saturation(image, _random_factor(lower, upper, seeded_generator(seed)))


def random_hue(image: Any, max_delta: float, seed: Any = None) -> Any:
    """Rotate the hues by a random fraction of the circle."""
    return adjust_hue(image, _random_turn(max_delta, seeded_generator(seed)))


def random_brightness(image: Any, max_delta: float, seed: Any = None) -> Any:
    """Change the brightness by a random delta."""
    return adjust_brightness(image, _random_delta(max_delta, seeded_generator(seed)))


def random_contrast(image: Any, lower: float, upper: float, seed: Any = None) -> Any:
    """Scale the contrast by a random factor."""
    return adjust_contrast(image, _random_factor(lower, upper, seeded_generator(seed)))


def _random_delta(most: float, generator: np.random.Generator) -> float:
    if most < 0:
        raise ValueError("max_delta must be non-negative.")
    return generator.uniform(-most, most)


def _random_turn(most: float, generator: np.random.Generator) -> float:
    if not 0 <= most <= 0.5:
        raise ValueError("max_delta must be <= 0.5 and non-negative.")
    return generator.uniform(-most, most)


def _random_factor(lower: float, upper: float, generator: np.random.Generator) -> float:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return generator.uniform(lower, upper)


# ---- The same with the numbers of a seed, a pair of integers ----


def stateless_random_brightness(image: Any, max_delta: float, seed: Any) -> Any:
    """Change the brightness by a delta that depends on the seed alone."""
    return adjust_brightness(image, _random_delta(max_delta, stateless_generator(seed)))


def stateless_random_contrast(image: Any, lower: float, upper: float, seed: Any) -> Any:
    """Scale the contrast by a factor that depends on the seed alone."""
    return adjust_contrast(image, _random_factor(lower, upper, stateless_generator(seed)))


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Any:
    """Crop to a size at a position that depends on the seed alone."""
    return _random_crop(value, size, stateless_generator(seed))


def stateless_random_flip_left_right(image: Any, seed: Any) -> Any:
    """Flip or not; it depends on the seed alone."""
    return _random_flip(_images(image), -2, stateless_generator(seed))


def stateless_random_flip_up_down(image: Any, seed: Any) -> Any:
    """Flip or not; it depends on the seed alone."""
    return _random_flip(_images(image), -3, stateless_generator(seed))


def stateless_random_hue(image: Any, max_delta: float, seed: Any) -> Any:
    """Rotate the hues by a fraction that depends on the seed alone."""
    return adjust_hue(image, _random_turn(max_delta, stateless_generator(seed)))


def stateless_random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> Any:
    """Scale the saturation by a factor that depends on the seed alone."""
    return adjust_saturation(image, _random_factor(lower, upper, stateless_generator(seed)))


def _as_floats(array: Any) -> Any:
    if array_dtype(array).is_floating:
        return array.astype(np.float32) if array.dtype.itemsize < 4 else array
    return conversion.convert_image_dtype(array, np.float32)


def _as_before(floats: Any, original: Any) -> Any:
    dtype = array_dtype(original)
    if dtype.is_floating:
        return tensor(floats.astype(as_dtype(dtype).as_numpy_dtype))
    return tensor(conversion.convert_image_dtype(floats, original.dtype, saturate=True))
