"""Expand names, folders and patterns to files with their sizes, before planning."""

from __future__ import annotations

import os
import stat

from ...typing import Files
from ..naming.addresses import names_several
from ..naming.file_objects import FileObject
from ..naming.file_part import FilePart
from ..naming.folders import files_below, files_matching
from ..naming.location import Location, location_of
from ..naming.patterns import is_local_pattern
from ..stores import ObjectInfo, StoreSettings
from ..stores.objects import StoredObject, stored_objects, whole_url
from .core_files import flatten
from .random_access import infos_of


def listed_parts(files: Files, settings: StoreSettings) -> list[FilePart]:
    """Return each file as a whole FilePart, in order; the files of a pattern or a folder are sorted by name.

    `files_below` has the files of a folder.
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
        elif names_several(name):
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
        return [_local_part(path, os.stat(path)) for path in files_matching(name)]
    status = os.stat(name)
    if not stat.S_ISDIR(status.st_mode):
        return [_local_part(name, status)]
    return [_local_part(path, os.stat(path)) for path in files_below(name)]


def _local_part(path: str, status: os.stat_result) -> FilePart:
    if not stat.S_ISREG(status.st_mode):
        raise TypeError(f"{path} is not a regular file; other processes could not read the same data from it")
    return FilePart(os.path.abspath(path), status.st_size, status.st_mtime_ns)


def _objects_of(url: str, settings: StoreSettings) -> list[FilePart]:
    """List the objects of a pattern, or of a folder, whose URL ends in "/"."""
    objects = stored_objects(url, settings)
    infos = [ObjectInfo(source.url, source.size or 0, source.version) for source in objects]
    if any(source.size is None for source in objects):
        infos = infos_of(objects, settings)
    return [
        FilePart(whole_url(url, source.key, info.url), info.size, info.version)
        for source, info in zip(objects, infos, strict=True)
    ]
