"""tfrecord-fast split: every record is in one file, and which one is as the options say."""

import collections
import os
import subprocess
import tempfile
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.command import COMMAND
from tests.support.copying import (  # noqa: F401
    COMPRESSIONS,
    examples,
    ids,
    names,
    quiet,
    read,
    records,
    run_fixture,
    run_json_fixture,
    write,
)
from tests.support.peak_memory import MIB, PEAK_IS_TOLD
from tests.support.peak_memory import run as run_for_peak
from tfrecord_fast import _core
from tfrecord_fast.files.rewriting.dividing import by_hash, files_by_bytes, files_by_records, stratified
from tfrecord_fast.files.rewriting.row_keys import features_key, whole_records

# ---- In order ----


@settings(max_examples=60, deadline=None)
@given(records, st.sampled_from(COMPRESSIONS), st.sampled_from(["--into", "--records", "--size"]), st.integers(1, 70))
def test_one_after_the_other_the_parts_are_the_input(given_records, compression, how, number):
    with tempfile.TemporaryDirectory() as folder:
        path = write(f"{folder}/in", given_records, compression)
        assert quiet("split", path, how, number, "-o", f"{folder}/out") == 0
        parts = [name for name in names(folder) if name.startswith("out")]
        assert [record for part in parts for record in read(f"{folder}/{part}")] == given_records
        sizes = [len(read(f"{folder}/{part}")) for part in parts]
        if how == "--into":
            assert len(parts) == number and max(sizes) - min(sizes) <= 1
        elif how == "--records":
            assert set(sizes[:-1]) <= {number} and (0 < sizes[-1] <= number or not given_records)


@given(st.lists(st.lists(st.integers(0, 30), max_size=10), max_size=8), st.integers(1, 100))
def test_parts_are_as_large_as_they_may_be(batches, most):
    given_batches = [_core.record_batch([bytes(size) for size in sizes]) for sizes in batches]
    parts = collections.defaultdict(list)
    for part, batch in files_by_bytes(given_batches, most):
        parts[part] += (batch.sizes + 16).tolist()
    frames = [size + 16 for sizes in batches for size in sizes]
    expected, held = [], most
    for frame in frames:
        if held + frame > most and (held or not expected):
            expected, held = [*expected, []], 0
        expected[-1].append(frame)
        held += frame
    assert [parts[part] for part in sorted(parts)] == expected and sorted(parts) == list(range(len(parts)))


@given(st.lists(st.integers(0, 9), max_size=9), st.lists(st.integers(0, 5), max_size=60))
def test_parts_have_as_many_records_as_they_are_to_have(batches, sizes):
    total = sum(batches)
    sizes = [*sizes, total + 1]
    numbers = iter(range(total))
    given_batches = [_core.record_batch([b"%d" % next(numbers) for _ in range(count)]) for count in batches]
    parts = collections.defaultdict(list)
    for part, batch in files_by_records(given_batches, lambda part: sizes[part]):
        parts[part] += batch.tolist()
    assert [r for part in sorted(parts) for r in parts[part]] == [b"%d" % i for i in range(total)]
    assert all(len(parts[part]) == sizes[part] for part in sorted(parts)[:-1])


def test_names_have_the_number_of_files(tmp_path, run):
    path = write(tmp_path / "in", [b"%d" % i for i in range(10)])
    assert run("split", path, "--records", 4, "-o", tmp_path / "a.tfrecord.gz")[0] == 0
    assert run("split", path, "--records", 4, "-o", tmp_path / "{shard:d}-{num_shards:d}")[0] == 0
    assert run("split", path, "--records", 40, "-o", tmp_path / "one")[0] == 0
    made = {"a-00000-of-00003.tfrecord.gz", "a-00001-of-00003.tfrecord.gz", "a-00002-of-00003.tfrecord.gz"}
    assert set(names(tmp_path)) == made | {"0-3", "1-3", "2-3", "in", "one"}


