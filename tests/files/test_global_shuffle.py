"""`global_shuffle=True`: every record once in each epoch, in an order of its own; resumed, divided, damaged."""

import itertools
import json
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support.forks import status_of_child
from tests.support.frames import frames
from tests.support.peak_memory import MIB, run
from tfrecord_fast import _core
from tfrecord_fast.files.reading.global_shuffle import Permutation

SIZES = [30, 0, 200, 1, 77]
RECORDS = sorted(b"%d-%d" % (file, i) for file, size in enumerate(SIZES) for i in range(size))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("global")
    for file, size in enumerate(SIZES):
        (folder / f"{file}.tfrecord").write_bytes(frames([b"%d-%d" % (file, i) for i in range(size)]))
    return str(folder / "*.tfrecord")


def shuffled(files, features=None, **given):
    return tf.ShardReader(files, features, **{"global_shuffle": True, "seed": 5, "batch_size": 16, **given})


def batches(reader):
    return [batch.tolist() for batch in reader]


def flat(reader):
    return [record for batch in reader for record in batch.tolist()]


# ---- The permutation ----


@given(
    st.one_of(st.integers(0, 3000), st.integers(65_530, 70_000), st.sampled_from([2**17, 2**17 + 1, 2**18 - 1])),
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**62),
)
@settings(deadline=None, max_examples=60)
def test_each_number_has_one_place(size, seed, epoch):
    numbers = Permutation(size, seed, epoch).at(np.arange(size))
    assert numbers.dtype == np.int64 and np.array_equal(np.sort(numbers), np.arange(size))


