"""TFRecordIterDataset: batches of a ShardReader in Grain's pipelines."""

import json
import os
import pickle
import random

import grain
import numpy as np
import pytest
from grain._src.python.dataset.transformations import process_prefetch

import tfrecord_fast as tf
from tests.support.forks import status_of_child
from tests.support.grain_records import FEATURES, SIZES, joined, write_files
from tfrecord_fast.errors import DataLossError, InvalidArgumentError
from tfrecord_fast.files.reading import shard_division as shares
from tfrecord_fast.integrations.grain import TFRecordIterDataset

N = sum(SIZES)
ALL = list(range(N))
ONLY_X = {"x": FEATURES["x"]}
ORDERS = {
    "in order": {},
    "shuffle_buffer": {"shuffle_buffer": 20, "shuffle_files": True},
    "large buffer": {"shuffle_buffer": 1000},
    "global_shuffle": {"global_shuffle": True},
    "interleaved": {"cycle_length": 3, "block_length": 2},
    "epochs": {"num_epochs": 3, "shuffle_buffer": 50},
    "equal": {"shard": (1, 3), "equal_shards": "pad", "shuffle_buffer": 10},
}


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("dataset"))


def dataset(paths, features=ONLY_X, **options):
    return TFRecordIterDataset(paths, features, **{"batch_size": 8, "seed": 1, **options})


def numbers(batches):
    return [i for batch in batches for i in batch["x"].tolist()]


def run(iterator):
    """The numbers of each batch, and the states before each and at the end."""
    states, batches = [iterator.get_state()], []
    for batch in iterator:
        batches.append(numbers([batch]))
        states.append(json.loads(json.dumps(iterator.get_state())))
    return batches, states


def test_batches_are_a_readers(paths):
    made = dataset(paths, FEATURES)
    assert isinstance(made, grain.IterDataset) and isinstance(iter(made), grain.DatasetIterator)
    expected = list(tf.ShardReader(paths, FEATURES, batch_size=8))
    assert [pickle.dumps(batch) for batch in made] == [pickle.dumps(batch) for batch in expected]
    assert len(made) == len(expected)


def test_records_and_labels(paths):
    assert [r for batch in dataset(paths, None) for r in batch.tolist()] == list(tf.TFRecordDataset(paths))
    columns, label = next(iter(dataset(paths, FEATURES, label_key="x", columns=["v"])))
    assert list(columns) == ["v"] and label.tolist() == ALL[:8]


def test_each_iteration_gives_the_same(paths):
    made = dataset(paths, shuffle_buffer=50)
    first = numbers(made)
    assert numbers(made) == numbers(made.map(lambda batch: batch)) == numbers(pickle.loads(pickle.dumps(made))) == first
    assert sorted(first) == ALL and first != ALL


def test_two_epochs_differ(paths):
    both = numbers(dataset(paths, shuffle_buffer=50, num_epochs=2))
    second = dataset(paths, shuffle_buffer=50)
    second.set_epoch(1)
    assert second.epoch == 1 and numbers(second) == both[N:] != both[:N]
    assert sorted(both[:N]) == sorted(both[N:]) == ALL


@pytest.mark.parametrize("epoch", [-1, 2**62])
def test_an_epoch_out_of_range_is_refused(paths, epoch):
    with pytest.raises(InvalidArgumentError, match="epoch"):
        dataset(paths).set_epoch(epoch)


def test_a_seed_that_is_drawn_is_the_datasets(paths):
    made, other = (dataset(paths, shuffle_buffer=200, seed=None) for _ in range(2))
    batches, states = run(iter(made))
    assert numbers(made) == numbers(pickle.loads(pickle.dumps(made))) == joined(batches)
    assert numbers(other) != numbers(made)
    for place in (0, 10):
        resumed = iter(other)
        resumed.set_state(states[place])
        assert [numbers([batch]) for batch in resumed] == batches[place:]


# ---- Checkpoints ----


@pytest.mark.parametrize("order", ORDERS)
def test_it_goes_on_with_the_next_batch(paths, order):
    batches, states = run(iter(dataset(paths, **ORDERS[order])))
    draw = random.Random(order)
    for place in [0, len(batches), *draw.sample(range(len(states)), 5)]:
        resumed = iter(dataset(paths, **ORDERS[order]))
        resumed.set_state(states[place])
        assert resumed.get_state() == states[place]
        again, later = run(resumed)
        assert again == batches[place:]
        # A state of what was resumed is as good.
        twice = iter(dataset(paths, **ORDERS[order]))
        middle = len(again) // 2
        twice.set_state(later[middle])
        assert [numbers([batch]) for batch in twice] == again[middle:]


def test_grains_own_test_of_checkpoints_passes(paths):
    made = dataset(paths, shuffle_buffer=20, batch_size=16).map(lambda batch: batch["x"])
    grain.experimental.assert_equal_output_after_checkpoint(made)


