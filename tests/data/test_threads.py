"""Threads of prefetch and map: they overlap, keep order, carry errors, and end."""

import gc
import subprocess
import sys
import threading
import time
import weakref

import pytest

import tfrecord_fast as tf
from tests.support.forks import status_of_child
from tests.support.paths import ROOT
from tests.support.threads import wait_until

_before = set()  # threads that others have left


def ours():
    return [t for t in set(threading.enumerate()) - _before if t.name.startswith("tfrecord_fast.")]


@pytest.fixture(autouse=True)
def no_threads_are_left():
    _before.update(ours())
    yield
    gc.collect()
    wait_until(lambda: not ours())


def test_prefetch_makes_that_many_elements_ahead_and_no_more():
    made = []
    iterator = iter(tf.data.Dataset.range(100).map(lambda x: made.append(x) or x).prefetch(3))
    assert made == []  # nothing happens before the first is asked for
    assert next(iterator) == 0
    wait_until(lambda: len(made) >= 4)
    time.sleep(0.05)
    assert len(made) <= 5  # one taken, three held, one in the making
    del iterator


def test_prefetch_stops_when_dropped():
    made = []
    iterator = iter(tf.data.Dataset.counter().map(lambda x: made.append(x) or x).prefetch(2))
    next(iterator)
    del iterator
    gc.collect()
    wait_until(lambda: not ours())
    count = len(made)
    time.sleep(0.02)
    assert len(made) == count


def test_prefetch_stays_at_its_end():
    iterator = iter(tf.data.Dataset.range(2).map(lambda x: x).prefetch(1))
    assert [int(x) for x in iterator] == [0, 1]
    assert next(iterator, None) is None and next(iterator, None) is None


def test_what_raises_when_iteration_begins_raises_here():
    with pytest.raises(FileNotFoundError):
        next(iter(tf.data.TFRecordDataset("no-such-file").map(lambda r: r).prefetch(2)))


def test_map_on_threads_overlaps_and_keeps_order():
    barrier = threading.Barrier(3, timeout=10)

    def meet(x):
        barrier.wait()
        time.sleep(0.01 * float(3 - x % 3))
        return x

    assert [int(x) for x in tf.data.Dataset.range(9).map(meet, num_parallel_calls=3)] == list(range(9))


def test_map_on_threads_stops_when_dropped():
    called = []
    iterator = iter(tf.data.Dataset.counter().map(lambda x: called.append(x) or x, num_parallel_calls=2))
    next(iterator)
    del iterator
    gc.collect()
    wait_until(lambda: not ours())
    assert len(called) <= 5


def test_threads_take_an_infinite_dataset():
    dataset = tf.data.Dataset.counter().map(lambda x: x * 2, num_parallel_calls=2).prefetch(2).take(5)
    assert [int(x) for x in dataset] == [0, 2, 4, 6, 8]


INTERRUPTED = """
import os, signal, threading, time
import tfrecord_fast as tf

signal.signal(signal.SIGINT, signal.default_int_handler)  # started in the background, it would be ignored

def stuck(x):
    return time.sleep(30) if x == 1 else x

threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    list(tf.data.Dataset.range(5).{chain})
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start < 20, flush=True)
    os._exit(0)
"""


@pytest.mark.parametrize("chain", ["map(stuck).prefetch(2)", "map(stuck, num_parallel_calls=2)"])
def test_ctrl_c_comes_through(chain):
    code = INTERRUPTED.format(chain=chain)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stdout == "interrupted True\n", run.stderr


