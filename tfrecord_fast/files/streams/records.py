"""The records of files in order, through the native reader, with settings for one reader among others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, compress, repeat
from typing import Any

from ... import _core
from ...base.threads import default_threads
from ..stores import StoreSettings
from .core_files import DEFAULT_SETTINGS, File, has_urls, stream_files
from .fetching import PREFETCH_BYTES as REMOTE_BYTES
from .fetching import open_stream

__all__ = ["after", "record_stream"]

_PREFETCH_BYTES = 8 << 20
_MAX_THREADS = 8


def record_stream(
    files: list[File],
    *,
    compression_type: str | None = None,
    buffer_bytes: int = 0,
    settings: StoreSettings = DEFAULT_SETTINGS,
    read_ahead: int = REMOTE_BYTES,
    **options: Any,
) -> _core.RecordStream:
    """A stream over the records of files.

    Args:
      files: as `flatten` gives them.
      compression_type: None detects, file by file.
      buffer_bytes: how much may be read ahead, if that is more than 8 MiB; of URLs, `read_ahead`.
      settings: of the stores that URLs lead to.
      options: the other options of RecordStream.

    Raises:
      FileNotFoundError: a pattern matches nothing.
    """
    least = read_ahead if has_urls(files) else _PREFETCH_BYTES
    return open_stream(
        stream_files(files, settings),
        settings,
        compression_type=compression_type,
        num_threads=max(1, min(default_threads(), _MAX_THREADS) - 1),
        prefetch_bytes=max(least, buffer_bytes),
        **options,
    )


def after(records: Iterator[bytes], count: int) -> Iterator[bytes]:
    """Without the first `count`, which are passed over when the first one is asked for."""
    # What is wanted is asked for after each record has come, so an error passes over nothing.
    return compress(records, chain(repeat(False, count), repeat(True))) if count else records
