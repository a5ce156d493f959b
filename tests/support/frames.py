"""The TFRecord frame and a reader of it in plain Python: what the core's answers are compared with.

record := length:u64le  masked_crc32c(length):u32le  data  masked_crc32c(data):u32le
"""

import itertools
import struct

import google_crc32c

from tfrecord_fast import _core
from tfrecord_fast.errors import DataLossError
from tfrecord_fast.files.streams.core_files import CoreFile

HEADER = 12
FRAME = HEADER + 4


def masked_crc(data):
    crc = google_crc32c.value(bytes(data))
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def header(length):
    """A header whose own CRC holds, whatever it claims."""
    claim = struct.pack("<Q", length)
    return claim + struct.pack("<I", masked_crc(claim))


def frame(record):
    return header(len(record)) + record + struct.pack("<I", masked_crc(record))


def frames(records):
    return b"".join(map(frame, records))


def offsets(records):
    """Where each record's frame starts, and where the file ends."""
    return list(itertools.accumulate((FRAME + len(record) for record in records), initial=0))


def record_at(records, place):
    """The index of the record whose frame holds the byte at `place`; their number for one after the last."""
    return sum(end <= place for end in offsets(records)[1:])


def expect(data):
    """(records, error) of uncompressed bytes; the error is None or (offset, record index, words of its reason)."""
    data, records, at = bytes(data), [], 0
    while at < len(data):
        here = (at, len(records))
        if len(data) - at < HEADER:
            return records, (*here, "truncated record")
        length = int.from_bytes(data[at : at + 8], "little")
        if data[at : at + HEADER] != header(length):
            return records, (*here, "the CRC of its length is wrong")
        if length > 2**62:
            return records, (*here, "too large")
        end = at + FRAME + length
        if end > len(data):
            return records, (*here, "truncated record")
        record = data[at + HEADER : end - 4]
        if data[end - 4 : end] != struct.pack("<I", masked_crc(record)):
            return records, (*here, "data bytes is wrong")
        records.append(record)
        at = end
    return records, None


def drain(records):
    """(records, DataLossError or None) of an iterator; checks that it ends with its error."""
    records, got = iter(records), []
    try:
        for record in records:
            got.append(record)
    except DataLossError as error:
        assert next(records, None) is None, "an iterator continues after its error"
        return got, error
    return got, None


def stream(*sources, **options):
    """The core's stream over paths (str, PathLike) and memory (bytes-like), on the caller's thread by default."""
    options = {"num_threads": 0, "compression_type": "", **options}
    return _core.RecordStream([core_file(source) for source in sources], **options)


def core_file(source):
    if isinstance(source, (bytes, bytearray, memoryview)):
        return CoreFile(b"<memory>", lambda: source)
    return CoreFile(str(source).encode())


def read(*sources, **options):
    """(records, DataLossError or None)."""
    return drain(stream(*sources, **options).records())


def agrees(answer, data):
    """Whether (records, error) is what `expect` says of the bytes."""
    (records, error), (expected, place) = answer, expect(data)
    if records != expected or (error is None) != (place is None):
        return False
    return error is None or ((error.offset, error.record_index) == place[:2] and place[2] in error.reason)