def test_the_interpreter_ends_while_elements_are_made(tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "a") as writer:
        writer.write_batch([tf.train.example({"a": 1}).SerializeToString()] * 20_000)
    code = f"""
import tfrecord_fast as tf
parse = lambda batch: tf.parse_example(batch, {{"a": tf.FixedLenFeature([], tf.int64)}})
kept = iter(tf.data.TFRecordDataset({str(tmp_path / "a")!r}).repeat().batch(100).map(parse).prefetch(2))
next(kept)
also = iter(tf.data.TFRecordDataset({str(tmp_path / "a")!r}).batch(100).map(parse, num_parallel_calls=2))
next(also)
print("end")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "end\n", "")


# ---- Threads only for slow functions ----


@pytest.fixture
def records(tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "records") as writer:
        writer.write_batch([str(i).encode() for i in range(400)])
    return tf.data.TFRecordDataset(tmp_path / "records")


def quick(threads):
    return lambda record: (threads.append(threading.get_ident()), record)[1]


def slow(threads):
    def function(record):
        time.sleep(0.015)
        threads.append(threading.get_ident())
        return record

    return function


CHAINS = {
    "map(AUTOTUNE)": lambda data, function: data.map(function, num_parallel_calls=tf.data.AUTOTUNE),
    "map.prefetch": lambda data, function: data.map(function).prefetch(2),
    "map.map(AUTOTUNE).prefetch": lambda data, function: (
        data.map(lambda x: x).map(function, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
    ),
}


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
@pytest.mark.parametrize("batched", [False, True], ids=["records", "batches"])
def test_a_quick_function_is_called_where_its_result_is_wanted(records, chain, batched):
    threads = []
    data = records.batch(4) if batched else records
    assert len(list(chain(data, quick(threads)))) == (100 if batched else 400)
    assert set(threads) == {threading.get_ident()}


FORTY = [str(i).encode() for i in range(40)]


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_a_slow_function_is_soon_called_on_threads(records, chain):
    threads = []
    assert list(chain(records.take(40), slow(threads))) == FORTY
    assert threads[0] == threading.get_ident() and threads[-1] != threading.get_ident()
    assert threads.count(threading.get_ident()) <= 3


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_a_function_known_to_be_slow_is_called_on_threads_from_the_start_of_the_next_iteration(records, chain):
    threads = []
    data = chain(records.take(40), slow(threads))
    list(data)
    threads.clear()
    assert list(data) == FORTY
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_errors_keep_their_places_when_threads_take_over(records, chain):
    def function(record):
        if int(record) < 6:
            time.sleep(0.015)
        if int(record) in (0, 1, 2, 9):
            raise ValueError(record)
        return record

    results = []
    iterator = iter(chain(records.take(12), function))
    while True:
        try:
            results.append(next(iterator))
        except StopIteration:
            break
        except ValueError as error:
            results.append(error.args[0].decode())
    assert [int(item) for item in results] == list(range(12))
    assert [int(item) for item in results if isinstance(item, str)] == [0, 1, 2, 9]


def test_a_function_that_is_slow_for_batches_gets_threads_too(records):
    threads = []

    def function(batch):
        time.sleep(0.14)
        threads.append(threading.get_ident())
        return batch

    assert len(list(records.batch(40).map(function).prefetch(1))) == 10
    assert threads[:2] == [threading.get_ident()] * 2 and threading.get_ident() not in threads[3:]


def test_threads_asked_for_by_number_are_used_from_the_start(records):
    threads = []
    list(records.take(20).map(quick(threads), num_parallel_calls=2).prefetch(2))
    assert threading.get_ident() not in threads


def test_threads_asked_for_by_number_stop_when_they_are_of_no_use_and_come_back():
    threads = []

    def function(number):
        if 3000 <= number < 3050:
            time.sleep(0.005)
        threads.append(threading.get_ident())
        return number

    def mine(first, last):
        return sum(thread == threading.get_ident() for thread in threads[first:last]) / (last - first)

    assert [int(x) for x in tf.data.Dataset.range(4000).map(function, num_parallel_calls=3)] == list(range(4000))
    assert mine(0, 20) == 0 and mine(2000, 3000) > 0.9
    assert mine(3010, 3040) == 0


@pytest.mark.parametrize("threads", [2, tf.data.AUTOTUNE])
def test_a_function_may_be_quick_and_slow_by_turns_forever(threads):
    def function(number):
        if number % 200 < 20:
            time.sleep(100e-6)
        return number

    data = tf.data.Dataset.range(60_000).map(function, num_parallel_calls=threads)
    iterator = iter(data)
    assert [int(x) for x in iterator] == list(range(60_000))
    depth, inner = 0, iterator
    while (inner := getattr(inner, "_rest", None)) is not None:
        depth += 1
    assert depth <= 1


MAKERS = {
    "prefetch": lambda data: data.prefetch(2),
    "map on threads": lambda data: data.map(lambda x: (time.sleep(0.001), x)[1], num_parallel_calls=2),
    "map(AUTOTUNE).prefetch": lambda data: data.map(lambda x: x, num_parallel_calls=tf.data.AUTOTUNE).prefetch(2),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_threads_share_an_iterator(records, make):
    iterator = iter(make(records))
    taken = [[] for _ in range(4)]
    consumers = [threading.Thread(target=lambda part=part: part.extend(iterator), daemon=True) for part in taken]
    for consumer in consumers:
        consumer.start()
    for consumer in consumers:
        consumer.join(20)
        assert not consumer.is_alive()
    assert sorted(int(record) for part in taken for record in part) == list(range(400))


@pytest.mark.parametrize(
    "chain",
    [
        "map(never).prefetch(2)",
        "filter(never).prefetch(2)",
        "map(never, num_parallel_calls=2)",
        "map(never, num_parallel_calls=-1)",
        "take_while(never)",
        "flat_map(never)",
    ],
)
def test_stop_iteration_in_a_function_is_an_error_and_not_the_end(records, chain):
    def never(record):
        raise StopIteration

    with pytest.raises(tf.errors.InvalidArgumentError, match="the function never raised StopIteration"):
        next(iter(eval(f"records.{chain}", {"records": records, "never": never})))


def test_the_interpreter_ends_while_a_filter_gives_nothing(tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "a") as writer:
        writer.write_batch([b"record"] * 1000)
    code = f"""
import threading, time
import tfrecord_fast as tf
data = tf.data.TFRecordDataset({str(tmp_path / "a")!r}).repeat().filter(lambda record: False).prefetch(2)
threading.Thread(target=lambda: next(iter(data)), daemon=True).start()
time.sleep(0.3)
print("end")
"""
    start = time.monotonic()
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout) == (0, "end\n"), run.stderr
    assert time.monotonic() - start < 10


def test_a_process_forked_from_the_one_with_the_threads_gets_an_error(records):
    code = """
