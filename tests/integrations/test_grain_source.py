"""TFRecordDataSource: records by number in Grain's MapDataset and DataLoader."""

import functools
import os
import pickle
import random

import grain
import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.forks import status_of_child
from tests.support.grain_records import FEATURES, SIZES, by_protobuf, joined, write_files
from tfrecord_fast.errors import DataLossError, InvalidArgumentError
from tfrecord_fast.integrations import grain as integration
from tfrecord_fast.integrations.grain import TFRecordDataSource

N = sum(SIZES)
ALL = list(range(N))


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("source"))


@pytest.fixture
def source(paths):
    return TFRecordDataSource(paths, FEATURES)


def numbers(elements):
    return [int(i) for element in elements for i in np.atleast_1d(element["x"])]


def test_it_is_a_source_of_grain(source):
    assert isinstance(source, grain.sources.RandomAccessDataSource)
    assert len(source) == N and source.paths[0].endswith("0.tfrecord")


def test_records_are_those_of_the_files(paths):
    raw = TFRecordDataSource(paths)
    assert [raw[i] for i in range(N)] == list(tf.TFRecordDataset(paths))
    assert raw.__getitems__([3, 0, 3]) == [raw[3], raw[0], raw[3]]


def test_values_are_what_protobuf_reads(paths, source):
    raw = TFRecordDataSource(paths)
    for i in (0, 1, 2, 40, N - 1):
        expected, got = by_protobuf(raw[i]), source[i]
        assert {key: np.atleast_1d(value).tolist() for key, value in got.items()} == {
            key: expected.get(key, []) for key in FEATURES
        }


def test_the_reader_is_given_every_option(paths, monkeypatch):
    given = {}
    monkeypatch.setattr(integration, "IndexedReader", lambda *files_and_features, **options: given.update(options))
    options = {
        "indexes": "require",
        "verify_crc": False,
        "max_record_bytes": 1000,
        "num_threads": 3,
        "groups": {"g": ["x"]},
        "storage_options": {"anon": True},
        "max_requests": 5,
        "cache_dir": "copies",
    }
    TFRecordDataSource(paths, FEATURES, **options)
    assert given == options


def test_values_are_numpys(source):
    record = source[7]
    assert {key: (value.dtype, value.shape) for key, value in record.items()} == {
        "x": (np.int64, ()),
        "v": (np.float32, (2,)),
        "s": (object, ()),
        "list": (np.int64, (3,)),
        "words": (object, (1,)),
    }


def test_a_batch_keeps_zero_bytes_at_the_end_of_strings(source):
    batch = grain.MapDataset.source(source).map(lambda record: {"s": record["s"]}).batch(3)[0]
    assert batch["s"].tolist() == [b"0\0", b"1\0", b"2\0"]


def test_strings_may_be_bytes(paths):
    assert TFRecordDataSource(paths, FEATURES, strings="bytes")[5]["s"] == b"5\0"
    with pytest.raises(InvalidArgumentError, match="strings"):
        TFRecordDataSource(paths, FEATURES, strings="list")


def test_images_are_decoded_from_either():
    pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    array = np.empty((), object)
    array[()] = tf.io.encode_png(pixels)
    assert (tf.io.decode_image(array) == pixels).all()


def test_records_together_are_records_one_by_one(source):
    for record, i in zip(source._getitems([5, 2, 5]), [5, 2, 5], strict=True):
        assert pickle.dumps(record) == pickle.dumps(source[i])


@pytest.mark.parametrize("index", [N, -N - 1, 2**70])
def test_no_such_record_is_an_error(source, index):
    with pytest.raises(IndexError):
        source[index]


def test_a_slice_is_refused(source):
    with pytest.raises(TypeError):
        source[0:3]


# ---- What Grain's checkpoints compare ----


def test_the_repr_is_the_same_for_the_same_files(paths, source):
    assert repr(source) == repr(TFRecordDataSource(paths)) == repr(pickle.loads(pickle.dumps(source)))
    assert f"files={len(SIZES)}, records={N}, digest=" in repr(source)


