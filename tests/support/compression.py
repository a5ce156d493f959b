"""Compressed files, made and undone by Python's own libraries: what the codecs are compared with."""

import gzip
import struct
import zlib

import zstandard

KINDS = ["GZIP", "ZLIB", "ZSTD", "SNAPPY"]
ALL = ["", *KINDS]
LEVELED = ["GZIP", "ZLIB", "ZSTD"]
MAGIC = {"GZIP": b"\x1f\x8b", "ZLIB": b"\x78", "ZSTD": b"\x28\xb5\x2f\xfd"}


def compress(kind, data, level=6):
    """One part: a member, a stream, a frame, or as many blocks as it takes."""
    if kind == "GZIP":
        return gzip.compress(data, level, mtime=0)
    if kind == "ZLIB":
        return zlib.compress(data, level)
    if kind == "ZSTD":
        return zstandard.ZstdCompressor(level=level, write_checksum=True).compress(data)
    if kind == "SNAPPY":
        pieces = [data[i : i + 65_536] for i in range(0, len(data), 65_536)]
        import pyarrow  # not before: its threads would be there at every fork that the tests make

        return b"".join(snappy_block(pyarrow.compress(piece, "snappy", asbytes=True)) for piece in pieces)
    return bytes(data)


def decompress(kind, data):
    """All parts; None if the container is damaged or cut."""
    parts, data = [], bytes(data)
    if kind == "SNAPPY":
        return unsnappy(data)
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
    """RFC 8878, 3.1.2: a ZSTD frame that holds no data."""
    return struct.pack("<II", 0x184D2A50 + kind, len(content)) + content


def snappy_block(raw):
    """As TensorFlow frames it: the number of bytes, big-endian, then raw Snappy."""
    return struct.pack(">I", len(raw)) + raw


def varint(value):
    """As it opens raw Snappy: seven bits per byte, the lowest first."""
    encoded = b""
    while value > 0x7F:
        encoded += bytes([value & 0x7F | 0x80])
        value >>= 7
    return encoded + bytes([value])


def unsnappy(data):
    """What blocks inflate to; None if one is damaged or cut."""
    made = b""
    while data:
        length = int.from_bytes(data[:4], "big")
        block, data = data[4 : 4 + length], data[4 + length :]
        try:
            made += _raw_unsnappy(block, length)
        except (IndexError, ValueError):
            return None
    return made


def _raw_unsnappy(block, length):
    """Snappy's format_description.txt, in plain Python."""
    if len(block) != length:
        raise ValueError("cut")
    at = next(i for i in range(6) if i == 5 or block[i] < 0x80) + 1
    claim = sum((byte & 0x7F) << 7 * i for i, byte in enumerate(block[:at]))
    if at == 6 or claim >= 1 << 32:
        raise ValueError("the preamble is not a varint of 32 bits")
    made = bytearray()
    while at < length:
        tag, at = block[at], at + 1
        kind, upper = tag & 3, tag >> 2
        extra = max(0, upper - 59) if kind == 0 else (1, 2, 4)[kind - 1]
        value, at = int.from_bytes(block[at : at + extra], "little"), at + extra
        if at > length:
            raise ValueError("an element is cut")
        if kind == 0:
            count = (value if extra else upper) + 1
            if count > length - at:
                raise ValueError("a literal is cut")
            made += block[at : at + count]
            at += count
        else:
            count = 4 + (upper & 7) if kind == 1 else upper + 1
            offset = value | upper >> 3 << 8 if kind == 1 else value
            if not 0 < offset <= len(made):
                raise ValueError("a copy from before the start")
            for _ in range(count):
                made.append(made[-offset])
    if len(made) != claim:
        raise ValueError("another size than the preamble claims")
    return bytes(made)
