"""ShardReader's state: what it describes, how long it is valid, and what is refused."""

import gzip
import json
import os
import random

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames

RECORDS = [b"%04d" % i for i in range(1000)]


def write(path, records=RECORDS):
    path.write_bytes(frames(records))
    return str(path)


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "a.tfrecord")


def flat(reader):
    return [record for batch in reader for record in batch.tolist()]


def stopped(path, batches, **given):
    """The records of that many batches, and the state after them."""
    reader = tf.ShardReader(path, batch_size=100, **given)
    iterator = iter(reader)
    head = [record for _ in range(batches) for record in next(iterator).tolist()]
    return reader, head, json.loads(json.dumps(reader.state_dict()))


# ---- How long a state is valid ----


@pytest.mark.parametrize("given", [{}, {"shuffle_buffer": 50}, {"shuffle_buffer": 50, "seed": 4}], ids=str)
def test_only_the_next_iteration_resumes_from_a_state(path, given):
    reader, head, state = stopped(path, 3, **given)
    following = flat(reader)
    resumed = tf.ShardReader(path, batch_size=100, **given)
    resumed.load_state_dict(state)
    assert resumed.state_dict() == state
    rest = flat(resumed)
    resumed.set_epoch(0)
    assert head + rest == flat(resumed)
    assert flat(resumed) == following


@pytest.mark.parametrize("name", ["ü", "空", os.fsdecode(b"\xff")], ids=ascii)
@pytest.mark.parametrize("given", [{}, {"shuffle_buffer": 50, "seed": 4}, {"global_shuffle": True, "seed": 4}], ids=str)
def test_a_file_of_any_name_resumes(tmp_path, name, given):
    (tmp_path / name).mkdir()
    path = write(tmp_path / name / f"{name}.tfrecord")
    _, head, state = stopped(path, 3, **given)
    resumed = tf.ShardReader(path, batch_size=100, **given)
    resumed.load_state_dict(state)
    assert sorted(head + flat(resumed)) == RECORDS
    write(tmp_path / name / f"{name}.tfrecord", RECORDS[::-1])  # of the same size
    resumed.load_state_dict(state)
    with pytest.raises(ValueError, match="its size or first record has changed"):
        iter(resumed)


def test_a_state_is_the_same_until_the_first_batch_is_taken(path):
    _, _, state = stopped(path, 3)
    resumed = tf.ShardReader(path, batch_size=100)
    resumed.load_state_dict(state)
    batches = iter(resumed)
    assert resumed.state_dict() == state
    next(batches)
    assert resumed.state_dict() != state


def test_a_state_that_was_refused_is_refused_again(path):
    _, _, state = stopped(path, 3)
    other = tf.ShardReader(path, batch_size=7)
    other.load_state_dict(state)
    for _ in range(2):
        with pytest.raises(ValueError, match="batch_size"):
            iter(other)


def test_a_state_describes_the_files_that_the_iteration_began_with(tmp_path):
    write(tmp_path / "b.tfrecord")
    pattern = str(tmp_path / "*.tfrecord")
    reader, head, state = stopped(pattern, 3)
    write(tmp_path / "a.tfrecord")
    assert reader.state_dict() == state
    resumed = tf.ShardReader(pattern, batch_size=100)
    resumed.load_state_dict(state)
    with pytest.raises(ValueError, match="list of files differs"):
        iter(resumed)
    (tmp_path / "a.tfrecord").unlink()
    assert head + flat(resumed) == RECORDS


# ---- What is refused ----


def test_a_seed_that_was_given_must_be_the_states(path):
    _, _, state = stopped(path, 1, shuffle_buffer=50, seed=1)
    resumed = tf.ShardReader(path, batch_size=100, shuffle_buffer=50, seed=2)
    resumed.load_state_dict(state)
    with pytest.raises(ValueError, match="seed was 1, is 2"):
        iter(resumed)


@pytest.mark.parametrize("state", [None, "state", [], 3])
def test_what_is_not_a_dict_is_not_a_state(path, state):
    with pytest.raises(TypeError, match="the state of a ShardReader must be a dict"):
        tf.ShardReader(path).load_state_dict(state)


def without(state, *names):
    changed = json.loads(json.dumps(state))
    part = changed
    for name in names[:-1]:
        part = part[name]
    del part[names[-1]]
    return changed


def changed(state, value, *names):
    made = json.loads(json.dumps(state))
    part = made
    for name in names[:-1]:
        part = part[name]
    part[names[-1]] = value
    return made


STREAM = ["cursor", "draining", "epoch", "next_file", "random", "random_started", "shuffled", "slots", "visit"]


def test_a_state_of_a_version_alone_lacks_its_stream(path):
    with pytest.raises(ValueError, match="stream"):
        tf.ShardReader(path).load_state_dict({"version": 1})


