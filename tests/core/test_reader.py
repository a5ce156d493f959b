"""What reading a file gives: records, a clean end, or an error that says where."""

import os

import pytest

import tfrecord_fast as tf
from tests.support.damage import flip
from tests.support.frames import drain, frames, header, offsets, read, stream

RECORDS = [b"one", b"", bytes(range(256)), b"four" * 300, b"\0"]
DATA = frames(RECORDS)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(DATA)
    return path


def test_an_empty_file_has_no_records():
    assert read(b"") == ([], None)


def test_a_clean_end_is_no_error():
    assert read(DATA) == (RECORDS, None)


def test_a_truncated_record_says_where_and_what_was_expected():
    records, error = read(DATA[:-1])
    assert records == RECORDS[:-1]
    assert (error.offset, error.record_index) == (offsets(RECORDS)[4], 4)
    assert "truncated record" in error.reason and "claims 1 bytes" in error.reason


def test_a_truncated_header_says_so():
    records, error = read(DATA + b"\0" * 5)
    assert records == RECORDS
    assert "expected a header of 12 bytes, got 5" in error.reason


def test_a_wrong_length_says_so():
    records, error = read(flip(DATA, 0))
    assert records == [] and "Is this even a TFRecord file?" in error.reason


def test_wrong_data_says_so():
    records, error = read(flip(DATA, 8 * 12))
    assert records == [] and "the CRC of its 3 data bytes is wrong" in error.reason


def test_errors_name_the_file(path):
    path.write_bytes(DATA[:-1])
    records, error = drain(tf.data.TFRecordDataset(str(path)))
    assert (records, error.path) == (RECORDS[:-1], str(path))


def test_a_file_name_that_is_not_text_is_named(tmp_path):
    name = os.path.join(os.fsencode(tmp_path), b"\xff\xfe.tfrecord")
    with open(name, "wb") as file:
        file.write(DATA[:-1])
    _, error = drain(tf.data.TFRecordDataset(name))
    assert os.fsencode(error.path) == name


@pytest.mark.parametrize("claim", [2**40, 2**62 + 1, 2**63, 2**64 - 17, 2**64 - 1])
@pytest.mark.parametrize("from_memory", [False, True], ids=["file", "memory"])
def test_a_claim_beyond_the_end_is_data_loss(claim, path, from_memory):
    path.write_bytes(DATA + header(claim) + b"x" * 100)
    records, error = read(path.read_bytes() if from_memory else path)
    assert records == RECORDS
    assert (error.offset, error.record_index) == (len(DATA), len(RECORDS))
    assert str(claim) in error.reason


def test_unverified_data_is_passed_on_unchecked():
    damaged = flip(DATA, 8 * 12)
    assert read(damaged, verify_crc=False)[0] == [b"nne", *RECORDS[1:]]


def test_an_unverified_header_is_still_checked():
    assert read(flip(DATA, 0), verify_crc=False)[1] is not None


def test_a_file_that_is_cut_while_it_is_read_gives_an_error_or_what_there_was(tmp_path):
    path = tmp_path / "shrinks"
    records = [bytes([i]) * 5000 for i in range(200)]
    path.write_bytes(frames(records))
    opened = stream(path, chunk_bytes=4096).records()
    first = [next(opened) for _ in range(10)]
    os.truncate(path, 300_000)
    try:
        rest = list(opened)
    except (tf.DataLossError, OSError):
        rest = []
    assert first == records[:10] and rest == records[10 : 10 + len(rest)]
