"""A check of the installed package on this machine: `python -m tfrecord_fast.selftest`.

It takes some seconds, and needs neither a network nor packages beside NumPy. Every implementation that this processor
can run is compared with the portable one, and data is written and read back. The exit status is 1 if a check fails.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import numpy as np

from . import _core
from .base.build_info import build_info
from .data import TFRecordDataset
from .dtypes import int64
from .errors import DataLossError
from .examples.encoding.encode import encode_examples
from .examples.features import ImageFeature, RaggedFeature
from .examples.parsing.parse import parse_example
from .files.indexing.indexed_reader import IndexedReader
from .files.reading.shard_reader import ShardReader
from .files.writing.example_writer import ExampleWriter
from .files.writing.writer import TFRecordWriter
from .images.decoding import decode_jpeg, decode_png
from .images.encoding import encode_jpeg, encode_png

_SEED = 20261128
_CRC = 0xE3069283  # of b"123456789", from RFC 3720


def main() -> int:
    """Run all checks, print a line for each, and return the exit status."""
    info = build_info()
    print(
        f"tfrecord_fast {info['version']}, {info['compiler']}, NumPy {np.__version__}, Python {sys.version.split()[0]}"
    )
    print(", ".join(f"{library} {version}" for library, version in info["codecs"].items()))
    failed = 0
    for check in (crc32c, varints, codecs, damage, shards, resume, records_by_number, images):
        start = time.perf_counter()
        try:
            with tempfile.TemporaryDirectory() as folder:
                found = check(folder)
            print(f"ok      {check.__name__.replace('_', ' ')}: {found} ({time.perf_counter() - start:.1f} s)")
        except Exception as error:
            failed += 1
            print(f"FAILED  {check.__name__.replace('_', ' ')}: {type(error).__name__}: {error}")
    print(f"{failed} checks failed; send these lines with your report" if failed else "All checks passed.")
    return 1 if failed else 0


def crc32c(folder: str) -> str:
    """Compare all implementations of CRC32C with a table in Python."""
    data = np.random.default_rng(_SEED).integers(0, 256, 1 << 16, np.uint8).tobytes()
    pieces = [data[begin : begin + size] for begin in range(9) for size in (*range(130), 4096, 50_000)]
    expected = [_slow_crc32c(piece) for piece in pieces[: 9 * 4]] + [_core.crc32c(piece) for piece in pieces[9 * 4 :]]
    for name in _each(_core.crc32c_backends(), _core.crc32c_backend(), _core.set_crc32c_backend):
        _equal(_core.crc32c(b"123456789"), _CRC, name)
        _equal([_core.crc32c(piece) for piece in pieces], expected, name)
    return f"{', '.join(_core.crc32c_backends())} agree on {len(pieces)} buffers"


def varints(folder: str) -> str:
    """Compare integers parsed by all implementations of varints with what was encoded."""
    draw = np.random.default_rng(_SEED)
    values = draw.integers(-(1 << 63), (1 << 63) - 1, 20_000) >> draw.integers(0, 64, 20_000)
    rows = np.split(values, np.sort(draw.integers(0, len(values), 300)))
    records = encode_examples({"a": [row.tolist() for row in rows]})
    for name in _each(_core.varint_backends(), _core.varint_backend(), _core.set_varint_backend):
        column = parse_example(records, {"a": RaggedFeature(int64)})["a"]
        _equal(column.flat_values.tolist(), values.tolist(), name)
        _equal(column.row_lengths().tolist(), [len(row) for row in rows], name)
    return f"{', '.join(_core.varint_backends())} agree on {len(values):,} integers"


def codecs(folder: str) -> str:
    """Write and read records with each compression."""
    records = _records()
    names = ["none", *(codec.name for codec in _core.codecs())]
    for name in names:
        path = os.path.join(folder, name)
        with TFRecordWriter(path, compression=name) as writer:
            writer.write_batch(records)
        for threads in (1, 2):
            batches = ShardReader(path, batch_size=100, num_threads=threads)
            _equal([record for batch in batches for record in batch], records, name)
    return f"{', '.join(names)}: {len(records):,} records there and back"


def damage(folder: str) -> str:
    """Flip bits in a file: each must be noticed."""
    path, records = os.path.join(folder, "a"), _records()[:20]
    with TFRecordWriter(path) as writer:
        writer.write_batch(records)
    with open(path, "rb") as file:
        whole = file.read()
    places = range(0, len(whole), 31)
    for place in places:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        try:
            list(TFRecordDataset(flipped))
        except DataLossError:
            continue
        raise AssertionError(f"a flipped bit at byte {place} was not noticed")
    return f"{len(places)} flipped bits noticed"


def shards(folder: str) -> str:
    """Read shuffled shards with several threads, whole and divided."""
    with ExampleWriter(os.path.join(folder, "a.tfrecord.gz"), num_shards=4) as writer:
        writer.write({"id": np.arange(10_000), "text": [f"row {i}" for i in range(10_000)]})
    orders = []
    for threads in (1, 2, 4):
        reader = ShardReader(folder, "infer", batch_size=64, shuffle_buffer=500, seed=1, num_threads=threads)
        batches = list(reader)
        orders.append([int(i) for batch in batches for i in batch["id"]])
        texts = [text for batch in batches for text in batch["text"]]
        _equal(texts, [b"row %d" % i for i in orders[-1]], f"{threads} threads")
    _equal(sorted(orders[0]), list(range(10_000)), "a shuffle")
    _equal(orders[1:], orders[:1] * 2, "orders of 1, 2 and 4 threads")
    parts = [batch["id"] for k in range(3) for batch in ShardReader(folder, "infer", shard=(k, 3))]
    _equal(sorted(np.concatenate(parts).tolist()), list(range(10_000)), "three shards")
    return "10,000 rows in 4 files, each once, in one order with 1, 2 and 4 threads"


def resume(folder: str) -> str:
    """Save states in a shuffled epoch, and continue from each."""
    path = os.path.join(folder, "a.tfrecord")
    with TFRecordWriter(path) as writer:
        writer.write_batch(_records())

    def reader() -> ShardReader[_core.RecordBatch]:
        return ShardReader(path, batch_size=50, shuffle_buffer=200, seed=2)

    first, states, whole = reader(), [], []
    for batch in first:
        whole.append(batch.tolist())
        states.append(first.state_dict())
    for number, state in enumerate(states):
        again = reader()
        again.load_state_dict(state)
        _equal([batch.tolist() for batch in again], whole[number + 1 :], f"state {number}")
    return f"{len(states)} states continue with the next batch"


def records_by_number(folder: str) -> str:
    """Read records by number, in any order."""
    path, records = os.path.join(folder, "a.tfrecord"), _records()
    with TFRecordWriter(path) as writer:
        writer.write_batch(records)
    numbers = np.random.default_rng(_SEED).permutation(len(records))
    reader = IndexedReader(path)
    _equal(reader.take(numbers).tolist(), [records[number] for number in numbers], "a permutation")
    return f"{len(reader):,} records in random order"


def images(folder: str) -> str:
    """Decode and resize images with all implementations."""
    y, x = np.mgrid[:90, :120].astype(np.float32)
    image = np.stack([x * 2, y * 2, x + y], axis=-1).astype(np.uint8)
    png, jpeg = encode_png(image), encode_jpeg(image, quality=95)
    _equal(decode_png(png).tolist(), image.tolist(), "PNG")
    error = np.abs(decode_jpeg(jpeg).astype(int) - image).max()
    if error > 16:
        raise AssertionError(f"JPEG: pixels differ by {error}")
    records = encode_examples({"image": [png, jpeg]})
    resized = []
    for name in _each(_core.resize_backends(), _core.resize_backend(), _core.set_resize_backend):
        resized.append(parse_example(records, {"image": ImageFeature((48, 64))})["image"])
        _equal(resized[-1].tolist(), resized[0].tolist(), name)
    return f"PNG exact, JPEG within {error}; resized alike by {', '.join(_core.resize_backends())}"


def _records() -> list[bytes]:
    draw = np.random.default_rng(_SEED)
    return [draw.integers(0, 8, size, np.uint8).tobytes() for size in draw.integers(0, 3000, 1000)]


def _each(names: list[str], current: str, use: Callable[[str], None]) -> Iterator[str]:
    """Use each implementation in turn, and in the end the current one again."""
    with contextlib.ExitStack() as stack:
        stack.callback(use, current)
        for name in names:
            use(name)
            yield name


def _slow_crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def _equal(value: object, expected: object, name: str) -> None:
    if value != expected:
        raise AssertionError(f"{name}: the result differs")


if __name__ == "__main__":
    sys.exit(main())
