"""The job of a contender, and helpers that several contenders share."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data.answers import frames
from benchmarks.data.dataset import Dataset


class CannotError(Exception):
    """Raised by a task's function for data that the contender does not support; the message explains why."""


@dataclass(frozen=True)
class Job:
    """The data and settings of a job.

    Args:
      given: the data; None for tasks that have none.
      scratch: a folder of its own, for what it writes.
    """

    task: str
    given: Dataset | None
    scratch: Path

    @property
    def dataset(self) -> Dataset:
        """The data. Raises CannotError where the task has none."""
        if self.given is None:
            raise CannotError(f"{self.task} has no data")
        return self.given

    def loaded(self) -> list[list[bytes]]:
        """The records of each file, in memory, for tasks that write."""
        return [list(frames(path, check=False)) for path in self.dataset.files]

    def batches(self) -> list[list[bytes]]:
        """The records in memory, in batches of the size that `dataset` names, none across the end of a file."""
        n = self.dataset.batch
        return [records[i : i + n] for records in self.loaded() for i in range(0, len(records), n)]

    def outputs(self, suffix: str = "") -> list[str]:
        """Where to write what `loaded` returned, one path per file."""
        names = [Path(path).name + suffix for path in self.dataset.files]
        return [str(self.scratch / f"{i:05}-{name}") for i, name in enumerate(names)]

    def sources(self, *known: str) -> tuple[list[str], str]:
        """The files as the user has them, and their compression type, "" for none. Raises CannotError for one that is
        not among those known."""
        return self.packed(*known) if self.dataset.only_packed else (self.dataset.files, "")

    def packed(self, *known: str) -> tuple[list[str], str]:
        """The compressed files and their compression type. Raises CannotError for one that is not among those known."""
        kind = self.dataset.compression
        if kind not in known:
            raise CannotError(f"no {kind}")
        return self.dataset.gzip_files, kind

    def needs_features(self) -> None:
        """Raises CannotError where there is nothing to parse."""
        if not self.dataset.features and not self.dataset.sequences:
            raise CannotError("hands out parsed Examples, not records")


def index_of(path: str, folder: Path) -> str:
    """Writes the index of a TFRecord file into the folder, as `tfrecord2idx` does: a line "offset size" per record.
    Returns its path."""
    target = folder / f"{Path(path).name}-{zlib.crc32(path.encode()):08x}.idx"
    offset = 0
    with open(target, "w") as file:
        for record in frames(path, check=False):
            size = len(record) + 16
            file.write(f"{offset} {size}\n")
            offset += size
    return str(target)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shards_of(files: Sequence[str]) -> str:
    return f"{len(files):,} shard{'s' * (len(files) > 1)}"
