"""Objects that several threads use at once: the answers are right, and the thread sanitizer finds no race."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tfrecord_fast as tf

THREADS = 4
ROWS = 400
COLUMNS = {
    "i": np.arange(ROWS),
    "f": np.linspace(0, 1, ROWS * 3, dtype=np.float32).reshape(ROWS, 3),
    "s": [b"row %d" % i for i in range(ROWS)],
}
FEATURES = {
    "i": tf.io.FixedLenFeature([], tf.int64),
    "f": tf.io.FixedLenFeature([3], tf.float32),
    "s": tf.io.VarLenFeature(tf.string),
}
KINDS = ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"]


def in_threads(work):
    """What `work(number)` gives in each of several threads, in order; raises what one of them raised."""
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS)))


@pytest.fixture(scope="module")
def rows():
    return tf.encode_examples(COLUMNS)


@pytest.fixture
def file(tmp_path, rows):
    with tf.io.TFRecordWriter(tmp_path / "rows") as writer:
        writer.write_batch(rows)
    return tmp_path / "rows"


def test_threads_encode_the_same_columns(rows):
    encoded = in_threads(lambda _: tf.encode_examples(COLUMNS, num_threads=2).tolist())
    assert all(mine == rows.tolist() for mine in encoded)


def test_threads_parse_the_same_batch(rows):
    parsed = in_threads(lambda _: tf.parse_example(rows, FEATURES))
    assert all(mine["i"].tolist() == list(range(ROWS)) for mine in parsed)
    assert all(mine["s"].values.tolist() == COLUMNS["s"] for mine in parsed)


def test_threads_slice_and_read_one_batch(rows):
    parts = in_threads(lambda mine: [bytes(rows.view(i)) for i in range(mine, ROWS, THREADS)] + rows[mine::7].tolist())
    whole = rows.tolist()
    assert all(part == whole[mine::THREADS] + whole[mine::7] for mine, part in enumerate(parts))


@pytest.mark.parametrize("kind", KINDS)
def test_threads_write_records_and_flush_one_writer(tmp_path, kind):
    with tf.io.TFRecordWriter(tmp_path / "out", kind, num_threads=2) as writer:

        def write(mine):
            for number in range(60):
                writer.write(b"%d %d " % (mine, number) + bytes(3000))
                if number % 20 == mine:
                    writer.flush()

        in_threads(write)
    got = [tuple(map(int, record.split()[:2])) for record in tf.data.TFRecordDataset(tmp_path / "out", kind)]
    assert [[number for thread, number in got if thread == mine] for mine in range(THREADS)] == [[*range(60)]] * THREADS


@pytest.mark.parametrize("kind", KINDS)
def test_threads_write_columns_to_one_writer_of_shards(tmp_path, kind):
    with tf.ExampleWriter(tmp_path / "out", num_shards=3, options=kind, num_threads=2) as writer:
        in_threads(lambda mine: writer.write({**COLUMNS, "thread": np.full(ROWS, mine)}))
    features = {"i": FEATURES["i"], "thread": tf.io.FixedLenFeature([], tf.int64)}
    batches = list(tf.ShardReader(str(tmp_path / "out-*"), features, compression_type=kind))
    got = sorted((thread, i) for batch in batches for thread, i in zip(batch["thread"], batch["i"], strict=True))
    assert got == [(mine, i) for mine in range(THREADS) for i in range(ROWS)]


@pytest.mark.parametrize("kind", KINDS)
def test_threads_have_writers_of_their_own(tmp_path, kind):
    def write(mine):
        with tf.io.TFRecordWriter(tmp_path / f"{mine}", kind, num_threads=2) as writer:
            writer.write_batch([b"%d" % mine * 1000] * 500)
        return list(tf.data.TFRecordDataset(tmp_path / f"{mine}", kind))

    assert in_threads(write) == [[b"%d" % mine * 1000] * 500 for mine in range(THREADS)]


def test_threads_iterate_one_dataset(file):
    rows = tf.data.TFRecordDataset(str(file))
    rows = rows.map(lambda record: tf.parse_single_example(record, FEATURES)["i"], num_parallel_calls=2).prefetch(2)
    assert in_threads(lambda _: [int(i) for i in rows]) == [list(range(ROWS))] * THREADS


def test_threads_share_the_iterator_of_a_dataset(file):
    iterator = iter(tf.data.TFRecordDataset(str(file)).batch(8).prefetch(2))
    got = in_threads(lambda _: [record for batch in iterator for record in batch])
    assert sorted(record for part in got for record in part) == sorted(tf.data.TFRecordDataset(str(file)))


def test_threads_abandon_iterators_of_one_reader(file):
    reader = tf.ShardReader(file, FEATURES, batch_size=16, num_threads=2, shuffle_buffer=50)

    def begin(_):
        for _ in range(10):
            iterator = iter(tf.ShardReader(file, FEATURES, batch_size=16, num_threads=2, shuffle_buffer=50))
            next(iterator)
            del iterator

    in_threads(begin)
    assert sum(len(batch["i"]) for batch in reader) == ROWS


def test_threads_read_one_indexed_reader(file):
    reader = tf.IndexedReader(file, FEATURES, num_threads=2)
    parts = in_threads(lambda mine: reader.take(range(mine, ROWS, THREADS))["i"].tolist())
    assert parts == [list(range(mine, ROWS, THREADS)) for mine in range(THREADS)]
