"""ShardReader: batches so large that several threads parse each."""

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.threads import settled, thread_count

ROWS = 900
WIDTH = 4000  # float32: 16 kB per record, so that a batch of half of the rows is several times what is shared

FIXED = {"x": tf.io.FixedLenFeature([WIDTH], tf.float32), "row": tf.io.FixedLenFeature([], tf.int64)}
LISTS = {**FIXED, "x": tf.io.VarLenFeature(tf.float32), "name": tf.io.VarLenFeature(tf.string)}
FEATURES = {"fixed": FIXED, "lists": LISTS}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("large") / "large.tfrecord")
    x = np.arange(ROWS * WIDTH, dtype=np.float32).reshape(ROWS, WIDTH)
    names = [[b"row %d" % row] * (row % 4) for row in range(ROWS)]
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(tf.encode_examples({"x": x, "row": np.arange(ROWS), "name": names}))
    return path


def plain(columns):
    """As lists and arrays that compare."""
    return {
        key: value if isinstance(value, np.ndarray) else (np.asarray(value.dense_shape).tolist(), value.values.tolist())
        for key, value in columns.items()
    }


def same(one, other):
    return all(
        np.array_equal(one[key], other[key]) if isinstance(one[key], np.ndarray) else one[key] == other[key]
        for key in one
    )


@pytest.mark.parametrize("features", FEATURES.values(), ids=FEATURES)
@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("deterministic", [True, False])
def test_large_batches_are_the_same_with_any_number_of_threads(path, features, threads, deterministic):
    def batches(threads):
        read = tf.ShardReader(path, features, batch_size=500, num_threads=threads, deterministic=deterministic)
        return sorted(map(plain, read), key=lambda columns: columns["row"][0])

    one, many = batches(1), batches(threads)
    assert len(one) == len(many) == 2 and all(map(same, one, many))


@pytest.mark.parametrize("row", [0, 1, 449, 898])
def test_the_first_bad_record_of_a_large_batch_is_named(tmp_path, path, row):
    records = list(tf.data.TFRecordDataset(path))
    bad = tf.encode_examples({"x": np.zeros((1, WIDTH), np.float32), "row": [[1, 2]]})[0]
    damaged = str(tmp_path / "damaged.tfrecord")
    with tf.io.TFRecordWriter(damaged) as writer:
        writer.write_batch([*records[:row], bad, bad, *records[row + 2 :]])
    for _ in range(5):
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"'row'.*\(record {row}\)"):
            list(tf.ShardReader(damaged, FIXED, batch_size=ROWS, num_threads=4))


def test_dropping_a_reader_amid_large_batches_ends_its_threads(path):
    tf.parse_example(list(tf.data.TFRecordDataset(path)), FIXED)  # those that wait for the next call are there already
    before = thread_count()
    most = 0
    for stop in range(12):
        reader = iter(tf.ShardReader(path, FIXED, batch_size=250, num_threads=4, num_epochs=None))
        for _ in range(stop % 4):
            next(reader)
        most = max(most, thread_count())
        del reader
        assert settled(before)
    assert most > before


def test_large_batches_of_sequences_are_the_same_with_any_number_of_threads(tmp_path):
    path = str(tmp_path / "sequences")
    steps = [np.full((row % 40 * 10, 10), row, np.float32) for row in range(ROWS)]
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(tf.encode_sequence_examples({"row": np.arange(ROWS)}, {"x": steps}))
    features = {"row": tf.FixedLenFeature([], tf.int64)}, {"x": tf.FixedLenSequenceFeature([10], tf.float32)}

    def of(threads):
        return [
            (context["row"], lists["x"], lengths["x"])
            for context, lists, lengths in tf.ShardReader(path, features, batch_size=ROWS, num_threads=threads)
        ]

    (one,), (many,) = of(1), of(4)
    assert all(map(np.array_equal, one, many)) and one[1].shape == (ROWS, 390, 10)
