"""What the native reader does of a dataset, as one stream: shuffle, repeat, take, skip, shard and batch over files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from ... import _core
from .iterators import Windowed
from .node import Run
from .order import Shuffle
from .records import Records
from .turns import InTurn
from .windows import Window, WindowedBatches, WithLastRecords, windowed_records

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
    steps: tuple[str, ...] = ()  # for repr

    def then(self, step: str, **changes: Any) -> RecordPlan:
        """A copy with one more step."""
        return replace(self, steps=(*self.steps, step), **changes)

    def iterate(self, run: Run) -> Iterator[Any]:
        """An iteration from the start: bytes, or RecordBatches."""
        if not self.source.at_hand:
            return self._iterate_one_by_one(run)
        seed = 0 if self.shuffle is None else run.own(self.shuffle.draws).next_seed()
        if self.batch_size is None:
            records = self._stream(run, seed).records()
            return windowed_records(records, self.windows) if self.windows else records
        if not self.windows:
            options = {"batch_size": self.batch_size, "drop_remainder": self.drop_remainder}
            return self._stream(run, seed, **options).batches()
        size = self.batch_size
        same = replace(self, source=self.source.listed(run))  # both streams have the same files in the same order
        batches = WithLastRecords(
            same._stream(run, seed, batch_size=size).batches(),
            # If a batch can't be made, its records up to the damage still can.
            lambda given: islice(same._stream(run, seed).records(), given, None),
        )
        return self._windowed(batches, size)

    def _windowed(self, batches: Iterator[_core.RecordBatch], size: int) -> Iterator[_core.RecordBatch]:
        return InTurn(WindowedBatches(batches, self.windows, size, self.drop_remainder))

    def _iterate_one_by_one(self, run: Run) -> Iterator[Any]:
        """The same, for files whose paths are taken as they are needed: a stream for each."""
        if self.batch_size is None:
            records = self.source.iterate(run)
            for window in self.windows:
                records = Windowed(records, *window)
            return records
        batches = self.source.batches(run, self.batch_size)
        return self._windowed(batches, self.batch_size)

    def _stream(self, run: Run, seed: int, **options: Any) -> _core.RecordStream:
        """The native stream of everything before the windows: the one place where a plan becomes a stream."""
        if self.shuffle is not None:
            options |= {"shuffle_buffer": self.shuffle.buffer_size, "seed": seed}
        return self.source.stream(run, num_epochs=self.epochs, on_corrupt=self.on_corrupt, **options)
