"""Which epoch a reader's next iteration begins with, counted together with the workers of a PyTorch DataLoader.

A worker iterates over a copy of the reader, so the reader it was copied from would never learn that an epoch has begun.
Therefore both read and write the number on a **board**, a few hundred bytes of a file without a name (a `memfd`), which
workers inherit when they are forked and are handed when they are spawned. The workers that begin one iteration of a
DataLoader find each other by its base seed, which they share: the first of them takes the next epoch, the others join
it.
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
except ImportError:  # Windows: each process counts for itself
    fcntl = None  # type: ignore[assignment]

__all__ = ["ENDLESS", "MOST_EPOCHS", "EpochCounter", "checked_epoch", "end_of"]

MOST_EPOCHS = 1 << 62  # so that what is added to one stays below what the core takes
ENDLESS = MOST_EPOCHS >> 1  # that many epochs have no end, either
_NUMBER = struct.Struct("<q")
_ENTRY = struct.Struct("<qqqq")  # base seed, iteration of the worker's process, workers that have come, epoch
_ENTRIES = 16  # iterations remembered, so that a worker that comes late finds its own
_BOARD_BYTES = _NUMBER.size + _ENTRIES * _ENTRY.size

_lock = threading.Lock()  # among threads; a file's lock holds among processes


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()  # a thread that doesn't exist in the child may have held the other


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def checked_epoch(epoch: int) -> int:
    """Return the number of an epoch. Raises errors.InvalidArgumentError: it is out of range."""
    epoch = operator.index(epoch)
    if not 0 <= epoch < MOST_EPOCHS:
        raise InvalidArgumentError(f"epoch must be at least 0 and below 2**62, got {epoch}")
    return epoch


def end_of(first: int, num_epochs: int) -> int:
    """The epoch that an iteration ends before; -1: none."""
    return first + num_epochs if 0 <= num_epochs < ENDLESS else -1


class EpochCounter:
    """The epoch that the next iteration begins with.

    A copy counts for itself, except in the workers of a DataLoader in the process that it was copied from.
    """

    def __init__(self, epoch: int = 0) -> None:
        self._next = epoch  # where there is no board
        self._set_by: int | None = None  # the process whose user has chosen it
        self._iterations = 0  # of this worker
        self._latest: _Begun | None = None  # of them
        self._made_by: int | None = os.getpid()
        self._board: _Board | None = None  # of this process or, after a fork, of its parent
        self._parents: _Board | None = None  # handed over to a process that was spawned

    def share(self) -> None:
        """Lets the workers of DataLoaders that this process makes count here."""
        if self._board is None and "torch.utils.data" in sys.modules:
            self._board = _Board.made(self._next)

    @property
    def next(self) -> int:
        board = self._here()
        return self._next if board is None or self._is_set(board) else board.next()

    def set(self, epoch: int) -> None:
        """Says that the user has chosen the next epoch; in a worker, that of its own next iteration."""
        self.go_to(epoch)
        self._set_by = os.getpid()

    def go_to(self, epoch: int) -> None:
        self._next, self._set_by = epoch, None
        board = self._here() if worker_info() is None else None
        if board is not None:
            board.go_to(epoch)

    def begin(self, count: int) -> int:
        """Begins an iteration of `count` epochs in this process and returns its first epoch."""
        info = worker_info()
        if info is None or self._made_by == os.getpid():  # what a worker has made is no copy
            now = self.next
            self.go_to(now + count)
            return now
        board = self._here()
        first = self._next if self._is_set(board) else None
        base_seed = (info.seed - info.id) % MOST_EPOCHS
        self._latest = _Begun((base_seed, self._iterations), count, self._set_by)
        if board is not None:
            first = board.begin(self._latest.iteration, info.num_workers, first, count)
        elif first is None:
            # Nothing else that all workers know tells this iteration of the DataLoader from the one before.
            first = (self._next + (base_seed if self._iterations == 0 else 0)) % MOST_EPOCHS
        self._iterations += 1
        self._next, self._set_by = first + count, None
        return first

    def take_back(self, first: int) -> None:
        """Says that the iteration that was to begin with this epoch could not, so that the next one may."""
        if worker_info() is None or self._made_by == os.getpid():
            self.go_to(first)
            return
        latest, board = self._latest, self._here()
        assert latest is not None
        if board is not None:
            board.take_back(latest.iteration, first, latest.epochs)
        self._next, self._set_by = first, latest.set_by

    def _is_set(self, board: _Board | None) -> bool:
        """Whether the user's choice is known here alone: what was chosen before the worker began is on the board."""
        if self._set_by is None or board is None:
            return self._set_by is not None
        return worker_info() is not None and self._set_by == os.getpid()

    def _here(self) -> _Board | None:
        """The board that this process counts on."""
        if worker_info() is not None:
            parent = parent_process()
            for board in (self._parents, self._board):
                if board is not None and board.owner == parent:
                    return board
            return None
        if self._board is not None and self._board.owner != os.getpid():
            # A process that was forked, and is no worker: from here on, it counts for itself.
            self._next = self._board.next()
            self._board = _Board.made(self._next)
        return self._board

    def saved(self) -> dict[str, Any]:
        """For a pickle, and from there to `restored`."""
        return {"next": self.next, "set_by": self._set_by, "board": self._board if _is_spawning() else None}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> EpochCounter:
        made = cls(state["next"])
        made._set_by, made._parents, made._made_by = state["set_by"], state["board"], None
        made.share()
        return made


