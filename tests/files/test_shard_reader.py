"""ShardReader: order, completeness, resuming, damage, life cycle."""

import gzip
import itertools
import json
import os
import pickle
import random
import struct
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import frames
from tests.support import wire_writer as wire
from tests.support.shards import make_files
from tests.support.threads import settled, thread_count
from tfrecord_fast.files.reading import feature_lists


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("shards"), 7)


def arguments(draw):
    return {
        "batch_size": draw.choice([1, 3, 32, 100]),
        "drop_remainder": draw.random() < 0.3,
        "cycle_length": draw.choice([1, 1, 2, 3, 9]),
        "block_length": draw.choice([1, 2, 7]),
        "num_epochs": draw.choice([1, 2, 3]),
        "shuffle_files": draw.random() < 0.5,
        "shuffle_buffer": draw.choice([0, 0, 1, 10, 100, 5000]),
        "seed": draw.randrange(100),
        "shard": draw.choice([(0, 1), (0, 1), (1, 3), (2, 9)]),
    }


def batches(paths, **given):
    return [batch.tolist() for batch in tf.ShardReader(paths, **given)]


@pytest.mark.parametrize("seed", range(25))
def test_order_is_the_same_with_any_number_of_threads(files, seed):
    given = arguments(random.Random(seed))
    first = batches(files[0], num_threads=1, **given)
    assert all(batches(files[0], num_threads=n, **given) == first for n in (2, 3, 8))


@pytest.mark.parametrize("seed", range(25))
def test_resuming_gives_what_the_uninterrupted_run_gives(files, seed):
    draw = random.Random(seed)
    given = arguments(draw)
    whole = batches(files[0], **given)
    for stop in {0, len(whole), *(draw.randrange(len(whole) + 1) for _ in range(4))}:
        reader = tf.ShardReader(files[0], num_threads=2, **given)
        iterator = iter(reader)
        head = [next(iterator).tolist() for _ in range(stop)]
        state = json.loads(json.dumps(reader.state_dict()))
        resumed = tf.ShardReader(files[0], num_threads=3, **given)
        resumed.load_state_dict(state)
        assert head + [batch.tolist() for batch in resumed] == whole


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 8, 20])
@pytest.mark.parametrize("shard_by", ["auto", "file", "record"])
def test_shards_together_are_the_whole(files, parts, shard_by):
    paths, records = files
    got = []
    for part in range(parts):
        for batch in batches(paths, shard=(part, parts), shard_by=shard_by, shuffle_files=True, shuffle_buffer=9):
            got += batch
    assert sorted(got) == sorted(record for mine in records for record in mine)


def test_each_epoch_is_complete_and_in_another_order(files):
    paths, records = files
    everything = sorted(record for mine in records for record in mine)
    order = [r for batch in batches(paths, shuffle_buffer=50, seed=1, num_epochs=2) for r in batch]
    half = len(everything)
    assert sorted(order[:half]) == everything == sorted(order[half:]) and order[:half] != order[half:]


def test_the_same_seed_gives_the_same_order_and_another_another(files):
    once, again, other = (batches(files[0], shuffle_buffer=50, seed=seed) for seed in (1, 1, 2))
    assert once == again != other


def test_not_in_order_is_complete(files):
    got = [r for batch in batches(files[0], deterministic=False, num_threads=4, batch_size=7) for r in batch]
    assert sorted(got) == sorted(record for mine in files[1] for record in mine)


@pytest.mark.parametrize("features", [None, {"x": tf.VarLenFeature(tf.int64)}])
def test_any_order_shuffled_has_every_record_once(tmp_path, features):
    """Batches are passed on in a different order than they were shuffled in."""
    paths = [tmp_path / str(i) for i in range(4)]
    for i, path in enumerate(paths):
        with tf.ExampleWriter(path) as writer:
            writer.write({"x": np.arange(1000) + 1000 * i})
    for buffer in (1, 300, 10_000):
        reader = tf.ShardReader(
            paths,
            features,
            batch_size=50,
            shuffle_files=True,
            shuffle_buffer=buffer,
            deterministic=False,
            num_threads=3,
            num_epochs=5,
        )
        rows = [tf.parse_example(b, {"x": tf.VarLenFeature(tf.int64)}) if features is None else b for b in reader]
        found = np.concatenate([row["x"].values for row in rows])
        assert np.array_equal(np.sort(found), np.repeat(np.arange(4000), 5))


