"""An exception from a signal handler inside `next()` ends that iteration, at once, and no other."""

import functools
import os
import signal
import threading
import time

import pytest

import tfrecord_fast as tf
from tests.support.alarms import Alarm, alarmed
from tests.support.frames import frames
from tfrecord_fast.base.handlers import raised_by_handler

D = tf.data.Dataset
RECORDS = [b"%04d" % number for number in range(20)]

OF_RECORDS = {
    "records": lambda records: records,
    "take": lambda records: records.take(9999),
    "shard": lambda records: records.shard(2, 0),
    "batch": lambda records: records.batch(7),
    "batches of a part": lambda records: records.skip(1).batch(7),
    "map": lambda records: records.map(len),
    "batch of what a function makes": lambda records: records.map(len).batch(7),
    "map on threads": lambda records: records.map(len, num_parallel_calls=2),
    "prefetch": lambda records: records.map(len).prefetch(2),
    "shuffle": lambda records: records.map(len).shuffle(50),
    "zip": lambda records: D.zip((D.range(9999), records)),
    "interleave": lambda records: D.range(2).interleave(lambda _: records, cycle_length=2),
    "window": lambda records: records.window(7).flat_map(lambda window: window.batch(7)),
    "ignore_errors": lambda records: records.map(len).ignore_errors(),
    "cache": lambda records: records.cache(),
}


