"""An iteration that has a certain number of batches."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from ..base.process import Origin
from ..errors import InvalidArgumentError

__all__ = ["CountedBatches"]


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
        self._lock = threading.RLock()  # which a file object that calls back gets past, to the core's error

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with self._held():
            if self._given >= self._most:
                raise StopIteration
            for batch in self._batches:  # not `next`: after a call, a signal could take the batch away uncounted
                self._given += 1
                return batch
            raise InvalidArgumentError(
                f"the files have changed since their records were counted: equal shards have {self._most} batches, "
                f"but this one ends after {self._given}"
            )

    def state(self) -> dict[str, Any]:
        """The stream's state, and with it how many batches have been given."""
        with self._held():
            return {"stream": self._stream.state(), "given": self._given}

    def _held(self) -> threading.RLock:
        if not self._origin.is_here():  # the thread that held it is not in this process
            self._lock, self._origin = threading.RLock(), Origin()
        return self._lock
