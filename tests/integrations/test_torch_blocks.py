"""A batch goes from a worker to its DataLoader as one block of shared memory, and nothing of it stays."""

import copy
import errno
import gc
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections import OrderedDict
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset
from torch.utils.data._utils.pin_memory import pin_memory

import tfrecord_fast as tf
from tests.support.paths import ROOT
from tfrecord_fast.integrations.torch import (
    Batch,
    LabelledBatch,
    SequenceBatch,
    TFRecordIterableDataset,
    blocks,
    crossing,
)

pytestmark = pytest.mark.alone

METHODS = ["fork", "spawn", "forkserver"]


def nest(i=0):
    """One of everything."""
    offsets = torch.tensor([0, 2, 2, 5])
    return Batch(
        {
            "long": torch.arange(5) + i,
            b"bytes": torch.ones(2, 3, dtype=torch.float32) * i,
            "half": torch.arange(3).to(torch.bfloat16),
            "scalar": torch.tensor(i),
            "bools": torch.tensor([True, False, True]),
            "none": torch.empty(0, 4),
            "turned": torch.arange(6).reshape(2, 3).t(),
            "complex": torch.tensor([1 + 2j]),
            "jagged": torch.nested.nested_tensor_from_jagged(torch.arange(5.0), offsets),
            "gaps": torch.nested.nested_tensor_from_jagged(
                torch.arange(5.0), torch.tensor([0, 2, 4]), torch.tensor([1, 2])
            ),
            "sparse": torch.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 2.0], (2, 3), check_invariants=True).coalesce(),
            "summed": torch.sparse_coo_tensor([[1, 1, 0]], [1.0, 2.0, 3.0], (4,), check_invariants=True),
            "words": [b"one", b"", b"three"],
            "images": [os.urandom(3000), b"", os.urandom(2000)],
            "lists": [[b"a"], [], [b"b", b"c"]],
            "inner": {"x": torch.arange(2), "y": [torch.arange(3), "text", None], 3: [[torch.arange(2), 7]]},
            "ordered": OrderedDict(x=1),
            "labelled": LabelledBatch(torch.arange(1), 2),
            "grad": torch.ones(2, requires_grad=True),
        }
    )


def assert_same(one, other):
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, torch.Tensor):
        assert (one.dtype, one.layout, one.requires_grad) == (other.dtype, other.layout, other.requires_grad)
        if one.is_nested:
            assert_same(list(one.unbind()), list(other.unbind()))
        else:
            assert one.shape == other.shape and torch.equal(one.to_dense(), other.to_dense())
            assert one.layout is not torch.sparse_coo or one.is_coalesced() == other.is_coalesced()
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            assert_same(*pair)
    else:
        assert one == other


class Nests(IterableDataset):
    """The worker's number, then batches; `make` gives them."""

    def __init__(self, make, count):
        self.make, self.count = make, count

    def __iter__(self):
        return map(self.make, range(self.count))


def large(i):
    return Batch({f"x{k}": torch.full((1000,), i * 100 + k) for k in range(20)})


def pair(i):
    return LabelledBatch(nest(i), torch.tensor([i]))


def triple(i):
    return SequenceBatch({"a": torch.tensor([i])}, {"b": torch.tensor([i])}, {})


def loader(make, count=6, workers=2, method="fork", **given):
    return DataLoader(Nests(make, count), batch_size=None, num_workers=workers, multiprocessing_context=method, **given)


def blocks_mapped():
    """How many blocks this process has mapped."""
    with open("/proc/self/maps") as maps:
        return len(re.findall("memfd:tfrecord_fast batch", maps.read()))


def wait_for(condition):
    for _ in range(200):
        gc.collect()
        if condition():
            return True
        time.sleep(0.05)
    return False


# ---- What crosses ----


@pytest.mark.parametrize("method", METHODS)
def test_everything_that_a_batch_may_hold_crosses(method):
    found = list(loader(nest, 2, workers=1, method=method))
    for i, one in enumerate(found):
        assert_same(one, Batch(nest(i), images=one["images"]))
        assert [len(image) for image in one["images"]] == [3000, 0, 2000]


@pytest.mark.parametrize("make", [pair, triple])
def test_pairs_and_triples_cross(make):
    found = list(loader(make, 1, workers=1))
    expected = make(0)
    assert type(found[0]) is type(expected)
    assert_same(found[0][1], expected[1])


def test_batches_go_through_any_queue():
    queue = multiprocessing.Queue()
    queue.put(large(3))
    assert_same(queue.get(timeout=60), large(3))


