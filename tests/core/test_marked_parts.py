"""Reading compressed files whose parts tell their sizes: in parallel, and with marks that lie.

Parts are made here byte by byte, as docs/format.md describes them.
"""

import gzip
import random
import struct
import zlib

import pytest
import zstandard

import tfrecord_fast as tf
from tests.support import damage
from tests.support.frames import FRAME, frames, stream

KINDS = ["GZIP", "ZSTD"]
PARTS = [[b"%d.%d:" % (part, i) + bytes(i % 50) for i in range(100 + 7 * part)] for part in range(12)]
ALL = [record for part in PARTS for record in part]


def marked(kind, data, size=None, length=None):
    """A part with its mark; `size` and `length` are what it claims, the truth by default."""
    length = len(data) if length is None else length
    if kind == "ZSTD":
        frame = zstandard.ZstdCompressor(write_checksum=True).compress(data)
        size = 20 + len(frame) if size is None else size
        return b"\x5d\x2a\x4d\x18" + struct.pack("<I", 12) + b"TFR1" + struct.pack("<II", size, length) + frame
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = deflate.compress(data) + deflate.flush()
    size = 24 + len(body) + 8 if size is None else size
    extra = b"TF\x08\x00" + struct.pack("<II", size, length)
    head = b"\x1f\x8b\x08\x04\0\0\0\0\0\x03" + struct.pack("<H", len(extra)) + extra
    return head + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def unmarked(kind, data):
    return gzip.compress(data) if kind == "GZIP" else zstandard.compress(data)


def write(path, parts):
    path.write_bytes(b"".join(parts))
    return str(path)


def read(path, **given):
    reader = tf.ShardReader(path, **{"batch_size": 64, **given})
    return [record for batch in reader for record in batch], reader


def before_error(path, **given):
    records = []
    with pytest.raises(tf.DataLossError) as caught:
        for record in tf.data.TFRecordDataset(path):
            records.append(record)
    return records, caught.value


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_threads_reads_the_same(tmp_path, kind, threads):
    path = write(tmp_path / "a", [marked(kind, frames(part)) for part in PARTS])
    assert read(path, num_threads=threads)[0] == ALL == list(tf.data.TFRecordDataset(path))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", KINDS)
def test_parts_with_and_without_a_mark_in_any_order(tmp_path, kind, seed):
    draw = random.Random(seed)
    parts = [draw.choice([marked, unmarked])(kind, frames(part)) for part in PARTS]
    path = write(tmp_path / "a", parts)
    for threads in (1, 3):
        assert read(path, num_threads=threads)[0] == ALL


@pytest.mark.parametrize("kind", KINDS)
def test_resuming_at_any_batch(tmp_path, kind):
    path = write(tmp_path / "a", [marked(kind, frames(part)) for part in PARTS] + [unmarked(kind, frames(PARTS[0]))])
    reader = tf.ShardReader(path, batch_size=100, num_threads=2)
    head, batches = [], iter(reader)
    for batch in batches:
        head += batch
        resumed = tf.ShardReader(path, batch_size=100, num_threads=3)
        resumed.load_state_dict(reader.state_dict())
        assert head + [record for batch in resumed for record in batch] == ALL + PARTS[0]


@pytest.mark.parametrize("kind", KINDS)
def test_records_are_divided_among_shards(tmp_path, kind):
    path = write(tmp_path / "a", [marked(kind, frames(part)) for part in PARTS])
    got = [read(path, shard=(i, 3), shard_by="record", num_threads=2)[0] for i in range(3)]
    assert got == [ALL[i::3] for i in range(3)]


def test_a_mark_in_a_member_of_another_form_counts_for_nothing(tmp_path):
    """Of a member with a name, too: whoever made it, what looks like a mark need not be one."""
    part = bytearray(marked("GZIP", frames(PARTS[0]), size=100))
    part[3] |= 8
    part[24:24] = b"name\0"
    assert gzip.decompress(bytes(part)) == frames(PARTS[0])
    path = write(tmp_path / "a", [part])
    assert read(path)[0] == list(tf.data.TFRecordDataset(path)) == PARTS[0]


