"""The orders that a data.Dataset has in torch's epochs, whatever else was iterated, is iterated, or is in a cache."""

import contextlib
import itertools

import numpy as np
import pytest

import tfrecord_fast as tf

torch_data = pytest.importorskip("tfrecord_fast.integrations.torch")


def shuffled():
    return tf.data.Dataset.range(12).shuffle(12, seed=1)


def random():
    return tf.data.Dataset.sample_from_datasets([tf.data.Dataset.range(9)] * 2, seed=1, rerandomize_each_iteration=True)


DRAWN_LATE = {
    "prefetch": lambda: shuffled().prefetch(2),
    "repeat": lambda: shuffled().repeat(3),
    "concatenate": lambda: tf.data.Dataset.range(3).concatenate(shuffled()),
    "sample": lambda: random().prefetch(1),
    "flat_map": lambda: shuffled().repeat(2).flat_map(tf.data.Dataset.from_tensors),
}


def values(elements):
    return [int(element) for element in elements]


@pytest.mark.parametrize("late", DRAWN_LATE)
def test_iterations_at_the_same_time_have_each_its_own_order(late):
    alone = torch_data.TFRecordIterableDataset(DRAWN_LATE[late]())
    expected = [values(alone) for _ in range(3)]
    assert len({tuple(order) for order in expected}) == 3
    together = torch_data.TFRecordIterableDataset(DRAWN_LATE[late]())
    iterators = [iter(together) for _ in range(3)]
    steps = [values(step) for step in zip(*iterators, strict=True)]
    assert [list(order) for order in zip(*steps, strict=True)] == expected


def test_an_epoch_leaves_the_orders_of_the_dataset_itself_as_they_were():
    expected = [values(dataset) for dataset in [shuffled()] for _ in range(3)]
    dataset = shuffled()
    assert values(dataset) == expected[0]
    epochs = torch_data.TFRecordIterableDataset(dataset)
    assert values(epochs) == expected[0]  # the first epoch's
    iterator = iter(epochs)
    assert values(dataset) == expected[1]
    assert len(values(iterator)) == 12
    assert values(dataset) == expected[2]


@pytest.mark.parametrize("place", [None, (0, 1), (1, 2)])
@pytest.mark.parametrize("given", [0, 5])
def test_an_iteration_that_could_not_begin_leaves_the_epoch_and_the_position(tmp_path, worker, place, given):
    def made():
        records = tf.data.TFRecordDataset(str(tmp_path / "*.tfrecord")).shuffle(20, seed=1)
        return torch_data.TFRecordIterableDataset(records)

    path, away = tmp_path / "a.tfrecord", tmp_path / "away"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch([b"%d" % i for i in range(20)])
    with worker(*place) if place else contextlib.nullcontext():
        whole, resumed = made(), made()
        list(itertools.islice(whole, given))
        resumed.load_state_dict(state := whole.state_dict())
        whole.set_epoch(0)
        rest, following = list(whole)[given:], list(whole)
        path.rename(away)
        for _ in range(2):
            with pytest.raises(FileNotFoundError):
                iter(resumed)
            assert (resumed.epoch, resumed.state_dict()) == (0, state)
        away.rename(path)
        assert list(resumed) == rest and list(resumed) == following


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for f in range(4):
        with tf.io.TFRecordWriter(folder / f"{f}") as writer:
            writer.write_batch([b"%d" % i for i in range(f * 3, f * 3 + 3)])
    return str(folder / "*")


NEW = itertools.count()
CACHED = {
    "cache": lambda files, folder: shuffled().cache(),
    "cache.shuffle": lambda files, folder: shuffled().cache().shuffle(12, seed=2),
    "cache.map.prefetch": lambda files, folder: shuffled().cache().map(lambda x: x + 1).prefetch(2),
    "cache.repeat": lambda files, folder: shuffled().cache().repeat(2),
    "repeat.cache": lambda files, folder: shuffled().repeat(2).cache(),
    "cache.take.repeat": lambda files, folder: shuffled().cache().take(5).repeat(2),
    "cache.take.concatenate": lambda files, folder: (
        tf.data.Dataset.range(3).concatenate((kept := shuffled().cache()).take(5)).concatenate(kept)
    ),
    "cache beside it": lambda files, folder: tf.data.Dataset.zip((one := shuffled()).cache(), one).map(np.add),
    "sample.cache": lambda files, folder: random().cache(),
    "cache.shuffle.cache": lambda files, folder: shuffled().cache().shuffle(12, seed=2).cache(),
    "files.cache.records": lambda files, folder: tf.data.TFRecordDataset(
        tf.data.Dataset.list_files(files, seed=1).cache()
    ),
    "files.interleave.cache": lambda files, folder: (
        tf.data.Dataset.list_files(files, seed=1).interleave(tf.data.TFRecordDataset, 2).shuffle(4, seed=2).cache()
    ),
    "cache(file)": lambda files, folder: shuffled().cache(folder / str(next(NEW))).shuffle(3, seed=2),
    "snapshot": lambda files, folder: shuffled().snapshot(folder / str(next(NEW))),
}


@pytest.fixture(params=CACHED)
def made(request, files, tmp_path):
    """Makes the dataset as another process would have it, whose caches are empty."""
    return lambda: torch_data.TFRecordIterableDataset(CACHED[request.param](files, tmp_path))


@pytest.mark.parametrize("place", [None, (1, 2)])
@pytest.mark.parametrize("begun", [3, 30])
def test_what_a_cache_keeps_is_in_the_first_epochs_order_wherever_it_is_filled(made, worker, place, begun):
    with worker(*place) if place else contextlib.nullcontext():
        whole = made()
        values(itertools.islice(whole, begun))  # an epoch that may be broken off, so that nothing is kept
        whole.set_epoch(0)
        expected = [values(whole) for _ in range(3)]
        for epoch in range(3):
            chosen = made()
            chosen.set_epoch(epoch)
            assert values(chosen) == expected[epoch]


@pytest.mark.parametrize("place", [None, (1, 2)])
def test_with_caches_resumed_after_any_element_the_rest_comes(made, worker, place):
    with worker(*place) if place else contextlib.nullcontext():
        whole = made()
        expected = [values(whole) for _ in range(3)]
        for epoch, given in itertools.product(range(2), range(len(expected[0]))):
            first = made()
            for _ in range(epoch):
                values(first)
            begun = values(itertools.islice(first, given))
            resumed = made()
            resumed.load_state_dict(first.state_dict())
            assert begun + values(resumed) == expected[epoch]
            assert values(resumed) == expected[epoch + 1]
