"""TensorFlow, live: it reads what we write, we read what it writes, and the bytes are the same if they can be."""

import hashlib
import io
import os
import random

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames, read, stream
from tests.support.interleaving import interleave

SHARED = ["", "GZIP", "ZLIB"]  # what both can do


# ---- In TensorFlow's process ----


def theirs_write(path, records, options):
    kind, parameters, flush_every = options
    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(kind, **parameters)) as writer:
        for i, record in enumerate(records, 1):
            writer.write(record)
            if flush_every and i % flush_every == 0:
                writer.flush()


def theirs_read(paths, kind, num_parallel_reads):
    return list(tf.data.TFRecordDataset(paths, kind, num_parallel_reads=num_parallel_reads).as_numpy_iterator())


def theirs_digest(path, kind):
    import hashlib

    return [(len(r), hashlib.sha256(r).hexdigest()) for r in tf.data.TFRecordDataset(path, kind).as_numpy_iterator()]


def theirs_write_one(path, size):
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"before")
        writer.write(bytes(range(251)) * (size // 251))
        writer.write(b"after")


# ---- In this process ----


@pytest.fixture
def both(tensorflow, tmp_path):
    """Writes the same records with both; returns (our file, their file).

    one_stream: GZIP by zlib in one stream, as with any of zlib's own parameters, and not in blocks.
    """

    def write(records, kind="", flush_every=0, one_stream=False, **parameters):
        ours, theirs = str(tmp_path / "ours"), str(tmp_path / "theirs")
        mine = {"mem_level": 9, **parameters} if one_stream else parameters
        with tf.io.TFRecordWriter(ours, tf.io.TFRecordOptions(kind, **mine)) as writer:
            for i, record in enumerate(records, 1):
                writer.write(record)
                if flush_every and i % flush_every == 0:
                    writer.flush()
        tensorflow(theirs_write, theirs, records, (kind, parameters, flush_every))
        return ours, theirs

    return write


@pytest.fixture
def each_reads_the_other(tensorflow, both):
    """Checks that each reads what the other wrote."""

    def check(records, kind="", **parameters):
        ours, theirs = both(records, kind, **parameters)
        assert tensorflow(theirs_read, ours, kind, None) == records
        assert list(tf.data.TFRecordDataset(theirs, kind)) == records
        assert list(tf.data.TFRecordDataset(theirs)) == records

    return check


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def some_records(seed=0):
    rng = random.Random(seed)
    text = [b"%d and %d make %d. " % (i, i * 7, i * 8) * rng.randrange(9) for i in range(3000)]
    return [b"", *text, rng.randbytes(100_000), b"\0" * 300_000, b"", b"end"]


# Sizes around powers of two, as far as 70,000.
EDGES = sorted({max(0, 2**k + d) for k in range(17) for d in range(-20, 21)} | set(range(69_980, 70_001)))


@pytest.mark.parametrize("kind", SHARED)
def test_each_reads_what_the_other_wrote(each_reads_the_other, kind):
    each_reads_the_other(some_records(), kind)


@pytest.mark.parametrize("level", range(-1, 10))
@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_each_reads_the_other_at_every_level(each_reads_the_other, kind, level):
    each_reads_the_other(some_records(), kind, compression_level=level)


@pytest.mark.parametrize("kind", SHARED)
def test_a_file_without_records(each_reads_the_other, kind):
    each_reads_the_other([], kind)


@pytest.mark.parametrize("kind", SHARED)
def test_records_without_bytes(each_reads_the_other, kind):
    each_reads_the_other([b""] * 10_000, kind)


@pytest.mark.parametrize("kind", SHARED)
def test_records_of_0_to_70_000_bytes_around_every_edge(each_reads_the_other, kind):
    data = random.Random(kind).randbytes(70_000)
    sizes = EDGES + list(range(0, 70_000, 499))
    random.Random(1).shuffle(sizes)  # so that they lie across the edges of buffers, too
    each_reads_the_other([data[:size] for size in sizes], kind)


@pytest.mark.parametrize("buffer", [64 << 10, 256 << 10, 512 << 10])
def test_records_that_end_around_the_edge_of_a_buffer(each_reads_the_other, buffer):
    records = []
    for d in range(-30, 31):
        records += [bytes(buffer // 2 - 16), b"x" * (buffer // 2 - 16 + d), b"y"]
    each_reads_the_other(records)


def test_any_pieces_of_what_tensorflow_wrote_are_the_same(both):
    records = some_records(1)
    for kind in SHARED:
        _, theirs = both(records, kind)
        for chunk, threads in ((64, 0), (1000, 3), (4096, 1), (1 << 20, 2)):
            assert read(theirs, compression_type=kind, chunk_bytes=chunk, num_threads=threads) == (records, None)


def test_a_record_of_300_mb(tensorflow, tmp_path):
    path, size = str(tmp_path / "large"), 300 * 10**6
    record = bytes(range(251)) * (size // 251)
    expected = [(len(r), hashlib.sha256(r).hexdigest()) for r in (b"before", record, b"after")]
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch([b"before", record, b"after"])
    assert tensorflow(theirs_digest, path, "") == expected
    tensorflow(theirs_write_one, path, size)
    for threads in (0, 2):
        batches = stream(path, num_threads=threads, batch_size=1).batches()
        views = (batch.view(0) for batch in batches)
        assert [(len(view), hashlib.sha256(view).hexdigest()) for view in views] == expected
    os.unlink(path)


# ---- The same bytes ----


@pytest.mark.parametrize("kind", SHARED)
def test_the_bytes_are_the_same(both, kind):
    ours, theirs = both(some_records(), kind, one_stream=True)
    assert contents(ours) == contents(theirs)


@pytest.mark.parametrize("kind", SHARED)
def test_the_bytes_are_the_same_with_no_records(both, kind):
    ours, theirs = both([], kind)
    assert contents(ours) == contents(theirs)


# Level 0 copies its input as it comes, and ours comes in different pieces.
@pytest.mark.parametrize("level", [-1, *range(1, 10)])
@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_the_bytes_are_the_same_at_every_level(both, kind, level):
    ours, theirs = both(some_records(2), kind, one_stream=True, compression_level=level)
    assert contents(ours) == contents(theirs)


@pytest.mark.parametrize(
    "parameters",
    [
        {"mem_level": 1},
        {"mem_level": 8},
        {"window_bits": 25},
        {"window_bits": 15},
        {"window_bits": -15},
        {"compression_strategy": 1},
        {"compression_strategy": 2},
        {"compression_strategy": 3},
        {"compression_strategy": 4},
        {"compression_method": 8},
        {"input_buffer_size": 1000, "output_buffer_size": 1000},
    ],
    ids=str,
)
def test_the_bytes_are_the_same_with_any_parameter(both, parameters):
    ours, theirs = both(some_records(3), "GZIP", one_stream=True, **parameters)
    assert contents(ours) == contents(theirs)


@pytest.mark.parametrize("kind", SHARED)
def test_flush_writes_the_same_bytes(both, kind):
    ours, theirs = both(some_records(4), kind, one_stream=True, flush_every=100)
    assert contents(ours) == contents(theirs)


@pytest.mark.parametrize("flush_mode", [1, 2, 3])
def test_each_reads_the_other_with_any_flush_mode(each_reads_the_other, flush_mode):
    each_reads_the_other(some_records(5), "GZIP", flush_mode=flush_mode)


@pytest.mark.parametrize("kind", SHARED)
def test_what_flush_acknowledged_is_what_tensorflow_reads(tensorflow, tmp_path, kind):
    path = str(tmp_path / "open")
    writer = tf.io.TFRecordWriter(path, kind)
    for n in (1, 2, 3):
        writer.write(b"record %d" % n)
        writer.flush()
        assert tensorflow(theirs_first, path, kind, n) == [b"record %d" % i for i in range(1, n + 1)]
    writer.close()


def theirs_first(path, kind, count):
    return list(tf.data.TFRecordDataset(path, kind).take(count).as_numpy_iterator())


# ---- Order ----


@pytest.mark.parametrize("seed", range(12))
def test_parallel_reads_come_in_tensorflows_order(tensorflow, tmp_path, seed):
    rng = random.Random(seed)
    counts = [rng.choice([0, 1, 2, 5, rng.randrange(60)]) for _ in range(rng.randrange(1, 9))]
    files = [[b"%d.%d" % (i, j) for j in range(count)] for i, count in enumerate(counts)]
    paths = [str(tmp_path / f"{i}") for i in range(len(files))]
    for path, records in zip(paths, files, strict=True):
        with open(path, "wb") as file:
            file.write(frames(records))
    for slots in (None, 1, 2, 3, 5, 20):
        theirs = tensorflow(theirs_read, paths, "", slots)
        assert list(tf.data.TFRecordDataset(paths, num_parallel_reads=slots)) == theirs
        assert theirs == interleave(files, slots or 1)


# ---- Damage ----


def theirs_until_error(data, kind, path):
    """(records, whether an error came) of each."""
    answers = []
    for one in data:
        with open(path, "wb") as file:
            file.write(one)
        records, failed = [], False
        try:
            for record in tf.data.TFRecordDataset(path, kind).as_numpy_iterator():
                records.append(record)
        except tf.errors.DataLossError:
            failed = True
        answers.append((records, failed))
    return answers


def test_damage_is_judged_as_by_tensorflow_except_for_cut_headers(tensorflow, tmp_path):
    """A file that ends inside a header ends silently in TensorFlow, and raises here."""
    intact = frames([b"one", b"", b"three"])
    cuts = [intact[:n] for n in range(len(intact) + 1)]
    flips = [intact[:i] + bytes([intact[i] ^ 0x10]) + intact[i + 1 :] for i in range(len(intact))]
    answers = tensorflow(theirs_until_error, cuts + flips, "", str(tmp_path / "damaged"))
    for damaged, (records, failed) in zip(cuts + flips, answers, strict=True):
        ours, error = read(damaged)
        assert ours == records
        silent = error is not None and "expected a header of 12 bytes" in error.reason
        assert failed == (error is not None) or silent


def theirs_write_every_type(path):
    with tf.io.TFRecordWriter(path) as writer:
        for record in (b"bytes", "text", bytearray(b"array")):
            writer.write(record)


def test_records_of_every_type_are_the_same_bytes(tensorflow, tmp_path):
    tensorflow(theirs_write_every_type, str(tmp_path / "theirs"))
    file = io.BytesIO()
    with tf.io.TFRecordWriter(file) as writer:
        for record in (b"bytes", "text", bytearray(b"array")):
            writer.write(record)
    assert file.getvalue() == contents(tmp_path / "theirs")
