"""Several TFRecord files, written in parallel or in turn, that get their names together once all are complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ... import _core
from ...base.threads import thread_count
from ..naming.compression import TFRecordOptions
from ..naming.location import location_of
from ..system.drafts import targets_of
from ..writing.example_writer import shard_paths
from ..writing.output_files import OutputFile, WrittenFile, open_outputs, open_unnamed, publish_all


class MultiFileWriter:
    """Writes files by number. A context manager: at its end they get their names, or are removed after an exception.

    Local files are written under hidden names. If the process is killed, the next writer of the same files removes
    them. Objects are completed at the end, and keep some MiB each in memory until then.
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
        self._shards: list[OutputFile] = []
        self._is_finished = False

    def open(self, paths: Sequence[str]) -> None:
        """Open these files, which get the next numbers."""
        open_outputs(self._shards, paths, self._options, self._threads, True, self._storage_options)

    def open_next(self, pattern: str) -> None:
        """Open the next local file. `name_all` sets the names once the number of files is known."""
        if location_of(pattern).is_url:
            raise ValueError(f"{location_of(pattern).name}: the number of objects must be known in advance")
        if not self._shards:
            (self._beside,) = targets_of(shard_paths(pattern, 2)[:1])
        open_unnamed(self._shards, self._beside, self._options, self._threads)

    def name_all(self, pattern: str) -> None:
        """Set the final names of the files of `open_next`, by a pattern as for `shard_paths`."""
        targets = targets_of(shard_paths(pattern, len(self._shards)))
        for shard, target in zip(self._shards, targets, strict=True):
            shard.rename(target)

    def __len__(self) -> int:
        return len(self._shards)

    def write(self, number: int, records: _core.RecordBatch) -> None:
        self._shards[number].write(records)

    def complete(self, number: int) -> None:
        self._shards[number].complete(sync=False)
        self._shards[number].release()

    def close(self) -> list[WrittenFile]:
        try:
            for shard in self._shards:
                shard.complete(sync=False)
            written = publish_all(self._shards) if self._shards else []
        except BaseException:
            self.abort()
            raise
        self._is_finished = True
        return written

    def abort(self) -> None:
        if not self._is_finished:
            self._is_finished = True
            for shard in self._shards:
                shard.discard()

    def __enter__(self) -> MultiFileWriter:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *error: object) -> None:
        if error_type is not None:
            self.abort()
        elif not self._is_finished:
            self.close()