def test_state_of_other_arguments_is_refused(files):
    state = tf.ShardReader(files[0], batch_size=2, seed=0)
    next(iter(state))
    other = tf.ShardReader(files[0], batch_size=3, seed=0)
    other.load_state_dict(state.state_dict())
    with pytest.raises(ValueError, match="batch_size was 2, is 3"):
        next(iter(other))


BROKEN = [b"%04d" % i * 20 for i in range(1000)]
FRAME = 16 + 80


@pytest.fixture
def broken(tmp_path):
    """A file of 1,000 records, of which number 300 is damaged."""
    data = bytearray(frames.frames(BROKEN))
    data[FRAME * 300 + 50] ^= 1
    (tmp_path / "broken").write_bytes(data)
    return tmp_path / "broken"


def test_one_broken_record_is_named(broken):
    with pytest.raises(tf.DataLossError) as caught:
        batches(broken)
    assert (caught.value.record_index, caught.value.offset) == (300, FRAME * 300)


def test_one_broken_record_is_skipped(broken):
    reader = tf.ShardReader(broken, on_corrupt="skip")
    assert [r for batch in reader for r in batch.tolist()] == BROKEN[:300] + BROKEN[301:]
    assert [(skipped.offset, skipped.bytes) for skipped in reader.skipped] == [(FRAME * 300, FRAME)]


def test_the_rest_of_a_file_is_skipped_from_its_broken_record_on(broken):
    reader = tf.ShardReader(broken, on_corrupt="skip_file")
    assert [r for batch in reader for r in batch.tolist()] == BROKEN[:300]
    assert sum(skipped.bytes for skipped in reader.skipped) == FRAME * 700


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "GZIP"])
def test_noise_loses_only_what_it_covers(tmp_path, seed, pack):
    draw = random.Random(seed)
    records = [b"%d:" % i + draw.randbytes(draw.randrange(300)) for i in range(400)]
    data = bytearray(frames.frames(records))
    start = draw.randrange(len(data))
    stop = min(len(data), start + draw.randrange(1, 5000))
    data[start:stop] = bytes(b ^ 0x5A for b in data[start:stop])
    (tmp_path / "noisy").write_bytes(pack(data))
    reader = tf.ShardReader(tmp_path / "noisy", on_corrupt="skip", batch_size=16)
    got = [r for batch in reader for r in batch.tolist()]
    places = itertools.pairwise(frames.offsets(records))
    assert got == [r for r, (begin, end) in zip(records, places, strict=True) if end <= start or begin >= stop]
    assert sum(skipped.bytes for skipped in reader.skipped) == len(data) - sum(16 + len(r) for r in got)


def test_dropped_half_way_leaves_no_thread(files):
    before = thread_count()
    for _ in range(100):
        iterator = iter(tf.ShardReader(files[0], num_threads=4, batch_size=5))
        next(iterator)
        del iterator
    assert settled(before)


def test_pickles_and_starts_at_the_beginning(files):
    reader = pickle.loads(pickle.dumps(tf.ShardReader(files[0], batch_size=9)))
    assert [batch.tolist() for batch in reader] == batches(files[0], batch_size=9)


def example(value):
    packed = struct.pack("<f", value)
    floats = b"\x12\x06\x0a\x04" + packed
    entry = b"\x0a\x01x\x12" + bytes([len(floats)]) + floats
    entry = b"\x0a" + bytes([len(entry)]) + entry
    return b"\x0a" + bytes([len(entry)]) + entry


def test_sequence_examples(tmp_path):
    path = str(tmp_path / "sequences")
    steps = [[b"\x1a\x03\n\x01" + bytes([step]) for step in range(row % 4)] for row in range(10)]
    ids = [wire.feature("int64", [row]) for row in range(10)]
    records = [wire.sequence_example([(b"id", ids[row])], [(b"s", steps[row])]) for row in range(10)]
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(records)
    features = ({"id": tf.FixedLenFeature([], tf.int64)}, {"s": tf.FixedLenSequenceFeature([], tf.int64)})
    parts = list(tf.ShardReader(path, features, batch_size=4))
    assert [context["id"].tolist() for context, _, _ in parts] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    for part, (_, lists, lengths) in enumerate(parts):
        same = tf.parse_sequence_example(records[4 * part : 4 * part + 4], *features)
        assert lists["s"].tolist() == same[1]["s"].tolist() and lengths["s"].tolist() == same[2]["s"].tolist()


