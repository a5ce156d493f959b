"""Threads that share an iterator: each element goes to one of them, once, whatever the transformations."""

import sys
import threading
import time
from collections import Counter

import numpy as np
import pytest

import tfrecord_fast as tf

Dataset = tf.data.Dataset
COUNT = 600


def pause(x):
    """Lets another thread go on, in the middle of an element."""
    if int(x) % 7 == 0:
        time.sleep(0)
    return x


def slow_numbers():
    return Dataset.range(COUNT).map(pause)


def generated():
    for number in range(COUNT):
        time.sleep(0)
        yield number


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("sharing") / "records"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch([b"%d" % number for number in range(COUNT)])
    return str(path)


CHAINS = {
    "range": lambda path: Dataset.range(COUNT),
    "counter": lambda path: Dataset.counter().take(COUNT),
    "from_tensor_slices": lambda path: Dataset.from_tensor_slices(np.arange(COUNT)),
    "from_tensor_slices of a structure": lambda path: Dataset.from_tensor_slices({"a": np.arange(COUNT)}),
    "from_tensor_slices of ragged": lambda path: Dataset.from_tensor_slices(ragged()),
    "from_tensors": lambda path: Dataset.from_tensors(np.arange(COUNT)).unbatch(),
    "from_generator": lambda path: Dataset.from_generator(generated),
    "from_generator with types": lambda path: Dataset.from_generator(generated, output_types=tf.int64),
    "map": lambda path: slow_numbers(),
    "map on threads": lambda path: Dataset.range(COUNT).map(pause, num_parallel_calls=2),
    "filter": lambda path: slow_numbers().filter(lambda x: pause(x) >= 0),
    "take": lambda path: slow_numbers().repeat().take(COUNT),
    "skip": lambda path: Dataset.range(-9, COUNT).map(pause).skip(9),
    "shard": lambda path: Dataset.range(3 * COUNT).map(pause).shard(3, 1).map(lambda x: x // 3),
    "concatenate": lambda path: Dataset.range(99).map(pause).concatenate(Dataset.range(99, COUNT).map(pause)),
    "repeat": lambda path: Dataset.range(60).map(pause).repeat(10).enumerate().map(lambda i, _: i),
    "shuffle": lambda path: slow_numbers().shuffle(50),
    "cache, filling": lambda path: slow_numbers().cache(),
    "cache, filled": lambda path: filled(slow_numbers().cache()),
    "prefetch": lambda path: slow_numbers().prefetch(3),
    "enumerate": lambda path: slow_numbers().enumerate().map(same),
    "zip": lambda path: Dataset.zip(slow_numbers(), slow_numbers()).map(same),
    "zip of a dict": lambda path: Dataset.zip({"a": slow_numbers(), "b": slow_numbers()}).map(
        lambda element: same(element["a"], element["b"])
    ),
    "batch": lambda path: slow_numbers().batch(7),
    "padded_batch": lambda path: slow_numbers().padded_batch(7),
    "ragged_batch": lambda path: slow_numbers().ragged_batch(7),
    "unbatch": lambda path: slow_numbers().batch(7).unbatch(),
    "rebatch": lambda path: slow_numbers().batch(7).rebatch(5),
    "flat_map": lambda path: Dataset.range(60).map(pause).flat_map(lambda x: Dataset.range(10 * x, 10 * x + 10)),
    "interleave": lambda path: Dataset.range(60).map(pause).interleave(lambda x: Dataset.range(10 * x, 10 * x + 10), 4),
    "window": lambda path: slow_numbers().window(5).map(lambda window: np.array(list(window))),
    "scan": lambda path: slow_numbers().scan(np.int64(-1), lambda state, x: (state + 1, state + 1)),
    "take_while": lambda path: Dataset.counter().map(pause).take_while(lambda x: pause(x) < COUNT),
    "ignore_errors": lambda path: slow_numbers().ignore_errors(),
    "choose": lambda path: Dataset.choose_from_datasets(
        [Dataset.range(0, COUNT, 2).map(pause), Dataset.range(1, COUNT, 2)], Dataset.range(2).repeat()
    ),
    "sample": lambda path: Dataset.sample_from_datasets(
        [Dataset.range(0, COUNT, 2).map(pause), Dataset.range(1, COUNT, 2)]
    ),
    "records": lambda path: tf.data.TFRecordDataset(path),
    "records in batches": lambda path: tf.data.TFRecordDataset(path).batch(7),
    "records, take": lambda path: tf.data.TFRecordDataset(path).repeat().take(COUNT),
    "records, skip": lambda path: tf.data.TFRecordDataset(path).repeat(2).skip(COUNT),
    "records, shard": lambda path: tf.data.TFRecordDataset(path).repeat(3).take(3 * COUNT - 1).shard(3, 0),
    "records, take in batches": lambda path: tf.data.TFRecordDataset(path).repeat().take(COUNT).batch(7),
    "records, mapped": lambda path: tf.data.TFRecordDataset(path).map(pause),
    "records, map and prefetch": lambda path: tf.data.TFRecordDataset(path).batch(7).map(as_numbers).prefetch(2),
    "records of names": lambda path: tf.data.TFRecordDataset(Dataset.from_tensors(path).map(lambda name: name)),
}


def as_numbers(batch):
    return np.array([int(record) for record in batch])


def ragged():
    return tf.RaggedTensor.from_row_splits(np.arange(COUNT), np.arange(COUNT + 1))


def filled(dataset):
    list(dataset)
    return dataset


def same(first, second):
    assert int(first) == int(second)
    return first


def numbers(element):
    if isinstance(element, dict):
        [element] = element.values()
    if isinstance(element, bytes):
        return [int(element)]
    array = np.asarray(list(element) if isinstance(element, tf.RecordBatch) else element)
    return [int(number) for number in array.ravel()]


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_each_element_is_given_once(chain, path):
    iterator = iter(chain(path))
    taken = [[] for _ in range(4)]
    errors = []

    def take(part):
        try:
            for element in iterator:
                part.extend(numbers(element))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=take, args=(part,), daemon=True) for part in taken]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    finally:
        sys.setswitchinterval(before)
    assert not any(thread.is_alive() for thread in threads)
    assert errors == []
    alone = [number for element in chain(path) for number in numbers(element)]
    assert len(alone) == COUNT and Counter(number for part in taken for number in part) == Counter(alone)