def test_what_a_stream_holds_is_known(path):
    assert set(STREAM) == set(stopped(path, 1)[2]["stream"])


@pytest.mark.parametrize(
    "names", [("order",), ("files",), ("order", "seed"), *(("stream", name) for name in STREAM)], ids=".".join
)
def test_what_a_state_lacks_is_named(path, names):
    reader, _, state = stopped(path, 1)
    with pytest.raises(ValueError, match=names[-1]):
        reader.load_state_dict(without(state, *names))


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (-1, ("stream", "epoch")),
        (2**63, ("stream", "cursor")),
        (2**64, ("stream", "random")),
        (2**64, ("order", "seed")),
        ("x", ("stream", "visit")),
        (3, ("stream", "slots")),
        ([[0, 1]], ("stream", "slots")),
        ([[0, -1, 1]], ("stream", "shuffled")),
        (None, ("order",)),
        ("x", ("stream",)),
    ],
)
def test_a_state_with_an_impossible_value_is_not_a_state(path, value, names):
    reader, _, state = stopped(path, 1)
    with pytest.raises(ValueError, match="not a state"):
        reader.load_state_dict(changed(state, value, *names))


def test_files_that_are_not_in_the_list_are_refused(path):
    reader, _, state = stopped(path, 1)
    reader.load_state_dict(changed(changed(state, [[7, 0, 0]], "stream", "slots"), 8, "stream", "next_file"))
    with pytest.raises(ValueError, match="not in the list"):
        next(iter(reader))


@pytest.mark.parametrize("file", [1, 7])
def test_held_records_of_files_that_are_not_in_the_list_are_refused(path, file):
    reader, _, state = stopped(path, 1, shuffle_buffer=50)
    held = state["stream"]["shuffled"]
    reader.load_state_dict(changed(state, [[file, *held[0][1:]], *held[1:]], "stream", "shuffled"))
    with pytest.raises(ValueError, match="not in the list"):
        next(iter(reader))


@pytest.mark.parametrize("slots", [[[0, 0, 0], [0, 0, 0]], [[1, 0, 0], [-1, 0, 0]], [[0, 0, 0], [1, 0, 0]]], ids=str)
def test_a_slot_holds_a_file_of_its_own_that_the_epoch_has_begun(path, slots):
    reader, _, state = stopped([path, path], 1, cycle_length=2)
    state = changed(state, 1, "stream", "next_file")
    with pytest.raises(ValueError, match="not a state"):
        reader.load_state_dict(changed(state, slots, "stream", "slots"))


@pytest.mark.parametrize("cursor", [7, 2**63 - 1])
def test_a_cursor_beyond_the_last_file_finds_no_more_files(path, cursor):
    reader, _, state = stopped(path, 1)
    reader.load_state_dict(changed(state, cursor, "stream", "cursor"))
    assert len(flat(reader)) == 900


# ---- What was skipped ----


@pytest.mark.parametrize("on_corrupt", ["skip", "skip_file"])
@pytest.mark.parametrize("given", [{}, {"cycle_length": 2}, {"shuffle_buffer": 70, "seed": 1}], ids=str)
@pytest.mark.parametrize("compressed", [False, True])
def test_what_was_skipped_is_listed_once(tmp_path, on_corrupt, given, compressed):
    """By the reader, or by the one that resumes from its state; together, what a run from end to end lists."""
    paths = []
    for name in "ab":
        data = bytearray(frames(RECORDS))
        for record in (150, 160, 599) if on_corrupt == "skip" else (450,):
            data[20 * record + 13] ^= 1  # its data
        if on_corrupt == "skip":
            data[20 * 300] ^= 1  # its header
        paths.append(tmp_path / name)
        paths[-1].write_bytes(gzip.compress(bytes(data)) if compressed else data)
    given = {"batch_size": 50, "on_corrupt": on_corrupt, **given}
    whole = tf.ShardReader(paths, **given)
    records = flat(whole)
    states = []
    reader = tf.ShardReader(paths, **given)
    for batch in reader:
        states.append((len(batch), reader.state_dict(), list(reader.skipped)))
    assert len(whole.skipped) == (8 if on_corrupt == "skip" else 2)
    done = 0
    for size, state, skipped in states:
        done += size
        resumed = tf.ShardReader(paths, **given)
        resumed.load_state_dict(state)
        assert flat(resumed) == records[done:]
        assert skipped + resumed.skipped == whole.skipped


def test_the_rest_of_a_skipped_file_stays_skipped(tmp_path):
    """Of a file of several chunks, too."""
    big = [b"%06d" % i * 500 for i in range(600)]
    data = bytearray(frames(big))
    data[3016 * 99 + 100] ^= 1
    path = tmp_path / "big"
    path.write_bytes(data)
    given = {"batch_size": 99, "on_corrupt": "skip_file"}
    reader = tf.ShardReader(path, **given)
    assert next(iter(reader)).tolist() == big[:99]
    resumed = tf.ShardReader(path, **given)
    resumed.load_state_dict(reader.state_dict())
    assert flat(resumed) == [] and len(reader.skipped + resumed.skipped) == 1


