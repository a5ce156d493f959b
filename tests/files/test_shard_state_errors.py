"""A state that is taken after an error, or at the end, goes on after the last batch that was given."""

import os
import threading
from collections import Counter

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames


def write(folder, counts):
    paths, number = [], 0
    for shard, count in enumerate(counts):
        paths.append(str(folder / f"{shard}.tfrecord"))
        with tf.io.TFRecordWriter(paths[-1]) as writer:
            writer.write_batch([b"%d" % i for i in range(number, number + count)])
        number += count
    return paths


def take(reader):
    """(the records that came, the error that ended them)."""
    given = []
    try:
        for batch in reader:
            given += map(int, batch.tolist())
    except (OSError, tf.errors.DataLossError) as error:
        return given, error
    return given, None


def away(paths, shard):
    os.rename(paths[shard], paths[shard] + ".away")
    return lambda: os.rename(paths[shard] + ".away", paths[shard])


def damaged(paths, shard):
    with open(paths[shard], "r+b") as file:
        whole = file.read()
        file.seek(len(whole) // 2)
        file.write(bytes([whole[len(whole) // 2] ^ 1]))

    def mend():
        with open(paths[shard], "wb") as file:
            file.write(whole)

    return mend


@pytest.mark.parametrize("num_threads", [1, 3])
@pytest.mark.parametrize("harm", [away, damaged])
@pytest.mark.parametrize("shard", [0, 1, 2])
@pytest.mark.parametrize(
    "options",
    [
        {"shuffle_buffer": 20},
        {"shuffle_buffer": 5},
        {"shuffle_buffer": 1000},
        {"shuffle_buffer": 20, "drop_remainder": True},
        {"shuffle_buffer": 13, "cycle_length": 2, "block_length": 3},
        {"shuffle_buffer": 13, "num_epochs": 3},
        {"cycle_length": 3},
        {},
    ],
    ids=str,
)
def test_no_record_is_lost_and_none_comes_twice(options, shard, harm, num_threads, tmp_path):
    paths = write(tmp_path, [55, 40, 30])
    make = lambda: tf.ShardReader(paths, batch_size=10, seed=1, num_threads=num_threads, **options)  # noqa: E731
    whole, _ = take(make())
    mend = harm(paths, shard)
    reader = make()
    given, error = take(reader)
    assert error is not None
    state = reader.state_dict()
    mend()
    again = make()
    again.load_state_dict(state)
    rest, error = take(again)
    assert error is None and given + rest == whole, Counter(given + rest) - Counter(whole)


@pytest.mark.parametrize("options", [{"drop_remainder": True}, {}], ids=str)
@pytest.mark.parametrize("shuffle_buffer", [1, 7, 1000])
def test_a_state_at_the_end_goes_on_with_nothing(options, shuffle_buffer, tmp_path):
    paths = write(tmp_path, [33, 22])
    make = lambda: tf.ShardReader(paths, batch_size=10, seed=1, shuffle_buffer=shuffle_buffer, **options)  # noqa: E731
    reader, states, whole = make(), [], []
    for batch in reader:
        whole += map(int, batch.tolist())
        states.append((len(whole), reader.state_dict()))
    states.append((len(whole), reader.state_dict()))  # when the end was seen
    for place, state in states:
        again = make()
        again.load_state_dict(state)
        assert take(again) == (whole[place:], None)


@pytest.mark.parametrize("options", [{}, {"shuffle_buffer": 50, "seed": 1}, {"global_shuffle": True, "seed": 1}])
@pytest.mark.parametrize("change", ["order", "size", "none"])
def test_a_state_of_files_that_were_written_anew_is_refused(tmp_path, options, change):
    path = tmp_path / "a.tfrecord"

    def write(numbers):
        with tf.io.TFRecordWriter(path) as writer:
            writer.write_batch([b"%05d" % number for number in numbers])

    write(range(200))
    reader = tf.ShardReader(path, batch_size=10, **options)
    seen = next(iter(reader)).tolist()
    state = reader.state_dict()
    write({"order": range(199, -1, -1), "size": range(201), "none": range(200)}[change])
    other = tf.ShardReader(path, batch_size=10, **options)
    other.load_state_dict(state)
    if change == "none":
        assert sorted(seen + [record for batch in other for record in batch]) == [b"%05d" % i for i in range(200)]
        return
    with pytest.raises(ValueError, match=f"another {path}: its size or first record has changed since"):
        next(iter(other))


@pytest.mark.parametrize("marks", [None, 3, "ab", [1], [None], [["x"]], [[]], [[True, 5]]])
def test_marks_of_any_form_are_an_error_or_ignored(tmp_path, marks):
    reader = tf.ShardReader(write(tmp_path, [5]), batch_size=2)
    next(iter(reader))
    state = reader.state_dict() | {"marks": marks}
    reader.load_state_dict(state)
    try:
        assert len(list(reader)) == 2 and marks == [[]]
    except ValueError as error:
        assert "state" in str(error)


@pytest.mark.parametrize("number", [0, 63, 64, 69])
def test_each_of_many_files_is_checked(tmp_path, number):
    paths = write(tmp_path, [2] * 70)
    reader = tf.ShardReader(paths, batch_size=4)
    next(iter(reader))
    state = reader.state_dict()
    with tf.io.TFRecordWriter(paths[number]) as writer:
        writer.write_batch([b"xx", b"yy"] if number > 4 else [b"x", b"y"])  # of the same sizes
    reader.load_state_dict(state)
    with pytest.raises(ValueError, match=f"another {paths[number]}: "):
        list(reader)


def test_a_large_first_record_is_not_read_for_a_state(tmp_path):
    path = tmp_path / "a"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch([bytes((1 << 20) + 1), b"small"])
    reader = tf.ShardReader(path, batch_size=1)
    next(iter(reader))
    assert reader.state_dict()["marks"] == [[path.stat().st_size, None]]


def test_a_pipe_is_not_opened_again_for_a_state(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    feeding = threading.Thread(target=path.write_bytes, args=(frames([b"x"] * 9),))
    feeding.start()
    reader = tf.ShardReader(path, batch_size=2)
    next(iter(reader))
    state = []
    asking = threading.Thread(target=lambda: state.append(reader.state_dict()), daemon=True)
    asking.start()
    asking.join(10)
    feeding.join()
    assert [saved["marks"] for saved in state] == [[[None, None]]]
