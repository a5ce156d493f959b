"""on_corrupt="skip" and compressed parts: damage costs at most the rest of its part, and what is skipped is told."""

import io
import os
import random
import struct
import subprocess

import pytest

import tfrecord_fast as tf
from tests.core.test_marked_parts import ALL, KINDS, PARTS, marked, offset_of, unmarked
from tests.support.compression import gzip_member
from tests.support.damage import flip, remove
from tests.support.frames import FRAME, frames, offsets

FIRST = [sum(map(len, PARTS[:i])) for i in range(len(PARTS) + 1)]  # the number of each part's first record


def read(source, **options):
    reader = tf.ShardReader(source, on_corrupt="skip", batch_size=50, **options)
    return [record for batch in reader for record in batch], reader.skipped


def is_subsequence(records, of):
    rest = iter(of)
    return all(record in rest for record in records)


def begins(parts):
    at = [0]
    for part in parts:
        at.append(at[-1] + len(part))
    return at


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def parts(kind):
    return [marked(kind, frames(part)) for part in PARTS]


def sources(tmp_path, data):
    (tmp_path / "a").write_bytes(data)
    return [tmp_path / "a", io.BytesIO(data), data and memoryview(data)]


@pytest.mark.parametrize("threads", [1, 3])
def test_damage_in_one_part_leaves_all_others(tmp_path, kind, parts, threads):
    draw = random.Random(threads)
    for number in (0, 1, 5, len(parts) - 1):
        others = ALL[: FIRST[number]] + ALL[FIRST[number + 1] :]
        for _ in range(12):
            damaged = [*parts]
            damaged[number] = flip(parts[number], draw.randrange(8 * len(parts[number])))
            for source in sources(tmp_path, b"".join(damaged)):
                records, _ = read(source, num_threads=threads, compression_type=kind)
                assert set(records) <= set(ALL) and is_subsequence(others, records)
                assert is_subsequence(records, ALL) or not isinstance(source, os.PathLike)


def test_a_flipped_bit_anywhere_leaves_all_others(tmp_path, kind):
    parts = [marked(kind, frames([b"%d" % i * 20] * 2)) for i in range(3)]
    path = tmp_path / "a"
    begin, end = begins(parts)[1:3]
    for bit in range(8 * begin, 8 * end):
        path.write_bytes(flip(b"".join(parts), bit))
        records, _ = read(path)
        assert records[:2] == [b"0" * 20] * 2 and records[-2:] == [b"2" * 20] * 2, bit
        assert set(records) <= {b"0" * 20, b"1" * 20, b"2" * 20}


def test_the_first_part_may_be_the_damaged_one(tmp_path, kind, parts):
    """Its mark too, and the bytes that tell how the file is compressed."""
    for bit in range(8 * 24):
        (tmp_path / "a").write_bytes(flip(parts[0], bit) + b"".join(parts[1:]))
        records, _ = read(tmp_path / "a")
        assert is_subsequence(ALL[FIRST[1] :], records) and is_subsequence(records, ALL), bit


def test_a_removed_byte_leaves_all_others(tmp_path, kind, parts):
    draw = random.Random(3)
    for number in (0, 4, len(parts) - 1):
        for _ in range(10):
            damaged = [*parts]
            damaged[number] = remove(parts[number], draw.randrange(len(parts[number])))
            (tmp_path / "a").write_bytes(b"".join(damaged))
            records, _ = read(tmp_path / "a", compression_type=kind)
            # A part that is shorter than its mark says has the next one's first byte.
            assert is_subsequence(ALL[: FIRST[number]] + ALL[FIRST[number + 1] :], records)


def big_parts(kind, count=4, records=400):
    lists = [[random.Random(1000 * part + i).randbytes(900) for i in range(records)] for part in range(count)]
    return lists, [marked(kind, frames(one)) for one in lists]


