"""Whatever the place of a file, readers yield the same records in the same order, and raise the same errors."""

import json
import pickle

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.frames import HEADER, drain, frames, offsets

COMPRESSIONS = ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"]
FILES = [[b"%d-%d-" % (file, i) * (i % 90) for i in range(2000 + 100 * file)] for file in range(4)]
ALL = [record for records in FILES for record in records]


@pytest.fixture
def pair(place, tmp_path):
    """Paths of the four files, and the keywords that read them; and the same of the store."""
    paths, urls = [], []
    for number, records in enumerate(FILES):
        path = tmp_path / f"{number}.tfrecord"
        path.write_bytes(frames(records))
        paths.append(str(path))
        urls.append(place.put(f"{number}.tfrecord", path.read_bytes()))
    return (paths, {}), (urls, {"storage_options": place.options})


def batches(files, options, **arguments):
    return [batch.tolist() for batch in tf.ShardReader(files, **options, **arguments)]


def flat(files, options, **arguments):
    return [record for batch in batches(files, options, **arguments) for record in batch]


ORDERS = [
    {},
    {"num_threads": 1},
    {"num_threads": 4},
    {"batch_size": 7},
    {"cycle_length": 3, "block_length": 5},
    {"shuffle_files": True, "seed": 3, "num_epochs": 2},
    {"shuffle_buffer": 500, "seed": 1},
    {"shard": (1, 2)},
    {"shard": (1, 3), "shard_by": "record"},
    {"prefetch_bytes": 0},
    {"prefetch_bytes": 1 << 20},
    {"max_requests": 1},
]


@pytest.mark.parametrize("arguments", ORDERS, ids=str)
def test_the_order_is_that_of_local_files(pair, arguments):
    (paths, options), (urls, theirs) = pair
    assert batches(urls, theirs, **arguments) == batches(paths, options, **arguments)


def test_without_an_order_all_records_come(pair):
    _, (urls, options) = pair
    assert sorted(flat(urls, options, deterministic=False)) == sorted(ALL)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_every_compression_is_read(place, tmp_path, compression):
    with tf.io.TFRecordWriter(tmp_path / "x", compression) as writer:
        writer.write_batch(ALL)
    url = place.put("x", (tmp_path / "x").read_bytes())
    options = {"storage_options": place.options}
    assert flat(url, options) == ALL
    assert flat(url, options, compression_type=compression) == ALL


def test_parts_of_a_compressed_object_are_read_side_by_side(place, tmp_path):
    path = str(tmp_path / "x.tfrecord.gz")
    columns = {"x": np.arange(200_000)}
    with tf.ExampleWriter(path, options="GZIP") as writer:
        writer.write(columns)
    url = place.put("x.tfrecord.gz", open(path, "rb").read())
    features = {"x": tf.io.FixedLenFeature([], tf.int64)}
    reader = tf.ShardReader(url, features, storage_options=place.options, num_threads=3)
    np.testing.assert_array_equal(np.concatenate([batch["x"] for batch in reader]), columns["x"])


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"shuffle_buffer": 300, "seed": 2},
        {"cycle_length": 3, "block_length": 4},
        {"shuffle_files": True, "seed": 5},
    ],
    ids=str,
)
def test_a_state_goes_on_at_the_next_batch(pair, arguments):
    _, (urls, options) = pair
    reader = tf.ShardReader(urls, batch_size=100, **options, **arguments)
    iterator = iter(reader)
    head = [next(iterator).tolist() for _ in range(30)]
    state = json.loads(json.dumps(reader.state_dict()))
    resumed = tf.ShardReader(urls, batch_size=100, **options, **arguments)
    resumed.load_state_dict(state)
    assert head + [batch.tolist() for batch in resumed] == batches(urls, options, batch_size=100, **arguments)


def test_a_state_of_local_files_has_no_more_in_it_over_a_store(pair):
    _, (urls, options) = pair
    reader = tf.ShardReader(urls, **options)
    next(iter(reader))
    text = json.dumps(reader.state_dict())
    assert not any(str(value) in text for value in (options["storage_options"] or {}).values())


def damaged(place, kind=""):
    data = bytearray(frames(FILES[0]))
    data[offsets(FILES[0])[1000] + HEADER + 3] ^= 1
    return place.put("damaged", bytes(data))


