"""JPEG, PNG, GIF and BMP to arrays, as `tf.io` decodes them.

JPEGs and PNGs are decoded in the core. Pillow, of the extra `image`, decodes the other formats, except where TensorFlow
differs: frames of GIFs, alpha in BMPs.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from .. import _core
from ..base.samples import sample_length
from ..dtypes import DTypeLike, as_dtype
from ..errors import InvalidArgumentError
from .bmp import read_rgba_bmp
from .conversion import convert_image_dtype
from .gif import is_gif, read_gif
from .libraries import JPEG, PNG, pillow, pillow_errors

# The bytes of one image file.
Contents = bytes | bytearray | memoryview | npt.NDArray[Any]

_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_DCT_METHODS = ("", "INTEGER_FAST", "INTEGER_ACCURATE")


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
    """Return True if the bytes begin like a JPEG.

    >>> is_jpeg(b"\\xff\\xd8\\xff"), is_jpeg(b"PNG")
    (True, False)
    """
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
      ratio: 1, 2, 4 or 8; reduces the size of a JPEG by that factor while decoding.
      fancy_upscaling: slower, smoother upsampling of chroma.
      try_recover_truncated: decode a truncated JPEG as far as it goes.
      acceptable_fraction: of the rows of a truncated JPEG; the other rows are black.
      dct_method: "INTEGER_FAST" (the default, as in TensorFlow) or "INTEGER_ACCURATE".

    Returns:
      uint8 `[height, width, channels]`.

    Raises:
      errors.InvalidArgumentError: not an image, or a damaged one.

    >>> import tfrecord_fast as tf
    >>> red = np.array([[[255, 0, 0]]], np.uint8)
    >>> decode_jpeg(tf.io.encode_jpeg(red)).shape
    (1, 1, 3)
    """
    options = jpeg_options(channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    data = _content(contents)
    return _core.decode_image(data, options) if is_in_core(data) else _decode(data, channels or 0)


def decode_region(
    contents: Contents, region: tuple[int, int, int, int], channels: int = 0, *args: Any, **kwargs: Any
) -> npt.NDArray[Any]:
    """Decode (top, left, height, width) of a JPEG: the pixels of `decode_jpeg`, which has the other arguments.

    Raises:
      errors.InvalidArgumentError: neither a JPEG nor a PNG, a damaged one, or a region beyond its border.
    """
    kwargs.pop("name", None)
    options = jpeg_options(channels, *args[:5], **kwargs)  # args[5] is the name
    try:
        return _core.decode_image(_content(contents), options, region)
    except InvalidArgumentError:
        if sample_length() is None:
            raise
        return np.zeros((*region[2:], channels or 3), np.uint8)


def jpeg_options(
    channels: int | None = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
) -> _core.DecodeOptions:
    """Return the core's options for the arguments of `decode_jpeg`.

    Raises:
      errors.InvalidArgumentError: an unknown number of channels, ratio or method.
    """
    channels = _check_channels(channels, (0, 1, 3))
    if ratio not in (1, 2, 4, 8):
        raise InvalidArgumentError(f"ratio must be 1, 2, 4 or 8, got {ratio}")
    if (dct_method or "") not in _DCT_METHODS:
        raise InvalidArgumentError(f"dct_method must be one of {_DCT_METHODS}, got {dct_method!r}")
    return _core.DecodeOptions(
        channels=channels,
        ratio=ratio,
        fancy_upsampling=bool(fancy_upscaling),
        recover_truncated=bool(try_recover_truncated),
        acceptable_fraction=float(acceptable_fraction),
        fast_dct=dct_method != "INTEGER_ACCURATE",
    )


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
      errors.InvalidArgumentError: not an image, or a damaged one.

    >>> import tfrecord_fast as tf
    >>> red = np.array([[[255, 0, 0]]], np.uint8)
    >>> decode_png(tf.io.encode_png(red)).tolist()
    [[[255, 0, 0]]]
    """
    target = np.dtype(as_dtype(dtype).as_numpy_dtype)
    if target not in (np.uint8, np.uint16):
        raise InvalidArgumentError(f"dtype must be uint8 or uint16, got {target}")
    data = _content(contents)
    decoded = _decode(data, _check_channels(channels, (0, 1, 3, 4)), sixteen_bits=target == np.uint16)
    return decoded if decoded.dtype == target else decoded.astype(np.uint16) << 8


@_or_made_up
def decode_bmp(contents: Contents, channels: int = 0, name: str | None = None) -> npt.NDArray[Any]:
    """Decode a BMP to uint8 `[height, width, channels]`; with 32 bits per pixel, the fourth channel is alpha.

    >>> import io, PIL.Image
    >>> file = io.BytesIO()
    >>> PIL.Image.new("RGB", (2, 1), "red").save(file, "BMP")
    >>> decode_bmp(file.getvalue()).tolist()
    [[[255, 0, 0], [255, 0, 0]]]
    """
    return _decode(_content(contents), _check_channels(channels, (0, 1, 3, 4)))


def decode_gif(contents: Contents, name: str | None = None) -> npt.NDArray[Any]:
    """Decode all frames of a GIF to uint8 `[frames, height, width, 3]`.

    Each frame is drawn over the one before, which stays visible outside of the new frame and where it is transparent.
    Pixels outside of all frames are black, and the size is that of the largest frame.

    Raises:
      errors.InvalidArgumentError: not an image, or a damaged one.

    >>> import io, PIL.Image
    >>> file = io.BytesIO()
    >>> PIL.Image.new("RGB", (2, 1), "red").save(file, "GIF")
    >>> decode_gif(file.getvalue()).shape
    (1, 1, 2, 3)
    """
    data = _content(contents)
    if is_gif(data):
        return read_gif(data)
    if is_in_core(data):
        return _decode(data, 3)[None]
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

    >>> import tfrecord_fast as tf
    >>> red = np.array([[[255, 0, 0]]], np.uint8)
    >>> decode_image(tf.io.encode_png(red)).tolist()
    [[[255, 0, 0]]]
    """
    data = _content(contents)
    target = np.dtype(as_dtype(dtype).as_numpy_dtype)
    channels = _check_channels(channels, (0, 1, 3, 4))
    if is_gif(data):
        _check_gif_channels(channels)
        decoded = read_gif(data) if expand_animations else read_gif(data, only_first=True)[0]
    else:
        decoded = _decode(data, channels, sixteen_bits=target != np.uint8)
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


def is_in_core(data: bytes) -> bool:
    """Return True for a JPEG or a PNG, which the core decodes."""
    return data.startswith((JPEG, PNG))


def core_options(function: str, *args: Any, **kwargs: Any) -> _core.DecodeOptions | None:
    """Return the core's options for a decoder's arguments after `contents`; None if it does more than the core."""
    if function == "decode_jpeg":
        kwargs.pop("name", None)
        return jpeg_options(*args[:6], **kwargs)
    if function not in ("decode_image", "decode_png") or len(args) > 1 or kwargs.keys() - {"channels", "name"}:
        return None
    channels = args[0] if args else kwargs.get("channels")
    return _core.DecodeOptions(channels=_check_channels(channels, (0, 1, 3, 4)))


def _decode(data: bytes, channels: int, sixteen_bits: bool = False) -> npt.NDArray[Any]:
    """Decode any image; only a PNG has 16 bits."""
    if is_in_core(data):
        deep = sixteen_bits and data.startswith(PNG)
        return _core.decode_image(data, _core.DecodeOptions(channels=channels, sixteen_bits=deep))
    if is_gif(data):
        return _single_frame(data, channels)
    with_alpha = read_rgba_bmp(data) if channels != 1 else None
    if with_alpha is not None:
        return with_alpha if channels in (0, 4) else with_alpha[:, :, :channels]
    image = _open(data)
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


def _pixels_of(image: Any, mode: str | None = None) -> npt.NDArray[Any]:
    """Return `[height, width, channels]`, converted to the mode if there is one."""
    with pillow_errors():
        pixels = np.asarray(image if mode in (None, image.mode) else image.convert(mode))
    return pixels[:, :, None] if pixels.ndim == 2 else pixels
