"""What batches are made of on their way between processes: the layout of a nest, blocks of memory and who has them."""

import errno
import gc
import mmap
import multiprocessing
import os
from collections import OrderedDict
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from tfrecord_fast.integrations.torch import Batch, LabelledBatch, SequenceBatch, blocks, crossing  # noqa: E402
from tfrecord_fast.integrations.torch.batches import Row, Rows  # noqa: E402
from tfrecord_fast.integrations.torch.layout import layout_of, parts_of, put, restored  # noqa: E402

PAGE = mmap.PAGESIZE


def crossed(value):
    parts, skeleton = parts_of(value)
    layout = layout_of(skeleton, tuple(parts.types))
    block = bytearray(layout.size)
    put(layout, parts.tensors, block)
    return restored(layout, block, parts.others), parts, layout


# ---- Layouts ----


def test_tensors_of_one_dtype_lie_end_to_end():
    kinds = tuple((torch.zeros(shape, dtype=dtype).dtype, torch.Size(shape)) for dtype, shape in (
        (torch.int64, (3,)), (torch.float32, (2, 3)), (torch.int64, ()), (torch.bool, (0, 4)), (torch.float32, (5,))
    ))  # fmt: skip
    layout = layout_of("skeleton", kinds)
    assert layout.leaves == (
        (torch.int64, (3,), 0, 3),
        (torch.float32, (2, 3), 64, 6),
        (torch.int64, (), 24, 1),
        (torch.bool, (0, 4), 128, 0),
        (torch.float32, (5,), 88, 5),
    )
    assert layout.groups == ((torch.int64, (0, 2), 0, 4), (torch.float32, (1, 4), 64, 11))
    assert (layout.skeleton, layout.size) == ("skeleton", 128)


def test_no_tensors_need_no_block():
    assert layout_of("skeleton", ()) == ("skeleton", (), (), 0)


@pytest.mark.parametrize(
    ("value", "skeleton", "tensors", "others"),
    [
        (torch.arange(2), 0, 1, []),
        ("text", ("other", 0), 0, ["text"]),
        ([], ("other", 0), 0, [[]]),
        ([1, 2], ("other", 0), 0, [[1, 2]]),
        ([b"a", b"b"], ("other", 0), 0, [[b"a", b"b"]]),
        ([b"a" * 4095], ("other", 0), 0, [[b"a" * 4095]]),
        ([b"a" * 4000, b"", b"b" * 96], ("strings", 0, 1), 2, []),
        ([b"a" * 5000, "text"], ("other", 0), 0, [[b"a" * 5000, "text"]]),
        ([torch.arange(2), "text"], (list, 0, ("other", 0)), 1, ["text"]),
        ([{"x": torch.arange(2)}], (list, (dict, ("x",), (0,))), 1, []),
        ([(torch.arange(2), 7)], (list, (tuple, 0, ("other", 0))), 1, [7]),
        (("a", torch.arange(1), torch.arange(2)), (tuple, ("other", 0), 0, 1), 2, ["a"]),
        ({1: torch.arange(1), "b": "c"}, (dict, (1, "b"), (0, ("other", 0))), 1, ["c"]),
        (OrderedDict(x=1), ("other", 0), 0, [OrderedDict(x=1)]),
        (LabelledBatch(torch.arange(1), 2), (LabelledBatch, 0, ("other", 0)), 1, [2]),
        (SequenceBatch({}, torch.arange(1), torch.arange(2)), (SequenceBatch, (dict, (), ()), 0, 1), 2, []),
        (Batch(x=torch.arange(1)), (Batch, ("x",), (0,)), 1, []),
    ],
)
def test_a_nest_is_taken_apart(value, skeleton, tensors, others):
    back, parts, layout = crossed(value)
    assert layout.skeleton == skeleton and parts.others == others and len(parts.tensors) == tensors
    assert type(back) is type(value) and str(back) == str(value)
    hash(skeleton)


@pytest.mark.filterwarnings("ignore:.*(prototype|beta|deprecated)")
def test_what_is_no_plain_tensor_is_sent_as_it_is():
    for value in (
        torch.ones(2, requires_grad=True),
        torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
        torch.ones(2, 2).to_sparse_csr(),
        torch.ones(2, requires_grad=True).to_sparse(),
        torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8),
        torch.ones(2, device="meta"),
    ):
        parts, skeleton = parts_of(value)
        assert skeleton == ("other", 0) and parts.others[0] is value and not parts.tensors


