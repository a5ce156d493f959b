"""A state that is taken after an error, or at the end, goes on after the last batch that was given."""

import os
from collections import Counter

import pytest

import tfrecord_fast as tf


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
