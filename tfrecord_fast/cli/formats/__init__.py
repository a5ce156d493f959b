"""What `convert` reads and writes: one module per format. A source gives batches of records (Examples, except from
TFRecord) to a sink.

Arrow (pyarrow, the extra `arrow`) reads CSV and Parquet, and writes Parquet.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...files.naming.compression import CODECS, TFRecordOptions
from ...files.naming.formats import foreign_kind, head_of
from ...files.streams.core_files import CoreFile
from ...files.streams.listing import extension_of, is_tfrecord_extension
from .base import STANDARD_OUTPUT, Malformed, RowSink, Source, Unsuitable, refuse
from .casts import CASTS, read_schema
from .csv_files import TYPES, CsvSink, CsvSource
from .json_lines import JsonSink, JsonSource
from .orc import OrcSink, OrcSource
from .parquet import ArrowFileSink, ArrowFileSource, ArrowSink, ArrowSource, ParquetSink, ParquetSource
from .tfrecord import TFRecordSink, TFRecordSource

__all__ = [
    "CASTS",
    "COMPRESSIONS",
    "COMPRESSION_OF",
    "STANDARD_OUTPUT",
    "TYPES",
    "ArrowSink",
    "ArrowSource",
    "CsvSource",
    "JsonSink",
    "Malformed",
    "RowSink",
    "Source",
    "TFRecordSink",
    "TFRecordSource",
    "Unsuitable",
    "format_of",
    "make_sink",
    "make_source",
    "read_schema",
    "refuse",
    "target_format_of",
]

COMPRESSIONS = tuple(name.lower() for name in CODECS)
COMPRESSION_OF = {codec.extension: name for name, codec in CODECS.items() if codec.extension}

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
}
_ROW_SINKS = {"jsonl": JsonSink, "csv": CsvSink, "parquet": ParquetSink, "arrow": ArrowFileSink, "orc": OrcSink}


def format_of(file: CoreFile) -> str:
    """The format of an input, by its extension; if that says nothing, by its first bytes, else TFRecord."""
    name = os.fsdecode(file.name)
    extension = extension_of(name)
    if extension in _EXTENSIONS or is_tfrecord_extension(extension) or not file.is_local:
        return _EXTENSIONS.get(extension, "tfrecord")
    return _FOREIGN.get(foreign_kind(*head_of(name)) or "", "tfrecord")


def target_format_of(path: str) -> str:
    """The format of an output, by its extension.

    Raises:
      Unsuitable: an extension that says nothing, or none; it lists those that are known.
    """
    extension = extension_of(path)
    if is_tfrecord_extension(extension):
        return "tfrecord"
    if extension not in _EXTENSIONS:
        why = f"the extension {extension} is that of no format" if extension else "no extension says the format"
        known = " ".join([".tfrecord", ".tfrec", ".tfr", ".record", *_EXTENSIONS])
        raise Unsuitable(f"{path}: {why}: known are {known}; or give --to")
    return _EXTENSIONS[extension]


def make_source(kind: str, files: list[CoreFile], num_threads: int | None) -> Source:
    """The records of files of one format."""
    made: Source = _SOURCES[kind](files)
    made.num_threads = num_threads
    return made


def make_sink(
    kind: str,
    path: str,
    compression: str,
    level: int | None,
    shards: int,
    num_threads: int | None,
    storage_options: Mapping[str, Any] | None = None,
) -> TFRecordSink | RowSink:
    """A file, or shards, to be written; TFRecord also to a URL, whose store the options are for."""
    if kind == "tfrecord":
        options = TFRecordOptions(compression, compression_level=level)
        return TFRecordSink(path, options, shards, num_threads, storage_options)
    if shards > 1:
        raise Unsuitable(f"--shards is for TFRecord files, and {path} will be {kind}")
    return _ROW_SINKS[kind](path, compression, level)
