"""Which part of the files' records a reader gives, and how many batches: shares of ranks and workers, made equal."""

from __future__ import annotations

import contextlib
import operator
import os
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...base.ranks import Rank, in_worker_of_grain, parent_process, rank_of_process, worker_info
from ...errors import InvalidArgumentError
from .record_counts import Counts
from .state import MOST

__all__ = ["Division", "Lengths", "Shard", "divided", "lengths_of"]

_MOST_EQUAL = 1 << 20  # parts that can be made equal: all of them are looked at
_UNEVEN = 0.1  # of the batches: with more, records are divided instead of files


class Shard:
    """The reader's argument `shard`: (i, n), or "auto"."""

    def __init__(self, given: tuple[int, int] | Literal["auto"]) -> None:
        self._given: Rank | None = None
        self._parents: tuple[int, Rank] | None = None  # the process that has handed this one over, and its rank
        if isinstance(given, str):
            if given != "auto":
                raise InvalidArgumentError(f'shard is (i, n) or "auto", got {given!r}')
            return
        index, count = (operator.index(value) for value in given)
        if not 0 <= index < count <= MOST:
            raise InvalidArgumentError(f"shard is (i, n) with 0 <= i < n < 2**63, got {given}")
        self._given = Rank(index, count)

    @property
    def is_auto(self) -> bool:
        return self._given is None

    def rank(self) -> Rank:
        """The shard; with "auto", the rank of this process or, in a worker, of the process it is for.

        Raises:
          ValueError: the environment contradicts itself.
        """
        if self._given is not None:
            return self._given
        # A worker that was spawned has joined neither torch.distributed nor the processes of JAX, and may have no
        # environment that says its rank.
        is_worker = worker_info() is not None or in_worker_of_grain()
        if self._parents is not None and is_worker and self._parents[0] == parent_process():
            return self._parents[1]
        return rank_of_process()

    def part(self) -> Rank:
        """The shard or, in a DataLoader's worker, the worker's part of it."""
        info = worker_info()
        return self.rank() if info is None else self.parts(info.num_workers)[info.id]

    def parts(self, workers: int) -> list[Rank]:
        """The parts of the shard that so many workers have."""
        index, count = self.rank()
        return [Rank(index * workers + worker, count * workers) for worker in range(workers)]

    def __getstate__(self) -> dict[str, Any]:
        parents = None
        if self.is_auto:
            with contextlib.suppress(ValueError):
                parents = os.getpid(), self.rank()
        return {"_given": self._given, "_parents": parents}


