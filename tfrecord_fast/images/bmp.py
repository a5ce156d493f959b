"""BMPs with alpha, which Pillow reads without it."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from .libraries import undecodable

_BMP_HEADERS = 54  # bytes of the headers with all fields that are read here
_RAW, _BY_MASKS = 0, (3, 6)  # compression of BMPs
_MASKS = (0xFF0000, 0xFF00, 0xFF)  # of red, green and blue


def read_rgba_bmp(data: bytes) -> npt.NDArray[np.uint8] | None:
    """Decode a BMP of 32 bits per pixel to uint8 `[height, width, 4]`; return None for other files.

    The fourth byte of a pixel is alpha, even if the file does not declare it.
    """
    if not data.startswith(b"BM") or len(data) < _BMP_HEADERS:
        return None
    offset, header, width, height, _, bits, compression = struct.unpack_from("<IIiiHHI", data, 10)
    if header < _BMP_HEADERS - 14 or bits != 32 or width <= 0 or not height:
        return None
    if compression in _BY_MASKS:
        if data[_BMP_HEADERS : _BMP_HEADERS + 12] != struct.pack("<III", *_MASKS):
            return None
    elif compression != _RAW:
        return None
    size = 4 * width * abs(height)
    if len(data) < offset + size:
        raise undecodable("the file is truncated")
    pixels = np.frombuffer(data, np.uint8, size, offset).reshape(abs(height), width, 4)
    return np.ascontiguousarray(pixels[:: -1 if height > 0 else 1, :, [2, 1, 0, 3]])
