"""PNGs with 16 bits per channel in color or with alpha; Pillow reads only their high bytes."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidArgumentError

__all__ = ["read_deep_png"]

_CHANNELS = {2: 3, 4: 2, 6: 4}  # by color type


def read_deep_png(data: bytes, with_transparency: bool) -> npt.NDArray[Any]:
    """uint16 `[height, width, 2 to 4]`; on request, RGB gets alpha from its transparent color, if it has one.

    Raises:
      errors.InvalidArgumentError: damage; interlaced rows.
    """
    header, transparent, packed = b"", b"", []
    at = 8
    while at + 12 <= len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        content, crc = data[at + 8 : at + 8 + size], data[at + 8 + size : at + 12 + size]
        if len(crc) < 4 or zlib.crc32(kind + content) != int.from_bytes(crc, "big"):
            raise _undecodable(f"a damaged chunk {kind!r}")
        header = content if kind == b"IHDR" else header
        transparent = content if kind == b"tRNS" else transparent
        if kind == b"IDAT":
            packed.append(content)
        at += 12 + size
    if len(header) != 13:
        raise _undecodable("no header")
    width, height, _, color, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    if interlaced or color not in _CHANNELS:
        raise InvalidArgumentError("an interlaced color PNG of 16 bits decodes only to uint8, with its own channels")
    size = 2 * _CHANNELS[color]
    wanted = height * (1 + width * size)
    try:
        raw = zlib.decompressobj().decompress(b"".join(packed), max(wanted, 1))
    except zlib.error as error:
        raise _undecodable(str(error)) from None
    if len(raw) != wanted or not wanted:
        raise _undecodable(f"expected {wanted} bytes of pixels, got {len(raw)}")
    lines = np.frombuffer(raw, np.uint8).reshape(height, 1 + width * size)
    filters = lines[:, 0]
    if filters.max() > 4:
        raise _undecodable(f"no filter {filters.max()}")
    pixels = _unfiltered(filters, lines[:, 1:].reshape(height, width, size)).view(">u2").astype(np.uint16)
    if with_transparency and color == 2 and len(transparent) == 6:
        opaque = (pixels != np.frombuffer(transparent, ">u2")).any(axis=2, keepdims=True)
        pixels = np.concatenate([pixels, opaque * np.uint16(65535)], axis=2)
    return pixels


def _unfiltered(filters: npt.NDArray[Any], lines: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Along diagonals: pixels depend only on those to the left, above, and above left, on earlier diagonals."""
    height, width, size = lines.shape
    out = np.zeros((height + 1, width + 1, size), np.uint8)
    for diagonal in range(height + width - 1):
        y = np.arange(max(0, diagonal - width + 1), min(height, diagonal + 1))
        x = diagonal - y
        left, up, corner = (out[y + dy, x + dx].astype(np.int16) for dy, dx in ((1, 0), (0, 1), (0, 0)))
        by_left, by_up, by_corner = np.abs(up - corner), np.abs(left - corner), np.abs(left + up - 2 * corner)
        nearest = np.where(by_up <= by_corner, up, corner)
        nearest = np.where((by_left <= by_up) & (by_left <= by_corner), left, nearest)
        kind = filters[y][:, None]
        guess = np.choose(kind, [np.zeros_like(left), left, up, (left + up) >> 1, nearest])
        out[y + 1, x + 1] = lines[y, x] + guess.astype(np.uint8)
    return np.ascontiguousarray(out[1:, 1:])


def _undecodable(why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"the image can't be decoded: {why}")
