"""The assignment of files, records and epochs to one iteration of a ShardReader."""

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
from ..streams.core_files import DEFAULT_SETTINGS, CoreFile, File, random_location, stream_files
from ..streams.fetching import open_stream
from ..streams.random_access import random_locations
from .epochs import end_of
from .global_shuffle import WINDOWS, GlobalShuffle, RandomFiles, check_options, shuffle_order
from .record_counts import Counts, RecordCounts, refuse_streams
from .shard_division import Lengths, Shard, divided, lengths_of
from .state import begin_of_epoch


class Assignment(NamedTuple):
    files: list[str] | list[CoreFile]
    order: dict[str, Any]  # must be equal for a state to fit
    epochs: int  # more than the order's if the shard is padded
    batches: int | None = None  # their number, with `equal_shards`


class ShardingOptions(NamedTuple):
    """Arguments of the reader, by the same names."""

    shard: Shard
    shard_by: str
    equal_shards: str | None
    global_shuffle: bool
    deterministic: bool
    seed_is_drawn: bool


class Assigner:
    """The assignments of one reader's iterations."""

    def __init__(
        self,
        files: list[File],
        order: dict[str, Any],
        reading: dict[str, Any],
        options: ShardingOptions,
        index_cache: bool | PathLike,
        settings: StoreSettings = DEFAULT_SETTINGS,
    ) -> None:
        self._files = files
        self._settings = settings
        self._order = order
        self._reading = reading
        self.options = options
        if options.equal_shards not in (None, "drop", "pad"):
            raise InvalidArgumentError(f'equal_shards must be None, "drop" or "pad", got {options.equal_shards!r}')
        if options.shard_by not in ("auto", "file", "record"):
            raise InvalidArgumentError(f'shard_by must be "auto", "file" or "record", got {options.shard_by!r}')
        if options.global_shuffle:
            check_options({**order, "shard_by": options.shard_by}, reading)
            for file in files:
                random_location(file)
            if not options.shard.is_auto:
                self._check_seed()
        self._counts = RecordCounts(index_cache, reading, settings, files)
        self._random_files = RandomFiles()
        self._index_cache = index_cache

    def with_order(self, order: dict[str, Any]) -> Assigner:
        other = copy.copy(self)
        other._order = order
        return other

    @property
    def deterministic(self) -> bool:
        return self.options.deterministic

    def assign(self, *, ignore_workers: bool = False) -> Assignment:
        """Return the assignment of an iteration that begins now; `ignore_workers` does not divide among workers."""
        if not ignore_workers:
            refuse_to_divide_again("a ShardReader")
        self._check_seed()
        files = stream_files(self._files, self._settings)
        shard = self.options.shard.rank() if ignore_workers else self.options.shard.worker_rank()
        extra: dict[str, Any] = {}
        if self.options.equal_shards is None:
            epochs, batches, whole = self._order["num_epochs"], None, False
            division = divided(self._divided_by(), len(files), shard.total)
        else:
            batches, _, epochs, division, whole = self._lengths(shard, files)
            extra = {"equal_shards": self.options.equal_shards, "shard": [*shard], "batches": batches}
        if self.options.global_shuffle:
            extra["global_shuffle"] = True
        if division.by_file or whole:
            files, shard = files if whole else files[shard.number :: shard.total], Rank(0, 1)
        return Assignment(files, {**self._order, "record_shard": [*shard], **extra}, epochs, batches)

    def _check_seed(self) -> None:
        """Require a common seed: shards of different orders would lose and repeat records."""
        if self.options.global_shuffle and self.options.seed_is_drawn and self.options.shard.rank().total > 1:
            raise InvalidArgumentError("global_shuffle with several shards needs a seed, the same for all of them")

    def lengths(self) -> Lengths:
        return self._lengths(self.options.shard.worker_rank(), stream_files(self._files, self._settings))

    def worker_lengths(self, workers: int) -> list[Lengths]:
        """Return the length of an iteration in each worker of a DataLoader."""
        files = stream_files(self._files, self._settings)
        return [self._lengths(shard, files) for shard in self.options.shard.worker_ranks(workers)]

    def _lengths(self, shard: Rank, files: list[str] | list[CoreFile]) -> Lengths:
        refuse_streams(self._files)
        counts = self._counts.of(files)
        if self.options.global_shuffle:
            counts = Counts(counts.records.sum(keepdims=True), np.zeros(1, np.int64))  # as one file
        return lengths_of(counts, shard, self._order, shard_by=self._divided_by(), equal=self.options.equal_shards)

    def _divided_by(self) -> str:
        return "record" if self.options.global_shuffle else self.options.shard_by

    def stream(
        self,
        assignment: Assignment,
        first: int,
        state: dict[str, Any] | None,
        plan: ExamplePlan | SequencePlan | TablePlan | None,
        threads: int,
    ) -> _core.RecordStream | GlobalShuffle:
        order, end = assignment.order, end_of(first, assignment.epochs)
        if self.options.global_shuffle:
            checks = {name: self._reading[name] for name in ("verify_crc", "max_record_bytes")}
            read_ahead = self._reading["prefetch_bytes"]
            return GlobalShuffle(
                self._random_files.open(
                    random_locations(self._files, self._settings, True),
                    self._settings,
                    num_threads=threads,
                    max_idle_bytes=read_ahead,
                    index_cache=self._index_cache,
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
            assignment.files,
            self._settings,
            begin_of_epoch(first) if state is None else state,
            None if plan is None else plan.core,
            keep_batches=plan is not None and plan.checks_rows,
            # With two or more, the thread that iterates also works while it waits.
            num_threads=max(1, threads - 1),
            fitting_threads=max(1, min(threads, available_cpus()) - 1),
            caller_helps=threads != 1,
            # A fixed number of batches is only well defined in a fixed order.
            deterministic=self.deterministic or assignment.batches is not None,
            record_shard=order["record_shard"],
            num_epochs=end,
            **{name: order[name] for name in self._order if name != "num_epochs"},
            **self._reading,
        )