def test_a_sparse_tensor_keeps_what_was_given_twice():
    value = torch.sparse_coo_tensor([[1, 1, 0]], [1.0, 2.0, 3.0], (4,), check_invariants=True)
    back, parts, layout = crossed(value)
    assert layout.skeleton == ("sparse", 0, 1, (4,), False) and len(parts.tensors) == 2
    assert back._values().tolist() == [1, 2, 3] and back._indices().tolist() == [[1, 1, 0]] and not back.is_coalesced()
    back, _, layout = crossed(value.coalesce())
    assert layout.skeleton == ("sparse", 0, 1, (4,), True) and back.is_coalesced()
    assert back.values().tolist() == [3, 3] and back.shape == (4,)


def test_a_jagged_tensor_is_its_values_and_offsets():
    value = torch.nested.nested_tensor_from_jagged(torch.arange(5.0), torch.tensor([0, 2, 2, 5]))
    back, parts, layout = crossed(value)
    assert layout.skeleton == ("jagged", 0, 1) and [one.numel() for one in parts.tensors] == [5, 4]
    assert [row.tolist() for row in back.unbind()] == [[0, 1], [], [2, 3, 4]] and back.layout is torch.jagged


def test_a_jagged_tensor_with_gaps_is_sent_as_it_is():
    value = torch.nested.nested_tensor_from_jagged(torch.arange(5.0), torch.tensor([0, 2, 4]), torch.tensor([1, 2]))
    parts, skeleton = parts_of(value)
    assert skeleton == ("other", 0) and parts.others[0] is value


def test_strings_come_back_whole():
    words = [b"x" * 3000, b"", bytes(range(256)) * 8, b"y"]
    back, parts, _ = crossed(words)
    assert back == words and parts.tensors[0].tolist() == [3000, 0, 2048, 1] and parts.tensors[1].numel() == 5049


# ---- Blocks: the worker ----


class Handle:
    """As multiprocessing's, without a process to send it to."""

    def __init__(self, file):
        self.file = file

    def detach(self):
        return os.dup(self.file)


class Process:
    """A worker, as its parent sees it."""

    def __init__(self, pid):
        self.pid = pid


@pytest.fixture(autouse=True)
def handles(monkeypatch):
    monkeypatch.setattr(blocks, "DupFd", Handle)
    monkeypatch.setattr(blocks, "_kept", {})


@pytest.fixture
def worker():
    made = blocks._Blocks()
    yield made
    for block in made._blocks:
        block.close()


@pytest.fixture
def parent(monkeypatch, worker):
    """The worker is this process's child."""
    children = [Process(-5), Process(worker.worker[0]), Process(-6)]
    monkeypatch.setattr(multiprocessing, "active_children", lambda: children)
    return children


@pytest.mark.parametrize(("size", "pages"), [(1, 1), (3584, 1), (3585, 2), (4032, 2), (10 * PAGE, 12)])
def test_a_block_has_room_for_a_batch_that_is_a_little_larger(worker, size, pages):
    block = worker.room(size)._block
    assert block.memory.size() == pages * PAGE == os.fstat(block.file).st_size and block.room == pages * PAGE - 64


def test_the_smallest_block_that_has_room_is_taken(worker):
    places = [worker.room(pages * PAGE) for pages in (9, 1, 4)]
    assert [place._block.number for place in places] == [0, 1, 2] and worker.worker[0] == os.getpid()
    for place in places:
        place._block.memory[0] = blocks._FREE
    room = places[1]._block.room
    assert [worker.room(size)._block.number for size in (room, 5, 5)] == [1, 2, 0]
    assert worker.room(5)._block.number == 3


def test_a_block_whose_batch_failed_is_free(worker):
    with pytest.raises(KeyError), worker.room(5) as place:
        assert not place._block.is_free() and len(place.buffer) == 5
        raise KeyError
    assert place._block.is_free()
    with worker.room(5) as place:
        pass
    assert not place._block.is_free() and place._block.number == 0


def test_sixteen_batches_can_be_held(worker):
    places = [worker.room(5) for _ in range(16)]
    assert worker.room(5) is None and None not in places
    small = places[3]._block
    small.memory[0] = blocks._FREE
    larger = worker.room(PAGE)  # a free one that is too small makes room for it
    assert larger._closed == (3,) and larger._block.number == 16
    assert larger._block.file == small.file  # whose number is free again
    assert worker.room(5) is None