def test_files_get_their_names_from_a_folder_of_another_file_system(tmp_path, run, monkeypatch):
    path = write(tmp_path / "in", [b"%d" % i for i in range(5)])
    monkeypatch.chdir("/proc")
    status, _, said = run("split", path, "--records", 2, "-o", f"{tmp_path}/out")
    assert (status, said) == (0, "")
    assert names(tmp_path) == ["in", *(f"out-0000{i}-of-00003" for i in range(3))]


def test_more_files_than_records_are_empty_ones(tmp_path, run_json):
    [done] = run_json("split", write(tmp_path / "in", [b"x"]), "--into", 3, "-o", tmp_path / "out")
    assert [file["records"] for file in done["files"]] == [0, 0, 1] and len(names(tmp_path)) == 4


def test_many_files_need_few_descriptors_and_little_memory(tmp_path):
    """3,000 of them, with at most 64 open."""
    (tmp_path / "out").mkdir()
    write(tmp_path / "in", [b"%d" % i for i in range(3000)])
    code = """
import resource, sys
from tfrecord_fast.cli import main
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
before = peak()
assert main(["split", sys.argv[1], "--records", "1", "-o", sys.argv[2], "--threads", "2"]) == 0
print(before)
"""
    printed, peak = run_for_peak(code, tmp_path / "in", tmp_path / "out" / "x")
    assert len(names(tmp_path / "out")) == 3000
    assert "3,000 records in 3,000 files" in printed and peak - int(printed.split("\n")[-1]) < 200 * MIB
    assert read(tmp_path / "out" / "x-02999-of-03000") == [b"2999"]


def test_standard_input_is_cut_but_not_counted(tmp_path):
    path = write(tmp_path / "in", [b"%d" % i for i in range(10)], "GZIP")
    command = [*COMMAND, "split", "-", "-o", str(tmp_path / "out"), "--records", "4"]
    subprocess.run(command, stdin=open(path, "rb"), check=True, capture_output=True)
    assert read(tmp_path / "out-00002-of-00003") == [b"8", b"9"]
    done = subprocess.run([*command[:-2], "--into", "4"], stdin=open(path, "rb"), capture_output=True)
    assert done.returncode == 2 and b"standard input" in done.stderr


def test_an_output_that_is_an_input_is_refused_when_its_number_is_known(tmp_path, run):
    path = write(tmp_path / "x-00001-of-00002", [b"1", b"2", b"3"])
    status, _, err = run("split", path, "--records", 2, "-o", tmp_path / "x")
    assert status == 2 and "also an input" in err
    assert names(tmp_path) == ["x-00001-of-00002"] and len(read(path)) == 3
    assert run("split", path, "--records", 2, "-o", tmp_path / "x", "--in-place")[0] == 0
    assert read(tmp_path / "x-00000-of-00002", path) == [b"1", b"2", b"3"] and len(read(path)) == 1


def test_old_files_stay_if_the_input_is_damaged(tmp_path, run):
    path = write(tmp_path / "in", [b"x" * 100] * 100)
    with open(path, "r+b") as file:
        file.seek(116 * 90 + 50)
        file.write(b"y")
    write(tmp_path / "out-00000-of-00010", [b"old"])
    for how in (["--records", 10], ["--into", 10], ["--size", 1000], ["--ratio", "1:1"]):
        status, _, err = run("split", path, *how, "-o", tmp_path / "out")
        assert status == 1 and "record 90" in err
        assert names(tmp_path) == ["in", "out-00000-of-00010"] and read(tmp_path / "out-00000-of-00010") == [b"old"]


# ---- In a ratio ----


