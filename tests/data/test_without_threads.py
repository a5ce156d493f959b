"""A system that gives no more threads: everything comes, only later."""

import itertools
import threading

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.frames import frame, frames

RECORDS = [b"%d" % n for n in range(3000)]


@pytest.fixture(params=[0, 1, 2])
def threads_left(request, monkeypatch):
    """How many threads of Python can still be started."""
    start, left = threading.Thread.start, [request.param]

    def refuse(self):
        if left[0] == 0:
            raise RuntimeError("can't start new thread")
        left[0] -= 1
        start(self)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    return left


def test_map_in_parallel(threads_left):
    dataset = tf.data.Dataset.range(200).map(lambda n: n * 2, num_parallel_calls=4)
    assert list(dataset) == list(range(0, 400, 2)) and threads_left[0] == 0


def test_map_in_parallel_goes_on_after_an_error(threads_left):
    def invert(n):
        return 1 // int(n % 10)

    elements, found, errors = iter(tf.data.Dataset.range(100).map(invert, num_parallel_calls=4)), 0, 0
    while True:
        try:
            next(elements)
            found += 1
        except StopIteration:
            break
        except ZeroDivisionError:
            errors += 1
    assert (found, errors) == (90, 10)


@pytest.mark.parametrize("size", [1, 7])
def test_prefetch(threads_left, size):
    first = tf.data.Dataset.range(50).prefetch(size)
    second = tf.data.Dataset.range(50).map(lambda n: n, num_parallel_calls=2).prefetch(size).prefetch(size)
    for dataset in (first, second):
        elements = iter(dataset)
        assert list(elements) == list(range(50)) and next(elements, None) is None and next(elements, None) is None


def test_a_global_shuffle(threads_left, tmp_path):
    (tmp_path / "a").write_bytes(frames(RECORDS))
    reader = tf.ShardReader(tmp_path / "a", global_shuffle=True, seed=1, batch_size=100, num_threads=3)
    assert sorted(int(record) for batch in reader for record in batch) == list(range(3000))


def test_counting_damaged_files(threads_left, tmp_path):
    broken = bytearray(frame(b"x" * 50))
    broken[20] ^= 1
    for name in "abcd":
        (tmp_path / name).write_bytes(frames(RECORDS[:100]) + bytes(broken) + frames(RECORDS[100:200]))
    reader = tf.ShardReader(str(tmp_path / "*"), on_corrupt="skip", num_threads=4)
    assert reader.num_records == 800
    assert np.sum([len(batch) for batch in reader]) == 800


def test_two_threads_that_share_what_could_not_be_prefetched(monkeypatch):
    """The second one asks while the first one finds out that there is no thread to be had."""
    elements, found = iter(tf.data.Dataset.range(100).prefetch(2)), []
    helper = threading.Thread(target=lambda: found.extend(itertools.islice(elements, 1)), daemon=True)
    start, asked = threading.Thread.start, threading.Event()

    def refuse(self):
        if self is helper:
            return start(self)
        start(helper)
        asked.wait(0.3)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    own = list(elements)
    helper.join(20)
    assert sorted(own + found) == list(range(100))
