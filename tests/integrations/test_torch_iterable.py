"""TFRecordIterableDataset in a DataLoader: epochs, workers, and positions that StatefulDataLoader resumes."""

import itertools
import json
import pickle
import random

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, get_worker_info
from torchdata.stateful_dataloader import StatefulDataLoader

import tfrecord_fast as tf
from tests.integrations.test_torch_blocks import wait_for
from tfrecord_fast.integrations.torch import Batch, TFRecordIterableDataset

FILES = 4
RECORDS = 60  # in each
FEATURES = {"x": tf.FixedLenFeature([], tf.int64), "s": tf.VarLenFeature(tf.string)}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("iterable")
    for file in range(FILES):
        x = np.arange(RECORDS) + 1000 * file
        with tf.io.ExampleWriter(folder / f"{file}.tfrecord") as writer:
            writer.write({"x": x, "s": [[b"%d" % i] * (i % 3) for i in x]})
    return str(folder / "*.tfrecord")


def dataset(files, **given):
    return TFRecordIterableDataset(
        files, FEATURES, **{"batch_size": 8, "shuffle_buffer": 40, "shuffle_files": True, "seed": 3, **given}
    )


def loader(made, workers=0, method=None, kind=DataLoader, **given):
    return kind(made, batch_size=None, num_workers=workers, multiprocessing_context=method, **given)


def seen(batches):
    """The numbers of each batch, whose other column is looked at, too."""
    found = []
    for batch in batches:
        numbers = batch["x"].tolist()
        assert batch["s"] == [[b"%d" % i] * (i % 3) for i in numbers]
        found.append(numbers)
    return found


def flat(batches):
    return list(itertools.chain.from_iterable(batches))


def expected(files, workers, epoch, **given):
    """What each worker gives in that epoch, by itself, and the DataLoader, in turn."""
    parts = []
    for i in range(max(workers, 1)):
        reader = tf.ShardReader(
            files,
            FEATURES,
            shard=(i, max(workers, 1)),
            **{"batch_size": 8, "shuffle_buffer": 40, "shuffle_files": True, "seed": 3, **given},
        )
        reader.set_epoch(epoch)
        parts.append([batch["x"].tolist() for batch in reader])
    return [batch for turn in itertools.zip_longest(*parts) for batch in turn if batch is not None]


ALL = sorted(1000 * file + i for file in range(FILES) for i in range(RECORDS))
HOW = [(0, None, False), (2, "fork", False), (4, "fork", True), (2, "spawn", False), (2, "forkserver", True)]


@pytest.mark.parametrize(("workers", "method", "persistent"), HOW)
def test_each_epoch_has_every_record_once_in_an_order_of_its_own(files, workers, method, persistent):
    made = dataset(files)
    more = {"persistent_workers": persistent} if workers else {}
    loading = loader(made, workers, method, **more)
    for epoch in range(3 if method in (None, "fork") else 2):
        found = seen(loading)
        assert sorted(flat(found)) == ALL
        assert found == expected(files, workers, epoch)
        assert made.epoch == epoch + 1


@pytest.mark.parametrize(("workers", "method", "persistent"), [(0, None, False), (2, "fork", False), (2, "fork", True)])
def test_an_epoch_can_be_chosen(files, workers, method, persistent):
    made = dataset(files)
    loading = loader(made, workers, method, **({"persistent_workers": persistent} if workers else {}))
    for epoch in (5, 0, 5):
        made.set_epoch(epoch)
        assert seen(loading) == expected(files, workers, epoch)


def double(batch):
    assert get_worker_info() is not None
    return {"x": batch["x"] * 2}


def test_a_transform_runs_in_the_workers(files):
    found = [batch for batch in loader(dataset(files, transform=double), 2, "fork")]
    assert all(type(batch) is Batch for batch in found)
    assert sorted(flat(batch["x"].tolist() for batch in found)) == [2 * x for x in ALL]


def test_a_pickled_dataset_goes_on_with_its_epochs(files):
    made = dataset(files)
    list(made)
    assert seen(pickle.loads(pickle.dumps(made))) == expected(files, 0, 1)


def test_a_dataset_of_unknown_length_has_none(files):
    with pytest.raises(TypeError):
        len(TFRecordIterableDataset(tf.data.TFRecordDataset(files)))
    assert dataset(files)


