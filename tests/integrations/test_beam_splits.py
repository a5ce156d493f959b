"""Beam divides files while they are read, at any byte: every record is in one part."""

import gzip
import os

import pytest

pytest.importorskip("apache_beam")

import numpy as np
from apache_beam.io.source_test_utils import (
    assert_reentrant_reads_succeed,
    assert_sources_equal_reference_source,
    assert_split_at_fraction_exhaustive,
    assert_split_at_fraction_fails,
    assert_split_at_fraction_succeeds_and_consistent,
    read_from_source,
)

import tfrecord_fast as tf
from tests.support.frames import FRAME, frames, offsets
from tfrecord_fast.integrations.beam import ReadFromTFRecord

RECORDS = [b"a", b"", b"b" * 30, frames([b"a record in a record", b"another"]), b"", b"c" * 7, b"d"]
ROWS = 40


def source_of(path, *arguments, **options):
    """The only source that a file is divided into at first, which Beam may divide further."""
    [bundle] = ReadFromTFRecord(path, *arguments, **{"compression_type": "", **options})._source.split(1 << 30)
    return bundle.source


@pytest.fixture
def path(tmp_path):
    (tmp_path / "a").write_bytes(frames(RECORDS))
    return tmp_path / "a"


@pytest.fixture
def rows(tmp_path):
    with tf.ExampleWriter(tmp_path / "rows") as writer:
        writer.write({"i": range(ROWS)})
    return tmp_path / "rows"


def numbers(batches):
    return [i for batch in batches for i in batch.column("i").to_pylist()]


def test_any_two_parts_are_the_whole(path):
    source, size = source_of(path), os.path.getsize(path)
    for place in range(size + 1):
        first, second = read_from_source(source, 0, place), read_from_source(source, place, size)
        assert first == [one for one, begin in zip(RECORDS, offsets(RECORDS), strict=False) if begin < place]
        assert first + second == RECORDS


@pytest.mark.parametrize("size", [1, 20, 40, 60, 100, 1000])
def test_what_a_file_is_divided_into_at_first(path, size):
    source = ReadFromTFRecord(path)._source
    bundles = list(source.split(size))
    assert_sources_equal_reference_source(
        (source, None, None), [(one.source, one.start_position, one.stop_position) for one in bundles]
    )
    assert sum(one.weight for one in bundles) == source.estimate_size() == os.path.getsize(path)
    assert len(bundles) == 1 if size == 1000 else len(bundles) > 1


def test_splits_at_every_fraction(path):
    assert_split_at_fraction_exhaustive(source_of(path))
    assert_reentrant_reads_succeed((source_of(path), None, None))


@pytest.mark.parametrize("features", [None, {"i": tf.io.FixedLenFeature([], tf.int64)}], ids=["bytes", "rows"])
def test_splits_of_more_records(rows, features):
    source = source_of(rows, features)
    for read in (1, 2, 7, 39):
        assert_split_at_fraction_succeeds_and_consistent(source, read, (read + 0.5) / ROWS)
        assert_split_at_fraction_fails(source, read, (read - 1.5) / ROWS)


@pytest.mark.parametrize("batch", [1, 7, 16, 100])
def test_parts_of_batches(rows, batch):
    source, size = source_of(rows, "infer", batch=batch), os.path.getsize(rows)
    for place in range(0, size + 1, 5):
        parts = numbers(read_from_source(source, 0, place)), numbers(read_from_source(source, place, size))
        assert parts[0] + parts[1] == list(range(ROWS))


@pytest.mark.parametrize("batch", [1, 7, 16, 100])
def test_splits_between_batches(rows, batch):
    """A split comes between two batches, never in what was given; the rest is in the other part."""
    source, size = source_of(rows, "infer", batch=batch), os.path.getsize(rows)
    rng = np.random.default_rng(batch)
    for fraction in rng.random(50):
        tracker = source.get_range_tracker(None, None)
        reading = source.read(tracker)
        first = [next(reading) for _ in range(rng.integers(1, -(-ROWS // batch) + 1))]
        split = tracker.try_split(tracker.position_at_fraction(fraction))
        second = [] if split is None else read_from_source(source, split[0], size)
        assert numbers([*first, *reading]) + numbers(second) == list(range(ROWS))


def test_batches_are_not_divided_by_the_records_that_the_core_gives_at_a_time(rows):
    found = read_from_source(source_of(rows, "infer", batch=25))
    assert [batch.num_rows for batch in found] == [25, 15]


@pytest.mark.parametrize(("kind", "options"), [("GZIP", {}), ("", {"on_corrupt": "skip"})], ids=["GZIP", "damaged"])
def test_what_is_not_divided(tmp_path, kind, options):
    with tf.ExampleWriter(tmp_path / "a", options=kind) as writer:
        writer.write({"i": range(ROWS)})
    source = source_of(tmp_path / "a", compression_type=kind, **options)
    assert len(list(ReadFromTFRecord(tmp_path / "a", **options)._source.split(50))) == 1
    tracker = source.get_range_tracker(None, None)
    reading = source.read(tracker)
    next(reading)
    assert tracker.try_split(100) is None and len(list(reading)) == ROWS - 1


def test_a_file_of_which_nothing_is_said_is_looked_into(path, monkeypatch):
    def end():
        return source_of(path, compression_type=None).get_range_tracker(None, None).stop_position()

    assert end() == float("inf")  # it is too small for that
    monkeypatch.setattr("tfrecord_fast.integrations.beam.access._LEAST_DIVIDED", 1)
    assert end() == os.path.getsize(path)
    assert_split_at_fraction_exhaustive(source_of(path, compression_type=None))
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert end() == float("inf")


def test_many_small_files_are_one_source_that_is_divided(tmp_path):
    for i in range(10):
        (tmp_path / str(i)).write_bytes(frames([b"%d-%d" % (i, j) for j in range(i)]))
    source = source_of(tmp_path)
    expected = [b"%d-%d" % (i, j) for i in range(10) for j in range(i)]
    assert read_from_source(source) == expected
    for read in (1, 10, 44):
        for fraction in np.linspace(0, 1, 23, endpoint=False):
            tracker = source.get_range_tracker(None, None)
            reading = source.read(tracker)
            first = [next(reading) for _ in range(read)]
            stop = tracker.stop_position()
            split = tracker.try_split(tracker.position_at_fraction(fraction))
            second = [] if split is None else read_from_source(source, split[0], stop)
            assert [*first, *reading, *second] == expected


def test_an_error_in_a_part_has_the_place_in_the_file(path):
    data, places = bytearray(path.read_bytes()), offsets(RECORDS)
    data[places[5] + 13] ^= 1
    path.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError) as caught:
        read_from_source(source_of(path), places[3], len(data))
    assert (caught.value.offset, caught.value.record_index) == (places[5], 5) and str(path) in str(caught.value)


def test_a_damaged_header_before_the_part_is_an_error(path):
    data = bytearray(path.read_bytes())
    source = source_of(path)
    data[offsets(RECORDS)[2] + 1] ^= 1
    status = os.stat(path)
    path.write_bytes(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(tf.errors.DataLossError, match=f"record 2 at byte {2 * FRAME + 1}"):
        read_from_source(source, offsets(RECORDS)[4], len(data))
