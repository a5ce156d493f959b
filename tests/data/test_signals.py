"""A handler of a signal raises in `next()` of a dataset's iterator: it is heard, and the rest still comes."""

import contextlib
import io
import os
import random
import signal
import threading
import time

import pytest

import tfrecord_fast as tf
from tests.support.alarms import Alarm, taken_with_an_alarm
from tests.support.frames import frames
from tests.support.interrupts import BOOM_ON_ALARM
from tests.support.processes import run_code
from tfrecord_fast._core import record_batch
from tfrecord_fast.base.workers import NoThreadError, Workers, has_started
from tfrecord_fast.data.nodes.iterators import Zipped
from tfrecord_fast.data.nodes.turns import InTurn
from tfrecord_fast.data.nodes.windows import WithLastRecords
from tfrecord_fast.files.streams.records import after
from tfrecord_fast.integrations.keras.ahead import Ahead

pytestmark = pytest.mark.alone


WINDOWED = {
    "take": lambda records: records.take(5000).batch(7),
    "skip": lambda records: records.skip(1).batch(7),
    "shard": lambda records: records.shard(2, 0).batch(7),
    "paths that are computed": lambda records: records.batch(7),
}


def windowed(form, path):
    paths = tf.data.Dataset.from_tensor_slices([path]).map(lambda path: path)
    return WINDOWED[form](tf.data.TFRecordDataset(paths if "paths" in form else path))


@pytest.mark.parametrize("form", WINDOWED)
def test_batches_of_some_of_the_records_go_on(tmp_path, form):
    path, draw, alarms = str(tmp_path / "a"), random.Random(1), []
    (tmp_path / "a").write_bytes(frames([b"%d" % number * 500 for number in range(3000)]))
    expected = [record for batch in windowed(form, path) for record in batch]
    for _ in range(40):
        elements = iter(windowed(form, path))
        taken = [next(elements), *taken_with_an_alarm(elements, draw.uniform(1e-5, 5e-3), alarms.append)]
        found = [record for batch in taken for record in batch]
        assert len(expected) - len(found) <= 7  # one batch may get lost on its way through the lock
    assert alarms


class Slow(io.RawIOBase):
    """A file that takes its time."""

    def __init__(self, data):
        self._file = io.BytesIO(data)

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, *place):
        return self._file.seek(*place)

    def tell(self):
        return self._file.tell()

    def readinto(self, memory):
        time.sleep(0.02)
        return self._file.readinto(memoryview(memory)[:60_000])


@pytest.mark.parametrize("form", ["take", "skip", "shard"])
def test_batches_of_some_of_the_records_hear_it_at_once(form):
    elements = WINDOWED[form](tf.data.TFRecordDataset(Slow(frames([b"%05d" % i * 200 for i in range(2000)]))))
    began, ended = time.monotonic(), []
    taken_with_an_alarm(iter(elements), 0.1, lambda taken: ended.append(time.monotonic()), goes_on=False)
    assert ended and ended[0] - began < 0.4


NUMBERED = [b"%04d" % number * 1000 for number in range(1500)]
ONE_BY_ONE = {
    "take": lambda records: records.take(1200),
    "shard": lambda records: records.shard(3, 1),
    "a large shard": lambda records: records.shard(1400, 1300),
    "a part of a part": lambda records: records.take(1400).shard(2, 1).take(400),
}


