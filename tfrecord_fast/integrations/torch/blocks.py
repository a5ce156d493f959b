"""Reusable blocks of shared memory, which a worker of a DataLoader fills and its parent releases.

A block is a file without a name (a `memfd`), which vanishes with the last process that maps it. The worker sends its
descriptor with the first message about the block. The parent maps the block, and keeps the mapping as long as the
worker's `Process` object lives. From then on, sending a batch is one copy into memory that both sides have mapped,
without a system call.

The first byte of a block is its state:

- `_FREE`: the worker may fill it.
- `_FULL`: it holds a batch. The worker set this, filled the block and sent its number. The parent sets `_FREE` when the
  last tensor in the block is gone.
- `_LEFT`: it must never be filled again: the parent was forked while it had tensors in the block, and the child still
  has them. The worker closes the block.

The second byte is 1 if the parent keeps the block mapped, so that sending its number is enough.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
import threading
import weakref
from multiprocessing.reduction import DupFd
from typing import Any, NamedTuple

_FREE, _FULL, _LEFT = 0, 1, 2
_STATE, _KEPT = 0, 1
_HEADER_BYTES = 64
_PAGE = mmap.PAGESIZE
_MOST_BLOCKS = 16  # of one worker: each is a descriptor in both processes
_MOST_FREE = 4


class Full(NamedTuple):
    """A message about a block that the worker has filled."""

    worker: tuple[int, int]  # its process, and a unique number
    block: int
    handle: Any  # the block's descriptor; None if the parent has it
    bytes: int
    closed: tuple[int, ...]  # blocks that the worker has closed


class _Block:
    """A block on the worker's side."""

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
        os.close(self.file)  # the mapping ends with its last view


class _Blocks:
    def __init__(self) -> None:
        self.worker = (os.getpid(), int.from_bytes(os.urandom(8), "little"))
        self._blocks: list[_Block] = []
        self._next = 0
        self._closed: list[int] = []
        self._lock = threading.Lock()

    def room(self, size: int) -> Room | None:
        """Return room for `size` bytes; None if too many blocks are in use, or memory for another is missing."""
        with self._lock:
            self._tidy()
            free = [block for block in self._blocks if block.is_free()]
            large = [block for block in free if block.room >= size]
            block = min(large, key=lambda block: block.room, default=None)
            if block is None:
                if len(self._blocks) >= _MOST_BLOCKS:
                    if not free:
                        return None
                    self._close(free[0])
                try:
                    block = self._make(size)
                except OSError:
                    return None
            block.memory[_STATE] = _FULL
            closed, self._closed = tuple(self._closed), []
        return Room(self.worker, block, size, closed)

    def _make(self, size: int) -> _Block:
        room = _HEADER_BYTES + size + size // 8  # the next batch may be a little larger
        block = _Block(self._next, -(-room // _PAGE) * _PAGE)
        self._next += 1
        self._blocks.append(block)
        return block

    def _tidy(self) -> None:
        """Close blocks that must not be filled again, and surplus free blocks."""
        for block in [block for block in self._blocks if block.is_left()]:
            self._close(block)
        for block in [block for block in self._blocks if block.is_free()][_MOST_FREE:]:
            self._close(block)

    def _close(self, block: _Block) -> None:
        self._blocks.remove(block)
        self._closed.append(block.number)
        block.close()


class Room:
    """Room in a block, for one batch. A context manager: after an error, the block is free again."""

    def __init__(self, worker: tuple[int, int], block: _Block, size: int, closed: tuple[int, ...]) -> None:
        self._worker, self._block, self._size, self._closed = worker, block, size, closed

    def __enter__(self) -> Room:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is not None:
            self._block.memory[_STATE] = _FREE

    @property
    def buffer(self) -> memoryview:
        return memoryview(self._block.memory)[_HEADER_BYTES : _HEADER_BYTES + self._size]

    def full(self) -> Full:
        block = self._block
        handle = None if block.memory[_KEPT] else (DupFd(block.file), block.memory.size())
        return Full(self._worker, block.number, handle, self._size, self._closed)


_blocks: _Blocks | None = None


def room_for(size: int) -> Room | None:
    """Return room for a batch of `size` bytes that this worker sends to its parent; None if it has none."""
    global _blocks
    if not hasattr(os, "memfd_create"):
        return None
    if _blocks is None:
        _blocks = _Blocks()
    return _blocks.room(size)


# ---- The parent ----

_kept: dict[tuple[int, int], dict[int, mmap.mmap]] = {}  # by worker and number
_forks = 0  # of this process


def filled(full: Full) -> memoryview:
    """Return the batch's bytes, writable. The block returns to the worker when the last reference to them is gone."""
    blocks = _blocks_of(full.worker)
    memory = None
    if blocks is not None:
        for number in full.closed:
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
        raise RuntimeError("a worker's batch can only be received in the process that owns the DataLoader")
    batch = memoryview(memory)[_HEADER_BYTES : _HEADER_BYTES + full.bytes]
    weakref.finalize(batch, _release, memory, os.getpid(), _forks).atexit = False
    return batch


def _release(memory: mmap.mmap, process: int, forks: int) -> None:
    if os.getpid() == process:  # a forked child must not release the block of its parent
        memory[_STATE] = _FREE if forks == _forks else _LEFT


def _blocks_of(worker: tuple[int, int]) -> dict[int, mmap.mmap] | None:
    """Return the mapped blocks of a worker; None if it is not a child of this process."""
    blocks = _kept.get(worker)
    if blocks is None:
        children = multiprocessing.active_children()
        process = next((child for child in children if child.pid == worker[0]), None)
        if process is not None:
            blocks = _kept[worker] = {}
            weakref.finalize(process, _kept.pop, worker, None).atexit = False
    return blocks


def _count_fork() -> None:
    global _forks
    _forks += 1


def _begin_in_child() -> None:
    global _blocks
    _blocks = None  # those are the parent's
    _kept.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_count_fork, after_in_child=_begin_in_child)
