"""Sources of a TFRecordPyDataset: a ShardReader, or a `data.Dataset` whose iterations are epochs."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from ...data.dataset import Dataset
from ...data.handle import node_of
from ...data.nodes.native.running import Epoch
from ...data.numbers import INFINITE, UNKNOWN
from ...files.reading.epochs import checked_epoch
from ...files.reading.shard_reader import ShardReader, resumed_from


class ReaderSource:
    def __init__(self, reader: ShardReader[Any]) -> None:
        self.wrapped = reader

    def __iter__(self) -> Iterator[Any]:
        return iter(self.wrapped)

    def look(self) -> Iterator[Any]:
        """Return the batches of the next iteration, without moving on to it."""
        copied = copy.copy(self.wrapped)
        copied.set_epoch(self.wrapped.epoch)
        return iter(copied)

    def batches(self) -> int | None:
        """Return the number of batches in an iteration; None if it is endless or not known."""
        try:
            return len(self.wrapped)
        except TypeError:
            return None

    @property
    def epoch(self) -> int:
        return self.wrapped.epoch

    def set_epoch(self, epoch: int) -> None:
        self.wrapped.set_epoch(epoch)

    @property
    def position(self) -> Any:
        """The position in its epoch where the next iteration begins; None: the beginning."""
        return resumed_from(self.wrapped)

    def go_back(self, epoch: int, position: Any) -> None:
        """Let the next iteration begin where an earlier one began."""
        if position is None:
            self.wrapped.set_epoch(epoch)
        else:
            self.wrapped.load_state_dict(position)


class DatasetSource:
    """A `data.Dataset`. Each iteration is an epoch, whose number determines its order."""

    position = None  # datasets load no positions

    def __init__(self, dataset: Dataset[Any]) -> None:
        self.wrapped = dataset
        self.epoch = 0

    def __iter__(self) -> Iterator[Any]:
        elements = self.look()
        self.epoch += 1
        return elements

    def look(self) -> Iterator[Any]:
        node = node_of(self.wrapped)
        return Epoch(node, self.epoch)(node)

    def batches(self) -> int | None:
        count = self.wrapped.cardinality()
        return None if count in (INFINITE, UNKNOWN) else count

    def set_epoch(self, epoch: int) -> None:
        self.epoch = checked_epoch(epoch)

    def go_back(self, epoch: int, position: None) -> None:
        self.epoch = epoch


Source = ReaderSource | DatasetSource
