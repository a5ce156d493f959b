"""Files divided among tasks that processes or machines take: parts of about the same number of bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ... import _core
from ...base.record_format import DETECTION_BYTES
from ...base.threads import default_threads
from ...typing import Files
from ..naming.byte_range import FilePart
from ..naming.compression import CODECS, check_compression_type
from ..naming.location import location_of
from ..naming.numbers import at_least, max_record_size
from ..stores import StoreSettings, read_head
from ..stores.objects import stored_objects
from ..streams.listing import listed_parts
from ..streams.local_paths import local_path
from ..streams.random_access import open_random

__all__ = ["PLAN_OPTIONS", "SPLIT_BYTES", "Split", "plan_splits"]

SPLIT_BYTES = 128 << 20
PLAN_OPTIONS = frozenset({"compression_type", "max_record_bytes", "on_corrupt"})  # of a reader
_RATIO = 4  # of a compressed file's records to its bytes, where nobody has looked
_EXTENSIONS = tuple(codec.extension for codec in CODECS.values() if codec.extension)


@dataclass(frozen=True)
class Split:
    """What one task reads.

    Attributes:
      parts: in the order of the files. ShardReader takes them as its files.
      bytes: roughly, of the records when they are not compressed.
      records: how many there are, if that is known.
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
    compression_type: str | None = None,
    max_record_bytes: int | None = None,
    on_corrupt: str = "raise",
    settings: StoreSettings | None = None,
) -> list[Split]:
    """Divides files among tasks.

    A file that is larger than a task's share is divided at records, which its headers tell (of an object, they are
    fetched). A compressed one is not. Smaller ones are put together.

    Args:
      files: paths, URLs, patterns, folders, or lists of them.
      split_bytes: about how many bytes a task reads.
      compression_type: as for ShardReader; None detects, file by file.
      max_record_bytes: a header that claims more is damage.
      on_corrupt: as for ShardReader. Unless it is "raise", no file is divided: damage may change what the records are.
      settings: of the stores of URLs.

    Returns the splits: every record of every file is in one, and in the order of files and records.

    Raises:
      TypeError: one of the files is neither a path nor a URL.
      FileNotFoundError, OSError: a file can't be read, or a pattern has no match.
      errors.DataLossError: the headers of a file that is to be divided are damaged.
    """
    share = at_least(1, "split_bytes", split_bytes)
    kind = check_compression_type(compression_type)
    stores = settings or StoreSettings()
    most = max_record_size(max_record_bytes)
    listed = listed_parts(files, stores)
    parts = _divided(listed, share, kind, most, stores) if on_corrupt == "raise" else iter(listed)
    return list(_grouped(parts, share, kind))


def _divided(
    files: Sequence[FilePart], share: int, kind: str | None, most: int | None, settings: StoreSettings
) -> Iterator[FilePart]:
    for file in files:
        is_small = file.end is not None or file.bytes <= share + share // 2
        if is_small or kind or (kind is None and _compression(file, settings)):
            yield file
        else:
            yield from _cut(file, share, most, settings)


def _compression(file: FilePart, settings: StoreSettings) -> str:
    if location_of(file.file).is_url:
        (found,) = stored_objects(file.file, settings)
        head, _ = read_head(found.store, found.key, DETECTION_BYTES, settings)
        return _core.detect_compression(bytes(head))
    with open(file.file, "rb") as opened:
        return _core.detect_compression(opened.read(DETECTION_BYTES))


def _cut(file: FilePart, share: int, most: int | None, settings: StoreSettings) -> list[FilePart]:
    index = _index_of(file, most, settings)
    offsets = index.offsets()
    if len(offsets) == 0:
        return [file]
    count = max(round(file.bytes / share), 1)
    wanted = np.arange(1, count, dtype=np.int64) * (file.bytes // count)
    first = np.unique(np.concatenate(([0], np.searchsorted(offsets, wanted))))
    first = first[first < len(offsets)].tolist()
    ends = [*first[1:], len(offsets)]
    places = [*offsets[first].tolist(), file.bytes]
    return [
        file.cut(begin, end, number, last - number)
        for begin, end, number, last in zip(places[:-1], places[1:], first, ends, strict=True)
    ]


def _index_of(file: FilePart, most: int | None, settings: StoreSettings) -> _core.RecordIndex:
    if not location_of(file.file).is_url:
        file.check_local()
        index = _core.RecordIndex.build(local_path(file.file), most)
        file.check_local()
        return index
    (found,) = stored_objects(file.file, settings)
    known = found._replace(size=file.bytes, version=cast("Any", file.version))
    opened = open_random(
        [location_of(file.file)],
        [None],
        settings,
        verify_crc=False,
        num_threads=default_threads(),
        max_record_bytes=most,
        objects=[known],
    )
    return opened.indexes[0]


def _grouped(parts: Iterator[FilePart], share: int, kind: str | None) -> Iterator[Split]:
    group: list[FilePart] = []
    size = 0
    for part in parts:
        if group and size + part.part_bytes > share:
            yield _split_of(group, kind)
            group, size = [], 0
        group.append(part)
        size += part.part_bytes
    if group:
        yield _split_of(group, kind)


def _split_of(group: list[FilePart], kind: str | None) -> Split:
    counts = [part.records for part in group]
    known = None if None in counts else sum(count for count in counts if count is not None)
    return Split(tuple(group), sum(part.part_bytes * _ratio(part, kind) for part in group), known)


def _ratio(part: FilePart, kind: str | None) -> int:
    if part.end is not None or kind == "":
        return 1
    return _RATIO if kind or part.file.lower().endswith(_EXTENSIONS) else 1
