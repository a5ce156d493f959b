"""The records of files in order, with defaults for one of several readers."""

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
    """Open a stream over the records of files.

    Args:
      files: as `flatten` returns them.
      compression_type: None detects the type of each file.
      buffer_bytes, read_ahead: at least this many bytes may be read ahead; `read_ahead` with URLs only, else 8 MiB.
      settings: of the stores of URLs.
      options: other arguments of RecordStream.
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
    """Skip the first `count` records when the first one is requested; an error skips none."""
    return compress(records, chain(repeat(False, count), repeat(True))) if count else records
