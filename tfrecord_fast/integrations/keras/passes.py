"""Which iteration Keras asks for a batch of.

Keras has no iterators: `fit`, `evaluate` and `predict` each run generators, one for each time through the data, which
ask a PyDataset for batch i of n. `fit` draws the order of the i at random, and a generator can be left in the middle,
go on in a later epoch (`steps_per_epoch`), or run while another does. A stream can't jump, so the k-th batch that a
generator asks for is the k-th of an iteration of its own, whatever its number: each generator is given every batch
once. Which generator asks is seen in the caller's frame; nothing else tells them apart.
"""

from __future__ import annotations

import inspect
import threading
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import keras

from ...errors import InvalidArgumentError
from .sources import Source

__all__ = ["Passes", "asker_of_a_look", "asking", "is_iterating"]

_KEPT = 2  # batches that Keras looks at before it begins, to build the model
_RUNNING = 4  # iterations that may have begun and not ended
_REMEMBERED = 1000  # iterations that are over or given up, so that one that goes on all the same is noticed
_METHODS = ("__getitem__", "__len__", "num_batches")


def asking(dataset: object) -> FrameType | None:
    """The frame of Keras' that has called the method of the dataset which calls this; None if it isn't Keras that did.

    A method of a subclass in between doesn't count.
    """
    frame = inspect.currentframe()
    for _ in range(2):  # this function and the method; their frames are not held, or they would hold themselves
        frame = frame.f_back if frame is not None else None
    while frame is not None and frame.f_code.co_name in _METHODS and _first_argument(frame) is dataset:
        frame = frame.f_back
    is_keras = frame is not None and frame.f_globals.get("__name__") == keras.utils.PyDataset.__module__
    return frame if is_keras else None


def _first_argument(frame: FrameType) -> object:
    return frame.f_locals.get(frame.f_code.co_varnames[0])


def asker_of_a_look(dataset: object) -> Any:
    """Who ends an epoch of which it has only looked at the beginning, to build the model; None if that isn't so.

    Called by the dataset's `on_epoch_end`. Keras calls that of its adapter after an epoch, and after a look when it
    resets the iterator.
    """
    frame = inspect.currentframe()
    frame = frame.f_back if frame is not None else None
    while frame is not None and frame.f_code.co_name == "on_epoch_end" and _first_argument(frame) is dataset:
        frame = frame.f_back
    if frame is None or frame.f_code.co_name != "on_epoch_end" or frame.f_back is None:
        return None
    return _first_argument(frame) if frame.f_back.f_code.co_name == "reset" else None


def is_iterating(frame: FrameType) -> bool:
    return bool(frame.f_code.co_flags & inspect.CO_GENERATOR)


class _Pass:
    """One iteration, of which some batches have been given.

    Args:
      epoch: its first.
      position: where in that it began, as the source says.
      after: the epoch that follows once this one counts.
      asker: who it is for; when that is gone, so is what is read ahead.
      keep: of how many of its first batches it can start again.
    """

    def __init__(
        self, batches: Iterator[Any], epoch: int, position: Any, after: int, asker: Any = None, keep: int = _KEPT
    ) -> None:
        self._batches: Iterator[Any] | None = batches
        self.epoch = epoch
        self.position = position
        self.after = after
        self.total: int | None = None  # batches that it is to have; None: it is endless
        self.given = 0
        self._keep = keep
        self._kept: list[Any] = []
        self._asker = None if asker is None else weakref.ref(asker, self.end)

    def is_for(self, asker: Any) -> bool:
        return self._asker is not None and self._asker() is asker

    @property
    def is_over(self) -> bool:
        return self._batches is None

    def has(self, number: int) -> bool:
        """Whether that batch is kept, or still to come."""
        return not self.is_over and (number >= self.given or number < len(self._kept))

    def at(self, number: int) -> Any:
        """The batch of that number, which it has. Raises StopIteration."""
        while number >= self.given:
            batch = self.next()
            if number == self.given - 1:
                return batch
        return self._kept[number]

    def next(self) -> Any:
        """The next batch. Raises StopIteration."""
        if self.given < len(self._kept):
            batch = self._kept[self.given]
        else:
            batches = self._batches  # which may end meanwhile
            batch = next(batches if batches is not None else iter(()))
            if self.given < self._keep:
                self._kept.append(batch)
        self.given += 1
        if self.given > self._keep:
            self._kept = []
        return batch

    def started_again(self, asker: Any) -> _Pass | None:
        """The same from its beginning, for `asker`; None if too much of it has been given."""
        if self._batches is None or self.given > self._keep:
            return None
        made = _Pass(self._batches, self.epoch, self.position, self.after, asker, self._keep)
        made._kept = self._kept
        self.end()
        return made

    def end(self, _: object = None) -> None:
        self._batches, self._kept = None, []


