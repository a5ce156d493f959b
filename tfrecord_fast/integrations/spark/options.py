"""What `option(…)` says to the data source."""

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

__all__ = ["SparkOptions", "options_of"]

_HADOOP = {  # names of Hadoop's codecs, as spark-tensorflow-connector takes them
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
    """What `option(…)` has said, checked.

    Attributes:
      paths: what is read, or the folder that is written.
      record_type: "Example", "SequenceExample" or "ByteArray".
      compression: of what is written; None where it is detected.
      partition_by: columns whose values become names of folders.
      infer_records, split_bytes: as for read_table and plan_splits; split_bytes None: by how much there is.
      reader: options of ShardReader.
      storage: of the stores of URLs.
    """

    paths: list[str]
    record_type: str = "Example"
    compression: str | None = None
    partition_by: tuple[str, ...] = ()
    infer_records: int | None = DEFAULT_MAX_RECORDS
    split_bytes: int | None = None
    reader: dict[str, Any] = field(default_factory=dict)
    storage: dict[str, Any] | None = None


def options_of(given: Mapping[str, str]) -> SparkOptions:
    """Raises errors.InvalidArgumentError: an option that there is not, or a value that it can't have."""
    said = {name.lower(): value for name, value in given.items()}
    path = said.pop("path", None)
    several = said.pop("paths", None)
    if path is None and several is None:
        raise InvalidArgumentError("there is no path")
    paths = [path] if several is None else _paths(several)
    if not paths:
        raise InvalidArgumentError("the list of paths is empty")
    storage = {name[len(_STORAGE) :]: said.pop(name) for name in list(said) if name.startswith(_STORAGE)}
    known: dict[str, Any] = {"paths": paths, "storage": storage or None}
    reader: dict[str, Any] = {}
    for name, value in said.items():
        place, key, convert = _OPTIONS.get(name, (None, "", str))
        if place is None:
            raise InvalidArgumentError(f"no option {name!r}; there are path, {', '.join(sorted(_OPTIONS))}, storage.*")
        try:
            (known if place == "own" else reader)[key] = convert(value)
        except ValueError as error:
            raise InvalidArgumentError(f"option {name!r}: {error}") from None
    return SparkOptions(**known, reader=reader)


def _list(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


def _paths(text: str) -> list[str]:
    """Those of `load([…])`, which Spark puts into JSON, or of a text with commas."""
    try:
        several = json.loads(text)
    except ValueError:
        several = None
    return several if isinstance(several, list) and all(isinstance(one, str) for one in several) else _list(text)


def _record_type(text: str) -> str:
    found = next((kind for kind in RECORD_TYPES if kind.lower() == text.lower()), None)
    if found is None:
        raise ValueError(f"one of {', '.join(RECORD_TYPES)}, got {text!r}")
    return found


def _codec(text: str) -> str:
    found = _HADOOP.get(text.lower(), text.upper())
    if found and found not in CODECS:
        raise ValueError(f"one of {', '.join(CODECS)}, or of Hadoop's names for them, got {text!r}")
    return found


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"true or false, got {text!r}")
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
