"""An exception from a signal handler inside a reader's `next()` ends that iteration; a new one is complete."""

import os
import random
import time

import pytest

import tfrecord_fast as tf
from tests.support.alarms import Alarm, alarmed
from tests.support.frames import frames
from tfrecord_fast.files.reading.shard_reader import converted

pytestmark = pytest.mark.alone

ID = {"id": tf.FixedLenFeature([], tf.int64)}
FORMS = {
    "plain": {},
    "columns": {"features": ID},
    "labels": {"features": ID, "label_key": "id"},
    "equal shards": {"features": ID, "equal_shards": "pad", "shard": (0, 1), "shuffle_buffer": 50},
    "global shuffle": {"features": ID, "global_shuffle": True, "prefetch_bytes": 20_000},
    "global shuffle of records": {"global_shuffle": True, "prefetch_bytes": 20_000},
}


def values(batch):
    if isinstance(batch, tuple):
        return batch[1].tolist()
    return batch["id"].tolist() if isinstance(batch, dict) else batch.tolist()


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("form", FORMS)
def test_at_any_moment_an_iteration_ends_and_new_ones_are_whole(tmp_path, form, num_threads):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"id": range(2000)})

    def make():
        return tf.ShardReader(tmp_path / "a", batch_size=5, seed=3, num_threads=num_threads, **FORMS[form])

    expected, draw, interrupted = [values(batch) for batch in make()], random.Random(1), 0
    for _ in range(25):
        reader, taken = make(), []
        batches = iter(reader)
        try:
            # What is an Exception may leave a Thread that is being started in a state that Python complains about.
            with alarmed(draw.uniform(1e-5, 5e-3), KeyboardInterrupt):
                for batch in batches:
                    taken.append(values(batch))
        except KeyboardInterrupt:
            interrupted += 1
        assert taken == expected[: len(taken)]
        resumed = make()
        resumed.load_state_dict(reader.state_dict())
        rest = [values(batch) for batch in resumed]
        assert rest in (expected[len(taken) :], expected[len(taken) + 1 :])
        reader.set_epoch(0)
        assert [values(batch) for batch in reader] == expected
    assert interrupted


PIPES = {
    "reader": lambda path: iter(tf.ShardReader(path)),
    "columns": lambda path: iter(tf.ShardReader(path, ID)),
    "tf_record_iterator": tf.compat.v1.io.tf_record_iterator,
    "read_batches": lambda path: iter(tf.read_batches(path, ID)),
}


@pytest.mark.parametrize("compression", ["", "GZIP"])
@pytest.mark.parametrize("form", PIPES)
def test_a_wait_for_a_pipe_ends_at_once_and_so_does_the_iteration(tmp_path, form, compression):
    if form == "read_batches":
        pytest.importorskip("pyarrow")
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    writer = os.open(path, os.O_RDWR)
    try:
        os.write(writer, b"\x1f\x8b\x08" if compression else frames([b"x"])[:10])
        batches, began = PIPES[form](path), time.monotonic()
        with pytest.raises(Alarm), alarmed(0.3):
            next(batches)
        assert time.monotonic() - began < 5
        assert list(batches) == []
    finally:
        os.close(writer)


def test_a_conversion_that_is_interrupted_ends_the_iteration(tmp_path):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"id": range(20)})
    with alarmed() as ring:
        batches = converted(tf.ShardReader(tmp_path / "a", ID, batch_size=5), lambda batch: ring())
        with pytest.raises(Alarm):
            next(batches)
        assert list(batches) == []