def test_a_ratio_makes_named_sides(tmp_path, run_json):
    path, given_records = examples(tmp_path / "in", 5000)
    [done] = run_json("split", path, "--ratio", "8:1:1", "-o", tmp_path / "out.tfrecord")
    sides = [tmp_path / f"out-{name}.tfrecord" for name in ("train", "val", "test")]
    assert sorted(read(*sides)) == sorted(given_records)
    counts = [len(read(side)) for side in sides]
    assert list(done["sides"].values()) == counts and done["sides"].keys() == {"train", "val", "test"}
    for count, share in zip(counts, (4000, 500, 500), strict=True):
        assert abs(count - share) < 5 * 28.3  # five standard deviations
    assert all(ids(side) == sorted(ids(side)) for side in sides)


def test_two_sides_are_train_and_test_others_by_name(tmp_path, run):
    path, _ = examples(tmp_path / "in", 100)
    assert run("split", path, "--ratio", "1:1", "-o", tmp_path / "{name}")[0] == 0
    assert run("split", path, "--ratio", "1:1:1:1", "-o", tmp_path / "x")[0] == 0
    assert run("split", path, "--ratio", "0.5:.5", "--names", "a,b", "-o", tmp_path / "{name}.gz")[0] == 0
    assert set(names(tmp_path)) == {"in", "train", "test", "x-part0", "x-part1", "x-part2", "x-part3", "a.gz", "b.gz"}


def test_the_seed_decides_whatever_the_threads_and_the_compression(tmp_path, run):
    made, others = set(), set()
    for kind in COMPRESSIONS:
        path, _ = examples(tmp_path / f"in{kind}", 3000, kind, label=np.arange(3000) % 3)
        for by in ([], ["--by", "label"], ["--group", "id"]):
            for threads in (1, 2, 4):
                line = ["split", path, "--ratio", "3:1", *by, "--threads", threads, "-o", tmp_path / "out"]
                assert run(*line, "--seed", 5)[0] == 0
                made.add((*by, (tmp_path / "out-test").read_bytes()))
        assert run("split", path, "--ratio", "3:1", "--seed", 6, "-o", tmp_path / "out")[0] == 0
        others.add(((tmp_path / "out-test").read_bytes(),))
    assert len(made) == 3 and len(others) == 1 and not made & others


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(1, 40), min_size=2, max_size=5),
    st.lists(st.integers(0, 3), max_size=400),
    st.integers(0, 2**64 - 1),
)
def test_each_value_is_divided_in_the_ratio(ratio, labels, seed):
    """To within what one hand of 16 can be off: less than 4, and 2 more where the word is cut."""
    batch = tf.encode_examples({"label": labels}) if labels else _core.record_batch([])
    sides = stratified([Fraction(part) for part in ratio], features_key(["label"], needs_all=True), seed)(batch)
    for label in set(labels):
        mine = sides[np.array(labels) == label]
        for side, part in enumerate(ratio):
            assert abs((mine == side).sum() - len(mine) * part / sum(ratio)) <= 6


@pytest.mark.parametrize("divide", [by_hash, stratified])
def test_every_record_is_as_likely_to_be_on_a_side(divide):
    """The place of a record does not tell its side, in 500 draws: chi-square (99 degrees) below its 99.9 % point."""
    batch = _core.record_batch([b"%d" % i for i in range(100)])
    key_of = whole_records if divide is by_hash else lambda batch: [b"same"] * len(batch)
    counts = sum((divide([Fraction(7), Fraction(3)], key_of, seed)(batch) == 0).astype(int) for seed in range(500))
    assert ((counts - 350) ** 2 / (500 * 0.7 * 0.3)).sum() < 148.2


def test_values_that_are_rare_are_not_all_on_the_largest_side():
    batch = _core.record_batch([b"%d" % i for i in range(2000)])  # 2,000 values, each once
    sides = stratified([Fraction(8), Fraction(1), Fraction(1)], whole_records, 3)(batch)
    assert np.allclose(np.bincount(sides), [1600, 200, 200], atol=90)


