"""What the native reader does of a dataset, as one stream: shuffle, repeat, take, skip, shard and batch over files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat
from typing import Any

from .... import _core
from ....files.streams.records import after
from ..base.iterators import Repeated, Windowed
from ..base.node import Node, Run
from ..base.turns import InTurn
from ..order.ordering import Shuffle, Window
from ..sources.record_batches import (
    BatchesOfEpochs,
    WindowedBatches,
    WithLastRecords,
    WithLead,
    alone,
    windowed_records,
)
from ..sources.records import Records

__all__ = ["RecordPlan"]


@dataclass(frozen=True)
class RecordPlan:
    """What the stream does: shuffle, then repeat, then the windows, then batch."""

    source: Records
    shuffle: Shuffle | None = None
    epochs: int = 1  # -1: endless
    windows: tuple[Window, ...] = ()
    batch_size: int | None = None  # None: records, as bytes
    drop_remainder: bool = False
    on_corrupt: str = "raise"
    is_drawn: bool = False  # the files are in an order that was drawn, and will be another one the next time
    one_epoch: Node | None = None  # what is planned anew for each epoch, as its files are drawn anew; None: nothing
    steps: tuple[str, ...] = ()  # for repr

    def then(self, step: str, **changes: Any) -> RecordPlan:
        """A copy with one more step."""
        return replace(self, steps=(*self.steps, step), **changes)

    def iterate(self, run: Run) -> Iterator[Any]:
        """An iteration from the start: bytes, or RecordBatches."""
        if not self.source.at_hand:
            return self._iterate_one_by_one(run)
        if self.batch_size is None:
            records = self._records(run)
            if self.one_epoch is None or all(window.step == 1 for window in self.windows):
                return windowed_records(records, self.windows) if self.windows else records
            return self._windowed_one_by_one(records)  # which goes on after an error
        if not self.windows and self.one_epoch is None:
            options = {"batch_size": self.batch_size, "drop_remainder": self.drop_remainder}
            return self._stream(run, self._seed(run), **options).batches()
        return self._windowed(self._batches(run, self.batch_size), self.batch_size)

    def _records(self, run: Run) -> Iterator[bytes]:
        """Without the windows, as is what follows."""
        node = self.one_epoch
        if node is None:
            return self._stream(run, self._seed(run)).records()
        plans = self._plans(run)

        def start() -> Iterator[bytes]:
            plan = next(plans)
            return node.iterate(run) if plan is None else plan._records(run)

        return Repeated(start, self.epochs)

    def _batches(self, run: Run, size: int) -> Iterator[_core.RecordBatch]:
        """Batches of at most that size, and after damage the records that came before it."""
        if self.one_epoch is None:
            return self._batches_to_damage(run, size)
        plans = self._plans(run)
        node = self.one_epoch

        def start(given: int) -> Iterator[_core.RecordBatch]:
            plan = next(plans)
            return map(alone, node.iterate(run)) if plan is None else plan._batches_to_damage(run, size, -given % size)

        return BatchesOfEpochs(start, self.epochs)

    def _plans(self, run: Run) -> Iterator[RecordPlan | None]:
        """Of one epoch after the other. The first was drawn when this plan was made; None if it can't be planned."""
        assert self.one_epoch is not None
        first = replace(self, epochs=1, windows=(), batch_size=None, one_epoch=None)
        return chain([first], map(run.plan, repeat(self.one_epoch)))

    def _batches_to_damage(self, run: Run, size: int, lead: int = 0) -> Iterator[_core.RecordBatch]:
        """All of one stream; with `lead`, the first batch may have so many records, if it can be had at no cost."""
        seed = self._seed(run)
        same = replace(self, source=self.source.listed(run))  # all streams have the same files in the same order
        stream = partial(same._stream, run, seed)
        # Where a stream goes on in another one, objects are asked for again, and a shuffle's records are read again.
        leads = lead and self.shuffle is None and same.source.is_local
        return WithLastRecords(
            WithLead(stream, lead, size) if leads else stream(batch_size=size).batches(),
            # If a batch can't be made, its records up to the damage still can.
            lambda given: after(stream().records(), given),
        )

    def _windowed(self, batches: Iterator[_core.RecordBatch], size: int) -> Iterator[_core.RecordBatch]:
        return InTurn(WindowedBatches(batches, self.windows, size, self.drop_remainder))

    def _iterate_one_by_one(self, run: Run) -> Iterator[Any]:
        """The same, for files whose paths are taken as they are needed: a stream for each."""
        if self.batch_size is None:
            return self._windowed_one_by_one(self.source.iterate(run))
        batches = self.source.batches(run, self.batch_size)
        return self._windowed(batches, self.batch_size)

    def _windowed_one_by_one(self, records: Iterator[bytes]) -> Iterator[bytes]:
        for window in self.windows:
            records = Windowed(records, *window)
        return records

    def _seed(self, run: Run) -> int:
        return 0 if self.shuffle is None else run.own(self.shuffle.draws).next_seed()

    def _stream(self, run: Run, seed: int, **options: Any) -> _core.RecordStream:
        """The native stream of everything before the windows: the one place where a plan becomes a stream."""
        if self.shuffle is not None:
            options |= {"shuffle_buffer": self.shuffle.buffer_size, "seed": seed}
        return self.source.stream(run, num_epochs=self.epochs, on_corrupt=self.on_corrupt, **options)
