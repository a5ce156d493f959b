"""The files that names, folders and patterns stand for, with their sizes: what planning starts from."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator

from ...typing import Files
from ..naming.addresses import is_pattern
from ..naming.byte_range import FilePart
from ..naming.compression import CODECS
from ..naming.file_objects import FileObject
from ..naming.location import Location, location_of
from ..naming.patterns import is_local_pattern, matching_paths
from ..stores import ObjectInfo, StoreSettings, find_store
from ..stores.objects import StoredObject, stored_objects, whole_url
from .core_files import flatten
from .random_access import infos_of

__all__ = ["extension_of", "files_below", "is_tfrecord_extension", "listed_parts"]

_HIDDEN = (".", "_")  # what names begin with that are no data: drafts, manifests, marks of success
_INDEX = ".idx"  # what names of indexes end with
_TFRECORDS = ("tfrecord", "tfrecords", "tfrec", "tfr", "tf", "record", "records", "rec", "recordio")
_TFRECORD = re.compile(rf"\.({'|'.join(_TFRECORDS)})(-.*)?", re.IGNORECASE)
_COMPRESSED = {codec.extension for codec in CODECS.values() if codec.extension}


def listed_parts(files: Files, settings: StoreSettings) -> list[FilePart]:
    """Each file as one part, in the order given; those of a pattern or a folder sorted by name.

    In a folder, files whose names begin with `.` or `_` are left out, and so is what lies in folders with such names;
    and so are indexes (`.idx`), if there is anything else.

    Raises:
      TypeError: one of the files is neither a path nor a URL: another process could not open it.
      FileNotFoundError: there is no such file, or a pattern or a folder has none.
    """
    parts: list[FilePart] = []
    unknown: list[tuple[int, str, StoredObject]] = []  # objects whose sizes are asked for side by side
    for file in flatten(files):
        if isinstance(file, FilePart):
            parts.append(file)
            continue
        if not isinstance(file, str | Location):
            given = file.file if isinstance(file, FileObject) else file
            raise TypeError(f"only paths and URLs can be read elsewhere, got {type(given).__name__}")
        name, is_url = location_of(file)
        if not is_url:
            parts += _local_parts(name)
        elif is_pattern(name) or name.endswith("/"):
            parts += _objects_of(name, settings)
        else:
            unknown.append((len(parts), name, stored_objects(name, settings)[0]))
            parts.append(FilePart(name, -1))
    for (place, name, _), info in zip(unknown, infos_of([one for _, _, one in unknown], settings), strict=True):
        parts[place] = FilePart(name, info.size, info.version)
    return parts


def _local_parts(name: str) -> list[FilePart]:
    if is_local_pattern(name):
        names = matching_paths(name, recursive=True)
        if not names:
            raise FileNotFoundError(2, "no file matches the pattern", name)
        found = [(one, os.stat(one)) for one in names]
        parts = [_local_part(one, known) for one, known in found if not stat.S_ISDIR(known.st_mode)]
        if not parts:
            raise FileNotFoundError(2, "only folders match the pattern", name)
        return parts
    known = os.stat(name)
    if not stat.S_ISDIR(known.st_mode):
        return [_local_part(name, known)]
    parts = [_local_part(path, os.stat(path)) for path in _without_indexes(_below(name))]
    if not parts:
        raise FileNotFoundError(2, "there is no file in the folder", name)
    return parts


def files_below(folder: str) -> list[str]:
    """The files in a local folder and its folders, sorted, without hidden ones and indexes; if some are called TFRecord
    files by their names, those alone.

    Raises:
      FileNotFoundError: there is none.
      OSError: a folder can't be read.
    """
    names = _without_indexes(_below(folder))
    if not names:
        raise FileNotFoundError(2, "there is no file in the folder", folder)
    return [name for name in names if _is_called_tfrecord(name)] or names


def extension_of(path: str) -> str:
    """In lower case, not counting that of the compression."""
    stem, extension = os.path.splitext(path)
    if extension.lower() in _COMPRESSED:
        extension = os.path.splitext(stem)[1]
    return extension.lower()


def is_tfrecord_extension(extension: str) -> bool:
    """Whether files with it are TFRecord files."""
    return _TFRECORD.fullmatch(extension) is not None


def _is_called_tfrecord(path: str) -> bool:
    return is_tfrecord_extension(extension_of(path)) or ".tfrec" in os.path.basename(path).lower()


def _without_indexes(names: Iterable[str]) -> list[str]:
    """Sorted, and without indexes, unless there is nothing else."""
    found = sorted(names)
    return [name for name in found if not name.endswith(_INDEX)] or found


def _local_part(path: str, known: os.stat_result) -> FilePart:
    if not stat.S_ISREG(known.st_mode):
        raise TypeError(f"{path} is not a regular file: what is read from it here could not be read elsewhere")
    return FilePart(os.path.abspath(path), known.st_size, known.st_mtime_ns)


def _below(folder: str) -> Iterator[str]:
    seen = set()  # links may lead round in circles
    for top, folders, names in os.walk(folder, onerror=_raise, followlinks=True):
        here = os.stat(top)
        if (here.st_dev, here.st_ino) in seen:
            folders.clear()
            continue
        seen.add((here.st_dev, here.st_ino))
        folders[:] = sorted(one for one in folders if not one.startswith(_HIDDEN))
        yield from (os.path.join(top, one) for one in names if not one.startswith(_HIDDEN))


def _raise(error: OSError) -> None:
    raise error


def _objects_of(url: str, settings: StoreSettings) -> list[FilePart]:
    """Of a pattern, or of a folder that is named with a "/" at its end."""
    if is_pattern(url):
        found = stored_objects(url, settings)
        infos = [ObjectInfo(one.url, one.size or 0, one.version) for one in found]
        if any(one.size is None for one in found):
            infos = list(infos_of(found, settings))
        return [_object_part(url, one.key, info) for one, info in zip(found, infos, strict=True)]
    store, folder = find_store(url, settings, lists=True)
    below = len(store.url(folder))
    shown = {
        info.url: info
        for info in store.list(folder)
        if not any(p.startswith(_HIDDEN) for p in info.url[below:].split("/"))
    }
    infos = [shown[url] for url in _without_indexes(shown)]
    if not infos:
        raise FileNotFoundError(2, "there is no object in the folder", store.url(folder))
    return [_object_part(url, folder + info.url[below:], info) for info in infos]


def _object_part(url: str, key: str, info: ObjectInfo) -> FilePart:
    return FilePart(whole_url(url, key, info.url), info.size, info.version)
