"""The current iteration of a ShardReader, and the damage that it has skipped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...base.process import Origin
from ...errors import InvalidArgumentError
from ..streams.core_files import CoreFile
from .epochs import ENDLESS


class Skipped(NamedTuple):
    """A damaged stretch that was skipped, or the record of an image that can't be decoded.

    `offset` and `bytes` count uncompressed bytes. `bytes` is None if the length is unknown because a compressed stream
    broke off; later offsets continue from there. It is 0 if the checksum of a compressed member is wrong, but all its
    records are intact.
    """

    path: str
    offset: int
    bytes: int | None
    reason: str


class CurrentIteration(NamedTuple):
    """The arguments of the iteration that began last."""

    files: list[str] | list[CoreFile]
    order: dict[str, Any]
    counted: CountedBatches | None
    first: int  # epoch
    next_epoch: int | None  # chosen with `set_epoch` since, or before the state was saved

    @property
    def is_open(self) -> bool:
        """True if the next epoch depends on the progress of this iteration."""
        return self.next_epoch is None and not 0 <= self.order["num_epochs"] < ENDLESS


class CountedBatches:
    """Iterator over a fixed number of batches, which several threads may share.

    Args:
      yielded: the number of batches before the first.
      total: the number of batches, with these.
    """

    def __init__(self, stream: Any, batches: Iterator[Any], yielded: int, total: int) -> None:
        self._stream = stream
        self._batches = batches
        self._yielded = yielded
        self._total = total
        self._lock, self._origin = _new_lock()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with self._own_lock():
            if self._yielded >= self._total:
                raise StopIteration
            for batch in self._batches:
                self._yielded += 1
                return batch
            raise InvalidArgumentError(
                f"the files have changed since their records were counted: equal shards have {self._total} batches, "
                f"but this one ends after {self._yielded}"
            )

    def state(self) -> dict[str, Any]:
        """Return the stream's state and the number of batches yielded."""
        with self._own_lock():
            return {"stream": self._stream.state(), "given": self._yielded}

    def _own_lock(self) -> threading.RLock:
        if not self._origin.is_here():  # a thread of the parent process may have held it
            self._lock, self._origin = _new_lock()
        return self._lock


def _new_lock() -> tuple[threading.RLock, Origin]:
    return threading.RLock(), Origin()  # reentrant: a file object may call back, which the core reports
