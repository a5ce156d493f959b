"""Appending to files that exist, plain and compressed."""

import errno
import gzip
import io
import os

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames

RECORDS = [b"%d" % i * (i % 40) for i in range(3000)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x"


def write(path, records, kind, **options):
    with tf.io.TFRecordWriter(path, kind, **options) as writer:
        writer.write_batch(records)
    return path


def read(path, kind=None):
    return [record for batch in tf.data.TFRecordDataset(path, kind).batch(1000) for record in batch]


def their_records(path):
    return [record.numpy() for record in tf.data.TFRecordDataset(path, "GZIP")]


@pytest.mark.parametrize("kind", ["", "GZIP", "ZSTD", "SNAPPY"])
def test_what_is_appended_comes_after_the_existing_records(path, kind):
    for records in (RECORDS[:5], RECORDS[5:2000], [], RECORDS[2000:2001]):
        write(path, records, kind, append=True)
    assert read(path, kind) == read(path) == RECORDS[:2001]


def test_appending_to_a_plain_file_adds_the_frames(path):
    write(path, [b"a"], "", append=True)
    write(path, [b"b"], "", append=True)
    assert path.read_bytes() == frames([b"a", b"b"])


@pytest.mark.parametrize("before", [None, 31, 25])
@pytest.mark.parametrize("bits", [15, 9, -15, -8])
def test_what_could_not_be_read_after_gzip_is_not_appended(path, before, bits):
    write(path, [b"a"], tf.io.TFRecordOptions("GZIP", window_bits=before))
    was = path.read_bytes()
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"{path}: append=True: window_bits {bits} means"):
        write(path, [b"b"], tf.io.TFRecordOptions("GZIP", window_bits=bits), append=True)
    assert path.read_bytes() == was and os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("before", [None, 31, 25])
@pytest.mark.parametrize("bits", [None, 31, 25])
def test_members_of_gzip_are_appended_whatever_their_windows(tensorflow, path, before, bits):
    write(path, [b"a"], tf.io.TFRecordOptions("GZIP", window_bits=before))
    write(path, [b"b"], tf.io.TFRecordOptions("GZIP", window_bits=bits), append=True)
    assert read(path) == read(path, "GZIP") == tensorflow(their_records, str(path)) == [b"a", b"b"]


@pytest.mark.parametrize("bits", [15, -15])
def test_a_file_in_another_format_than_its_type_is_not_appended_to(path, bits):
    write(path, [b"a"], tf.io.TFRecordOptions("GZIP", window_bits=bits))
    was = path.read_bytes()
    for now in (bits, None):
        with pytest.raises(tf.errors.DataLossError, match="not a GZIP member"):
            write(path, [b"b"], tf.io.TFRecordOptions("GZIP", window_bits=now), append=True)
    assert path.read_bytes() == was


def test_a_file_of_another_program_can_be_appended_to(path):
    path.write_bytes(gzip.compress(frames([b"a", b"b"])))
    write(path, [b"c"], "GZIP", append=True)
    assert read(path) == [b"a", b"b", b"c"] and gzip.decompress(path.read_bytes()) == frames([b"a", b"b", b"c"])


def test_appending_to_a_file_without_records_leaves_no_empty_member_before_them(tensorflow, path):
    write(path, [], "GZIP")
    write(path, [b"a"], "GZIP", append=True)
    assert tensorflow(their_records, str(path)) == [b"a"]


def test_a_name_with_wildcards_is_taken_as_it_is(tmp_path):
    for _ in range(2):
        write(tmp_path / "a[1]*", [b"a"], "", append=True)
    assert (tmp_path / "a[1]*").read_bytes() == frames([b"a", b"a"])


@pytest.mark.parametrize("kind", ["", "GZIP", "ZSTD", "SNAPPY"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole[:-1],
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole + b"tail",
        lambda whole: whole[:-3] + b"xyz",
    ],
    ids=["a byte less", "half", "more", "other bytes"],
)
def test_a_damaged_tail_is_refused_and_left_alone(path, kind, damage):
    data = damage(write(path, RECORDS[:100], kind).read_bytes())
    path.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError) as caught:
        write(path, [b"x"], kind, append=True)
    assert caught.value.path == str(path) and path.read_bytes() == data and "seems" not in str(caught.value)


@pytest.mark.parametrize(
    ("there", "kind"), [("GZIP", ""), ("", "GZIP"), ("ZSTD", "GZIP"), ("GZIP", "ZSTD"), ("", "SNAPPY"), ("SNAPPY", "")]
)
def test_a_file_compressed_in_another_way_is_refused_and_left_alone(path, there, kind):
    data = write(path, RECORDS[:100], there).read_bytes()
    with pytest.raises(tf.errors.DataLossError) as caught:
        write(path, [b"x"], kind, append=True)
    assert path.read_bytes() == data
    says = [f'compressed as "{one}"' if one else "uncompressed" for one in (there, kind)]
    assert f"; the file seems to be {says[0]}, but the new records would be {says[1]}: " in caught.value.reason
    assert (caught.value.path, caught.value.record_index) == (str(path), 0)


def test_appending_needs_a_path():
    with pytest.raises(ValueError, match="needs a local path"):
        tf.io.TFRecordWriter(io.BytesIO(), append=True)


def test_nothing_is_appended_to_zlib(path):
    with pytest.raises(ValueError, match="ZLIB"):
        tf.io.TFRecordWriter(path, "ZLIB", append=True)


def test_a_file_whose_size_cannot_be_asked_for_is_not_replaced(path, monkeypatch):
    write(path, RECORDS[:5], "")
    refusal = OSError(errno.EIO, os.strerror(errno.EIO))
    for name in ("stat", "lstat"):
        monkeypatch.setattr(os, name, lambda *_, **__: (_ for _ in ()).throw(refusal))
    with pytest.raises(OSError, match="Input/output error"):
        tf.io.TFRecordWriter(path, append=True)
    monkeypatch.undo()
    assert read(path) == RECORDS[:5]


def test_appending_in_a_missing_folder_is_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        tf.io.TFRecordWriter(tmp_path / "none" / "x", append=True)