def test_damage_is_reported_with_url_and_offset(place):
    url = damaged(place)
    records, error = drain(tf.data.TFRecordDataset(url, storage_options=place.options))
    assert records == FILES[0][:1000]
    assert (error.path, error.offset, error.record_index) == (url, offsets(FILES[0])[1000], 1000)


def test_damage_can_be_skipped(place):
    url = damaged(place)
    reader = tf.ShardReader(url, storage_options=place.options, on_corrupt="skip")
    records = [record for batch in reader for record in batch.tolist()]
    assert records == FILES[0][:1000] + FILES[0][1001:]
    assert [(one.path, one.offset) for one in reader.skipped] == [(url, offsets(FILES[0])[1000])]


def test_a_damaged_header_is_searched_past(place):
    data = bytearray(frames(FILES[0]))
    data[offsets(FILES[0])[1000] + 2] ^= 1
    url = place.put("damaged", bytes(data))
    assert flat(url, {"storage_options": place.options}, on_corrupt="skip") == FILES[0][:1000] + FILES[0][1001:]


def test_a_cut_object_is_reported(place):
    url = place.put("cut", frames(FILES[0])[:-5])
    records, error = drain(tf.data.TFRecordDataset(url, storage_options=place.options))
    assert records == FILES[0][:-1] and "truncated" in error.reason and error.path == url


def test_an_object_that_is_missing_is_named_after_the_records_before_it(pair, place):
    _, (urls, options) = pair
    missing = place.url("missing.tfrecord")
    iterator = iter(tf.data.TFRecordDataset([urls[0], missing, urls[1]], **options))
    with pytest.raises(FileNotFoundError) as caught:
        for number, record in enumerate(iterator):
            assert record == FILES[0][number]
    assert number == len(FILES[0]) - 1 and caught.value.filename == missing


def test_an_empty_object_has_no_records(place):
    assert flat([place.put("empty", b""), place.put("one", frames([b"x"]))], {"storage_options": place.options}) == [
        b"x"
    ]


def test_a_record_larger_than_a_block_is_read(place):
    record = bytes(range(256)) * 40_000
    url = place.put("large", frames([b"before", record, b"after"]))
    options = {"storage_options": place.options}
    assert flat(url, options, prefetch_bytes=1 << 20) == [b"before", record, b"after"]


@pytest.mark.parametrize("place", ["local", "memory", "s3"], indirect=True)
def test_a_pattern_matches_in_order(pair, place):
    _, (_, options) = pair
    place.put(".hidden.tfrecord", b"no records")
    place.put("other.txt", b"no records")
    assert flat(place.url("*.tfrecord"), options) == ALL
    assert flat(place.url("[12].tfrecord"), options) == FILES[1] + FILES[2]
    assert flat(place.url("?.tf*"), options) == ALL


@pytest.mark.parametrize("place", ["local", "memory", "s3"], indirect=True)
def test_an_object_whose_name_looks_like_a_pattern_is_that_object(place):
    options = {"storage_options": place.options}
    place.put("x1.tfrecord", frames([b"another"]))
    url = place.put("x[1].tfrecord", frames([b"this"]))
    assert flat(url, options) == [b"this"]
    assert list(tf.IndexedReader(url, **options)) == [b"this"]


@pytest.mark.parametrize("place", ["local", "memory", "s3"], indirect=True)
def test_a_pattern_without_a_match_is_not_found(place):
    place.put("a", b"")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        flat(place.url("b*"), {"storage_options": place.options})


def test_every_reader_takes_a_url(place):
    path = place.put("examples", frames(tf.encode_examples({"x": np.arange(3)}).tolist()))
    options = {"storage_options": place.options}
    features = tf.infer_features(path, **options)
    assert list(features) == ["x"]
    assert len(list(tf.python_io.tf_record_iterator(path, **options))) == 3
    assert [batch["x"].tolist() for batch in tf.ShardReader(path, "infer", **options)] == [[0, 1, 2]]
    assert tf.read_table(path, **options)["x"].to_pylist() == [0, 1, 2]
    assert tf.ShardReader(path, **options).num_records == 3


def test_a_pickled_reader_has_its_options(pair):
    _, (urls, options) = pair
    copy = pickle.loads(pickle.dumps(tf.ShardReader(urls, **options)))
    assert [record for batch in copy for record in batch.tolist()] == ALL


def test_local_files_and_objects_go_together(pair):
    (paths, _), (urls, options) = pair
    assert flat([paths[0], urls[1], paths[2], urls[3]], options, cycle_length=2) == flat(paths, {}, cycle_length=2)
