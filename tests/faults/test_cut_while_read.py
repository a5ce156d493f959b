"""A file that becomes shorter while it is read never ends as if that were all."""

import os

import pytest

import tfrecord_fast as tf
from tests.support import compression
from tests.support.frames import drain, frames, offsets, stream

RECORDS = [bytes([i % 251]) * (i * 37 % 300) for i in range(400)]
DATA = frames(RECORDS)


def cut_after(path, taken, length, **options):
    """(records, error) of a file that is cut after so many records were taken."""
    records = stream(path, **{"prefetch_bytes": 0, "batch_size": 1, **options}).records()
    head = [next(records) for _ in range(taken)]
    os.truncate(path, length)
    rest, error = drain(records)
    return head + rest, error


@pytest.mark.parametrize("threads", [0, 1, 3])
@pytest.mark.parametrize("length", [0, 1, 3000, 20_000, offsets(RECORDS)[300], len(DATA) - 1])
def test_regions(tmp_path, length, threads):
    path = tmp_path / "a"
    path.write_bytes(DATA)
    records, error = cut_after(path, 10, length, chunk_bytes=1024, num_threads=threads)
    assert records == RECORDS[: len(records)] and len(records) < len(RECORDS)
    assert "truncated" in error.reason and error.path == str(path)
    assert (error.offset, error.record_index) == (offsets(RECORDS)[len(records)], len(records))


def test_every_length(tmp_path):
    records = RECORDS[:12]
    for length in range(len(frames(records))):
        path = tmp_path / "a"
        path.write_bytes(frames(records))
        got, error = cut_after(path, 1, length, chunk_bytes=64)
        assert got == records[: len(got)]
        assert error is not None or got == records, length


@pytest.mark.parametrize("kind", compression.KINDS)
@pytest.mark.parametrize("length", [0, 100_000])
def test_compressed(tmp_path, kind, length):
    records = [os.urandom(1000) for _ in range(3000)]
    path = tmp_path / "a"
    with tf.io.TFRecordWriter(path, kind) as writer:
        writer.write_batch(records)
    got, error = cut_after(path, 1, length, chunk_bytes=1 << 14, compression_type=None)
    assert got == records[: len(got)] and len(got) < len(records)
    assert error is not None


@pytest.mark.parametrize("kind", ["GZIP", "ZSTD"])
def test_between_two_parts(tmp_path, kind):
    """The end of a part would be a good end for the file, had it not been longer."""
    parts = [compression.compress(kind, frames([os.urandom(1000) for _ in range(600)])) for _ in range(3)]
    path = tmp_path / "a"
    path.write_bytes(b"".join(parts))
    _, error = cut_after(path, 1, len(parts[0]), chunk_bytes=1 << 14, compression_type=None)
    assert error is not None and "truncated while it was read" in error.reason


def test_a_descriptor(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(DATA)
    with path.open("rb", 0) as file:
        records = iter(tf.data.TFRecordDataset(file, buffer_size=1))
        next(records)
        os.truncate(path, 0)
        assert drain(records)[1] is not None or len(DATA) < 1 << 19  # all of it may have been read


def test_skipping_tells_what_is_gone(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(DATA)
    past = stream(path, prefetch_bytes=0, batch_size=1, chunk_bytes=1024, on_corrupt="skip")
    records = past.records()
    got = [next(records) for _ in range(10)]
    os.truncate(path, 9000)
    got += records
    (gone,) = past.take_skipped()
    assert got == RECORDS[: len(got)]
    assert (gone.offset, gone.bytes) == (offsets(RECORDS)[len(got)], len(DATA) - offsets(RECORDS)[len(got)])


def test_a_file_that_was_complete_only_later_is_damaged(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(DATA[:-5])
    for on_corrupt in ("raise", "skip", "skip_file"):
        path.write_bytes(DATA[:-5])
        records = stream(path, prefetch_bytes=0, batch_size=1, chunk_bytes=1024, on_corrupt=on_corrupt).records()
        next(records)
        with path.open("ab") as file:
            file.write(DATA[-5:])
        with pytest.raises(tf.errors.InvalidArgumentError, match="was still being written"):
            list(records)


@pytest.mark.parametrize("kind", ["GZIP", "ZSTD"])
def test_a_compressed_file_that_was_complete_only_later_is_damaged(tmp_path, kind):
    data = compression.compress(kind, frames([os.urandom(1000) for _ in range(3000)]))
    path = tmp_path / "a"
    path.write_bytes(data[:-500])
    records = stream(path, prefetch_bytes=0, batch_size=1, chunk_bytes=1 << 14, compression_type=None).records()
    next(records)
    with path.open("ab") as file:
        file.write(data[-500:])
    assert drain(records)[1] is not None


def test_whole_records_that_came_later_are_not_read(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(DATA)
    records = stream(path, prefetch_bytes=0, batch_size=1, chunk_bytes=1024).records()
    next(records)
    with path.open("ab") as file:
        file.write(DATA)
    assert drain(records) == (RECORDS[1:], None)
