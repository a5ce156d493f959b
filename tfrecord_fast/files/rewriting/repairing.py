"""The intact records of a damaged file, and what was lost between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ... import _core
from ...errors import DataLossError
from ..naming.formats import foreign_format, foreign_reason
from ..stores import StoreSettings
from ..streams.core_files import DEFAULT_SETTINGS, CoreFile
from ..streams.fetching import open_stream

__all__ = ["IntactRecords"]


class IntactRecords:
    """The records of a file that are intact, in order, without an error for what is not.

    Args:
      file: to be read.
      compression_type: as for ShardReader.
      head: gives the file's first bytes, and how many it has, if that is known; called only if it begins with damage.
      num_threads: besides the one that iterates.

    `lost` has what was passed over so far: stretches with `offset`, `bytes` (None if not known) and `reason`. In a
    compressed file, offsets count the bytes of its records, not those on disk. `records` counts what was given.

    Iterating raises:
      OSError: the file can't be read.
      errors.DataLossError: it is damaged from its first byte on, and is a file of another kind.
    """

    def __init__(
        self,
        file: CoreFile,
        compression_type: str | None,
        head: Callable[[], tuple[bytes, int | None]],
        *,
        num_threads: int = 0,
        settings: StoreSettings = DEFAULT_SETTINGS,
    ) -> None:
        self._file = file
        self._head = head
        self._stream = open_stream(
            [file], settings, compression_type=compression_type, num_threads=num_threads, on_corrupt="skip"
        )
        self.lost: list[Any] = []
        self.records = 0

    def __iter__(self) -> Iterator[_core.RecordBatch]:
        for batch in self._stream.batches():
            self._take_lost()
            self.records += len(batch)
            yield batch
        self._take_lost()

    def _take_lost(self) -> None:
        is_first = not self.lost and not self.records
        self.lost += self._stream.take_skipped()
        if is_first and self.lost and self.lost[0].offset == 0:
            guess = foreign_format(*self._head())
            if guess is not None:
                raise DataLossError(self.lost[0].path, None, None, foreign_reason(guess))
