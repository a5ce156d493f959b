"""The format, width and height of an image from its first bytes, without a library."""

from __future__ import annotations

import struct

from .libraries import JPEG, PNG

_NOT_FRAMES = {0xC4, 0xC8, 0xCC}  # markers in the range of those that begin a JPEG's frame


def image_of(data: bytes) -> tuple[str, int, int] | None:
    """Return ("PNG", width, height), or the same of a JPEG, GIF, WebP or BMP; None for other or truncated data.

    >>> image_of(b"GIF89a" + bytes([3, 0, 2, 0]))
    ('GIF', 3, 2)
    """
    try:
        return _image_of(data)
    except (struct.error, IndexError):
        return None


def _image_of(data: bytes) -> tuple[str, int, int] | None:
    if data.startswith(PNG):
        return ("PNG", *struct.unpack_from(">II", data, 16))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return ("GIF", *struct.unpack_from("<HH", data, 6))
    if data.startswith(b"BM") and struct.unpack_from("<I", data, 2)[0] == len(data):
        width, height = struct.unpack_from("<ii", data, 18)
        return "BMP", width, abs(height)
    if data.startswith(JPEG):
        return _jpeg(data)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _webp(data)
    return None


def _jpeg(data: bytes) -> tuple[str, int, int] | None:
    position = 2
    while data[position] == 0xFF:
        marker = data[position + 1]
        if marker == 0xFF:  # padding
            position += 1
        elif 0xC0 <= marker <= 0xCF and marker not in _NOT_FRAMES:
            height, width = struct.unpack_from(">HH", data, position + 5)
            return "JPEG", width, height
        else:
            position += 2 + int(struct.unpack_from(">H", data, position + 2)[0])
    return None


def _webp(data: bytes) -> tuple[str, int, int] | None:
    form = data[12:16]
    if form == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return "WebP", width & 0x3FFF, height & 0x3FFF
    if form == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return "WebP", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8X":
        width, wide, height, high = struct.unpack_from("<HBHB", data, 24)  # numbers of three bytes
        return "WebP", (width | wide << 16) + 1, (height | high << 16) + 1
    return None