def offset_of(index):
    return sum(FRAME + len(record) for record in ALL[:index])


@pytest.fixture(params=KINDS)
def damaged_inside(request, tmp_path):
    """A file in which record BAD, in the middle of a part, is damaged."""
    data = [bytearray(frames(part)) for part in PARTS]
    data[5][len(frames(PARTS[5][:40])) + 13] ^= 1
    return write(tmp_path / "a", [marked(request.param, bytes(part)) for part in data])


BAD = sum(map(len, PARTS[:5])) + 40


def test_a_damaged_record_inside_is_named(damaged_inside):
    records, error = before_error(damaged_inside)
    assert (records, error.record_index, error.offset) == (ALL[:BAD], BAD, offset_of(BAD))


def test_a_damaged_record_inside_is_skipped(damaged_inside):
    records, reader = read(damaged_inside, on_corrupt="skip", num_threads=3)
    assert records == ALL[:BAD] + ALL[BAD + 1 :]
    assert [(s.offset, s.bytes) for s in reader.skipped] == [(offset_of(BAD), FRAME + len(ALL[BAD]))]


def test_a_damaged_record_inside_ends_a_file_that_is_skipped(damaged_inside):
    assert read(damaged_inside, on_corrupt="skip_file")[0] == ALL[:BAD]


@pytest.mark.parametrize("kind", KINDS)
def test_noise_over_headers_inside_loses_only_what_it_covers(tmp_path, kind):
    data = bytearray(frames(PARTS[5]))
    begin, end = len(frames(PARTS[5][:40])), len(frames(PARTS[5][:45]))
    data[begin:end] = bytes(byte ^ 0x5A for byte in data[begin:end])
    parts = [frames(part) for part in PARTS[:5]] + [bytes(data)] + [frames(part) for part in PARTS[6:]]
    path = write(tmp_path / "a", [marked(kind, part) for part in parts])
    first = sum(map(len, PARTS[:5])) + 40
    assert before_error(path)[0] == ALL[:first]
    records, reader = read(path, on_corrupt="skip", num_threads=2)
    assert records == ALL[:first] + ALL[first + 5 :]
    assert sum(s.bytes for s in reader.skipped) == end - begin


def found_again(source, **options):
    """(records, stretches) of what is read past damage."""
    past_damage = stream(source, on_corrupt="skip", chunk_bytes=64, **options)
    records = list(past_damage.records())
    return records, [(one.offset, one.bytes, one.reason) for one in past_damage.take_skipped()]


@pytest.mark.parametrize("every", [damage.every_cut, damage.every_flip, damage.every_removal])
def test_regions_streams_and_parts_find_the_same_records_after_damage(tmp_path, every):
    records = [b"one", b"", b"three" * 20, b"4"]
    path = tmp_path / "a"
    for what, damaged in every(frames(records)):
        path.write_bytes(damaged)
        found, stretches = found_again(path)
        assert len(found) >= len(records) - 2 or every is damage.every_cut, what
        assert found == [record for record in records if record in found], what
        assert sum(FRAME + len(record) for record in found) + sum(s[1] for s in stretches) == len(damaged), what
        assert found_again(damaged) == (found, stretches), what
        if damaged:
            path.write_bytes(marked("ZSTD", damaged))
            assert found_again(path, compression_type="ZSTD") == (found, stretches), what


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_may_not_run_past_its_part(tmp_path, kind):
    whole = frames(PARTS[1])
    path = write(tmp_path / "a", [marked(kind, frames(PARTS[0])), marked(kind, whole[:-5]), marked(kind, whole[-5:])])
    records, error = before_error(path)
    assert records == ALL[: len(PARTS[0]) + len(PARTS[1]) - 1] and "truncated" in str(error)


