"""A consumer in haste computes the elements of a prefetch itself; errors, values and their order are the same."""

import queue
import threading
import time

import tfrecord_fast as tf
from tests.support.threads import wait_until
from tfrecord_fast.data.nodes.ahead.prefetch import Prefetched


def ours():
    return [thread for thread in threading.enumerate() if thread.name.startswith("tfrecord_fast.prefetch")]


def test_a_consumer_in_haste_computes_elements_itself_until_it_is_away():
    threads = []

    def function(number):
        time.sleep(50e-6)
        threads.append(threading.get_ident())
        return number

    iterator = iter(tf.data.Dataset.range(100_000).map(function).prefetch(3))
    while threading.get_ident() not in threads:
        next(iterator)
    taken = len(threads)
    time.sleep(0.01)
    assert not ours()
    assert next(iterator) == taken
    wait_until(lambda: len(threads) == taken + 4)
    assert threads[-1] != threading.get_ident()
    assert [int(next(iterator)) for _ in range(100)] == list(range(taken + 1, taken + 101))


def test_threads_share_a_prefetch_that_changes_hands():
    data = tf.data.Dataset.range(20_000).map(lambda number: number).prefetch(3)
    iterator, taken = iter(data), []

    def take(pause):
        for number in iterator:
            taken.append(int(number))
            if number % 100 == 0:
                time.sleep(pause)

    consumers = [threading.Thread(target=take, args=(pause,)) for pause in (0, 0.001, 0.002)]
    for consumer in consumers:
        consumer.start()
    for consumer in consumers:
        consumer.join(30)
    assert sorted(taken) == list(range(20_000))


def test_an_element_that_waits_for_the_one_before_it_comes_through_a_prefetch():
    answers = queue.SimpleQueue()

    def talk():
        for number in range(50):
            yield number
            answers.get(timeout=10)

    for number in tf.data.Dataset.from_generator(talk).prefetch(2):
        answers.put(number)


def test_a_thread_is_not_left_while_another_consumer_waits_for_it():
    def elements():
        for number in range(100_000):
            time.sleep(50e-6)
            yield number

    iterator = Prefetched(elements, 3)
    next(iterator)
    iterator._waiting = 1  # the other consumer
    for _ in range(500):
        next(iterator)
    assert not iterator._room.is_left
    iterator._waiting = 0
    while not iterator._room.is_left:
        next(iterator)
