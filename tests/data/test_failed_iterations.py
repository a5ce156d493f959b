"""What an iteration that failed holds: nothing, once its error is dropped."""

import gc
import threading
import weakref

import pytest

import tfrecord_fast as tf
from tests.support.threads import wait_until
from tfrecord_fast.base.raising import raised


def ours():
    return {t for t in threading.enumerate() if t.name.startswith("tfrecord_fast.")}


FAILING = {
    "map on threads": lambda data, fails: data.map(fails, num_parallel_calls=2),
    "prefetch": lambda data, fails: data.map(fails).prefetch(2),
    "map on threads, prefetch": lambda data, fails: data.map(fails, num_parallel_calls=2).prefetch(2),
    "batch": lambda data, fails: data.map(fails, num_parallel_calls=2).shuffle(5).batch(2).prefetch(2),
    "zip": lambda data, fails: tf.data.Dataset.zip(data.map(fails, num_parallel_calls=2), data.prefetch(1)),
    "interleave": lambda data, fails: data.interleave(
        lambda x: tf.data.Dataset.range(5).map(fails).prefetch(1), 3, num_parallel_calls=2
    ),
}


@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.parametrize("make", FAILING.values(), ids=FAILING)
def test_what_failed_is_gone_without_garbage_collection(make, first):
    def fails(x):
        if x >= first:
            raise ZeroDivisionError
        return x

    gc.collect()
    before = ours()
    gc.disable()
    try:
        with pytest.raises(ZeroDivisionError) as caught:
            list(make(tf.data.Dataset.range(100), fails))
        assert [entry.name for entry in caught.traceback][-1] == "fails"
        del caught
        wait_until(lambda: not ours() - before)
    finally:
        gc.enable()


ALIVE = weakref.WeakSet()


class KeptError(Exception):
    """One that is in ALIVE as long as it lives."""

    def __init__(self):
        ALIVE.add(self)


def fail(*_):
    raise KeptError


def the_last_of_a_thread():
    list(tf.data.Dataset.range(3).map(fail).prefetch(9))


def one_that_waits_for_its_turn():
    list(map(raised, [KeptError()]))


@pytest.mark.parametrize("use", [the_last_of_a_thread, one_that_waits_for_its_turn])
def test_an_error_is_gone_without_garbage_collection(use):
    gc.disable()
    try:
        with pytest.raises(KeptError) as caught:
            use()
        del caught
        wait_until(lambda: not ALIVE)
    finally:
        gc.enable()