@pytest.mark.parametrize("claim", [{"length": 1}, {"length": 10**6}, {"size": 100}, {"length": 2**30}, {"size": 2**31}])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threads", [1, 3])
def test_marks_that_lie_cost_no_record_without_an_error(tmp_path, kind, claim, threads):
    """All is read as the format itself says, or an error follows correct records."""
    parts = [marked(kind, frames(part)) for part in PARTS]
    parts[3] = marked(kind, frames(PARTS[3]), **claim)
    path = write(tmp_path / "a", parts)
    try:
        assert read(path, num_threads=threads)[0] == ALL
    except tf.DataLossError as error:
        records = before_error(path)[0]
        assert path in str(error) and records == ALL[: len(records)]
        assert len(records) >= sum(map(len, PARTS[:3]))


@pytest.mark.parametrize("size", [0, 1, 20])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_mark_of_a_part_that_would_end_in_its_frame_counts_for_nothing(tmp_path, kind, size, threads):
    parts = [marked(kind, frames(part)) for part in PARTS]
    parts[3] = marked(kind, frames(PARTS[3]), size=size)
    assert read(write(tmp_path / "a", parts), num_threads=threads)[0] == ALL


@pytest.mark.parametrize("kind", KINDS)
def test_a_mark_that_covers_the_beginning_of_another_part_is_damage(tmp_path, kind):
    parts = [marked(kind, frames(part)) for part in PARTS]
    beginning = b"\x1f\x8b\x08" if kind == "GZIP" else b"\x28\xb5"
    parts[5] = marked(kind, frames(PARTS[5]), size=len(parts[5]) + len(beginning)) + beginning
    path = write(tmp_path / "a", parts)
    records = []
    with pytest.raises(tf.DataLossError):
        for batch in tf.ShardReader(path, batch_size=1):
            records += batch.tolist()
    assert records == ALL[: len(records)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_cut_is_found(tmp_path, kind):
    parts = [marked(kind, frames(part[:3])) for part in PARTS[:3]]
    data, ends = b"".join(parts), [0, len(parts[0]), len(parts[0] + parts[1])]
    expected = [record for part in PARTS[:3] for record in part[:3]]
    for length in range(len(data)):
        path = write(tmp_path / "a", [data[:length]])
        if length in ends:
            assert list(tf.data.TFRecordDataset(path, kind)) == expected[: 3 * ends.index(length)]
            continue
        records = []
        with pytest.raises(tf.DataLossError):
            for record in tf.data.TFRecordDataset(path, kind):
                records.append(record)
        assert records == expected[: len(records)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_flipped_bit_is_found_or_harmless(tmp_path, kind):
    parts = [marked(kind, frames(part[:2])) for part in PARTS[:2]]
    data = b"".join(parts)
    expected = [record for part in PARTS[:2] for record in part[:2]]
    for bit in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        path = write(tmp_path / "a", [bytes(damaged)])
        records = []
        try:
            for record in tf.data.TFRecordDataset(path, kind):
                records.append(record)
        except tf.DataLossError:
            assert records == expected[: len(records)]
        else:
            # What no checksum covers: GZIP's time and system; and a skippable frame's content.
            assert records == expected


@pytest.mark.parametrize("record", [bytes(40_000), random.Random(1).randbytes(40_000)])
@pytest.mark.parametrize("place", [-8, -4])
def test_damage_is_named_however_well_a_part_compresses(tmp_path, record, place):
    """A part that compresses well is inflated by another library, which does not tell what is wrong."""
    parts = [bytearray(marked("GZIP", frames([record] * 20))) for _ in range(3)]
    assert read(write(tmp_path / "a", parts))[0] == [record] * 60
    parts[1][place] ^= 6
    records, error = before_error(write(tmp_path / "a", parts))
    assert records[:20] == [record] * 20
    assert "checksum or length" in str(error) and f"in the part at compressed byte {len(parts[0])}" in str(error)
