"""How long a ShardReader is: `len`, `num_records`, equal shards, what is kept of the counts, and `repr`."""

import itertools
import json
import os
import pickle
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support.frames import frames
from tfrecord_fast.files.reading import record_counts

SIZES = [0, 5, 17, 3, 40, 1, 0, 9]
COMPRESSIONS = {2: "GZIP", 4: "ZSTD"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lengths")
    for file, size in enumerate(SIZES):
        with tf.io.TFRecordWriter(folder / f"{file}.tfrecord", COMPRESSIONS.get(file)) as writer:
            writer.write_batch([b"%d-%d" % (file, i) for i in range(size)])
    return folder


@pytest.fixture(scope="module")
def files(folder):
    return str(folder / "*.tfrecord")


def batches(reader):
    return [batch.tolist() for batch in reader]


def flat(found):
    return [record for batch in found for record in batch]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames([bytes(10)] * 100))
    return path


ARGUMENTS = st.fixed_dictionaries(
    {
        "batch_size": st.integers(1, 30),
        "drop_remainder": st.booleans(),
        "num_epochs": st.integers(0, 3),
        "shard_by": st.sampled_from(["auto", "file", "record"]),
        "equal_shards": st.sampled_from([None, "drop", "pad"]),
        "shuffle_buffer": st.sampled_from([0, 10]),
        "shuffle_files": st.booleans(),
        "cycle_length": st.integers(1, 3),
    }
)
ONE_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)


# ---- Lengths ----


@given(ARGUMENTS, st.integers(1, 12), st.data())
@ONE_FOLDER
def test_what_is_said_is_what_comes(files, arguments, parts, data):
    part = data.draw(st.integers(0, parts - 1))
    reader = tf.ShardReader(files, shard=(part, parts), num_threads=1, **arguments)
    found = batches(reader)
    assert [len(reader), reader.num_records] == [len(found), len(flat(found))]


def test_a_length_does_not_begin_an_epoch(files):
    reader = tf.ShardReader(files, batch_size=8)
    assert len(reader) == 10 and reader.num_records == 75 and reader.epoch == 0


def test_a_reader_is_true_without_being_counted(tmp_path):
    assert tf.ShardReader(str(tmp_path / "none"))


def test_no_epochs_have_no_records(files):
    assert len(tf.ShardReader(files, num_epochs=0)) == 0


@pytest.mark.parametrize("num_epochs", [None, -1])
def test_an_endless_reader_has_no_length_but_epochs_have(files, num_epochs):
    reader = tf.ShardReader(files, num_epochs=num_epochs)
    with pytest.raises(TypeError, match="an endless reader has no length"):
        len(reader)
    assert reader.num_records == 75


def test_a_file_given_twice_counts_twice(folder):
    assert tf.ShardReader([str(folder / "1.tfrecord")] * 3).num_records == 15


def test_the_parts_of_many_are_counted(files):
    parts = 2**62
    readers = [tf.ShardReader(files, shard=(part, parts)) for part in (0, 1, 9, parts - 1)]
    assert [reader.num_records for reader in readers] == [0, 1, 3, 0] == [len(flat(batches(one))) for one in readers]


def test_memory_is_counted(folder):
    assert tf.ShardReader([bytearray((folder / "1.tfrecord").read_bytes())], batch_size=2).num_records == 5


def test_files_without_a_path_are_counted_one_by_one(folder):
    files = [bytearray((folder / f"{i}.tfrecord").read_bytes()) for i in range(3)]
    counts = [tf.ShardReader([file]).num_records for file in files]
    assert len(set(counts)) > 1 and tf.ShardReader(files).num_records == sum(counts)


def test_damage_that_is_skipped_does_not_count(tmp_path):
    data = bytearray(frames([b"%02d" % i for i in range(50)]))
    data[12 + 18 * 7] ^= 1  # the data of number 7
    (tmp_path / "a").write_bytes(data)
    reader = tf.ShardReader(str(tmp_path / "a"), on_corrupt="skip")
    assert reader.num_records == 49 == len(flat(batches(reader)))
    (tmp_path / "a").write_bytes(data[:100])
    with pytest.raises(tf.DataLossError):
        len(tf.ShardReader(str(tmp_path / "a")))


