"""Expand names, folders and patterns to files with their sizes, before planning."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator

from ...typing import Files
from ..naming.addresses import is_pattern
from ..naming.compression import CODECS
from ..naming.file_objects import FileObject
from ..naming.file_part import FilePart
from ..naming.location import Location, location_of
from ..naming.patterns import is_local_pattern, matching_paths
from ..stores import ObjectInfo, StoreSettings, find_store
from ..stores.objects import StoredObject, stored_objects, whole_url
from .core_files import flatten
from .random_access import infos_of

_HIDDEN = (".", "_")  # prefixes of drafts, manifests and markers
_INDEX = ".idx"
_TFRECORDS = ("tfrecord", "tfrecords", "tfrec", "tfr", "tf", "record", "records", "rec", "recordio")
_TFRECORD = re.compile(rf"\.({'|'.join(_TFRECORDS)})(-.*)?", re.IGNORECASE)
_COMPRESSED = {codec.extension for codec in CODECS.values() if codec.extension}


def listed_parts(files: Files, settings: StoreSettings) -> list[FilePart]:
    """Return each file as a whole FilePart, in order; the files of a pattern or a folder are sorted by name.

    Files and folders within a folder whose names begin with `.` or `_` are skipped; so are indexes (`.idx`), unless
    there is nothing else.
    """
    parts: list[FilePart] = []
    unknown: list[tuple[int, str, StoredObject]] = []  # their sizes are requested in parallel
    for file in flatten(files):
        if isinstance(file, FilePart):
            parts.append(file)
            continue
        if not isinstance(file, str | Location):
            content = file.file if isinstance(file, FileObject) else file
            raise TypeError(f"only paths and URLs can be read by other processes, got {type(content).__name__}")
        name, is_url = location_of(file)
        if not is_url:
            parts += _local_parts(name)
        elif is_pattern(name) or name.endswith("/"):
            parts += _objects_of(name, settings)
        else:
            unknown.append((len(parts), name, stored_objects(name, settings)[0]))
            parts.append(FilePart(name, -1))
    infos = infos_of([source for _, _, source in unknown], settings)
    for (number, name, _), info in zip(unknown, infos, strict=True):
        parts[number] = FilePart(name, info.size, info.version)
    return parts


def _local_parts(name: str) -> list[FilePart]:
    if is_local_pattern(name):
        names = matching_paths(name, recursive=True)
        if not names:
            raise FileNotFoundError(2, "no file matches the pattern", name)
        statuses = [(path, os.stat(path)) for path in names]
        parts = [_local_part(path, status) for path, status in statuses if not stat.S_ISDIR(status.st_mode)]
        if not parts:
            raise FileNotFoundError(2, "only folders match the pattern", name)
        return parts
    status = os.stat(name)
    if not stat.S_ISDIR(status.st_mode):
        return [_local_part(name, status)]
    parts = [_local_part(path, os.stat(path)) for path in _without_indexes(_below(name))]
    if not parts:
        raise FileNotFoundError(2, "no files in the folder", name)
    return parts


def files_below(folder: str) -> list[str]:
    """Return the files below a local folder, sorted, without hidden files and indexes. If there are files with names of
    TFRecord files, return only these.
    """
    names = _without_indexes(_below(folder))
    if not names:
        raise FileNotFoundError(2, "no files in the folder", folder)
    return [name for name in names if _is_called_tfrecord(name)] or names


def extension_of(path: str) -> str:
    """Return the extension in lower case, without that of the compression."""
    stem, extension = os.path.splitext(path)
    if extension.lower() in _COMPRESSED:
        extension = os.path.splitext(stem)[1]
    return extension.lower()


def is_tfrecord_extension(extension: str) -> bool:
    return _TFRECORD.fullmatch(extension) is not None


def _is_called_tfrecord(path: str) -> bool:
    return is_tfrecord_extension(extension_of(path)) or ".tfrec" in os.path.basename(path).lower()


def _without_indexes(names: Iterable[str]) -> list[str]:
    """Sort names and remove indexes, unless there is nothing else."""
    ordered = sorted(names)
    return [name for name in ordered if not name.endswith(_INDEX)] or ordered


def _local_part(path: str, status: os.stat_result) -> FilePart:
    if not stat.S_ISREG(status.st_mode):
        raise TypeError(f"{path} is not a regular file; other processes could not read the same data from it")
    return FilePart(os.path.abspath(path), status.st_size, status.st_mtime_ns)


def _below(folder: str) -> Iterator[str]:
    seen = set()  # links may form circles
    for top, folders, names in os.walk(folder, onerror=_raise, followlinks=True):
        status = os.stat(top)
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith(_HIDDEN))
        yield from (os.path.join(top, name) for name in names if not name.startswith(_HIDDEN))


def _raise(error: OSError) -> None:
    raise error


def _objects_of(url: str, settings: StoreSettings) -> list[FilePart]:
    """List the objects of a pattern, or of a folder, whose URL ends in "/"."""
    if is_pattern(url):
        objects = stored_objects(url, settings)
        infos = [ObjectInfo(source.url, source.size or 0, source.version) for source in objects]
        if any(source.size is None for source in objects):
            infos = infos_of(objects, settings)
        return [_object_part(url, source.key, info) for source, info in zip(objects, infos, strict=True)]
    store, folder = find_store(url, settings, lists=True)
    below = len(store.url(folder))
    shown = {
        info.url: info
        for info in store.list(folder)
        if not any(name.startswith(_HIDDEN) for name in info.url[below:].split("/"))
    }
    infos = [shown[url] for url in _without_indexes(shown)]
    if not infos:
        raise FileNotFoundError(2, "no objects in the folder", store.url(folder))
    return [_object_part(url, folder + info.url[below:], info) for info in infos]


def _object_part(url: str, key: str, info: ObjectInfo) -> FilePart:
    return FilePart(whole_url(url, key, info.url), info.size, info.version)
