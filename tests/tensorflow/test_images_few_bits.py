"""Gray PNG files of fewer than eight bits, in which one gray is transparent."""

import struct
import zlib

import pytest

import tfrecord_fast as tf


def gray_png(depth, row, transparent):
    bits = "".join(f"{value:0{depth}b}" for value in row).ljust(8 * (-(-len(row) * depth // 8)), "0")
    line = b"\0" + int(bits, 2).to_bytes(len(bits) // 8, "big")
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", len(row), 1, depth, 0, 0, 0, 0)),
        (b"tRNS", struct.pack(">H", transparent)),
        (b"IDAT", zlib.compress(line)),
        (b"IEND", b""),
    ]
    result = b"\x89PNG\r\n\x1a\n"
    for form, content in parts:
        result += struct.pack(">I", len(content)) + form + content + struct.pack(">I", zlib.crc32(form + content))
    return result


@pytest.mark.parametrize(("depth", "row", "transparent"), [(1, [0, 1], 1), (2, [0, 1, 2, 3], 1), (4, [0, 5, 15], 15)])
def test_transparency_of_gray_of_few_bits(depth, row, transparent):
    pytest.importorskip("PIL")
    result = tf.io.decode_png(gray_png(depth, row, transparent), channels=4)
    scale = 255 // (2**depth - 1)
    assert result[0, :, 0].tolist() == [value * scale for value in row]
    assert result[0, :, 3].tolist() == [0 if value == transparent else 255 for value in row]