@pytest.mark.parametrize("place", [0.3, 0.6, 0.9])
def test_a_damaged_part_gives_its_intact_head(tmp_path, kind, place):
    lists, parts = big_parts(kind)
    at = begins(parts)[1] + int(place * len(parts[1]))
    (tmp_path / "a").write_bytes(flip(b"".join(parts), 8 * at))
    records, skipped = read(tmp_path / "a", num_threads=2)
    assert len(skipped) >= 1
    head = max(0, int(place * len(lists[1])) - 160)  # a ZSTD block of 128 KiB may be lost before the damage
    assert is_subsequence(lists[0] + lists[1][:head] + lists[2] + lists[3], records)
    assert is_subsequence(records, [record for one in lists for record in one])


def test_what_is_skipped_is_told_with_its_place(tmp_path, kind):
    lists, parts = big_parts(kind)
    begin, middle = begins(parts)[1], begins(parts)[1] + len(parts[1]) // 2
    path = tmp_path / "a"
    half = parts[1][: middle - begin] + b"\0" * (len(parts[1]) - (middle - begin))
    path.write_bytes(b"".join([parts[0], half, *parts[2:]]))
    records, skipped = read(path, num_threads=2)
    kept = len(records) - 3 * 400
    assert 0 < kept < 300 and records == lists[0] + lists[1][:kept] + lists[2] + lists[3]
    ends = offsets([record for one in lists for record in one])
    assert [(s.path, s.offset, s.offset + s.bytes) for s in skipped] == [(str(path), ends[400 + kept], ends[800])]
    assert kind in skipped[0].reason and str(begin) in skipped[0].reason


def test_a_wrong_checksum_over_intact_records_costs_nothing(tmp_path, kind, parts):
    at = begins(parts)[3] - (8 if kind == "GZIP" else 1)
    (tmp_path / "a").write_bytes(flip(b"".join(parts), 8 * at))
    for verify in (True, False):
        records, skipped = read(tmp_path / "a", verify_crc=verify)
        assert records == ALL
        assert [(s.offset, s.bytes) for s in skipped] == [(offset_of(FIRST[2]), 0)]


def test_records_of_a_damaged_part_are_checked_in_any_case(tmp_path):
    """Even with verify_crc=False: the part's checksum has shown that something is wrong."""
    data = frames(PARTS[1])
    stored = bytearray(marked_stored(data))
    stored[24 + 5 + len(frames(PARTS[1][:7])) + 14] ^= 1
    (tmp_path / "a").write_bytes(marked("GZIP", frames(PARTS[0])) + bytes(stored) + marked("GZIP", frames(PARTS[2])))
    records, skipped = read(tmp_path / "a", verify_crc=False)
    assert records == PARTS[0] + PARTS[1][:7] + PARTS[2]
    assert [s.offset for s in skipped] == [offset_of(FIRST[1] + 7)]


def marked_stored(data):
    """A marked GZIP part that holds its bytes as they are."""
    import zlib

    body = b"\x01" + struct.pack("<HH", len(data), len(data) ^ 0xFFFF) + data
    extra = b"TF\x08\x00" + struct.pack("<II", 24 + len(body) + 8, len(data))
    head = b"\x1f\x8b\x08\x04\0\0\0\0\0\x03" + struct.pack("<H", len(extra)) + extra
    return head + body + struct.pack("<II", zlib.crc32(data), len(data))