class Division(NamedTuple):
    """How the records of an epoch are divided into `parts`."""

    parts: int
    by_file: bool

    def records(self, counts: Counts, part: int) -> int:
        """How many records that part has, of files with these counts: those whose index plus file leaves `part`."""
        if self.by_file:
            return int(counts.records[part :: self.parts].sum())
        # In each file, from the part's first record on, every one of so many. A record's index is that in its whole
        # file, of which only a part may be read.
        damaged = self._damaged(counts)
        return sum(
            counts.damaged[file](self.parts, (part - file) % self.parts)
            if file in damaged
            else -(-max(0, count - (part - file - begin) % self.parts) // self.parts)
            for file, (count, begin) in enumerate(zip(counts.records.tolist(), counts.begins.tolist(), strict=True))
        )

    def all_records(self, counts: Counts) -> NDArray[np.int64]:
        """The same of every part: int64 [parts]."""
        found = counts.records.copy()
        if self.by_file:
            padded = np.zeros(-(-len(found) // self.parts) * self.parts, np.int64)
            padded[: len(found)] = found
            return np.asarray(padded.reshape(-1, self.parts).sum(axis=0), np.int64)
        damaged = self._damaged(counts)
        found[list(damaged)] = 0
        # Each part has the same number of a file's records, except for those left over, which go to parts in a row.
        whole = int((found // self.parts).sum())
        begin = (np.arange(len(found)) + counts.begins) % self.parts
        end = begin + found % self.parts
        steps = np.bincount(begin, minlength=2 * self.parts + 1) - np.bincount(end, minlength=2 * self.parts + 1)
        more = steps.cumsum()[: 2 * self.parts]
        given = np.asarray(whole + more[: self.parts] + more[self.parts :], np.int64)
        for file, of in damaged.items():
            given += np.array([of(self.parts, (part - file) % self.parts) for part in range(self.parts)], np.int64)
        return given

    def _damaged(self, counts: Counts) -> Mapping[int, Callable[[int, int], int]]:
        return counts.damaged if self.parts > 1 else {}


class Lengths(NamedTuple):
    """What one iteration gives."""

    batches: int | None  # None: endless
    records: int  # of an endless iteration: those of one epoch
    epochs: int  # that they are taken from, -1 if endless; more than the reader's where the part is padded
    division: Division
    whole: bool  # whether the part has no records, and is padded with those of the whole


def divided(shard_by: str, files: int, parts: int) -> Division:
    return Division(parts, shard_by == "file" or (shard_by == "auto" and files >= parts))


def lengths_of(counts: Counts, part: Rank, order: dict[str, Any], *, shard_by: str, equal: str | None) -> Lengths:
    """How long a part's iteration is.

    Args:
      counts: records of each file.
      order: the reader's batch_size, drop_remainder, num_epochs.
      equal: None, "drop" or "pad".

    Raises:
      errors.InvalidArgumentError: too many parts to make them equal.
    """
    division = divided(shard_by, len(counts.records), part.total)
    if equal is not None and shard_by == "auto" and division.by_file and part.total > 1:
        sizes = _batches_of_all(division, counts, order)
        target = _target(sizes, equal)
        if abs(sum(sizes) - target * len(sizes)) > _UNEVEN * sum(sizes):
            division = Division(part.total, by_file=False)
    records = division.records(counts, part.number)
    epochs: int = order["num_epochs"]
    own = _batches(records, order)
    given = records * epochs if not order["drop_remainder"] else own * order["batch_size"]
    target = own if equal is None else _target(_batches_of_all(division, counts, order), equal)
    if epochs < 0:
        return _endless(records, own, target, division)
    if own == target:
        return Lengths(own, given, epochs, division, whole=False)
    size: int = order["batch_size"]
    if own < target:
        source = records or int(counts.records.sum())
        if source == 0:  # where damage is passed over, one reader of the whole may see less than the parts have
            raise InvalidArgumentError(
                f'equal_shards="pad": part {part.number} of {part.total} has no records, and one reader of all files '
                "sees none that it could repeat, as the rest of a damaged file is passed over"
            )
        return Lengths(target, target * size, max(epochs, -(-target * size // source)), division, whole=records == 0)
    return Lengths(target, target * size, epochs, division, whole=False)


def _endless(records: int, own: int, target: int, division: Division) -> Lengths:
    """Endless iterations are equal unless a part has no records; then all are empty, or that part reads the whole."""
    if own > target:
        return Lengths(0, 0, -1, division, whole=False)
    return Lengths(None, records, -1, division, whole=own < target)


def _batches(records: int, order: dict[str, Any]) -> int:
    """Of an iteration; of an endless one, whether there are any."""
    epochs: int = order["num_epochs"]
    if epochs < 0:
        return min(records, 1)
    size: int = order["batch_size"]
    return records * epochs // size if order["drop_remainder"] else -(-records * epochs // size)


def _batches_of_all(division: Division, counts: Counts, order: dict[str, Any]) -> list[int]:
    if division.parts > _MOST_EQUAL:
        raise InvalidArgumentError(f"equal_shards takes up to {_MOST_EQUAL} parts, got {division.parts}")
    return [_batches(records, order) for records in division.all_records(counts).tolist()]


def _target(sizes: list[int], equal: str) -> int:
    return min(sizes) if equal == "drop" else max(sizes)
