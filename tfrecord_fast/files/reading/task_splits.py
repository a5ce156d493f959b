"""Files divided into byte ranges of about the same size, for tasks in other processes or on other machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...base.record_format import DETECTION_BYTES
from ...base.threads import default_threads
from ...typing import Files
from ..naming.compression import CODECS, check_compression_type
from ..naming.file_part import FilePart
from ..naming.location import location_of
from ..naming.numbers import at_least, max_record_size
from ..stores import StoreSettings, read_head
from ..stores.objects import stored_objects
from ..streams.core_files import local_path
from ..streams.index_cache import IndexCache
from ..streams.listing import listed_parts
from ..streams.random_access import open_random

SPLIT_BYTES = 128 << 20
PLAN_OPTIONS = frozenset({"compression", "max_record_bytes", "on_corrupt"})  # of a reader
_RATIO = 4  # assumed ratio of a compressed file's records to its bytes
_EXTENSIONS = tuple(codec.extension for codec in CODECS.values() if codec.extension)


@dataclass(frozen=True)
class Split:
    """The byte ranges that one task reads.

    Attributes:
      parts: byte ranges in the order of the files. ShardReader takes them as its files.
      bytes: approximate uncompressed size of the records.
      records: the number of records, or None if unknown.
    """

    parts: tuple[FilePart, ...]
    bytes: int
    records: int | None

    def __str__(self) -> str:
        return ", ".join(map(str, self.parts[:3])) + (" …" if len(self.parts) > 3 else "")


def plan_splits(
    files: Files,
    *,
    split_bytes: int = SPLIT_BYTES,
    compression: str | None = None,
    max_record_bytes: int | None = None,
    on_corrupt: str = "raise",
    settings: StoreSettings | None = None,
) -> list[Split]:
    """Divide files among tasks.

    A file larger than `split_bytes` is divided at records, whose headers are read (for an object, they are fetched).
    A compressed file is divided if its index is in the user's cache folder, where `RecordIndex.build` and IndexedReader
    keep it. Smaller files are combined.

    Args:
      files: paths, URLs, patterns, folders, or lists of them.
      split_bytes: approximate number of bytes per task.
      compression: as for ShardReader; None detects, file by file.
      max_record_bytes: a header that claims more is damage.
      on_corrupt: as for ShardReader. Unless it is "raise", no file is divided: damage may change its records.
      settings: settings of the stores of URLs.

    Returns the splits, in the order of files and records. Every record is in exactly one split.
    """
    split_bytes = at_least(1, "split_bytes", split_bytes)
    compression_type = check_compression_type(compression)
    stores = settings or StoreSettings()
    limit = max_record_size(max_record_bytes)
    ranges: Iterator[FilePart] = iter(listed_parts(files, stores))
    if on_corrupt == "raise":
        ranges = _divided(ranges, split_bytes, compression_type, limit, stores)
    return list(_grouped(ranges, split_bytes, compression_type))


def _divided(
    files: Iterator[FilePart],
    split_bytes: int,
    compression_type: str | None,
    max_record_bytes: int | None,
    settings: StoreSettings,
) -> Iterator[FilePart]:
    for file in files:
        is_small = file.end is not None or file.bytes * _ratio(file, compression_type) <= split_bytes + split_bytes // 2
        if is_small:
            yield file
        elif compression_type or (compression_type is None and _detect_compression(file, settings)):
            yield from _cut_compressed(file, split_bytes)
        else:
            yield from _cut(file, split_bytes, max_record_bytes, settings)


def _detect_compression(file: FilePart, settings: StoreSettings) -> str:
    if location_of(file.file).is_url:
        (match,) = stored_objects(file.file, settings)
        head, _ = read_head(match.store, match.key, DETECTION_BYTES, settings)
        return _core.detect_compression(bytes(head))
    with open(file.file, "rb") as opened:
        return _core.detect_compression(opened.read(DETECTION_BYTES))


def _cut(file: FilePart, split_bytes: int, max_record_bytes: int | None, settings: StoreSettings) -> list[FilePart]:
    offsets = _file_index(file, max_record_bytes, settings).offsets()
    return [file.cut(*bounds) for bounds in _bounds(offsets, file.bytes, split_bytes)] or [file]


def _cut_compressed(file: FilePart, split_bytes: int) -> list[FilePart]:
    if location_of(file.file).is_url:
        return [file]
    index, _ = IndexCache().load(file.file)
    if index is None or index.checkpoints() < 2:
        return [file]
    bounds = _bounds(index.offsets(), index.end(), split_bytes)
    return [file.cut(*part, index.checkpoint_before(part[0])) for part in bounds] or [file]


def _bounds(offsets: NDArray[np.int64], size: int, split_bytes: int) -> list[tuple[int, int, int, int]]:
    """Divide `size` bytes at records: the begin, the end, the first record and the number of records of each part."""
    if len(offsets) == 0:
        return []
    count = max(round(size / split_bytes), 1)
    targets = np.arange(1, count, dtype=np.int64) * (size // count)
    first = np.unique(np.concatenate(([0], np.searchsorted(offsets, targets))))
    first = first[first < len(offsets)].tolist()
    ends = [*first[1:], len(offsets)]
    bounds = [*offsets[first].tolist(), size]
    parts = zip(bounds[:-1], bounds[1:], first, ends, strict=True)
    return [(begin, end, number, last - number) for begin, end, number, last in parts]


def _file_index(file: FilePart, max_record_bytes: int | None, settings: StoreSettings) -> _core.RecordIndex:
    if not location_of(file.file).is_url:
        file.check_local()
        index = _core.RecordIndex.build(local_path(file.file), max_record_bytes)
        file.check_local()
        return index
    (match,) = stored_objects(file.file, settings)
    known = match._replace(size=file.bytes, version=cast("Any", file.version))
    opened = open_random(
        [location_of(file.file)],
        [None],
        settings,
        verify_crc=False,
        num_threads=default_threads(),
        max_record_bytes=max_record_bytes,
        objects=[known],
    )
    return opened.indexes[0]


def _grouped(ranges: Iterator[FilePart], split_bytes: int, compression_type: str | None) -> Iterator[Split]:
    group: list[FilePart] = []
    size = 0
    for byte_range in ranges:
        if group and size + byte_range.part_bytes > split_bytes:
            yield _split_of(group, compression_type)
            group, size = [], 0
        group.append(byte_range)
        size += byte_range.part_bytes
    if group:
        yield _split_of(group, compression_type)


def _split_of(group: list[FilePart], compression_type: str | None) -> Split:
    counts = [byte_range.records for byte_range in group]
    known = None if None in counts else sum(count for count in counts if count is not None)
    size = sum(byte_range.part_bytes * _ratio(byte_range, compression_type) for byte_range in group)
    return Split(tuple(group), size, known)


def _ratio(byte_range: FilePart, compression_type: str | None) -> int:
    if byte_range.end is not None or compression_type == "":
        return 1
    return _RATIO if compression_type or byte_range.file.lower().endswith(_EXTENSIONS) else 1
