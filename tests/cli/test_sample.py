"""tfrecord-fast sample: of all sets of n records, each is as likely as any other."""

import itertools
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.command import COMMAND
from tests.support.copying import COMPRESSIONS, examples, ids, names, read, run_fixture, run_json_fixture, write  # noqa: F401
from tests.support.peak_memory import MIB, PEAK_IS_TOLD
from tests.support.peak_memory import run as run_for_peak
from tfrecord_fast import _core
from tfrecord_fast.files.rewriting import sampling
from tfrecord_fast.files.rewriting.sampling import chosen, chosen_rows, sampled


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 2**64 - 1), st.integers(1, 50))
def test_however_it_is_read_the_sample_is_the_same(total, count, seed, size):
    given_records = [b"%d" % i for i in range(total)]
    batches = [_core.record_batch(given_records[i : i + size]) for i in range(0, total, size)]
    places = chosen(total, count, seed).tolist()
    expected = [given_records[place] for place in places]
    assert len(set(places)) == min(count, total) and places == sorted(places)
    assert [r for part in chosen_rows(batches, np.array(places, np.int64)) for r in part] == expected
    kept, seen = sampled(batches, count, seed)
    assert (kept.tolist(), seen) == (expected, total)


@settings(max_examples=25)
@given(st.integers(1, 2000), st.integers(0, 2000), st.integers(0, 99), st.integers(1, 99))
def test_what_waits_is_looked_at_in_time(total, count, seed, waiting):
    """As it is with many records, of which few may wait."""
    before = sampling._LEAST_ROWS, sampling._LEAST_BYTES, sampling._AT_ONCE
    sampling._LEAST_ROWS, sampling._LEAST_BYTES, sampling._AT_ONCE = waiting, 1 << 20, waiting
    try:
        batches = (_core.record_batch([b"%d" % i]) for i in range(total))
        kept = sampled(batches, count, seed)[0].tolist()
        assert kept == [b"%d" % place for place in chosen(total, count, seed)]
    finally:
        sampling._LEAST_ROWS, sampling._LEAST_BYTES, sampling._AT_ONCE = before


def test_all_sets_are_equally_likely():
    """3 of 6, over 2,000 seeds: chi-square of 19 degrees, below its 99.9 % point."""
    counts = dict.fromkeys(itertools.combinations(range(6), 3), 0)
    for seed in range(2000):
        counts[tuple(chosen(6, 3, seed).tolist())] += 1
    assert sum((count - 100) ** 2 / 100 for count in counts.values()) < 43.82


def test_all_compressions_threads_and_streams_give_the_same(tmp_path, run):
    made = set()
    for kind in COMPRESSIONS:
        path, _ = examples(tmp_path / f"in{kind}", 5000, kind)
        for threads in (1, 2, 4):
            out = tmp_path / f"out{kind}{threads}"
            assert run("sample", path, out, "-n", 40, "--seed", 9, "--threads", threads)[0] == 0
            made.add(out.read_bytes())
    command = [*COMMAND, "sample", "-", "-", "-n", "40", "--seed", "9"]
    made.add(subprocess.run(command, stdin=open(path, "rb"), capture_output=True, check=True).stdout)
    assert len(made) == 1 and len(set(ids(out))) == 40 and ids(out) == sorted(ids(out))


def test_a_smaller_sample_is_part_of_a_larger_one():
    assert set(chosen(1000, 20, 5)) < set(chosen(1000, 200, 5))


@pytest.mark.parametrize(
    ("fraction", "count"), [("0", 0), ("1", 10), ("0.25", 3), ("1/3", 3), ("1e-3", 0), ("0.24", 2)]
)
def test_a_fraction_is_rounded(tmp_path, run, fraction, count):
    path, _ = examples(tmp_path / "in", 10)
    assert run("sample", path, tmp_path / "out", "--fraction", fraction)[0] == 0
    assert len(read(tmp_path / "out")) == count


@pytest.mark.parametrize("given_fraction", ["1.5", "-0.1", "x", "nan", "1/0", "", "1e999999999", "-1e-999999999"])
def test_fractions_are_from_0_to_1(tmp_path, run, given_fraction):
    assert run("sample", "a", "b", f"--fraction={given_fraction}")[0] == 2


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_more_than_there_are_is_an_error(tmp_path, run, kind):
    path, _ = examples(tmp_path / "in", 10, kind)
    status, _, err = run("sample", path, tmp_path / "out", "-n", 11)
    assert status == 2 and "only 10 records" in err and names(tmp_path) == ["in"]


def test_one_of_both_is_needed(run):
    assert run("sample", "a", "b")[0] == 2 and run("sample", "a", "b", "-n", 1, "--fraction", 1)[0] == 2


def test_a_fraction_of_a_stream_is_refused(tmp_path):
    path, _ = examples(tmp_path / "in", 10)
    command = [*COMMAND, "sample", "-", str(tmp_path / "out"), "--fraction", "0.5"]
    done = subprocess.run(command, stdin=open(path, "rb"), capture_output=True)
    assert done.returncode == 2 and b"standard input" in done.stderr and names(tmp_path) == ["in"]


def test_several_files_are_one_population(tmp_path, run_json):
    write(tmp_path / "a", [b"a%d" % i for i in range(50)])
    write(tmp_path / "b", [b"b%d" % i for i in range(50)], "ZSTD")
    [done] = run_json("sample", tmp_path / "a", tmp_path / "b", tmp_path / "out", "-n", 30)
    assert (done["records_read"], done["records"]) == (100, 30)
    [again] = run_json(
        "sample", write(tmp_path / "c", read(tmp_path / "a", tmp_path / "b")), tmp_path / "out2", "-n", 30
    )
    assert read(tmp_path / "out") == read(tmp_path / "out2") and again["records_read"] == 100


def test_only_the_sample_of_uncompressed_files_is_read(tmp_path, run):
    """Damage in the data of others does not matter."""
    path = write(tmp_path / "in", [b"%04d" % i for i in range(1000)])
    others = sorted(set(range(1000)) - set(chosen(1000, 5, 0).tolist()))
    with open(path, "r+b") as file:
        for number in others[::10]:
            file.seek(number * 20 + 12)
            file.write(b"\xff")
    assert run("sample", path, tmp_path / "out", "-n", 5)[0] == 0
    assert read(tmp_path / "out") == [b"%04d" % i for i in chosen(1000, 5, 0)]


@PEAK_IS_TOLD[0]
@PEAK_IS_TOLD[1]
def test_a_sample_of_a_stream_keeps_little():
    """1,000 records of 10 KB, out of 300 MB."""
    code = """
import sys
from tfrecord_fast import _core
from tfrecord_fast.files.rewriting.sampling import sampled
before = peak()
kept, total = sampled((_core.record_batch([bytes(10_000) for _ in range(100)]) for _ in range(300)), 1000, 1)
assert len(kept) == 1000 and total == 30_000
print(before)
"""
    printed, peak = run_for_peak(code)
    assert peak - int(printed.split("\n")[-1]) < 150 * MIB
