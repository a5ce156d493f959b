"""Files whose records are read in any order: local ones, and objects in stores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from ... import _core
from ...base.workers import NoThreadError, Workers
from ...errors import InvalidArgumentError
from ...typing import Files
from ..naming.addresses import is_pattern
from ..naming.file_objects import FileObject
from ..naming.location import location_of
from ..stores import ObjectInfo, StoreSettings, find_store, read_range
from ..stores.objects import StoredObject, stored_objects
from .core_files import CoreObject, core_files, flatten
from .fetching import Fetching, info_of
from .local_paths import local_path

__all__ = ["Opened", "found_objects", "infos_of", "is_url", "load_index", "open_random", "random_names", "save_index"]

_AHEAD_BYTES = 64 << 20  # asked for at once, of objects


class Opened(NamedTuple):
    """A reader of records by their numbers, the index of each file, and what tells whether a file has changed."""

    reader: _core.RandomReader
    indexes: list[_core.RecordIndex]
    bytes: int  # of all files


def is_url(name: bytes) -> bool:
    """Whether it is that of an object."""
    return b"://" in name and location_of(name).is_url


def random_names(files: Files, settings: StoreSettings, patterns: bool = True) -> list[bytes]:
    """Local paths and URLs, with patterns resolved.

    Raises:
      TypeError: one of the files is neither.
      FileNotFoundError: a pattern matches nothing.
    """
    flat = flatten(files)
    for file in flat:
        if not isinstance(file, (str, bytes, os.PathLike)):
            given = file.file if isinstance(file, FileObject) else file
            raise TypeError(f"only a path can be read at random, got {type(given).__name__}")
    if not patterns:
        return [os.fsencode(location_of(file).name) for file in flat if isinstance(file, (str, bytes, os.PathLike))]
    names: list[bytes] = []
    for file in flat:
        assert isinstance(file, (str, bytes, os.PathLike))
        name, is_remote = location_of(file)
        if is_remote and not is_pattern(name):
            names.append(name.encode())  # as it was given: what names a user may be needed
        else:
            names += [found.name for found in core_files([file], settings)]
    return names


def found_objects(names: Sequence[bytes], settings: StoreSettings) -> list[StoredObject | None]:
    """The objects among the files, with their sizes and versions, which are asked for side by side."""
    objects = [stored_objects(name.decode(), settings)[0] if is_url(name) else None for name in names]
    wanted = [found for found in objects if found is not None]
    if not wanted:
        return objects
    infos = iter(infos_of(wanted, settings))
    filled: list[StoredObject | None] = []
    for found in objects:
        if found is None:
            filled.append(None)
            continue
        info = next(infos)
        filled.append(found._replace(size=info.size, version=info.version))
    return filled


def infos_of(wanted: list[StoredObject], settings: StoreSettings) -> list[ObjectInfo]:
    """Sizes and versions, which are asked for side by side."""
    if not wanted:
        return []
    workers = Workers(min(settings.max_requests, len(wanted)), "tfrecord_fast sizes")
    try:
        return list(workers.map(lambda found: info_of(found, settings), wanted))
    except NoThreadError:
        return [info_of(found, settings) for found in wanted]
    finally:
        workers.stop()


def open_random(
    names: Sequence[bytes],
    given: Sequence[_core.RecordIndex | bytes | None],
    settings: StoreSettings,
    *,
    verify_crc: bool,
    num_threads: int,
    max_record_bytes: int | None,
    objects: list[StoredObject | None] | None = None,
    max_idle_bytes: int = 16 << 20,
) -> Opened:
    """Finds the records of all files.

    Args:
      names: as `random_names` gives them.
      given: of each file its index, where that is written down, or None: then the file is scanned.
      settings: of the stores.
      verify_crc, num_threads, max_record_bytes, max_idle_bytes: of the core's reader.
      objects: as `found_objects` gives them, if they are known.

    Raises:
      FileNotFoundError, OSError, errors.DataLossError: a file can't be read.
      errors.InvalidArgumentError: a file is compressed, or an index can't be read.
    """
    if objects is None:
        objects = found_objects(names, settings)
    wanted = [found for found in objects if found is not None]
    fetching = Fetching(wanted, settings, _AHEAD_BYTES) if wanted else None
    numbers = iter(range(len(wanted)))
    numbered = [None if found is None else CoreObject(next(numbers), found.size) for found in objects]
    shown = [name if found is None else found.url.encode() for name, found in zip(names, objects, strict=True)]
    loaded = [load_index(index, settings) if isinstance(index, bytes) else index for index in given]
    missing = [i for i, index in enumerate(loaded) if index is None]
    origins = [_core.IndexOrigin(path=shown[i], object=numbered[i]) for i in missing]
    queue = None if fetching is None else fetching.queue
    if fetching is not None:
        fetching.start()
    try:
        # What waits for a store does not need a processor.
        threads = num_threads if fetching is None else max(num_threads, min(settings.max_requests, len(missing)))
        made = iter(_core.open_indexes(origins, threads, max_record_bytes, queue))
        indexes = [next(made) if index is None else index for index in loaded]
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
    sizes = [
        os.stat(name).st_size if found is None else found.size or 0 for name, found in zip(names, objects, strict=True)
    ]
    return Opened(reader, indexes, sum(sizes))


def load_index(name: bytes, settings: StoreSettings) -> _core.RecordIndex:
    """The index in a text file, or in an object."""
    if not is_url(name):
        return _core.RecordIndex.load(local_path(name))
    (found,) = stored_objects(name.decode(), settings)
    info = info_of(found, settings)
    text = bytes(read_range(found.store, found.key, 0, info.size, info.version, settings))
    try:
        return _core.RecordIndex.parse(text)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{found.url}: {error}") from None


def save_index(index: _core.RecordIndex, name: bytes, settings: StoreSettings) -> None:
    """Writes the text form, to an object that appears when it is complete."""
    lines = zip(index.offsets().tolist(), index.sizes().tolist(), strict=True)
    store, key = find_store(name.decode(), settings)
    upload = store.upload(key)
    try:
        upload.write("".join(f"{offset} {size}\n" for offset, size in lines).encode())
        upload.complete()
    except BaseException:
        upload.abort()
        raise
