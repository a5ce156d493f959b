"""An iteration of a ShardReader that has begun, and what it has passed over."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...base.process import Origin
from ...errors import InvalidArgumentError
from ..streams.core_files import CoreFile
from .epochs import ENDLESS

__all__ = ["CountedBatches", "Running", "Skipped"]


class Skipped(NamedTuple):
    """A damaged stretch that was skipped.

    `offset` and `bytes` count uncompressed bytes. `bytes` is None if a compressed stream broke off, so that it can't be
    known; later offsets count from there as if nothing had been lost. It is 0 if a part's own checksum does not fit but
    every record in it does.
    """

    path: str
    offset: int
    bytes: int | None
    reason: str


class Running(NamedTuple):
    """An iteration that has begun."""

    files: list[str] | list[CoreFile]
    order: dict[str, Any]
    counted: CountedBatches | None
    first: int  # epoch
    next_epoch: int | None  # what the user has chosen since, or before the state was saved

    @property
    def is_open(self) -> bool:
        """Whether the next epoch depends on how far this iteration gets."""
        return self.next_epoch is None and not 0 <= self.order["num_epochs"] < ENDLESS


class CountedBatches:
    """The first batches of a stream, of which `given` have been given; several threads may share it.

    Raises:
      errors.InvalidArgumentError: there are fewer, since the files have changed.
    """

    def __init__(self, stream: Any, batches: Iterator[Any], given: int, most: int) -> None:
        self._stream = stream
        self._batches = batches
        self._given = given
        self._most = most
        self._lock, self._origin = _new_lock()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with self._own_lock():
            if self._given >= self._most:
                raise StopIteration
            for batch in self._batches:
                self._given += 1
                return batch
            raise InvalidArgumentError(
                f"the files have changed since their records were counted: equal shards have {self._most} batches, "
                f"but this one ends after {self._given}"
            )

    def state(self) -> dict[str, Any]:
        """Return the stream's state, and with it how many batches have been given."""
        with self._own_lock():
            return {"stream": self._stream.state(), "given": self._given}

    def _own_lock(self) -> threading.RLock:
        if not self._origin.is_here():  # the thread that held it is not in this process
            self._lock, self._origin = _new_lock()
        return self._lock


def _new_lock() -> tuple[threading.RLock, Origin]:
    return threading.RLock(), Origin()  # a file object that calls back gets past it, to the core's error
