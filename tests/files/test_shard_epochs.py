"""ShardReader's epochs: each iteration shuffles anew, by seed and number, here and in the workers of a DataLoader."""

import collections
import copy
import errno
import itertools
import json
import os
import pickle
import subprocess
import sys

import pytest

import tfrecord_fast as tf
from tests.support.forks import status_of_child
from tests.support.frames import frames
from tests.support.processes import environment
from tfrecord_fast.files.reading import epochs

FILES = 4
RECORDS = 300
SHUFFLES = {
    "buffer": {"shuffle_buffer": 100},
    "files": {"shuffle_files": True},
    "both": {"shuffle_buffer": 100, "shuffle_files": True, "cycle_length": 2},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("epochs")
    for file in range(FILES):
        (folder / f"{file}.tfrecord").write_bytes(frames([b"%d-%d" % (file, i) for i in range(RECORDS)]))
    return str(folder / "*.tfrecord")


@pytest.fixture(params=SHUFFLES)
def make(files, request):
    return lambda **given: tf.ShardReader(files, **{"seed": 5, "batch_size": 64, **SHUFFLES[request.param], **given})


def shuffled(files, **given):
    return tf.ShardReader(files, **{"seed": 5, "batch_size": 64, "shuffle_buffer": 100, **given})


def flat(reader):
    return [record for batch in reader for record in batch.tolist()]


def orders(make, count):
    reader = make()
    return [flat(reader) for _ in range(count)]


# ---- Orders ----


def test_each_iteration_has_an_order_of_its_own(make):
    found = orders(make, 4)
    assert all(sorted(order) == sorted(found[0]) for order in found)
    assert all(a != b for a, b in itertools.combinations(found, 2))


def test_seed_and_epoch_decide_the_order(make):
    found = orders(make, 3)
    assert orders(make, 3) == found
    other = make()
    for epoch in (2, 0, 1, 1):
        other.set_epoch(epoch)
        assert flat(other) == found[epoch]


def test_another_seed_gives_other_orders(make):
    assert not any(a == b for a, b in zip(orders(make, 3), orders(lambda: make(seed=6), 3), strict=True))


def test_epochs_of_one_iteration_are_those_of_several(make):
    found = orders(make, 6)
    two = make(num_epochs=2)
    assert [flat(two) for _ in range(3)] == [found[0] + found[1], found[2] + found[3], found[4] + found[5]]
    two.set_epoch(3)
    assert flat(two) == found[3] + found[4]


@pytest.mark.parametrize(("count", "orders"), [(2, 2), (3, 6)])
def test_files_come_in_all_orders_equally_often(tmp_path, count, orders):
    for file in range(count):
        (tmp_path / str(file)).write_bytes(frames([b"%d" % file]))
    reader = tf.ShardReader(str(tmp_path / "*"), shuffle_files=True, seed=3, batch_size=count, num_epochs=600)
    found = collections.Counter(tuple(batch.tolist()) for batch in reader)
    assert len(found) == orders
    assert all(0.7 < times / (600 / orders) < 1.3 for times in found.values()), found


def test_what_is_not_shuffled_stays_as_it_is(files):
    reader = tf.ShardReader(files, cycle_length=2, batch_size=64)
    whole = flat(reader)
    assert flat(reader) == whole
    reader.set_epoch(7)
    assert flat(reader) == whole


def test_a_seed_that_was_drawn_stays(make):
    one = make(seed=None)
    first = flat(one)
    assert any(flat(make(seed=None)) != first for _ in range(12))  # four files have only 24 orders
    one.set_epoch(0)
    again = flat(one)
    one.set_epoch(0)
    assert flat(one) == again


# ---- The number ----


def test_an_iteration_that_was_left_counts(make):
    found = orders(make, 3)
    reader = make()
    next(iter(reader))
    assert reader.epoch == 1 and flat(reader) == found[1] and reader.epoch == 2


@pytest.mark.parametrize("num_epochs", [1, 2, 5])
def test_the_number_is_that_of_the_next_iteration(files, num_epochs):
    reader = shuffled(files, num_epochs=num_epochs)
    assert reader.epoch == 0
    batches = iter(reader)
    assert reader.epoch == num_epochs
    next(batches)
    assert reader.epoch == num_epochs


def test_no_epochs_count_as_none(files):
    reader = shuffled(files, num_epochs=0)
    assert flat(reader) == [] and reader.epoch == 0


@pytest.mark.parametrize("num_epochs", [None, -1, 2**63 - 1])
def test_an_endless_iteration_counts_as_far_as_it_came(files, num_epochs):
    found = orders(lambda: shuffled(files), 8)
    reader = shuffled(files, num_epochs=num_epochs, batch_size=100)
    for _ in zip(range(30), reader, strict=False):  # two and a half epochs of twelve batches
        pass
    assert reader.epoch == 3
    assert flat(itertools.islice(reader, 12)) == found[3]
    assert pickle.loads(pickle.dumps(reader)).epoch == reader.epoch
    assert reader.epoch == 4
    assert flat(itertools.islice(reader, 12)) == found[4]


@pytest.mark.parametrize("how", [{"global_shuffle": True}, *({"shuffle_buffer": n} for n in (0, 1, 99, 9999))], ids=str)
def test_an_endless_iteration_has_reached_the_epoch_of_its_last_record(files, how):
    reader = tf.ShardReader(files, seed=5, batch_size=100, num_epochs=None, **how)
    reader.set_epoch(3)
    assert [reader.epoch for _ in itertools.islice(reader, 36)] == [4] * 12 + [5] * 12 + [6] * 12


def test_a_running_iteration_is_left_alone(files):
    reader = shuffled(files)
    whole = flat(shuffled(files))
    batches = iter(reader)
    first = next(batches).tolist()
    reader.set_epoch(9)
    assert first + flat(batches) == whole
    assert reader.epoch == 9


@pytest.mark.parametrize("epoch", [-1, 2**62])
def test_an_epoch_out_of_range_is_refused(files, epoch):
    with pytest.raises(tf.errors.InvalidArgumentError, match="epoch must be"):
        shuffled(files).set_epoch(epoch)


@pytest.mark.parametrize("epoch", [None, "1", 1.0])
def test_an_epoch_is_a_whole_number(files, epoch):
    with pytest.raises(TypeError):
        shuffled(files).set_epoch(epoch)


def test_the_last_epoch_there_is_can_be_read(files):
    reader = shuffled(files, num_epochs=2)
    reader.set_epoch(2**62 - 1)
    assert len(flat(reader)) == 2 * FILES * RECORDS


# ---- Copies ----


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda reader: pickle.loads(pickle.dumps(reader))])
def test_a_copy_has_the_seed_and_the_number_and_counts_for_itself(files, copied):
    reader = shuffled(files, seed=None)
    flat(reader)
    other = copied(reader)
    assert other.epoch == 1
    following = flat(other)
    assert other.epoch == 2 and reader.epoch == 1
    assert flat(reader) == following


