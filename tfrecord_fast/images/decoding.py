"""JPEG, PNG, GIF and BMP to arrays, as `tf.io` decodes them. Needs the extra `image`.

JPEGs are decoded by libjpeg-turbo (the package simplejpeg) with TensorFlow's settings, so the pixels are the same.
Without simplejpeg, Pillow decodes them, and pixels may differ by a few steps of 255. Pillow decodes the other formats,
except where TensorFlow differs: frames of GIFs, deep PNGs, alpha in BMPs.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from .. import _core
from ..base.optional import optional_or_none
from ..base.samples import sample_length
from ..dtypes import DTypeLike, as_dtype
from ..errors import InvalidArgumentError
from .conversion import convert_image_dtype
from .gif import is_gif, read_gif
from .libraries import JPEG, PNG, pillow, pillow_errors, undecodable
from .raw_formats import read_deep_png, read_rgba_bmp

# The bytes of one image file.
Contents = bytes | bytearray | memoryview | npt.NDArray[Any]

_MOST_REUSED = 1 << 22  # pixels
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_DCT_METHODS = ("", "INTEGER_FAST", "INTEGER_ACCURATE")
# TensorFlow's weights of red, green and blue for libpng, in 32768ths.
_GRAY = (9797, 19234, 3737)


def _content(contents: Contents) -> bytes:
    several = isinstance(contents, np.ndarray) and contents.ndim > 0 and contents.dtype.kind in "OSUT"
    if several or isinstance(contents, list | tuple):
        raise InvalidArgumentError(f"contents must be the bytes of one image, got {type(contents).__name__}")
    return _core.as_bytes(contents, "contents")


def _check_channels(channels: int | None, allowed: tuple[int, ...]) -> int:
    channels = channels or 0
    if channels not in allowed:
        raise InvalidArgumentError(f"channels must be one of {allowed}, got {channels}")
    return channels


Decoder = TypeVar("Decoder", bound=Callable[..., npt.NDArray[Any]])


def _or_made_up(decode: Decoder) -> Decoder:
    """Let a decoder return a black image instead of an error while elements are made up."""

    @functools.wraps(decode)
    def decoded(contents: Contents, channels: int | None = 0, *args: Any, **kwargs: Any) -> npt.NDArray[Any]:
        try:
            return decode(contents, channels, *args, **kwargs)
        except InvalidArgumentError:
            length = sample_length()
            if length is None:
                raise
            dtype = as_dtype(kwargs.get("dtype", args[0] if args and not isinstance(args[0], int) else "uint8"))
            return np.zeros((16 * length, 16 * length, channels or (1 if length % 2 else 3)), dtype.as_numpy_dtype)

    return cast("Decoder", decoded)


def is_jpeg(contents: Contents, name: str | None = None) -> bool:
    """Return True if the bytes begin like a JPEG."""
    return _content(contents).startswith(JPEG)


@_or_made_up
def decode_jpeg(
    contents: Contents,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> npt.NDArray[Any]:
    """Decode a JPEG (or another image).

    Args:
      channels: 0 for those of the image, 1 for grayscale, 3 for RGB.
      ratio: 1, 2, 4 or 8; reduces the size by that factor while decoding. Needs Pillow.
      fancy_upscaling: slower, smoother upsampling of chroma.
      dct_method: "INTEGER_FAST" (the default, as in TensorFlow) or "INTEGER_ACCURATE".

    Returns:
      uint8 `[height, width, channels]`.

    Raises:
      errors.InvalidArgumentError: not an image, or a damaged one.
    """
    data = _content(contents)
    channels = _check_channels(channels, (0, 1, 3))
    if ratio not in (1, 2, 4, 8):
        raise InvalidArgumentError(f"ratio must be 1, 2, 4 or 8, got {ratio}")
    if (dct_method or "") not in _DCT_METHODS:
        raise InvalidArgumentError(f"dct_method must be one of {_DCT_METHODS}, got {dct_method!r}")
    library = optional_or_none("simplejpeg")
    if library is None or ratio != 1 or not is_jpeg(data) or try_recover_truncated:
        return _decode(data, channels, draft=ratio)
    try:
        height, width, colorspace, _ = library.decode_jpeg_header(data)
        if colorspace.upper() in ("CMYK", "YCCK"):
            return _decode(data, channels or 3)
        gray = channels == 1 or (channels == 0 and colorspace.lower().startswith("gray"))
        # Memory that is used again, except for sizes that may be a false claim.
        shape = height, width, 1 if gray else 3
        buffer = _core.room(height, width * shape[2]).reshape(shape) if height * width <= _MOST_REUSED else None
        decoded: npt.NDArray[Any] = library.decode_jpeg(
            data,
            colorspace="GRAY" if gray else "RGB",
            fastdct=dct_method != "INTEGER_ACCURATE",
            fastupsample=not fancy_upscaling,
            buffer=buffer,
        )
    except ValueError as error:
        raise undecodable(str(error)) from None
    return decoded if buffer is None else buffer


@_or_made_up
def decode_png(
    contents: Contents, channels: int = 0, dtype: DTypeLike = "uint8", name: str | None = None
) -> npt.NDArray[Any]:
    """Decode a PNG (or another image).

    Args:
      channels: 0 for those of the image (1 to 4), 1 for grayscale, 3 for RGB, 4 for RGBA.
      dtype: uint8 or uint16. Values of 8 bits are scaled by 257 (in a JPEG, GIF or BMP by 256); values of 16 bits are
        cut to the high byte.

    Returns:
      `[height, width, channels]`.

    Raises:
      errors.InvalidArgumentError: not an image, or a damaged one; uint16 from an interlaced PNG with 16 bits per color
        channel.
    """
    target = np.dtype(as_dtype(dtype).as_numpy_dtype)
    if target not in (np.uint8, np.uint16):
        raise InvalidArgumentError(f"dtype must be uint8 or uint16, got {target}")
    data = _content(contents)
    channels = _check_channels(channels, (0, 1, 3, 4))
    if data.startswith(PNG):
        return _decode_png(data, channels, target)
    decoded = decode_jpeg(data, channels) if is_jpeg(data) and channels != 4 else _decode(data, channels)
    return decoded if target == np.uint8 else decoded.astype(np.uint16) << 8


@_or_made_up
def decode_bmp(contents: Contents, channels: int = 0, name: str | None = None) -> npt.NDArray[Any]:
    """Decode a BMP to uint8 `[height, width, channels]`; with 32 bits per pixel, the fourth channel is alpha."""
    return _decode(_content(contents), _check_channels(channels, (0, 1, 3, 4)))


def decode_gif(contents: Contents, name: str | None = None) -> npt.NDArray[Any]:
    """Decode all frames of a GIF to uint8 `[frames, height, width, 3]`.

    Each frame is drawn over the one before, which stays visible outside of the new frame and where it is transparent.
    Pixels outside of all frames are black, and the size is that of the largest frame.

    Raises:
      errors.InvalidArgumentError: not an image, or a damaged one.
    """
    data = _content(contents)
    if is_gif(data):
        return read_gif(data)
    if is_jpeg(data):
        return decode_jpeg(data, 3)[None]
    if data.startswith(PNG):
        return decode_png(data, 3)[None]
    image = _open(data)
    frames = []
    with pillow_errors():
        for number in range(getattr(image, "n_frames", 1)):
            image.seek(number)
            frames.append(np.asarray(image.convert("RGB")))
    return np.stack(frames)


@_or_made_up
def decode_image(
    contents: Contents,
    channels: int | None = None,
    dtype: DTypeLike = "uint8",
    name: str | None = None,
    expand_animations: bool = True,
) -> npt.NDArray[Any]:
    """Decode a JPEG, PNG, GIF or BMP.

    Args:
      channels: as for `decode_png`. A GIF always has 3.
      dtype: any integer or float dtype. All but uint8 and float32 are converted from uint16, as by
        `convert_image_dtype`. Floats are 0 to 1; from uint16, JPEGs, GIFs and BMPs only reach 0.996.
      expand_animations: True to return `[frames, height, width, 3]` for a GIF, False for its first frame.

    Returns:
      `[height, width, channels]`.

    Raises:
      errors.InvalidArgumentError: not an image, or a damaged one.
    """
    data = _content(contents)
    target = np.dtype(as_dtype(dtype).as_numpy_dtype)
    channels = _check_channels(channels, (0, 1, 3, 4))
    if is_gif(data):
        _check_gif_channels(channels)
        decoded = read_gif(data) if expand_animations else read_gif(data, only_first=True)[0]
    elif is_jpeg(data) and channels != 4:
        decoded = decode_jpeg(data, channels)
    elif data.startswith(PNG):
        decoded = _decode_png(data, channels, np.dtype(np.uint8 if target == np.uint8 else np.uint16))
    else:
        decoded = _decode(data, channels)
    return _in_dtype(decoded, target)


def _in_dtype(decoded: npt.NDArray[Any], target: np.dtype[Any]) -> npt.NDArray[Any]:
    """Convert pixels to the dtype: 8 bits by way of uint16, except to uint8 and float32, as in TensorFlow."""
    if decoded.dtype == np.uint8 and target not in (np.uint8, np.float32):
        decoded = decoded.astype(np.uint16) << 8
    if target == decoded.dtype:
        return decoded
    with np.errstate(over="ignore"):
        converted = convert_image_dtype(decoded, target)
    return np.minimum(converted, target.type(1)) if target == np.float16 else converted  # 65535 is infinite in float16


_UNKNOWN = "Unknown image file format; expected JPEG, PNG, GIF or BMP"


def _open(data: bytes) -> Any:
    library = pillow()
    with pillow_errors(_UNKNOWN):
        return library.open(io.BytesIO(data))


def _decode(data: bytes, channels: int, draft: int = 1) -> npt.NDArray[Any]:
    if data.startswith(PNG):
        return _decode_png(data, channels, np.dtype(np.uint8))
    if is_gif(data):
        return _single_frame(data, channels)
    with_alpha = read_rgba_bmp(data) if channels != 1 else None
    if with_alpha is not None:
        return _with_channels(with_alpha, channels or 4)
    image = _open(data)
    if draft > 1 and is_jpeg(data):
        image = _smaller(image, draft)
    own = "L" if image.mode == "1" else image.mode if image.mode in _MODES.values() else "RGB"
    return _pixels_of(image, _MODES.get(channels) or own)


def _check_gif_channels(channels: int) -> None:
    if channels not in (0, 3):
        raise InvalidArgumentError(f"a GIF has 3 channels; channels must be 0 or 3, got {channels}")


def _single_frame(data: bytes, channels: int) -> npt.NDArray[Any]:
    _check_gif_channels(channels)
    frames = read_gif(data)
    if len(frames) > 1:
        raise InvalidArgumentError(f"the GIF has {len(frames)} frames; use decode_gif or decode_image")
    only: npt.NDArray[Any] = frames[0]
    return only


def _smaller(image: Any, ratio: int) -> Any:
    """Reduce the size of a JPEG while decoding. Pillow chooses a ratio that gives at least the requested size."""
    size = -(-image.width // ratio), -(-image.height // ratio)
    with pillow_errors():
        image.draft(None, (max(1, image.width // ratio), max(1, image.height // ratio)))
        return image if image.size == size else image.resize(size, pillow().BOX)  # of a few pixels


def _pixels_of(image: Any, mode: str | None = None) -> npt.NDArray[Any]:
    """Return `[height, width, channels]`, converted to the mode if there is one."""
    with pillow_errors():
        pixels = np.asarray(image if mode in (None, image.mode) else image.convert(mode))
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _decode_png(data: bytes, channels: int, target: np.dtype[Any]) -> npt.NDArray[Any]:
    """Decode a PNG with libpng's channels and depth, which differ from Pillow's."""
    image = _open(data)
    deep, with_alpha = data[24:25] == b"\x10", data[25:26] == b"\x04"
    if image.mode == "L" and data[24] in (2, 4) and "transparency" in image.info:
        image.info["transparency"] *= 255 // (2 ** data[24] - 1)  # Pillow scales only the pixels to 8 bits
    if image.mode.startswith("I"):
        pixels = _pixels_of(image).astype(np.uint16)
        if channels == 4 and "transparency" in image.info:
            alpha = np.where(pixels == image.info["transparency"], 0, 65535).astype(np.uint16)
            pixels = np.concatenate([pixels, alpha], axis=2)
    elif deep and (target == np.uint16 or channels == 1 or (channels == 4 and "transparency" in image.info)):
        pixels = read_deep_png(data, with_transparency=channels == 4)
    elif image.mode == "P":
        pixels = _pixels_of(image, "RGBA" if "transparency" in image.info else "RGB")
    elif channels == 4:
        pixels = _pixels_of(image, "RGBA")  # which includes a transparent color
    else:
        pixels = _pixels_of(image, "L" if image.mode == "1" else None)
        if deep and with_alpha:
            pixels = pixels[:, :, ::3]  # Pillow returns RGBA
    pixels = _with_channels(pixels, channels or pixels.shape[2])
    if target == np.uint8:
        return pixels if pixels.dtype == np.uint8 else (pixels >> 8).astype(np.uint8)
    return pixels if pixels.dtype == np.uint16 else pixels.astype(np.uint16) * np.uint16(257)


def _with_channels(pixels: npt.NDArray[Any], channels: int) -> npt.NDArray[Any]:
    own = pixels.shape[2]
    if own == channels:
        return pixels
    if channels == 1:
        return _gray(pixels) if own >= 3 else pixels[:, :, :1]
    colors = pixels[:, :, :3] if own >= 3 else np.repeat(pixels[:, :, :1], 3, axis=2)
    if channels == 3:
        return colors
    alpha = pixels[:, :, 1:] if own == 2 else np.full_like(pixels[:, :, :1], np.iinfo(pixels.dtype).max)
    return np.concatenate([colors, alpha], axis=2)


def _gray(pixels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    total: Any = sum(pixels[:, :, i].astype(np.uint32) * weight for i, weight in enumerate(_GRAY))
    if pixels.dtype == np.uint16:
        total += 1 << 14  # round, except for 8 bits
    gray: npt.NDArray[Any] = (total >> 15).astype(pixels.dtype)[:, :, None]
    return gray