import os, sys
import tfrecord_fast as tf
iterator = iter(tf.data.Dataset.range(100).prefetch(2))
next(iterator)
child = os.fork()
if child == 0:
    try:
        next(iterator)
    except RuntimeError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60)
    assert "another process" in run.stdout, run.stderr


# ---- Threads end ----


class Trainer:
    """Holds an iterator whose function holds the trainer."""

    def __init__(self, make):
        self.iterator = iter(make(tf.data.Dataset.range(10_000).map(self.work), self.work))
        next(self.iterator)

    def work(self, x):
        return x


HELD = {
    "prefetch": lambda data, work: data.prefetch(2),
    "prefetch twice": lambda data, work: data.prefetch(2).map(work).prefetch(2),
    "map on threads": lambda data, work: data.map(work, num_parallel_calls=2),
    "map on threads, prefetch": lambda data, work: data.map(work, num_parallel_calls=2).prefetch(2),
    "prefetch, batch": lambda data, work: data.prefetch(2).batch(2).map(work),
    "shuffle": lambda data, work: data.shuffle(10).map(work),
    "zip": lambda data, work: tf.data.Dataset.zip(data.prefetch(1), data),
    "interleave": lambda data, work: data.interleave(lambda x: tf.data.Dataset.range(5).map(work).prefetch(1), 3),
}


@pytest.mark.parametrize("make", HELD.values(), ids=HELD)
def test_an_iterator_in_a_circle_of_references_is_collected(make):
    trainer = Trainer(make)
    gone = weakref.ref(trainer)
    del trainer
    wait_until(lambda: gc.collect() >= 0 and gone() is None)
    wait_until(lambda: not ours())


@pytest.mark.parametrize("chain", ["map(stuck, num_parallel_calls=2)", "map(stuck).prefetch(2)"])
def test_the_interpreter_ends_while_a_function_never_does(chain):
    code = f"""
import threading, time
import tfrecord_fast as tf

def stuck(x):
    while x:
        time.sleep(0.01)
    return x

kept = iter(tf.data.Dataset.range(9).{chain})
print(int(next(kept)))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert (run.returncode, run.stdout) == (0, "0\n"), run.stderr


REENTRANT = {
    "shuffle": lambda data: data.shuffle(2),
    "batch": lambda data: data.batch(2),
    "prefetch": lambda data: data.prefetch(2),
    "cache": lambda data: data.cache(),
    "zip": lambda data: tf.data.Dataset.zip(data, data),
}


@pytest.mark.parametrize("make", REENTRANT.values(), ids=REENTRANT)
def test_a_function_that_asks_the_iterator_that_calls_it_gets_an_error(make):
    held = []

    def ask(x):
        return next(held[0]) if held else x

    held.append(iter(make(tf.data.Dataset.range(5).map(ask))))
    with pytest.raises(RuntimeError, match="from within a function that this iterator is running"):
        next(held[0])
    held.clear()


# ---- Forks ----


def test_a_forked_process_continues_with_an_iterator_that_no_thread_was_in():
    iterator = iter(tf.data.Dataset.range(10).map(lambda x: x).shuffle(1).batch(2))
    next(iterator)
    assert status_of_child(lambda: [batch.tolist() for batch in iterator] == [[2, 3], [4, 5], [6, 7], [8, 9]]) == 0


IN_USE = {
    "shuffle": lambda data: data.shuffle(1),
    "take": lambda data: data.take(5),
    "map(AUTOTUNE)": lambda data: data.map(lambda x: x, num_parallel_calls=tf.data.AUTOTUNE),
}


@pytest.mark.parametrize("make", IN_USE.values(), ids=IN_USE)
def test_a_forked_process_does_not_wait_for_a_thread_that_is_not_there(make):
    inside, leave = threading.Event(), threading.Event()

    def wait(x):
        inside.set()
        leave.wait(20)
        return x

    iterator = iter(make(tf.data.Dataset.range(5).map(wait)))
    thread = threading.Thread(target=lambda: list(iterator))
    thread.start()
    inside.wait(20)

    def raises():
        with pytest.raises(RuntimeError, match="fork"):
            next(iterator)
        return True

    status = status_of_child(raises)
    leave.set()
    thread.join()
    assert status == 0


def test_a_thread_whose_start_was_interrupted_does_not_disturb_the_end_of_the_process():
    script = """
import threading
import tfrecord_fast as tf

def start(thread):
    raise KeyboardInterrupt

iterator = iter(tf.data.Dataset.range(3).map(lambda i: i).prefetch(2))
begun, threading.Thread.start = threading.Thread.start, start
try:
    next(iterator)
except KeyboardInterrupt:
    print("interrupted")
threading.Thread.start = begun
"""
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (ended.stdout, ended.stderr) == ("interrupted\n", "")


def test_a_prefetch_of_any_size_takes_no_memory_for_it():
    assert list(tf.data.Dataset.range(3).prefetch(2**40)) == [0, 1, 2]
