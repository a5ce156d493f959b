"""tfrecord-fast dedup: of equal records the first stays, and no others go."""

import tempfile

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.copying import COMPRESSIONS, ids, names, quiet, read, records, run_fixture, run_json_fixture, write  # noqa: F401
from tests.support.peak_memory import MIB, PEAK_IS_TOLD
from tests.support.peak_memory import run as run_for_peak
from tfrecord_fast import _core
from tfrecord_fast.files.rewriting import deduplicating
from tfrecord_fast.files.rewriting.deduplicating import SeenHashes, distinct


@settings(max_examples=40, deadline=None)
@given(records, records, st.sampled_from(COMPRESSIONS))
def test_the_first_of_equal_records_stay_in_order(one, other, compression):
    with tempfile.TemporaryDirectory() as folder:
        paths = [write(f"{folder}/a", one, compression), write(f"{folder}/b", other)]
        assert quiet("dedup", *paths, f"{folder}/out") == 0
        assert read(f"{folder}/out") == list(dict.fromkeys(one + other))


@given(st.lists(st.lists(st.binary(max_size=2), max_size=30), max_size=12), st.integers(1, 40))
def test_batches_of_any_size_are_one_sequence(parts, at_once):
    before, deduplicating._AT_ONCE = deduplicating._AT_ONCE, at_once
    try:
        got = [r for batch in distinct(map(_core.record_batch, parts)) for r in batch]
    finally:
        deduplicating._AT_ONCE = before
    assert got == list(dict.fromkeys(r for part in parts for r in part))


@given(st.lists(st.lists(st.integers(0, 60), max_size=20), max_size=20))
def test_a_set_of_hashes_knows_what_it_has_seen(parts):
    """Hashes that differ in their first or last bytes only, and some of zeros."""
    hashes, known = SeenHashes(), set()
    for part in parts:
        given_hashes = [(bytes([i, *[0] * 15]) if i % 2 else bytes([*[0] * 15, i])) for i in part]
        expected = [i for i, one in enumerate(given_hashes) if one not in known and one not in given_hashes[:i]]
        assert hashes.add(b"".join(given_hashes)).tolist() == expected
        known.update(given_hashes)
        assert len(hashes) == len(known)


def test_many_records_that_differ_all_stay(tmp_path, run_json):
    write(tmp_path / "in", [b"%d" % i for i in range(200_000)], "ZSTD")
    [done] = run_json("dedup", tmp_path / "in", tmp_path / "in", tmp_path / "out")
    assert (done["records_read"], done["records"], done["duplicates"]) == (400_000, 200_000, 200_000)
    assert read(tmp_path / "out") == read(tmp_path / "in")


def test_by_a_feature(tmp_path, run):
    columns = {"id": np.arange(100), "user": [b"u%d" % (i % 7) for i in range(100)], "day": np.arange(100) % 3}
    write(tmp_path / "in", tf.encode_examples(columns))
    assert run("dedup", tmp_path / "in", tmp_path / "out", "--by", "user")[0] == 0
    assert ids(tmp_path / "out") == list(range(7))
    assert run("dedup", tmp_path / "in", tmp_path / "out", "--by", "user", "--by", "day")[0] == 0
    assert ids(tmp_path / "out") == list(range(21))


def test_lists_and_kinds_count(tmp_path, run):
    values = [[1], [1, 1], [1], [2], [1, 1]]
    given_records = [wire.example([(b"k", wire.feature("int64", one))]) for one in values]
    given_records += [
        wire.example([(b"k", wire.feature("float", [1.0]))]),
        wire.example([(b"k", wire.feature("bytes", [b"1"]))]),
    ]
    write(tmp_path / "in", given_records)
    assert run("dedup", tmp_path / "in", tmp_path / "out", "--by", "k")[0] == 0
    assert read(tmp_path / "out") == [given_records[i] for i in (0, 1, 3, 5, 6)]


def test_texts_are_not_confused_by_where_they_end(tmp_path, run):
    columns = {"a": [b"x", b"xy", b"x"], "b": [b"yz", b"z", b"yz"]}
    write(tmp_path / "in", tf.encode_examples(columns))
    assert run("dedup", tmp_path / "in", tmp_path / "out", "--by", "a", "--by", "b")[0] == 0
    assert len(read(tmp_path / "out")) == 2


def test_texts_of_a_list_are_not_confused_by_where_they_end(tmp_path, run):
    given_records = [wire.example([(b"k", wire.feature("bytes", one))]) for one in ([b"xy", b"z"], [b"x", b"yz"])]
    write(tmp_path / "in", given_records)
    assert run("dedup", tmp_path / "in", tmp_path / "out", "--by", "k")[0] == 0
    assert read(tmp_path / "out") == given_records


def test_lists_of_two_features_are_not_confused_by_where_they_end(tmp_path, run):
    mark = ord("i")  # what tells integers from others
    values = [([7], [mark << 56, 5]), ([7, mark], [5])]
    given_records = [
        wire.example([(b"a", wire.feature("int64", a)), (b"b", wire.feature("int64", b))]) for a, b in values
    ]
    write(tmp_path / "in", given_records)
    assert run("dedup", tmp_path / "in", tmp_path / "out", "--by", "a", "--by", "b")[0] == 0
    assert read(tmp_path / "out") == given_records


def test_a_context_feature_of_a_sequence_counts(tmp_path, run):
    given_records = [
        wire.sequence_example([(b"k", wire.feature("int64", [i % 2]))], [(b"s", [wire.feature("int64", [i])])])
        for i in range(6)
    ]
    write(tmp_path / "in", given_records)
    assert run("dedup", tmp_path / "in", tmp_path / "out", "--by", "k")[0] == 0
    assert read(tmp_path / "out") == given_records[:2]


def test_a_record_without_the_feature_is_an_error(tmp_path, run):
    write(tmp_path / "in", tf.encode_examples({"a": [[1], None, [2]]}))
    status, _, err = run("dedup", tmp_path / "in", tmp_path / "out", "--by", "a")
    assert status == 1 and f"{tmp_path}/in" in err and "record 1" in err and "'a'" in err
    assert names(tmp_path) == ["in"]


def test_a_record_that_is_no_example_is_named(tmp_path, run):
    good = tf.encode_examples({"a": [1, 2]}).tolist()
    write(tmp_path / "in", [*good, b"words"])
    status, _, err = run("dedup", tmp_path / "in", tmp_path / "out", "--by", "a")
    assert status == 1 and "text" in err and "record 2" in err and names(tmp_path) == ["in"]


def test_nan_equals_nan_and_zero_minus_zero(tmp_path, run):
    write(tmp_path / "in", tf.encode_examples({"x": np.float32([np.nan, 0.0, np.nan, -0.0])}))
    assert run("dedup", tmp_path / "in", tmp_path / "out", "--by", "x")[0] == 0
    assert len(read(tmp_path / "out")) == 2


@PEAK_IS_TOLD[0]
@PEAK_IS_TOLD[1]
def test_32_bytes_a_record_are_enough():
    code = """
import os
from tfrecord_fast.files.rewriting.deduplicating import SeenHashes
hashes, before = SeenHashes(), peak()
for _ in range(64):
    hashes.add(os.urandom(16 << 16))
assert len(hashes) == 64 << 16
print(before)
"""
    printed, peak = run_for_peak(code)
    assert peak - int(printed.split("\n")[-1]) < (64 << 16) * 32 + 30 * MIB
