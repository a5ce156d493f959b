"""max_record_bytes: a header that claims more is damage, wherever a header is read."""

import io

import pytest

import tfrecord_fast as tf
from tests.support import compression
from tests.support.frames import frames, header, offsets
from tfrecord_fast.errors import DataLossError, InvalidArgumentError

RECORDS = [b"a" * 10, b"b" * 100, b"c" * 101, b"d" * 5]
PAST = [0, 1, 3]  # what is left if a record may have 100 bytes


@pytest.fixture(params=[*compression.ALL, "own GZIP", "own ZSTD", "object"])
def source(request, tmp_path):
    path, data = tmp_path / "a", frames(RECORDS)
    if request.param == "object":
        return io.BytesIO(data)
    if request.param.startswith("own"):
        with tf.io.TFRecordWriter(path, request.param[4:]) as writer:
            writer.write_batch(RECORDS)
    else:
        path.write_bytes(compression.compress(request.param, data))
    return path


def check(error):
    assert "max_record_bytes is 100" in error.reason and "claims 101 bytes" in error.reason
    assert (error.offset, error.record_index) == (offsets(RECORDS)[2], 2)


def test_shard_reader_raises(source):
    with pytest.raises(DataLossError) as caught:
        list(tf.ShardReader(source, max_record_bytes=100))
    check(caught.value)


def test_shard_reader_skips(source):
    reader = tf.ShardReader(source, max_record_bytes=100, on_corrupt="skip")
    assert [record for batch in reader for record in batch] == [RECORDS[i] for i in PAST]
    assert [(s.offset, s.bytes) for s in reader.skipped] == [(offsets(RECORDS)[2], 117)]


def test_dataset(source):
    records = iter(tf.data.TFRecordDataset(source, max_record_bytes=100))
    assert [next(records), next(records)] == RECORDS[:2]
    with pytest.raises(DataLossError) as caught:
        next(records)
    check(caught.value)


def test_tf_record_iterator(source):
    records = tf.compat.v1.io.tf_record_iterator(source, max_record_bytes=100)
    assert [next(records), next(records)] == RECORDS[:2]
    with pytest.raises(DataLossError) as caught:
        next(records)
    check(caught.value)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "a").write_bytes(frames(RECORDS))
    return tmp_path / "a"


def test_index(path):
    with pytest.raises(DataLossError) as caught:
        tf.RecordIndex.build(path, max_record_bytes=100)
    check(caught.value)
    assert len(tf.RecordIndex.build(path, max_record_bytes=101)) == len(RECORDS)


@pytest.mark.parametrize("indexed", [False, True])
def test_indexed_reader(path, indexed):
    index = tf.RecordIndex.build(path) if indexed else None
    reader = tf.IndexedReader(path, indexes=index, max_record_bytes=100)
    if indexed:
        assert reader[3] == RECORDS[3] and reader.take([0, 1]).tolist() == RECORDS[:2]
    for ask in (lambda: reader[2], lambda: reader.take([1, 2])):
        with pytest.raises(DataLossError) as caught:
            ask()
        check(caught.value)


@pytest.mark.parametrize("claim", [101, 2**62, 2**62 + 1, 2**64 - 17, 2**64 - 4, 2**64 - 1])
@pytest.mark.parametrize("most", [100, None])
def test_a_record_that_is_restored_into_a_shuffle_buffer(tmp_path, claim, most):
    path, records = tmp_path / "a", [b"%04d" % i for i in range(200)]
    path.write_bytes(frames(records))
    make = lambda: tf.ShardReader(path, batch_size=5, shuffle_buffer=50, seed=1, max_record_bytes=most)  # noqa: E731
    reader = make()
    next(iter(reader))
    state = reader.state_dict()
    data = bytearray(path.read_bytes())
    for at in offsets(records)[:-1]:
        data[at : at + 12] = header(claim)
    path.write_bytes(data)
    resumed = make()
    resumed.load_state_dict(state)
    with pytest.raises(DataLossError):
        next(iter(resumed))


def test_a_record_of_the_very_size_is_read(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(frames([b"", b"x"]))
    assert list(tf.data.TFRecordDataset(path, max_record_bytes=1)) == [b"", b"x"]
    with pytest.raises(DataLossError):
        list(tf.data.TFRecordDataset(path, max_record_bytes=0))


def test_a_negative_limit_is_refused(path):
    for make in (tf.ShardReader, tf.data.TFRecordDataset, tf.IndexedReader, tf.RecordIndex.build):
        with pytest.raises(InvalidArgumentError, match="max_record_bytes"):
            make(path, max_record_bytes=-1)


def test_a_dataset_takes_it_for_paths_that_come_one_by_one(tmp_path):
    (tmp_path / "a").write_bytes(frames(RECORDS))
    paths = tf.data.Dataset.from_tensor_slices([str(tmp_path / "a")]).map(lambda path: path)
    assert list(tf.data.TFRecordDataset(paths, max_record_bytes=101)) == RECORDS
    with pytest.raises(tf.DataLossError, match="max_record_bytes is 100"):
        list(tf.data.TFRecordDataset(paths, max_record_bytes=100))
