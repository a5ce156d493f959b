"""An iteration of a ShardReader that has begun, and what it has passed over."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..streams.core_files import CoreFile
from .counted import CountedBatches
from .epochs import ENDLESS
from .finished import Interrupted

__all__ = ["Running", "Skipped"]


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
