"""The intact records of a damaged file, and the damaged stretches between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ... import _core
from ...errors import DataLossError
from ..naming.foreign_formats import foreign_format, foreign_reason
from ..stores import StoreSettings
from ..streams.core_files import DEFAULT_SETTINGS, CoreFile
from ..streams.fetching import open_stream


class IntactRecords:
    """The intact records of a file, in order, without errors for damage.

    Args:
      compression_type: as for ShardReader.
      head: returns the file's first bytes, and its size if known; called only if the file begins with damage.
      num_threads: number of threads besides the iterating thread.

    Attributes:
      lost: the stretches skipped so far, with `offset`, `bytes` (None if unknown) and `reason`. In a compressed file,
        offsets count uncompressed bytes.
      records: the number of records yielded.
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
