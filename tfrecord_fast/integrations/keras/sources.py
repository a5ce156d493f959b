"""What a TFRecordPyDataset reads from: a ShardReader, or a `data.Dataset` whose iterations are epochs."""

from __future__ import annotations

import copy
import operator
from collections.abc import Iterator
from typing import Any

from ...data.dataset import Dataset
from ...data.handle import node_of
from ...data.nodes.running import Epoch
from ...data.sentinels import INFINITE, UNKNOWN
from ...errors import InvalidArgumentError
from ...files.reading.epochs import MOST_EPOCHS
from ...files.reading.shard_reader import ShardReader, resumed_from

__all__ = ["DatasetSource", "ReaderSource", "Source"]

_NOT_KNOWN = (
    "its length is not known before it has been read: give num_batches=…, or repeat it and give fit steps_per_epoch"
)


class ReaderSource:
    """A ShardReader."""

    def __init__(self, reader: ShardReader[Any]) -> None:
        self.given = reader

    def __iter__(self) -> Iterator[Any]:
        return iter(self.given)

    def look(self) -> Iterator[Any]:
        """The batches of the iteration to come, which comes all the same, from the same place."""
        copied = copy.copy(self.given)
        copied.set_epoch(self.given.epoch)
        return iter(copied)

    def batches(self) -> int | None:
        """How many an iteration has; None: it is endless.

        Raises:
          TypeError: that is not known.
        """
        try:
            return len(self.given)
        except TypeError as error:
            try:
                _ = self.given.num_records  # which an endless one has, too
            except TypeError:
                raise TypeError(f"{self.given!r} can't be counted ({error}); {_NOT_KNOWN}") from None
            return None

    @property
    def epoch(self) -> int:
        return self.given.epoch

    def set_epoch(self, epoch: int) -> None:
        self.given.set_epoch(epoch)

    @property
    def position(self) -> Any:
        """Where in its epoch the next iteration begins; None: at the beginning."""
        return resumed_from(self.given)

    def go_back(self, epoch: int, position: Any) -> None:
        """Lets the next iteration begin where an earlier one has begun."""
        if position is None:
            self.given.set_epoch(epoch)
        else:
            self.given.load_state_dict(position)


class DatasetSource:
    """A `data.Dataset`, of which each iteration is an epoch with an order of its own, found by its number."""

    position = None  # none can be loaded

    def __init__(self, dataset: Dataset[Any]) -> None:
        self.given = dataset
        self.epoch = 0

    def __iter__(self) -> Iterator[Any]:
        elements = self.look()
        self.epoch += 1
        return elements

    def look(self) -> Iterator[Any]:
        node = node_of(self.given)
        return Epoch(node, self.epoch)(node)

    def batches(self) -> int | None:
        count = self.given.cardinality()
        if count == UNKNOWN:
            raise TypeError(f"{self.given!r}: {_NOT_KNOWN}")
        return None if count == INFINITE else count

    def set_epoch(self, epoch: int) -> None:
        epoch = operator.index(epoch)
        if not 0 <= epoch < MOST_EPOCHS:
            raise InvalidArgumentError(f"epoch must be at least 0 and below 2**62, got {epoch}")
        self.epoch = epoch

    def go_back(self, epoch: int, position: None) -> None:
        self.epoch = epoch


Source = ReaderSource | DatasetSource
