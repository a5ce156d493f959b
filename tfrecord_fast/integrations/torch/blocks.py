"""Blocks of shared memory that a worker of a DataLoader fills and its parent lets go of, to be filled again.

A block is a file without a name (a `memfd`), so that it is gone with the last process that has it mapped, however those
end. The worker hands its descriptor over with the first message about the block; the parent maps it and keeps it for as
long as it has the worker's `Process`. From then on a batch is copied once, into a block that both sides have mapped
already, and no system call is made for it.

The first byte of a block says whose it is:

- `_FREE`: the worker's, who may fill it.
- `_FULL`: a batch's. The worker set this, filled the block and sent its number. The parent sets `_FREE` when the last
  tensor that looks into the block is gone.
- `_LEFT`: nobody's. The parent was forked while it had tensors in the block, so the child has them too, and the block
  must never be filled again. The worker gives it up.

The second byte says whether the parent keeps the block mapped, so that its number is enough.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
import threading
import weakref
from multiprocessing.reduction import DupFd
from typing import Any, NamedTuple

__all__ = ["Full", "Place", "filled", "place_for"]

_FREE, _FULL, _LEFT = 0, 1, 2
_STATE, _KEPT = 0, 1
_HEADER_BYTES = 64
_PAGE = mmap.PAGESIZE
_MOST_BLOCKS = 16  # of one worker: each is a descriptor in both processes
_MOST_FREE = 4


class Full(NamedTuple):
    """What the worker tells about a block that it has filled."""

    worker: tuple[int, int]  # its process, and a number that no other worker has
    block: int
    handle: Any  # the block's descriptor, unless the parent has it; None
    bytes: int
    given_up: tuple[int, ...]  # blocks that won't come again


class _Block:
    """A block as the worker has it."""

    def __init__(self, number: int, size: int) -> None:
        self.number = number
        self.file = os.memfd_create("tfrecord_fast batch")
        try:
            os.ftruncate(self.file, size)
            self.memory = mmap.mmap(self.file, size)
        except BaseException:
            os.close(self.file)
            raise
        self.room = size - _HEADER_BYTES

    def is_free(self) -> bool:
        return self.memory[_STATE] == _FREE

    def is_left(self) -> bool:
        return self.memory[_STATE] == _LEFT

    def close(self) -> None:
        os.close(self.file)  # the mapping goes with the last view of it


class _Blocks:
    """The blocks of a worker."""

    def __init__(self) -> None:
        self.worker = (os.getpid(), int.from_bytes(os.urandom(8), "little"))
        self._blocks: list[_Block] = []
        self._next = 0
        self._given_up: list[int] = []
        self._lock = threading.Lock()

    def place(self, size: int) -> Place | None:
        """Room for so many bytes; None if too many blocks are in use, or there is no memory for another."""
        with self._lock:
            self._tidy()
            free = [block for block in self._blocks if block.is_free()]
            block = min((one for one in free if one.room >= size), key=lambda one: one.room, default=None)
            if block is None:
                if len(self._blocks) >= _MOST_BLOCKS:
                    if not free:
                        return None
                    self._give_up(free[0])
                try:
                    block = self._made(size)
                except OSError:
                    return None
            block.memory[_STATE] = _FULL
            given_up, self._given_up = tuple(self._given_up), []
        return Place(self.worker, block, size, given_up)

    def _made(self, size: int) -> _Block:
        room = _HEADER_BYTES + size + size // 8  # the next batch may be a little larger
        block = _Block(self._next, -(-room // _PAGE) * _PAGE)
        self._next += 1
        self._blocks.append(block)
        return block

    def _tidy(self) -> None:
        """Gives up blocks that can't be filled again, and those that are more than are needed."""
        for block in [block for block in self._blocks if block.is_left()]:
            self._give_up(block)
        for block in [block for block in self._blocks if block.is_free()][_MOST_FREE:]:
            self._give_up(block)

    def _give_up(self, block: _Block) -> None:
        self._blocks.remove(block)
        self._given_up.append(block.number)
        block.close()


class Place:
    """Room in a block, for one batch. A context manager: after an error, the block is free again."""

    def __init__(self, worker: tuple[int, int], block: _Block, size: int, given_up: tuple[int, ...]) -> None:
        self._worker, self._block, self._size, self._given_up = worker, block, size, given_up

    def __enter__(self) -> Place:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is not None:
            self._block.memory[_STATE] = _FREE

    @property
    def buffer(self) -> memoryview:
        return memoryview(self._block.memory)[_HEADER_BYTES : _HEADER_BYTES + self._size]

    def full(self) -> Full:
        """What to tell the other side."""
        block = self._block
        handle = None if block.memory[_KEPT] else (DupFd(block.file), block.memory.size())
        return Full(self._worker, block.number, handle, self._size, self._given_up)


_blocks: _Blocks | None = None


def place_for(size: int) -> Place | None:
    """Room for a batch of so many bytes that this worker sends to its parent; None: there is none."""
    global _blocks
    if not hasattr(os, "memfd_create"):
        return None
    if _blocks is None:
        _blocks = _Blocks()
    return _blocks.place(size)


# ---- The parent ----

_kept: dict[tuple[int, int], dict[int, mmap.mmap]] = {}  # by worker and number
_forks = 0  # of this process


def filled(full: Full) -> memoryview:
    """The batch's bytes, writable. The block goes back to the worker when the last reference to them is gone.

    Raises:
      RuntimeError: another process has the block.
    """
    blocks = _blocks_of(full.worker)
    memory = None
    if blocks is not None:
        for number in full.given_up:
            blocks.pop(number, None)
        memory = blocks.get(full.block)
    if full.handle is not None:
        handle, size = full.handle
        file = handle.detach()
        try:
            memory = mmap.mmap(file, size)
        finally:
            os.close(file)
        if blocks is not None:
            blocks[full.block] = memory
            memory[_KEPT] = 1
    if memory is None:
        raise RuntimeError("a batch of a DataLoader's worker can be received by the DataLoader's process only")
    batch = memoryview(memory)[_HEADER_BYTES : _HEADER_BYTES + full.bytes]
    weakref.finalize(batch, _let_go, memory, os.getpid(), _forks).atexit = False
    return batch


def _let_go(memory: mmap.mmap, process: int, forks: int) -> None:
    if os.getpid() == process:  # and not its child, whose parent still has it
        memory[_STATE] = _FREE if forks == _forks else _LEFT


def _blocks_of(worker: tuple[int, int]) -> dict[int, mmap.mmap] | None:
    """What is kept of a worker's blocks; None if it isn't this process's child, whose end would be noticed."""
    blocks = _kept.get(worker)
    if blocks is None:
        process = next((one for one in multiprocessing.active_children() if one.pid == worker[0]), None)
        if process is not None:
            blocks = _kept[worker] = {}
            weakref.finalize(process, _kept.pop, worker, None).atexit = False
    return blocks


def _count_fork() -> None:
    global _forks
    _forks += 1


def _begin_in_child() -> None:
    global _blocks
    _blocks = None  # the parent's
    _kept.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_count_fork, after_in_child=_begin_in_child)