# ---- StatefulDataLoader ----


def interrupted(make, workers, after, rng, kind=StatefulDataLoader, **given):
    """Batches of three epochs, from loaders that are dropped after so many batches, and resumed by a new one each."""
    loading, found, left, epochs = loader(make(), workers, "fork" if workers else None, kind, **given), [], after, []
    batches = iter(loading)
    while len(epochs) < 3:
        if left == 0:
            state = pickle.loads(pickle.dumps(loading.state_dict()))
            del batches, loading
            loading = loader(make(), workers, "fork" if workers else None, kind, **given)
            loading.load_state_dict(state)
            batches = iter(loading)
            left = rng.randrange(1, 20)
        batch = next(batches, None)
        if batch is None:
            epochs.append(found)
            found, batches = [], iter(loading)
            continue
        found += seen([batch])
        left -= 1
    return epochs


@pytest.mark.parametrize(("workers", "seed"), [(0, 0), (0, 1), (2, 0), (2, 1), (4, 2)])
def test_a_loader_that_is_resumed_gives_every_record_once_in_the_same_order(files, workers, seed):
    rng = random.Random(f"{workers} {seed}")
    epochs = interrupted(lambda: dataset(files), workers, rng.randrange(25), rng)
    assert epochs == [expected(files, workers, epoch) for epoch in range(3)]


def test_a_seed_that_was_drawn_is_resumed(files):
    made = dataset(files, seed=None)
    loading = loader(made, 2, "fork", StatefulDataLoader)
    batches = iter(loading)
    first = seen(itertools.islice(batches, 5))
    state = loading.state_dict()
    rest = seen(batches)
    other = loader(dataset(files, seed=None), 2, "fork", StatefulDataLoader)
    other.load_state_dict(state)
    assert seen(other) == rest and sorted(flat(first + rest)) == ALL


def test_a_state_is_json(files):
    made = dataset(files)
    next(iter(made))
    other = dataset(files)
    other.load_state_dict(json.loads(json.dumps(made.state_dict())))
    assert seen(other) == expected(files, 0, 0)[1:]


def test_a_state_of_other_arguments_is_refused(files):
    made = dataset(files)
    next(iter(made))
    other = dataset(files, batch_size=9)
    other.load_state_dict(made.state_dict())
    with pytest.raises(ValueError, match="batch_size was 8, is 9"):
        list(other)


# ---- data.Dataset ----


def elements(files, **given):
    batches = tf.data.TFRecordDataset(sorted(tf.io.gfile.glob(files))).shuffle(40, seed=3).batch(8)
    return TFRecordIterableDataset(batches.map(lambda batch: tf.io.parse_example(batch, FEATURES)), **given)


def test_a_dataset_as_it_is_says_what_to_wrap_it_in(files):
    records = tf.data.TFRecordDataset(tf.io.gfile.glob(files))
    with pytest.raises(TypeError, match=r"integrations\.torch\.TFRecordIterableDataset\(dataset\)"):
        list(DataLoader(records))
    with pytest.raises(TypeError, match=r"integrations\.torch\.TFRecordIterableDataset\(dataset\)"):
        list(DataLoader(tf.data.Dataset.range(3)))


@pytest.mark.parametrize(("workers", "persistent"), [(0, False), (2, False), (4, True)])
def test_elements_of_a_dataset_are_divided_among_workers(files, workers, persistent):
    made = elements(files)
    loading = loader(made, workers, "fork" if workers else None, **({"persistent_workers": True} if persistent else {}))
    found = [seen(loading) for _ in range(3)]
    assert all(sorted(flat(one)) == ALL for one in found)
    assert all(a != b for a, b in itertools.combinations(found, 2))
    alone = elements(files)
    assert found == [seen(alone) for _ in range(3)]


def test_the_first_epoch_is_what_the_dataset_gives(files):
    made = elements(files)
    assert seen(made) == [batch["x"].tolist() for batch in elements(files).source]


@pytest.mark.parametrize("workers", [0, 2])
def test_elements_of_a_dataset_are_resumed(files, workers):
    rng = random.Random(workers)
    epochs = interrupted(lambda: elements(files), workers, rng.randrange(25), rng)
    made = elements(files)
    assert epochs == [seen(made) for _ in range(3)]