X = {"x": tf.FixedLenFeature([], tf.float32)}


@pytest.fixture
def ten_examples(tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "examples") as writer:
        writer.write_batch([example(i) for i in range(10)])
    return str(tmp_path / "examples")


@pytest.mark.parametrize("features", [X, "infer"], ids=["given", "inferred"])
def test_batches_are_columns_if_features_are_given(ten_examples, features):
    parts = [columns["x"].tolist() for columns in tf.ShardReader(ten_examples, features, batch_size=4)]
    assert parts == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_a_label_is_taken_out_of_the_columns(ten_examples):
    rest, label = next(iter(tf.ShardReader(ten_examples, X, label_key="x")))
    assert rest == {} and label.tolist() == list(range(10))


@pytest.mark.parametrize(
    "given",
    [
        {"batch_size": 0},
        {"shard": (2, 2)},
        {"shard_by": "x"},
        {"on_corrupt": "x"},
        {"label_key": "x"},
        {"num_threads": 0},
        {"features": {}},
        {"features": ({}, {}, {})},
        {"batch_size": 2**64},
        {"block_length": 2**64},
        {"cycle_length": 2**63},
        {"shuffle_buffer": 2**63},
        {"num_epochs": 2**63},
        {"num_threads": 2**64},
        {"prefetch_bytes": 2**64},
        {"shard": (2**63, 2**64 - 1)},
    ],
)
def test_arguments_out_of_range_are_refused(given):
    with pytest.raises(ValueError):
        tf.ShardReader("x", **given)


def test_a_seed_that_is_not_an_integer_is_refused_by_name():
    with pytest.raises(TypeError, match="seed must be an integer, got float"):
        tf.ShardReader("x", seed=1.5)


# ---- Slots and rooms that no files fill ----


MANY_SLOTS = pytest.mark.parametrize("cycle", [10**6, 2**40, 2**63 - 1])
GIVEN = {"block_length": 2, "num_epochs": 2, "shuffle_files": True, "seed": 1, "batch_size": 40}


@pytest.fixture(scope="module")
def as_many_slots_as_files(files):
    return batches(files[0], cycle_length=len(files[0]), **GIVEN)


@MANY_SLOTS
def test_slots_that_no_file_fills_change_nothing(files, cycle, as_many_slots_as_files):
    assert batches(files[0], cycle_length=cycle, **GIVEN) == as_many_slots_as_files


@MANY_SLOTS
def test_slots_that_no_file_fills_are_not_in_the_state(files, cycle):
    reader = tf.ShardReader(files[0], cycle_length=cycle, **GIVEN)
    next(iter(reader))
    assert len(reader.state_dict()["stream"]["slots"]) == len(files[0])


@MANY_SLOTS
def test_a_reader_with_slots_that_no_file_fills_resumes(files, cycle, as_many_slots_as_files):
    reader = tf.ShardReader(files[0], cycle_length=cycle, **GIVEN)
    next(iter(reader))
    resumed = tf.ShardReader(files[0], cycle_length=cycle, **GIVEN)
    resumed.load_state_dict(json.loads(json.dumps(reader.state_dict())))
    assert [batch.tolist() for batch in resumed] == as_many_slots_as_files[1:]


@MANY_SLOTS
def test_many_slots_and_no_files_are_no_batches(cycle):
    assert batches([], cycle_length=cycle, allow_empty=True) == []


@MANY_SLOTS
def test_slots_that_no_file_fills_do_not_end_endless_epochs(files, cycle, as_many_slots_as_files):
    endless = tf.ShardReader(files[0], cycle_length=cycle, **{**GIVEN, "num_epochs": None})
    assert [batch.tolist() for batch in itertools.islice(endless, 9)] == as_many_slots_as_files[:9]


