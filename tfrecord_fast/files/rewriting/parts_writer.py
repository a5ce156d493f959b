"""Several TFRecord files that get their names together, when all are complete: side by side, or one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from ... import _core
from ...base.threads import thread_count
from ..naming.compression import TFRecordOptions
from ..naming.location import location_of
from ..system.temporary import targets_of
from ..writing.example_writer import WrittenFile, shard_paths
from ..writing.output_files import Shard, open_shards, open_unnamed, publish_all

__all__ = ["PartsWriter"]


class PartsWriter:
    """Writes files by number; a context manager, at whose end they get their names, or are removed by an exception.

    Local files are written under hidden names; what a killed process leaves of them is removed by the next writer of
    the same files. Objects are put together at the end, and each keeps up to some MiB in memory until then.

    Args:
      options: as for TFRecordWriter.
      num_threads: how many compress; None for as many as the process may use.
      storage_options: of a URL's store.

    Raises:
      OSError, errors.InvalidArgumentError: by any method, as ExampleWriter does.
    """

    def __init__(
        self,
        options: str | TFRecordOptions | None = None,
        *,
        num_threads: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        self._options = options
        self._threads = thread_count(num_threads)
        self._storage_options = storage_options
        self._shards: list[Shard] = []
        self._is_over = False

    def open(self, paths: Sequence[str]) -> None:
        """Opens these files, which get the next numbers."""
        open_shards(self._shards, paths, self._options, self._threads, True, self._storage_options)

    def open_next(self, pattern: str) -> None:
        """Opens the next of local files whose names are known when there are no more: see `name_all`.

        Raises:
          ValueError: a pattern that does not name each shard, or a URL.
        """
        if location_of(pattern).is_url:
            raise ValueError(f"{location_of(pattern).name}: the number of objects has to be known before the first")
        if not self._shards:
            (self._beside,) = targets_of(shard_paths(pattern, 2)[:1])
        open_unnamed(self._shards, self._beside, self._options, self._threads)

    def name_all(self, pattern: str) -> None:
        """Says the names of the files of `open_next`, by a pattern as of `shard_paths`; they get them at the end."""
        targets = targets_of(shard_paths(pattern, len(self._shards)))
        for shard, target in zip(self._shards, targets, strict=True):
            shard.rename(target)

    def __len__(self) -> int:
        return len(self._shards)

    def write(self, number: int, records: _core.RecordBatch) -> None:
        """Appends records to a file."""
        self._shards[number].write(records)

    def complete(self, number: int) -> None:
        """Nothing more comes for this file."""
        self._shards[number].complete(sync=False)
        self._shards[number].release()

    def close(self) -> list[WrittenFile]:
        """Completes all files and gives them their names."""
        try:
            for shard in self._shards:
                shard.complete(sync=False)
            written = publish_all(self._shards) if self._shards else []
        except BaseException:
            self.abort()
            raise
        self._is_over = True
        return written

    def abort(self) -> None:
        """Removes what was written."""
        if not self._is_over:
            self._is_over = True
            for shard in self._shards:
                shard.discard()

    def __enter__(self) -> PartsWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self.abort()
        elif not self._is_over:
            self.close()
