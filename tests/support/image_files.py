"""JPEGs and PNGs of forms that no encoder here writes: any sampling of a JPEG, any kind of PNG."""

import struct
import zlib

__all__ = ["jpeg", "png", "png_chunk"]

# ---- JPEG ----

# Codes of four bits: a size of a DC difference, and (zeros before it, size) of an AC coefficient.
_DC = range(12)
_AC = [0x00, *(zeros << 4 | size for zeros in range(3) for size in range(1, 5))]


def _segment(marker, content):
    return struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content


def _number(value):
    """Return the bits of a coefficient after its size."""
    size = int(value).bit_length() if value > 0 else int(-value).bit_length()
    return format(value if value > 0 else value + (1 << size) - 1, f"0{size}b") if size else ""


def _block(rng):
    difference = int(rng.integers(-60, 61))
    bits = [format(_DC.index(abs(difference).bit_length()), "04b"), _number(difference)]
    for _ in range(int(rng.integers(0, 5))):
        value = int(rng.integers(1, 16)) * (1 if rng.integers(2) else -1)
        bits += [format(_AC.index(int(rng.integers(3)) << 4 | abs(value).bit_length()), "04b"), _number(value)]
    return "".join([*bits, format(_AC.index(0), "04b")])


def _scan_bytes(bits):
    bits += "1" * (-len(bits) % 8)
    return int("1" + bits, 2).to_bytes(len(bits) // 8 + 1, "big")[1:].replace(b"\xff", b"\xff\0")


def jpeg(rng, height, width, sampling, restart=0, adobe=None):
    """Return a JPEG of random coefficients.

    Args:
      sampling: (across, down) of each component.
      restart: MCUs between restart markers, or 0.
      adobe: the color transform that a segment of Adobe specifies.
    """
    across, down = (max(factors) for factors in zip(*sampling, strict=True))
    if len(sampling) == 1:
        across, down = sampling[0]
        mcus = -(-width // 8) * -(-height // 8)
        blocks = 1
    else:
        mcus = -(-width // (8 * across)) * -(-height // (8 * down))
        blocks = sum(x * y for x, y in sampling)
    components = range(1, len(sampling) + 1)
    frame = struct.pack(">BHHB", 8, height, width, len(sampling))
    frame += b"".join(struct.pack("BBB", i, x << 4 | y, 0) for i, (x, y) in zip(components, sampling, strict=True))
    tables = [bytes([table, 0, 0, 0, len(codes), *[0] * 12, *codes]) for table, codes in ((0, _DC), (0x10, _AC))]
    result = b"\xff\xd8"
    if adobe is not None:
        result += _segment(0xEE, b"Adobe" + struct.pack(">HHHB", 100, 0, 0, adobe))
    result += _segment(0xDB, bytes([0, *rng.integers(1, 4, 64).tolist()])) + _segment(0xC0, frame)
    result += b"".join(_segment(0xC4, table) for table in tables)
    if restart:
        result += _segment(0xDD, struct.pack(">H", restart))
    scan = b"".join(struct.pack("BB", i, 0) for i in components)
    result += _segment(0xDA, bytes([len(sampling)]) + scan + b"\0\x3f\0")
    step = restart or mcus
    for number, start in enumerate(range(0, mcus, step)):
        if number:
            result += bytes([0xFF, 0xD0 + (number - 1) % 8])
        result += _scan_bytes("".join(_block(rng) for _ in range(min(step, mcus - start) * blocks)))
    return result + b"\xff\xd9"


# ---- PNG ----

_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by color type
_PASSES = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]


def png_chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _lines(rng, pixels, depth):
    lines = b""
    for row in pixels if pixels.shape[1] else ():
        bits = "".join(format(int(value), f"0{depth}b") for value in row.ravel())
        bits += "0" * (-len(bits) % 8)
        lines += bytes([int(rng.integers(0, 5))]) + int(bits, 2).to_bytes(len(bits) // 8, "big")
    return lines


def png(rng, height, width, color, depth, interlaced=False, transparent=False, gamma=0):
    """Return a PNG of random pixels, with random filters."""
    colors = int(rng.integers(1, min(256, 1 << depth) + 1))
    pixels = rng.integers(0, colors if color == 3 else 1 << depth, (height, width, _CHANNELS[color]))
    parts = [pixels[top::down, left::across] for top, left, down, across in _PASSES] if interlaced else [pixels]
    result = b"\x89PNG\r\n\x1a\n"
    result += png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced))
    if gamma:
        result += png_chunk(b"gAMA", struct.pack(">I", gamma))
    if color == 3:
        result += png_chunk(b"PLTE", rng.bytes(3 * colors))
    if transparent and color in (0, 2, 3):
        values = rng.bytes(colors) if color == 3 else pixels[0, 0].astype(">u2").tobytes()
        result += png_chunk(b"tRNS", values)
    lines = b"".join(_lines(rng, part, depth) for part in parts)
    return result + png_chunk(b"IDAT", zlib.compress(lines)) + png_chunk(b"IEND", b"")