def test_a_batch_of_no_tensors_crosses():
    assert list(loader(lambda i: Batch(a=b"x"), 1, workers=1)) == [{"a": b"x"}]


def test_copies_and_pickles_are_batches_of_their_own():
    one = Batch(x=torch.arange(3))
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert_same(one, other)
    shared = copy.copy(one)
    shared["y"] = 1
    assert "y" not in one


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("put", [lambda x: x, lambda x: [x], lambda x: {"y": x}], ids=["itself", "list", "dict"])
def test_strided_nested_tensors_cross(put):
    def make(i):
        return Batch(x=put(torch.nested.nested_tensor([torch.arange(2), torch.arange(1)])), z=torch.arange(3))

    for found in loader(make, 3, workers=1, timeout=60):
        assert_same(found, make(0))


@pytest.mark.parametrize("make", [nest, pair, triple])
def test_a_batch_that_can_not_be_taken_apart_crosses_as_torch_sends_it(make, monkeypatch):
    def fail(batch):
        raise RuntimeError("a tensor like no other")

    monkeypatch.setattr(crossing, "parts_of", fail)
    expected = make(0)
    [found] = loader(lambda i: expected, 1, workers=1, timeout=60)
    assert_same(found, expected)


def test_one_message_has_one_block():
    message = ForkingPickler.dumps(large(1))
    handles = re.findall(rb"rebuild_storage|rebuild_tensor", bytes(message))
    assert len(handles) <= 2  # of the block


# ---- Whose memory it is ----


def test_tensors_are_views_of_one_block_and_can_be_written_to():
    batches = iter(loader(large, 1, workers=1))
    one = next(batches)
    addresses = sorted(tensor.data_ptr() for tensor in one.values())
    assert addresses[-1] - addresses[0] == 19 * 8000 and blocks_mapped() == 1
    one["x0"] += 1
    assert one["x0"][0] == 1 and one["x1"][0] == 1


def test_a_change_of_one_column_is_not_one_of_another():
    one = next(iter(loader(large, 1, workers=1)))
    before = one["x1"]._version
    one["x0"].zero_()
    assert one["x1"]._version == before
    assert one["x1"].untyped_storage().nbytes() == 8000


def test_what_is_kept_of_a_batch_stays_as_it_is():
    """One tensor of each batch holds its block; the others are let go, and blocks of batches without one come again."""
    kept = [one["x3"] for i, one in enumerate(loader(large, 200)) if i % 10 == 0]
    firsts = [int(tensor[0]) for tensor in kept]
    assert all(int(tensor.min()) == int(tensor.max()) == first for tensor, first in zip(kept, firsts, strict=True))
    assert len(firsts) == 40 and len(set(firsts)) >= 20


def test_all_batches_can_be_kept():
    kept = list(loader(large, 300, workers=2))
    for one in kept:
        i = int(one["x0"][0]) // 100
        assert_same(one, large(i))
    assert len(kept) == 600
    assert blocks_mapped() <= 2 * 16


def test_few_blocks_are_enough_for_a_loop():
    for _ in loader(large, 500):
        assert blocks_mapped() <= 2 * 8


@pytest.mark.parametrize("count", [1, 50])
def test_nothing_stays_when_an_iteration_is_over(count):
    for _ in loader(large, 50):
        count -= 1
        if not count:
            break
    del _
    assert wait_for(lambda: blocks_mapped() == 0)
    assert wait_for(lambda: not blocks._kept)


def test_a_tensor_outlives_its_loader():
    tensor = next(iter(loader(large, 3)))["x7"]
    gc.collect()
    assert tensor.tolist() == [7] * 1000


def test_batches_of_growing_size():
    def growing(i):
        return Batch(x=torch.full((1 << i,), i))

    found = list(loader(growing, 20, workers=1))
    assert [one["x"].tolist()[-1] for one in found] == list(range(20))


def test_a_block_that_became_too_small_makes_room_for_a_larger_one():
    batches = loader(lambda i: Batch(x=torch.full((5000 * (i + 1),), i)), 30, workers=1)
    kept = []
    for i, batch in enumerate(batches):
        assert blocks_mapped() <= 16
        if i < 15:
            kept.append(batch)
    assert [int(batch["x"][-1]) for batch in kept] == list(range(15))


def test_persistent_workers_go_on_with_their_blocks():
    loading = loader(large, 20, persistent_workers=True)
    for _ in range(3):
        assert sorted(int(one["x0"][0]) for one in loading) == sorted(2 * [i * 100 for i in range(20)])
    del loading
    assert wait_for(lambda: blocks_mapped() == 0)


