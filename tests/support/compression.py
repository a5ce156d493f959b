"""Compressed files, made and undone by Python's own libraries: what the codecs are held against."""

import gzip
import struct
import zlib

import zstandard

KINDS = ["GZIP", "ZLIB", "ZSTD"]
ALL = ["", *KINDS]
MAGIC = {"GZIP": b"\x1f\x8b", "ZLIB": b"\x78", "ZSTD": b"\x28\xb5\x2f\xfd"}


def compress(kind, data, level=6):
    """One part: a member, a stream, a frame."""
    if kind == "GZIP":
        return gzip.compress(data, level, mtime=0)
    if kind == "ZLIB":
        return zlib.compress(data, level)
    if kind == "ZSTD":
        return zstandard.ZstdCompressor(level=level, write_checksum=True).compress(data)
    return bytes(data)


def decompress(kind, data):
    """All parts; None where the container is damaged or cut."""
    parts, data = [], bytes(data)
    while data:
        try:
            part = _decompressor(kind)
            parts.append(part.decompress(data))
        except (zlib.error, zstandard.ZstdError):
            return None
        if not part.eof:
            return None
        data = part.unused_data
    return b"".join(parts)


def _decompressor(kind):
    if kind == "ZSTD":
        return zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj()
    return zlib.decompressobj(31 if kind == "GZIP" else 15)


# RFC 1952, 2.3.1: the flags of a member's header.
TEXT, HEADER_CRC, EXTRA, NAME, COMMENT = 1, 2, 4, 8, 16


def gzip_member(data, flags=0, extra=b"", name=b"", comment=b"", level=6):
    """A member with the optional header fields that its flags ask for."""
    head = struct.pack("<BBBBIBB", 0x1F, 0x8B, 8, flags, 0, 0, 255)
    if flags & EXTRA:
        head += struct.pack("<H", len(extra)) + extra
    if flags & NAME:
        head += name + b"\0"
    if flags & COMMENT:
        head += comment + b"\0"
    if flags & HEADER_CRC:
        head += struct.pack("<H", zlib.crc32(head) & 0xFFFF)
    deflate = zlib.compressobj(level, zlib.DEFLATED, -15)
    body = deflate.compress(data) + deflate.flush()
    return head + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def skippable_frame(content, kind=0):
    """RFC 8878, 3.1.2: a ZSTD frame that stands for nothing."""
    return struct.pack("<II", 0x184D2A50 + kind, len(content)) + content
