"""JPEG and PNG, as `tf.io` encodes them; needs the extra `image`."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidArgumentError
from .libraries import pillow, simplejpeg

__all__ = ["encode_jpeg", "encode_png"]


def _pixels(image: npt.ArrayLike, kinds: tuple[type, ...], channels: tuple[int, ...]) -> npt.NDArray[Any]:
    pixels = np.asarray(image)
    if pixels.dtype.type not in kinds or pixels.ndim != 3 or pixels.shape[2] not in channels:
        names = " or ".join(np.dtype(kind).name for kind in kinds)
        raise InvalidArgumentError(
            f"an image to encode is {names} [height, width, {' or '.join(map(str, channels))}], "
            f"got {pixels.dtype} {list(pixels.shape)}"
        )
    return np.ascontiguousarray(pixels)


def encode_jpeg(
    image: npt.ArrayLike,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> bytes:
    """An image as JPEG.

    Args:
      image: uint8 `[height, width, 1 or 3]`.
      format: "", "grayscale" or "rgb".
      quality: 0 to 100.
      progressive, optimize_size: through Pillow.
      chroma_downsampling: 4:2:0, else 4:4:4.

    >>> import numpy as np, tfrecord_fast as tf
    >>> tf.io.decode_jpeg(tf.io.encode_jpeg(np.zeros((8, 16, 3), np.uint8))).shape
    (8, 16, 3)
    """
    pixels = _pixels(image, (np.uint8,), (1, 3))
    if format and pixels.shape[2] != {"grayscale": 1, "rgb": 3}.get(format):
        raise InvalidArgumentError(f"format {format!r} does not fit an image of {pixels.shape[2]} channels")
    library = simplejpeg()
    if library is not None and not (progressive or optimize_size):
        gray = pixels.shape[2] == 1
        encoded: bytes = library.encode_jpeg(
            pixels,
            quality=quality,
            colorspace="GRAY" if gray else "RGB",
            colorsubsampling="Gray" if gray else "420" if chroma_downsampling else "444",
        )
        return encoded
    buffer = io.BytesIO()
    pillow().fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels).save(
        buffer,
        "JPEG",
        quality=quality,
        progressive=progressive,
        optimize=optimize_size,
        subsampling=2 if chroma_downsampling else 0,
        dpi=(x_density, y_density),
    )
    return buffer.getvalue()


def encode_png(image: npt.ArrayLike, compression: int = -1, name: str | None = None) -> bytes:
    """An image as PNG.

    Args:
      image: uint8 `[height, width, 1 to 4]`, or uint16 `[height, width, 1]`.
      compression: zlib's level, 0 to 9; -1 for the default.

    >>> import numpy as np, tfrecord_fast as tf
    >>> image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    >>> bool((tf.io.decode_png(tf.io.encode_png(image)) == image).all())
    True
    """
    pixels = _pixels(image, (np.uint8, np.uint16), (1, 2, 3, 4))
    if pixels.dtype == np.uint16 and pixels.shape[2] != 1:
        raise InvalidArgumentError("a uint16 image to encode has one channel")
    buffer = io.BytesIO()
    level = {} if compression < 0 else {"compress_level": compression}
    pillow().fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels).save(buffer, "PNG", **level)
    return buffer.getvalue()
