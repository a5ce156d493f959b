"""Which part of a dataset the native reader runs: `record_plan` recognises it, `RecordPlan` runs it.

A chain of shuffle, repeat, take, skip, shard and batch over a TFRecordDataset becomes one `_core.RecordStream`, as
far as the stream's order is TensorFlow's:

* shuffle, where nothing but the reading is in front of it; the stream shuffles each epoch by itself;
* one repeat behind that; a batch may then run on from epoch to epoch, as TensorFlow's does;
* take, skip and shard behind these: cut out of the stream's batches, whose slices are views;
* batch, with which the plan is complete. A prefetch adds nothing: the stream reads ahead by itself.

Whatever else there is runs in Python, on what the plan gives. `RecordPlan.stream` is the one place where a plan
becomes a stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from .. import _core
from ._windows import Window, windowed_batches, windowed_records

if TYPE_CHECKING:
    from .dataset import Dataset
    from .records import TFRecordDataset

__all__ = ["RecordPlan", "record_plan"]


@dataclass(frozen=True)
class RecordPlan:
    """What the stream does: shuffle, then repeat, then the windows, then batch."""

    source: TFRecordDataset
    shuffle: Any = None  # the _Shuffle, which knows the seed of each iteration
    epochs: int = 1  # -1: without end
    windows: tuple[Window, ...] = ()
    batch_size: int | None = None  # None: records, as bytes
    drop_remainder: bool = False
    on_corrupt: str = "raise"
    steps: tuple[str, ...] = ()  # for repr

    def with_(self, step: str, **changes: Any) -> RecordPlan:
        """A copy with one step more."""
        return replace(self, steps=(*self.steps, step), **changes)

    def iterate(self) -> Iterator[Any]:
        """An iteration from the start: bytes, or RecordBatches."""
        seed = 0 if self.shuffle is None else self.shuffle.next_seed()
        if self.batch_size is None:
            records = self.stream(seed).records()
            return windowed_records(records, self.windows) if self.windows else records
        if not self.windows:
            options = {"batch_size": self.batch_size, "drop_remainder": self.drop_remainder}
            return self.stream(seed, **options).batches()
        size = self.batch_size
        return windowed_batches(
            self.stream(seed, batch_size=size).batches(),
            self.windows,
            size,
            self.drop_remainder,
            # Where a batch cannot be had, its records up to the damage can.
            lambda given: islice(self.stream(seed).records(), given, None),
        )

    def stream(self, seed: int, **options: Any) -> _core.RecordStream:
        """The native stream of everything in front of the windows."""
        if self.shuffle is not None:
            options |= {"shuffle_buffer": self.shuffle.buffer_size, "seed": seed}
        return self.source._stream(num_epochs=self.epochs, on_corrupt=self.on_corrupt, **options)


def record_plan(dataset: Dataset[Any]) -> RecordPlan | None:
    """The plan of a dataset that the native reader runs from end to end; None if it can't."""
    return dataset._plan()