def test_repeated_and_prefetched_batches_resume(paths):
    def make():
        made = dataset(paths, shuffle_buffer=20, num_epochs=2)
        made = grain.experimental.RepeatIterDataset(made.filter(lambda batch: batch["x"].sum() % 3), 2)
        return grain.experimental.ThreadPrefetchIterDataset(made, prefetch_buffer_size=3)

    batches, states = run(iter(make()))
    for place in random.Random(3).sample(range(len(states)), 5):
        resumed = iter(make())
        resumed.set_state(states[place])
        assert [numbers([batch]) for batch in resumed] == batches[place:]


def test_a_state_with_a_buffer_is_not_made_for_each_batch(paths):
    _, states = run(iter(dataset(paths, shuffle_buffer=20, num_epochs=4)))
    assert len({state["reader"] for state in states}) <= 1 + len(states) * 8 / (16 * 20)
    assert max(state["given"] for state in states) == 16 * 20 // 8


def test_grains_handler_saves_and_restores(paths, tmp_path):
    from etils import epath

    handler, iterator = grain.checkpoint.CheckpointHandler(), iter(dataset(paths, shuffle_buffer=40))
    begun = [numbers([next(iterator)]) for _ in range(5)]
    handler.save(epath.Path(tmp_path), iterator)
    resumed = handler.restore(epath.Path(tmp_path), iter(dataset(paths, shuffle_buffer=40)))
    assert sorted(joined(begun) + numbers(resumed)) == ALL


def state_after(made, batches=3):
    iterator = iter(made)
    for _ in range(batches):
        next(iterator)
    return iterator.get_state()


@pytest.mark.parametrize(
    "options, what",
    [
        ({"batch_size": 9}, "batch_size was 8, is 9"),
        ({"seed": 2}, "seed"),
        ({"shuffle_buffer": 7}, "shuffle_buffer"),
        ({"shard": (1, 2)}, "record_shard|files"),
        ({"num_epochs": 2}, "num_epochs"),
        ({"global_shuffle": True, "shuffle_buffer": 0}, "shuffle"),
    ],
)
def test_the_state_of_other_arguments_is_refused(paths, options, what):
    state = state_after(dataset(paths, shuffle_buffer=10))
    with pytest.raises(ValueError, match=what):
        iter(dataset(paths, **{"shuffle_buffer": 10, **options})).set_state(state)


def test_the_state_of_other_files_is_refused(paths, tmp_path):
    with pytest.raises(ValueError, match="list of files differs"):
        iter(dataset(write_files(tmp_path))).set_state(state_after(dataset(paths)))


@pytest.mark.parametrize(
    "change",
    [
        {"version": 9},
        {"reader": 3},
        {"reader": "{"},
        {"reader": "[]"},
        {"reader": "{}"},
        {"given": -1},
        {"given": None},
        {"given": 2**62},
        {"given": "1"},
    ],
)
def test_a_tampered_state_is_refused(paths, change):
    with pytest.raises(ValueError, match="not a state of TFRecordIterDataset"):
        iter(dataset(paths)).set_state({**state_after(dataset(paths)), **change})


@pytest.mark.parametrize("state", [None, 3, "x", {}, {"next_index": 3}, {"parent": {}, "epoch": 0}])
def test_what_is_no_state_is_refused(paths, state):
    with pytest.raises((TypeError, ValueError), match="state of TFRecordIterDataset"):
        iter(dataset(paths)).set_state(state)


def test_a_place_after_the_end_is_an_error(paths):
    iterator = iter(dataset(paths))
    iterator.set_state({**state_after(dataset(paths)), "given": 1000})
    with pytest.raises(ValueError, match="after the end"):
        next(iterator)


@pytest.mark.parametrize("order", ["in order", "shuffle_buffer", "large buffer", "global_shuffle"])
def test_files_that_were_changed_are_an_error(tmp_path, order):
    paths = write_files(tmp_path)
    state = state_after(dataset(paths, **ORDERS[order]), 12)
    write_files(tmp_path, [0, 3, 0, 2, 1])
    with pytest.raises((ValueError, DataLossError)):
        iterator = iter(dataset(paths, **ORDERS[order]))
        iterator.set_state(state)
        list(iterator)


# ---- Parts ----


def part(paths, index, count, **options):
    made = dataset(paths, **options)
    made.set_slice(slice(index, None, count))
    return made


@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("order", ["in order", "shuffle_buffer", "global_shuffle"])
def test_workers_parts_are_the_whole_together(paths, count, order):
    given = [numbers(part(paths, i, count, shard=(s, 2), **ORDERS[order])) for s in range(2) for i in range(count)]
    assert sorted(joined(given)) == ALL


