"""Files in parts: every record of every file is in one part, and in order."""

import gzip
import os
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support.frames import frames, offsets
from tfrecord_fast.errors import DataLossError, InvalidArgumentError
from tfrecord_fast.files.naming.file_part import FilePart
from tfrecord_fast.files.reading.task_splits import plan_splits


def read(parts, **options):
    reader = tf.ShardReader(list(parts), **options)
    return [record for batch in reader for record in batch.tolist()]


def records_of(splits, **options):
    return [record for split in splits for record in read(split.parts, **options)]


def numbered(sizes, mark=b""):
    return [mark + b"%07d" % i + bytes(size) for i, size in enumerate(sizes)]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.lists(st.lists(st.integers(0, 3000), max_size=60), min_size=1, max_size=5),
    split_bytes=st.integers(1, 60_000),
    threads=st.integers(1, 3),
    kinds=st.lists(st.sampled_from(["", "", "GZIP", "ZSTD"]), min_size=5, max_size=5),
)
def test_every_record_is_in_one_part(tmp_path_factory, files, split_bytes, threads, kinds):
    folder = tmp_path_factory.mktemp("files")
    expected, names = [], []
    for number, (sizes, kind) in enumerate(zip(files, kinds, strict=False)):
        names.append(str(folder / f"{number}.tfrecord"))
        records = numbered(sizes, b"%d-" % number)
        with tf.io.TFRecordWriter(names[-1], kind) as writer:
            writer.write_batch(records)
        expected += records
    splits = pickle.loads(pickle.dumps(plan_splits(names, split_bytes=split_bytes)))
    assert records_of(splits, num_threads=threads) == expected
    for split in splits:
        assert split.records in (None, len(read(split.parts)))
        reader = tf.ShardReader(list(split.parts), batch_size=7)
        assert reader.num_records == len(read(split.parts))


