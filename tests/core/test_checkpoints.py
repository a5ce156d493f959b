"""Compressed files read at any place: every record from every checkpoint, for all kinds of streams."""

import gzip
import os
import zlib

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tfrecord_fast import _core, errors


def words(count, seed=0):
    """Records of text, whose matches reach far back."""
    rng = np.random.default_rng(seed)
    vocabulary = [bytes(rng.integers(97, 123, rng.integers(3, 12)).astype(np.uint8)) for _ in range(2000)]
    return [b" ".join(vocabulary[i % 2000] for i in rng.zipf(1.3, rng.integers(0, 200))) for _ in range(count)]


def framed(records, path):
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(records)
    return path.read_bytes()


def deflated(data, window_bits, level=6, strategy=zlib.Z_DEFAULT_STRATEGY, flush_every=0):
    compressor = zlib.compressobj(level, zlib.DEFLATED, window_bits, 9, strategy)
    if not flush_every:
        return compressor.compress(data) + compressor.flush()
    parts = []
    for begin in range(0, len(data), flush_every):
        parts.append(compressor.compress(data[begin : begin + flush_every]))
        parts.append(compressor.flush(zlib.Z_SYNC_FLUSH))
    return b"".join(parts) + compressor.flush()


def pieces(data, size):
    return [data[begin : begin + size] for begin in range(0, len(data), size)]


STREAMS = {
    "gzip": lambda data: gzip.compress(data, 6),
    "gzip, fast": lambda data: gzip.compress(data, 1),
    "stored": lambda data: gzip.compress(data, 0),
    "fixed codes": lambda data: deflated(data, 31, strategy=zlib.Z_FIXED),
    "only literals": lambda data: deflated(data, 31, strategy=zlib.Z_HUFFMAN_ONLY),
    "flushed": lambda data: deflated(data, 31, flush_every=7001),
    "members": lambda data: b"".join(map(gzip.compress, pieces(data, 40_001))),
    "small members": lambda data: b"".join(map(gzip.compress, pieces(data, 777))),
    "mixed members": lambda data: b"".join(
        gzip.compress(piece, level % 10) for level, piece in enumerate(pieces(data, 30_011))
    ),
    "zlib": lambda data: zlib.compress(data, 6),
    "zlib, small window": lambda data: deflated(data, 9),
    "zlib streams": lambda data: b"".join(map(zlib.compress, pieces(data, 50_000))),
    "zstd": zstandard.compress,
    "zstd frames": lambda data: b"".join(map(zstandard.compress, pieces(data, 33_333))),
}


@pytest.fixture(scope="module")
def records():
    return words(1500)


@pytest.fixture(scope="module")
def files(records, tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoints")
    data = framed(records, folder / "plain")
    paths = {}
    for name, compressed in STREAMS.items():
        paths[name] = folder / name.replace(" ", "_").replace(",", "")
        paths[name].write_bytes(compressed(data))
    for name in ("GZIP", "ZLIB", "ZSTD", "SNAPPY"):
        paths[f"own {name}"] = folder / f"own{name}"
        with tf.io.TFRecordWriter(paths[f"own {name}"], name) as writer:
            writer.write_batch(records)
    return paths


def build(path, spacing):
    return _core.RecordIndex.build(os.fsencode(path), None, spacing)


def reader_of(path, index, threads=1):
    return _core.RandomReader([os.fsencode(path)], [index], verify_crc=True, num_threads=threads)


@pytest.mark.parametrize("spacing", [1, 10_000, 100_000, 1 << 20])
@pytest.mark.parametrize("name", [*STREAMS, "own GZIP", "own ZLIB", "own ZSTD", "own SNAPPY"])
def test_each_record_from_a_cold_reader(files, records, name, spacing):
    index = build(files[name], spacing)
    assert index.offsets().tolist() == build(files["gzip"], 1 << 20).offsets().tolist()
    packed = _core.RecordIndex.parse(index.pack())
    assert packed.equals(index) and packed.pack() == index.pack()
    for number in range(0, len(records), 97):
        assert reader_of(files[name], packed).record(number) == records[number]
    order = np.random.default_rng(1).permutation(len(records))
    assert reader_of(files[name], packed, 2).take(order).tolist() == [records[i] for i in order]
    assert reader_of(files[name], packed).take(np.arange(len(records))[::-1]).tolist() == records[::-1]


@pytest.mark.parametrize("name", ["gzip", "flushed", "members", "zlib", "zstd frames", "own SNAPPY"])
def test_a_stream_has_checkpoints_at_the_spacing(files, name):
    size = build(files[name], 1 << 30).end()
    assert build(files[name], 1 << 30).checkpoints() == 1
    assert size / 700_000 - 1 <= build(files[name], 100_000).checkpoints() <= size / 100_000 + 1


@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(STREAMS)), st.integers(1, 200_000))
def test_takes_equal_the_records(tmp_path_factory, seed, name, spacing):
    folder = tmp_path_factory.mktemp("taken")
    rng = np.random.default_rng(seed)
    some = [rng.bytes(rng.integers(0, 5000)) if rng.random() < 0.3 else bytes(rng.integers(0, 900)) for _ in range(200)]
    path = folder / "file"
    path.write_bytes(STREAMS[name](framed(some, folder / "plain")))
    reader = reader_of(path, _core.RecordIndex.parse(build(path, spacing).pack()), 2)
    for _ in range(3):
        numbers = rng.integers(0, len(some), rng.integers(1, 50))
        assert reader.take(numbers).tolist() == [some[i] for i in numbers]


