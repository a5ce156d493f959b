"""The iteration that `fit`, `evaluate` or `predict` takes its batches from.

Keras asks a PyDataset for batches by number, in an order that `fit` draws. A stream can't jump, so the number is
ignored: each request takes the next batch of the one iteration that is running. Keras' other calls show where an
iteration begins and ends:

    on_epoch_begin, num_batches, batches, on_epoch_end    a new iteration begins
    on_epoch_begin, batches, on_epoch_end                 the iteration continues (`steps_per_epoch`)
    num_batches, on_epoch_end                             `fit` or `evaluate` begins: an unfinished iteration is over

Batches requested while no iteration is running are looks at the epoch to come, by number.

An iteration whose length is not known ends with `EndOfEpoch`. Keras mistakes such a PyDataset for an endless one, so
`adapter.py` ends Keras' iteration there.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ...errors import InvalidArgumentError
from .sources import Source


class EndOfEpoch(InvalidArgumentError):
    """The end of an iteration whose length was not known."""


class Iterations:
    """The iterations of one dataset, one at a time.

    Args:
      source: yields the elements of an epoch.
      convert: makes batches from the elements of an iteration.
      count: returns the number of batches in an iteration; None: endless or not known.
    """

    def __init__(
        self,
        source: Source,
        convert: Callable[[Iterator[Any]], Iterator[Any]],
        count: Callable[[], int | None],
    ) -> None:
        self._source = source
        self._convert = convert
        self._count = count
        self._running: _Running | None = None
        self._look: _Look | None = None
        # Calls since the last batch was taken.
        self._epoch_begins = False
        self._length_requested = False
        self._lock = threading.RLock()  # TensorFlow asks for batches on a thread of its own

    def request_length(self) -> None:
        self._length_requested = True

    def begin_epoch(self) -> None:
        with self._lock:
            self._epoch_begins, self._length_requested = True, False

    def end_epoch(self) -> None:
        with self._lock:
            if self._running is None:
                return
            if self._running.is_complete:
                self._running = None
            elif self._length_requested:
                self._abandon(self._running)
            else:
                self._running.counts = True

    def batch(self, number: int) -> Any:
        """Return the next batch of the running iteration; if none is running, batch `number` of the epoch to come."""
        with self._lock:
            if self._epoch_begins and (self._length_requested or self._running is None):
                self._running = self._begin()
            if self._running is None:
                return self._look_at(number)
            self._epoch_begins = self._length_requested = False
            try:
                return self._running.next()
            except BaseException:
                if not self._running.is_complete:
                    self._abandon(self._running)
                raise

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration begin with `epoch`, at the loaded position if that lies in it."""
        with self._lock:
            if self._running is not None:
                self._running.counts = True
            self._source.set_epoch(epoch)

    def _begin(self) -> _Running:
        epoch, position = self._source.epoch, self._source.position
        batches = self._convert(iter(self._source))
        return _Running(batches, self._count(), epoch, position, self._source.epoch)

    def _abandon(self, running: _Running) -> None:
        """End an iteration early. Its epoch comes again, unless Keras or the user has gone on from it."""
        self._running = None
        if not running.counts and self._source.epoch == running.next_epoch and self._source.position is None:
            self._source.go_back(running.epoch, running.position)

    def _look_at(self, number: int) -> Any:
        look, epoch, position = self._look, self._source.epoch, self._source.position
        if look is None or look.epoch != epoch or look.position is not position or look.next_number > number:
            look = _Look(self._convert(self._source.look()), epoch, position)
        self._look = None  # of no further use if reading fails
        try:
            batch = look.at(number)
        except StopIteration:
            # On TensorFlow, Keras looks at two batches of a dataset without a length, even if it has only one.
            if number == 1 and self._length_requested and self._count() is None:
                return self._look_at(0)
            raise
        self._look = look
        return batch


class _Running:
    """An iteration that Keras takes batches from.

    Args:
      epoch, position: where it began.
      next_epoch: the epoch of the next iteration.
    """

    def __init__(self, batches: Iterator[Any], total: int | None, epoch: int, position: Any, next_epoch: int) -> None:
        self._batches = batches
        self._total = total
        self._taken = 0
        self.epoch = epoch
        self.position = position
        self.next_epoch = next_epoch
        self.counts = False  # Keras has ended an epoch in it, or the user has chosen the next one

    @property
    def is_complete(self) -> bool:
        return self._taken == self._total

    def next(self) -> Any:
        if self.is_complete:
            raise InvalidArgumentError(
                f"all {self._total} batches of this epoch are taken: two iterations share one TFRecordPyDataset; use "
                "one dataset object for training and another for validation"
            )
        try:
            batch = next(self._batches)
        except StopIteration:
            if self._total is None and self._taken:
                self._total = self._taken
                raise EndOfEpoch(
                    f"the epoch has ended after {self._taken} batches, and Keras was not told its length: pass "
                    "num_batches=…"
                ) from None
            raise InvalidArgumentError(self._too_few()) from None
        self._taken += 1
        if self.is_complete:
            self._batches = iter(())  # release the buffers and threads
        return batch

    def _too_few(self) -> str:
        if self._total is None:
            return "there are no records: the iteration has no batches, and Keras needs at least one"
        return (
            f"an epoch has {self._total} batches, but this one has ended after {self._taken}: files have changed since "
            "they were counted, the reader was resumed in the middle of an epoch, or num_batches is wrong"
        )


class _Look:
    """An iteration through the epoch to come, which leaves the source as it is."""

    def __init__(self, batches: Iterator[Any], epoch: int, position: Any) -> None:
        self._batches = batches
        self.epoch = epoch
        self.position = position
        self.next_number = 0

    def at(self, number: int) -> Any:
        """Return the batch `number`, at least `next_number`. Raises StopIteration: there are fewer."""
        batch = next(itertools.islice(self._batches, number - self.next_number, None))
        self.next_number = number + 1
        return batch
