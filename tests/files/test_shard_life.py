"""ShardReader's life: threads that end, signals that come through, forks, several readers and several threads.

What has to hold a thousand times in a row is tried TFRECORD_FAST_ROUNDS times, 40 by default.
"""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.command import interruptible
from tests.support.forks import repeated, status_of_child
from tests.support.frames import frames
from tests.support.processes import environment, printed
from tests.support.threads import settled, thread_count

ROUNDS = int(os.environ.get("TFRECORD_FAST_ROUNDS", "40"))
RECORDS = 2000
FILES = 5
FEATURES = {"x": tf.FixedLenFeature([], tf.int64), "s": tf.VarLenFeature(tf.string)}

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc for threads"),
]


def example(number):
    strings = wire.feature("bytes", [b"%d" % number] * (number % 3))
    return wire.example([(b"x", wire.feature("int64", [number])), (b"s", strings)])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("life")
    for file in range(FILES):
        records = [example(file * RECORDS + i) for i in range(RECORDS)]
        (folder / f"{file}.tfrecord").write_bytes(frames(records))
    return str(folder / "*.tfrecord")


def reader(files, **given):
    return tf.ShardReader(files, FEATURES, **{"num_threads": 3, "batch_size": 50, "num_epochs": None, **given})


def test_a_thread_that_has_read_all_that_there_is_room_for_is_woken(files):
    """The only one, which the caller does not help; without it, nothing would ever come."""
    code = """
    batches = iter(tf.ShardReader(sys.argv[1], num_threads=1, batch_size=50, num_epochs=5, prefetch_bytes=100_000))
    count = len(next(batches))
    time.sleep(0.3)
    print(count + sum(map(len, batches)))
    """
    assert printed(code, files) == str(5 * FILES * RECORDS)


def test_a_reader_dropped_half_way_ends_its_threads(files):
    before = thread_count()
    for i in range(ROUNDS):
        iterator = iter(reader(files, shuffle_buffer=500 * (i % 2)))
        for _ in range(i % 4):
            next(iterator)
        start = time.monotonic()
        del iterator
        assert time.monotonic() - start < 5 and settled(before)


def test_an_exception_in_the_consumer_ends_the_threads(files):
    before = thread_count()
    for _ in range(ROUNDS):
        with pytest.raises(ZeroDivisionError):
            for batch in reader(files):
                1 / (len(batch["x"]) - 50)
        assert settled(before)


def test_ctrl_c_comes_through(files, monkeypatch):
    """Python itself drops what is raised inside a callback of an import's lock, or of the garbage collection, and says
    so; the next signal, a second later, comes through instead."""
    dropped, late = [], 0
    monkeypatch.setattr(sys, "unraisablehook", lambda told: dropped.append(told.err_msg))
    next(iter(reader(files)))
    gc.disable()
    before = thread_count()
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for i in range(ROUNDS):
            start = time.monotonic()
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-4 * (1 + i % 50), 1)
                for _ in reader(files):
                    pass
                pytest.fail("an endless reader has ended")
            except KeyboardInterrupt:
                signal.setitimer(signal.ITIMER_REAL, 0)
            late += time.monotonic() - start > 0.9
            assert time.monotonic() - start < 5 and settled(before)
        assert late <= len(dropped)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        gc.enable()


def test_ctrl_c_while_nothing_comes():
    """A pipe whose writer is silent: the wait for its first record ends immediately."""
    code = """
import os, signal, threading, time, tfrecord_fast as tf
end, other = os.pipe()
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    next(iter(tf.ShardReader(f"/dev/fd/{end}")))
except KeyboardInterrupt:
    print(time.monotonic() - start < 5)
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, preexec_fn=interruptible)
    assert done.stdout == "True\n", done.stderr


# Each child of a fork starts threads of its own and ends as a script does, with readers alive.
EXIT = """
import os, sys, time, tfrecord_fast as tf
features = {"x": tf.FixedLenFeature([], tf.int64)}
for i in range(int(sys.argv[2])):
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        held = iter(tf.ShardReader(sys.argv[1], features, num_threads=3, batch_size=50, num_epochs=None))
        first = [next(held) for _ in range(i % 5)]
        sys.exit()
    _, status = os.waitpid(child, 0)
    if status != 0 or time.monotonic() - start > 10:
        sys.exit(f"child {i}: status {status} after {time.monotonic() - start:.2f} s")
