"""What Python makes of batches: an error of a signal's handler, at any moment, takes no batch away."""

import functools
import random
import signal
import threading

import pytest

import tfrecord_fast as tf
from tests.support.alarms import Alarm, taken_with_an_alarm
from tfrecord_fast.files.reading.finished import Finished


def test_it_is_a_map():
    finished = Finished(iter(range(5)), lambda number: number * 2)
    assert list(finished) == [0, 2, 4, 6, 8]
    assert list(finished) == []


def failing_once(error, at=2):
    """A function that fails the first time that it sees a certain number."""
    failed = []

    def finish(number):
        if number == at and not failed:
            failed.append(number)
            raise error
        return number

    return finish


@pytest.mark.parametrize("error", [Alarm(), KeyboardInterrupt(), ValueError("of a handler")])
def test_what_was_interrupted_is_given_next(error):
    finished = Finished(iter(range(4)), failing_once(error))
    assert [next(finished), next(finished)] == [0, 1]
    with pytest.raises(type(error)):
        next(finished)
    assert finished.left.before
    assert list(finished) == [2, 3]
    assert not finished.left.before


@pytest.mark.parametrize("error", [Alarm(), KeyboardInterrupt()])
def test_what_may_not_be_finished_again_is_left_out(error):
    finished = Finished(iter(range(4)), failing_once(error), pure=False)
    assert [next(finished), next(finished)] == [0, 1]
    with pytest.raises(type(error)):
        next(finished)
    assert finished.left.before
    assert next(finished) == 3
    assert not finished.left.before


@pytest.mark.parametrize("error", [tf.errors.InvalidArgumentError("own"), MemoryError()])
def test_an_error_of_the_batch_is_passed(error):
    finished = Finished(iter(range(4)), failing_once(error))
    assert [next(finished), next(finished)] == [0, 1]
    with pytest.raises(type(error)):
        next(finished)
    assert not finished.left.before
    assert next(finished) == 3


def test_an_error_that_comes_again_is_passed():
    def finish(number):
        if number == 2:
            raise ValueError("own")
        return number

    finished, taken, errors = Finished(iter(range(4)), finish), [], 0
    for _ in range(5):
        try:
            taken.append(next(finished))
        except ValueError:
            errors += 1
    assert (taken, errors) == ([0, 1, 3], 2)


class Called:
    def __call__(self, number, frame):
        raise ValueError("of a handler")

    def method(self, number, frame):
        raise ValueError("of a handler")


def function(number, frame, more=None):
    raise ValueError("of a handler")


def decorated(handler):
    return functools.wraps(handler)(lambda *arguments: handler(*arguments))


@pytest.mark.parametrize(
    "handler", [function, functools.partial(function, more=1), Called(), Called().method, decorated(function)]
)
def test_signals_that_meet_the_same_batch_again_and_again_take_it_from_nobody(handler):
    raised = []

    def finish(number):
        if number == 2 and len(raised) < 4:
            raised.append(number)
            signal.raise_signal(signal.SIGALRM)
        return number

    before = signal.signal(signal.SIGALRM, handler)
    try:
        finished, taken = Finished(iter(range(4)), finish), []
        for _ in range(4 + 4):
            try:
                taken.append(next(finished))
            except ValueError:
                assert finished.left.before
    finally:
        signal.signal(signal.SIGALRM, before)
    assert taken == [0, 1, 2, 3] and len(raised) == 4


def test_in_another_thread_every_error_is_the_batch_s_own():
    finished, taken = Finished(iter(range(4)), failing_once(ValueError("own"))), []

    def take():
        for _ in range(2):
            taken.append(next(finished))
        with pytest.raises(ValueError):
            next(finished)
        taken.extend(finished)

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    assert taken == [0, 1, 3]


def test_no_moment_of_a_call_loses_a_batch():
    draw, alarms = random.Random(2), []
    for _ in range(300):
        finished = Finished(iter(range(2000)), lambda number: sum((number, 0)))
        taken = taken_with_an_alarm(finished, draw.uniform(1e-5, 3e-4), alarms.append)
        assert taken == list(range(2000))
    assert alarms


def test_threads_share_one():
    finished, taken = Finished(iter(range(20_000)), lambda number: number), [[] for _ in range(4)]
    threads = [threading.Thread(target=mine.extend, args=(finished,)) for mine in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(number for mine in taken for number in mine) == list(range(20_000))