def test_four_free_blocks_are_kept(worker):
    for place in [worker.room(5) for _ in range(7)]:
        place._block.memory[0] = blocks._FREE
    place = worker.room(5)
    assert place._block.number == 0 and place._closed == (4, 5, 6)
    assert [block.number for block in worker._blocks] == [0, 1, 2, 3]
    assert worker.room(5)._closed == ()


def test_blocks_that_nobody_has_are_closed(worker):
    places = [worker.room(5) for _ in range(3)]
    places[1]._block.memory[0] = blocks._LEFT
    place = worker.room(5)
    assert place._closed == (1,) and place._block.number == 3 and places[1]._block.is_left()


def test_without_memory_there_is_no_place(worker, monkeypatch):
    opened = []
    memfd_create = os.memfd_create

    def noted(name):
        opened.append(memfd_create(name))
        return opened[-1]

    def fail(file, size):
        raise OSError(errno.ENOMEM, "no memory")

    monkeypatch.setattr(os, "memfd_create", noted)
    with monkeypatch.context() as patch:
        patch.setattr(os, "ftruncate", fail)
        assert worker.room(5) is None and worker._blocks == []
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])
    assert worker.room(5)._block.number == 0


def test_a_process_without_such_files_has_no_places(monkeypatch):
    monkeypatch.setattr(blocks, "_blocks", None)
    with monkeypatch.context() as patch:
        patch.delattr(os, "memfd_create")
        assert blocks.room_for(5) is None and blocks._blocks is None
    first, second = blocks.room_for(5), blocks.room_for(6)
    assert first._worker == second._worker == blocks._blocks.worker and (first._size, second._size) == (5, 6)


def test_a_forked_process_has_none_of_its_parents_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "_blocks", blocks._Blocks())
    monkeypatch.setattr(blocks, "_kept", {(1, 2): {}})
    blocks._begin_in_child()
    assert blocks._blocks is None and blocks._kept == {}


# ---- Blocks: the parent ----


def sent(worker, data):
    with worker.room(len(data)) as place:
        place.buffer[:] = data
        return place.full()


def test_a_block_goes_back_when_nobody_has_its_bytes(worker, parent):
    full = sent(worker, b"0123")
    assert full[:2] == (worker.worker, 0) and full.handle[1] == PAGE and full.bytes == 4
    batch = blocks.filled(full)
    part = memoryview(batch)[1:3]
    assert bytes(batch) == b"0123" and not batch.readonly and not worker._blocks[0].is_free()
    del batch
    gc.collect()
    del part
    gc.collect()
    assert worker._blocks[0].is_free()


def test_a_block_is_handed_over_once(worker, parent):
    batch = blocks.filled(sent(worker, b"0123"))
    del batch
    again = sent(worker, b"45678")
    assert again.handle is None and again.block == 0 and bytes(blocks.filled(again)) == b"45678"
    assert list(blocks._kept) == [worker.worker] and list(blocks._kept[worker.worker]) == [0]


def test_blocks_that_were_closed_are_no_longer_kept(worker, parent):
    batches = [blocks.filled(sent(worker, b"%d" % i)) for i in range(6)]
    del batches
    gc.collect()
    batch = blocks.filled(sent(worker, b"x"))
    assert bytes(batch) == b"x" and sorted(blocks._kept[worker.worker]) == [0, 1, 2, 3]


def test_nothing_is_kept_of_a_worker_that_is_gone(worker, parent):
    batch = blocks.filled(sent(worker, b"0123"))
    parent.clear()
    gc.collect()
    assert blocks._kept == {} and bytes(batch) == b"0123"


def test_a_block_of_no_child_is_not_kept(worker, monkeypatch):
    monkeypatch.setattr(multiprocessing, "active_children", list)
    full = sent(worker, b"0123")
    batch = blocks.filled(full)
    assert bytes(batch) == b"0123" and blocks._kept == {} and sent(worker, b"x").handle is not None
    with pytest.raises(RuntimeError, match="can only be received in the process that owns the DataLoader"):
        blocks.filled(full._replace(handle=None))


def test_a_block_that_a_child_sees_too_is_never_filled_again(worker, parent, monkeypatch):
    batch = blocks.filled(sent(worker, b"0123"))
    monkeypatch.setattr(blocks, "_forks", blocks._forks)
    blocks._count_fork()
    del batch
    gc.collect()
    assert worker._blocks[0].is_left()
    assert sent(worker, b"45").closed == (0,)


