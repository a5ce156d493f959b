"""TFRecordIterableDataset over a data.Dataset: resumed after any element, it gives what would have come."""

import numpy as np
import pytest

import tfrecord_fast as tf

torch = pytest.importorskip("torch")
torch_data = pytest.importorskip("tfrecord_fast.integrations.torch")
FEATURES = {"id": tf.FixedLenFeature([], tf.int64)}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for f in range(6):
        with tf.ExampleWriter(folder / f"{f}") as writer:
            writer.write({"id": np.arange(f * 10, f * 10 + 10)})
    return sorted(map(str, folder.iterdir()))


def names(files):
    return tf.data.Dataset.from_tensor_slices(files).shuffle(10, seed=3)


def flat(files):
    return names(files).flat_map(tf.data.TFRecordDataset)


def turns(files):
    return names(files).interleave(tf.data.TFRecordDataset, cycle_length=2)


def parsed(batches):
    return batches.map(lambda batch: tf.io.parse_example(batch, FEATURES))


PIPELINES = {
    "flat.batch": lambda files: flat(files).batch(4),
    "flat.batch.map": lambda files: parsed(flat(files).batch(4)),
    "flat.batch.map.prefetch": lambda files: parsed(flat(files).batch(4)).prefetch(2),
    "flat.shuffle.batch": lambda files: flat(files).shuffle(10, seed=1).batch(4),
    "flat.repeat.batch": lambda files: flat(files).repeat(2).batch(7),
    "flat.take.batch": lambda files: flat(files).take(33).batch(4),
    "flat.shard.batch": lambda files: flat(files).shard(2, 1).batch(4),
    "flat.batch.take": lambda files: flat(files).batch(4).take(9),
    "flat.batch.repeat": lambda files: flat(files).batch(4).repeat(2),
    "flat.batch.prefetch": lambda files: flat(files).batch(4).prefetch(2),
    "flat.ignore_errors.batch": lambda files: flat(files).ignore_errors().batch(4),
    "flat.shuffle.shuffle": lambda files: flat(files).shuffle(10, seed=1).shuffle(5, seed=2),
    "flat.batch.batch": lambda files: flat(files).batch(4).batch(2),
    "turns.batch": lambda files: turns(files).batch(4),
    "turns.shuffle.batch.map": lambda files: parsed(turns(files).shuffle(10, seed=1).batch(4)),
    "turns.take.batch": lambda files: turns(files).take(33).batch(4),
    "turns": turns,
    "listed.turns.batch": lambda files: (
        tf.data.Dataset.list_files(files, seed=5).interleave(tf.data.TFRecordDataset, cycle_length=3).batch(4)
    ),
    "records.shuffle.batch": lambda files: tf.data.TFRecordDataset(names(files)).shuffle(10, seed=1).batch(4),
}


def values(element):
    if isinstance(element, dict):
        return element["id"].tolist()
    return element if isinstance(element, bytes) else [values(one) for one in element]


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_resumed_after_any_element_the_rest_comes(files, pipeline):
    make = PIPELINES[pipeline]
    whole = [values(element) for element in torch_data.TFRecordIterableDataset(make(files))]
    assert len(whole) > 3
    for given in range(len(whole)):
        dataset = torch_data.TFRecordIterableDataset(make(files))
        elements = iter(dataset)
        begun = [values(next(elements)) for _ in range(given)]
        resumed = torch_data.TFRecordIterableDataset(make(files))
        resumed.load_state_dict(dataset.state_dict())
        assert begun + [values(element) for element in resumed] == whole


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_the_order_is_that_of_the_dataset_however_it_is_cut(files, pipeline):
    """What the native reader can't do leaves the orders of what is below it as they were."""
    make = PIPELINES[pipeline]
    whole = [values(element) for element in make(files)]
    assert [values(element) for element in make(files).take(10**6)] == whole
    assert [values(element) for element in make(files).skip(1)] == whole[1:]
    dataset, cut = make(files), make(files).take(10**6)
    assert [[values(one) for one in cut] for _ in range(3)] == [[values(one) for one in dataset] for _ in range(3)]


def test_the_parent_of_workers_has_no_state(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch([b"%d" % i for i in range(100)])
    dataset = torch_data.TFRecordIterableDataset(path, batch_size=4)
    next(iter(torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=2)))
    with pytest.raises(RuntimeError, match="StatefulDataLoader"):
        dataset.state_dict()
    next(iter(dataset))
    assert dataset.state_dict()["stream"] is not None