def test_functions_at_the_end_see_the_workers_part_only():
    def noted(x):
        return np.array([x, get_worker_info().id])

    made = TFRecordIterableDataset(tf.data.Dataset.range(10).map(noted).prefetch(2))
    assert sorted(one.tolist() for one in loader(made, 2, "fork")) == [[i, i % 2] for i in range(10)]


def in_a_pipeline(files, read, how):
    """A Dataset that reads what `read` gives, in the ways that it is read in other threads, too."""
    made = tf.data.Dataset.from_generator(lambda: (np.int64(x) for batch in read(files) for x in batch["x"]))
    if how == "prefetch":
        return made.prefetch(2)
    if how == "shuffle, prefetch":
        return made.shuffle(10, seed=1).prefetch(2).batch(4).prefetch(1)
    if how == "parallel interleave":
        return tf.data.Dataset.range(2).interleave(lambda x: made, num_parallel_calls=2)
    if how == "parallel map":
        return tf.data.Dataset.range(20).map(lambda i: len(list(made)), num_parallel_calls=2).batch(3).unbatch()
    return made


@pytest.mark.parametrize("how", ["", "prefetch", "shuffle, prefetch", "parallel interleave", "parallel map"])
def test_what_divides_by_itself_is_refused_in_a_dataset_that_is_divided(files, how):
    def read(files):
        return tf.ShardReader(files, FEATURES, batch_size=8)

    def read_dataset(files):
        return TFRecordIterableDataset(tf.data.Dataset.from_generator(lambda: iter(read(files))))

    for reading in (read, read_dataset):
        made = TFRecordIterableDataset(in_a_pipeline(files, reading, how))
        whole = list(made)
        assert len(list(loader(made))) == len(whole)
        words = r"records would be lost\. Pass it to TFRecordIterableDataset directly"
        with pytest.raises(RuntimeError, match=words) as refused:
            list(loader(made, 2, "fork"))
        # Ends the workers now. PyTorch waits 5 seconds for each worker of a loader that the garbage collector finds.
        refused.value.__traceback__ = None
        del refused
        assert len(list(loader(made, 1, "fork"))) == len(whole)


class Both(torch.utils.data.IterableDataset):
    def __init__(self, files):
        self.parts = TFRecordIterableDataset(tf.data.Dataset.range(1000)), TFRecordIterableDataset(files, FEATURES)

    def __iter__(self):
        for number, batch in zip(*self.parts, strict=False):
            yield int(number), batch["x"].tolist()


def test_a_reader_beside_a_dataset_that_is_divided_is_none_of_its_concern(files):
    found = list(loader(Both(files), 2, "fork"))
    assert sorted(flat(x for _, x in found)) == ALL


def test_structures_of_elements_are_kept():
    numbers = tf.data.Dataset.from_tensor_slices({"a": np.arange(4), "b": {"c": np.ones((4, 2), np.float32)}})
    (first, *_) = loader(TFRecordIterableDataset(numbers.batch(2)))
    assert first["a"].tolist() == [0, 1] and first["b"]["c"].dtype == torch.float32
    pairs = tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.range(3, 6))).batch(3)
    x, y = next(iter(loader(TFRecordIterableDataset(pairs), 1, "fork")))
    assert (x.tolist(), y.tolist()) == ([0, 1, 2], [3, 4, 5])


def test_elements_that_are_seen_again_can_be_written_to_without_harm():
    made = TFRecordIterableDataset(tf.data.Dataset.from_tensors(np.zeros(3)).cache().repeat(2))
    for one in made:
        assert not one.any()
        one += 1


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (None, TypeError),
        ({}, ValueError),
        ({"version": 1, "epoch": -1, "given": 0, "workers": 1, "seeds": []}, ValueError),
    ],
)
def test_what_is_no_state_is_refused(state, error):
    with pytest.raises(error):
        TFRecordIterableDataset(tf.data.Dataset.range(3)).load_state_dict(state)


def test_readers_let_go_of_workers(files):
    batches = iter(loader(dataset(files), 2, "fork"))
    processes = batches._workers
    next(batches)
    del batches
    assert wait_for(lambda: not any(process.is_alive() for process in processes))
