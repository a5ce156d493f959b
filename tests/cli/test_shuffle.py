"""tfrecord-fast shuffle: every order is as likely as any other, whatever memory and threads there are."""

import itertools
import math
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support.copying import (
    COMPRESSIONS,
    examples,
    ids,
    names,
    quiet,
    read,
    records,
    run_fixture,  # noqa: F401
    write,
)
from tests.support.peak_memory import MIB, PEAK_IS_TOLD
from tests.support.peak_memory import run as run_for_peak
from tfrecord_fast import _core
from tfrecord_fast.files.rewriting import shuffling
from tfrecord_fast.files.rewriting.shuffling import shuffled


@settings(max_examples=40, deadline=None)
@given(records, st.integers(0, 2**64 - 1), st.sampled_from(COMPRESSIONS))
def test_it_is_the_same_records(given_records, seed, compression):
    with tempfile.TemporaryDirectory() as folder:
        path = write(f"{folder}/in", given_records, compression)
        assert quiet("shuffle", path, f"{folder}/out", "--seed", seed) == 0
        assert sorted(read(f"{folder}/out")) == sorted(given_records)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Some 12 MB, in two files, the second one compressed."""
    folder = tmp_path_factory.mktemp("large")
    given = [b"%07d" % i + b"x" * (i % 601) for i in range(40_000)]
    return [write(folder / "a", given[:25_000]), write(folder / "b", given[25_000:], "GZIP")], given


def test_the_seed_decides_whatever_memory_and_threads(tmp_path, run, large):
    paths, given_records = large
    made = set()
    for memory, threads in [("1GB", 1), ("1MB", 2), ("6MB", 4)]:
        out = tmp_path / f"out-{memory}-{threads}"
        assert run("shuffle", *paths, out, "--seed", 3, "--memory", memory, "--threads", threads)[0] == 0
        made.add(out.read_bytes())
    assert len(made) == 1 and sorted(read(out)) == given_records != read(out)
    assert run("shuffle", *paths, tmp_path / "other", "--seed", 4)[0] == 0
    assert read(tmp_path / "other") != read(out)


def test_piles_that_are_too_large_are_divided_again(monkeypatch, large):
    given_records = large[1]
    monkeypatch.setattr(shuffling, "_LEAST_BYTES", 50_000)
    opened = []
    pile = shuffling._Pile
    monkeypatch.setattr(shuffling, "_Pile", lambda *args: opened.append(1) or pile(*args))
    batches = [_core.record_batch(given_records[i : i + 1000]) for i in range(0, len(given_records), 1000)]
    small = [record for batch in shuffled(batches, 5, memory_bytes=1) for record in batch]
    assert len(opened) > 64  # more than one level
    assert small == [record for batch in shuffled(batches, 5, memory_bytes=1 << 30) for record in batch]


def test_records_larger_than_the_memory_pass(tmp_path, run):
    given_records = [bytes([i]) * 3_000_000 for i in range(8)] + [b"small"] * 5
    write(tmp_path / "in", given_records)
    assert run("shuffle", tmp_path / "in", tmp_path / "out", "--memory", "1MB")[0] == 0
    assert sorted(read(tmp_path / "out")) == sorted(given_records)


def chi_square(counts, expected):
    return sum((count - expected) ** 2 / expected for count in counts)


def test_all_orders_are_equally_likely():
    """Of 4 records, over 2,400 seeds: chi-square of 23 degrees, below its 99.9 % point."""
    batch = _core.record_batch([b"a", b"b", b"c", b"d"])
    counts = dict.fromkeys(itertools.permutations([b"a", b"b", b"c", b"d"]), 0)
    for seed in range(2400):
        counts[tuple(r for part in shuffled([batch], seed, memory_bytes=1 << 20) for r in part)] += 1
    assert len(counts) == math.factorial(4) and chi_square(counts.values(), 100) < 49.73


def test_every_record_may_come_to_every_place(tmp_path, run):
    """Where records of the first tenth land, on disk: chi-square of 9 degrees, below its 99.9 % point."""
    examples(tmp_path / "in", 50_000)
    assert run("shuffle", tmp_path / "in", tmp_path / "out", "--memory", "1MB", "--seed", 11)[0] == 0
    order = ids(tmp_path / "out")
    landed = [sum(1 for one in order[part * 5000 : (part + 1) * 5000] if one < 5000) for part in range(10)]
    assert sorted(order) == list(range(50_000)) and chi_square(landed, 500) < 27.88
    fixed = sum(place == one for place, one in enumerate(order))
    assert fixed < 8  # of which there is one, on average


def test_a_damaged_end_leaves_nothing_after_much_was_divided(tmp_path, run):
    path = write(tmp_path / "in", [b"x" * 1000] * 10_000)
    with open(path, "r+b") as file:
        file.truncate(1016 * 10_000 - 1)
    assert run("shuffle", path, tmp_path / "out", "--memory", "1MB")[0] == 1
    assert names(tmp_path) == ["in"]


def test_temporary_files_go_where_they_are_told(tmp_path, run, large):
    status, _, err = run("shuffle", *large[0], tmp_path / "out", "--memory", "1MB", "--temp", tmp_path / "none")
    assert status == 2 and f"{tmp_path}/none" in err and names(tmp_path) == []
    (tmp_path / "there").mkdir()
    assert run("shuffle", *large[0], tmp_path / "out", "--memory", "1MB", "--temp", tmp_path / "there")[0] == 0
    assert names(tmp_path / "there") == []


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("x", 0), ("-5", 0), ("1 MB", 1), ("5eb", 0), ("1.5GiB", 1), ("9" * 400 + "TB", 1)]
)
def test_sizes_are_numbers_of_bytes(tmp_path, run, text, size):
    write(tmp_path / "in", [b"x"])
    status, _, err = run("shuffle", tmp_path / "in", tmp_path / "out", f"--memory={text}")
    assert status == (0 if size else 2) and (size or "256MB" in err)


@pytest.mark.parametrize("seed", ["-1", "x", str(2**64)])
def test_seeds_have_64_bits(tmp_path, run, seed):
    assert run("shuffle", "a", "b", f"--seed={seed}")[0] == 2


@PEAK_IS_TOLD[0]
@PEAK_IS_TOLD[1]
def test_memory_is_bounded(tmp_path):
    """300 MB go through 60 MB, and what the interpreter and buffers take."""
    record = _core.record_batch([bytes(10_000)] * 100)
    with tf.io.TFRecordWriter(tmp_path / "in") as writer:
        for _ in range(300):
            writer.write_batch(record)
    code = """
import sys
from tfrecord_fast.cli import main
before = peak()
assert main(["shuffle", sys.argv[1], sys.argv[2], "--memory", "60MB", "--threads", "2"]) == 0
print(before)
"""
    printed, peak = run_for_peak(code, tmp_path / "in", tmp_path / "out")
    assert peak - int(printed.split("\n")[-1]) < 140 * MIB
    assert len(read(tmp_path / "out")) == 30_000