def test_a_forked_process_counts_for_itself(files):
    found = orders(lambda: shuffled(files), 2)
    reader = shuffled(files)
    flat(reader)
    assert status_of_child(lambda: flat(reader) == found[1] and reader.epoch == 2) == 0
    assert reader.epoch == 1


# ---- States ----


@pytest.mark.parametrize("given", [{}, {"num_epochs": 2}, {"seed": None}], ids=str)
def test_a_state_continues_in_its_epoch_and_then_with_the_next(make, given):
    reader = make(**given)
    flat(reader)
    states = []
    for batch in reader:
        states.append((batch.tolist(), json.dumps(reader.state_dict())))
    whole = [batch for batch, _ in states]
    following = flat(reader)
    for done in range(1, len(states) + 1, 3):
        resumed = make(**given)
        resumed.load_state_dict(json.loads(states[done - 1][1]))
        assert resumed.epoch == given.get("num_epochs", 1)
        assert [batch.tolist() for batch in resumed] == whole[done:]
        assert flat(resumed) == following


@pytest.mark.parametrize("seed", [None, 5])
def test_a_state_before_an_iteration_has_its_epoch_and_seed(files, seed):
    reader = shuffled(files, seed=seed)
    reader.set_epoch(3)
    resumed = shuffled(files, seed=seed)
    resumed.load_state_dict(json.loads(json.dumps(reader.state_dict())))
    assert resumed.epoch == 3
    assert flat(resumed) == flat(reader)


def test_an_endless_iteration_continues_in_its_epoch(files):
    reader = shuffled(files, num_epochs=None, batch_size=100)
    batches = iter(reader)
    for _ in range(18):
        next(batches)
    resumed = shuffled(files, num_epochs=None, batch_size=100)
    resumed.load_state_dict(reader.state_dict())
    assert flat(itertools.islice(resumed, 6)) == flat(itertools.islice(batches, 6))
    assert resumed.epoch == reader.epoch


