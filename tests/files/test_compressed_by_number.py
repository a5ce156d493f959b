"""Compressed files of other programs by number: indexes, their cache, readers, global shuffles, later epochs."""

import gzip
import os
import pickle

import numpy as np
import pytest
import zstandard

import tfrecord_fast as tf
from tfrecord_fast import errors
from tfrecord_fast.base.side_files import user_cache
from tfrecord_fast.files.streams import index_cache


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return user_cache("indexes")


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(0)
    return tf.encode_examples({"i": np.arange(9000), "x": rng.integers(0, 9000, (9000, 200))}).tolist()


@pytest.fixture(scope="module")
def path(records, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compressed")
    with tf.io.TFRecordWriter(folder / "plain") as writer:
        writer.write_batch(records)
    (folder / "a.gz").write_bytes(gzip.compress((folder / "plain").read_bytes(), 1))
    return folder / "a.gz"


def test_records_by_number(path, records):
    reader = tf.IndexedReader(path, {"i": tf.io.FixedLenFeature([], tf.int64)})
    order = np.random.default_rng(1).permutation(len(records))
    assert len(reader) == len(records)
    np.testing.assert_array_equal(reader.take(order)["i"], order)
    assert reader[-1]["i"] == len(records) - 1
    assert list(tf.IndexedReader(path))[4000:4100] == records[4000:4100]


def test_an_index_pickles_and_is_saved(path, records, tmp_path):
    index = tf.RecordIndex.build(path)
    assert pickle.loads(pickle.dumps(index)) == index
    index.save(tmp_path / "a.idx")
    loaded = tf.RecordIndex.load(tmp_path / "a.idx")
    assert loaded == index and loaded != tf.RecordIndex(index.offsets, index.sizes)
    assert tf.IndexedReader(path, indexes=tmp_path / "a.idx")[7777] == records[7777]
    reader = pickle.loads(pickle.dumps(tf.IndexedReader(path, indexes=index)))
    assert reader[5] == records[5]


def test_an_index_is_kept_in_the_cache(path, records, cache_folder, monkeypatch):
    assert tf.IndexedReader(path)[3] == records[3]
    (name,) = os.listdir(cache_folder)
    assert os.path.getsize(os.path.join(cache_folder, name)) < 0.02 * path.stat().st_size
    monkeypatch.setattr(tf._core, "open_indexes", lambda origins, *args: [1 / 0 for _ in origins])
    assert tf.IndexedReader(path)[4000] == records[4000]


def test_a_changed_file_has_another_index(path, records, cache_folder, tmp_path):
    changed = tmp_path / "b.gz"
    changed.write_bytes(path.read_bytes())
    assert len(tf.IndexedReader(changed)) == len(records)
    with tf.io.TFRecordWriter(tmp_path / "plain") as writer:
        writer.write_batch(records[::-1])
    changed.write_bytes(gzip.compress((tmp_path / "plain").read_bytes(), 1))
    assert tf.IndexedReader(changed)[0] == records[-1]
    assert len(os.listdir(cache_folder)) == 2


@pytest.mark.parametrize("content", [b"junk", b"", b" \n", b"0 19\n"])
def test_a_damaged_cache_is_rebuilt(path, records, cache_folder, content):
    assert tf.IndexedReader(path)[3] == records[3]
    (name,) = os.listdir(cache_folder)
    kept = os.path.join(cache_folder, name)
    with open(kept, "wb") as file:
        file.write(content)
    assert tf.IndexedReader(path)[3] == records[3]
    with open(kept, "rb") as file:
        assert file.read(8) == b"TFRINDEX"


def test_the_cache_is_bounded(path, cache_folder, tmp_path, monkeypatch):
    for number in range(4):
        copy = tmp_path / f"{number}.gz"
        copy.write_bytes(path.read_bytes())
        len(tf.IndexedReader(copy))
        if number == 0:
            (first,) = os.listdir(cache_folder)
            size = os.path.getsize(os.path.join(cache_folder, first))
            os.utime(os.path.join(cache_folder, first), (1, 1))
            monkeypatch.setattr(index_cache, "_MOST_BYTES", 3 * size + 100)
    assert len(os.listdir(cache_folder)) == 3 and first not in os.listdir(cache_folder)


def test_an_index_of_another_file_is_refused(path, tmp_path):
    other = tmp_path / "other.gz"
    other.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(errors.InvalidArgumentError, match=r"other\.gz.*another file, or the file has changed"):
        tf.IndexedReader(other, indexes=tf.RecordIndex.build(path))[0]


def test_a_global_shuffle(path, records):
    reader = tf.ShardReader(path, global_shuffle=True, seed=3, batch_size=1000, prefetch_bytes=1 << 20)
    shuffled = [record for batch in reader for record in batch]
    assert shuffled != records and sorted(shuffled) == sorted(records)
    with tf.io.TFRecordWriter(plain := path.parent / "same") as writer:
        writer.write_batch(records)
    again = tf.ShardReader(plain, global_shuffle=True, seed=3, batch_size=1000, prefetch_bytes=1 << 20)
    assert [record for batch in again for record in batch] == shuffled


def test_no_cache_is_kept_where_none_is_wanted(path, cache_folder):
    next(iter(tf.ShardReader(path, global_shuffle=True, seed=3, index_cache=False)))
    assert not os.path.exists(cache_folder)


@pytest.mark.parametrize("frames", [1, 20])
def test_zstd(records, tmp_path, frames):
    with tf.io.TFRecordWriter(tmp_path / "plain") as writer:
        writer.write_batch(records)
    data = (tmp_path / "plain").read_bytes()
    step = -(-len(data) // frames)
    compressed = b"".join(zstandard.compress(data[begin : begin + step]) for begin in range(0, len(data), step))
    (tmp_path / "a.zst").write_bytes(compressed)
    assert tf.IndexedReader(tmp_path / "a.zst").take([8000, 3]).tolist() == [records[8000], records[3]]


class TestLaterEpochs:
    """The second time, several threads decompress the file, and everything is as it was."""

    @pytest.fixture
    def copy(self, path, tmp_path):
        (tmp_path / "c.gz").write_bytes(path.read_bytes())
        return tmp_path / "c.gz"

    @pytest.mark.parametrize("threads", [1, 2, 4])
    def test_records_and_order(self, copy, records, threads):
        reader = tf.ShardReader(copy, batch_size=100, num_threads=threads)
        for _ in range(3):
            assert [record for batch in reader for record in batch] == records
        epochs = tf.ShardReader(copy, batch_size=100, num_threads=threads, num_epochs=3)
        assert [record for batch in epochs for record in batch] == 3 * records

    def test_resuming(self, copy, records):
        reader = tf.ShardReader(copy, batch_size=100, num_threads=2, shuffle_buffer=500, seed=1)
        assert sum(len(batch) for batch in reader) == len(records)
        iterator = iter(reader)
        for _ in range(40):
            next(iterator)
        state = reader.state_dict()
        rest = [batch.tolist() for batch in iterator]
        reader.load_state_dict(state)
        assert [batch.tolist() for batch in reader] == rest

    def test_a_file_that_changed_in_between(self, copy, records, tmp_path):
        reader = tf.ShardReader(copy, batch_size=100, num_threads=2)
        assert sum(len(batch) for batch in reader) == len(records)
        with tf.io.TFRecordWriter(tmp_path / "plain") as writer:
            writer.write_batch(records[:8000][::-1])
        copy.write_bytes(gzip.compress((tmp_path / "plain").read_bytes(), 1))
        for _ in range(2):
            assert [record for batch in reader for record in batch] == records[:8000][::-1]

    def test_damage_that_came_in_between(self, copy, records):
        reader = tf.ShardReader(copy, batch_size=100, num_threads=2)
        assert sum(len(batch) for batch in reader) == len(records)
        damaged = bytearray(copy.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        copy.write_bytes(damaged)
        read = []
        with pytest.raises(errors.DataLossError, match=r"c\.gz"):
            for batch in reader:
                read += batch.tolist()
        assert read and read == records[: len(read)]

    def test_an_epoch_that_is_not_finished_leaves_nothing(self, copy, records):
        reader = tf.ShardReader(copy, batch_size=100, num_threads=2)
        for _ in range(3):
            iterator = iter(reader)
            assert next(iterator).tolist() == records[:100]
            del iterator
        assert [record for batch in reader for record in batch] == records