@pytest.mark.parametrize("size", [2**40, 2**63 - 1])
def test_a_batch_that_the_files_do_not_fill_is_what_they_hold(files, size):
    expected = [[record for mine in files[1] for record in mine]]
    assert batches(files[0], batch_size=size) == expected
    assert [len(batch) for batch in batches(files[0], batch_size=size, shuffle_buffer=size, cycle_length=3)] == [
        len(expected[0])
    ]


# ---- Inferred features ----


@pytest.fixture
def examples(tmp_path):
    """Of 100, the data of number 5 is damaged."""
    path = tmp_path / "examples"
    data = bytearray(frames.frames([example(i) for i in range(100)]))
    data[len(data) // 100 * 5 + 12 + 7] ^= 1  # in the name of its feature
    path.write_bytes(data)
    return str(path)


def test_inferring_features_of_damaged_data_is_data_loss(examples):
    with pytest.raises(tf.DataLossError):
        iter(tf.ShardReader(examples, "infer"))


@pytest.mark.parametrize(("on_corrupt", "rows"), [("skip", 99), ("skip_file", 5)])
def test_features_are_inferred_from_what_is_not_skipped(examples, on_corrupt, rows):
    reader = tf.ShardReader(examples, "infer", on_corrupt=on_corrupt)
    assert [len(columns["x"]) for columns in reader] == [rows]
    assert len(reader.skipped) == 1


def test_features_are_inferred_from_unverified_records_too(examples):
    with pytest.raises(tf.errors.TFRecordError) as caught:
        list(tf.ShardReader(examples, "infer", verify_crc=False))
    assert not isinstance(caught.value, tf.DataLossError)  # the record is looked at, and is not an Example


@pytest.fixture
def packed(tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "packed", "GZIP") as writer:
        writer.write(example(1))
    return tmp_path / "packed"


def test_features_are_inferred_from_compressed_files(packed):
    assert [columns["x"].tolist() for columns in tf.ShardReader(packed, "infer", compression_type="GZIP")] == [[1]]


def test_inferring_features_keeps_to_the_compression_type(packed):
    with pytest.raises(tf.DataLossError):
        iter(tf.ShardReader(packed, "infer", compression_type=""))


def test_a_label_that_is_not_found_is_named(tmp_path):
    path = tmp_path / "examples"
    path.write_bytes(frames.frames([example(1)]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"label_key 'nope' is not among the inferred features, "):
        iter(tf.ShardReader(path, "infer", label_key="nope"))


def test_a_thread_ends_an_iteration_while_another_waits_for_its_first_batch():
    waits, goes_on, numbers, taken = threading.Event(), threading.Event(), iter(range(3)), []

    class Columns:
        def __iter__(self):
            return self

        def __next__(self):
            number = next(numbers)
            if number == 0:
                waits.set()
                goes_on.wait()
            return (number,)

    shared = feature_lists.refusing_lists(
        Columns(), SimpleNamespace(checks_rows=False, columns=SimpleNamespace(names=["x"])), [], {}
    )
    thread = threading.Thread(target=lambda: taken.append(next(shared)))
    thread.start()
    waits.wait()
    rest = list(shared)
    goes_on.set()
    thread.join()
    assert (taken, rest) == ([(0,)], [(1,), (2,)])


def test_only_the_first_batch_is_looked_at_for_feature_lists(monkeypatch):
    files_read = []
    monkeypatch.setattr(feature_lists, "_lists_of", lambda files, options: files_read.append(files) or set())
    plan = SimpleNamespace(checks_rows=False, columns=SimpleNamespace(names=["x"]))
    batches = [(np.zeros(0),), (np.zeros(0),)]
    assert len(list(feature_lists.refusing_lists(iter(batches), plan, ["a"], {}))) == 2
    assert files_read == [["a"]]


@pytest.mark.parametrize("name", ["a", "ü", os.fsdecode(b"\xff")], ids=ascii)
def test_a_feature_list_in_a_file_of_any_name_is_told(tmp_path, name):
    path = tmp_path / name
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(tf.encode_sequence_examples({"c": [1]}, {"tokens": [[[1], [2]]]}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="'tokens' is a feature list"):
        list(tf.ShardReader(path, {"tokens": tf.RaggedFeature(tf.int64)}))
