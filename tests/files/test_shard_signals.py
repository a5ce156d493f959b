"""A signal's handler raises in `next()` of a ShardReader's iterator: no batch gets lost, nothing waits forever."""

import random

import pytest

import tfrecord_fast as tf
from tests.support.alarms import taken_with_an_alarm
from tests.support.frames import frames
from tests.support.interrupts import BOOM_ON_ALARM
from tests.support.processes import run_code

pytestmark = pytest.mark.alone

OPTIONS = {
    "equal shards": {"equal_shards": "pad", "shard": (0, 1), "shuffle_buffer": 50, "seed": 3, "num_threads": 2},
    "global shuffle": {"global_shuffle": True, "seed": 3, "prefetch_bytes": 20_000, "num_threads": 2},
    "on one thread": {"global_shuffle": True, "seed": 3, "prefetch_bytes": 20_000, "num_threads": 1},
    "plain": {"num_threads": 2},
}


@pytest.fixture
def path(tmp_path):
    (tmp_path / "a").write_bytes(frames([b"%060d" % number for number in range(2000)]))
    return str(tmp_path / "a")


def assert_nothing_is_lost(make, values, most_seconds):
    """An alarm at any moment: the loop goes on with every batch, and so does a reader that is resumed there."""
    expected, draw, alarms = [values(batch) for batch in make()], random.Random(1), []
    for _ in range(40):
        reader = make()

        def resume(taken, reader=reader):
            alarms.append(len(taken))
            resumed = make()
            resumed.load_state_dict(reader.state_dict())
            assert [values(batch) for batch in resumed] == expected[len(taken) :]

        taken = taken_with_an_alarm(iter(reader), draw.uniform(1e-5, most_seconds), resume)
        assert [values(batch) for batch in taken] == expected
    assert alarms


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_every_batch_is_given_and_the_state_knows_it(path, options):
    assert_nothing_is_lost(lambda: tf.ShardReader(path, batch_size=5, **options), lambda batch: batch.tolist(), 3e-3)


FEATURES = {"id": tf.FixedLenFeature([], tf.int64)}
PARSED = {
    "columns": {"features": FEATURES},
    "labels": {"features": FEATURES, "label_key": "id"},
    "checked rows": {"features": {"x": tf.io.RaggedFeature(tf.int64, "id", row_splits_dtype=tf.int64)}},
}


def ids_of(batch):
    column = batch[1] if isinstance(batch, tuple) else batch.get("id", batch.get("x"))
    return getattr(column, "flat_values", column).tolist()


@pytest.mark.parametrize("parsed", PARSED.values(), ids=PARSED)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_every_batch_of_columns_is_given_and_the_state_knows_it(tmp_path, options, parsed):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"id": range(2000)})

    def make():
        return tf.ShardReader(tmp_path / "a", batch_size=5, **parsed, **options)

    assert_nothing_is_lost(make, ids_of, 5e-3)


def test_a_process_ends_whose_readers_were_interrupted_as_they_began(path):
    code = f"""{BOOM_ON_ALARM}for round_number in range(200):
    taken = iter(tf.ShardReader({path!r}, batch_size=50, global_shuffle=True, prefetch_bytes=9000, num_threads=2))
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-5 * (1 + round_number % 60))
        armed = True
        for _ in taken: pass
        armed = False
    except Boom: armed = False; interrupted += 1
    for _ in taken: pass
print(interrupted > 0)
"""
    done = run_code(code, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