def test_resuming_after_a_damaged_part(tmp_path, kind, parts):
    damaged = [*parts]
    damaged[4] = flip(parts[4], 8 * (len(parts[4]) // 2))
    damaged[8] = flip(parts[8], 8 * 3)
    path = tmp_path / "a"
    path.write_bytes(b"".join(damaged))
    whole, all_skipped = read(path)
    for stop in range(1, len(whole) // 50):
        reader = tf.ShardReader(path, on_corrupt="skip", batch_size=50)
        batches = iter(reader)
        head = [record for _ in range(stop) for record in next(batches)]
        resumed = tf.ShardReader(path, on_corrupt="skip", batch_size=50, num_threads=3)
        resumed.load_state_dict(reader.state_dict())
        assert head + [record for batch in resumed for record in batch] == whole
        # A stretch whose end nobody knows is told again: it may be new.
        again = [one for one in reader.skipped if one.bytes is None]
        assert reader.skipped + [one for one in resumed.skipped if one not in again] == all_skipped


def test_skip_file_drops_the_rest(tmp_path, kind, parts):
    damaged = [*parts]
    damaged[4] = flip(parts[4], 8 * (len(parts[4]) // 2))
    (tmp_path / "a").write_bytes(b"".join(damaged))
    reader = tf.ShardReader(tmp_path / "a", on_corrupt="skip_file")
    records = [record for batch in reader for record in batch]
    assert FIRST[4] <= len(records) < FIRST[5] and records == ALL[: len(records)]


# ---- Parts without a mark ----


def test_parts_of_other_writers_are_found_by_their_first_bytes(tmp_path, kind):
    parts = [unmarked(kind, frames(part)) for part in PARTS]
    draw = random.Random(7)
    for number in (0, 3, 11):
        damaged = [*parts]
        damaged[number] = flip(parts[number], 8 * draw.randrange(12, len(parts[number])))
        for source in sources(tmp_path, b"".join(damaged)):
            records, skipped = read(source)
            assert is_subsequence(ALL[: FIRST[number]] + ALL[FIRST[number + 1] :], records)
            assert is_subsequence(records, ALL) and skipped


def test_parts_that_begin_inside_a_record(tmp_path):
    """As bgzip cuts them: the record that was begun in the damaged part is lost, too."""
    data = frames(ALL)
    pieces = [data[at : at + 5000] for at in range(0, len(data), 5000)]
    members = [gzip_member(piece) for piece in pieces]
    members[2] = flip(members[2], 8 * (len(members[2]) - 6))
    (tmp_path / "a").write_bytes(b"".join(members))
    records, skipped = read(tmp_path / "a")
    ends = offsets(ALL)
    lost = [i for i in range(len(ALL)) if ends[i] < 15_000 + 0 and ends[i + 1] > 10_000]
    assert is_subsequence(ALL[: lost[0]] + ALL[lost[-1] + 1 :], records) and is_subsequence(records, ALL)
    assert [s.bytes for s in skipped] == [None]


def test_a_pipe_is_read_on_after_damage(tmp_path, kind):
    lists, parts = big_parts(kind)
    path = tmp_path / "a"
    path.write_bytes(flip(b"".join(parts), 8 * (begins(parts)[1] + len(parts[1]) // 3)))
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        records, skipped = read(cat.stdout)
    assert is_subsequence(lists[0] + lists[2] + lists[3], records) and skipped[-1].bytes is None


def test_what_this_package_writes(tmp_path, kind):
    records = [random.Random(i).randbytes(500) for i in range(8000)]
    path = tmp_path / "a"
    with tf.io.TFRecordWriter(path, kind) as writer:
        writer.write_batch(records)
    data = path.read_bytes()
    for at in (0.01, 0.1, 0.5, 0.99):
        path.write_bytes(flip(data, 8 * int(at * len(data))))
        got, _ = read(path)
        assert len(got) > 8000 - 2100 and is_subsequence(got, records)


def test_a_large_record_that_is_no_part_of_its_own(tmp_path, kind):
    """Damage in a part, and then a record that claims to run past its end."""
    whole = frames(PARTS[1])
    parts = [marked(kind, frames(PARTS[0])), marked(kind, whole[:-5]), marked(kind, frames(PARTS[2]))]
    (tmp_path / "a").write_bytes(b"".join(parts))
    records, skipped = read(tmp_path / "a")
    assert records == PARTS[0] + PARTS[1][:-1] + PARTS[2]
    assert [(s.offset, s.bytes) for s in skipped] == [(offset_of(FIRST[2] - 1), FRAME + len(PARTS[1][-1]) - 5)]