print("all")
"""


def test_the_interpreter_ends_with_readers_alive(files):
    done = subprocess.run([sys.executable, "-c", EXIT, files, str(ROUNDS)], capture_output=True, text=True, timeout=600)
    assert done.stdout == "all\n", done.stderr


@pytest.mark.skipif("thread" in tf.build_info()["sanitizers"], reason="it knows no threads of a forked process")
def test_a_fork_while_a_reader_runs(files):
    """The child gets an error, and can read with readers of its own; the parent carries on."""
    whole = [batch["x"].tolist() for batch in reader(files, num_epochs=1)]
    batches = iter(reader(files, num_epochs=1))
    head = [next(batches)["x"].tolist()]

    def is_told_and_reads():
        with pytest.raises(ValueError, match="another process"):
            next(batches)
        return [batch["x"].tolist() for batch in reader(files, num_epochs=1)] == whole

    assert status_of_child(is_told_and_reads) == 0
    assert head + [batch["x"].tolist() for batch in batches] == whole


@pytest.mark.skipif("thread" in tf.build_info()["sanitizers"], reason="it knows no threads of a forked process")
def test_forks_while_threads_parse(files):
    """What all threads of a process share, pools and parsers, is free in the child whenever it is forked."""
    batch = next(iter(tf.ShardReader(files, batch_size=100)))
    expected = tf.parse_example(batch, FEATURES)["x"].tolist()
    running = iter(reader(files, num_epochs=None))
    inherited = []

    def drops_and_parses():
        inherited.clear()
        return tf.parse_example(batch, FEATURES)["x"].tolist() == expected

    with repeated(lambda: tf.parse_example(batch, FEATURES), threads=2):
        for _ in range(100):
            inherited[:] = [next(running)]
            assert status_of_child(drops_and_parses) == 0


def test_several_readers_at_a_time_do_not_disturb_each_other(files):
    whole = [batch["x"].tolist() for batch in reader(files, num_epochs=1)]
    several = zip(*(reader(files, num_epochs=1, num_threads=n) for n in (1, 2, 3)), strict=True)
    for batches, expected in zip(several, whole, strict=True):
        assert [batch["x"].tolist() for batch in batches] == [expected] * 3


@pytest.mark.parametrize("features", [None, FEATURES])
def test_several_python_threads_share_an_iterator(files, features):
    shared = iter(tf.ShardReader(files, features, num_threads=2, batch_size=20))
    start = threading.Barrier(4)

    def take(_):
        start.wait()
        return [len(batch) if features is None else len(batch["x"]) for batch in shared]

    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(take, range(4)))
    assert sum(map(sum, taken)) == FILES * RECORDS


def test_an_error_ends_the_threads(tmp_path):
    before = thread_count()
    path = tmp_path / "bad"
    path.write_bytes(frames([example(i) for i in range(500)] + [b"\xff" * 9] + [example(1)] * 500))
    for _ in range(ROUNDS):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            list(reader(path))
        assert "record 500" in str(caught.value) and str(path) in str(caught.value)
        assert settled(before)


def test_a_column_outlives_its_reader(files):
    batch = next(iter(reader(files)))
    assert batch["s"].values.tolist()[:3] == [b"1", b"2", b"2"]


# ---- PyTorch ----

WORKERS = """
import sys, torch.utils.data as data, tfrecord_fast as tf

features = {"x": tf.FixedLenFeature([], tf.int64)}

def main(files, workers, method, parsed):
    reader = tf.ShardReader(files, features if parsed else None, batch_size=64, num_threads=2, shuffle_buffer=100)
    loader = data.DataLoader(reader, batch_size=None, num_workers=workers, multiprocessing_context=method or None)
    seen = []
    for batch in loader:
        seen += batch["x"].tolist() if parsed else map(bytes, batch)
    return seen

if __name__ == "__main__":
    files, workers, method, parsed = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4] == "parsed"
    next(iter(tf.ShardReader(files)))  # threads were here before the workers are forked
    seen = main(files, workers, method, parsed)
    print(len(seen), len(set(seen)))
"""


@pytest.mark.parametrize(
    ("workers", "method", "kind"),
    [
        (0, "", "raw"),
        (1, "fork", "parsed"),
        (3, "fork", "parsed"),
        (3, "fork", "raw"),
        (1, "spawn", "raw"),
        (3, "spawn", "parsed"),
    ],
)
def test_a_data_loader_sees_every_record_once(files, tmp_path, workers, method, kind):
    script = tmp_path / "load.py"
    script.write_text(WORKERS)
    done = subprocess.run(
        [sys.executable, script, files, str(workers), method, kind],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment(),
    )
    assert done.stdout.split() == [str(FILES * RECORDS)] * 2, done.stderr