@pytest.mark.parametrize("on_corrupt", ["skip", "skip_file"])
@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    flips=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 18 * 20 - 1)), min_size=1, max_size=4),
    parts=st.integers(2, 5),
    equal=st.sampled_from([None, "drop", "pad"]),
    batch_size=st.integers(1, 4),
)
def test_each_part_of_damaged_files_has_its_length(tmp_path, on_corrupt, flips, parts, equal, batch_size):
    files = [bytearray(frames([b"%d%c" % (file, 97 + i) for i in range(20)])) for file in range(3)]
    for file, place in flips:
        files[file][place] ^= 1
    paths = [tmp_path / str(file) for file in range(3)]
    for path, data in zip(paths, files, strict=True):
        path.write_bytes(data)
    options = {"on_corrupt": on_corrupt, "shard_by": "record", "batch_size": batch_size}
    given, own = [], []
    for part in range(parts):
        reader = tf.ShardReader(paths, shard=(part, parts), equal_shards=equal, **options)
        given.append(batches(reader))
        assert len(reader) == len(given[-1]) and reader.num_records == len(flat(given[-1]))
        own.append(flat(batches(tf.ShardReader(paths, shard=(part, parts), **options))))
    if equal is not None:
        lengths = [-(-len(records) // batch_size) for records in own]
        assert {len(found) for found in given} == {min(lengths) if equal == "drop" else max(lengths)}
    for found, records in zip(given, own, strict=True):
        same = min(len(flat(found)), len(records))
        assert flat(found)[:same] == records[:same] and (equal == "drop" or same == len(records))


def test_what_can_be_read_once_is_not_counted(tmp_path, files):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TypeError, match="not a regular file"):
        len(tf.ShardReader(str(tmp_path / "pipe")))
    with open(os.path.join(os.path.dirname(files), "4.tfrecord"), "rb") as file:
        reader = tf.ShardReader(file)
        with pytest.raises(TypeError, match="file object"):
            len(reader)
        assert len(flat(batches(reader))) == 40


def test_a_file_that_grows_is_counted_again(path):
    reader = tf.ShardReader(str(path))
    assert reader.num_records == 100
    with open(path, "ab") as file:
        file.write(frames([b"more"]))
    assert reader.num_records == 101


def test_a_file_whose_time_was_set_back_is_counted_again(path, tmp_path):
    (tmp_path / "kept").mkdir()
    reader = tf.ShardReader(str(path), index_cache=tmp_path / "kept")
    shuffled = tf.ShardReader(str(path), global_shuffle=True, seed=1)
    assert reader.num_records == shuffled.num_records == len(flat(batches(shuffled))) == 100
    before = path.stat()
    (tmp_path / "new").write_bytes(frames([bytes(10 * 100 + 16 * 99)]))
    os.utime(tmp_path / "new", ns=(before.st_atime_ns, before.st_mtime_ns))
    (tmp_path / "new").rename(path)
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert reader.num_records == shuffled.num_records == len(flat(batches(shuffled))) == 1
    assert tf.ShardReader(str(path), index_cache=tmp_path / "kept").num_records == 1


# ---- Counts that are kept ----


@pytest.fixture
def counted(monkeypatch):
    """The files whose records have really been counted."""
    seen = []
    count = record_counts.RecordCounts._count
    monkeypatch.setattr(
        record_counts.RecordCounts, "_count", lambda self, files: seen.extend(files) or count(self, files)
    )
    return seen


def test_a_reader_counts_once(path, counted):
    reader = tf.ShardReader(str(path), batch_size=10)
    assert [len(reader), len(reader), reader.num_records] == [10, 10, 100]
    assert len(pickle.loads(pickle.dumps(reader))) == 10
    assert len(counted) == 1


@pytest.fixture
def cache(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder / "tfrecord_fast" / "counts"


def test_counts_of_large_files_are_kept_in_the_users_cache(path, counted, cache, monkeypatch):
    assert len(tf.ShardReader(str(path), batch_size=10)) == 10
    assert os.listdir(path.parent) == ["a.tfrecord"]
    monkeypatch.setattr(record_counts, "_WORTH_KEEPING", 1000)
    del counted[:]
    for _ in range(2):
        assert len(tf.ShardReader(str(path), batch_size=10)) == 10
    assert len(counted) == 1 and os.listdir(path.parent) == ["a.tfrecord"]
    assert [name.partition(".")[0] for name in os.listdir(cache)] == ["a"]
    assert len(flat(batches(tf.ShardReader(str(path.parent / "*"))))) == 100
    del counted[:]
    assert len(tf.ShardReader(str(path), batch_size=10, index_cache=False)) == 10 and len(counted) == 1


@pytest.mark.parametrize("trap", ["link", "pipe", "sparse"])
def test_traps_in_a_folder_of_counts_are_left_alone(path, tmp_path, counted, trap):
    (tmp_path / "kept").mkdir()
    reader = lambda: tf.ShardReader(str(path), batch_size=10, index_cache=tmp_path / "kept")  # noqa: E731
    len(reader())
    (count,) = (tmp_path / "kept").iterdir()
    text = count.read_text()
    count.unlink()
    other = tmp_path / "other"
    other.write_text(text.replace("100", "777"))
    if trap == "link":
        count.symlink_to(other)
    elif trap == "pipe":
        os.mkfifo(count)
    else:
        with count.open("wb") as file:
            file.truncate(1 << 40)
    assert len(reader()) == len(reader()) == 10
    assert other.read_text() == text.replace("100", "777") and count.read_text() == text and not count.is_symlink()


def test_counts_are_kept_where_told(path, tmp_path, counted):
    (tmp_path / "kept").mkdir()
    for _ in range(2):
        assert len(tf.ShardReader(str(path), batch_size=10, index_cache=tmp_path / "kept")) == 10
    assert len(counted) == 1 and len(os.listdir(tmp_path / "kept")) == 1


@pytest.mark.parametrize(
    "change", [{"bytes": 1}, {"mtime_ns": 1}, {"ctime_ns": 1}, {"records": -3}, {"records": "x"}, {"version": 0}]
)
def test_a_count_that_does_not_fit_is_not_believed(path, tmp_path, counted, change):
    (tmp_path / "kept").mkdir()
    make = lambda: tf.ShardReader(str(path), index_cache=tmp_path / "kept")  # noqa: E731
    len(make())
    (kept,) = (tmp_path / "kept").iterdir()
    kept.write_text(json.dumps({**json.loads(kept.read_text()), **change}))
    assert make().num_records == 100 and make().num_records == 100 and len(counted) == 2
    kept.write_bytes(b"\xff")
    assert make().num_records == 100 and len(counted) == 3


def test_a_limit_that_was_not_there_is_looked_at(path, tmp_path):
    (tmp_path / "kept").mkdir()
    len(tf.ShardReader(str(path), index_cache=tmp_path / "kept"))
    with pytest.raises(tf.DataLossError):
        len(tf.ShardReader(str(path), index_cache=tmp_path / "kept", max_record_bytes=5))


def test_a_folder_that_cannot_be_written_to_is_no_error(path, tmp_path):
    assert tf.ShardReader(str(path), index_cache=tmp_path / "none" / "such").num_records == 100


# ---- Equal shards ----


@given(ARGUMENTS, st.integers(1, 12))
@ONE_FOLDER
def test_all_parts_have_the_same_number_of_batches(files, arguments, parts):
    found = {}
    for mode in (None, "drop", "pad"):
        given = {**arguments, "equal_shards": mode}
        readers = [tf.ShardReader(files, shard=(i, parts), seed=3, num_threads=1, **given) for i in range(parts)]
        found[mode] = [batches(reader) for reader in readers]
    if arguments["shard_by"] != "auto":
        lengths = [len(part) for part in found[None]]
        assert {len(part) for part in found["drop"]} == {min(lengths)}
        assert {len(part) for part in found["pad"]} == {max(lengths)}
        for plain, dropped, padded in zip(*found.values(), strict=True):
            assert dropped == plain[: len(dropped)]
            assert flat(plain) == flat(padded)[: len(flat(plain))] or arguments["drop_remainder"]
            assert set(flat(padded)) <= set(flat(plain)) or not plain or arguments["drop_remainder"]
    for mode in ("drop", "pad"):
        assert len({len(part) for part in found[mode]}) == 1


@pytest.mark.parametrize("equal", ["drop", "pad"])
@pytest.mark.parametrize("deterministic", [True, False])
def test_equal_parts_come_in_order_whichever_batch_is_parsed_first(tmp_path, deterministic, equal):
    """A part that ends after so many batches counts them in their order. Each fourth takes much longer than the next
    ones, so that without an order these come first: not each time, but in more than one of ten."""
    rows, size = 800, 10
    with tf.ExampleWriter(tmp_path / "a") as writer:
        lengths = np.where(np.arange(rows) // (2 * size) % 4 == 0, 20_000, 1)
        writer.write({"id": np.arange(rows), "x": [np.arange(length) for length in lengths]})
    features = {"id": tf.io.FixedLenFeature([], tf.int64), "x": tf.io.VarLenFeature(tf.int64)}
    given = {"shard_by": "record", "batch_size": size, "equal_shards": equal, "deterministic": deterministic}
    for part in [0, 1] * 20:
        reader = tf.ShardReader(tmp_path / "a", features, shard=(part, 2), num_threads=4, **given)
        found = [int(one) for batch in reader for one in batch["id"]]
        assert found == [*range(part, rows, 2)]


def test_files_are_divided_if_that_is_even_and_records_if_not(tmp_path):
    def uneven(sizes):
        for file, size in enumerate(sizes):
            (tmp_path / f"{file}").write_bytes(frames([b"%d-%d" % (file, i) for i in range(size)]))
        return [tf.ShardReader(str(tmp_path / "?"), shard=(i, 2), equal_shards="drop", batch_size=10) for i in (0, 1)]

    assert {record[:1] for record in flat(batches(uneven([100, 105, 100, 100])[0]))} == {b"0", b"2"}
    one, other = map(batches, uneven([100, 10, 100, 10]))
    assert {record[:1] for record in flat(one)} == {b"0", b"1", b"2", b"3"}
    assert len(one) == len(other) == 11 and not set(flat(one)) & set(flat(other))


def test_what_is_padded_is_what_the_next_epoch_begins_with(files):
    given = {"shard_by": "file", "batch_size": 4, "shuffle_buffer": 9, "seed": 1}
    for part in range(3):
        padded = tf.ShardReader(files, shard=(part, 3), equal_shards="pad", **given)
        runs_on = flat(batches(tf.ShardReader(files, shard=(part, 3), num_epochs=20, **given)))
        found = flat(batches(padded))
        assert found == runs_on[: len(found)] and padded.epoch == 1


def test_a_part_without_records_is_padded_with_the_whole(tmp_path):
    (tmp_path / "a").write_bytes(frames([b"%d" % i for i in range(3)]))
    (tmp_path / "b").write_bytes(frames([]))
    found = [
        flat(batches(tf.ShardReader(str(tmp_path / "?"), shard=(i, 2), shard_by="file", equal_shards="pad")))
        for i in (0, 1)
    ]
    assert found[0] == [b"0", b"1", b"2"]
    assert len(found[1]) == 1024 and set(found[1]) == set(found[0])
    endless = tf.ShardReader(
        str(tmp_path / "?"), shard=(1, 2), shard_by="file", equal_shards="pad", num_epochs=None, batch_size=2
    )
    assert flat(batches(itertools.islice(endless, 2))) == [b"0", b"1", b"2", b"0"]
    dropped = tf.ShardReader(str(tmp_path / "?"), shard=(0, 2), shard_by="file", equal_shards="drop", num_epochs=None)
    assert batches(dropped) == []


@given(ARGUMENTS, st.integers(1, 10), st.data())
@ONE_FOLDER
def test_equal_parts_are_resumed_exactly(files, arguments, parts, data):
    equal, part = data.draw(st.sampled_from(["drop", "pad"])), data.draw(st.integers(0, parts - 1))

    def make():
        return tf.ShardReader(files, shard=(part, parts), **{**arguments, "equal_shards": equal, "seed": 2})

    reader = make()
    for _ in range(data.draw(st.integers(0, 1))):
        batches(reader)
    whole, states = [], []
    for batch in reader:
        whole.append(batch.tolist())
        states.append(json.dumps(reader.state_dict()))
    following = batches(reader)
    if states:
        done = data.draw(st.integers(1, len(states)))
        resumed = make()
        resumed.load_state_dict(json.loads(states[done - 1]))
        assert batches(resumed) == whole[done:]
        assert batches(resumed) == following


@pytest.mark.parametrize(
    "other", [{"equal_shards": None}, {"equal_shards": "pad"}, {"equal_shards": "drop", "shard": (1, 3)}], ids=str
)
def test_a_state_of_other_shards_is_refused(files, other):
    reader = tf.ShardReader(files, shard=(0, 3), shard_by="record", equal_shards="drop", batch_size=4)
    next(iter(reader))
    state = reader.state_dict()
    resumed = tf.ShardReader(files, **{"shard": (0, 3), "shard_by": "record", "batch_size": 4, **other})
    resumed.load_state_dict(state)
    with pytest.raises(ValueError, match="the saved state is of another reader"):
        iter(resumed)


@pytest.mark.parametrize("given", [None, -1, 10**6, "1"])
def test_a_state_that_was_given_an_impossible_number_is_refused(files, given):
    reader = tf.ShardReader(files, shard=(0, 3), equal_shards="drop", batch_size=4)
    next(iter(reader))
    with pytest.raises(ValueError, match="the number of batches is missing"):
        reader.load_state_dict({**reader.state_dict(), "given": given})


def test_files_that_shrink_after_counting_are_an_error(path):
    reader = tf.ShardReader(str(path), equal_shards="drop", batch_size=10)
    found = iter(reader)
    os.truncate(path, 26 * 50)
    with pytest.raises(tf.errors.TFRecordError):
        list(found)


def test_another_thread_finds_the_end_of_equal_shards_too(files):
    batches = iter(tf.ShardReader(files, shard=(0, 3), equal_shards="drop", batch_size=4))
    assert list(batches)
    found = []
    thread = threading.Thread(target=lambda: found.append(next(batches, "the end")), daemon=True)
    thread.start()
    thread.join(30)
    assert found == ["the end"]  # and not a lock that the first thread has kept


def test_too_many_parts_cannot_be_made_equal(files):
    with pytest.raises(tf.errors.InvalidArgumentError, match="equal_shards supports at most"):
        iter(tf.ShardReader(files, shard=(0, 2**40), equal_shards="pad"))


@pytest.mark.parametrize("equal", ["even", True, ""])
def test_other_ways_to_be_equal_are_refused(files, equal):
    with pytest.raises(tf.errors.InvalidArgumentError, match="equal_shards must be None"):
        tf.ShardReader(files, equal_shards=equal)


# ---- What it says ----


def test_a_reader_says_what_it_will_do(files, folder):
    text = repr(tf.ShardReader(str(folder / "1.tfrecord")))
    assert text == f"<ShardReader of {str(folder / '1.tfrecord')!r}, records, epoch 0>" or "…" in text
    reader = tf.ShardReader(
        ["a", "b"],
        {"x": tf.io.FixedLenFeature([], tf.int64)},
        batch_size=8,
        drop_remainder=True,
        cycle_length=2,
        shuffle_files=True,
        shuffle_buffer=100,
        seed=7,
        num_epochs=2,
        shard=(1, 4),
        equal_shards="pad",
    )
    reader.set_epoch(3)
    assert repr(reader) == (
        "<ShardReader of 2 files, 1 feature, batch_size=8, drop_remainder=True, cycle_length=2, shuffle_files=True, "
        "shuffle_buffer=100, seed=7, num_epochs=2, equal_shards='pad', shard 1 of 4, epoch 3>"
    )
    assert "num_epochs=-1, deterministic=False" in repr(tf.ShardReader("none", num_epochs=None, deterministic=False))
    assert "features to be inferred" in repr(tf.ShardReader("none", "infer"))