class Passes:
    """The iterations of one dataset.

    Args:
      source: what is iterated.
      begin: what becomes of an iteration of the source: its batches.
    """

    def __init__(self, source: Source, begin: Callable[[Iterator[Any]], Iterator[Any]]) -> None:
        self._source = source
        self._begin = begin
        self._passes: dict[int, _Pass] = {}  # by the generators that ask; the one that asked last is the last
        self._uncounted: _Pass | None = None  # whose epoch has not been counted, since it has only been looked at
        self._peek: _Pass | None = None  # what Keras has looked at before any generator
        self._look: _Pass | None = None  # what somebody else has looked at
        self._whole: _Pass | None = None  # all of whose batches were given last; that may have been a look
        self._lock = threading.RLock()

    def knows(self, generator: FrameType) -> bool:
        return id(generator) in self._passes

    def start(self, generator: FrameType, total: int | None) -> None:
        """Says that a generator begins, to which `total` batches are to be given; None: without end."""
        with self._lock:
            asker = generator.f_locals.get("self")
            begun = self._started_again(asker, endless=total is None)
            if begun is None:
                begun = self._opened(asker)
                if total is not None:
                    # The epoch is counted when more than a look has been had at it.
                    self._source.set_epoch(begun.epoch)
                    self._uncounted = begun
            begun.total = total
            self._peek = self._look = None
            for other in self._passes.values():
                if other.is_for(asker):
                    other.end()  # an adapter of Keras' runs one generator after the other
            self._passes.pop(id(generator), None)  # of one that is no more
            self._passes[id(generator)] = begun
            self._give_up_old_ones()

    def next(self, generator: FrameType) -> Any:
        """The next batch for that generator, which has begun.

        Raises:
          errors.InvalidArgumentError: there are fewer; the iteration has been given up.
          Whatever reading raises.
        """
        with self._lock:
            running = self._passes.pop(id(generator))
            self._passes[id(generator)] = running  # as the last
            if running.is_over:
                raise InvalidArgumentError(
                    f"this iteration is over: it has failed, or more than {_RUNNING} of one TFRecordPyDataset run at "
                    "once, and each fit, evaluate and predict needs a dataset of its own"
                )
            try:
                batch = running.next()
            except StopIteration:
                running.end()
                raise InvalidArgumentError(_ended(running.given, running.total)) from None
            except BaseException:
                running.end()  # what comes after is no batch of this number
                raise
            is_last = running.given == running.total
            if is_last or running.given > _KEPT:
                self._count(running)
            if is_last:
                self._whole = running
                running.end()
                del self._passes[id(generator)]
            return batch

    def look(self, number: int, *, is_keras: bool) -> Any:
        """That batch of the next iteration, which is not counted for that. Raises StopIteration: there are fewer."""
        with self._lock:
            looked = self._peeked(number) if is_keras else self._looked(number)
            try:
                return looked.at(number)
            except BaseException:
                looked.end()
                raise

    def _peeked(self, number: int) -> _Pass:
        if self._peek is None or not self._comes_next(self._peek) or not self._peek.has(number):
            self._peek = self._opened(None)
            self._source.set_epoch(self._peek.epoch)
        return self._peek

    def _looked(self, number: int) -> _Pass:
        epoch, position, known = self._source.epoch, self._source.position, self._look
        if known is None or known.epoch != epoch or known.position is not position or not known.has(number):
            # What is given to others, they may change.
            self._look = known = _Pass(self._begin(self._source.look()), epoch, position, epoch, keep=0)
        return known

    def ended(self, looked: Any) -> None:
        """Says that Keras has ended an epoch, or that `looked` has only looked at its beginning.

        Where an epoch has no more batches than a look, that has been taken for all of it.
        """
        with self._lock:
            whole, self._whole = self._whole, None
            if looked is None or whole is None or whole.given > _KEPT or not whole.is_for(looked):
                return
            if self._source.epoch == whole.after and self._source.position is None:
                self._source.go_back(whole.epoch, whole.position)

    def set_epoch(self, epoch: int) -> None:
        """Lets the next iteration begin with that epoch, at the position that was loaded, if that lies in it."""
        with self._lock:
            for looked in (self._uncounted, self._peek):
                if looked is not None:
                    self._undo(looked)
            self._source.set_epoch(epoch)
            self._uncounted = self._peek = self._look = None

    def _comes_next(self, begun: _Pass) -> bool:
        """Whether the next iteration would be this one, which has begun: the user has chosen no other one since."""
        return self._source.epoch == begun.epoch and self._source.position is None

    def _undo(self, looked: _Pass) -> None:
        """Gives the source back the position that one took which has only been looked at."""
        if looked.position is not None and self._comes_next(looked):
            self._source.go_back(looked.epoch, looked.position)

    def _opened(self, asker: Any) -> _Pass:
        if self._uncounted is not None:
            self._count(self._uncounted)
        if self._peek is not None:
            self._undo(self._peek)
        epoch, position = self._source.epoch, self._source.position
        try:
            batches = self._begin(iter(self._source))
        except BaseException:
            self._source.set_epoch(epoch)
            raise
        return _Pass(batches, epoch, position, self._source.epoch, asker)

    def _started_again(self, asker: Any, endless: bool) -> _Pass | None:
        """What Keras has looked at to build the model, from its beginning."""
        if endless:
            looked = [one for one in self._passes.values() if one.is_for(asker)]
        else:
            own = self._uncounted is not None and self._uncounted.is_for(asker)
            looked = [one for one in (self._uncounted if own else self._peek,) if one is not None]
            looked = [one for one in looked if self._comes_next(one)]
        for one in looked:
            again = one.started_again(asker)
            if again is not None:
                self._uncounted = None if endless else again
                return again
        return None

    def _count(self, running: _Pass) -> None:
        if self._uncounted is running:
            self._uncounted = None
            if self._comes_next(running):
                self._source.set_epoch(running.after)

    def _give_up_old_ones(self) -> None:
        running = [one for one in self._passes.values() if not one.is_over]
        for one in running[:-_RUNNING]:
            one.end()
        for key in list(self._passes)[:-_REMEMBERED]:
            del self._passes[key]


def _ended(given: int, total: int | None) -> str:
    if total is None:
        return f"an endless iteration has ended after {given} batches: there are no records"
    return (
        f"an epoch has {total} batches, but this one has ended after {given}: files have changed since they were "
        "counted, the reader was resumed in the middle of an epoch, or num_batches is wrong"
    )
