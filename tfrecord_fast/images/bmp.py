"""BMPs of 32 bits per pixel, whose fourth byte Pillow leaves out."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from ..errors import InvalidArgumentError

__all__ = ["read_rgba_bmp"]

_HEADERS = 54  # bytes: of the file, and the shortest header of an image that has all that is looked at
_RAW, _BY_MASKS = 0, (3, 6)  # ways to store pixels
_MASKS = (0xFF0000, 0xFF00, 0xFF)  # of red, green and blue


def read_rgba_bmp(data: bytes) -> npt.NDArray[np.uint8] | None:
    """uint8 `[height, width, 4]`; the fourth byte of a pixel is alpha, whether or not the file says so.

    None if it is another BMP, or none.

    Raises:
      errors.InvalidArgumentError: it is cut.
    """
    if not data.startswith(b"BM") or len(data) < _HEADERS:
        return None
    offset, header, width, height, _, bits, stored = struct.unpack_from("<IIiiHHI", data, 10)
    if header < _HEADERS - 14 or bits != 32 or width <= 0 or not height:
        return None
    if stored in _BY_MASKS:
        if data[_HEADERS : _HEADERS + 12] != struct.pack("<III", *_MASKS):
            return None
    elif stored != _RAW:
        return None
    size = 4 * width * abs(height)
    if len(data) < offset + size:
        raise InvalidArgumentError("the image can't be decoded: it is cut")
    pixels = np.frombuffer(data, np.uint8, size, offset).reshape(abs(height), width, 4)
    made: npt.NDArray[np.uint8] = pixels[:: -1 if height > 0 else 1, :, [2, 1, 0, 3]]
    return np.ascontiguousarray(made)
