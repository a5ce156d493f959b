"""Deep PNGs (16 bits per channel, color or alpha), of which Pillow reads only the high bytes, and BMPs with alpha."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidArgumentError
from .libraries import undecodable

_CHANNELS = {2: 3, 4: 2, 6: 4}  # of PNGs, by color type
_BMP_HEADERS = 54  # bytes of the headers with all fields that are read here
_RAW, _BY_MASKS = 0, (3, 6)  # compression of BMPs
_MASKS = (0xFF0000, 0xFF00, 0xFF)  # of red, green and blue


def read_deep_png(data: bytes, with_transparency: bool) -> npt.NDArray[Any]:
    """Decode to uint16 `[height, width, 2 to 4]`; `with_transparency` makes alpha of a transparent color of RGB."""
    header, transparent, packed = b"", b"", []
    at = 8
    while at + 12 <= len(data):
        size, name = struct.unpack(">I4s", data[at : at + 8])
        content, crc = data[at + 8 : at + 8 + size], data[at + 8 + size : at + 12 + size]
        if len(crc) < 4 or zlib.crc32(name + content) != int.from_bytes(crc, "big"):
            raise undecodable(f"the chunk {name!r} is damaged")
        header = content if name == b"IHDR" else header
        transparent = content if name == b"tRNS" else transparent
        if name == b"IDAT":
            packed.append(content)
        at += 12 + size
    if len(header) != 13:
        raise undecodable("the header is missing")
    width, height, _, color, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    if interlaced or color not in _CHANNELS:
        raise InvalidArgumentError("an interlaced color PNG of 16 bits decodes only to uint8, with its own channels")
    size = 2 * _CHANNELS[color]
    expected = height * (1 + width * size)
    try:
        raw = zlib.decompressobj().decompress(b"".join(packed), max(expected, 1))
    except zlib.error as error:
        raise undecodable(str(error)) from None
    if len(raw) != expected or not expected:
        raise undecodable(f"expected {expected} bytes of pixels, got {len(raw)}")
    lines = np.frombuffer(raw, np.uint8).reshape(height, 1 + width * size)
    filters = lines[:, 0]
    if filters.max() > 4:
        raise undecodable(f"unknown filter {filters.max()}")
    pixels = _unfiltered(filters, lines[:, 1:].reshape(height, width, size)).view(">u2").astype(np.uint16)
    if with_transparency and color == 2 and len(transparent) == 6:
        opaque = (pixels != np.frombuffer(transparent, ">u2")).any(axis=2, keepdims=True)
        pixels = np.concatenate([pixels, opaque * np.uint16(65535)], axis=2)
    return pixels


def _unfiltered(filters: npt.NDArray[Any], lines: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Undo the filters along diagonals: pixels depend only on those to the left, above, and above left."""
    height, width, size = lines.shape
    out = np.zeros((height + 1, width + 1, size), np.uint8)
    for diagonal in range(height + width - 1):
        y = np.arange(max(0, diagonal - width + 1), min(height, diagonal + 1))
        x = diagonal - y
        left, up, corner = (out[y + dy, x + dx].astype(np.int16) for dy, dx in ((1, 0), (0, 1), (0, 0)))
        by_left, by_up, by_corner = np.abs(up - corner), np.abs(left - corner), np.abs(left + up - 2 * corner)
        nearest = np.where(by_up <= by_corner, up, corner)
        nearest = np.where((by_left <= by_up) & (by_left <= by_corner), left, nearest)
        guess = np.choose(filters[y][:, None], [np.zeros_like(left), left, up, (left + up) >> 1, nearest])
        out[y + 1, x + 1] = lines[y, x] + guess.astype(np.uint8)
    return np.ascontiguousarray(out[1:, 1:])


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