@pytest.mark.parametrize("size", [1000, 100_000, 2**40])
def test_a_place_can_be_asked_for_alone(size):
    permutation = Permutation(size, 3, 1)
    places = np.array([0, size - 1, size // 3, 17])
    together = permutation.at(places)
    assert [permutation.at(places[i : i + 1])[0] for i in range(4)] == together.tolist()
    assert len(set(together)) == 4 and 0 <= together.min() and together.max() < size


def test_orders_are_those_of_every_machine():
    """They may not change from version to version either: states would mean other records."""
    assert Permutation(10, 1, 0).at(np.arange(10)).tolist() == [9, 5, 0, 1, 8, 2, 3, 7, 6, 4]
    assert Permutation(10**6, 1, 0).at(np.arange(5)).tolist() == [829107, 354618, 677119, 581140, 873332]
    assert Permutation(10**12, 2**64 - 1, 7).at(np.arange(3)).tolist() == [317166314498, 69193958883, 958201700044]


def by_the_page(size, keys, place):
    """The network as csrc/index/permutation.h describes it, one number at a time."""
    bits = (size - 1).bit_length()
    low_bits = bits // 2
    masks = (1 << (bits - low_bits)) - 1, (1 << low_bits) - 1
    halves = [place >> low_bits, place & masks[1]]
    for round_, key in enumerate(keys):
        changed = round_ % 2
        mixed = (halves[1 - changed] + (key & 0xFFFFFFFF)) * (key >> 32 | 1) & 0xFFFFFFFF
        mixed = (mixed ^ mixed >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
        mixed = (mixed ^ mixed >> 12) * 0x297A2D39 & 0xFFFFFFFF
        halves[changed] ^= (mixed ^ mixed >> 15) & masks[changed]
    number = halves[0] << low_bits | halves[1]
    return number if number < size else by_the_page(size, keys, number)


@given(st.integers(2, 2**62), st.lists(st.integers(0, 2**64 - 1), min_size=6, max_size=6), st.data())
@settings(deadline=None)
def test_the_network_is_the_one_described(size, keys, data):
    places = data.draw(st.lists(st.integers(0, size - 1), max_size=600))
    found = _core.Permutation(size, keys).at(np.array(places, np.int64))
    assert found.tolist() == [by_the_page(size, keys, place) for place in places]


def test_places_and_sizes_that_can_not_be():
    keys = list(range(6))
    for size in (-1, 0, 1, 2**62 + 1):
        with pytest.raises(ValueError, match="from 2 to"):
            _core.Permutation(size, keys)
    for place in (-1, 5, 2**62):
        with pytest.raises(IndexError, match="out of range"):
            _core.Permutation(5, keys).at(np.array([0, place]))


def test_orders_of_few_are_all_as_likely():
    counts = {}
    for epoch in range(2400):
        order = tuple(Permutation(4, 9, epoch).at(np.arange(4)).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 24 and min(counts.values()) > 60 and max(counts.values()) < 150


@pytest.mark.parametrize("size", [60_000, 70_000, 300_000])
def test_orders_of_many_look_random(size):
    """Whether a number's place says anything about it: its size, its last bits, its neighbours, the next epoch."""
    places = np.arange(size)
    numbers, following = (Permutation(size, 4, epoch).at(places) for epoch in (0, 1))

    def unlikely(one, other):  # by how many standard deviations chi squared lies off its mean
        seen = np.histogram2d(one, other, bins=32)[0]
        expected = size / 32**2
        return abs(((seen - expected) ** 2 / expected).sum() - 1023) / (2 * 1023) ** 0.5

    assert unlikely(places, numbers) < 6
    assert unlikely(places % 32, numbers % 32) < 6
    assert unlikely(numbers, np.roll(numbers, 1)) < 6
    assert unlikely(numbers, following) < 6


# ---- Orders ----


@pytest.mark.parametrize("num_threads", [1, 2, None])
def test_each_epoch_has_every_record_once_and_its_own_order(files, num_threads):
    reader = shuffled(files, num_threads=num_threads)
    epochs = [flat(reader) for _ in range(3)]
    assert all(sorted(epoch) == RECORDS for epoch in epochs)
    assert not any(a == b for a, b in itertools.combinations(epochs, 2))
    reader.set_epoch(1)
    assert flat(reader) == epochs[1]
    again = shuffled(files, num_threads=1, prefetch_bytes=0)
    assert [flat(again) for _ in range(3)] == epochs
    assert flat(shuffled(files, seed=6)) != epochs[0]


def test_epochs_run_on_in_one_iteration(files):
    reader, whole = shuffled(files), shuffled(files, num_epochs=3, batch_size=50)
    assert flat(whole) == flat(reader) + flat(reader) + flat(reader)
    assert whole.epoch == 3


def test_an_endless_iteration(files):
    reader = shuffled(files, num_epochs=None, batch_size=100)
    assert flat(itertools.islice(reader, 10)) == flat(shuffled(files, num_epochs=4))[:1000]
    assert reader.epoch == 4


def test_columns_are_those_of_the_records(tmp_path):
    with tf.io.ExampleWriter(tmp_path / "{shard}", num_shards=3) as writer:
        writer.write({"x": np.arange(500), "text": [b"%d" % i for i in range(500)]})
    features = {"x": tf.io.FixedLenFeature([], tf.int64), "text": tf.io.FixedLenFeature([], tf.string)}
    files = str(tmp_path / "*")
    records = [tf.io.parse_example(batch, features)["x"].tolist() for batch in shuffled(files)]
    for reader in (shuffled(files, features), shuffled(files, "infer"), shuffled(files, features, num_threads=1)):
        reader_columns = list(reader)
        assert [columns["x"].tolist() for columns in reader_columns] == records
        assert [list(map(int, columns["text"].tolist())) for columns in reader_columns] == records
    with_label = list(shuffled(files, features, label_key="x"))
    assert [label.tolist() for _, label in with_label] == records
    ragged = {"x": tf.io.RaggedFeature(tf.int64, partitions=[tf.io.RaggedFeature.UniformRowLength(1)])}
    assert sum(len(columns["x"]) for columns in shuffled(files, ragged)) == 500


ARGUMENTS = st.fixed_dictionaries(
    {
        "batch_size": st.integers(1, 60),
        "drop_remainder": st.booleans(),
        "num_epochs": st.integers(1, 3),
        "num_threads": st.sampled_from([1, 2]),
        "prefetch_bytes": st.sampled_from([0, 1000, 32 << 20]),
        "equal_shards": st.sampled_from([None, "drop", "pad"]),
        "seed": st.integers(0, 5),
    }
)
PROPERTY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)


@given(ARGUMENTS, st.integers(1, 6), st.data())
@PROPERTY
def test_killed_and_resumed_it_continues_exactly(files, arguments, parts, data):
    part = data.draw(st.integers(0, parts - 1))
    make = lambda: shuffled(files, shard=(part, parts), **arguments)  # noqa: E731
    reader = make()
    for _ in range(data.draw(st.integers(0, 1))):
        batches(reader)
    whole, states = [], []
    for batch in reader:
        whole.append(batch.tolist())
        states.append(json.dumps(reader.state_dict()))
    assert [len(reader), reader.num_records] == [len(whole), sum(map(len, whole))]
    following = batches(reader)
    if states:
        done = data.draw(st.integers(1, len(states)))
        resumed = make()
        resumed.load_state_dict(json.loads(states[done - 1]))
        assert batches(resumed) == whole[done:]
        assert batches(resumed) == following


@given(ARGUMENTS, st.integers(1, 9))
@PROPERTY
def test_parts_are_the_whole(files, arguments, parts):
    arguments = {**arguments, "num_epochs": 1}
    found = [batches(shuffled(files, shard=(i, parts), **arguments)) for i in range(parts)]
    given = sorted(record for part in found for batch in part for record in batch)
    if arguments["equal_shards"] is not None:
        assert len({len(part) for part in found}) == 1
    if arguments["equal_shards"] == "pad" and not arguments["drop_remainder"]:
        assert set(given) == set(RECORDS)
    elif arguments["equal_shards"] is None and not arguments["drop_remainder"]:
        assert given == RECORDS
    else:
        assert arguments["equal_shards"] == "pad" or len(set(given)) == len(given)


def test_parts_need_one_seed(files, monkeypatch):
    for shard in ((1, 3), [0, 2]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="a seed, the same for all of them"):
            tf.ShardReader(files, global_shuffle=True, shard=shard)
    reader = tf.ShardReader(files, global_shuffle=True, shard="auto")
    assert flat(reader) != flat(reader)
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(tf.errors.InvalidArgumentError, match="a seed, the same for all of them"):
        iter(reader)
    assert len(flat(tf.ShardReader(files, global_shuffle=True, shard="auto", seed=1))) == len(RECORDS) / 2


# ---- States ----


def test_a_state_is_of_these_records(files, tmp_path):
    reader = shuffled(files)
    next(iter(reader))
    state = reader.state_dict()
    for other in ({"global_shuffle": False}, {"seed": 6}, {"shard": (0, 2)}):
        resumed = shuffled(files, **other)
        resumed.load_state_dict(state)
        with pytest.raises(ValueError, match="another reader"):
            iter(resumed)
    for change in ({"position": -1}, {"records": "1"}, {"epoch": -1}):
        with pytest.raises(ValueError, match="not a state"):
            reader.load_state_dict({**state, "stream": {**state["stream"], **change}})
    for change in ({"position": 309}, {"records": 1}):
        reader.load_state_dict({**state, "stream": {**state["stream"], **change}})
        with pytest.raises(ValueError, match="number of records differs"):
            iter(reader)
    with pytest.raises(ValueError, match="not a state"):
        plain = tf.ShardReader(files)
        next(iter(plain))
        reader.load_state_dict({**state, "stream": plain.state_dict()["stream"]})


def test_files_that_grew_are_indexed_again(tmp_path):
    (tmp_path / "a").write_bytes(frames([b"0"]))
    reader = shuffled(str(tmp_path / "a"))
    assert flat(reader) == [b"0"]
    (tmp_path / "a").write_bytes(frames([b"0", b"1"]))
    assert sorted(flat(reader)) == [b"0", b"1"]


# ---- Life ----


def test_copies(files):
    reader = shuffled(files)
    whole = flat(reader)
    sent = pickle.loads(pickle.dumps(reader))
    sent.set_epoch(0)
    assert flat(sent) == whole


@pytest.mark.parametrize("num_threads", [1, 2])
def test_a_fork_can_read_with_a_reader_of_its_own(files, num_threads):
    reader = shuffled(files, num_threads=num_threads)
    whole = flat(reader)
    reader.set_epoch(0)
    running = iter(reader)
    first = next(running).tolist()

    def child():
        with pytest.raises(ValueError, match="another process"):
            next(running)
        reader.set_epoch(0)
        return flat(reader) == whole

    assert status_of_child(child) == 0
    assert first + flat(running) == whole


def test_a_reader_that_is_dropped_ends_its_threads(files):
    before = set(threading.enumerate())
    batches_ = iter(shuffled(files, num_threads=2))
    next(batches_)
    assert len(set(threading.enumerate()) - before) == 2
    del batches_
    for thread in threading.enumerate():
        if thread.name.startswith("tfrecord_fast"):
            thread.join(10)
    assert set(threading.enumerate()) <= before


def test_the_interpreter_ends_with_a_reader_alive(files):
    code = """
import sys, tfrecord_fast as tf
held = iter(tf.ShardReader(sys.argv[1], global_shuffle=True, num_threads=2, num_epochs=None, batch_size=10))
next(held)
print("all")
"""
    done = subprocess.run([sys.executable, "-c", code, files], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode, done.stderr) == ("all\n", 0, "")


def test_threads_share_an_iterator(files):
    found, running = [], iter(shuffled(files, batch_size=3))
    threads = [threading.Thread(target=lambda: [found.extend(batch.tolist()) for batch in running]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == RECORDS


# ---- Damage, and what can't be ----


@pytest.mark.parametrize("num_threads", [1, 2])
def test_batches_before_a_damaged_one_are_given_first(tmp_path, num_threads):
    data = bytearray(frames([b"%03d" % i for i in range(100)]))
    order = flat(shuffled_of(tmp_path / "a", bytes(data)))
    data[19 * 40 + 13] ^= 1
    (tmp_path / "a").write_bytes(data)
    reader = shuffled(str(tmp_path / "a"), batch_size=7, num_threads=num_threads)
    found, running = [], iter(reader)
    with pytest.raises(tf.DataLossError) as raised:
        for batch in running:
            found += batch.tolist()
    assert raised.value.record_index == 40
    assert found == order[: order.index(b"040") // 7 * 7]
    assert next(running, None) is None


def shuffled_of(path, data):
    path.write_bytes(data)
    return shuffled(str(path), batch_size=7)


def test_a_record_that_does_not_fit_is_told_in_its_batch(tmp_path):
    with tf.io.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"x": np.arange(99)})
        writer.write({"y": np.arange(1)})
    running = iter(shuffled(str(tmp_path / "a"), {"x": tf.io.FixedLenFeature([], tf.int64)}, batch_size=10))
    given = 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="record 99"):
        for columns in running:
            given += len(columns["x"])
    assert given % 10 == 0 and given < 100


@pytest.mark.parametrize(
    "other",
    [
        {"shuffle_buffer": 10},
        {"shuffle_files": True},
        {"cycle_length": 2},
        {"on_corrupt": "skip"},
        {"shard_by": "file"},
    ],
    ids=str,
)
def test_what_cannot_be_meant_together_is_refused(files, other):
    with pytest.raises(tf.errors.InvalidArgumentError, match="global_shuffle"):
        shuffled(files, **other)


def test_only_files_can_be_read_at_random(tmp_path):
    with pytest.raises(TypeError):
        shuffled([bytearray(b"a")])
    with pytest.raises(FileNotFoundError):
        iter(shuffled(str(tmp_path / "none")))


def test_no_records(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    assert flat(shuffled(str(tmp_path / "a"))) == [] == flat(shuffled(str(tmp_path / "a"), num_epochs=None))


READ = """
count = total = most = 0
for batch in tf.ShardReader(sys.argv[1:], global_shuffle=True, prefetch_bytes=8 << 20, num_threads=2, batch_size=256):
    count += len(batch)
    total += batch.nbytes
    with open("/proc/self/status") as status:
        most = max(most, *[int(line.split()[1]) for line in status if line.startswith("RssAnon")])
print(count, total, most)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is looked up in /proc")
@pytest.mark.skipif(bool(tf.build_info()["sanitizers"]), reason="sanitizers keep what is freed")
@pytest.mark.parametrize("mib", [40, 160])
def test_memory_does_not_grow_with_the_records(tmp_path, mib):
    """Its own: pages of the files, which are mapped, are the system's to take back."""
    path = tmp_path / "a"
    path.write_bytes(frames([bytes(10_000)] * (mib * 100)))
    count, total, most = map(int, run(READ, path)[0].split())
    os.unlink(path)
    assert (count, total) == (mib * 100, mib * 100 * 10_000)
    assert most << 10 < 60 * MIB
