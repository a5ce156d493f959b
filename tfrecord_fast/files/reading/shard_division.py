"""The shards of ranks and workers: their records, their numbers of batches, and equal numbers of batches."""

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

_MOST_EQUAL = 1 << 20  # shards with `equal_shards`, which examines each of them
_UNEVEN = 0.1  # share of batches dropped or repeated; above it, records are divided instead of files


class Shard:
    """The reader's argument `shard`: (i, n), or "auto"."""

    def __init__(self, shard: tuple[int, int] | Literal["auto"]) -> None:
        self._explicit: Rank | None = None
        self._parents: tuple[int, Rank] | None = None  # the process that pickled this object, and its rank
        if isinstance(shard, str):
            if shard != "auto":
                raise InvalidArgumentError(f'shard must be (i, n) or "auto", got {shard!r}')
            return
        try:
            index, count = map(operator.index, shard)
        except (TypeError, ValueError) as error:
            raise type(error)(f'shard must be (i, n) or "auto", got {shard!r}') from None
        if not 0 <= index < count <= MOST:
            raise InvalidArgumentError(f"shard must be (i, n) with 0 <= i < n < 2**63, got {shard}")
        self._explicit = Rank(index, count)

    @property
    def is_auto(self) -> bool:
        return self._explicit is None

    def rank(self) -> Rank:
        """Return the shard; with "auto", the rank of this process or, in a worker, of its parent."""
        if self._explicit is not None:
            return self._explicit
        # A spawned worker has not joined torch.distributed or JAX, and its environment may lack the rank.
        is_worker = worker_info() is not None or in_worker_of_grain()
        if self._parents is not None and is_worker and self._parents[0] == parent_process():
            return self._parents[1]
        return rank_of_process()

    def worker_rank(self) -> Rank:
        """Return the shard or, in a DataLoader worker, the worker's shard of it."""
        info = worker_info()
        return self.rank() if info is None else self.worker_ranks(info.num_workers)[info.id]

    def worker_ranks(self, workers: int) -> list[Rank]:
        """Return the shards of all workers of a DataLoader in this process."""
        index, count = self.rank()
        return [Rank(index * workers + worker, count * workers) for worker in range(workers)]

    def __getstate__(self) -> dict[str, Any]:
        parents = None
        if self.is_auto:
            with contextlib.suppress(ValueError):
                parents = os.getpid(), self.rank()
        return {"_explicit": self._explicit, "_parents": parents}


class Division(NamedTuple):
    shards: int
    by_file: bool

    def records(self, counts: Counts, shard: int) -> int:
        """Return the number of records of one shard.

        If records are divided, record r of file f belongs to shard (r + f) mod `shards`. r counts from the beginning of
        the file, even if only a byte range of the file is read.
        """
        if self.by_file:
            return int(counts.records[shard :: self.shards].sum())
        damaged = self._damaged(counts)
        return sum(
            counts.damaged[file](self.shards, (shard - file) % self.shards)
            if file in damaged
            else -(-max(0, count - (shard - file - begin) % self.shards) // self.shards)
            for file, (count, begin) in enumerate(zip(counts.records.tolist(), counts.begins.tolist(), strict=True))
        )

    def all_records(self, counts: Counts) -> NDArray[np.int64]:
        """Return the number of records of every shard: int64 [shards]."""
        records = counts.records.copy()
        if self.by_file:
            padded = np.zeros(-(-len(records) // self.shards) * self.shards, np.int64)
            padded[: len(records)] = records
            return np.asarray(padded.reshape(-1, self.shards).sum(axis=0), np.int64)
        damaged = self._damaged(counts)
        records[list(damaged)] = 0
        # Each shard has the same number of a file's records. The remainder goes to consecutive shards.
        whole = int((records // self.shards).sum())
        begin = (np.arange(len(records)) + counts.begins) % self.shards
        end = begin + records % self.shards
        steps = np.bincount(begin, minlength=2 * self.shards + 1) - np.bincount(end, minlength=2 * self.shards + 1)
        more = steps.cumsum()[: 2 * self.shards]
        sums = np.asarray(whole + more[: self.shards] + more[self.shards :], np.int64)
        for file, count in damaged.items():
            sums += np.array([count(self.shards, (shard - file) % self.shards) for shard in range(self.shards)])
        return sums

    def _damaged(self, counts: Counts) -> Mapping[int, Callable[[int, int], int]]:
        return counts.damaged if self.shards > 1 else {}


class Lengths(NamedTuple):
    batches: int | None  # None: endless
    records: int  # of an endless iteration: those of one epoch
    epochs: int  # that the records come from, -1 if endless; more than the reader's if the shard is padded
    division: Division
    whole: bool  # True if the shard has no records, and is padded with those of all files


def divided(shard_by: str, files: int, shards: int) -> Division:
    return Division(shards, shard_by == "file" or (shard_by == "auto" and files >= shards))


def lengths_of(counts: Counts, shard: Rank, order: dict[str, Any], *, shard_by: str, equal: str | None) -> Lengths:
    """Return the length of a shard's iteration.

    Args:
      counts: records of each file.
      order: the reader's batch_size, drop_remainder, num_epochs.
      equal: None, "drop" or "pad".
    """
    division = divided(shard_by, len(counts.records), shard.total)
    if equal is not None and shard_by == "auto" and division.by_file and shard.total > 1:
        sizes = _all_batches(division, counts, order)
        target = _target(sizes, equal)
        if abs(sum(sizes) - target * len(sizes)) > _UNEVEN * sum(sizes):
            division = Division(shard.total, by_file=False)
    records = division.records(counts, shard.number)
    epochs: int = order["num_epochs"]
    size: int = order["batch_size"]
    own = _batches(records, order)
    target = own if equal is None else _target(_all_batches(division, counts, order), equal)
    if epochs < 0:
        return _endless(records, own, target, division)
    if own == target:
        own_records = own * size if order["drop_remainder"] else records * epochs
        return Lengths(own, own_records, epochs, division, whole=False)
    if own < target:
        source = records or int(counts.records.sum())
        if source == 0:  # with on_corrupt="skip_file", one reader of all files may drop more than the shards together
            raise InvalidArgumentError(
                f'equal_shards="pad": shard {shard.number} of {shard.total} has no records, and one reader of all '
                "files finds none to repeat, since it skips the rest of each damaged file"
            )
        return Lengths(target, target * size, max(epochs, -(-target * size // source)), division, whole=records == 0)
    return Lengths(target, target * size, epochs, division, whole=False)


def _endless(records: int, own: int, target: int, division: Division) -> Lengths:
    """Return equal lengths: if a shard has no records, all are empty ("drop") or it reads all files ("pad")."""
    if own > target:
        return Lengths(0, 0, -1, division, whole=False)
    return Lengths(None, records, -1, division, whole=own < target)


def _batches(records: int, order: dict[str, Any]) -> int:
    """Return the number of batches of an iteration; of an endless one, 1 if it has any, else 0."""
    epochs: int = order["num_epochs"]
    if epochs < 0:
        return min(records, 1)
    size: int = order["batch_size"]
    return records * epochs // size if order["drop_remainder"] else -(-records * epochs // size)


def _all_batches(division: Division, counts: Counts, order: dict[str, Any]) -> list[int]:
    if division.shards > _MOST_EQUAL:
        raise InvalidArgumentError(f"equal_shards supports at most {_MOST_EQUAL} shards, got {division.shards}")
    return [_batches(records, order) for records in division.all_records(counts).tolist()]


def _target(sizes: list[int], equal: str) -> int:
    return min(sizes) if equal == "drop" else max(sizes)