def test_the_repr_differs_for_other_files(paths, source, tmp_path):
    changed = write_files(tmp_path)
    same_sizes = repr(TFRecordDataSource(changed))
    write_files(tmp_path, [0, 41, 0, 80, 120])
    others = [TFRecordDataSource(paths[::-1]), TFRecordDataSource(paths[:-1]), TFRecordDataSource(changed)]
    assert len({repr(source), same_sizes, *map(repr, others)}) == 5


def test_the_repr_of_missing_files_is_no_error(tmp_path):
    assert "unreadable" in repr(TFRecordDataSource(tmp_path / "missing"))


def loader(source, workers=0, epochs=1, operations=()):
    sampler = grain.samplers.IndexSampler(
        num_records=len(source), num_epochs=epochs, shuffle=True, seed=3, shard_options=grain.sharding.NoSharding()
    )
    batch = grain.transforms.Batch(8)
    return grain.DataLoader(data_source=source, sampler=sampler, operations=[*operations, batch], worker_count=workers)


class OnlyNumbers(grain.transforms.Map):
    def map(self, record):
        return {"x": record["x"]}


def run(made):
    """The batches of an iterator, and its states before each of them and at the end."""
    states, batches = [made.get_state()], []
    for batch in made:
        batches.append(numbers([batch]))
        states.append(made.get_state())
    return batches, states


def test_a_loader_goes_on_with_the_next_batch(source):
    batches, states = run(iter(loader(source, epochs=2, operations=[OnlyNumbers()])))
    assert sorted(joined(batches)) == sorted(ALL * 2)
    assert sorted(joined(batches)[:N]) == ALL and joined(batches)[:N] != joined(batches)[N:]
    for place in random.Random(0).sample(range(len(states)), 8):
        resumed = iter(loader(pickle.loads(pickle.dumps(source)), epochs=2, operations=[OnlyNumbers()]))
        resumed.set_state(states[place])
        assert [numbers([batch]) for batch in resumed] == batches[place:]


def test_a_loader_refuses_the_state_of_other_files(source, tmp_path):
    state = iter(loader(source)).get_state()
    with pytest.raises(ValueError, match="DataSource in checkpoint does not match"):
        iter(loader(TFRecordDataSource(write_files(tmp_path), FEATURES))).set_state(state)


def test_a_loader_with_two_workers_goes_on_with_the_next_batch(source):
    made = iter(loader(source, 2, operations=[OnlyNumbers()]))
    batches, states = run(made)
    assert sorted(joined(batches)) == ALL
    resumed = iter(loader(source, 2, operations=[OnlyNumbers()]))
    for place in [*random.Random(1).sample(range(1, len(batches) - 3), 4), len(batches) - 2]:
        resumed.set_state(states[place])
        assert [numbers([next(resumed)]) for _ in range(2)] == batches[place : place + 2]
    assert not list(resumed)


# ---- MapDataset ----


def pipeline(source, epochs=2):
    ds = grain.MapDataset.source(source).seed(5).shuffle().repeat(epochs)
    return ds.map(lambda record: {"x": record["x"], "s": record["s"]}).batch(7)


def test_a_shuffled_map_dataset_gives_each_record_once_per_epoch(source):
    given = numbers(pipeline(source))
    assert sorted(given[:N]) == sorted(given[N:]) == ALL and given[:N] != given[N:]


def test_many_threads_read_at_once(source):
    options = grain.ReadOptions(num_threads=32, prefetch_buffer_size=200)
    elements = list(grain.MapDataset.source(source).repeat(4).to_iter_dataset(options))
    assert numbers(elements) == ALL * 4
    assert all(element["s"].item() == b"%d\0" % element["x"] for element in elements)


def test_a_forked_child_reads_too(source):
    assert numbers([source[3]]) == [3]
    assert status_of_child(lambda: numbers([source[i] for i in range(N)]) == ALL) == 0


def test_files_that_shrink_are_an_error(tmp_path):
    source = TFRecordDataSource(write_files(tmp_path), FEATURES)
    elements = functools.partial(map, source.__getitem__)
    assert numbers(elements(ALL)) == ALL
    os.truncate(source.paths[-1], 100)
    with pytest.raises((DataLossError, OSError), match=r"4\.tfrecord"):
        numbers(elements(ALL))
