"""A deflate stream whose match reaches back before its start: what comes out is the stream's own, or an error."""

import gzip
import os
import random
import subprocess
import sys
import zlib

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames
from tests.support.paths import ROOT

WRAPPERS = {
    "GZIP": (b"\x1f\x8b\x08\0\0\0\0\0\0\3", bytes(8)),
    "ZLIB": (b"\x78\x9c", bytes(4)),
}


class Bits:
    """Bits of a deflate stream (RFC 1951): numbers lowest bit first, Huffman codes highest bit first."""

    def __init__(self):
        self.value = self.count = 0

    def number(self, value, bits):
        self.value |= value << self.count
        self.count += bits

    def code(self, value, bits):
        self.number(int(format(value, f"0{bits}b")[::-1], 2), bits)

    def literal(self, byte):
        self.code(0x30 + byte, 8) if byte < 144 else self.code(0x190 + byte - 144, 9)

    def bytes(self):
        return self.value.to_bytes((self.count + 7) // 8, "little")


def reaching_back(first, after):
    """The bytes `first`, a match of 258 bytes from 32,577 bytes before, and some more bytes, with the fixed codes."""
    bits = Bits()
    bits.number(1, 1)
    bits.number(1, 2)
    for byte in first:
        bits.literal(byte)
    bits.code(0xC0 + 285 - 280, 8)
    bits.code(29, 5)
    bits.number(8000, 13)
    for byte in after:
        bits.literal(byte)
    bits.code(0, 7)
    return bits.bytes()


@pytest.fixture(params=WRAPPERS)
def two_files(request, tmp_path):
    """A file of secrets, and a damaged one of another owner; both paths."""
    compress = gzip.compress if request.param == "GZIP" else zlib.compress
    secrets, mine = tmp_path / "secrets", tmp_path / "mine"
    secrets.write_bytes(compress(frames([b"SECRET%02d" % i for i in range(40)])))
    before, after = WRAPPERS[request.param]
    mine.write_bytes(before + reaching_back(frames([b"mine..00"]), bytes(range(60))) + after)
    return secrets, mine


@pytest.mark.parametrize("on_corrupt", ["skip", "skip_file"])
def test_no_record_of_another_file_comes_out(two_files, on_corrupt):
    secrets, mine = two_files
    for threads in (1, 2) * 40:
        assert sum(len(batch) for batch in tf.ShardReader(secrets, num_threads=threads)) == 40
        got = [record for batch in tf.ShardReader(mine, on_corrupt=on_corrupt, num_threads=threads) for record in batch]
        assert set(got) <= {b"mine..00"}


def test_the_match_is_what_is_wrong(two_files):
    with pytest.raises(tf.DataLossError, match=r"distance before the start|damaged|truncated"):
        list(tf.data.TFRecordDataset(two_files[1]))


@pytest.mark.parametrize(("length", "distance"), [(285, 30), (285, 31), (286, 0), (287, 0), (286, 29), (284, 30)])
def test_a_record_before_a_symbol_that_there_is_not_comes_out(tmp_path, length, distance):
    bits = Bits()
    bits.number(1, 1)
    bits.number(1, 2)
    for byte in frames([b"mine..00"]):
        bits.literal(byte)
    bits.code(0xC0 + length - 280, 8)
    bits.code(distance, 5)
    bits.number(8000, 13)
    for byte in range(60):
        bits.literal(byte)
    before, after = WRAPPERS["GZIP"]
    path = tmp_path / "mine"
    path.write_bytes(before + bits.bytes() + after)
    assert [record for batch in tf.ShardReader(path, on_corrupt="skip") for record in batch] == [b"mine..00"]


@pytest.mark.parametrize("shift", range(4))
def test_a_symbol_that_there_is_not_gives_nothing_of_another_file(tmp_path, shift):
    """A damaged file of which ISA-L counts some hundred bytes as given before it refuses a symbol."""
    damaged, secrets = ROOT / "tests" / "core" / "unwritten.tfrecord.gz", tmp_path / "secrets"
    secrets.write_bytes(gzip.compress(frames([b"z" * shift, *[b"SECRET%04d" % i for i in range(12_000)]])))
    for threads in (1, 2) * 3:
        assert sum(len(batch) for batch in tf.ShardReader(secrets, num_threads=threads)) == 12_001
        for batch in tf.ShardReader(damaged, on_corrupt="skip", num_threads=threads):
            assert not [record for record in batch if record.startswith(b"SECRET")]


READ_DAMAGED = """
import gzip, hashlib, random, sys, zlib
import tfrecord_fast as tf
from tests.support.frames import frames
path, rng, found = sys.argv[1], random.Random(int(sys.argv[2])), hashlib.sha256()
for round in range(300):
    sizes = [rng.choice([3, 40, 900]) for _ in range(rng.choice([2, 30, 200]))]
    records = [rng.randbytes(size) * rng.choice([1, 1, 7, 60]) for size in sizes]
    data = bytearray((gzip.compress, zlib.compress)[round % 2](frames(records), rng.choice([1, 6, 9])))
    for _ in range(rng.choice([1, 2, 9])):
        data[rng.randrange(20, len(data))] = rng.randrange(256)
    with open(path, "wb") as file:
        file.write(data)
    kind = ("GZIP", "ZLIB")[round % 2]
    reader = tf.ShardReader(path, on_corrupt="skip", verify_crc=False, compression_type=kind, num_threads=1 + round % 3)
    for batch in reader:
        for record in batch:
            found.update(record)
    found.update(repr(reader.skipped).encode())
print(found.hexdigest())
"""


def test_what_a_damaged_stream_gives_does_not_depend_on_what_memory_held(tmp_path):
    """glibc fills what malloc gives with the complement of MALLOC_PERTURB_."""
    seed = random.randrange(2**32)
    print("seed", seed)
    found = [
        subprocess.run(
            [sys.executable, "-c", READ_DAMAGED, tmp_path / "a", str(seed)],
            env={**os.environ, "MALLOC_PERTURB_": fill},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for fill in ("1", "85", "255")
    ]
    assert found[0] == found[1] == found[2] != ""