def test_records_that_are_not_verified_are_resumed_as_they_were_read(tmp_path):
    """With verify_crc=False a wrong CRC of the data is nobody's concern, in a shuffle buffer neither."""
    path = tmp_path / "a"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch([b"%04d" % i for i in range(200)])
    data = bytearray(path.read_bytes())
    for i in range(0, 200, 7):
        data[i * 20 + 16] ^= 1  # of the data's CRC
    path.write_bytes(data)

    def reader():
        return tf.ShardReader(path, batch_size=10, shuffle_buffer=60, seed=3, verify_crc=False)

    whole = [batch.tolist() for batch in reader()]
    first = reader()
    iterator = iter(first)
    begin = [next(iterator).tolist() for _ in range(4)]
    second = reader()
    second.load_state_dict(first.state_dict())
    assert begin + [batch.tolist() for batch in second] == whole


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_records_of_a_shuffle_buffer_are_verified_when_they_are_read_again(tmp_path, pack):
    path, intact = tmp_path / "a", frames(RECORDS)
    path.write_bytes(pack(intact))
    _, head, state = stopped(str(path), 3, shuffle_buffer=200, seed=3)
    held = sorted(set(RECORDS[:400]) - set(head))[0]  # 500 records were read, and 200 of them are held
    damaged = bytearray(intact)
    damaged[intact.index(held)] ^= 1
    path.write_bytes(pack(bytes(damaged)))
    resumed = tf.ShardReader(str(path), batch_size=100, shuffle_buffer=200, seed=3)
    del state["marks"]  # as an older version saved it
    resumed.load_state_dict(state)
    with pytest.raises(tf.DataLossError):
        next(iter(resumed))


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB", "ZSTD", "SNAPPY"])
@pytest.mark.parametrize("on_corrupt", ["skip", "skip_file"])
def test_a_shuffle_buffer_is_filled_again_from_both_sides_of_damage(tmp_path, compression, on_corrupt):
    path, draw = tmp_path / "a", random.Random(5)
    with tf.io.TFRecordWriter(path, compression) as writer:
        writer.write_batch([b"%05d" % i + draw.randbytes(3000) for i in range(1000)])
    data = bytearray(path.read_bytes())
    for place in (0.15, 0.4, 0.8):
        data[int(place * len(data))] ^= 1
    path.write_bytes(data)

    def reader():
        return tf.ShardReader(path, batch_size=40, shuffle_buffer=100, seed=3, on_corrupt=on_corrupt)

    first, taken, states = reader(), [], []
    for batch in first:
        taken.append(batch.tolist())
        states.append(first.state_dict())
    assert first.skipped
    for given, state in enumerate(states, 1):
        resumed = reader()
        resumed.load_state_dict(state)
        assert [batch.tolist() for batch in resumed] == taken[given:]


def test_a_record_that_moved_is_not_taken_for_the_one_that_was_held(tmp_path):
    """Whatever is at a place now must have begun there before, too."""
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(frames(RECORDS)))
    _, _, state = stopped(str(path), 3, shuffle_buffer=200, seed=3)
    path.write_bytes(gzip.compress(frames([b"x" * (1 + i % 7) for i in range(1000)])))
    resumed = tf.ShardReader(str(path), batch_size=100, shuffle_buffer=200, seed=3)
    del state["marks"]  # as an older version saved it
    resumed.load_state_dict(state)
    with pytest.raises(tf.DataLossError, match="has the file changed"):
        list(resumed)


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"])
@pytest.mark.parametrize("left", [0, 20, 49])
def test_a_state_from_a_longer_file_is_refused(tmp_path, compression, left):
    path, records = tmp_path / "a", [b"record %02d" % i for i in range(100)]
    with tf.io.TFRecordWriter(path, compression) as writer:
        writer.write_batch(records)
    reader = tf.ShardReader(path, batch_size=10)
    batches = iter(reader)
    for _ in range(5):
        next(batches)
    state = reader.state_dict()
    with tf.io.TFRecordWriter(path, compression) as writer:
        writer.write_batch(records[:left])
    again = tf.ShardReader(path, batch_size=10, on_corrupt="skip")
    again.load_state_dict(state)
    with pytest.raises(ValueError, match="its size or first record has changed"):
        list(again)
    del state["marks"]  # as an older version saved it
    again.load_state_dict(state)
    with pytest.raises(tf.DataLossError, match="where the saved state continues; has the file changed"):
        list(again)


# ---- Signals ----
