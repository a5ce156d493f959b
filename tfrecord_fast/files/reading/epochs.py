"""The epoch that a reader's next iteration begins with, counted together with the workers of a PyTorch DataLoader.

A worker iterates over a copy of the reader, so the original would not notice that an epoch has begun. Therefore both
read and write the number on a **board**: a few hundred bytes of an unnamed file (`memfd`). Forked workers inherit the
file, and spawned workers receive it. The workers of one DataLoader iteration share its base seed: the first of them
takes the next epoch, and the others join it.
"""

from __future__ import annotations

import collections
import contextlib
import operator
import os
import struct
import sys
import threading
import warnings
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...base.ranks import parent_process, worker_info
from ...errors import InvalidArgumentError

try:
    import fcntl
except ImportError:  # Windows: each process has its own count
    fcntl = None  # type: ignore[assignment]

MOST_EPOCHS = 1 << 62  # sums with an epoch fit into the core's 64 bits
ENDLESS = MOST_EPOCHS >> 1  # from this number of epochs on, an iteration counts as endless
_NUMBER = struct.Struct("<q")
_ENTRY = struct.Struct("<qqqq")  # base seed, iteration number in the worker, workers that have joined, epoch
_ENTRIES = 16  # iterations remembered for workers that join late
_BOARD_BYTES = _NUMBER.size + _ENTRIES * _ENTRY.size

_lock = threading.Lock()  # between threads; processes lock the file


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()  # a thread of the parent may have held the old lock


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def checked_epoch(epoch: int) -> int:
    """Return `epoch` as an int. Raises errors.InvalidArgumentError if it is out of range."""
    epoch = operator.index(epoch)
    if not 0 <= epoch < MOST_EPOCHS:
        raise InvalidArgumentError(f"epoch must be at least 0 and below 2**62, got {epoch}")
    return epoch


def end_of(first: int, num_epochs: int) -> int:
    """Return the epoch after the last of an iteration, or -1 if it is endless."""
    return first + num_epochs if 0 <= num_epochs < ENDLESS else -1


class EpochCounter:
    """The epoch that the next iteration begins with.

    A copy has its own count, except in DataLoader workers of the process that it was copied from.
    """

    def __init__(self, epoch: int = 0) -> None:
        self._next = epoch  # used without a board
        self._set_by: int | None = None  # the process that called `set`
        self._iterations = 0  # of this worker
        self._latest: _WorkerIteration | None = None
        self._created_by: int | None = os.getpid()
        self._board: _Board | None = None  # of this process or, after a fork, of its parent
        self._parent_board: _Board | None = None  # received by a spawned process

    def share(self) -> None:
        """Create a board for the workers of DataLoaders in this process."""
        if self._board is None and "torch.utils.data" in sys.modules:
            self._board = _Board.create(self._next)

    @property
    def next(self) -> int:
        board = self._current_board()
        return self._next if board is None or self._is_set(board) else board.next()

    def set(self, epoch: int) -> None:
        """Record an explicit `set_epoch`; in a worker it applies to that worker's next iteration only."""
        self.go_to(epoch)
        self._set_by = os.getpid()

    def go_to(self, epoch: int) -> None:
        self._next, self._set_by = epoch, None
        board = self._current_board() if worker_info() is None else None
        if board is not None:
            board.go_to(epoch)

    def begin(self, count: int) -> int:
        """Begin an iteration of `count` epochs in this process, and return its first epoch."""
        info = worker_info()
        if info is None or self._created_by == os.getpid():  # a reader created in a worker is not a copy
            now = self.next
            self.go_to(now + count)
            return now
        board = self._current_board()
        first = self._next if self._is_set(board) else None
        base_seed = (info.seed - info.id) % MOST_EPOCHS
        self._latest = _WorkerIteration((base_seed, self._iterations), count, self._set_by)
        if board is not None:
            first = board.begin(self._latest.iteration, info.num_workers, first, count)
        elif first is None:
            # Without a board, the base seed is all that the workers of one DataLoader iteration have in common.
            first = (self._next + (base_seed if self._iterations == 0 else 0)) % MOST_EPOCHS
        self._iterations += 1
        self._next, self._set_by = first + count, None
        return first

    def take_back(self, first: int) -> None:
        if worker_info() is None or self._created_by == os.getpid():
            self.go_to(first)
            return
        latest, board = self._latest, self._current_board()
        assert latest is not None
        if board is not None:
            board.take_back(latest.iteration, first, latest.epochs)
        self._next, self._set_by = first, latest.set_by

    def _is_set(self, board: _Board | None) -> bool:
        """Return True if `set` was called in this worker: epochs set before it began are on the board."""
        if self._set_by is None or board is None:
            return self._set_by is not None
        return worker_info() is not None and self._set_by == os.getpid()

    def _current_board(self) -> _Board | None:
        if worker_info() is not None:
            parent = parent_process()
            for board in (self._parent_board, self._board):
                if board is not None and board.owner == parent:
                    return board
            return None
        if self._board is not None and self._board.owner != os.getpid():
            # A forked process that is not a worker has its own count from here on.
            self._next = self._board.next()
            self._board = _Board.create(self._next)
        return self._board

    def saved(self) -> dict[str, Any]:
        """Return the state for a pickle, which `restored` takes."""
        return {"next": self.next, "set_by": self._set_by, "board": self._board if _is_spawning() else None}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> EpochCounter:
        counter = cls(state["next"])
        counter._set_by, counter._parent_board, counter._created_by = state["set_by"], state["board"], None
        counter.share()
        return counter