def test_batches_of_any_size_are_divided_alike():
    labels = [b"%d" % (i % 7 % 3) for i in range(1000)]
    batch = _core.record_batch(labels)
    for divide in (by_hash, stratified):
        whole = divide([Fraction(2), Fraction(1)], whole_records, 1)(batch)
        side_of = divide([Fraction(2), Fraction(1)], whole_records, 1)
        assert np.concatenate([side_of(batch[i : i + 13]) for i in range(0, 1000, 13)]).tolist() == whole.tolist()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=100), st.integers(0, 1000))
def test_groups_stay_together(users, seed):
    with tempfile.TemporaryDirectory() as folder:
        path, _ = examples(f"{folder}/in", len(users), user=[user.encode() for user in users])
        assert quiet("split", path, "--ratio", "1:1", "--group", "user", "--seed", seed, "-o", f"{folder}/out") == 0
        sides = [{users[i] for i in ids(f"{folder}/out-{name}")} for name in ("train", "test")]
        assert not sides[0] & sides[1] and sides[0] | sides[1] == set(users)


def test_a_group_is_on_the_same_side_in_any_input(tmp_path, run):
    users = [b"u%d" % (i % 50) for i in range(1000)]
    for name, order in (("a", users), ("b", users[::-1][:300])):
        path, _ = examples(tmp_path / f"in-{name}", len(order), user=order)
        assert run("split", path, "--ratio", "1:1", "--group", "user", "-o", tmp_path / f"{name}-{{name}}")[0] == 0
    of = {name: {users[i] for i in ids(tmp_path / f"a-{name}")} for name in ("train", "test")}
    assert {users[::-1][i] for i in ids(tmp_path / "b-test")} <= of["test"] and all(of.values())


def test_equal_records_never_part(tmp_path, run):
    path = write(tmp_path / "in", [b"%d" % (i % 100) for i in range(1000)])
    assert run("split", path, "--ratio", "1:1", "-o", tmp_path / "out")[0] == 0
    sides = [read(tmp_path / f"out-{name}") for name in ("train", "test")]
    assert not set(sides[0]) & set(sides[1]) and sum(map(len, sides)) == 1000


def test_shards_of_sides_are_as_long_as_each_other(tmp_path, run):
    path, given_records = examples(tmp_path / "in", 1000)
    out = tmp_path / "{name}-{shard:d}-{num_shards:d}"
    assert run("split", path, "--ratio", "3:1", "--shards", 4, "-o", out)[0] == 0
    for name in ("train", "test"):
        lengths = [len(read(tmp_path / f"{name}-{i}-4")) for i in range(4)]
        assert max(lengths) - min(lengths) <= 1
        assert 100 < sum(lengths) < 900
    assert sorted(read(*(tmp_path / name for name in names(tmp_path) if name != "in"))) == sorted(given_records)


def test_records_without_the_value_are_errors(tmp_path, run):
    write(tmp_path / "in", tf.encode_examples({"a": [[1], None, [2]], "b": [1, 2, 3]}))
    for how in ("--by", "--group"):
        status, _, err = run("split", tmp_path / "in", "--ratio", "1:1", how, "a", "-o", tmp_path / "out")
        assert status == 1 and "record 1" in err and "'a'" in err and names(tmp_path) == ["in"]


