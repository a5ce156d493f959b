"""Totals of whole files, with every CRC checked: the results of `info` and `verify`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .. import _core
from ..examples.record_kinds import Kinds
from ..files.streams.core_files import CoreFile
from .console import Console
from .files import FAULTS, Totals, batches, for_each_file, open_input, problem_of, total_bytes


@dataclass
class Tally(Totals):
    """Totals of a file with the sizes and kinds of its records."""

    min_size: int | None = None  # of a record, in bytes; None without records
    max_size: int | None = None
    kinds: Kinds = field(default_factory=Kinds)  # of records

    def as_json(self) -> dict[str, Any]:
        sizes = {"min_size": self.min_size, "mean_size": self.mean_size, "max_size": self.max_size}
        return {**super().as_json(), **sizes, "kinds": self.kinds.names}

    def add(self, batch: _core.RecordBatch) -> None:
        """Add the records of a batch that is not empty."""
        sizes = batch.sizes
        smallest, largest = int(sizes.min()), int(sizes.max())
        self.min_size = smallest if self.min_size is None else min(self.min_size, smallest)
        self.max_size = largest if self.max_size is None else max(self.max_size, largest)
        self.records += len(sizes)
        self.payload_bytes += int(sizes.sum())
        self.kinds.add(batch)

    @property
    def kind(self) -> str:
        names = self.kinds.names
        if names:
            return ", ".join(names)
        return "empty file" if self.stored_bytes == 0 else "no records"

    @property
    def mean_size(self) -> float | None:
        return self.payload_bytes / self.records if self.records else None

    @property
    def status(self) -> int:
        return 0 if self.problem is None else self.problem.status


def tallies(files: list[CoreFile], args: argparse.Namespace, console: Console) -> Iterator[Tally]:
    with console.progress(total_bytes(files)) as progress:
        advance = progress.advance if progress.visible else None

        def tally(file: CoreFile, num_threads: int, checkpoint: Callable[[], None]) -> Tally:
            result = Tally(os.fsdecode(file[0]))
            try:
                source = open_input(file, args.compression, advance)
                result.compression, result.stored_bytes = source.compression, source.stored_bytes
                for batch in batches(source, num_threads, advance):
                    checkpoint()
                    result.add(batch)
            except FAULTS as error:
                result.problem = problem_of(error)
            return result

        yield from for_each_file(files, tally)
