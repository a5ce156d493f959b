"""Real files, as many programs wrote them, against their manifest: every payload, by every way of reading."""

import hashlib

import pytest

import tfrecord_fast as tf
from tests.support.frames import drain, stream
from tests.support.real_files import manifest

ROWS = {row["file"]: row for row in manifest()}
# Intact, and not compressed: bytes that depend only on the records.
UNCOMPRESSED = [name for name, row in ROWS.items() if not row["tf_error"] and not row["compression"]]
EVERY = pytest.mark.parametrize("name", ROWS or ["no files here"])


@pytest.fixture
def row(name, data_dir):
    return ROWS[name]


@pytest.fixture
def path(name, data_dir):
    return data_dir / name


def digest(records):
    """(count, SHA-256 over every payload preceded by its length in 8 bytes, little-endian)."""
    count, sha = 0, hashlib.sha256()
    for record in records:
        count += 1
        sha.update(len(record).to_bytes(8, "little") + record)
    return count, sha.hexdigest()


def expected(row):
    return int(row["records"]), row["payload_sha256"]


def test_there_are_48_files(data_dir):
    assert len(ROWS) == 48 and all((data_dir / name).stat().st_size == int(row["size"]) for name, row in ROWS.items())


@EVERY
def test_raw_iteration_gives_the_manifests_payloads(row, path):
    records, error = drain(tf.data.TFRecordDataset(path))
    assert digest(records) == expected(row)
    assert (error is not None) == bool(row["tf_error"])


@EVERY
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_batches_give_the_manifests_payloads(row, path, size):
    batches, error = drain(tf.data.TFRecordDataset(path).batch(size))
    assert digest(record for batch in batches for record in batch) == expected(row)
    assert (error is not None) == bool(row["tf_error"])


@EVERY
def test_the_compression_type_of_the_manifest_gives_the_same(row, path):
    assert digest(drain(tf.data.TFRecordDataset(path, row["compression"]))[0]) == expected(row)


@EVERY
def test_detection_finds_the_compression_type_of_the_manifest(row, path):
    assert tf._core.detect_compression(path.read_bytes()[:12]) == row["compression"]


@EVERY
@pytest.mark.parametrize("threads", [0, 3])
def test_small_regions_and_threads_change_nothing(row, path, threads):
    opened = stream(path, num_threads=threads, chunk_bytes=8191, compression_type=row["compression"])
    assert digest(drain(opened.records())[0]) == expected(row)


@EVERY
def test_memory_gives_the_same_as_the_file(row, path):
    assert digest(drain(tf.data.TFRecordDataset(bytearray(path.read_bytes())))[0]) == expected(row)


@pytest.fixture
def error(row, path):
    """Our error on a file that TensorFlow fails on."""
    with pytest.raises(tf.DataLossError) as caught:
        list(tf.data.TFRecordDataset(path))
    return caught.value


FAILING = pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row["tf_error"]] or ["no files here"])


@FAILING
def test_where_tensorflow_fails_the_error_names_file_and_record(row, path, error):
    assert error.path == str(path) and error.record_index == int(row["records"])
    assert str(path) in str(error) and f"at byte {error.offset}" in str(error)


@FAILING
def test_where_tensorflow_fails_the_offset_is_its_own(row, error):
    """TensorFlow names the record, or its data 12 bytes on."""
    assert any(f"corrupted record at {error.offset + d}" in row["tf_error"] for d in (0, 12))


DOUBTED = [name for name, row in ROWS.items() if "even a TFRecord" in row["tf_error"]]


@pytest.mark.parametrize("name", DOUBTED or ["no files here"])
def test_where_tensorflow_doubts_that_it_is_a_tfrecord_file_so_do_we(error):
    assert error.offset == 0 and "Is this even a TFRecord file?" in str(error)


@pytest.mark.parametrize("name", UNCOMPRESSED or ["no files here"])
def test_written_again_it_is_the_same_file(row, path, tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "again") as writer:
        for batch in tf.data.TFRecordDataset(path).batch(100):
            writer.write_batch(batch)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