@pytest.mark.alone
@pytest.mark.parametrize("form", OF_RECORDS)
def test_a_wait_for_a_pipe_ends_at_once_and_so_does_the_iteration(form, tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    writer = os.open(path, os.O_RDWR)  # which stays silent
    try:
        elements = iter(OF_RECORDS[form](tf.data.TFRecordDataset(path)))
        began = time.monotonic()
        with pytest.raises(Alarm), alarmed(0.3):
            next(elements)
        assert time.monotonic() - began < 5
        assert list(elements) == []
    finally:
        os.close(writer)


OF_A_FUNCTION = {
    "map": lambda numbers, function: numbers.map(function),
    "filter": lambda numbers, function: numbers.filter(lambda x: function(x) >= 0),
    "take_while": lambda numbers, function: numbers.take_while(lambda x: function(x) >= 0),
    "batch": lambda numbers, function: numbers.map(function).batch(2),
    "window": lambda numbers, function: numbers.map(function).window(2).flat_map(lambda window: window),
    "zip": lambda numbers, function: D.zip((numbers, numbers.map(function))),
    "flat_map": lambda numbers, function: numbers.flat_map(lambda x: D.from_tensors(function(x))),
    "interleave": lambda numbers, function: numbers.interleave(lambda x: D.from_tensors(function(x)), cycle_length=2),
    "scan": lambda numbers, function: numbers.scan(0, lambda state, x: (state, function(x))),
    "ignore_errors": lambda numbers, function: numbers.map(function).ignore_errors(),
    "errors that are passed over": lambda numbers, function: (
        numbers.map(lambda x: [][0] if x == 2 else function(x)).batch(4).ignore_errors()
    ),
    "generator": lambda numbers, function: D.from_generator(lambda: map(function, range(8)), tf.int64),
    "cache": lambda numbers, function: numbers.map(function).cache(),
    "cache below": lambda numbers, function: numbers.cache().map(function),
}


@pytest.mark.parametrize("kind", [Alarm, KeyboardInterrupt])
@pytest.mark.parametrize("form", OF_A_FUNCTION)
def test_an_iteration_is_over_and_the_next_one_is_whole(form, kind):
    rings = []

    def function(x):
        if x == 3 and rings:
            rings.pop()()
        return x

    def interrupt():
        raise KeyboardInterrupt

    dataset = OF_A_FUNCTION[form](D.range(8), function)
    whole = [str(element) for element in OF_A_FUNCTION[form](D.range(8), function)]
    with alarmed() as ring:
        rings.append(ring if kind is Alarm else interrupt)
        elements, taken = iter(dataset), []
        with pytest.raises(kind):
            for element in elements:
                taken.append(str(element))
        assert taken == whole[: len(taken)] and list(elements) == []
        assert [str(element) for element in dataset] == whole == [str(element) for element in dataset]


def test_a_file_cache_that_an_interrupted_iteration_filled_is_not_there(tmp_path):
    rings = []
    dataset = D.range(8).map(lambda x: rings.pop()() if x == 5 and rings else x).cache(str(tmp_path / "cache"))
    with alarmed() as ring:
        rings.append(ring)
        elements = iter(dataset)
        with pytest.raises(Alarm):
            list(elements)
    assert list(elements) == [] and os.listdir(tmp_path) == []
    assert [int(x) for x in dataset] == list(range(8)) == [int(x) for x in dataset]


@pytest.mark.parametrize("make", [lambda slow: slow.prefetch(2), lambda slow: slow.map(str, num_parallel_calls=2)])
def test_waiting_for_a_thread_ends_at_once(make):
    leave = threading.Event()
    elements = iter(make(D.range(8).map(lambda x: leave.wait(60) and x, num_parallel_calls=2)))
    began = time.monotonic()
    with pytest.raises(Alarm), alarmed(0.3):
        next(elements)
    assert time.monotonic() - began < 5 and list(elements) == []
    leave.set()


def test_an_error_of_a_record_does_not_end_an_iteration():
    elements = iter(D.range(4).map(lambda x: [][0] if x == 1 else x))
    with alarmed():
        assert int(next(elements)) == 0
        with pytest.raises(IndexError):
            next(elements)
        assert [int(x) for x in elements] == [2, 3]


def test_iterators_of_the_tensorflow_names_end():
    ts = pytest.importorskip("tfrecord_fast.tensorflow")
    rings = []
    with alarmed() as ring:
        rings.append(ring)
        elements = iter(ts.data.Dataset.range(5).map(lambda x: rings.pop()() if rings else x))
        with pytest.raises(Alarm):
            next(elements)
        with pytest.raises(ts.errors.OutOfRangeError):
            elements.get_next()


def test_threads_that_share_an_iteration_all_come_to_its_end():
    rings, taken = [], [[] for _ in range(4)]

    def function(x):
        if x == 500 and threading.current_thread() is threading.main_thread():
            rings.pop()()
        return x

    with alarmed() as ring:
        rings.append(ring)
        elements = iter(D.range(100_000).map(function))
        threads = [threading.Thread(target=mine.extend, args=(elements,)) for mine in taken]
        for thread in threads:
            thread.start()
        while next(elements, None) is not None:
            pass
        for thread in threads:
            thread.join()
    together = [int(x) for mine in taken for x in mine]
    assert len(together) == len(set(together))


# ---- What is known as a handler ----


class Called:
    def __call__(self, number, frame):
        raise ValueError

    def method(self, number, frame):
        raise ValueError


def function(number, frame, more=None):
    raise ValueError


def decorated(handler):
    return functools.wraps(handler)(lambda *arguments: handler(*arguments))


@pytest.mark.parametrize(
    "handler", [function, functools.partial(function, more=1), Called(), Called().method, decorated(function)]
)
def test_the_error_of_a_handler_of_any_kind_is_known(handler):
    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(ValueError) as raised:
            signal.raise_signal(signal.SIGALRM)
    finally:
        assert raised_by_handler(raised.value)
        signal.signal(signal.SIGALRM, before)
    with pytest.raises(ValueError) as other:
        int("no number")
    assert not raised_by_handler(other.value) and raised_by_handler(KeyboardInterrupt())


def test_records_before_an_interrupt_are_whole(tmp_path):
    (tmp_path / "a").write_bytes(frames(RECORDS))
    rings = []
    with alarmed() as ring:
        dataset = tf.data.TFRecordDataset(str(tmp_path / "a")).map(lambda x: rings.pop()() if rings else x)
        elements = iter(dataset)
        assert [next(elements) for _ in range(5)] == RECORDS[:5]
        rings.append(ring)
        with pytest.raises(Alarm):
            next(elements)
        assert list(elements) == [] and list(dataset) == RECORDS
