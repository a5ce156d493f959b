"""Files and readers that the tests of the index share."""

import os
import struct

from tests.support.frames import frames
from tfrecord_fast import _core

RECORDS = [b"one", b"", bytes(range(256)), b"four" * 300, b"\0"]
MANY = [b"%d," % i * (1 + i % 97) for i in range(2000)]
PARTS = [MANY[:700], [], MANY[700:701], [b"", b"", b""], MANY[701:], [bytes([i]) * 40_000 for i in range(20)]]
ALL = [record for part in PARTS for record in part]


def text_index(data):
    """The text form as tfrecord2idx writes it, made by itself: no CRC checked, no code shared."""
    lines, at = [], 0
    while at < len(data):
        size = struct.unpack_from("<Q", data, at)[0] + 8 + 4 + 4
        lines.append(f"{at} {size}\n")
        at += size
    return "".join(lines).encode()


def write(folder, parts):
    """Files of the given records; their paths."""
    paths = []
    for i, records in enumerate(parts):
        paths.append(str(folder / f"{i:05}.tfrecord"))
        (folder / f"{i:05}.tfrecord").write_bytes(frames(records))
    return paths


def core_reader(paths, **options):
    """The core's reader with what no user can set: few open files, no mapping."""
    indexes = _core.open_indexes([_core.IndexOrigin(path=os.fsencode(path)) for path in paths], 1)
    options = {"verify_crc": True, "num_threads": 2, **options}
    return _core.RandomReader([os.fsencode(path) for path in paths], indexes, **options)
