"""docs/format.md: the bytes of its worked example are what this package writes and reads."""

import re

import tfrecord_fast as tf
from tests.support.compression import unsnappy
from tests.support.frames import frames
from tests.support.paths import ROOT
from tfrecord_fast import _core

TEXT = (ROOT / "docs" / "format.md").read_text()
RECORDS = [b"Hello", b""]


def dumped():
    lines = re.findall(r"^([0-9a-f]{4})  ((?:[0-9a-f]{2} ?)+)$", TEXT, re.MULTILINE)
    assert [int(offset, 16) for offset, _ in lines] == list(range(0, 16 * len(lines), 16))
    return b"".join(bytes.fromhex(line) for _, line in lines)


def test_the_writer_writes_the_example(tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "a") as writer:
        writer.write_batch(RECORDS)
    assert (tmp_path / "a").read_bytes() == dumped()


def test_the_reader_reads_the_example():
    assert list(tf.data.TFRecordDataset(bytearray(dumped()))) == RECORDS


def test_the_table_takes_the_example_apart():
    rows = re.findall(r"^\| 0x([0-9a-f]{2}) \| (?:`([0-9a-f ]+)`)? ?\|", TEXT, re.MULTILINE)
    parts = [bytes.fromhex(part) for _, part in rows]
    assert b"".join(parts) == dumped()
    assert [int(offset, 16) for offset, _ in rows] == [sum(map(len, parts[:i])) for i in range(len(parts))]


def test_the_crcs_named_are_those_of_the_example():
    named = [int(crc, 16) for crc in re.findall(r"crc32c is (0x[0-9a-f]+|0),", TEXT)]
    covered = [(5).to_bytes(8, "little"), b"Hello", (0).to_bytes(8, "little"), b""]
    assert named == [_core.crc32c(data) for data in covered]
    masked = [int(crc, 16) for crc in re.findall(r"masked (0x[0-9a-f]+)", TEXT)]
    assert masked == [((crc >> 15 | crc << 17) + 0xA282EAD8) % 2**32 for crc in named]


def test_the_snappy_example_is_one_empty_record():
    section = TEXT.split("### SNAPPY")[1].split("###")[0]
    data = b"".join(bytes.fromhex(part) for part in re.findall(r"^\| `([0-9a-f ]+)` \|", section, re.MULTILINE))
    assert unsnappy(data) == frames([b""])
    assert list(tf.data.TFRecordDataset(bytearray(data), compression_type="SNAPPY")) == [b""]
    assert list(tf.data.TFRecordDataset(bytearray(data))) == [b""]
