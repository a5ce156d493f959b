"""TensorFlow 1's iterator over the records of a file."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from ...base.handlers import raised_by_handler
from ...errors import DataLossError
from ...typing import Files, PathLike
from ..naming.compression import TFRecordOptions, check_compression_type
from ..naming.numbers import max_record_size
from ..stores import StoreSettings
from ..stores.cache import store_settings
from ..system.file_system import GFile
from .core_files import File, flatten
from .records import after, record_stream

_BLOCK_BYTES = 1 << 20


class _RecordIterator:
    """An iterator that, at the end of a growing file, can continue with its new records."""

    def __init__(
        self,
        files: list[File],
        compression_type: str | None,
        max_record_bytes: int | None,
        settings: StoreSettings,
        allow_open: bool,
    ) -> None:
        self._allow_open = allow_open
        self._settings = settings
        self._files: list[File] | None = files
        self._compression_type = compression_type
        self._max_record_bytes = max_record_bytes
        self._records: Iterator[bytes] | None = None
        self._yielded = 0
        self._lock = threading.RLock()  # reentrant: if a file object calls `next`, the core raises an error

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        with self._lock:
            try:
                for record in self._records or self._opened():
                    self._yielded += 1
                    return record
            except BaseException as error:
                self._records = None
                if raised_by_handler(error):
                    self.close()
                if self._allow_open and isinstance(error, DataLossError) and _is_flushed(error):
                    raise StopIteration from None
                raise
            self._records = None
            raise StopIteration

    def _opened(self) -> Iterator[bytes]:
        """Open the file after the last yielded record; return an empty iterator once this is closed."""
        if self._files is None:
            return iter(())
        stream = record_stream(
            self._files,
            compression_type=self._compression_type,
            settings=self._settings,
            max_record_bytes=self._max_record_bytes,
        )
        self._records = after(stream.records(), self._yielded)
        return self._records

    def close(self) -> None:
        self._files = self._records = None

    def reopen(self) -> None:
        """Open the file again at the next `next()`, after the last yielded record."""
        self._records = None


def _is_flushed(error: DataLossError) -> bool:
    """Return True if a truncated ZLIB stream was flushed after a whole record."""
    if error.path is None or "ZLIB: the compressed stream is truncated" not in error.reason:
        return False
    stream, count = zlib.decompressobj(), 0
    with GFile(error.path, "rb") as file:
        while block := file.read(_BLOCK_BYTES):
            count += len(stream.decompress(block, _BLOCK_BYTES))
            while stream.unconsumed_tail:
                count += len(stream.decompress(stream.unconsumed_tail, _BLOCK_BYTES))
    return not stream.eof and count == error.offset


def tf_record_iterator(
    path: Files,
    options: str | TFRecordOptions | None = None,
    *,
    allow_open: bool = False,
    max_record_bytes: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    max_requests: int = 16,
    cache_dir: PathLike | None = None,
) -> _RecordIterator:
    """Iterate over the records of one file, as bytes.

    Args:
      path: as for TFRecordDataset.
      options: compression type or TFRecordOptions; None detects.
      allow_open: a ZLIB stream that was flushed but not closed, as by an active writer, ends after its last whole
        record, as in TensorFlow; otherwise this is an error.
      max_record_bytes: a header with a larger size is damage; None: the format's limit, 2**62 bytes.
      storage_options, max_requests, cache_dir: for URLs, as in ShardReader.

    Returns:
      An iterator with `close()` and `reopen()`. After the end, or after the error of a truncated file, `next()`
      continues after the last yielded record, as in TensorFlow, and yields appended records.

    Raises:
      FileNotFoundError, errors.DataLossError: as for TFRecordDataset, at the missing or damaged record.
    """
    compression = None if options is None else TFRecordOptions.get_compression_type_string(options)
    settings = store_settings(storage_options, max_requests, cache_dir)
    most = max_record_size(max_record_bytes)
    return _RecordIterator(flatten(path), check_compression_type(compression), most, settings, allow_open)
