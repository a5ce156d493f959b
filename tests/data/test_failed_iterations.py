"""What an iteration that failed holds: nothing, once its error is dropped; and what its errors know of each other."""

import gc
import threading
import weakref

import pytest

import tfrecord_fast as tf
from tests.support.threads import wait_until
from tfrecord_fast.data.nodes.turns import AnError
from tfrecord_fast.integrations.keras.ahead import Ahead

D = tf.data.Dataset
E = tf.data.experimental


@pytest.fixture(autouse=True)
def without_the_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


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
def test_what_failed_is_gone_without_garbage_collection(make, first):
    def fails(x):
        if x >= first:
            raise ZeroDivisionError
        return x + 1

    before = ours()
    with pytest.raises(ZeroDivisionError) as caught:
        list(make(D.range(100), fails))
    assert [entry.name for entry in caught.traceback][-1] == "fails"
    del caught
    wait_until(lambda: not ours() - before)


ALIVE = weakref.WeakSet()


class KeptError(Exception):
    """One that is in ALIVE as long as it lives."""

    def __init__(self, *_):
        ALIVE.add(self)


def fail(*_):
    raise KeptError


def end(_):
    raise SystemExit


def numbers():
    """Some that come through two threads."""
    return D.range(100).map(int, num_parallel_calls=2)


def the_batches_of_keras():
    next(Ahead(iter(range(9)), fail, 2, 3))


LEAVING = {
    "flat_map to what is no dataset": lambda: list(numbers().flat_map(lambda x: 3)),
    "interleave to what is no dataset": lambda: list(numbers().interleave(lambda x: 3, cycle_length=2)),
    "element_spec": lambda: D.range(100).map(fail, num_parallel_calls=2).element_spec,
    "the last of a thread": lambda: list(D.range(3).map(fail).prefetch(9)),
    "one that waits for its turn": lambda: [*AnError(KeptError())],
    "batches ahead for Keras": the_batches_of_keras,
}


@pytest.mark.parametrize("use", LEAVING.values(), ids=LEAVING)
def test_an_error_is_gone_without_garbage_collection(use):
    before = ours()
    with pytest.raises((KeptError, TypeError, SystemExit)) as caught:
        use()
    del caught
    wait_until(lambda: not ALIVE and not ours() - before)


def test_an_error_is_gone_where_there_are_no_threads(monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(KeptError) as caught:
        list(D.range(1).map(fail, num_parallel_calls=2))
    del caught
    assert not ALIVE


DAMAGED = {
    "records": lambda records: records,
    "batches": lambda records: records.batch(7),
    "records before the damage": lambda records: records.take(40).batch(7),
    "records that are skipped": lambda records: records.skip(25).enumerate(),
}


@pytest.mark.parametrize("make", DAMAGED.values(), ids=DAMAGED)
def test_an_error_of_damage_is_gone(tmp_path, make):
    def error():
        with pytest.raises(tf.errors.DataLossError) as caught:
            list(make(tf.data.TFRecordDataset(damaged(tmp_path))))
        gone = weakref.ref(caught.value)
        del caught
        return gone

    assert error()() is None


def test_the_threads_of_a_global_shuffle_are_gone(tmp_path):
    before = ours()
    with pytest.raises(tf.errors.DataLossError) as caught:
        list(tf.ShardReader(damaged(tmp_path), global_shuffle=True, seed=1, batch_size=5, num_threads=3))
    del caught
    wait_until(lambda: not ours() - before)


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
            found.append((error.__context__, length(error.__traceback__)))


def length(traceback):
    return 0 if traceback is None else 1 + length(traceback.tb_next)


def raises_a_number(x):
    raise ValueError(int(x))


@pytest.mark.parametrize("threads", [None, 2])
def test_errors_of_batches_know_nothing_of_each_other(threads):
    found = errors_of(D.range(60).map(raises_a_number).map(int, num_parallel_calls=threads).batch(3))
    assert [context for context, _ in found] == [None] * 20


def test_the_traceback_of_an_error_in_several_windows_does_not_grow():
    found = errors_of(D.range(9).map(lambda x: raises_a_number(x) if x == 3 else x).window(4, shift=1))
    assert len(found) == 4 and len({length for _, length in found}) == 1


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
