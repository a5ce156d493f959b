"""TFRecordIterableDataset over a data.Dataset: epochs, parts of workers, and states that are resumed."""

import contextlib
import pickle
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")

from tfrecord_fast.data import Dataset  # noqa: E402
from tfrecord_fast.errors import InvalidArgumentError  # noqa: E402
from tfrecord_fast.integrations.torch import TFRecordIterableDataset  # noqa: E402

COUNT = 12


def shuffled(seed=3):
    return TFRecordIterableDataset(Dataset.range(COUNT).shuffle(COUNT, seed=seed))


def values(elements):
    return [int(element) for element in elements]


def orders(epochs=3):
    dataset = shuffled()
    return [values(dataset) for _ in range(epochs)]


@pytest.mark.parametrize("given", [0, 1, 4])
def test_a_part_is_resumed_where_it_was(worker, given):
    expected, following = (order[1::3] for order in orders(epochs=2))
    first, second = shuffled(), shuffled()
    with worker(1, 3):
        iterator = iter(first)
        assert values(next(iterator) for _ in range(given)) == expected[:given]
        state = first.state_dict()
        second.load_state_dict(pickle.loads(pickle.dumps(state)))
        assert second.state_dict() == state
        assert values(second) == expected[given:] and values(second) == following


def test_a_whole_is_resumed_where_it_was():
    expected = orders()
    first, second = shuffled(), shuffled()
    values(first)
    iterator = iter(first)
    assert values(next(iterator) for _ in range(5)) == expected[1][:5]
    second.load_state_dict(first.state_dict())
    assert second.epoch == 1 and values(second) == expected[1][5:] and second.epoch == 2
    assert values(second) == expected[2]


def test_a_state_of_other_parts_is_refused(worker):
    first = shuffled()
    with worker(0, 3):
        next(iter(first))
    for workers in (1, 2, 4):
        second = shuffled()
        second.load_state_dict(first.state_dict())
        with (
            worker(0, workers) if workers > 1 else contextlib.nullcontext(),
            pytest.raises(ValueError, match=f"a DataLoader with 3 workers, this one has {workers}"),
        ):
            iter(second)


def test_a_state_of_other_seeds_is_refused_each_time():
    first, second = shuffled(), shuffled(seed=4)
    next(iter(first))
    second.load_state_dict(first.state_dict())
    for _ in range(2):
        with pytest.raises(ValueError, match="its shuffles have other seeds; pass them seed="):
            iter(second)


def test_before_an_iteration_there_is_only_a_state_that_was_loaded():
    first, second = shuffled(), shuffled()
    with pytest.raises(RuntimeError, match="StatefulDataLoader"):
        first.state_dict()
    next(iter(first))
    second.load_state_dict(first.state_dict())
    assert second.state_dict() == first.state_dict()


def test_an_epoch_that_is_chosen_keeps_the_place_that_lies_in_it():
    expected = orders()
    first = shuffled()
    values(first)
    next(iter(first))
    for epoch, rest in ((1, expected[1][1:]), (2, expected[2]), (0, expected[0])):
        second = shuffled()
        second.load_state_dict(first.state_dict())
        second.set_epoch(epoch)
        assert second.epoch == second.state_dict()["epoch"] == epoch
        assert values(second) == rest and second.epoch == epoch + 1


@pytest.mark.parametrize("epoch", [-1, 1 << 62])
def test_an_epoch_out_of_range_is_refused(epoch):
    dataset = shuffled()
    with pytest.raises(InvalidArgumentError, match=rf"epoch must be at least 0 and below 2\*\*62, got {epoch}"):
        dataset.set_epoch(epoch)
    assert dataset.epoch == 0
    with pytest.raises(TypeError):
        dataset.set_epoch(1.0)
    dataset.set_epoch((1 << 62) - 1)
    assert dataset.epoch == (1 << 62) - 1


def test_a_copy_has_the_place_of_a_state_and_no_iteration():
    first, second = shuffled(), shuffled()
    next(iter(first))
    copied = pickle.loads(pickle.dumps(first))
    assert copied.epoch == 1 and values(copied) == orders()[1]
    second.load_state_dict(first.state_dict())
    assert values(pickle.loads(pickle.dumps(second))) == orders()[0][1:]


@pytest.mark.parametrize("fails", ["function", "transform"])
def test_an_interrupted_iteration_ends_and_the_state_has_what_came_before(worker, fails):
    def interrupted(value):
        if value == 4:
            raise KeyboardInterrupt
        return value

    for place, rest in ((None, [4, 5, 6, 7]), ((0, 2), [4, 6])):
        with worker(*place) if place else contextlib.nullcontext():
            if fails == "function":
                first = TFRecordIterableDataset(Dataset.range(8).map(interrupted))
            else:
                first = TFRecordIterableDataset(Dataset.range(8), transform=interrupted)
            second = TFRecordIterableDataset(Dataset.range(8))
            iterator = iter(first)
            with pytest.raises(KeyboardInterrupt):
                list(iterator)
            assert list(iterator) == []
            second.load_state_dict(first.state_dict())
            assert values(second) == rest


class XY(NamedTuple):
    x: Any
    y: Any


def test_a_named_tuple_stays_one():
    numbers = Dataset.range(4).map(lambda n: XY(n, (n * 2, XY(n, n)))).batch(2)
    for batch in torch.utils.data.DataLoader(TFRecordIterableDataset(numbers), batch_size=None):
        assert type(batch) is XY and type(batch.y[1]) is XY
        assert torch.equal(batch.y[0], batch.x * 2) and torch.equal(batch.y[1].x, batch.x)
