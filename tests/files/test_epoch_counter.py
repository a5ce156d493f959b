"""How a reader and its copies in the workers of a DataLoader count epochs together, without processes of their own."""

import contextlib
import copy
import os
import sys
from types import SimpleNamespace

import pytest

from tests.support.forks import status_of_child
from tfrecord_fast.files.reading import epochs
from tfrecord_fast.files.reading.epochs import ENDLESS, MOST_EPOCHS, EpochCounter, end_of


@pytest.fixture
def worker(monkeypatch):
    """worker(id, workers, seed, parent): what runs meanwhile is taken to run in that worker of the process `parent`, or
    of this one."""

    @contextlib.contextmanager
    def within(number, workers=2, seed=1000, parent=None):
        info = SimpleNamespace(id=number, seed=seed + number, num_workers=workers)
        with monkeypatch.context() as patch:
            patch.setattr(epochs, "worker_info", lambda: info)
            patch.setattr(epochs, "parent_process", lambda: os.getpid() if parent is None else parent)
            yield

    return within


@pytest.fixture
def counter(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.data", SimpleNamespace(get_worker_info=lambda: None))
    made = EpochCounter()
    made.share()
    return made


def forked(counter):
    """As a process that was forked has it."""
    made = copy.copy(counter)
    made._created_by = -1
    return made


def spawned(counter):
    """As a process that was spawned has it."""
    return EpochCounter.restored({**counter.saved(), "board": counter._board})


@pytest.fixture(params=[forked, spawned])
def copies(request, counter):
    return lambda count=2: [request.param(counter) for _ in range(count)]


def begun(worker, workers, count=1, seed=1000):
    """The first epoch of each."""
    found = []
    for number, one in enumerate(workers):
        with worker(number, len(workers), seed):
            found.append(one.begin(count))
    return found


def test_workers_of_one_iteration_have_its_epochs_and_the_reader_counts_them(worker, counter, copies):
    assert begun(worker, copies(), count=3) == [0, 0] and counter.next == 3
    assert begun(worker, copies(3), count=2, seed=5) == [3, 3, 3] and counter.next == 5
    assert counter.begin(4) == 5 and counter.next == 9


def test_workers_that_stay_count_their_iterations(worker, counter, copies):
    workers = copies()
    for epoch in range(4):
        assert begun(worker, workers) == [epoch, epoch] and counter.next == epoch + 1


def test_workers_of_another_iteration_with_the_same_seed_have_the_next_epoch(worker, counter, copies):
    assert [begun(worker, copies()) for _ in range(3)] == [[0, 0], [1, 1], [2, 2]]
    assert begun(worker, copies(1)) == [3] and begun(worker, copies(1)) == [4] and counter.next == 5


def test_a_worker_that_is_late_joins_its_own_iterations(worker, counter, copies):
    quick, slow = copies()
    with worker(0):
        assert [quick.begin(2), quick.begin(2)] == [0, 2]
    with worker(1):
        assert [slow.begin(2), slow.begin(2), slow.begin(2)] == [0, 2, 4]
    with worker(0):
        assert quick.begin(2) == 4 and counter.next == 6


@pytest.mark.parametrize(("between", "joined"), [(15, True), (16, False)])
def test_the_last_sixteen_iterations_are_remembered(worker, counter, copies, between, joined):
    quick, slow = copies()
    with worker(0):
        assert quick.begin(1) == 0
    for i in range(between):
        assert begun(worker, copies(1), seed=2000 + i) == [1 + i]
    with worker(1):
        assert slow.begin(1) == (0 if joined else between + 1)
    assert counter.next == between + (1 if joined else 2)


def test_what_the_user_has_chosen_holds_for_all_workers(worker, counter, copies):
    counter.set(7)
    assert counter.next == 7
    workers = copies()
    assert begun(worker, workers) == [7, 7] and begun(worker, workers) == [8, 8] and counter.next == 9


def test_what_a_worker_has_chosen_is_its_own_next_iteration(worker, counter, copies):
    first, second = copies()
    with worker(0):
        first.set(20)
        assert first.next == 20 and first.begin(1) == 20 and first.next == 21
    with worker(1):
        second.set(30)
        assert second.begin(1) == 30  # it has joined the iteration, which goes on at 21
    assert counter.next == 21
    assert begun(worker, [first, second]) == [21, 21] and counter.next == 22


def given_up(worker, workers, together, count=1):
    """Iterations that can't begin: all have come before the first gives up, or not."""
    for number, one in enumerate(workers):
        with worker(number, len(workers)):
            first = one.begin(count)
            if not together:
                one.take_back(first)
    for number, one in enumerate(workers if together else []):
        with worker(number, len(workers)):
            one.take_back(first)
    return first


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("stay", [True, False])
def test_workers_that_could_not_begin_have_used_no_epoch(worker, counter, copies, together, stay):
    counter.set(4)
    workers = copies()
    for _ in range(3):
        assert given_up(worker, workers, together, count=3) == 4 and counter.next == 4
        workers = workers if stay else copies()
    assert begun(worker, workers, count=3) == [4, 4] and counter.next == 7
    assert begun(worker, workers, count=3) == [7, 7] and counter.next == 10


def test_a_worker_that_gives_up_late_leaves_what_has_begun_since(worker, counter, copies):
    quick, slow = copies()
    with worker(0):
        quick.begin(1)
    with worker(1):
        slow.begin(1)
    with worker(0):
        quick.take_back(0)
    assert begun(worker, copies(), seed=5) == [0, 0]
    with worker(1):
        slow.take_back(0)
    assert counter.next == 1 and begun(worker, copies(), seed=6) == [1, 1]


def test_what_was_chosen_meanwhile_is_not_taken_back(worker, counter, copies):
    workers = copies()
    assert begun(worker, workers) == [0, 0]
    counter.set(9)
    with worker(0):
        workers[0].take_back(0)
    assert counter.next == 9


def test_what_a_worker_has_chosen_holds_until_it_begins(worker, counter, copies):
    (one,) = copies(1)
    with worker(0, 1):
        one.set(20)
        for _ in range(3):
            assert one.begin(2) == 20
            one.take_back(20)
            assert one.next == 20
        assert one.begin(2) == 20
    assert counter.next == 22


def test_without_a_board_a_worker_that_could_not_begin_has_used_no_epoch(worker):
    one = EpochCounter.restored({"next": 5, "set_by": None, "board": None})
    one._board = None
    with worker(1):
        for _ in range(3):
            assert one.begin(2) == 1005
            one.take_back(1005)
        assert [one.begin(2), one.begin(2)] == [1005, 1007]


def test_what_a_worker_has_made_is_no_copy(worker, counter):
    with worker(0):
        own = EpochCounter(4)
        assert [own.begin(2), own.begin(2)] == [4, 6] and own.next == 8
    assert counter.next == 0


def test_without_a_board_the_first_epoch_comes_from_the_seed(worker):
    for number in (0, 1):
        one = EpochCounter.restored({"next": 5, "set_by": None, "board": None})
        one._board = None
        with worker(number, seed=1000):
            assert [one.begin(3), one.begin(3), one.begin(1)] == [1005, 1008, 1011] and one.next == 1012


@pytest.mark.parametrize(
    ("following", "seed", "first"),
    [(2, MOST_EPOCHS + 5, 7), (2, MOST_EPOCHS - 1, 1), (MOST_EPOCHS - 3, 5, 2), (0, MOST_EPOCHS - 1, MOST_EPOCHS - 1)],
)
def test_a_seed_leads_to_no_epoch_that_is_too_large(worker, following, seed, first):
    one = EpochCounter.restored({"next": following, "set_by": None, "board": None})
    one._board = None
    with worker(1, seed=seed):
        assert one.begin(1) == first


def test_without_a_board_what_was_chosen_holds_for_one_iteration(worker):
    one = EpochCounter.restored({"next": 9, "set_by": os.getpid(), "board": None})
    one._board = None
    with worker(1):
        assert [one.begin(2), one.begin(2)] == [9, 11]


def test_a_board_of_another_process_is_not_counted_on(worker, counter):
    """The worker's parent is a process that was forked from the one that made the board."""
    one = forked(counter)
    with worker(0, parent=-7):
        assert [one.begin(1), one.begin(1)] == [1000, 1001]
    assert counter.next == 0


def test_a_process_that_was_forked_counts_on_a_board_of_its_own(worker, counter):
    assert begun(worker, [forked(counter)], count=3) == [0]
    one = forked(counter)
    before = one._board
    before.owner = -1
    assert one.next == 3 and one._board is not before and one._board.owner == os.getpid()
    assert one.begin(2) == 3 and one.next == 5 and before.next() == 3


def test_a_choice_of_the_parent_is_no_choice_of_a_forked_process(counter):
    counter.set(6)
    one = forked(counter)
    one._set_by = one._board.owner = -1
    assert one.begin(1) == 6 and one.begin(1) == 7


def test_a_board_that_is_inherited_is_the_same_one_and_closes_its_file(counter):
    handle = SimpleNamespace(detach=lambda: os.dup(counter._board._descriptor))
    board = epochs._Board._inherited(handle, counter._board._offset, 42)
    file = board._descriptor
    board.go_to(8)
    assert counter.next == 8 and board.owner == 42
    del board
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(file)
    assert counter.next == 8


def boards_lie_side_by_side_and_give_their_places_back():
    boards = [epochs._Board.create(i) for i in range(40)]
    assert [board.begin((3, 0), 2, None, 100) for board in boards] == list(range(40))
    assert [board.next() for board in boards] == [100 + i for i in range(40)]
    places = {board._offset for board in boards}
    assert len(places) == 40
    del boards
    assert {epochs._Board.create(0)._offset, epochs._Board.create(0)._offset} <= places
    return True


def test_boards_of_one_process_lie_side_by_side_and_give_their_places_back():
    # In a child, which has none of earlier tests that may give their places back in between.
    assert status_of_child(boards_lie_side_by_side_and_give_their_places_back) == 0


def test_a_board_in_the_place_of_another_remembers_nothing_of_it():
    board = epochs._Board.create(0)
    assert board.begin((3, 0), 2, None, 1) == 0
    place = board._offset
    epochs._own_board_file()._free.clear()
    del board
    board = epochs._Board.create(0)
    assert board._offset == place and board.begin((3, 0), 2, 5, 1) == 5 and board.next() == 6


def test_a_lock_that_another_thread_holds_is_not_held_in_a_child(counter):
    with epochs._lock:
        assert status_of_child(lambda: counter.begin(1) == 0 and counter.next == 1) == 0


def test_a_number_of_epochs_ends_before_the_one_that_follows():
    assert [end_of(3, 0), end_of(3, 4), end_of(3, -1)] == [3, 7, -1]
    assert [end_of(3, ENDLESS - 1), end_of(3, ENDLESS)] == [ENDLESS + 2, -1]
