"""What `convert` reads and writes: one module per format. A source gives batches of records (Examples, except from
TFRecord) to a sink.

Arrow (pyarrow, the extra `arrow`) reads CSV and Parquet, and writes Parquet.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from ...files.names import CODECS, CoreFile
from ...files.options import TFRecordOptions
from .base import Malformed, RowSink, Source, Unsuitable, refuse
from .csv_files import CsvSink, CsvSource
from .json_lines import JsonSink, JsonSource
from .parquet import ParquetSink, ParquetSource
from .tfrecord import TFRecordSink, TFRecordSource

__all__ = [
    "COMPRESSIONS",
    "COMPRESSION_OF",
    "Malformed",
    "RowSink",
    "Source",
    "TFRecordSink",
    "Unsuitable",
    "format_of",
    "make_sink",
    "make_source",
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
}
_TFRECORD = re.compile(r"(\.(tfrecords?|tfrec|tfr|tf|records?|rec|recordio)(-.*)?)?", re.IGNORECASE)
_SOURCES = {"tfrecord": TFRecordSource, "jsonl": JsonSource, "csv": CsvSource, "parquet": ParquetSource}
_ROW_SINKS = {"jsonl": JsonSink, "csv": CsvSink, "parquet": ParquetSink}


def _extension_of(path: str) -> str:
    """In lower case, not counting that of the compression."""
    stem, extension = os.path.splitext(path)
    if extension.lower() in COMPRESSION_OF:
        extension = os.path.splitext(stem)[1]
    return extension.lower()


def format_of(path: str) -> str:
    """The format of an input, by its extension; TFRecord unless that says otherwise."""
    return _EXTENSIONS.get(_extension_of(path), "tfrecord")


def target_format_of(path: str) -> str:
    """The format of an output, by its extension; TFRecord if it has none.

    Raises:
      Unsuitable: an extension that says nothing.
    """
    extension = _extension_of(path)
    if extension not in _EXTENSIONS and not _TFRECORD.fullmatch(extension):
        raise Unsuitable(f"{path}: the extension {extension} is that of no format: give --to")
    return format_of(path)


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
