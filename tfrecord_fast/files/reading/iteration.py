"""An iteration of a ShardReader that has begun, and what it has passed over."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import repeat, starmap
from typing import Any, NamedTuple

from ...base.process import Origin
from ...errors import InvalidArgumentError
from ..streams.core_files import CoreFile
from .epochs import ENDLESS
from .finished import Interrupted

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
    left: Interrupted  # by a handler of a signal
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
        self._origin = Origin()
        self._turn = _Turn()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        turn, held = self._here(), False
        try:
            for _ in turn.taking:
                held = True
                if self._given >= self._most:
                    raise StopIteration
                for batch in self._batches:  # from here on, no handler of a signal can run: see _Turn
                    self._given += 1
                    for _ in turn.ending:
                        return batch
                raise InvalidArgumentError(
                    f"the files have changed since their records were counted: equal shards have {self._most} "
                    f"batches, but this one ends after {self._given}"
                )
        except BaseException:
            if held:
                turn.lock.release()
            raise

    def state(self, before_last: bool = False) -> dict[str, Any]:
        """The stream's state, and with it how many batches have been given; or as if the last one had not been."""
        with self._here().lock:
            return {"stream": self._stream.state(before_last), "given": self._given - before_last}

    def _here(self) -> _Turn:
        if not self._origin.is_here():  # the thread that held it is not in this process
            self._turn, self._origin = _Turn(), Origin()
        return self._turn


class _Turn:
    """A lock that is taken and released by one step of an iterator, after which no handler of a signal can run.

    Python runs handlers after calls, such as the one that ends a `with`. If one raised there, a batch would have been
    counted that the loop never got. No handler runs between a step of a `for` statement and what is done with it.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()  # which a file object that calls back gets past, to the core's error
        self.taking = starmap(self.lock.acquire, repeat(()))
        self.ending = starmap(self.lock.release, repeat(()))
