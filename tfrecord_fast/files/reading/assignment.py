"""What an iteration of a ShardReader reads: which files, which of their records, for how many epochs."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from ... import _core
from ...base.ranks import Rank, refuse_to_divide_again
from ...base.threads import available_cpus
from ...errors import InvalidArgumentError
from ...examples.parsing.plans import ExamplePlan, SequencePlan
from ...examples.parsing.table_plan import TablePlan
from ...typing import PathLike
from ..stores import StoreSettings
from ..streams.core_files import DEFAULT_SETTINGS, CoreFile, File, stream_files
from ..streams.fetching import open_stream
from ..streams.local_paths import random_location
from ..streams.random_access import random_locations
from .epochs import end_of
from .global_shuffle import WINDOWS, GlobalShuffle, RandomFiles, check_options, shuffle_order
from .record_counts import Counts, RecordCounts, refuse_streams
from .shards import Lengths, Shard, divided, lengths_of
from .state import begin_of_epoch

__all__ = ["Share", "Sharing", "SharingOptions"]


class Share(NamedTuple):
    """What one iteration reads."""

    files: list[str] | list[CoreFile]
    order: dict[str, Any]  # what has to be the same for a state to fit
    epochs: int  # more than the order's where a share is padded
    batches: int | None = None  # if the shares are made equal: how many


class SharingOptions(NamedTuple):
    """Arguments of the reader, by the same names."""

    shard: Shard
    shard_by: str
    equal_shards: str | None
    global_shuffle: bool
    deterministic: bool
    seed_is_drawn: bool


class Sharing:
    """Finds out what an iteration of a reader reads.

    Args:
      files, order, reading: of the reader; they are its own, and may change.
      settings: of the stores of files that are URLs.

    Raises:
      errors.InvalidArgumentError, TypeError: an argument is out of range, or does not go together with another.
    """

    def __init__(
        self,
        files: list[File],
        order: dict[str, Any],
        reading: dict[str, Any],
        options: SharingOptions,
        index_cache: bool | PathLike,
        settings: StoreSettings = DEFAULT_SETTINGS,
    ) -> None:
        self._files = files
        self._settings = settings
        self._order = order
        self._reading = reading
        self.options = options
        if options.equal_shards not in (None, "drop", "pad"):
            raise InvalidArgumentError(f'equal_shards is None, "drop" or "pad", got {options.equal_shards!r}')
        if options.shard_by not in ("auto", "file", "record"):
            raise InvalidArgumentError(f'shard_by is "auto", "file" or "record", got {options.shard_by!r}')
        if options.global_shuffle:
            check_options({**order, "shard_by": options.shard_by}, reading)
            for file in files:
                random_location(file)
            if not options.shard.is_auto:
                self._check_seed()
        self._counts = RecordCounts(index_cache, reading, settings, files)
        self._random_files = RandomFiles()

    def with_order(self, order: dict[str, Any]) -> Sharing:
        """The same for a copy of the reader."""
        other = copy.copy(self)
        other._order = order
        return other

    @property
    def deterministic(self) -> bool:
        return self.options.deterministic

    def share(self, *, is_whole: bool = False) -> Share:
        """What an iteration reads that begins in this process now; `is_whole`: in a DataLoader's worker too."""
        shard = self.options.shard
        if not is_whole:
            refuse_to_divide_again("a ShardReader")
        self._check_seed()
        files = stream_files(self._files, self._settings)
        part = shard.rank() if is_whole else shard.part()
        extra: dict[str, Any] = {}
        if self.options.equal_shards is None:
            epochs, batches, whole = self._order["num_epochs"], None, False
            division = divided(self._divided_by(), len(files), part.total)
        else:
            batches, _, epochs, division, whole = self._lengths(part, files)
            extra = {"equal_shards": self.options.equal_shards, "shard": [*part], "batches": batches}
        if self.options.global_shuffle:
            extra["global_shuffle"] = True
        if division.by_file or whole:
            files, part = files if whole else files[part.number :: part.total], Rank(0, 1)
        return Share(files, {**self._order, "record_shard": [*part], **extra}, epochs, batches)

    def _check_seed(self) -> None:
        """Each shard takes its part of one order of all records: a seed of its own would lose and repeat records."""
        if self.options.global_shuffle and self.options.seed_is_drawn and self.options.shard.rank().total > 1:
            raise InvalidArgumentError("global_shuffle with several shards needs a seed, the same for all of them")

    def lengths(self) -> Lengths:
        """How long an iteration would be. Raises as `len` of a reader does."""
        return self._lengths(self.options.shard.part(), stream_files(self._files, self._settings))

    def lengths_of_workers(self, workers: int) -> list[Lengths]:
        """The same in each of so many workers of a DataLoader."""
        files = stream_files(self._files, self._settings)
        return [self._lengths(part, files) for part in self.options.shard.parts(workers)]

    def _lengths(self, part: Rank, files: list[str] | list[CoreFile]) -> Lengths:
        refuse_streams(self._files)
        counts = self._counts.of(files)
        if self.options.global_shuffle:
            counts = Counts(counts.records.sum(keepdims=True), np.zeros(1, np.int64))  # as one file
        return lengths_of(counts, part, self._order, shard_by=self._divided_by(), equal=self.options.equal_shards)

    def _divided_by(self) -> str:
        return "record" if self.options.global_shuffle else self.options.shard_by

    def stream(
        self,
        share: Share,
        first: int,
        state: dict[str, Any] | None,
        plan: ExamplePlan | SequencePlan | TablePlan | None,
        threads: int,
    ) -> _core.RecordStream | GlobalShuffle:
        """The batches of an iteration that begins with epoch `first`, or stands in `state`."""
        order, end = share.order, end_of(first, share.epochs)
        if self.options.global_shuffle:
            checks = {name: self._reading[name] for name in ("verify_crc", "max_record_bytes")}
            read_ahead = self._reading["prefetch_bytes"]
            return GlobalShuffle(
                self._random_files.open(
                    random_locations(self._files, self._settings),
                    self._settings,
                    num_threads=threads,
                    max_idle_bytes=read_ahead,
                    **checks,
                ),
                shuffle_order(order, first, end),
                state,
                plan,
                num_threads=threads,
                window_bytes=read_ahead // WINDOWS,
                mean_bytes=self._random_files.mean_bytes,
            )
        return open_stream(
            share.files,
            self._settings,
            begin_of_epoch(first) if state is None else state,
            None if plan is None else plan.core,
            keep_batches=plan is not None and plan.checks_rows,
            # If there are two or more, the thread that iterates is one of them while it waits.
            num_threads=max(1, threads - 1),
            fitting_threads=max(1, min(threads, available_cpus()) - 1),
            caller_helps=threads != 1,
            # A part that ends after so many batches has to count them in their order.
            deterministic=self.deterministic or share.batches is not None,
            record_shard=order["record_shard"],
            num_epochs=end,
            **{name: order[name] for name in self._order if name != "num_epochs"},
            **self._reading,
        )
