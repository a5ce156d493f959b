"""Several threads on one iterator of the core: each record reaches one of them, once, in whatever the iterator sits."""

import itertools
import threading

import numpy as np
import pytest

import tfrecord_fast as tf

RECORDS = [b"%d" % i for i in range(20_000)]
FEATURES = {"a": tf.io.FixedLenFeature([], tf.int64)}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("shared") / "r")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(RECORDS)
    return path


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("shared") / "e")
    with tf.ExampleWriter(path) as writer:
        writer.write({"a": np.arange(20_000)})
    return path


def shared(iterator, threads=6):
    """What the threads get, together."""
    got = [[] for _ in range(threads)]

    def take(mine):
        for element in iterator:
            mine.append(element)

    running = [threading.Thread(target=take, args=(mine,)) for mine in got]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return list(itertools.chain.from_iterable(got))


@pytest.mark.parametrize("attempt", range(5))
def test_records(path, attempt):
    assert sorted(shared(iter(tf.data.TFRecordDataset(path)))) == sorted(RECORDS)


@pytest.mark.parametrize("attempt", range(5))
def test_records_through_islice(path, attempt):
    """It lets go of its iterator as soon as one thread has reached the end, and loses elements by itself."""
    got = shared(itertools.islice(iter(tf.data.TFRecordDataset(path)), 10_000_000))
    assert len(set(got)) == len(got)
    assert set(got) <= set(RECORDS)


@pytest.mark.parametrize("attempt", range(5))
def test_records_through_chain(path, attempt):
    got = shared(itertools.chain(*(iter(tf.data.TFRecordDataset(path)) for _ in range(3))))
    assert set(got) <= set(RECORDS)


def test_tf_record_iterator(path):
    assert sorted(shared(tf.python_io.tf_record_iterator(path))) == sorted(RECORDS)


def test_batches(path):
    got = shared(iter(tf.ShardReader(path, batch_size=7)))
    assert sorted(record for batch in got for record in batch) == sorted(RECORDS)


def test_columns(examples):
    got = shared(iter(tf.ShardReader(examples, FEATURES, batch_size=7)))
    assert sorted(np.concatenate([columns["a"] for columns in got]).tolist()) == list(range(20_000))
