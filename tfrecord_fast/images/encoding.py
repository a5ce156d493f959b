"""Arrays to JPEG and PNG, as `tf.io` encodes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..base.threads import thread_count
from ..errors import InvalidArgumentError


def _pixels(image: npt.ArrayLike, dtypes: tuple[type, ...], channels: tuple[int, ...], name: str) -> npt.NDArray[Any]:
    pixels = np.asarray(image)
    if pixels.dtype.type not in dtypes or pixels.ndim != 3 or pixels.shape[2] not in channels:
        names = " or ".join(np.dtype(dtype).name for dtype in dtypes)
        raise InvalidArgumentError(
            f"{name} must be {names} [height, width, {' or '.join(map(str, channels))}], "
            f"got {pixels.dtype} {list(pixels.shape)}"
        )
    return np.ascontiguousarray(pixels)


def _check_quality(quality: int) -> None:
    if not 0 <= quality <= 100:
        raise InvalidArgumentError(f"quality must be 0 to 100, got {quality}")


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
    """Encode an image as JPEG.

    Args:
      image: uint8 `[height, width, 1 or 3]`.
      format: "", "grayscale" or "rgb".
      quality: 0 to 100.
      progressive: several scans, each of which adds detail.
      optimize_size: smaller and slower, with the same pixels.
      chroma_downsampling: True for 4:2:0, False for 4:4:4.
      density_unit: "in" or "cm", the unit of x_density and y_density. 16 bits of each are kept.
      xmp_metadata: at most 65,504 bytes as UTF-8; empty for none.

    Raises:
      errors.InvalidArgumentError: another dtype, shape, format or unit, or too much metadata.

    >>> import numpy as np, tfrecord_fast as tf
    >>> tf.io.decode_jpeg(tf.io.encode_jpeg(np.zeros((8, 16, 3), np.uint8))).shape
    (8, 16, 3)
    """
    if density_unit not in ("in", "cm"):
        raise InvalidArgumentError(f"density_unit must be 'in' or 'cm', got {density_unit!r}")
    _check_quality(quality)
    pixels = _pixels(image, (np.uint8,), (1, 3), "an image to encode")
    if format and pixels.shape[2] != {"grayscale": 1, "rgb": 3}.get(format):
        raise InvalidArgumentError(f"format {format!r} does not fit an image of {pixels.shape[2]} channels")
    return _core.encode_jpeg(
        pixels,
        quality=quality,
        progressive=bool(progressive),
        optimize=bool(optimize_size),
        chroma_downsampling=bool(chroma_downsampling),
        density_per_cm=density_unit == "cm",
        x_density=int(x_density) & 0xFFFF,
        y_density=int(y_density) & 0xFFFF,
        xmp=xmp_metadata,
    )


def encode_png(image: npt.ArrayLike, compression: int = -1, name: str | None = None) -> bytes:
    """Encode an image as PNG.

    Args:
      image: uint8 or uint16 `[height, width, 1 to 4]`.
      compression: the level for zlib, 0 to 9; -1 for the default.

    >>> import numpy as np, tfrecord_fast as tf
    >>> image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    >>> bool((tf.io.decode_png(tf.io.encode_png(image)) == image).all())
    True
    """
    return _core.encode_png(_pixels(image, (np.uint8, np.uint16), (1, 2, 3, 4), "an image to encode"), int(compression))


def encode_images(
    images: npt.NDArray[Any] | Sequence[npt.ArrayLike],
    format: str = "jpeg",
    *,
    quality: int = 95,
    num_threads: int | None = None,
) -> list[bytes]:
    """Encode a column of images on several threads, for `ExampleWriter.write` or `encode_examples`.

    Args:
      images: an array `[n, height, width, channels]`, or arrays `[height, width, channels]` of any sizes. A JPEG is of
        uint8 and has 1 or 3 channels; a PNG is of uint8 or uint16 and has 1 to 4.
      format: "jpeg" or "png".
      quality: 0 to 100, of JPEGs.
      num_threads: None for as many as the process may use.

    Raises:
      errors.InvalidArgumentError: another dtype, shape, format or quality.

    >>> import numpy as np, tfrecord_fast as tf
    >>> columns = {"image": tf.io.encode_images(np.zeros((2, 8, 16, 3), np.uint8), quality=90), "label": [0, 1]}
    >>> len(tf.encode_examples(columns))
    2
    """
    if format not in ("jpeg", "png"):
        raise InvalidArgumentError(f"format must be 'jpeg' or 'png', got {format!r}")
    _check_quality(quality)
    is_jpeg = format == "jpeg"
    dtypes: tuple[type, ...] = (np.uint8,) if is_jpeg else (np.uint8, np.uint16)
    channels: tuple[int, ...] = (1, 3) if is_jpeg else (1, 2, 3, 4)
    pixels = [_pixels(image, dtypes, channels, f"images[{row}]") for row, image in enumerate(images)]
    return _core.encode_images(pixels, quality=quality if is_jpeg else None, num_threads=thread_count(num_threads))
