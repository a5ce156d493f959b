"""Damage, exhaustively, on files of a few records: every cut, every bit, every byte inserted or removed.

Uncompressed, whatever is returned was written, in order, and the error names the record that holds the damage.
Compressed, the same as far as the container's own checksums go: what a reference decoder calls intact and equal must
be read whole, all else must raise. HARMLESS lists the bits that this is about, and why.
"""

import random

import pytest

from tests.support import compression, damage
from tests.support.frames import agrees, frames, offsets, read, record_at

# Sizes such that no two records are the same, and an empty one; small enough to try every byte at every place.
RECORDS = [random.Random(i).randbytes(size) for i, size in enumerate([5, 0, 33, 1, 17])]
DATA = frames(RECORDS)
# The same as TFRecordWriter writes it with zlib 1.2.13, libzstd 1.5.4 and libsnappy 1.1.9: fixed, so that the places
# below are too.
COMPRESSED = {
    "GZIP": bytes.fromhex(
        "1f8b080000000000000363658080579b58ecceb2ebdc48ba7577fb07a8188326f30cf61baf9a162942f98cd56fbe15afdcf765e6ee2f77aa"
        "2f2df974627df4cdf96a557c97258bc4ef6aef123577ce8bb95a521ffa8611a6a1f49ea3cd64afc73e825081b9b95bf5ae2fcdb5f9f37389"
        "ef71b14ca9b3ab17ee483db8625e2e0069833c8788000000"
    ),
    "ZLIB": bytes.fromhex(
        "789c63658080579b58ecceb2ebdc48ba7577fb07a8188326f30cf61baf9a162942f98cd56fbe15afdcf765e6ee2f77aa2f2df974627df4cd"
        "f96a557c97258bc4ef6aef123577ce8bb95a521ffa8611a6a1f49ea3cd64afc73e825081b9b95bf5ae2fcdb5f9f37389ef71b14ca9b3ab17"
        "ee483db8625e2e00d7463403"
    ),
    "ZSTD": bytes.fromhex(
        "28b52ffd0458b5030094060500eab2043ecd072cd862daddb7f00029039807d8ea82a22100017becf673a9bef499bbf4dc7bd2a4f2c8af5b"
        "d99f267a0ed3197217dd2bba1537436e5cd5747f55ec01000175de413c934ae34c11009d6db52ed7a56d3cfcf9a44dc716691acdaba1b865"
        "c1a89e6d051000c36f94d1653560019b07c983"
    ),
    "SNAPPY": bytes.fromhex(
        "0000007b8801040500090130eab2043ecd072cd862daddb7f0091328000029039807d8ea82a2210d11a8017becf673a9bef499bbf4dc7bd2"
        "a4f2c8af5bd99f267a0ed3197217dd2bba1537436e5cd5747f55ec01000932240175de413c934ae34c11091064009d6db52ed7a56d3cfcf9"
        "a44dc716691acdaba1b865c1a89e6d"
    ),
}
DAMAGES = {
    "cut": damage.every_cut,
    "flip": damage.every_flip,
    "insertion": damage.every_insertion,
    "removal": damage.every_removal,
}


# ---- Uncompressed ----


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("chunk", [64, 1 << 14])
def test_uncompressed_damage_is_named_and_nothing_is_made_up(kind, chunk):
    ends = offsets(RECORDS)
    for what, damaged in DAMAGES[kind](DATA):
        records, error = read(damaged, chunk_bytes=chunk)
        assert records == RECORDS[: len(records)], what
        if kind == "cut" and len(damaged) in ends:
            assert error is None and len(records) == ends.index(len(damaged)), what
            continue
        index = record_at(RECORDS, damage.first_difference(DATA, damaged))
        assert error is not None, what
        assert (len(records), error.record_index, error.offset) == (index, index, ends[index]), what


@pytest.mark.parametrize("kind", DAMAGES)
def test_uncompressed_damage_is_judged_as_by_the_reference_reader(kind):
    for what, damaged in DAMAGES[kind](DATA):
        assert agrees(read(damaged), damaged), what


@pytest.mark.parametrize("kind", ["cut", "flip", "removal"])
@pytest.mark.parametrize("threads", [0, 1, 3])
def test_damage_in_a_file_on_disk_is_the_same_with_any_number_of_threads(kind, threads, tmp_path):
    path = tmp_path / "damaged"
    for what, damaged in DAMAGES[kind](DATA):
        path.write_bytes(damaged)
        assert agrees(read(path, num_threads=threads, chunk_bytes=64), damaged), what


@pytest.mark.parametrize("kind", DAMAGES)
def test_detection_lets_no_damage_pass(kind):
    """A damaged header may look like another format; it is an error all the same."""
    for what, damaged in DAMAGES[kind](DATA):
        records, error = read(damaged, compression_type=None)
        assert records == RECORDS[: len(records)], what
        assert error is not None or (kind == "cut" and len(damaged) in offsets(RECORDS)), what


# ---- Compressed ----

