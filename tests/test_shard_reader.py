"""ShardReader: order, completeness, resuming, damage, life cycle."""

import json
import os
import pickle
import random
import struct

import numpy as np
import pytest

import tfrecord_fast as tf

from . import frames
from . import wire_writer as wire

COMPRESSIONS = ["", "GZIP", "", "ZSTD", "", "SNAPPY", "ZLIB"]


def make_files(folder, count, most=120, seed=5):
    draw = random.Random(seed)
    paths, records = [], []
    for file in range(count):
        path = str(folder / f"{file:03}.tfrecord")
        mine = [b"%d:%d:" % (file, i) + draw.randbytes(draw.randrange(200)) for i in range(draw.randrange(most))]
        with tf.io.TFRecordWriter(path, COMPRESSIONS[file % len(COMPRESSIONS)]) as writer:
            writer.write_batch(mine)
        paths.append(path)
        records.append(mine)
    return paths, records


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


def test_each_epoch_is_shuffled_anew_and_complete(files):
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
    """Batches are handed over in another order than they were shuffled in."""
    paths = [tmp_path / str(i) for i in range(4)]
    for i, path in enumerate(paths):
        with tf.ExampleWriter(path) as writer:
            writer.write({"x": np.arange(1000) + 1000 * i})
    for buffer in (1, 300, 10_000):
        reader = tf.ShardReader(paths, features, batch_size=50, shuffle_files=True, shuffle_buffer=buffer,
                                deterministic=False, num_threads=3, num_epochs=5)  # fmt: skip
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


def test_one_broken_record_is_named_or_skipped(tmp_path):
    records = [b"%04d" % i * 20 for i in range(1000)]
    data = bytearray(frames.frames(records))
    size = 16 + 80
    data[size * 300 + 50] ^= 1
    path = tmp_path / "broken"
    path.write_bytes(data)
    with pytest.raises(tf.DataLossError) as caught:
        batches(path)
    assert (caught.value.record_index, caught.value.offset) == (300, size * 300)
    reader = tf.ShardReader(path, on_corrupt="skip")
    assert [r for batch in reader for r in batch.tolist()] == records[:300] + records[301:]
    assert [(skipped.offset, skipped.bytes) for skipped in reader.skipped] == [(size * 300, size)]
    reader = tf.ShardReader(path, on_corrupt="skip_file")
    assert [r for batch in reader for r in batch.tolist()] == records[:300]
    assert sum(skipped.bytes for skipped in reader.skipped) == size * 700


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_noise_loses_only_what_it_covers(tmp_path, seed, compression):
    draw = random.Random(seed)
    records = [b"%d:" % i + draw.randbytes(draw.randrange(300)) for i in range(400)]
    data = bytearray(frames.frames(records))
    start = draw.randrange(len(data))
    stop = min(len(data), start + draw.randrange(1, 5000))
    data[start:stop] = bytes(b ^ 0x5A for b in data[start:stop])
    path = tmp_path / "noisy"
    if compression:
        import gzip

        path.write_bytes(gzip.compress(bytes(data)))
    else:
        path.write_bytes(data)
    reader = tf.ShardReader(path, on_corrupt="skip", batch_size=16)
    got = [r for batch in reader for r in batch.tolist()]
    ends = np.cumsum([16 + len(r) for r in records])
    begins = ends - [16 + len(r) for r in records]
    assert got == [r for r, begin, end in zip(records, begins, ends, strict=True) if end <= start or begin >= stop]
    assert sum(skipped.bytes for skipped in reader.skipped) == len(data) - sum(16 + len(r) for r in got)


def test_dropped_half_way_leaves_no_thread(files):
    before = len(os.listdir("/proc/self/task"))
    for _ in range(100):
        iterator = iter(tf.ShardReader(files[0], num_threads=4, batch_size=5))
        next(iterator)
        del iterator
    assert len(os.listdir("/proc/self/task")) <= before


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


def test_columns_and_label(tmp_path):
    path = str(tmp_path / "examples")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch([example(i) for i in range(10)])
    features = {"x": tf.FixedLenFeature([], tf.float32)}
    for given in (features, "infer"):
        parts = [columns["x"].tolist() for columns in tf.ShardReader(path, given, batch_size=4)]
        assert parts == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    rest, label = next(iter(tf.ShardReader(path, features, label_key="x")))
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


# ---- Slots and rooms that no files fill ----


@pytest.mark.parametrize("cycle", [10**6, 2**40, 2**63 - 1])
def test_slots_that_no_file_fills_cost_nothing(files, cycle):
    given = {"block_length": 2, "num_epochs": 2, "shuffle_files": True, "seed": 1, "batch_size": 40}
    expected = batches(files[0], cycle_length=len(files[0]), **given)
    assert batches(files[0], cycle_length=cycle, **given) == expected
    reader = tf.ShardReader(files[0], cycle_length=cycle, **given)
    assert next(iter(reader)).tolist() == expected[0]
    assert len(reader.state_dict()["stream"]["slots"]) == len(files[0])
    resumed = tf.ShardReader(files[0], cycle_length=cycle, **given)
    resumed.load_state_dict(json.loads(json.dumps(reader.state_dict())))
    assert [batch.tolist() for batch in resumed] == expected[1:]
    assert batches([], cycle_length=cycle) == []
    endless = tf.ShardReader(files[0], cycle_length=cycle, **{**given, "num_epochs": None})
    assert [batch.tolist() for _, batch in zip(range(9), endless, strict=False)] == expected[:9]


@pytest.mark.parametrize("size", [2**40, 2**63 - 1])
def test_a_batch_that_no_files_fill_is_what_they_hold(files, size):
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


def test_features_are_inferred_as_the_reader_reads(examples, tmp_path):
    with pytest.raises(tf.DataLossError):
        iter(tf.ShardReader(examples, "infer"))
    for on_corrupt, rows in (("skip", 99), ("skip_file", 5)):
        reader = tf.ShardReader(examples, "infer", on_corrupt=on_corrupt)
        assert [len(columns["x"]) for columns in reader] == [rows]
        assert len(reader.skipped) == 1
    with pytest.raises(tf.errors.TFRecordError) as caught:
        list(tf.ShardReader(examples, "infer", verify_crc=False))
    assert not isinstance(caught.value, tf.DataLossError)  # the record is looked at, and is no Example
    packed = tmp_path / "packed"
    with tf.io.TFRecordWriter(packed, "GZIP") as writer:
        writer.write(example(1))
    assert [columns["x"].tolist() for columns in tf.ShardReader(packed, "infer", compression_type="GZIP")] == [[1]]
    with pytest.raises(tf.DataLossError):
        iter(tf.ShardReader(packed, "infer", compression_type=""))


def test_a_label_that_is_not_found_is_said(tmp_path):
    path = tmp_path / "examples"
    path.write_bytes(frames.frames([example(1)]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"label_key 'nope' is none of the features found"):
        iter(tf.ShardReader(path, "infer", label_key="nope"))
