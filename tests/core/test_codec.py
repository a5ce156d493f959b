"""The codec room: streams that Python's own libraries and the command line tools made, and vice versa."""

import io
import shutil
import subprocess
import zlib

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import compression
from tests.support.compression import COMMENT, EXTRA, HEADER_CRC, NAME, TEXT, compress, gzip_member, skippable_frame
from tests.support.frames import frames, read

RECORDS = [b"one", b"", b"three" * 1000, bytes(range(256))]
DATA = frames(RECORDS)
KINDS = compression.KINDS


def written(records, options):
    file = io.BytesIO()
    with tf.io.TFRecordWriter(file, options) as writer:
        writer.write_batch(records)
    return file.getvalue()


def is_whole(data, kind, records=RECORDS):
    """Whether it reads as those records, with the kind given or detected, in chunks of several sizes."""
    return all(
        read(data, compression_type=told, chunk_bytes=chunk) == (records, None)
        for told in (kind, None)
        for chunk in (64, 1 << 19)
    )


# ---- Reading ----


# RFC 1952: a member by hand. A stored block (RFC 1951, 3.2.4) holds an empty record's frame.
EMPTY_RECORD = frames([b""])
BY_HAND = (
    bytes.fromhex("1f8b0800 00000000 00ff")
    + b"\x01\x10\x00\xef\xff"
    + EMPTY_RECORD
    + zlib.crc32(EMPTY_RECORD).to_bytes(4, "little")
    + b"\x10\0\0\0"
)


def test_a_gzip_member_made_by_hand_is_read():
    assert is_whole(BY_HAND, "GZIP", [b""])


