"""ShardReader's order against TensorFlow's interleave, live; and its state carried into a new process."""

import itertools
import json
import subprocess
import sys

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.frames import frames
from tests.support.shards import make_files

# Sizes of files such that slots end at different times, some at the same time.
SIZES = [(5, 2, 4, 3), (1, 1, 1, 1, 1), (7, 0, 3, 0, 9, 2), (0, 0, 4), (30, 1, 30), (3,) * 8]
CYCLES = [1, 2, 3, 5, 9]
BLOCKS = [1, 2, 4]


def interleaved(all_paths, cycles, blocks):
    """With TensorFlow: the records of each list of files for each pair of lengths."""
    import tensorflow

    orders = []
    for paths in all_paths:
        for cycle in cycles:
            for block in blocks:
                dataset = tensorflow.data.Dataset.from_tensor_slices(paths).interleave(
                    tensorflow.data.TFRecordDataset, cycle_length=cycle, block_length=block
                )
                orders.append(list(dataset.as_numpy_iterator()))
    return orders


def test_interleaving_is_in_tensorflows_order(tmp_path, tensorflow):
    all_paths = []
    for case, sizes in enumerate(SIZES):
        paths = []
        for file, size in enumerate(sizes):
            paths.append(str(tmp_path / f"{case}-{file}"))
            with tf.io.TFRecordWriter(paths[-1]) as writer:
                writer.write_batch([b"%d.%d" % (file, i) for i in range(size)])
        all_paths.append(paths)
    theirs = iter(tensorflow(interleaved, all_paths, CYCLES, BLOCKS))
    for paths in all_paths:
        for cycle in CYCLES:
            for block in BLOCKS:
                given = {"cycle_length": cycle, "block_length": block, "batch_size": 4}
                ours = [r for batch in tf.ShardReader(paths, **given) for r in batch]
                assert ours == next(theirs), (paths, given)
                twice = [r for batch in tf.ShardReader(paths, num_epochs=2, **given) for r in batch]
                assert twice == 2 * ours, (paths, given)


RESUME = """
import json, sys, tfrecord_fast as tf
paths, given, state = json.loads(sys.stdin.read())
reader = tf.ShardReader(paths, num_threads=3, **given)
reader.load_state_dict(state)
print(json.dumps([[r.hex() for r in batch] for batch in reader]))
"""


@pytest.mark.parametrize(
    "given",
    [
        {"batch_size": 40, "shuffle_files": True, "shuffle_buffer": 100, "seed": 3, "num_epochs": 2, "shard": [1, 2]},
        {"batch_size": 25, "cycle_length": 3, "block_length": 2, "num_epochs": 2},
        {"batch_size": 30, "shuffle_buffer": 10_000, "seed": 5, "shard": [0, 3], "shard_by": "record"},
    ],
    ids=str,
)
def test_a_new_process_continues_where_this_one_stopped(tmp_path, given):
    """Every k-th batch of a run over files of mixed compressions."""
    paths, _ = make_files(tmp_path, 7)
    reader = tf.ShardReader(paths, num_threads=2, **given)
    whole, states = [], [reader.state_dict()]
    for batch in reader:
        whole.append([r.hex() for r in batch])
        states.append(json.loads(json.dumps(reader.state_dict())))
    for done in range(0, len(states), 3):
        text = json.dumps([paths, given, states[done]])
        result = subprocess.run([sys.executable, "-c", RESUME], input=text, capture_output=True, text=True)
        assert json.loads(result.stdout) == whole[done:], result.stderr


@pytest.mark.parametrize("shuffle_buffer", [0, 7])
def test_the_remainder_of_all_epochs_is_dropped(tmp_path, shuffle_buffer):
    paths = [tmp_path / "a", tmp_path / "b"]
    for path, size in zip(paths, (11, 3), strict=True):
        path.write_bytes(frames([b"record"] * size))
    for epochs, kept, whole in [(1, [5, 5], [5, 5, 4]), (2, [5] * 5, [5] * 5 + [3]), (5, [5] * 14, [5] * 14)]:
        given = {"batch_size": 5, "num_epochs": epochs, "shuffle_buffer": shuffle_buffer, "seed": 1}
        assert [len(batch) for batch in tf.ShardReader(paths, drop_remainder=True, **given)] == kept
        assert [len(batch) for batch in tf.ShardReader(paths, **given)] == whole


@pytest.mark.parametrize("records", [[0, 0, 0], [0, 2, 0]], ids=str)
@pytest.mark.parametrize("cycle_length", [1, 2])
def test_endless_epochs_end_if_there_is_no_record(tmp_path, records, cycle_length):
    for file, count in enumerate(records):
        (tmp_path / str(file)).write_bytes(frames([b"record"] * count))
    reader = iter(tf.ShardReader(str(tmp_path / "*"), num_epochs=None, batch_size=1, cycle_length=cycle_length))
    assert len(list(itertools.islice(reader, 9))) == (9 if any(records) else 0)


@pytest.mark.parametrize(
    ("given", "order"),
    [
        (
            {"shuffle_buffer": 100, "num_epochs": 2},
            "02 20 00 23 12 21 03 13 11 01 10 22 01 12 21 22 11 00 20 02 10 23 13 03",
        ),
        ({"shuffle_buffer": 3}, "00 02 03 11 10 12 01 20 13 21 22 23"),
        (
            {"shuffle_files": True, "num_epochs": 2},
            "00 01 02 03 20 21 22 23 10 11 12 13 00 01 02 03 10 11 12 13 20 21 22 23",
        ),
        ({"global_shuffle": True}, "12 01 03 20 10 21 00 02 22 11 13 23"),
    ],
    ids=str,
)
def test_a_seed_gives_the_same_order_for_ever(tmp_path, given, order):
    """Saved states and experiments rely on it."""
    for file in range(3):
        (tmp_path / str(file)).write_bytes(frames([b"%d%d" % (file, i) for i in range(4)]))
    reader = tf.ShardReader(str(tmp_path / "*"), seed=5, **given)
    assert " ".join(record.decode() for batch in reader for record in batch.tolist()) == order


@pytest.mark.parametrize("num_threads", [2, 3, 8])
def test_batches_that_take_longer_than_those_after_them_stay_in_their_place(num_threads, tmp_path):
    rows = [np.arange(30_000) if number % 40 < 10 else [number] for number in range(400)]
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"number": np.arange(400), "x": rows})
    features = {"number": tf.FixedLenFeature([], tf.int64), "x": tf.RaggedFeature(tf.int64)}
    for _ in range(5):
        reader = tf.ShardReader(tmp_path / "a", features, batch_size=10, num_threads=num_threads)
        numbers = [number for batch in reader for number in batch["number"].tolist()]
        assert numbers == list(range(400))