def test_the_epoch_that_was_chosen_meanwhile_is_in_the_state(files):
    reader = shuffled(files)
    batches = iter(reader)
    next(batches)
    reader.set_epoch(9)
    resumed = shuffled(files)
    resumed.load_state_dict(json.loads(json.dumps(reader.state_dict())))
    assert flat(resumed) == flat(batches)
    assert resumed.epoch == 9


def test_choosing_the_epoch_of_a_state_keeps_its_place(files):
    reader = shuffled(files)
    flat(reader)
    batches = iter(reader)
    next(batches)
    state = reader.state_dict()
    rest = flat(batches)
    resumed = shuffled(files)
    resumed.load_state_dict(state)
    resumed.set_epoch(1)
    assert flat(resumed) == rest


def test_choosing_another_epoch_gives_up_the_place_of_a_state(files):
    found = orders(lambda: shuffled(files), 3)
    reader = shuffled(files)
    next(iter(reader))
    resumed = shuffled(files)
    resumed.load_state_dict(reader.state_dict())
    resumed.set_epoch(2)
    assert resumed.state_dict()["epoch"] == 2
    resumed.set_epoch(0)
    assert flat(resumed) == found[0]


def test_a_state_from_before_there_were_epochs_lies_in_epoch_0(files):
    found = orders(lambda: shuffled(files), 2)
    reader = shuffled(files)
    head = next(iter(reader)).tolist()
    state = {name: value for name, value in reader.state_dict().items() if name not in ("epoch", "next_epoch")}
    resumed = shuffled(files)
    flat(resumed)
    resumed.load_state_dict({**state, "version": 1})
    assert head + flat(resumed) == found[0]
    assert flat(resumed) == found[1]


def test_a_state_from_before_an_iteration_and_before_epochs_is_epoch_0(files):
    reader = shuffled(files)
    flat(reader)
    reader.load_state_dict({"version": 1, "stream": None})
    assert reader.epoch == 0


@pytest.mark.parametrize(
    "change",
    [{"epoch": None}, {"epoch": -1}, {"epoch": 2**63}, {"epoch": "1"}, {"epoch": 5}, {"next_epoch": -1}],
    ids=str,
)
def test_a_state_with_an_impossible_epoch_is_refused(files, change):
    reader = shuffled(files)
    next(iter(reader))
    with pytest.raises(ValueError, match="not a state of ShardReader"):
        reader.load_state_dict({**reader.state_dict(), **change})


def test_a_state_that_stands_after_its_last_epoch_is_refused(files):
    reader = shuffled(files)
    next(iter(reader))
    state = reader.state_dict()
    reader.load_state_dict({**state, "stream": {**state["stream"], "epoch": 2}})
    with pytest.raises(ValueError, match="epoch 2"):
        iter(reader)


@pytest.mark.parametrize("name", ["epoch", "order"])
def test_a_state_without_its_epoch_or_seed_is_refused(files, name):
    state = shuffled(files).state_dict()
    del state[name]
    with pytest.raises(ValueError, match=name):
        shuffled(files).load_state_dict(state)


def test_a_seed_that_was_given_must_be_the_one_of_a_state_before_an_iteration(files):
    with pytest.raises(ValueError, match="seed was 6, is 5"):
        shuffled(files).load_state_dict(shuffled(files, seed=6).state_dict())


# ---- PyTorch ----

LOADS = """
import json, os, sys, torch, torch.utils.data as data, tfrecord_fast as tf

files, method, boards = sys.argv[1], sys.argv[2], sys.argv[3] == "boards"
if not boards:
    del os.memfd_create

def made(workers, persistent=False):
    reader = tf.ShardReader(files, batch_size=64, shuffle_buffer=100, shuffle_files=True, seed=5)
    more = {"multiprocessing_context": method, "persistent_workers": persistent} if workers else {}
    return reader, data.DataLoader(reader, batch_size=None, num_workers=workers, **more)

def seen(loader):
    return [record.decode() for batch in loader for record in map(bytes, batch)]

def counted(workers, persistent, iterations):
    reader, loader = made(workers, persistent)
    return [[seen(loader), reader.epoch] for _ in range(iterations)]

def chosen(persistent, *epochs):
    reader, loader = made(2, persistent)
    found = []
    for epoch in epochs:
        reader.set_epoch(epoch)
        found.append(seen(loader))
    return found

def reseeded():
    reader, loader = made(2)
    found = []
    for _ in range(3):
        torch.manual_seed(1)
        found.append(seen(loader))
    return found

def resumed():
    reader, loader = made(0)
    for batch in loader:
        break
    other, loader = made(1)
    other.load_state_dict(reader.state_dict())
    return [seen(loader) for _ in range(2)]

class Wrapped(data.IterableDataset):
    def __iter__(self):
        reader = tf.ShardReader(files, batch_size=64, shuffle_buffer=100, shuffle_files=True, seed=5)
        for _ in range(2):
            yield from reader

def wrapped():
    return [seen(data.DataLoader(Wrapped(), batch_size=None, num_workers=1)) for _ in range(2)]

def main():
    torch.manual_seed(7)
    for name in sys.argv[4:]:
        print(json.dumps(eval(name)))

if __name__ == "__main__":
    main()
"""