def test_all_of_an_index_is_checked(files, records):
    packed = build(files["gzip"], 50_000).pack()
    for size in range(0, len(packed), 101):
        with pytest.raises(errors.InvalidArgumentError):
            _core.RecordIndex.parse(packed[:size] or b"x")
    for at in range(0, len(packed), 37):
        damaged = bytearray(packed)
        damaged[at] ^= 0x10
        with pytest.raises(errors.InvalidArgumentError):
            _core.RecordIndex.parse(bytes(damaged))


@given(st.data())
def test_a_forged_index_is_refused_or_its_records_fail(files, records, data):
    """With a checksum that fits, what it says may be anything."""
    packed = bytearray(build(files["members"], 50_000).pack())
    for _ in range(data.draw(st.integers(1, 3))):
        packed[data.draw(st.integers(16, len(packed) - 1))] = data.draw(st.integers(0, 255))
    packed[12:16] = _core.crc32c(bytes(packed[16:])).to_bytes(4, "little")
    try:
        reader = reader_of(files["members"], _core.RecordIndex.parse(bytes(packed)))
        numbers = [number for number in (0, 7, 200, 900, 1499) if number < len(reader)]
        assert reader.take(np.array(numbers)).tolist() == [records[number] for number in numbers]
    except (errors.InvalidArgumentError, errors.DataLossError):
        pass


def test_the_index_of_another_file_is_refused(files):
    with pytest.raises(errors.InvalidArgumentError, match="another file, or the file has changed"):
        reader_of(files["members"], build(files["gzip"], 100_000)).record(0)


def test_a_file_of_the_same_size_is_another(tmp_path):
    path = tmp_path / "a.gz"
    some = [bytes([i]) * 50 for i in range(100)]
    path.write_bytes(gzip.compress(framed(some, tmp_path / "plain"), 0))
    index = build(path, 1)
    size = path.stat().st_size
    path.write_bytes(gzip.compress(framed(some[::-1], tmp_path / "plain"), 0))
    assert path.stat().st_size == size
    with pytest.raises(errors.InvalidArgumentError, match="build the index again"):
        reader_of(path, index).record(0)


def test_damage_is_found_where_it_is(files, records, tmp_path):
    """In the stretch that it is in, and in no other."""
    path = tmp_path / "damaged.gz"
    path.write_bytes(files["gzip"].read_bytes())
    index = build(path, 50_000)
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 0x40
    path.write_bytes(damaged)
    wrong = []
    for number in range(len(records)):
        try:
            assert reader_of(path, index).record(number) == records[number]
        except errors.DataLossError as error:
            assert str(path) in str(error)
            wrong.append(number)
    assert wrong
    ascending = reader_of(path, index)  # which keeps its place from record to record
    for number in range(len(records)):
        if number in wrong:
            with pytest.raises(errors.DataLossError):
                ascending.record(number)
        else:
            assert ascending.record(number) == records[number]
    assert 0.3 * len(records) < wrong[0] <= wrong[-1] < 0.7 * len(records)
    with pytest.raises(errors.DataLossError):
        build(path, 50_000)


@pytest.mark.parametrize("name", ["gzip", "zlib", "zstd", "own GZIP", "own SNAPPY"])
def test_a_cut_file_has_no_index(files, tmp_path, name):
    path = tmp_path / "cut"
    path.write_bytes(files[name].read_bytes()[:-9])
    with pytest.raises(errors.DataLossError):
        build(path, 1)


def test_an_empty_stream(tmp_path):
    path = tmp_path / "empty.gz"
    path.write_bytes(gzip.compress(b""))
    index = build(path, 1)
    assert len(_core.RecordIndex.parse(index.pack())) == 0