def test_ranks_that_would_divide_different_orders_are_refused(paths):
    with pytest.raises(InvalidArgumentError, match="seed that all ranks have"):
        dataset(paths, global_shuffle=True, seed=None, shard=(0, 2))
    assert sorted(numbers(dataset(paths, global_shuffle=True, seed=None))) == ALL


def test_a_part_is_that_of_a_rank(paths):
    of_rank = [numbers(tf.ShardReader(paths, ONLY_X, batch_size=8, shard=(5, 6)))]
    assert [numbers(part(paths, 1, 2, shard=(2, 3)))] == of_rank


def test_a_part_is_given_once(paths):
    made = part(paths, 1, 2)
    made.set_slice(slice(1, None, 2))  # the dataset stands in the pipeline twice
    assert numbers(made) == numbers(part(paths, 1, 2))
    with pytest.raises(ValueError, match="already reads shard"):
        made.set_slice(slice(0, None, 3))


@pytest.mark.parametrize("sl", [slice(0, 5, 2), slice(2, None, 2), slice(-1, None, 2), slice(0, None, 0)])
def test_what_is_no_part_is_refused(paths, sl):
    with pytest.raises(ValueError, match="slice"):
        dataset(paths).set_slice(sl)


def test_threads_of_grain_divide_the_records(paths):
    made = grain.experimental.multithread_prefetch(dataset(paths, shuffle_buffer=20), num_threads=3, buffer_size=2)
    batches, states = run(iter(made))
    assert sorted(joined(batches)) == ALL
    resumed = iter(made)
    resumed.set_state(states[11])
    assert [numbers([batch]) for batch in resumed] == batches[11:]


def test_workers_share_the_processors(paths, monkeypatch):
    monkeypatch.setattr("tfrecord_fast.integrations.grain.default_threads", lambda: 8)
    assert part(paths, 0, 3)._reader()._num_threads == 2
    assert part(paths, 0, 3, num_threads=5)._reader()._num_threads == 5
    assert dataset(paths)._reader()._num_threads is None


def test_a_worker_has_the_rank_of_the_process_that_started_it(paths, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    made = dataset(paths, shard="auto")
    expected = numbers(tf.ShardReader(paths, ONLY_X, batch_size=8, shard=(1, 2)))
    assert numbers(made) == expected
    pickled = pickle.dumps(made)
    monkeypatch.delenv("RANK")
    monkeypatch.delenv("WORLD_SIZE")
    assert numbers(pickle.loads(pickled)) == ALL
    monkeypatch.setattr(process_prefetch, "_is_in_worker_process", True)
    monkeypatch.setattr(shares, "parent_process", os.getpid)
    assert numbers(pickle.loads(pickled)) == expected


def test_patterns_are_resolved_at_once(tmp_path):
    write_files(tmp_path)
    made = dataset(str(tmp_path / "*.tfrecord"))
    (tmp_path / "9.tfrecord").write_bytes(b"no records")
    assert numbers(made) == ALL
    with pytest.raises(FileNotFoundError):
        dataset(str(tmp_path / "*.none"))


# ---- Iterators ----


def test_what_was_skipped_is_told(tmp_path):
    path = write_files(tmp_path, [50])[0]
    data = bytearray(open(path, "rb").read())
    data[14] ^= 1
    open(path, "wb").write(data)
    iterator = iter(dataset([path], on_corrupt="skip"))
    assert numbers(iterator) == list(range(1, 50))
    assert [skipped.offset for skipped in iterator.skipped] == [0]


def test_a_closed_iterator_is_an_error(paths):
    iterator = iter(dataset(paths))
    next(iterator)
    iterator.close()
    iterator.close()
    with pytest.raises(ValueError, match="closed"):
        next(iterator)


def test_an_order_without_checkpoints_is_refused(paths):
    with pytest.raises(InvalidArgumentError, match="deterministic"):
        dataset(paths, deterministic=False)


@pytest.mark.parametrize("option", [{"batch_size": 0}, {"shard": (2, 2)}, {"label_key": "y"}, {"no_such": 1}])
def test_a_wrong_argument_is_refused_at_once(paths, option):
    with pytest.raises((InvalidArgumentError, TypeError)):
        dataset(paths, **option)


def test_two_iterators_are_independent(paths):
    first, second = iter(dataset(paths)), iter(dataset(paths))
    assert np.array_equal(next(first)["x"], next(second)["x"])
    assert sorted(numbers(first) + ALL[:8]) == sorted(numbers(second) + ALL[:8]) == ALL


def test_a_forked_child_has_iterators_of_its_own(paths):
    made = dataset(paths)
    begun = iter(made)
    next(begun)

    def check():
        try:
            next(begun)
        except ValueError:
            return numbers(made) == ALL
        return False

    assert status_of_child(check) == 0
