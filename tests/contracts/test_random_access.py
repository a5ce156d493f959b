"""Whatever the place of a file, its records are read in any order: by a hop over headers or by an index."""

import pickle

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.forks import status_of_child
from tests.support.frames import HEADER, frames, offsets

from .places import MemoryFolder

FILES = [[b"%d-%d-" % (file, i) * (i % 400) for i in range(1500)] for file in range(3)]
ALL = [record for records in FILES for record in records]
SOME = [4, 3, 4499, 0, 1500, 1499, 4, 2222]


@pytest.fixture
def urls(place):
    return [place.put(f"{number}.tfrecord", frames(records)) for number, records in enumerate(FILES)]


def test_records_are_taken_in_any_order(place, urls):
    reader = tf.IndexedReader(urls, storage_options=place.options)
    assert len(reader) == len(ALL)
    assert reader.take(SOME).tolist() == [ALL[i] for i in SOME]
    assert reader[17] == ALL[17] and reader[-1] == ALL[-1] and reader[1490:1510].tolist() == ALL[1490:1510]
    assert list(reader) == ALL
    assert reader.files == urls


def test_the_index_is_that_of_the_local_file(place, urls, tmp_path):
    (tmp_path / "x").write_bytes(frames(FILES[0]))
    assert tf.RecordIndex.build(urls[0], storage_options=place.options) == tf.RecordIndex.build(tmp_path / "x")


@pytest.mark.parametrize("place", ["local", "memory", "s3"], indirect=True)
def test_an_index_beside_the_data_is_written_and_used(place, urls):
    options = {"storage_options": place.options}
    indexes = [url + ".idx" for url in urls]
    for url, index in zip(urls, indexes, strict=True):
        tf.RecordIndex.build(url, **options).save(index, **options)
    assert tf.RecordIndex.load(indexes[1], **options) == tf.RecordIndex.build(urls[1], **options)
    reader = tf.IndexedReader(place.url("*.tfrecord"), indexes=place.url("*.idx"), **options)
    assert reader.take(SOME).tolist() == [ALL[i] for i in SOME]


def test_columns_are_parsed(place):
    url = place.put("examples", frames(tf.encode_examples({"x": np.arange(100)}).tolist()))
    reader = tf.IndexedReader(url, "infer", storage_options=place.options)
    assert reader.take([7, 3])["x"].tolist() == [7, 3]


def test_damage_names_the_url(place, urls):
    data = bytearray(frames(FILES[0]))
    data[offsets(FILES[0])[900] + HEADER + 1] ^= 1
    url = place.put("damaged", bytes(data))
    reader = tf.IndexedReader(url, storage_options=place.options)
    assert reader[899] == FILES[0][899]
    with pytest.raises(tf.DataLossError) as caught:
        reader.take([5, 900])
    assert (caught.value.path, caught.value.record_index) == (url, 900)


def test_a_missing_object_is_named(place):
    url = place.url("missing")
    with pytest.raises(FileNotFoundError, match="missing"):
        len(tf.IndexedReader(url, storage_options=place.options))


def test_all_records_are_shuffled(place, urls, tmp_path):
    paths = []
    for number, records in enumerate(FILES):
        (tmp_path / f"{number}").write_bytes(frames(records))
        paths.append(tmp_path / f"{number}")
    given = {"global_shuffle": True, "seed": 5, "batch_size": 100, "num_epochs": 2}
    local = [batch.tolist() for batch in tf.ShardReader(paths, **given)]
    reader = tf.ShardReader(urls, storage_options=place.options, **given)
    iterator = iter(reader)
    head = [next(iterator).tolist() for _ in range(30)]
    resumed = tf.ShardReader(urls, storage_options=place.options, **given)
    resumed.load_state_dict(reader.state_dict())
    assert head + [batch.tolist() for batch in resumed] == local


def test_a_pickle_reads_too(place, urls):
    reader = tf.IndexedReader(urls, storage_options=place.options)
    assert len(reader) == len(ALL)
    assert pickle.loads(pickle.dumps(reader)).take(SOME).tolist() == [ALL[i] for i in SOME]


def test_both_sides_of_a_fork_read():
    folder = MemoryFolder("random")
    reader = tf.IndexedReader(folder.put("x", frames(FILES[0])))
    assert reader[3] == FILES[0][3]
    assert status_of_child(lambda: reader.take([1, 2]).tolist() == FILES[0][1:3] and reader[5] == FILES[0][5]) == 0
    assert reader.take([7]).tolist() == FILES[0][7:8]
    folder.close()
