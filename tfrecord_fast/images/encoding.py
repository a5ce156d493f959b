"""Arrays to JPEG and PNG, as `tf.io` encodes them. Needs the extra `image`."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.optional import optional_or_none
from ..errors import InvalidArgumentError
from .libraries import pillow

_DENSITY_UNITS = {"in": 1, "cm": 2}
_XMP = b"http://ns.adobe.com/xap/1.0/\0"  # the beginning of an XMP segment
_SEGMENT_BYTES = 0xFFFF - 2 - len(_XMP)  # the length of a segment has 16 bits, and includes itself


def _pixels(image: npt.ArrayLike, dtypes: tuple[type, ...], channels: tuple[int, ...]) -> npt.NDArray[Any]:
    pixels = np.asarray(image)
    if pixels.dtype.type not in dtypes or pixels.ndim != 3 or pixels.shape[2] not in channels:
        names = " or ".join(np.dtype(dtype).name for dtype in dtypes)
        raise InvalidArgumentError(
            f"an image to encode must be {names} [height, width, {' or '.join(map(str, channels))}], "
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
    """Encode an image as JPEG.

    Args:
      image: uint8 `[height, width, 1 or 3]`.
      format: "", "grayscale" or "rgb".
      quality: 0 to 100.
      progressive, optimize_size: options of Pillow, which then encodes the image.
      chroma_downsampling: True for 4:2:0, False for 4:4:4.
      density_unit: "in" or "cm", the unit of x_density and y_density. 16 bits of each are kept.
      xmp_metadata: at most 65,504 bytes as UTF-8; empty for none.

    Raises:
      errors.InvalidArgumentError: another dtype, shape, format or unit, or too much metadata.

    >>> import numpy as np, tfrecord_fast as tf
    >>> tf.io.decode_jpeg(tf.io.encode_jpeg(np.zeros((8, 16, 3), np.uint8))).shape
    (8, 16, 3)
    """
    if density_unit not in _DENSITY_UNITS:
        raise InvalidArgumentError(f"density_unit must be 'in' or 'cm', got {density_unit!r}")
    xmp = xmp_metadata.encode() if isinstance(xmp_metadata, str) else bytes(xmp_metadata)
    if len(xmp) > _SEGMENT_BYTES:
        raise InvalidArgumentError(f"xmp_metadata must have at most {_SEGMENT_BYTES} bytes, got {len(xmp)}")
    densities = (int(density) & 0xFFFF for density in (x_density, y_density))
    head = struct.pack(
        ">4sH5s2BB2H2x", b"\xff\xd8\xff\xe0", 16, b"JFIF\0", 1, 1, _DENSITY_UNITS[density_unit], *densities
    )
    if xmp:
        head += struct.pack(">2sH", b"\xff\xe1", 2 + len(_XMP) + len(xmp)) + _XMP + xmp
    encoded = _encoded(
        _pixels(image, (np.uint8,), (1, 3)), format, quality, progressive, optimize_size, chroma_downsampling
    )
    return head + encoded[_end_of_jfif(encoded) :]


def _end_of_jfif(jpeg: bytes) -> int:
    """Return the end of a JPEG's first segment, if it is JFIF's."""
    return 4 + int.from_bytes(jpeg[4:6], "big") if jpeg[2:4] == b"\xff\xe0" else 2


def _encoded(
    pixels: npt.NDArray[Any],
    format: str,
    quality: int,
    progressive: bool,
    optimize_size: bool,
    chroma_downsampling: bool,
) -> bytes:
    if format and pixels.shape[2] != {"grayscale": 1, "rgb": 3}.get(format):
        raise InvalidArgumentError(f"format {format!r} does not fit an image of {pixels.shape[2]} channels")
    library = optional_or_none("simplejpeg")
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
    )
    return buffer.getvalue()


def encode_png(image: npt.ArrayLike, compression: int = -1, name: str | None = None) -> bytes:
    """Encode an image as PNG.

    Args:
      image: uint8 `[height, width, 1 to 4]`, or uint16 `[height, width, 1]`.
      compression: the level for zlib, 0 to 9; -1 for the default.

    >>> import numpy as np, tfrecord_fast as tf
    >>> image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    >>> bool((tf.io.decode_png(tf.io.encode_png(image)) == image).all())
    True
    """
    pixels = _pixels(image, (np.uint8, np.uint16), (1, 2, 3, 4))
    if pixels.dtype == np.uint16 and pixels.shape[2] != 1:
        raise InvalidArgumentError("a uint16 image to encode must have one channel")
    buffer = io.BytesIO()
    level = {} if compression < 0 else {"compress_level": compression}
    pillow().fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels).save(buffer, "PNG", **level)
    return buffer.getvalue()