class _WorkerIteration(NamedTuple):
    """A worker's iteration, which `take_back` can undo."""

    iteration: tuple[int, int]  # base seed, iteration number in the worker
    epochs: int
    set_by: int | None  # the counter's value before


def _is_spawning() -> bool:
    context = sys.modules.get("multiprocessing.context")
    return context is not None and context.get_spawning_popen() is not None


class _BoardFile:
    def __init__(self) -> None:
        self.descriptor = os.memfd_create("tfrecord_fast epochs")
        self.process = os.getpid()
        self._end = 0
        self._free: collections.deque[int] = collections.deque()  # offsets of boards whose readers are gone

    def allocate(self) -> int:
        if self._free:
            return self._free.popleft()
        self._end += _BOARD_BYTES
        return self._end - _BOARD_BYTES

    def free(self, offset: int) -> None:
        if os.getpid() == self.process:
            self._free.append(offset)


_board_file: _BoardFile | None = None


def _own_board_file() -> _BoardFile:
    global _board_file
    if _board_file is None or _board_file.process != os.getpid():
        _board_file = _BoardFile()
    return _board_file


class _Board:
    """The number of the next epoch, and the latest iterations, in a file that several processes share."""

    def __init__(self, descriptor: int, offset: int, owner: int) -> None:
        self._descriptor = descriptor
        self._offset = offset
        self.owner = owner  # the process whose workers use this board

    @classmethod
    def create(cls, epoch: int) -> _Board | None:
        """Return None if the system lacks `memfd_create` or, with a warning, if creating the file fails."""
        if fcntl is None or not hasattr(os, "memfd_create"):
            return None
        try:
            with _lock:
                file = _own_board_file()
                board = cls(file.descriptor, file.allocate(), file.process)
            board._write(_NUMBER.pack(epoch) + bytes(_ENTRY.size * _ENTRIES))
        except OSError as error:
            warnings.warn(
                f"DataLoader workers cannot share the reader's epoch and derive it from torch's seed instead: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
            return None
        weakref.finalize(board, file.free, board._offset).atexit = False
        return board

    def _read(self, size: int) -> bytes:
        return os.pread(self._descriptor, size, self._offset)

    def _write(self, data: bytes) -> None:
        os.pwrite(self._descriptor, data, self._offset)

    def next(self) -> int:
        return int(_NUMBER.unpack(self._read(_NUMBER.size))[0])

    def go_to(self, epoch: int) -> None:
        with self._locked():
            self._write(_NUMBER.pack(epoch))

    def begin(self, iteration: tuple[int, int], workers: int, first: int | None, count: int) -> int:
        """Join the other workers of that iteration, or begin it with `first`, or else with the next epoch."""
        with self._locked():
            following, entries = self._entries()
            for i, (*key, joined, epoch) in enumerate(entries):
                # Once all workers have joined, the same seed means another iteration: torch may have been reseeded.
                if (*key,) == iteration and 0 < joined < workers:
                    entries[i] = (*iteration, joined + 1, epoch)
                    first = epoch if first is None else first
                    break
            else:
                first = following if first is None else first
                following = first + count
                entries = [(*iteration, 1, first), *entries[:-1]]
            self._write_entries(following, entries)
        return first

    def take_back(self, iteration: tuple[int, int], first: int, count: int) -> None:
        """Forget that iteration, unless another worker has done so, and its epochs, if they are the latest."""
        with self._locked():
            following, entries = self._entries()
            for i, (*key, joined, epoch) in enumerate(entries):
                if (*key,) == iteration and joined:
                    entries[i] = (*iteration, 0, epoch)  # no worker can join it any more
                    self._write_entries(first if following == first + count else following, entries)
                    break

    def _entries(self) -> tuple[int, list[tuple[Any, ...]]]:
        data = self._read(_BOARD_BYTES)
        return _NUMBER.unpack_from(data)[0], list(_ENTRY.iter_unpack(data[_NUMBER.size :]))

    def _write_entries(self, following: int, entries: list[tuple[Any, ...]]) -> None:
        self._write(_NUMBER.pack(following) + b"".join(_ENTRY.pack(*entry) for entry in entries))

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with _lock:
            # The system releases the lock if the process ends.
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX, _BOARD_BYTES, self._offset)
            try:
                yield
            finally:
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN, _BOARD_BYTES, self._offset)

    def __reduce__(self) -> Any:
        # Used only while a process is spawned, which inherits the file.
        handle = sys.modules["multiprocessing.reduction"].DupFd(self._descriptor)
        return _Board._inherited, (handle, self._offset, self.owner)

    @staticmethod
    def _inherited(handle: Any, offset: int, owner: int) -> _Board:
        board = _Board(handle.detach(), offset, owner)
        weakref.finalize(board, os.close, board._descriptor).atexit = False
        return board
