"""The three ways to meet damage agree: "raise" gives what "skip_file" gives, "skip" gives all of that and more."""

import io
import random

import pytest

import tfrecord_fast as tf
from tests.core.test_damaged_parts import begins, big_parts
from tests.core.test_marked_parts import marked, unmarked
from tests.support.damage import cut, flip, remove
from tests.support.frames import frames


def given(source, on_corrupt, **options):
    """The records that come before an error, or before the end."""
    records = []
    try:
        for batch in tf.ShardReader(source, on_corrupt=on_corrupt, batch_size=7, **options):
            records += batch
    except tf.DataLossError:
        assert on_corrupt == "raise"
    return records


def check(path, kind, threads):
    skip, skip_file, error = (
        given(path, how, compression_type=kind, num_threads=threads) for how in ("skip", "skip_file", "raise")
    )
    assert skip_file == skip[: len(skip_file)]
    before = _before_error(path, kind)
    assert before == skip_file[: len(before)]
    assert error == before[: len(error)] and len(error) > len(before) - 7
    return skip_file


def _before_error(path, kind):
    records = []
    try:
        for record in tf.data.TFRecordDataset(path, kind):
            records.append(record)
    except tf.DataLossError:
        pass
    return records


@pytest.fixture(params=["GZIP", "ZSTD"])
def kind(request):
    return request.param


@pytest.mark.parametrize("place", [0.3, 0.9])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_byte_is_missing_in_a_large_part(tmp_path, kind, threads, place):
    """The part's mark is then wrong, too: "skip" reads the part as a stream."""
    _, parts = big_parts(kind)
    at = begins(parts)[1] + int(place * len(parts[1]))
    (tmp_path / "a").write_bytes(remove(b"".join(parts), at))
    records = check(tmp_path / "a", kind, threads)
    assert len(records) >= 400 + place * 400 - 160  # a ZSTD block of 128 KiB may be lost before the damage


@pytest.mark.parametrize("how", ["path", "memory", "object"])
@pytest.mark.parametrize("on_corrupt", ["raise", "skip_file", "skip"])
def test_what_is_intact_comes_first_from_any_source(tmp_path, kind, how, on_corrupt):
    lists, parts = big_parts(kind, count=1)
    data = flip(b"".join(parts), 8 * int(0.9 * len(parts[0])))
    (tmp_path / "a").write_bytes(data)
    source = {"path": tmp_path / "a", "memory": memoryview(data), "object": io.BytesIO(data)}[how]
    records = given(source, on_corrupt, compression_type=kind)
    assert records[:200] == lists[0][:200]


@pytest.mark.parametrize("make", [marked, unmarked])
def test_blocks_that_one_call_would_take_together(tmp_path, kind, make):
    """A part of a few KB that inflates to many blocks, with its last bytes damaged."""
    records = [b"%d" % i + bytes(50_000) for i in range(60)]
    part = make(kind, frames(records))
    assert len(part) < 20_000
    path = tmp_path / "a"
    path.write_bytes(part[:-60] + bytes(byte ^ 0x55 for byte in part[-60:-20]) + part[-20:])
    for on_corrupt in ("raise", "skip_file", "skip"):
        assert len(given(path, on_corrupt, compression_type=kind)) > 40


def _records(draw, part):
    for i in range(draw.randint(1, 12)):
        short = draw.choice([0, 5, 300, 3000])
        yield draw.randbytes(short) if draw.random() < 0.5 else b"ab%d.%d" % (part, i) * draw.randint(1, 20)


def _damage(draw, data):
    for _ in range(draw.choice([1, 1, 2, 3])):
        at = draw.randrange(len(data))
        how = draw.choice(["flip", "flip", "flip in a mark", "cut", "remove"])
        if how == "cut":
            data = cut(data, max(at, 1))
        elif how == "remove" and len(data) > 1:
            data = remove(data, at)
        else:
            data = flip(data, 8 * (at if how == "flip" else min(at, 24)) + draw.randrange(8))
    return data


def test_any_damage(tmp_path, kind):
    for seed in range(60):
        draw = random.Random(seed)
        parts = [draw.choice([marked, unmarked])(kind, frames(_records(draw, i))) for i in range(draw.randint(1, 5))]
        (tmp_path / "a").write_bytes(_damage(draw, b"".join(parts)))
        check(tmp_path / "a", kind, draw.choice([1, 2, 4]))
