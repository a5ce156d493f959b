"""Options of the data source, `option(…)`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import InvalidArgumentError
from ...examples.infer import DEFAULT_MAX_RECORDS
from ...files.naming.compression import CODECS
from ...files.naming.numbers import at_least
from .schemas import RECORD_TYPES

_HADOOP = {  # names of Hadoop's codecs, also taken by spark-tensorflow-connector
    "org.apache.hadoop.io.compress.gzipcodec": "GZIP",
    "org.apache.hadoop.io.compress.defaultcodec": "ZLIB",
    "org.apache.hadoop.io.compress.deflatecodec": "ZLIB",
    "org.apache.hadoop.io.compress.zstandardcodec": "ZSTD",
    "org.apache.hadoop.io.compress.snappycodec": "SNAPPY",
    "deflate": "ZLIB",
    "zstandard": "ZSTD",
    "uncompressed": "",
    "none": "",
}
_STORAGE = "storage."


@dataclass(frozen=True)
class SparkOptions:
    """The checked options.

    Attributes:
      paths: the files to read, or the folder to write.
      record_type: "Example", "SequenceExample" or "ByteArray".
      compression: that of written files. None: detected from the content of files that are read.
      partition_by: columns whose values become names of folders.
      infer_records, split_bytes: as for read_table and plan_splits; split_bytes None: chosen by the size of the data.
      reader: options of ShardReader.
      storage: options of the stores of URLs.
    """

    paths: list[str]
    record_type: str = "Example"
    compression: str | None = None
    partition_by: tuple[str, ...] = ()
    infer_records: int | None = DEFAULT_MAX_RECORDS
    split_bytes: int | None = None
    reader: dict[str, Any] = field(default_factory=dict)
    storage: dict[str, Any] | None = None


def options_of(arguments: Mapping[str, str]) -> SparkOptions:
    """Check options. Raises errors.InvalidArgumentError: an option is unknown, or has an invalid value."""
    values = {name.lower(): value for name, value in arguments.items()}
    path = values.pop("path", None)
    path_list = values.pop("paths", None)
    if path is None and path_list is None:
        raise InvalidArgumentError("a path is missing: pass it to load(…) or save(…)")
    paths = [path] if path_list is None else _paths(path_list)
    if not paths:
        raise InvalidArgumentError("the list of paths is empty")
    storage = {name[len(_STORAGE) :]: values.pop(name) for name in list(values) if name.startswith(_STORAGE)}
    options: dict[str, Any] = {"paths": paths, "storage": storage or None}
    reader_options: dict[str, Any] = {}
    for name, value in values.items():
        if name not in _OPTIONS:
            known = ", ".join(["path", *sorted(_OPTIONS), "storage.*"])
            raise InvalidArgumentError(f"unknown option {name!r}; the options are {known}")
        target, key, convert = _OPTIONS[name]
        try:
            (options if target == "own" else reader_options)[key] = convert(value)
        except ValueError as error:
            raise InvalidArgumentError(f"option {name!r}: {error}") from None
    return SparkOptions(**options, reader=reader_options)


def _list(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _paths(text: str) -> list[str]:
    """Return the paths of `load([…])`, which Spark encodes as JSON, or of a text with commas."""
    try:
        paths = json.loads(text)
    except ValueError:
        paths = None
    return paths if isinstance(paths, list) and all(isinstance(path, str) for path in paths) else _list(text)


def _record_type(text: str) -> str:
    match = next((name for name in RECORD_TYPES if name.lower() == text.lower()), None)
    if match is None:
        raise ValueError(f"expected one of {', '.join(RECORD_TYPES)}, got {text!r}")
    return match


def _codec(text: str) -> str:
    codec = _HADOOP.get(text.lower(), text.upper())
    if codec and codec not in CODECS:
        raise ValueError(f"expected one of {', '.join(CODECS)}, or Hadoop's name for it, got {text!r}")
    return codec


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"expected true or false, got {text!r}")
    return text.lower() == "true"


def _records(text: str) -> int | None:
    return None if text.lower() in ("all", "none") else int(text)


_OPTIONS: dict[str, tuple[str, str, Callable[[str], Any]]] = {
    "recordtype": ("own", "record_type", _record_type),
    "codec": ("own", "compression", _codec),
    "compression": ("own", "compression", _codec),
    "partitionby": ("own", "partition_by", lambda text: tuple(_list(text))),
    "inferrecords": ("own", "infer_records", _records),
    "splitbytes": ("own", "split_bytes", lambda text: at_least(1, "splitBytes", int(text))),
    "verifycrc": ("reader", "verify_crc", _truth),
    "oncorrupt": ("reader", "on_corrupt", str),
    "maxrecordbytes": ("reader", "max_record_bytes", int),
    "maxrequests": ("reader", "max_requests", int),
}