def test_kinds_that_change_are_values_of_their_own(tmp_path, run):
    ones = [wire.example([(b"k", wire.feature(kind, [one]))]) for kind, one in (("int64", 1), ("bytes", b"1")) * 50]
    write(tmp_path / "in", ones)
    assert run("split", tmp_path / "in", "--ratio", "1:1", "--by", "k", "-o", tmp_path / "out")[0] == 0
    assert sorted(read(tmp_path / "out-train", tmp_path / "out-test")) == sorted(ones)
    assert run("split", tmp_path / "in", "--ratio", "1:1", "--group", "k", "-o", tmp_path / "out")[0] == 0
    assert sorted(map(len, (set(read(tmp_path / f"out-{name}")) for name in ("train", "test")))) in ([1, 1], [0, 2])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (["--ratio", "8"], "8:1:1"),
        (["--ratio", "1:0"], "positive numbers"),
        (["--ratio", "1:-1"], "positive numbers"),
        (["--ratio", "1:x"], "positive numbers"),
        (["--ratio", "1:nan"], "positive numbers"),
        (["--ratio", "1:1e999999999"], "positive numbers"),
        (["--ratio", "1:1", "--names", "a"], "2 splits"),
        (["--ratio", "1:1", "--names", "a,a"], "different names"),
        (["--ratio", "1:1", "--names", "a,"], "different names"),
        (["--ratio", "1:1", "--names", "a,b/c"], "different names"),
        (["--ratio", "1:1", "--by", "x", "--group", "y"], "not allowed"),
        (["--ratio", "1:1000000", "--by", "x"], "at most 1000000"),
        (["--into", "3", "--by", "x"], "--by requires --ratio"),
        (["--into", "3", "--seed", "0"], "--seed requires --ratio"),
        (["--into", "3", "--ratio", "1:1"], "not allowed"),
        (["--into", "0"], "of at least 1"),
        (["--records", "-5"], "expected"),
        (["--size", "0"], "256MB"),
        ([], "required"),
    ],
)
def test_usage(tmp_path, run, line, why):
    write(tmp_path / "in", [b"x"])
    status, _, err = run("split", tmp_path / "in", *line, "-o", tmp_path / "out")
    assert status == 2 and why in err and names(tmp_path) == ["in"]


@pytest.mark.parametrize(
    "pattern", ["-", "", "foo://x", "foo://{shard}", "{shard}{what}", "{shard", "{shard}{", "a{shard.x}"]
)
def test_patterns_that_mean_nothing_are_usage(tmp_path, run, monkeypatch, pattern):
    monkeypatch.chdir(tmp_path)
    write("in", [b"x"])
    for how in (["--into", 2], ["--records", 1], ["--ratio", "1:1", "--shards", 2]):
        assert run("split", "in", *how, "-o", pattern)[0] == 2
    assert names(tmp_path) == ["in"]


def test_two_names_of_one_file_are_usage(tmp_path, run):
    path = write(tmp_path / "in", [b"x", b"y"])
    (tmp_path / "out-00000-of-00002").symlink_to("out-00001-of-00002")
    for how in (["--into", 2], ["--records", 1]):
        status, _, err = run("split", path, *how, "-o", tmp_path / "out")
        assert status == 2 and "same file" in err and names(tmp_path) == ["in", "out-00000-of-00002"]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_among_the_names_stops_all(tmp_path, run, make):
    path = write(tmp_path / "in", [b"x", b"y"])
    make(tmp_path / "out-00001-of-00002")
    for how in (["--into", 2], ["--records", 1]):
        status, _, err = run("split", path, *how, "-o", tmp_path / "out")
        assert status == 2 and "out-00001-of-00002" in err and names(tmp_path) == ["in", "out-00001-of-00002"]


@PEAK_IS_TOLD[0]
@PEAK_IS_TOLD[1]
def test_memory_is_bounded(tmp_path):
    batch = _core.record_batch([bytes([i]) * 10_000 for i in range(100)])
    with tf.io.TFRecordWriter(tmp_path / "in") as writer:
        for _ in range(200):
            writer.write_batch(batch)
    code = """
import sys
from tfrecord_fast.cli import main
before = peak()
assert main(["split", sys.argv[1], "--ratio", "8:1:1", "-o", sys.argv[2], "--threads", "2"]) == 0
assert main(["split", sys.argv[1], "--size", "10MB", "-o", sys.argv[2], "--threads", "2"]) == 0
print(before)
"""
    printed, peak = run_for_peak(code, tmp_path / "in", tmp_path / "out")
    assert peak - int(printed.split("\n")[-1]) < 120 * MIB
