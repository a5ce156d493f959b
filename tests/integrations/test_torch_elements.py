"""Elements of a Dataset, divided among a DataLoader's workers: parts, epochs and states, without processes."""

import contextlib
import os
import pickle
from typing import Any, NamedTuple

import pytest

from tfrecord_fast.base import ranks
from tfrecord_fast.data import Dataset
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.integrations.torch.elements import Elements

torch = pytest.importorskip("torch")


def doubled(value):
    return int(value) * 2


def shuffled(count=12):
    return Elements(Dataset.range(count).shuffle(count, seed=3))


def orders(count=12, epochs=3):
    one = shuffled(count)
    return [list(one.converted(int)) for _ in range(epochs)]


def copies(of, count):
    """As workers have it that were spawned."""
    state = {**of.__getstate__()}
    found = []
    for _ in range(count):
        one = object.__new__(Elements)
        one.__setstate__({**state, "_epochs": {**state["_epochs"], "board": of._epochs._board}})
        found.append(one)
    return found


def test_a_worker_gives_every_other_element(worker):
    parent = shuffled()
    workers = copies(parent, 3)
    expected = orders()
    for epoch in range(3):
        found = []
        for number, one in enumerate(workers):
            with worker(number, 3, os.getpid()):
                found.append(list(one.converted(int)))
        assert found == [expected[epoch][number::3] for number in range(3)]
        assert parent.epoch == epoch + 1


def test_elements_are_converted(worker):
    one = Elements(Dataset.range(5))
    assert list(one.converted(doubled)) == [0, 2, 4, 6, 8] and len(one) == 5
    with worker(1, 2):
        assert list(one.converted(doubled)) == [2, 6]


@pytest.mark.parametrize("given", [0, 1, 2, 4])
def test_a_part_is_resumed_where_it_was(worker, given):
    expected, following = (order[1::3] for order in orders(epochs=2))
    first = shuffled()
    with worker(1, 3):
        iterator = first.converted(int)
        assert [next(iterator) for _ in range(given)] == expected[:given]
        state = first.state_dict()
        assert {**state, "seeds": None} == {"version": 1, "epoch": 0, "given": given, "workers": 3, "seeds": None}
        second = shuffled()
        second.load_state_dict(pickle.loads(pickle.dumps(state)))
        assert second.state_dict() == state
        assert list(second.converted(int)) == expected[given:]
        assert second.state_dict()["given"] == 4
        assert list(second.converted(int)) == following


def test_a_whole_is_resumed_where_it_was():
    expected = orders()
    first = shuffled()
    list(first.converted(int))
    iterator = first.converted(int)
    assert [next(iterator) for _ in range(5)] == expected[1][:5]
    second = shuffled()
    second.load_state_dict(first.state_dict())
    assert second.epoch == 1 and list(second.converted(int)) == expected[1][5:] and second.epoch == 2
    assert list(second.converted(int)) == expected[2]


def test_a_state_of_other_parts_is_refused(worker):
    first = shuffled()
    with worker(0, 3):
        next(first.converted(int))
    state = first.state_dict()
    for workers in (2, 4):
        second = shuffled()
        second.load_state_dict(state)
        with (
            worker(0, workers),
            pytest.raises(ValueError, match=f"a DataLoader with 3 workers, this one has {workers}"),
        ):
            second.converted(int)
    second = shuffled()
    second.load_state_dict(state)
    with pytest.raises(ValueError, match="a DataLoader with 3 workers, this one has 1"):
        second.converted(int)


def test_a_state_of_other_seeds_is_refused():
    first = shuffled()
    next(first.converted(int))
    second = Elements(Dataset.range(12).shuffle(12, seed=4))
    second.load_state_dict(first.state_dict())
    with pytest.raises(ValueError, match="its shuffles have other seeds; pass them seed="):
        second.converted(int)


def test_a_state_before_an_iteration_fits_all_parts(worker):
    first = shuffled()
    first.set_epoch(2)
    state = first.state_dict()
    assert {**state, "seeds": None} == {"version": 1, "epoch": 2, "given": 0, "workers": None, "seeds": None}
    second = shuffled()
    second.load_state_dict(state)
    assert second.epoch == 2
    expected = orders()[2][1::2]
    with worker(1, 2):
        assert list(second.converted(int)) == expected