class _Begun(NamedTuple):
    """An iteration that a worker has begun."""

    iteration: tuple[int, int]  # base seed, number in the worker's process
    epochs: int
    set_by: int | None  # of the counter, before


def _is_spawning() -> bool:
    context = sys.modules.get("multiprocessing.context")
    return context is not None and context.get_spawning_popen() is not None


class _Room:
    """The file that boards of this process are in."""

    def __init__(self) -> None:
        self.file = os.memfd_create("tfrecord_fast epochs")
        self.process = os.getpid()
        self._end = 0
        self._free: collections.deque[int] = collections.deque()  # places that readers have left

    def place(self) -> int:
        if self._free:
            return self._free.popleft()
        self._end += _BOARD_BYTES
        return self._end - _BOARD_BYTES

    def leave(self, place: int) -> None:
        if os.getpid() == self.process:
            self._free.append(place)


_room: _Room | None = None


def _here() -> _Room:
    global _room
    if _room is None or _room.process != os.getpid():
        _room = _Room()
    return _room


class _Board:
    """The number of the next epoch, and which iterations have begun lately; in a file that several processes have."""

    def __init__(self, file: int, place: int, owner: int) -> None:
        self._file = file
        self._place = place
        self.owner = owner  # the process whose workers count here

    @classmethod
    def made(cls, epoch: int) -> _Board | None:
        """None if the system has no such files, or, with a warning, if it gives none now."""
        if fcntl is None or not hasattr(os, "memfd_create"):
            return None
        try:
            with _lock:
                room = _here()
                board = cls(room.file, room.place(), room.process)
            board._write(_NUMBER.pack(epoch) + bytes(_ENTRY.size * _ENTRIES))
        except OSError as error:
            warnings.warn(
                f"a DataLoader's workers won't know the reader's epoch, and begin with one by torch's seed: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
            return None
        weakref.finalize(board, room.leave, board._place).atexit = False
        return board

    def _read(self, size: int) -> bytes:
        return os.pread(self._file, size, self._place)

    def _write(self, data: bytes) -> None:
        os.pwrite(self._file, data, self._place)

    def next(self) -> int:
        return int(_NUMBER.unpack(self._read(_NUMBER.size))[0])

    def go_to(self, epoch: int) -> None:
        with self._locked():
            self._write(_NUMBER.pack(epoch))

    def begin(self, iteration: tuple[int, int], workers: int, first: int | None, count: int) -> int:
        """Joins the other workers of that iteration, or begins it: with `first`, or with the next epoch."""
        with self._locked():
            following, entries = self._entries()
            for i, (*key, come, epoch) in enumerate(entries):
                # One that all workers have come to is over: torch may have been given the same seed again.
                if (*key,) == iteration and 0 < come < workers:
                    entries[i] = (*iteration, come + 1, epoch)
                    first = epoch if first is None else first
                    break
            else:
                first = following if first is None else first
                following = first + count
                entries = [(*iteration, 1, first), *entries[:-1]]
            self._write_entries(following, entries)
        return first

    def take_back(self, iteration: tuple[int, int], first: int, count: int) -> None:
        """Forgets that iteration, unless another worker has done that, and its epochs, if they are the latest."""
        with self._locked():
            following, entries = self._entries()
            for i, (*key, come, epoch) in enumerate(entries):
                if (*key,) == iteration and come:
                    entries[i] = (*iteration, 0, epoch)  # nobody joins it
                    self._write_entries(first if following == first + count else following, entries)
                    break

    def _entries(self) -> tuple[int, list[tuple[Any, ...]]]:
        data = self._read(_BOARD_BYTES)
        return _NUMBER.unpack_from(data)[0], list(_ENTRY.iter_unpack(data[_NUMBER.size :]))

    def _write_entries(self, following: int, entries: list[tuple[Any, ...]]) -> None:
        self._write(_NUMBER.pack(following) + b"".join(_ENTRY.pack(*one) for one in entries))

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with _lock:
            fcntl.lockf(self._file, fcntl.LOCK_EX, _BOARD_BYTES, self._place)  # let go by itself if the process ends
            try:
                yield
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN, _BOARD_BYTES, self._place)

    def __reduce__(self) -> Any:
        # Only while a process is spawned, which inherits the file.
        handle = sys.modules["multiprocessing.reduction"].DupFd(self._file)
        return _Board._inherited, (handle, self._place, self.owner)

    @staticmethod
    def _inherited(handle: Any, place: int, owner: int) -> _Board:
        board = _Board(handle.detach(), place, owner)
        weakref.finalize(board, os.close, board._file).atexit = False
        return board