ALL_BITS = list(range(8))
# All bits of each file that nothing protects, by byte.
HARMLESS = {
    "GZIP": {
        3: [0],  # FLG: FTEXT, a hint
        **{byte: ALL_BITS for byte in range(4, 8)},  # MTIME
        8: ALL_BITS,  # XFL: how hard the compressor tried
        9: ALL_BITS,  # OS
        127: [5, 6, 7],  # fill up the last byte of the deflate stream
    },
    "ZLIB": {119: [5, 6, 7]},  # as above
    "ZSTD": {
        4: [4],  # frame header descriptor: unused (RFC 8878, 3.1.1.1.1.3)
        5: [0, 1, 2, 3, 4, 5, 6],  # window descriptor: one that is larger, or still large enough for 136 bytes
    },
    "SNAPPY": {40: [0], 99: [0]},  # copies of zeros, from one byte further back or less
}
# Symbol compression modes: reserved, and must be zero (RFC 8878, 3.1.1.3.2.1.2); libzstd checks since 1.5.5.
LEFT_TO_THE_LIBRARY = {"GZIP": {}, "ZLIB": {}, "ZSTD": {117: [0, 1]}, "SNAPPY": {}}


def answers(kind, damages, compression_type):
    """(what, damaged, records, error) of each."""
    for what, damaged in damages:
        yield what, damaged, *read(damaged, compression_type=compression_type, chunk_bytes=1 << 12)


def may_pass(kind, damaged):
    return any(
        damage.flip(damaged, 8 * byte + bit) == COMPRESSED[kind]
        for byte, bits in LEFT_TO_THE_LIBRARY[kind].items()
        for bit in bits
    )


@pytest.mark.parametrize("kind", compression.KINDS)
def test_intact_files_are_read(kind):
    assert read(COMPRESSED[kind], compression_type=kind) == (RECORDS, None)


@pytest.mark.parametrize("damage_kind", DAMAGES)
@pytest.mark.parametrize("kind", compression.KINDS)
def test_compressed_damage_is_named_and_nothing_is_made_up(kind, damage_kind):
    intact = COMPRESSED[kind]
    values = {"values": [0, 1, 0x1F, 0x80, 0xFF]} if damage_kind == "insertion" else {}
    for what, damaged, records, error in answers(kind, DAMAGES[damage_kind](intact, **values), kind):
        assert records == RECORDS[: len(records)], what
        if damaged == b"":
            assert (records, error) == ([], None)
        elif error is None:
            assert records == RECORDS, what
            assert compression.decompress(kind, damaged) == DATA or may_pass(kind, damaged), what
        else:
            assert (error.record_index, error.offset) == (len(records), offsets(RECORDS)[len(records)]), what
            assert compression.decompress(kind, damaged) != DATA, f"{what}: the reference reads it, we do not: {error}"


@pytest.mark.parametrize("kind", compression.KINDS)
def test_a_cut_compressed_file_always_raises(kind):
    cuts = list(damage.every_cut(COMPRESSED[kind]))[1:]
    assert all(error is not None for *_, error in answers(kind, cuts, kind))


@pytest.mark.parametrize("kind", compression.KINDS)
def test_only_what_nothing_protects_may_be_flipped(kind):
    passed = {}
    for bit, (*_, error) in enumerate(answers(kind, damage.every_flip(COMPRESSED[kind]), kind)):
        if error is None:
            passed.setdefault(bit // 8, []).append(bit % 8)
    assert passed in (HARMLESS[kind], HARMLESS[kind] | LEFT_TO_THE_LIBRARY[kind])


@pytest.mark.parametrize("damage_kind", ["cut", "flip", "removal"])
@pytest.mark.parametrize("kind", compression.KINDS)
def test_detection_lets_no_compressed_damage_pass(kind, damage_kind):
    for what, damaged, records, error in answers(kind, DAMAGES[damage_kind](COMPRESSED[kind]), None):
        assert records == RECORDS[: len(records)], what
        assert error is not None or damaged == b"" or records == RECORDS, what


@pytest.mark.parametrize("kind", compression.KINDS)
def test_records_before_compressed_damage_are_given(kind):
    """Far enough before it: a decoder may hold back what it has not verified yet."""
    records = [random.Random(i).randbytes(1000) for i in range(2000)]
    intact = compression.compress(kind, frames(records))
    got, error = read(damage.flip(intact, 8 * (len(intact) - 1000)), compression_type=kind)
    assert 1500 < len(got) < 2000 and got == records[: len(got)]
    assert (error.record_index, error.offset) == (len(got), offsets(records)[len(got)])


@pytest.mark.parametrize("kind", compression.KINDS)
def test_damage_in_the_second_part_leaves_the_first(kind):
    intact = compression.compress(kind, frames(RECORDS))
    for what, damaged in damage.every_flip(intact):
        records, error = read(intact + damaged, compression_type=kind, chunk_bytes=1 << 12)
        assert records == (RECORDS * 2)[: len(records)] and len(records) >= len(RECORDS), what
        assert error is not None or len(records) == 2 * len(RECORDS), what