def test_every_level_is_read():
    for kind in compression.LEVELED:
        for level in range(1, 10):
            assert is_whole(compress(kind, DATA, level), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_stored_data_is_read(kind):
    assert is_whole(compress(kind, DATA, -7 if kind == "ZSTD" else 0), kind)


def test_optional_fields_of_a_gzip_header_are_skipped():
    for flags in range(32):
        fields = {"extra": b"ab\x04\0\0\x1f\x8b\0", "name": b"a.tfrecord", "comment": "é".encode("latin-1")}
        assert is_whole(gzip_member(DATA, flags, **fields), "GZIP")


@pytest.mark.parametrize("fields", [{"extra": b""}, {"extra": b"x" * 65535}, {"name": b""}, {"name": b"n" * 300_000}])
def test_optional_fields_of_any_size_are_skipped(fields):
    flags = EXTRA if "extra" in fields else NAME
    assert is_whole(gzip_member(DATA, flags | TEXT | COMMENT | HEADER_CRC, **fields), "GZIP")


def test_a_wrong_header_crc_is_damage():
    member = bytearray(gzip_member(DATA, HEADER_CRC))
    member[10] ^= 1
    assert "its CRC is wrong" in read(member, compression_type="GZIP")[1].reason


# SNAPPY is detected by a header in its first block.
@pytest.mark.parametrize(
    ("kind", "step"),
    [(kind, step) for kind in KINDS for step in (1, 7, 16, 100, 1000) if kind != "SNAPPY" or step >= 12],
)
def test_parts_are_one_stream_wherever_it_was_cut(kind, step):
    parts = b"".join(compress(kind, DATA[i : i + step]) for i in range(0, len(DATA), step))
    assert is_whole(parts, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_empty_parts_hide_nothing(kind):
    empty = compress(kind, b"")
    assert is_whole(empty + empty + compress(kind, DATA) + empty + compress(kind, DATA) + empty, kind, RECORDS * 2)


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_part_alone_holds_no_records(kind):
    assert is_whole(compress(kind, b""), kind, [])


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_file_is_an_empty_stream(kind):
    assert read(b"", compression_type=kind) == ([], None)


def test_skippable_frames_are_skipped():
    for number in range(16):
        skip = skippable_frame(b"metadata", number)
        assert is_whole(skip + compress("ZSTD", DATA) + skip + skippable_frame(b""), "ZSTD")


@pytest.mark.parametrize("checksum", [False, True])
@pytest.mark.parametrize("size", [False, True])
def test_zstd_frames_with_and_without_checksum_and_content_size_are_read(checksum, size):
    made = zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=size)
    assert is_whole(made.compress(DATA), "ZSTD")


def with_window(log):
    """A ZSTD stream whose window has 2^log bytes."""
    parameters = zstandard.ZstdCompressionParameters(window_log=log)
    made = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return made.compress(DATA) + made.flush()


def test_a_zstd_window_of_128_mib_is_read():
    assert read(with_window(27), compression_type="ZSTD") == (RECORDS, None)


def test_a_larger_zstd_window_is_damage():
    assert "ZSTD" in read(with_window(28), compression_type="ZSTD")[1].reason


def test_a_zstd_dictionary_is_damage():
    dictionary = zstandard.train_dictionary(1000, [DATA[i : i + 200] * 2 for i in range(2000)])
    made = zstandard.ZstdCompressor(dict_data=dictionary).compress(DATA)
    assert read(made, compression_type="ZSTD")[1] is not None


def test_a_zlib_preset_dictionary_is_damage():
    made = zlib.compressobj(zdict=b"three" * 10)
    assert "dictionary" in read(made.compress(DATA) + made.flush(), compression_type="ZLIB")[1].reason


@pytest.mark.parametrize("window_bits", range(9, 16))
def test_every_zlib_window_is_read(window_bits):
    made = zlib.compressobj(wbits=window_bits)
    assert is_whole(made.compress(DATA) + made.flush(), "ZLIB")


def test_garbage_after_the_last_part_is_damage_after_all_records():
    for kind in KINDS:
        for garbage in [b"\0", b"\0" * 512, b"garbage", b"\x1f", b"\x78"]:
            records, error = read(compress(kind, DATA) + garbage, compression_type=kind)
            assert records == RECORDS and error.record_index == len(RECORDS)
            assert error.offset == len(DATA)


def test_the_wrong_kind_is_damage():
    for kind, other in [(a, b) for a in KINDS for b in compression.ALL if a != b]:
        records, error = read(compress(other, DATA), compression_type=kind)
        assert records == [] and error.offset == 0 and kind in error.reason


@pytest.mark.parametrize("kind", KINDS)
def test_a_compressed_file_read_as_uncompressed_is_damage(kind):
    records, error = read(compress(kind, DATA), compression_type="")
    assert records == [] and "Is this even a TFRecord file?" in error.reason


@pytest.mark.parametrize("kind", KINDS)
def test_input_that_comes_a_byte_at_a_time_is_read(kind):
    class Slow(io.BytesIO):
        def readinto(self, buffer):
            return super().readinto(memoryview(buffer)[:1])

    Slow.readinto1 = Slow.readinto
    assert list(tf.data.TFRecordDataset(Slow(compress(kind, DATA)))) == RECORDS


# ---- Detection ----


@pytest.mark.parametrize("length", [0x8B1F, 0x9C78, 0x0178])
def test_a_length_that_begins_with_the_magic_of_gzip_or_zlib_is_a_length(length):
    """A header whose CRC holds decides."""
    record = b"\0" * length
    assert list(tf.data.TFRecordDataset(bytearray(frames([record])))) == [record]


@pytest.mark.parametrize("kind", compression.ALL)
def test_detection_finds_what_is_there(kind):
    assert tf._core.detect_compression(compress(kind, DATA)[:128]) == kind


def test_skippable_frames_are_detected():
    assert is_whole(skippable_frame(b"x") + compress("ZSTD", DATA), "ZSTD")


def test_nothing_known_is_taken_for_uncompressed():
    records, error = read(b"neither one nor the other", compression_type=None)
    assert records == [] and "Is this even a TFRecord file?" in error.reason


# ---- Writing ----


@pytest.mark.parametrize("kind", compression.ALL)
def test_what_is_written_holds_the_frames(kind):
    assert compression.decompress(kind, written(RECORDS, kind)) == DATA if kind else written(RECORDS, "") == DATA


def test_every_level_can_be_written():
    for kind in compression.LEVELED:
        for level in range(-1, 10):
            data = written(RECORDS, tf.io.TFRecordOptions(kind, compression_level=level))
            assert compression.decompress(kind, data) == DATA and is_whole(data, kind)


@pytest.mark.parametrize(("kind", "low", "high"), [("GZIP", 1, 9), ("ZLIB", 1, 9), ("ZSTD", -5, 19)])
def test_a_high_level_compresses_more_than_a_low_one(kind, low, high):
    text = [b"%d and %d make %d" % (i, i * 7, i * 8) for i in range(20_000)]
    small, large = (len(written(text, tf.io.TFRecordOptions(kind, compression_level=n))) for n in (high, low))
    assert small < 0.9 * large


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_written_is_a_whole_stream(kind):
    data = written([], kind)
    assert compression.decompress(kind, data) == b"" and (len(data) > 0 or kind == "SNAPPY")


def test_gzip_without_records_is_what_tensorflow_writes():
    assert written([], "GZIP") == bytes.fromhex("1f8b0800 00000000 0003 0300 00000000 00000000")


@pytest.mark.parametrize(
    "parameters", [{"mem_level": 1}, {"mem_level": 9}, {"window_bits": 25}, {"compression_strategy": 2}]
)
def test_parameters_are_passed_to_zlib(parameters):
    names = {"mem_level": "memLevel", "window_bits": "wbits", "compression_strategy": "strategy"}
    ours = written([DATA] * 50, tf.io.TFRecordOptions("GZIP", **parameters))
    given = {"wbits": 31, "memLevel": 9} | {names[name]: value for name, value in parameters.items()}
    theirs = zlib.compressobj(-1, zlib.DEFLATED, **given)
    assert ours == theirs.compress(frames([DATA] * 50)) + theirs.flush()


@pytest.mark.parametrize("window_bits", [15, -15, 31])
def test_window_bits_choose_the_wrapper(window_bits):
    data = written(RECORDS, tf.io.TFRecordOptions("GZIP", window_bits=window_bits))
    assert zlib.decompress(data, window_bits) == DATA


@pytest.mark.parametrize("flush_mode", [1, 2, 3, 5])
@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_a_flush_mode_changes_no_content(kind, flush_mode):
    assert is_whole(written(RECORDS, tf.io.TFRecordOptions(kind, flush_mode=flush_mode)), kind)


@pytest.mark.parametrize(
    "options",
    [
        {"compression_level": 10},
        {"compression_level": -2},
        {"window_bits": 7},
        {"window_bits": 48},
        {"mem_level": 0},
        {"mem_level": 10},
        {"compression_method": 7},
        {"compression_strategy": 9},
        {"flush_mode": 4},
    ],
)
def test_parameters_that_zlib_refuses_are_named(options, tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{next(iter(options))} {next(iter(options.values()))}"):
        tf.io.TFRecordWriter(str(tmp_path / "never"), tf.io.TFRecordOptions("GZIP", **options))
    assert not (tmp_path / "never").exists()


def test_a_zstd_level_out_of_range_is_named(tmp_path):
    with pytest.raises(ValueError, match="compression_level 23"):
        tf.io.TFRecordWriter(str(tmp_path / "never"), tf.io.TFRecordOptions("ZSTD", compression_level=23))


@pytest.mark.parametrize("kind", KINDS)
def test_flush_lets_all_records_so_far_be_read(kind):
    file = io.BytesIO()
    writer = tf.io.TFRecordWriter(file, kind)
    for n, record in enumerate(RECORDS, 1):
        writer.write(record)
        writer.flush()
        records, error = read(file.getvalue(), compression_type=kind)
        assert records == RECORDS[:n]
        # What is written in blocks is whole after each.
        assert "truncated" in error.reason if kind == "ZLIB" else error is None
    writer.close()
    assert is_whole(file.getvalue(), kind)


@pytest.mark.parametrize(("kind", "tool"), [("GZIP", "gunzip"), ("ZSTD", "zstd")])
def test_the_command_line_tool_accepts_ours(kind, tool):
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    data = written([b"x" * 5000, *RECORDS * 3000], kind)
    subprocess.run([tool, "-t"], input=data, check=True, capture_output=True)
    out = subprocess.run([tool, "-dc"], input=data, check=True, capture_output=True).stdout
    assert out == frames([b"x" * 5000, *RECORDS * 3000])


@given(
    records=st.lists(st.binary(max_size=3000), max_size=30),
    kind=st.sampled_from(compression.ALL),
    chunk=st.integers(64, 5000),
    threads=st.sampled_from([0, 1, 3]),
    flush_at=st.integers(0, 30),
)
@settings(max_examples=150)
def test_what_is_written_is_read(tmp_path_factory, records, kind, chunk, threads, flush_at):
    path = tmp_path_factory.getbasetemp() / "round_trip"
    with tf.io.TFRecordWriter(path, kind) as writer:
        writer.write_batch(records[:flush_at])
        writer.flush()
        for record in records[flush_at:]:
            writer.write(record)
    for told in (kind, None):
        options = {"compression_type": told, "chunk_bytes": chunk, "num_threads": threads}
        assert read(path, **options) == (records, None)
