"""Plans of the native reader: shuffle, repeat, take, skip, shard and batch over files, as one stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat
from typing import Any

from .... import _core
from ....files.streams.records import after
from ....values.blocks.block import Block
from ..base.iterators import Repeated, Windowed
from ..base.node import Node, Run
from ..base.turns import InTurn
from ..blocks.iterators import RecordBlocks, Selected
from ..blocks.sizes import Sizes
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


@dataclass(frozen=True)
class RecordPlan:
    """Steps of a stream: shuffle, then repeat, then the windows, then batch."""

    source: Records
    shuffle: Shuffle | None = None
    epochs: int = 1  # -1: endless
    windows: tuple[Window, ...] = ()
    batch_size: int | None = None  # None: records, as bytes
    drop_remainder: bool = False
    on_corrupt: str = "raise"
    is_drawn: bool = False  # the order of files is random, and differs the next time
    one_epoch: Node | None = None  # the node to plan again for each epoch, whose order of files is drawn again
    steps: tuple[str, ...] = ()  # for repr

    def then(self, step: str, **changes: Any) -> RecordPlan:
        return replace(self, steps=(*self.steps, step), **changes)

    def iterate(self, run: Run) -> Iterator[Any]:
        if not self.source.at_hand:
            return self._iterate_one_by_one(run)
        if self.batch_size is None:
            records = self._records(run)
            if self.one_epoch is None or all(window.step == 1 for window in self.windows):
                return windowed_records(records, self.windows) if self.windows else records
            return self._windowed_one_by_one(records)  # continues after an error
        if not self.windows and self.one_epoch is None:
            options = {"batch_size": self.batch_size, "drop_remainder": self.drop_remainder}
            return self._stream(run, self._seed(run), **options).batches()
        return self._windowed(self._batches(run, self.batch_size), self.batch_size)

    def blocks(self, run: Run) -> Iterator[Block] | None:
        """Iterate over the records in blocks; None for batches of records."""
        if self.batch_size is not None:
            return None
        sizes = Sizes()
        if self.source.at_hand:
            batches = replace(self, windows=())._batches(run, sizes.piece)
        else:
            batches = self.source.batches(run, sizes.piece)
        blocks: Iterator[Block] = RecordBlocks(batches, sizes)
        for window in self.windows:
            blocks = Selected(blocks, *window)
        return blocks

    def _records(self, run: Run) -> Iterator[bytes]:
        """Iterate over the records before the windows."""
        node = self.one_epoch
        if node is None:
            return self._stream(run, self._seed(run)).records()
        plans = self._plans(run)

        def start() -> Iterator[bytes]:
            plan = next(plans)
            return node.iterate(run) if plan is None else plan._records(run)

        return Repeated(start, self.epochs)

    def _batches(self, run: Run, size: int) -> Iterator[_core.RecordBatch]:
        """Iterate over the records before the windows, in batches of at most `size`; up to damage, one by one."""
        if self.one_epoch is None:
            return self._batches_to_damage(run, size)
        plans = self._plans(run)
        node = self.one_epoch

        def start(count: int) -> Iterator[_core.RecordBatch]:
            plan = next(plans)
            return map(alone, node.iterate(run)) if plan is None else plan._batches_to_damage(run, size, -count % size)

        return BatchesOfEpochs(start, self.epochs)

    def _plans(self, run: Run) -> Iterator[RecordPlan | None]:
        """Iterate over plans of epochs, None where there is none. The first epoch was drawn with this plan."""
        assert self.one_epoch is not None
        first = replace(self, epochs=1, windows=(), batch_size=None, one_epoch=None)
        return chain([first], map(run.plan, repeat(self.one_epoch)))

    def _batches_to_damage(self, run: Run, size: int, lead: int = 0) -> Iterator[_core.RecordBatch]:
        """Iterate over all batches of one stream. The first has `lead` records, if that costs nothing."""
        seed = self._seed(run)
        same = replace(self, source=self.source.listed(run))  # all streams have the same files in the same order
        stream = partial(same._stream, run, seed)
        # When a stream continues another, objects are requested again, and a shuffle's records are read again.
        leads = lead and self.shuffle is None and same.source.is_local
        return WithLastRecords(
            WithLead(stream, lead, size) if leads else stream(batch_size=size).batches(),
            # If a batch can't be made, its records up to the damage still can.
            lambda count: after(stream().records(), count),
        )

    def _windowed(self, batches: Iterator[_core.RecordBatch], size: int) -> Iterator[_core.RecordBatch]:
        return InTurn(WindowedBatches(batches, self.windows, size, self.drop_remainder))

    def _iterate_one_by_one(self, run: Run) -> Iterator[Any]:
        """Iterate with one stream per file, whose paths are requested as needed."""
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
        """Return the native stream of everything before the windows."""
        if self.shuffle is not None:
            options |= {"shuffle_buffer": self.shuffle.buffer_size, "seed": seed}
        return self.source.stream(run, num_epochs=self.epochs, on_corrupt=self.on_corrupt, **options)