def test_an_epoch_that_is_chosen_keeps_the_place_that_lies_in_it():
    expected = orders()
    first = shuffled()
    list(first.converted(int))
    iterator = first.converted(int)
    next(iterator)
    state = first.state_dict()
    for epoch, rest in ((1, expected[1][1:]), (2, expected[2]), (0, expected[0])):
        second = shuffled()
        second.load_state_dict(state)
        second.set_epoch(epoch)
        assert second.epoch == epoch and second.state_dict()["given"] == (1 if epoch == 1 else 0)
        assert list(second.converted(int)) == rest and second.epoch == epoch + 1


@pytest.mark.parametrize("epoch", [-1, 1 << 62])
def test_an_epoch_out_of_range_is_refused(epoch):
    one = shuffled()
    with pytest.raises(InvalidArgumentError, match=rf"epoch must be at least 0 and below 2\*\*62, got {epoch}"):
        one.set_epoch(epoch)
    assert one.epoch == 0
    with pytest.raises(TypeError):
        one.set_epoch(1.0)
    one.set_epoch((1 << 62) - 1)
    assert one.epoch == (1 << 62) - 1


def test_a_copy_has_the_place_of_a_state_and_no_iteration():
    first = shuffled()
    iterator = first.converted(int)
    next(iterator)
    copied = pickle.loads(pickle.dumps(first))
    assert copied.epoch == 1 and copied.state_dict()["given"] == 0 and copied.state_dict()["workers"] is None
    second = shuffled()
    second.load_state_dict(first.state_dict())
    assert list(pickle.loads(pickle.dumps(second)).converted(int)) == orders()[0][1:]


def odd_fails(value):
    if value % 2:
        raise ValueError(int(value))
    return int(value)


def until_end(iterator):
    found = []
    while True:
        try:
            found.append(next(iterator))
        except ValueError as error:
            found.append(str(error))
        except StopIteration:
            return found


def test_an_element_that_fails_does_not_count_and_the_next_one_follows(worker):
    for place, expected in ((None, [0, "1", 2, "3", 4, "5"]), ((1, 3), ["1", 4]), ((0, 3), [0, "3"])):
        with worker(*place) if place else contextlib.nullcontext():
            one = Elements(Dataset.range(6).map(odd_fails))
            iterator = one.converted(int)
            assert until_end(iterator) == expected
            assert one.state_dict()["given"] == sum(isinstance(value, int) for value in expected)


def test_a_conversion_that_fails_counts_and_the_next_one_follows(worker):
    for place, expected in ((None, [0, "1", 2, "3"]), ((1, 2), ["1", "3"])):
        with worker(*place) if place else contextlib.nullcontext():
            one = Elements(Dataset.range(4))
            assert until_end(one.converted(odd_fails)) == expected
            assert one.state_dict()["given"] == (2 if place else 4)


@pytest.mark.parametrize("fails", ["function", "conversion"])
def test_an_interrupted_iteration_ends_and_the_state_has_what_came_before(worker, fails):
    def interrupted(value):
        if value == 4:
            raise KeyboardInterrupt
        return int(value)

    for place, rest in ((None, [4, 5, 6, 7]), ((0, 2), [4, 6])):
        with worker(*place) if place else contextlib.nullcontext():
            first, second = Elements(Dataset.range(8)), Elements(Dataset.range(8))
            if fails == "function":
                first = Elements(Dataset.range(8).map(interrupted))
            iterator = first.converted(int if fails == "function" else interrupted)
            with pytest.raises(KeyboardInterrupt):
                list(iterator)
            assert list(iterator) == []
            second.load_state_dict(first.state_dict())
            assert list(second.converted(int)) == rest


def test_elements_know_that_they_are_divided(worker):
    def seen(value):
        return ranks.is_dividing()

    one = Elements(Dataset.range(4).map(seen))
    assert [bool(value) for value in one.converted(bool)] == [False] * 4
    with worker(1, 2):
        assert [bool(value) for value in one.converted(bool)] == [True] * 2 and not ranks.is_dividing()
        with (
            ranks.dividing(),
            pytest.raises(RuntimeError, match="over a Dataset already divides"),
        ):
            one.converted(bool)


class XY(NamedTuple):
    x: Any
    y: Any


def test_a_named_tuple_stays_one_in_torch():
    torch = pytest.importorskip("torch")
    from tfrecord_fast.integrations.torch import TFRecordIterableDataset

    numbers = Dataset.range(4).map(lambda n: XY(n, (n * 2, XY(n, n)))).batch(2)
    for batch in torch.utils.data.DataLoader(TFRecordIterableDataset(numbers), batch_size=None):
        assert type(batch) is XY and type(batch.y[1]) is XY
        assert torch.equal(batch.y[0], batch.x * 2) and torch.equal(batch.y[1].x, batch.x)