def write_in_two_parts(path, heard):
    """To a pipe: the second half when that is heard."""
    data = frames(NUMBERED)
    with contextlib.suppress(BrokenPipeError), open(path, "wb", buffering=0) as pipe:
        pipe.write(data[: len(data) // 2])
        heard.wait(10)
        pipe.write(data[len(data) // 2 :])


@pytest.mark.parametrize("form", ONE_BY_ONE)
def test_some_of_the_records_one_by_one_go_on(tmp_path, form):
    path, heard = str(tmp_path / "pipe"), threading.Event()
    os.mkfifo(path)
    writing = threading.Thread(target=write_in_two_parts, args=(path, heard))
    writing.start()
    elements = iter(ONE_BY_ONE[form](tf.data.TFRecordDataset(path)))
    taken = taken_with_an_alarm(elements, 0.2, lambda taken: heard.set())
    assert heard.is_set() and taken == list(ONE_BY_ONE[form](tf.data.Dataset.from_tensor_slices(NUMBERED)))
    del elements
    writing.join()


MADE_OF_THEM = {
    "zip": lambda records: tf.data.Dataset.zip((tf.data.Dataset.range(9999), records, tf.data.Dataset.range(9999))),
    "enumerate": lambda records: records.enumerate(),
    "batch": lambda records: records.map(lambda record: (record, record)).batch(7),
    "padded_batch": lambda records: records.map(lambda record: tf.constant([1] * int(b"1" + record[3:4]))).padded_batch(
        7
    ),
    "rebatch": lambda records: records.batch(7).rebatch([4, 5]),
    "window": lambda records: records.window(7).flat_map(lambda window: window.batch(7)),
    "map on threads": lambda records: records.map(lambda record: record, num_parallel_calls=2),
    "ignore_errors": lambda records: records.map(lambda record: record).ignore_errors(),
}


@pytest.mark.parametrize("form", MADE_OF_THEM)
def test_what_is_made_of_records_hears_it_at_once_and_goes_on(tmp_path, form):
    path, heard = str(tmp_path / "pipe"), threading.Event()
    os.mkfifo(path)
    expected = list(MADE_OF_THEM[form](tf.data.Dataset.from_tensor_slices(NUMBERED)))
    elements = iter(MADE_OF_THEM[form](tf.data.TFRecordDataset(path)))
    writing = threading.Thread(target=write_in_two_parts, args=(path, heard))
    began, ended = time.monotonic(), []
    writing.start()

    def on_alarm(taken):
        ended.append(time.monotonic())
        heard.set()

    taken = taken_with_an_alarm(elements, 0.3, on_alarm)
    assert ended and ended[0] - began < 5
    assert [*map(repr, taken)] == [*map(repr, expected)]
    del elements
    writing.join()


JOINED = {
    "flat_map": lambda numbers, opened: numbers.flat_map(opened),
    "interleave": lambda numbers, opened: numbers.interleave(opened, cycle_length=2),
    "parallel_interleave": lambda numbers, opened: numbers.apply(
        tf.data.experimental.parallel_interleave(opened, cycle_length=2)
    ),
    "concatenate": lambda numbers, opened: opened(0).concatenate(opened(1)).concatenate(opened(2)),
    "repeat": lambda numbers, opened: opened(0).repeat(3),
}


class Started(tf.data.Dataset):
    """Five numbers; the first iteration over those of some numbers is interrupted as it starts."""

    rings = iter(())

    def __init__(self, number):
        super().__init__()
        self._number = int(number)

    def __iter__(self):
        next(Started.rings, lambda: None)()
        return iter(range(5 * self._number, 5 * self._number + 5))


@pytest.mark.parametrize("kind", [Alarm, KeyboardInterrupt])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("join", JOINED)
def test_what_is_opened_while_a_handler_raises_is_opened_again(join, place, kind, monkeypatch):
    def stop(*_):
        raise kind

    before = signal.signal(signal.SIGALRM, stop)
    try:
        rings = [lambda: None] * place + [lambda: signal.raise_signal(signal.SIGALRM)]
        expected = [int(x) for x in JOINED[join](tf.data.Dataset.range(3), Started)]
        monkeypatch.setattr(Started, "rings", iter(rings))
        found, heard, elements = [], 0, iter(JOINED[join](tf.data.Dataset.range(3), Started))
        while len(found) < len(expected):
            try:
                found.append(int(next(elements)))
            except kind:
                heard += 1
        assert found == expected and heard == 1 and next(elements, None) is None
    finally:
        signal.signal(signal.SIGALRM, before)


def read_whole(path):
    return tf.data.FixedLengthRecordDataset([path], 4)


BY_GENERATORS = {
    "text": lambda path: tf.data.TextLineDataset([path]),
    "fixed length": read_whole,
    "CSV": lambda path: tf.data.experimental.CsvDataset([path], [tf.int64]),
    "kept in memory": lambda path: read_whole(path).cache(),
    "kept in a file": lambda path: read_whole(path).cache(path + ".kept"),
}


@pytest.mark.parametrize("kind", [Alarm, KeyboardInterrupt])
@pytest.mark.parametrize("form", BY_GENERATORS)
def test_what_a_handler_has_cut_is_no_end(form, kind, tmp_path, monkeypatch):
    def stop(*_):
        raise kind

    def read(file, *size):
        signal.raise_signal(signal.SIGALRM)
        return whole(file, *size)

    (tmp_path / "a").write_text("100\n" * 9)
    before, whole = signal.signal(signal.SIGALRM, stop), tf.io.gfile.GFile.read
    try:
        dataset = BY_GENERATORS[form](str(tmp_path / "a"))
        elements = iter(dataset)
        with monkeypatch.context() as patched:
            patched.setattr(tf.io.gfile.GFile, "read", read)
            with pytest.raises(kind):
                next(elements)
        with pytest.raises(tf.errors.FailedPreconditionError, match=r"^a signal's handler has raised .* new iterator"):
            next(elements)
        assert next(elements, None) is None
        assert len(list(dataset)) == len(list(dataset)) == 9
    finally:
        signal.signal(signal.SIGALRM, before)


def test_an_error_in_a_generator_is_its_end():
    def generate():
        yield 1
        raise ValueError("no more")

    elements = InTurn(generate())
    assert next(elements) == 1
    with pytest.raises(ValueError, match="no more"):
        next(elements)
    assert next(elements, None) is None


def test_drawing_goes_on_after_a_handler_has_raised(monkeypatch):
    drawn, calls = random.Random.choices, []

    def choices(*given, **named):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return drawn(*given, **named)

    elements = iter(tf.data.Dataset.sample_from_datasets([tf.data.Dataset.range(9), tf.data.Dataset.range(9)], seed=1))
    monkeypatch.setattr(random.Random, "choices", choices)
    found = [int(next(elements)), int(next(elements))]
    with pytest.raises(KeyboardInterrupt):
        next(elements)
    assert len([*found, *elements]) == 18


class Interrupted:
    """An iterator in which a handler raises once, before the element with that number."""

    def __init__(self, elements, number):
        self._elements, self._left = iter(elements), number

    def __iter__(self):
        return self

    def __next__(self):
        self._left -= 1
        if self._left == -1:
            raise KeyboardInterrupt
        return next(self._elements)


@pytest.mark.parametrize("number", range(8))
def test_the_records_before_damage_go_on(number):
    def damaged():
        yield record_batch(NUMBERED[:3])
        raise tf.errors.DataLossError("a", 0, 0, "damage")

    batches = WithLastRecords(damaged(), lambda given: after(Interrupted(NUMBERED[:7], number), given))
    taken, interrupts = [], 0
    with pytest.raises(tf.errors.DataLossError):
        while True:
            try:
                taken += next(batches)
            except KeyboardInterrupt:
                interrupts += 1
    assert taken == NUMBERED[:7] and interrupts == 1


@pytest.mark.parametrize("chain", ["map(same).prefetch(2)", "map(same, num_parallel_calls=2)"])
def test_an_iterator_goes_on_that_was_interrupted_as_it_began(chain):
    code = f"""{BOOM_ON_ALARM}same = lambda x: x
for round_number in range(200):
    elements = iter(tf.data.Dataset.range(40).{chain})
    for _ in range(2):
        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-5 * (1 + round_number % 40))
            armed = True
            next(elements)
            armed = False
        except Boom: armed = False; interrupted += 1
    try: rest = list(elements)
    except Boom: rest = list(elements)  # heard in the place of the element that was being made
    assert rest
print(interrupted > 0)
"""
    done = run_code(code, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_batches_made_ahead_for_keras_all_come():
    draw = random.Random(1)
    for _ in range(200):
        ahead = Ahead(iter(range(100)), lambda number: number * 2, 2, 5)
        assert taken_with_an_alarm(ahead, draw.uniform(1e-5, 2e-3)) == list(range(0, 200, 2))


def test_a_thread_is_started_once_however_often_that_is_asked():
    done = []
    thread = threading.Thread(target=lambda: done.append(1))
    assert has_started(thread) and has_started(thread)
    thread.join()
    assert has_started(thread) and done == [1]


def test_workers_give_results_in_order_and_errors_in_their_place():
    workers = Workers(3, "test")
    assert list(workers.map(lambda number: time.sleep(0.01 * (3 - number % 3)) or number, range(9))) == list(range(9))
    failing = workers.submit(lambda: 1 // 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            failing.result()
    workers.stop()
    workers.join()


def test_workers_without_any_thread_say_so(monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(NoThreadError):
        Workers(2, "test").submit(print)


class Calling:
    """Numbers; before each, the next of these functions is called, while there is one."""

    def __init__(self, *functions):
        self._functions = iter(functions)
        self._number = -1

    def __iter__(self):
        return self

    def __next__(self):
        next(self._functions, int)()
        self._number += 1
        return self._number


def test_a_handler_is_heard_while_zip_brings_the_others_up_to_one_that_was_stopped():
    def ring(*_):
        raise Alarm

    def stop():
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    try:
        lists = Zipped([Calling(stop), Calling(ring)])
        with pytest.raises(KeyboardInterrupt):
            next(lists)
        with pytest.raises(Alarm):
            next(lists)
        assert next(lists) == [0, 1]  # what stopped the first one took the second one's 0
    finally:
        signal.signal(signal.SIGALRM, before)