def test_a_large_file_is_divided_evenly(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(frames(numbered([1000] * 1000)))
    splits = plan_splits(path, split_bytes=100_000)
    assert len(splits) == 10 and [split.records for split in splits] == [100] * 10
    assert sum(split.bytes for split in splits) == path.stat().st_size
    assert str(splits[1]).startswith(f"{path}[")


def test_small_files_are_put_together(tmp_path):
    for i in range(100):
        (tmp_path / f"{i:03d}").write_bytes(frames([b"%03d" % i]))
    splits = plan_splits(tmp_path, split_bytes=190)
    assert len(splits) == 10 and [len(split.parts) for split in splits] == [10] * 10
    assert records_of(splits) == [b"%03d" % i for i in range(100)]


def test_a_file_that_is_said_not_to_be_compressed_is_as_large_as_it_is(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(frames([b"x" * 100] * 10))
    assert [split.bytes for split in plan_splits(path, compression="")] == [path.stat().st_size]
    assert sum(split.bytes for split in plan_splits(path, compression="", split_bytes=500)) == path.stat().st_size
    assert [split.bytes > path.stat().st_size for split in plan_splits(path, compression="GZIP")] == [True]


def test_a_folder_is_read_without_what_is_no_data(tmp_path):
    for name in ("b", "a", ".hidden", "_SUCCESS", "sub/c", "_tmp/d", ".git/e"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(frames([name.encode()]))
    assert records_of(plan_splits(tmp_path)) == [b"a", b"b", b"sub/c"]
    with pytest.raises(FileNotFoundError):
        plan_splits(tmp_path / "_tmp" / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no files in the folder"):
        plan_splits(tmp_path / "empty")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        plan_splits(tmp_path / "x*")


def test_an_empty_file_is_a_part_without_records(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    (splits,) = plan_splits(tmp_path / "a", split_bytes=1)
    assert read(splits.parts) == []


def test_one_record_larger_than_a_share(tmp_path):
    records = [b"a", bytes(100_000), b"b", b""]
    (tmp_path / "a").write_bytes(frames(records))
    splits = plan_splits(tmp_path / "a", split_bytes=1000)
    assert records_of(splits) == records and all(split.parts[0].records for split in splits)


@pytest.mark.parametrize("change", ["longer", "shorter", "touched", "gone"])
def test_a_file_that_has_changed_is_an_error(tmp_path, change):
    path = tmp_path / "a"
    path.write_bytes(frames(numbered([100] * 100)))
    splits = plan_splits(path, split_bytes=1000)
    if change == "gone":
        path.unlink()
    elif change == "touched":
        os.utime(path, ns=(0, 5))
    else:
        path.write_bytes(frames(numbered([100] * (101 if change == "longer" else 99))))
    with pytest.raises(FileNotFoundError if change == "gone" else OSError, match="a"):
        records_of(splits)


def part_of(path, begin, end, first):
    found = os.stat(path)
    return FilePart(str(path), found.st_size, found.st_mtime_ns, begin, end, first)


def test_errors_have_the_place_in_the_file(tmp_path):
    records = numbered([100] * 100)
    data = bytearray(frames(records))
    places = offsets(records)
    data[places[57] + 20] ^= 1
    path = tmp_path / "a"
    path.write_bytes(data)
    part = part_of(path, places[50], places[60], 50)
    with pytest.raises(DataLossError) as caught:
        read([part])
    assert str(path) in str(caught.value) and f"{places[57]}" in str(caught.value) and "57" in str(caught.value)
    assert read([part], on_corrupt="skip") == records[50:57] + records[58:60]
    assert read([part], verify_crc=False)[:7] == records[50:57]
    splits = plan_splits(path, split_bytes=1000, on_corrupt="skip")
    assert len(splits) == 1 and records_of(splits, on_corrupt="skip") == records[:57] + records[58:]


def test_a_damaged_header_is_an_error_of_the_plan(tmp_path):
    data = bytearray(frames(numbered([100] * 100)))
    data[offsets(numbered([100] * 100))[7]] ^= 1
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(DataLossError, match="a"):
        plan_splits(tmp_path / "a", split_bytes=1000)


def test_bounds_that_are_no_bounds_are_errors(tmp_path):
    records = numbered([100] * 100)
    places = offsets(records)
    path = tmp_path / "a"
    path.write_bytes(frames(records))
    with pytest.raises(DataLossError):
        read([part_of(path, places[10] + 1, places[20], 10)])
    with pytest.raises(DataLossError):
        read([part_of(path, places[10], places[20] - 1, 10)])
    with pytest.raises(DataLossError, match="has the file changed"):
        read([part_of(path, places[10], places[100] + 5, 10)])
    with pytest.raises(ValueError, match="ends before"):
        read([part_of(path, 20, 10, 10)])
    assert read([part_of(path, 0, 0, 0)]) == read([part_of(path, places[7], places[7], 7)]) == []


def test_a_compressed_file_is_no_part(tmp_path):
    with tf.io.TFRecordWriter(str(tmp_path / "a"), "GZIP") as writer:
        writer.write_batch(numbered([100] * 100))
    with pytest.raises(InvalidArgumentError, match="GZIP"):
        read([part_of(tmp_path / "a", 0, 100, 0)])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_threads": 3},
        {"shuffle_buffer": 50, "seed": 3},
        {"shuffle_files": True, "seed": 3, "num_epochs": 2},
        {"cycle_length": 3, "block_length": 2},
    ],
    ids=str,
)
def test_parts_resume_anywhere(tmp_path, options):
    records = numbered([100] * 90)
    (tmp_path / "a").write_bytes(frames(records))
    (tmp_path / "b").write_bytes(frames(records[:5]))
    parts = [part for split in plan_splits([tmp_path / "a"], split_bytes=2000) for part in split.parts]
    files = [*parts[2:5], str(tmp_path / "b")]
    expected = [batch.tolist() for batch in tf.ShardReader(files, batch_size=4, **options)]
    flat = [record for batch in expected for record in batch]
    first, last = parts[2].first_record, parts[4].first_record + parts[4].records
    assert sorted(flat) == sorted((records[first:last] + records[:5]) * options.get("num_epochs", 1))
    states = []
    for number in range(len(expected)):
        reader = tf.ShardReader(files, batch_size=4, **options)
        running = iter(reader)
        for _ in range(number):
            next(running)
        state = reader.state_dict()
        again = tf.ShardReader(files, batch_size=4, **options)
        again.load_state_dict(state)
        assert [batch.tolist() for batch in again] == expected[number:]
        states.append(state)
    other = tf.ShardReader([*parts[1:4], str(tmp_path / "b")], batch_size=4, **options)
    with pytest.raises(ValueError, match="list of files differs"):
        other.load_state_dict(states[1])
        list(other)


def test_shards_of_parts(tmp_path):
    records = numbered([100] * 90)
    (tmp_path / "a").write_bytes(frames(records))
    parts = [part for split in plan_splits([tmp_path / "a"], split_bytes=2000) for part in split.parts][1:3]
    expected = read(parts)
    for by in ("record", "file"):
        for n in (1, 2):
            found = [read(parts, shard=(i, n), shard_by=by, batch_size=3) for i in range(n)]
            assert sorted(record for one in found for record in one) == expected
            if by == "record":
                equal = [
                    tf.ShardReader(parts, shard=(i, n), shard_by=by, batch_size=3, equal_shards="drop")
                    for i in range(n)
                ]
                assert len({len(list(one)) for one in equal}) == 1


def test_columns_of_parts(tmp_path):
    path = str(tmp_path / "a")
    with tf.ExampleWriter(path) as writer:
        writer.write({"id": np.arange(1000), "x": np.random.default_rng(0).random((1000, 3), np.float32)})
    whole = tf.read_table(path)
    tables = [tf.read_table(list(split.parts)) for split in plan_splits(path, split_bytes=5000)]
    assert len(tables) > 5 and [row for table in tables for row in table.to_pylist()] == whole.to_pylist()


def test_what_can_not_be_opened_elsewhere(tmp_path):
    with pytest.raises(TypeError, match="only paths and URLs"):
        plan_splits(memoryview(b"x"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TypeError, match="not a regular file"):
        plan_splits(tmp_path / "pipe")
    (tmp_path / "a").write_bytes(frames([b"x"]))
    (split,) = plan_splits(tmp_path / "a")
    with pytest.raises(TypeError, match="only a path supports random access"):
        tf.IndexedReader(list(split.parts))[0]


@pytest.mark.parametrize("by", ["rename", "in place"])
@pytest.mark.parametrize("split_bytes", [1 << 30, 2000])
def test_a_file_that_changes_while_others_are_read_is_an_error(tmp_path, by, split_bytes):
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(frames(numbered([1_000_000] * 100)))
    old, new = numbered([100] * 100), numbered([100] * 100, b"x")[:100]
    second.write_bytes(frames(old))
    parts = [part for split in plan_splits([first, second], split_bytes=split_bytes) for part in split.parts]
    running = iter(tf.ShardReader(parts, num_threads=1, batch_size=1))
    found = [next(running).tolist()[0]]
    content = frames([record[:-1] for record in new])
    assert len(content) == second.stat().st_size
    if by == "rename":
        (tmp_path / "c").write_bytes(content)
        os.replace(tmp_path / "c", second)
    else:
        second.write_bytes(content)
    with pytest.raises(OSError, match="has changed") as caught:
        for batch in running:
            found += batch.tolist()
    assert caught.value.errno == 116 and caught.value.filename == str(second) and len(found) == 100


def test_links_are_followed_and_what_can_not_be_read_is_told(tmp_path):
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x").write_bytes(frames([b"x"]))
    (tmp_path / "in" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "in" / "sub" / "round").symlink_to(tmp_path / "in")
    assert records_of(plan_splits(tmp_path / "in")) == [b"x"]
    assert records_of(plan_splits(f"{tmp_path}/i*")) == [b"x"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="only folders"):
        plan_splits(f"{tmp_path}/em*")


def test_a_folder_that_can_not_be_read_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a").write_bytes(frames([b"x"]))
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("sub"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(PermissionError, match="sub"):
        plan_splits(tmp_path)


def test_batches_of_a_part_fit_its_records(tmp_path):
    for name, count, size in (("small", 5_000, 10), ("large", 20, 1 << 20)):
        with tf.ExampleWriter(tmp_path / name) as writer:
            writer.write({"a": [bytes(size)] * count})
    features = {"a": tf.io.FixedLenFeature([], tf.string)}
    for name, most in (("small", 5_000), ("large", 16)):
        (split,) = plan_splits(tmp_path / name)
        assert max(batch.num_rows for batch in tf.read_batches(list(split.parts), features)) == most


def write(path, rows, **columns):
    with tf.ExampleWriter(path) as writer:
        writer.write({name: make(np.arange(rows)) for name, make in columns.items()})
    return str(path)


@pytest.mark.parametrize("equal", [None, "drop", "pad"])
@pytest.mark.parametrize("parts", [2, 3])
def test_parts_of_files_are_counted_by_the_numbers_of_their_records(tmp_path, parts, equal):
    """Where records are divided, the number of a record is that in its whole file, within which a part begins."""
    path = write(tmp_path / "f.tfrecord", 40, a=lambda i: i)
    index = tf.IndexedReader(path)
    size = os.path.getsize(path) // 40
    assert len(index) == 40 and os.path.getsize(path) == 40 * size
    stamp = os.stat(path).st_mtime_ns
    cuts = [(1, 4), (4, 11), (17, 40)]
    files = [FilePart(path, 40 * size, stamp, a * size, b * size, a, b - a) for a, b in cuts]
    features = {"a": tf.io.FixedLenFeature([], tf.int64)}
    seen = []
    for part in range(parts):
        given = {"shard": (part, parts), "shard_by": "record", "batch_size": 1, "equal_shards": equal}
        reader = tf.ShardReader(files, features, **given)
        rows = [int(one) for batch in reader for one in batch["a"]]
        assert len(reader) == len(rows)
        seen += rows
    everything = [row for a, b in cuts for row in range(a, b)]
    assert sorted(seen) == everything if equal is None else len(seen) % parts == 0


def test_a_compressed_file_with_an_index_is_divided(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    records = [rng.integers(0, 64, rng.integers(0, 2000)).astype(np.uint8).tobytes() for _ in range(8000)]
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(frames(records), 1))
    assert len(plan_splits(path, split_bytes=1 << 20)) == 1
    tf.RecordIndex.build(path)
    splits = pickle.loads(pickle.dumps(plan_splits(path, split_bytes=1 << 20)))
    assert len(splits) == round(len(frames(records)) / (1 << 20))
    assert [len(read(split.parts)) for split in splits] == [split.records for split in splits]
    assert records_of(splits, num_threads=2) == records
    assert records_of(splits, shuffle_buffer=50, seed=1) != records
    assert len(pickle.dumps(splits[3])) < 10_000

    reader = tf.ShardReader(list(splits[2].parts), batch_size=100, shuffle_buffer=300, seed=2)
    iterator = iter(reader)
    for _ in range(4):
        next(iterator)
    state, rest = reader.state_dict(), [batch.tolist() for batch in iterator]
    reader.load_state_dict(state)
    assert [batch.tolist() for batch in reader] == rest

    path.write_bytes(gzip.compress(frames(records), 2))
    with pytest.raises(OSError, match="changed since it was divided"):
        read(splits[0].parts)


def test_a_cached_index_obeys_the_largest_record(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(frames([os.urandom(2 << 20), b"x"]), 1))
    assert len(tf.RecordIndex.build(path)) == 2
    with pytest.raises(DataLossError, match=r"max_record_bytes is 1000 \(record 0 at byte 0\)"):
        tf.RecordIndex.build(path, max_record_bytes=1000)
    with pytest.raises(DataLossError, match=r"max_record_bytes is 1000 \(record 0 at byte 0\)"):
        len(tf.IndexedReader(path, max_record_bytes=1000))
