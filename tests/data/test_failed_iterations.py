"""Iterations that failed: their threads end, and what errors tell."""

import gc
import threading

import pytest

import tfrecord_fast as tf
from tests.support.threads import wait_until

D = tf.data.Dataset
E = tf.data.experimental


def ours():
    return {t for t in threading.enumerate() if t.name.startswith("tfrecord_fast")}


FAILING = {
    "map on threads": lambda data, fails: data.map(fails, num_parallel_calls=2),
    "prefetch": lambda data, fails: data.map(fails).prefetch(2),
    "map on threads, prefetch": lambda data, fails: data.map(fails, num_parallel_calls=2).prefetch(2),
    "batch": lambda data, fails: data.map(fails, num_parallel_calls=2).shuffle(5).batch(2).prefetch(2),
    "window": lambda data, fails: data.map(fails, num_parallel_calls=2).window(2),
    "zip": lambda data, fails: D.zip(data.map(fails, num_parallel_calls=2), data.prefetch(1)),
    "interleave": lambda data, fails: data.interleave(
        lambda x: D.range(5).map(fails).prefetch(1), 3, num_parallel_calls=2
    ),
    "parallel_interleave": lambda data, fails: data.map(int, num_parallel_calls=2).apply(
        E.parallel_interleave(lambda x: fails(x) and data, 1)
    ),
}


@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.parametrize("make", FAILING.values(), ids=FAILING)
def test_the_threads_of_what_failed_are_gone_when_garbage_is_collected(make, first):
    def fails(x):
        if x >= first:
            raise ZeroDivisionError
        return x + 1

    before = ours()
    with pytest.raises(ZeroDivisionError) as caught:
        list(make(D.range(100), fails))
    assert [entry.name for entry in caught.traceback][-1] == "fails"
    del caught
    wait_until(lambda: gc.collect() >= 0 and not ours() - before)


def test_the_threads_of_a_global_shuffle_are_gone(tmp_path):
    before = ours()
    with pytest.raises(tf.errors.DataLossError) as caught:
        list(tf.ShardReader(damaged(tmp_path), global_shuffle=True, seed=1, batch_size=5, num_threads=3))
    del caught
    wait_until(lambda: gc.collect() >= 0 and not ours() - before)


def damaged(folder):
    path = folder / "damaged.tfrecord"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch([b"%04d" % number * 10 for number in range(50)])
    data = bytearray(path.read_bytes())
    data[20 * 56 + 12] ^= 1
    path.write_bytes(data)
    return str(path)


# ---- Errors, one after the other ----


def errors_of(dataset):
    elements, found = iter(dataset), []
    while True:
        try:
            next(elements)
        except StopIteration:
            return found
        except ValueError as error:
            found.append(error.__context__)


def raises_a_number(x):
    raise ValueError(int(x))


@pytest.mark.parametrize("threads", [None, 2])
def test_errors_of_batches_know_nothing_of_each_other(threads):
    found = errors_of(D.range(60).map(raises_a_number).map(int, num_parallel_calls=threads).batch(3))
    assert found == [None] * 20


def test_damage_in_the_rest_of_a_batch_that_failed_is_told(tmp_path):
    def fails(record):
        if record.startswith(b"0018"):
            raise ValueError
        return record

    elements, found = iter(tf.data.TFRecordDataset(damaged(tmp_path)).map(fails).batch(6)), []
    for _ in range(9):
        try:
            found.append(len(next(elements)))
        except (ValueError, tf.errors.DataLossError) as error:
            found.append(type(error))
        except StopIteration:
            break
    assert found == [6, 6, 6, ValueError, tf.errors.DataLossError]


# ---- StopIteration where an iteration starts ----


class Firsts(tf.data.Dataset):
    """The first of some rows; by mistake StopIteration if there are none."""

    def __init__(self, rows):
        self._rows = rows

    def __iter__(self):
        return iter([next(iter(self._rows))])


def firsts(x):
    return Firsts([] if x == 1 else [int(x)])


STARTING = {
    "flat_map": lambda: D.range(4).flat_map(firsts),
    "interleave": lambda: D.range(4).interleave(firsts, cycle_length=1),
    "parallel_interleave": lambda: D.range(4).apply(E.parallel_interleave(firsts, cycle_length=1)),
    "prefetch": lambda: firsts(1).prefetch(2),
    "repeat": lambda: firsts(1).repeat(2),
    "concatenate": lambda: D.range(2).map(int).concatenate(firsts(1)),
    "from_generator": lambda: D.from_generator(lambda: firsts(1), tf.int64).prefetch(2),
}


@pytest.mark.parametrize("make", STARTING.values(), ids=STARTING)
def test_stop_iteration_before_the_first_element_is_an_error_and_not_the_end(make):
    with pytest.raises(tf.errors.InvalidArgumentError, match="StopIteration"):
        list(make())
