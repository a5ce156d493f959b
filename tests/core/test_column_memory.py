"""Memory of columns: it stays with the pool from batch to batch, within a bound, and is never shared by two arrays."""

import gc
import os
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support.peak_memory import MIB, PEAK_IS_TOLD, run

FEATURES = {"x": tf.RaggedFeature(tf.int64), "f": tf.FixedLenFeature([], tf.float32)}
ROWS = 2_000


def row_values(row):
    return row + np.arange(100 + row % 400)


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    """2,000 rows: 600,000 int64, 4.8 MB of columns."""
    path = tmp_path_factory.mktemp("columns") / "lists"
    rows = [row_values(row) for row in range(ROWS)]
    with tf.TFRecordWriter(path) as writer:
        writer.write_batch(tf.encode_examples({"x": rows, "f": np.arange(ROWS, dtype=np.float32)}))
    return path


# ---- Pages are not faulted in again ----

TOKENS = 5_000_000  # of one byte: 40 MB in a column

READ = """
features = {"x": tf.VarLenFeature(tf.int64)}
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
def batches(path, size, epochs):
    return tf.ShardReader(path, features, batch_size=size, num_epochs=epochs, num_threads=2)
"""


@pytest.fixture(scope="module")
def tokens(tmp_path_factory):
    path = tmp_path_factory.mktemp("columns") / "tokens"
    row = np.ones(TOKENS // 500, np.int64)
    with tf.TFRecordWriter(path) as writer:
        writer.write_batch(tf.encode_examples({"x": [row] * 500}))
    return path


STEADY = """
seen = [faults() for _ in batches(sys.argv[1], 500, 24)]
print(sorted(after - before for before, after in zip(seen[6:], seen[7:]))[8])
"""


@PEAK_IS_TOLD[0]
@PEAK_IS_TOLD[1]
def test_batches_fault_in_few_pages(tokens):
    """A column has 9,800 pages. The median counts, since a new block is needed now and then."""
    assert int(run(READ + STEADY, tokens)[0]) < 9_800 / 20


OTHERS = """
held = list(batches(sys.argv[1], 1, 2))  # 1,000 columns of 80 kB
del held
records = next(iter(tf.ShardReader(sys.argv[1], batch_size=500)))
for number in range(6):
    if number == 3:
        first = faults()
    batch = tf.parse_example(records, features)
print((faults() - first) // 3)
"""


@PEAK_IS_TOLD[0]
@PEAK_IS_TOLD[1]
def test_blocks_of_another_size_make_way(tokens):
    printed, _ = run(READ + OTHERS, tokens)
    assert int(printed) < 9_800 / 20


# ---- The bound ----

GONE = """
for batch in batches(sys.argv[1], 500, 2):
    pass
del batch
before = resident()
held = list(batches(sys.argv[1], 500, 10))
print(resident() - before)
del held
print(resident() - before)
"""


@PEAK_IS_TOLD[0]
@PEAK_IS_TOLD[1]
def test_nothing_beyond_the_bound_stays_after_the_reader(tokens):
    with_arrays, without = map(int, run(READ + GONE, tokens)[0].split())
    assert with_arrays > 350 * MIB
    assert without < 80 * MIB


DROPPED = """
held = []
reader = batches(sys.argv[1], 500, 24)
for number, batch in enumerate(reader):
    if number < 12:
        held.append(batch)
    if number == 12:
        most = resident()
        held.clear()
    if number == 20:
        print(most - resident())
"""


@PEAK_IS_TOLD[0]
@PEAK_IS_TOLD[1]
def test_arrays_dropped_at_once_are_not_all_kept(tokens):
    """480 MB are dropped, while three batches or so are in flight."""
    assert int(run(READ + DROPPED, tokens)[0]) > 150 * MIB


# ---- Arrays that are kept are never written again ----


def check(floats, values, splits):
    """Check columns of whole rows against the numbers of the rows, which `floats` holds."""
    expected = [row_values(int(row)) for row in floats]
    assert np.array_equal(values, np.concatenate(expected))
    assert np.array_equal(np.diff(splits), [len(row) for row in expected])


def check_view(first, values):
    assert np.array_equal(values, row_values(first)[3:90])


actions = st.lists(st.sampled_from(["drop", "keep", "view", "forget"]), min_size=1, max_size=30)


@settings(max_examples=40, deadline=None)
@given(pattern=actions, size=st.sampled_from([40, 300, 900]), threads=st.integers(1, 3), elsewhere=st.booleans())
def test_kept_arrays_and_views_keep_their_values(lists, pattern, size, threads, elsewhere):
    """Each batch is kept, or a view of it, or nothing. With `elsewhere`, another thread drops batches meanwhile."""
    kept, views, dropped = [], [], []
    ended = threading.Event()

    def drop():
        while not ended.wait(0.0005):  # not without a pause, in which the reader gets the GIL
            dropped.clear()

    dropper = threading.Thread(target=drop)
    if elsewhere:
        dropper.start()
    try:
        for number, batch in enumerate(
            tf.ShardReader(lists, FEATURES, batch_size=size, num_epochs=3, num_threads=threads)
        ):
            columns = batch["f"], batch["x"].values, batch["x"].row_splits
            check(*columns)
            action = pattern[number % len(pattern)]
            if action == "keep":
                kept.append(columns)
            elif action == "view":
                views.append((int(batch["f"][0]), batch["x"].values[3:90]))
            elif action == "forget" and kept:
                dropped.append(kept.pop(0))
            dropped.append(columns)
            if not elsewhere:
                dropped.clear()
            del batch, columns
    finally:
        ended.set()
        if elsewhere:
            dropper.join()
    gc.collect()
    for columns in kept:
        check(*columns)
    for first, values in views:
        check_view(first, values)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_process_has_the_arrays_and_reads_on_its_own(lists):
    def columns():
        return [
            (batch["f"], batch["x"].values, batch["x"].row_splits)
            for batch in tf.ShardReader(lists, FEATURES, batch_size=300, num_threads=2)
        ]

    kept = columns()
    reader = iter(tf.ShardReader(lists, FEATURES, batch_size=300, num_threads=2, num_epochs=None))
    first = next(reader)
    child = os.fork()
    if child == 0:
        try:
            for batch in columns() + kept:
                check(*batch)
            del kept[::2], first
            for batch in columns() + kept:
                check(*batch)
            os._exit(0)
        finally:
            os._exit(1)
    for _ in range(20):
        next(reader)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for batch in kept:
        check(*batch)
    check(first["f"], first["x"].values, first["x"].row_splits)
