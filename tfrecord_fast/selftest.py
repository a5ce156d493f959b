"""A check of the installed package on this machine: `python -m tfrecord_fast.selftest`.

It takes some seconds, and needs neither a network nor packages beside NumPy. The implementations of CRC32C, varints and
the resizing of images that this processor can run are compared with the portable ones. Columns and statistics are
compared with Python's own values, and files are written and read back. The exit status is 1 unless all checks pass.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import itertools
import math
import os
import random
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from . import _core
from .base.build_info import build_info
from .data import TFRecordDataset
from .dtypes import float32, int64, string
from .errors import DataLossError
from .examples.encoding.encode import encode_examples, encode_sequence_examples
from .examples.features import FixedLenFeature, ImageFeature, RaggedFeature
from .examples.parsing.parse import parse_example, parse_sequence_example
from .files.indexing.indexed_reader import IndexedReader
from .files.reading.shard_reader import ShardReader
from .files.writing.example_writer import ExampleWriter
from .files.writing.writer import TFRecordWriter
from .images.decoding import decode_jpeg, decode_png
from .images.encoding import encode_jpeg, encode_png
from .values.columns.ragged import RaggedTensor

_SEED = 20261128
_CRC = 0xE3069283  # of b"123456789", from RFC 3720


# Errors of a machine that lacks disk space, rights, descriptors or memory.
_LACKS = {errno.EACCES, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EROFS}


def main(arguments: Sequence[str] = ()) -> int:
    """Run all checks, print a line for each, and return the exit status."""
    description = "Check the installed package on this machine. The exit status is 1 unless all checks pass."
    argparse.ArgumentParser("python -m tfrecord_fast.selftest", description=description).parse_args(arguments)
    try:
        return _run()
    except KeyboardInterrupt:
        print("\nInterrupted", file=sys.stderr)
        return 130
    except OSError as error:  # of standard output: checks catch their own
        if not isinstance(error, BrokenPipeError):
            print(f"standard output: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the rest would fail again at exit
        return 1


def _run() -> int:
    info = build_info()
    print(
        f"tfrecord_fast {info['version']}, {info['compiler']}, NumPy {np.__version__}, Python {sys.version.split()[0]}"
    )
    print(", ".join(f"{library} {version}" for library, version in info["codecs"].items()))
    failed = not_run = 0
    in_files = (codecs, shards, resume, records_by_number)
    for check in (crc32c, varints, examples, statistics, images, damage, *in_files):
        print(f"{check.__name__.replace('_', ' ')}: ", end="", flush=True)  # before it can crash
        start = time.perf_counter()
        try:
            with tempfile.TemporaryDirectory() if check in in_files else contextlib.nullcontext("") as folder:
                summary = check(folder)
            result = f"ok, {summary} ({time.perf_counter() - start:.1f} s)"
        except Exception as error:
            lacking = _is_lack(error)
            not_run, failed = not_run + lacking, failed + (not lacking)
            result = f"{'not run' if lacking else 'FAILED'}, {type(error).__name__}: {error}"
        print(result, flush=True)
    last = "All checks passed."
    if failed:
        last = f"{failed} checks failed; send these lines with your report"
    elif not_run:
        last = f"{not_run} checks were not run: this machine lacks what they need. The others passed."
    print(last, flush=True)
    return 1 if failed or not_run else 0


def _is_lack(error: Exception) -> bool:
    """Return True if the machine caused the error. That of `tempfile` without a writable folder names no file."""
    if isinstance(error, FileNotFoundError):
        return error.filename is None
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _LACKS)


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


def examples(folder: str) -> str:
    """Compare parsed columns with the values that were encoded, by all implementations of varints."""
    draw = random.Random(_SEED)
    for scalars, rows in ((6, 1000), (100, 60)):  # records of many features have their own code
        values: dict[str, list[Any]] = {}
        steps: dict[str, list[Any]] = {}
        features: dict[str, Any] = {}
        arrays: dict[str, Any] = {}
        for dtype, drawn in _DRAWN.items():
            scalar, dense, ragged = (f"{dtype.name} {form}" for form in ("scalar", "dense", "ragged"))
            values |= {f"{scalar} {i}": drawn(draw, rows) for i in range(scalars)}
            features |= {f"{scalar} {i}": FixedLenFeature([], dtype) for i in range(1, scalars)}  # 0 is skipped
            values[dense] = [drawn(draw, 40) for _ in range(rows)]
            values[ragged] = [drawn(draw, draw.randrange(60)) for _ in range(rows)]
            features |= {dense: FixedLenFeature([40], dtype), ragged: RaggedFeature(dtype)}
            if dtype != string:
                arrays |= {key: np.array(values[key], dtype.name) for key in values if key.startswith((scalar, dense))}
            steps[dtype.name] = [
                [drawn(draw, draw.randrange(4)) for _ in range(draw.randrange(4))] for _ in range(rows)
            ]
        lists = {dtype.name: RaggedFeature(dtype) for dtype in _DRAWN}
        for name in _each(_core.varint_backends(), _core.varint_backend(), _core.set_varint_backend):
            records, sequences = encode_examples(values), encode_sequence_examples(values, steps)
            _equal(encode_examples(values | arrays).tolist(), records.tolist(), f"arrays, {name}")
            parsed = [parse_example(records, features), *parse_sequence_example(sequences, features, lists)[:2]]
            for key, column in itertools.chain.from_iterable(columns.items() for columns in parsed):
                column = column.to_list() if isinstance(column, RaggedTensor) else column.tolist()
                _equal(column, steps[key] if key in steps else values[key], f"{key}, {name}")
    return f"dense and ragged columns and lists of {', '.join(dtype.name for dtype in _DRAWN)} there and back"


def statistics(folder: str) -> str:
    """Compare statistics with Python's own, and of many records at once with those of single records."""
    draw = random.Random(_SEED)
    values = {
        name: [[0 if draw.random() < 0.1 else number() for _ in range(7)] for _ in range(3000)]
        for name, number in (("float", lambda: _floats(draw, 1)[0]), ("int", lambda: draw.randrange(-1 << 30, 1 << 40)))
    }
    records = encode_examples(values)
    whole, single = _core.StatsCollector(0, 0, []), _core.StatsCollector(0, 0, [])
    whole.add(records)
    for i in range(len(records)):
        single.add(records[i : i + 1])
        single.merge(_core.StatsCollector(0, 0, []))  # so few numbers are not counted with vectors
    for key, batch, alone in zip(values, whole.features(), single.features(), strict=True):
        numbers, figures, others = _flat(values[key]), batch.int64 or batch.floats, alone.int64 or alone.floats
        assert figures is not None and others is not None
        mean = math.fsum(numbers) / len(numbers)
        variance = math.fsum((number - mean) ** 2 for number in numbers) / len(numbers)
        counts = (figures.values, figures.zeros, figures.minimum, figures.maximum, figures.distinct)
        _equal(counts, (len(numbers), numbers.count(0), min(numbers), max(numbers), others.distinct), key)
        _near(figures.mean, mean, 1e-9, f"mean of {key}")
        _near(figures.std, math.sqrt(variance), 1e-9, f"standard deviation of {key}")
        _near(figures.distinct, len(set(numbers)), 5 * _core.DISTINCT_ERROR, f"distinct values of {key}")
        value, times = figures.frequent[0]
        _equal(value, 0, f"the most frequent value of {key}")
        _near(times, numbers.count(0), 0.01, f"the most frequent value of {key}")
    return f"{len(_flat(values['int'])):,} integers and as many floats"


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
    file = io.BytesIO()
    with TFRecordWriter(file) as writer:
        writer.write_batch(_records()[:20])
    whole = file.getvalue()
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


def _ints(draw: random.Random, count: int) -> list[int]:
    bits = draw.choice((7, 14, 63))  # short varints have their own code
    numbers = (draw.getrandbits(draw.randint(0, bits)) for _ in range(count))
    return [number if bits < 63 or draw.random() < 0.9 else ~number for number in numbers]


def _floats(draw: random.Random, count: int) -> list[float]:
    return array("f", (draw.gauss(10, 1000) for _ in range(count))).tolist()


def _texts(draw: random.Random, count: int) -> list[bytes]:
    return [draw.randbytes(draw.randrange(30)) for _ in range(count)]


_DRAWN: dict[Any, Callable[[random.Random, int], list[Any]]] = {int64: _ints, float32: _floats, string: _texts}


def _flat(rows: list[list[Any]]) -> list[Any]:
    return list(itertools.chain.from_iterable(rows))


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


def _near(value: float | None, expected: float, tolerance: float, name: str) -> None:
    if value is None or not math.isclose(value, expected, rel_tol=tolerance):
        raise AssertionError(f"{name}: {value}, not {expected}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