def test_a_child_that_lets_go_changes_nothing(worker, parent, monkeypatch):
    batch = blocks.filled(sent(worker, b"0123"))
    process = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: process + 1)
    del batch
    gc.collect()
    assert worker._blocks[0].memory[0] == blocks._FULL


# ---- The way ----


@pytest.fixture
def in_worker(monkeypatch, worker, parent):
    monkeypatch.setattr(crossing, "get_worker_info", lambda: SimpleNamespace(id=0))
    monkeypatch.setattr(blocks, "_blocks", worker)
    return worker


def received(batch):
    function, arguments = crossing._reduce(batch)
    return function(*arguments), arguments[0] if len(arguments) == 3 else None


def test_a_batch_of_a_worker_goes_through_its_blocks(in_worker):
    batch = Batch(x=torch.arange(3), y=torch.ones(2, 2), z=["a"])
    for _ in range(2):
        found, way = received(batch)
        assert type(way) is blocks.Full and way.bytes == 64 + 16 and type(found) is Batch
        assert found["x"].tolist() == [0, 1, 2] and found["y"].tolist() == [[1, 1], [1, 1]] and found["z"] == ["a"]


def test_a_batch_goes_through_the_pipe_where_there_is_no_block(in_worker):
    held = [received(Batch(x=torch.arange(3) + i)) for i in range(16)]
    found, way = received(Batch(x=torch.arange(4)))
    assert type(way) is bytearray and len(way) == 32 and found["x"].tolist() == [0, 1, 2, 3]
    assert [one["x"].tolist() for one, _ in held] == [[i, i + 1, i + 2] for i in range(16)]


def test_a_batch_without_tensors_needs_no_block(in_worker):
    found, way = received(Batch(x="text", y=torch.empty(0, 3)))
    assert way is None and found["x"] == "text" and found["y"].shape == (0, 3) and in_worker._blocks == []


def test_a_block_whose_batch_could_not_be_put_is_free_and_the_batch_goes_as_torch_sends_it(in_worker, monkeypatch):
    def fail(layout, tensors, block):
        raise ValueError

    monkeypatch.setattr(crossing, "put", fail)
    columns = Batch(x=torch.arange(3))
    for batch in (columns, LabelledBatch(columns, torch.arange(2)), SequenceBatch({}, columns, torch.arange(2))):
        kind, arguments = crossing._reduce(batch)
        back = kind(*arguments)
        assert kind is type(batch) and type(back) is kind and str(back) == str(batch)
    assert in_worker._blocks[0].is_free() and len(in_worker._blocks) == 1


def test_the_layouts_that_were_used_last_are_kept():
    kept = crossing._Kept()
    for i in range(66):
        assert kept.keep(i, str(i)) == str(i)
    assert list(kept) == list(range(2, 66)) and len(kept) == 64


# ---- Rows ----


def test_a_row_is_copied_and_pickled_with_what_it_knows():
    row = Row({"x": torch.arange(2)}, frozenset("a"), frozenset("b"))
    copied = row.__copy__()
    kind, arguments = row.__reduce__()
    for other in (copied, kind(*arguments)):
        assert type(other) is Row and other is not row and other == {"x": row["x"]}
        assert (other.jagged, other.padded) == ({"a"}, {"b"})
    assert type(arguments[0]) is dict


def test_rows_of_a_batch():
    jagged = torch.nested.nested_tensor_from_jagged(torch.arange(5.0), torch.tensor([0, 2, 2, 5]))
    batch = Batch(x=torch.arange(3), j=jagged, p=torch.zeros(3, 2), s=[b"a", b"b", b"c"])
    rows = Rows(batch, 3, lambda name, i: (name, i), frozenset("p"))
    assert len(rows) == 3 and rows[-1]["s"] == b"c" and rows[1]["x"].item() == 1 and rows[0]["p"] == ("p", 0)
    assert [row["j"].tolist() for row in rows[1:]] == [[], [2, 3, 4]] and [row["s"] for row in rows[::-2]] == [
        b"c",
        b"a",
    ]
    assert (rows[0].jagged, rows[0].padded) == ({"j"}, {"p"})
    for i in (3, -4):
        with pytest.raises(IndexError):
            rows[i]
