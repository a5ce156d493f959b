"""When a function counts as slow, and threads start, by a clock that only the function moves."""

import threading

import pytest

import tfrecord_fast as tf
from tfrecord_fast.data.nodes.ahead import trials


@pytest.fixture
def called_here(monkeypatch):
    """Of each element, whether the function was called where its result was wanted; it takes so many seconds."""
    now, here = [0.0], threading.get_ident()
    monkeypatch.setattr(trials, "perf_counter", lambda: now[0])

    def calls(seconds):
        found = {}

        def function(number):
            now[0] += seconds[number]
            found[int(number)] = threading.get_ident() == here
            return number

        data = tf.data.Dataset.range(len(seconds)).map(function, num_parallel_calls=tf.data.AUTOTUNE)
        assert list(data) == list(range(len(seconds)))
        return [found[number] for number in range(len(seconds))]

    return calls


def test_one_long_call_starts_no_threads(called_here):
    assert all(called_here([1.0, 0, 0, 1.0, 0, 1.0, 0, 0]))


def test_two_long_calls_in_a_row_do(called_here):
    assert called_here([0, 1.0, 1.0, 0, 0]) == [True, True, True, False, False]


def test_a_few_slow_calls_start_no_threads_where_cheap_ones_come_in_between(called_here):
    assert all(called_here([100e-6, 100e-6, 0] * 30))
    assert not all(called_here([100e-6] * 30))