def test_a_forked_child_keeps_what_it_saw():
    batches = iter(loader(large, 300, workers=1))
    one = next(batches)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writer)
        os.read(reader, 1)  # until the parent has let go, and has had many more
        same = all(bool((one[f"x{k}"] == k).all()) for k in range(20))
        os._exit(0 if same else 1)
    os.close(reader)
    del one
    for _ in range(200):
        next(batches)
    os.close(writer)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_child_that_lets_go_does_not_give_blocks_back():
    batches = iter(loader(large, 300, workers=1))
    one = next(batches)
    child = os.fork()
    if child == 0:
        del one
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    for _ in range(200):
        next(batches)
    assert all(bool((one[f"x{k}"] == k).all()) for k in range(20))


KILLED = """
import sys, time, torch
from tests.integrations.test_torch_blocks import large, loader
batches = iter(loader(large, 1000))
next(batches), next(batches)  # one of each worker: from then on each knows its parent
print([worker.pid for worker in batches._workers], flush=True)
time.sleep(100)
"""


def test_nothing_stays_when_the_consumer_is_killed():
    run = subprocess.Popen([sys.executable, "-c", KILLED], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    workers = eval(run.stdout.readline())
    before = set(os.listdir("/dev/shm"))
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    assert wait_for(lambda: not any(os.path.exists(f"/proc/{worker}/fd") and alive(worker) for worker in workers))
    assert set(os.listdir("/dev/shm")) <= before


def alive(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# In a process of its own: torch's handler of SIGCHLD may raise the error anywhere, from the moment of the kill.
WORKER_KILLED = """
import os, signal
from tests.integrations.test_torch_blocks import blocks_mapped, large, loader, wait_for
batches = iter(loader(large, 10000))
kept = next(batches)
try:
    os.kill(batches._workers[0].pid, signal.SIGKILL)
    list(map(len, batches))
except (RuntimeError, OSError, EOFError):  # as it was in the middle of handing one over, or not
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    print(True)
print(kept["x5"].tolist() == [5] * 1000)
del batches, kept
print(wait_for(lambda: blocks_mapped() == 0))
"""


def test_a_killed_worker_is_an_error_and_leaves_nothing():
    done = subprocess.run([sys.executable, "-c", WORKER_KILLED], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["True", "True", "True"], done.stderr


def no_memory(file, size):
    raise OSError(errno.ENOMEM, "no memory")


@pytest.mark.parametrize("missing", ["memfd_create", "memory"])
def test_without_blocks_batches_cross_nevertheless(monkeypatch, missing):
    if missing == "memory":
        monkeypatch.setattr(os, "ftruncate", no_memory)
    else:
        monkeypatch.delattr(os, "memfd_create")
    found = list(loader(large, 40, workers=1))
    assert [int(one["x2"][0]) for one in found] == [i * 100 + 2 for i in range(40)]


# ---- Other ways through torch ----


def test_pinning_goes_through_a_batch(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self, *_: self.clone())
    one = Batch(x=torch.arange(3), s=[b"a"])
    pinned = pin_memory(one)
    assert type(pinned) is Batch and pinned["s"] == [b"a"] and pinned["x"].data_ptr() != one["x"].data_ptr()
    both = pin_memory(LabelledBatch(one, torch.arange(2)))
    assert type(both) is LabelledBatch and type(both.columns) is Batch


def test_a_loader_that_pins_gives_batches():
    found = list(loader(large, 3, workers=1, pin_memory=True))
    assert [int(one["x2"][0]) for one in found] == [2, 102, 202]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("blocks") / "a.tfrecord")
    with tf.io.ExampleWriter(path) as writer:
        writer.write({"x": np.arange(100), "s": [b"%d" % i for i in range(100)]})
    return path


def test_a_loader_that_was_not_told_about_batches_gives_them_as_they_are(path):
    dataset = TFRecordIterableDataset(path, {"x": tf.FixedLenFeature([], tf.int64)}, batch_size=30)
    assert [one["x"].tolist() for one in DataLoader(dataset)] == [one["x"].tolist() for one in dataset]


def test_a_loader_that_batches_batches_is_told_how_to(path):
    dataset = TFRecordIterableDataset(path, {"x": tf.FixedLenFeature([], tf.int64)}, batch_size=30)
    with pytest.raises(ValueError, match=r"batch_size=None to the DataLoader"):
        next(iter(DataLoader(dataset, batch_size=2)))
