"""The formats that `convert` reads and writes: one module each, with a source and a sink of batches of records.

Records are Examples, except from TFRecord. CSV and Parquet need pyarrow (the extra `arrow`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...files.naming.compression import TFRecordOptions
from ...files.naming.folders import extension_of, is_tfrecord_extension
from ...files.naming.foreign_formats import foreign_format, head_of
from ...files.streams.core_files import CoreFile
from .base import RowSink, Source, Unsuitable
from .csv_files import CsvSink, CsvSource
from .images import EXTENSIONS as IMAGE_EXTENSIONS
from .images import ImageSource
from .json_lines import JsonSink
from .json_rows import JsonSource
from .orc import OrcSink, OrcSource
from .parquet import ArrowFileSink, ArrowFileSource, ParquetSink, ParquetSource
from .tfrecord import TFRecordSink, TFRecordSource

_EXTENSIONS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".orc": "orc",
}
_FOREIGN = {
    "a Parquet file": "parquet",
    "an Arrow IPC file": "arrow",
    "an Arrow IPC stream": "arrow",
    "an ORC file": "orc",
}
_SOURCES = {
    "tfrecord": TFRecordSource,
    "jsonl": JsonSource,
    "csv": CsvSource,
    "parquet": ParquetSource,
    "arrow": ArrowFileSource,
    "orc": OrcSource,
    "images": ImageSource,
}
_ROW_SINKS = {"jsonl": JsonSink, "csv": CsvSink, "parquet": ParquetSink, "arrow": ArrowFileSink, "orc": OrcSink}


def format_of(file: CoreFile) -> str:
    """Detect the format of an input: by its extension, else by its first bytes, else TFRecord."""
    name = os.fsdecode(file.name)
    extension = extension_of(name)
    if extension in IMAGE_EXTENSIONS:
        return "images"
    if extension in _EXTENSIONS or is_tfrecord_extension(extension) or not file.is_local:
        return _EXTENSIONS.get(extension, "tfrecord")
    return _FOREIGN.get(foreign_format(*head_of(name)) or "", "tfrecord")


def target_format_of(path: str) -> str:
    extension = extension_of(path)
    if is_tfrecord_extension(extension):
        return "tfrecord"
    if extension not in _EXTENSIONS:
        why = f"unknown extension {extension}" if extension else "cannot tell the format without an extension"
        why += ", did you mean .gz?" if extension == ".gzip" else ""
        known = " ".join([".tfrecord", ".tfrec", ".tfr", ".record", *_EXTENSIONS])
        raise Unsuitable(f"{path}: {why}; use one of {known}, or pass --to")
    return _EXTENSIONS[extension]


def make_source(format: str, files: list[CoreFile], num_threads: int | None) -> Source:
    source: Source = _SOURCES[format](files)
    source.num_threads = num_threads
    return source


def make_sink(
    format: str,
    path: str,
    compression: str,
    level: int | None,
    shards: int,
    num_threads: int | None,
    storage_options: Mapping[str, Any] | None = None,
) -> TFRecordSink | RowSink:
    """Create a sink to a file or shards; only TFRecord can be written to a URL."""
    if format == "tfrecord":
        options = TFRecordOptions(compression, compression_level=level)
        return TFRecordSink(path, options, shards, num_threads, storage_options)
    if shards > 1:
        raise Unsuitable(f"--shards requires a TFRecord output, but {path} will be {format}")
    return _ROW_SINKS[format](path, compression, level)
