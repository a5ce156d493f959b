"""Files whose records are read in any order: local ones, and objects in stores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ... import _core
from ...base.workers import Workers
from ...errors import InvalidArgumentError
from ...typing import Files, PathLike
from ..naming.addresses import names_several
from ..naming.location import Location
from ..stores import ObjectInfo, StoreSettings, find_object, read_info, read_range
from ..stores.objects import StoredObject, stored_objects
from ..system.drafts import check_folder
from .core_files import CoreObject, core_files, existing, random_location
from .fetching import Fetching
from .index_cache import IndexCache

_AHEAD_BYTES = 64 << 20  # requested at once, of objects


class Opened(NamedTuple):
    """Files opened for random access: the core's reader, the index of each file, and their total uncompressed size."""

    reader: _core.RandomReader
    indexes: list[_core.RecordIndex]
    bytes: int


def random_locations(files: Files, settings: StoreSettings, allow_empty: bool = False) -> list[Location]:
    """Return local paths and URLs, with patterns resolved."""
    locations: list[Location] = []
    for file in existing(files, allow_empty, settings):
        location = random_location(file)
        if location.is_url and not names_several(location.name):
            locations.append(location)  # with the user's credentials, which may be needed
        else:
            matches = core_files([location], settings)
            locations += [Location(os.fsdecode(match.name), location.is_url) for match in matches]
    return locations


def found_objects(locations: Sequence[Location], settings: StoreSettings) -> list[StoredObject | None]:
    """Return the object of each URL, with its size and version, which are requested in parallel; None for paths."""
    objects = {
        number: stored_objects(location.name, settings)[0]
        for number, location in enumerate(locations)
        if location.is_url
    }
    infos = infos_of(list(objects.values()), settings)
    result: list[StoredObject | None] = [None] * len(locations)
    for (number, match), info in zip(objects.items(), infos, strict=True):
        result[number] = match._replace(size=info.size, version=info.version)
    return result


def infos_of(objects: list[StoredObject], settings: StoreSettings) -> list[ObjectInfo]:
    """Return sizes and versions, which are requested in parallel."""
    if not objects:
        return []
    workers = Workers(min(settings.max_requests, len(objects)), "tfrecord_fast sizes")
    try:
        return list(workers.map(lambda source: read_info(source.store, source.key, settings), objects))
    finally:
        workers.stop()


def open_random(
    locations: Sequence[Location],
    known: Sequence[_core.RecordIndex | Location | None],
    settings: StoreSettings,
    *,
    verify_crc: bool,
    num_threads: int,
    max_record_bytes: int | None,
    objects: list[StoredObject | None] | None = None,
    max_idle_bytes: int = 16 << 20,
    index_cache: bool | PathLike = True,
) -> Opened:
    """Open files for random access.

    Args:
      locations: as `random_locations` returns them.
      known: for each file its index, the location of its index, or None, which scans the file.
      settings: of the stores.
      verify_crc, num_threads, max_record_bytes, max_idle_bytes: of the core's reader.
      objects: as `found_objects` returns them, if they are known.
      index_cache: where the indexes of compressed files are kept, as for IndexCache.

    Raises:
      FileNotFoundError, OSError, errors.DataLossError: a file can't be read.
      errors.InvalidArgumentError: an object is compressed, or an index can't be read or is that of another file.
    """
    if objects is None:
        objects = found_objects(locations, settings)
    wanted = [match for match in objects if match is not None]
    fetching = Fetching(wanted, settings, _AHEAD_BYTES) if wanted else None
    numbers = iter(range(len(wanted)))
    numbered = [None if match is None else CoreObject(next(numbers), match.size) for match in objects]
    shown = [
        os.fsencode(location.name) if match is None else match.url.encode()
        for location, match in zip(locations, objects, strict=True)
    ]
    loaded = [load_index(index, settings) if isinstance(index, Location) else index for index in known]
    sizes = [
        os.stat(location.name).st_size if match is None else match.size or 0
        for location, match in zip(locations, objects, strict=True)
    ]
    for name, size, source, index in zip(shown, sizes, known, loaded, strict=True):
        if isinstance(source, Location) and index is not None and not index.checkpoints():
            _check_whole(index, size, source.name, os.fsdecode(name))
    cache = IndexCache(index_cache)
    kept_as: dict[int, str] = {}
    for i, index in enumerate(loaded):
        if index is None and objects[i] is None:
            loaded[i], kept_as[i] = cache.load(locations[i].name, max_record_bytes)
    missing = [i for i, index in enumerate(loaded) if index is None]
    origins = [_core.IndexOrigin(path=shown[i], object=numbered[i]) for i in missing]
    queue = None if fetching is None else fetching.queue
    if fetching is not None:
        fetching.start()
    try:
        # Threads that wait for a store do not need a processor.
        threads = num_threads if fetching is None else max(num_threads, min(settings.max_requests, len(missing)))
        scanned = dict(zip(missing, _core.open_indexes(origins, threads, max_record_bytes, queue), strict=True))
        for i in scanned.keys() & kept_as.keys():
            cache.keep(locations[i].name, kept_as[i], scanned[i])
        indexes = [scanned[i] if index is None else index for i, index in enumerate(loaded)]
        reader = _core.RandomReader(
            shown,
            indexes,
            verify_crc=verify_crc,
            num_threads=num_threads,
            max_record_bytes=max_record_bytes,
            max_idle_bytes=max_idle_bytes,
            objects=numbered if wanted else [],
            fetches=queue,
        )
    except BaseException:
        if fetching is not None:
            fetching.close()
        raise
    sizes = [index.end() if index.checkpoints() else size for index, size in zip(indexes, sizes, strict=True)]
    return Opened(reader, indexes, sum(sizes))


def _check_whole(index: _core.RecordIndex, size: int, name: str, file: str) -> None:
    """Check that the records of an index follow each other from the file's start to its end."""
    offsets, sizes = index.offsets(), index.sizes()
    ends = np.concatenate([np.zeros(1, np.int64), offsets + sizes])
    wrong = np.flatnonzero(ends != np.append(offsets, size))
    if len(wrong):
        raise InvalidArgumentError(
            f"{name}: not the index of {file}, which has {size} bytes: bytes from {ends[wrong[0]]} on are in no record "
            "of the index, or in two; make it again with `tfrecord-fast index`"
        )


def load_index(location: Location, settings: StoreSettings) -> _core.RecordIndex:
    if not location.is_url:
        return _core.RecordIndex.load(os.fsencode(location.name))
    (match,) = stored_objects(location.name, settings)
    info = read_info(match.store, match.key, settings)
    text = bytes(read_range(match.store, match.key, 0, info.size, info.version, settings))
    try:
        return _core.RecordIndex.parse(text)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{match.url}: {error}") from None


def save_index(index: _core.RecordIndex, location: Location, settings: StoreSettings) -> None:
    """Write an index to a file or object, which appears once complete."""
    if not location.is_url:
        check_folder(location.name)
        index.save(os.fsencode(location.name))
        return
    lines = zip(index.offsets().tolist(), index.sizes().tolist(), strict=True)
    text = "".join(f"{offset} {size}\n" for offset, size in lines).encode()
    store, key = find_object(location.name, settings)
    upload = store.upload(key)
    try:
        upload.write(index.pack() if index.checkpoints() else text)
        upload.complete()
    except BaseException:
        upload.abort()
        raise