@pytest.fixture
def load(files, tmp_path):
    script = tmp_path / "load.py"
    script.write_text(LOADS)

    def run(method, *calls, boards="boards"):
        command = [sys.executable, script, files, method, boards, *calls]
        done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=environment())
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


def both(files, **given):
    return shuffled(files, shuffle_files=True, **given)


def of_workers(records, workers):
    """What each worker gave: files are divided among them."""
    return [[record for record in records if int(record[0]) % workers == i] for i in range(workers)]


def expected(files, workers, epoch):
    """What each worker gives in that epoch."""
    parts = [both(files, shard=(i, workers)) for i in range(workers)]
    for part in parts:
        part.set_epoch(epoch)
    return [[record.decode() for record in flat(part)] for part in parts]


# A worker that is not forked imports torch, which takes seconds.
MANY = [(workers, persistent, 3) for workers, persistent in [(0, False), *itertools.product((2, 4), (False, True))]]
FEW = [(2, False, 2), (4, True, 2)]


@pytest.mark.parametrize(("method", "cases"), [("fork", MANY), ("forkserver", FEW)])
def test_workers_count_the_epochs_of_their_reader(files, load, method, cases):
    for (workers, *_), iterations in zip(cases, load(method, *(f"counted{case}" for case in cases)), strict=True):
        parts = max(workers, 1)
        for i, (records, epoch) in enumerate(iterations):
            assert of_workers(records, parts) == expected(files, parts, i)
            assert epoch == i + 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_take_the_epoch_that_was_chosen(files, load, method):
    epochs = (4, 0)
    calls = [f"chosen({persistent}, 4, 0)" for persistent in ((False, True) if method == "fork" else (True,))]
    for iterations in load(method, *calls):
        for epoch, records in zip(epochs, iterations, strict=True):
            assert of_workers(records, 2) == expected(files, 2, epoch)


def test_the_same_torch_seed_in_each_epoch_gives_other_orders_nevertheless(files, load):
    (iterations,) = load("fork", "reseeded()")
    for i, records in enumerate(iterations):
        assert of_workers(records, 2) == expected(files, 2, i)


def test_a_state_is_resumed_in_a_worker_once(files, load):
    rest, following = load("fork", "resumed()")[0]
    found = orders(lambda: both(files), 2)
    assert [record.encode() for record in rest] == found[0][64:]
    assert [record.encode() for record in following] == found[1]


def test_what_a_worker_makes_begins_with_epoch_0(files, load):
    (iterations,) = load("fork", "wrapped()")
    found = orders(lambda: both(files), 2)
    assert [[record.encode() for record in records] for records in iterations] == [found[0] + found[1]] * 2


def test_without_a_board_epochs_come_from_torchs_seed(files, load):
    """Every iteration has another order, and the same again after the same torch.manual_seed."""
    calls = ("counted(2, False, 3)", "counted(2, True, 3)", "chosen(False, 4, 0)")
    first, again = (load("fork", *calls, boards="none") for _ in range(2))
    assert first == again
    *counted, chosen = first
    for iterations in counted:
        found = [records for records, _ in iterations]
        assert all(sorted(records) == sorted(found[0]) for records in found)
        assert all(a != b for a, b in itertools.combinations(found, 2))
    for epoch, records in zip((4, 0), chosen, strict=True):
        assert of_workers(records, 2) == expected(files, 2, epoch)


def test_a_board_that_the_system_does_not_give_is_told(files, monkeypatch):
    pytest.importorskip("torch.utils.data")

    def refuse(name):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(epochs, "_board_file", None)
    monkeypatch.setattr(os, "memfd_create", refuse)
    with pytest.warns(RuntimeWarning, match="cannot share the reader's epoch .* Too many open files"):
        reader = tf.ShardReader(files)
    assert (reader.epoch, sum(map(len, reader)) > 0, reader.epoch) == (0, True, 1)
