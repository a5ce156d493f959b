"""The files that users pass, resolved to what the core opens: a plain path or a `CoreFile`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeGuard, cast

import numpy as np

from ... import _core
from ...errors import InvalidArgumentError
from ...typing import Files, PathLike
from ...values.columns.conversion import plain
from ..naming.addresses import names_several, public_url
from ..naming.file_objects import FileObject
from ..naming.file_part import FilePart
from ..naming.folders import files_below, files_matching
from ..naming.location import Location, location_of
from ..naming.patterns import expanded, is_local_pattern
from ..stores import StoreSettings, find_object
from ..stores.objects import StoredObject, stored_objects, whole_url
from .shard_lists import ListedFile


class CoreObject(NamedTuple):
    """An object in a store for the core: its number among the fetched objects, and its size in bytes if known."""

    number: int
    size: int | None


class CoreFile(NamedTuple):
    """A file for the core.

    The core opens `name`, unless there is an `opener` or an `object`; then `name` only appears in errors. `opener()`
    returns a binary file object, a descriptor, or an object with the buffer protocol. The bytes of an `object` are
    fetched, and `open_stream` numbers it. If there is a `part` (a byte range), only its records are read.
    """

    name: bytes
    opener: Callable[[], object] | None = None
    object: StoredObject | CoreObject | None = None
    part: tuple[int, int, int] | None = None  # begin, number of the record there, end
    stamp: tuple[int, int] | None = None  # expected size and modification time of a local file
    checkpoint: bytes | None = None  # for the byte range of a compressed file
    records: int | None = None  # their number, if known

    @property
    def is_local(self) -> bool:
        """True if `name` is the path of a local file that is read whole."""
        return self.opener is None and self.object is None and self.part is None and self.stamp is None


File = str | Location | ListedFile | FileObject | FilePart | bytearray | memoryview

DEFAULT_SETTINGS = StoreSettings()

_MOST_FOLDERS = 1000

_ENCODING, _ERRORS = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()


def flatten(filenames: Files | FileObject) -> list[File]:
    """Return files as a flat list, in order.

    This is where names enter the package: later code finds a `str` only for a local path without wildcards, and a
    `Location` for every other name. Objects with `read` become FileObjects, which can be read more than once.

    Raises:
      TypeError: an element is neither a path nor readable.
      ValueError: `filenames` is an iterator, which could be read only once.
    """
    files: list[Any] = _flat(filenames)
    if _may_expand(files):
        files = [name for file in files for name in (expanded(os.fsdecode(file)) if _is_name(file) else [file])]
    are_paths: bool = _core.are_plain_paths(files)
    if are_paths:  # there may be tens of thousands
        return files
    return [location_of(file) if _is_name(file) else file for file in files]


def _may_expand(files: list[Any]) -> bool:
    try:
        text = "".join(files)
    except TypeError:  # not all are str
        return True
    return "{" in text or "@" in text


def existing(filenames: Files, allow_empty: bool, settings: StoreSettings = DEFAULT_SETTINGS) -> list[File]:
    """Return files as a flat list; an empty one, and patterns that match nothing, are allowed or an error."""
    files = flatten(filenames)
    if allow_empty:
        return [file for file in files if _has_match(file, settings)]
    if not files:
        raise InvalidArgumentError(f"no files in {filenames!r:.100}; allow_empty=True reads none")
    return files


def _has_match(file: File, settings: StoreSettings) -> bool:
    try:
        return bool(core_files([file], settings))
    except FileNotFoundError:
        return False


def _flat(filenames: Any) -> list[Any]:
    if _is_one_file(filenames):
        return [FileObject(filenames) if hasattr(filenames, "read") else filenames]
    if isinstance(filenames, Iterator):
        raise ValueError("filenames is an iterator, which can be read only once; pass a list")
    names = plain(filenames)
    if isinstance(names, np.ndarray):
        names = names.ravel().tolist()
    elif _is_one_file(names):  # a tensor of one
        return [names]
    if not isinstance(names, Iterable) or isinstance(names, dict):
        raise TypeError(f"filenames must be paths (str, bytes, PathLike), got {type(names).__name__}")
    elements: list[Any] = list(names)
    if _core.are_plain_paths(elements):
        return elements
    return [file for element in elements for file in _flat(element)]


def _is_one_file(value: object) -> bool:
    return isinstance(value, bytearray | memoryview | FileObject | FilePart | Location) or (
        isinstance(value, str | bytes | os.PathLike) or hasattr(value, "read")
    )


def _is_name(value: object) -> bool:
    return isinstance(value, str | bytes | os.PathLike) and not isinstance(value, ListedFile)


def has_urls(files: list[File]) -> bool:
    names = (file.file if isinstance(file, FilePart) else file for file in files if type(file) is not str)
    return any(location_of(name).is_url for name in names if isinstance(name, Location | str))


def core_files(files: list[File], settings: StoreSettings = DEFAULT_SETTINGS) -> list[CoreFile]:
    """Resolve patterns, folders and URLs.

    Raises:
      FileNotFoundError: a pattern matches nothing. A plain path is not looked up until it is opened.
    """
    if _are_files(files):
        return [CoreFile(file.encode(_ENCODING, _ERRORS)) for file in files]
    return [core_file for file in files for core_file in _resolve(file, settings)]


def stream_files(files: list[File], settings: StoreSettings = DEFAULT_SETTINGS) -> list[str] | list[CoreFile]:
    """Resolve patterns, folders and URLs for a `RecordStream`, which takes plain paths as they are."""
    return files if _are_files(files) else core_files(files, settings)


def _are_files(files: list[File]) -> TypeGuard[list[str]]:
    """Return True if all are local paths that need not be resolved. Folders are found among up to 1,000 names."""
    return _core.are_plain_paths(files) and (len(files) > _MOST_FOLDERS or not any(map(os.path.isdir, files)))


def resolved(file: File, settings: StoreSettings) -> list[File]:
    """Expand a path or pattern to names that can be reopened later."""
    if isinstance(file, FilePart):
        return [file]
    if not isinstance(file, str | Location):
        name = os.fsdecode(file.label) if isinstance(file, FileObject) else "<memory>"
        raise InvalidArgumentError(f"{name}: a file object or memory has no path")
    url, is_url = location_of(file)
    if not is_url:
        return [os.fsdecode(core_file.name) for core_file in _resolve(file, settings)]
    if not names_several(url):
        return [file]
    return [location_of(whole_url(url, match.key, match.url)) for match in stored_objects(url, settings)]


def _resolve(file: File, settings: StoreSettings) -> list[CoreFile]:
    if isinstance(file, (bytearray, memoryview)):
        return [CoreFile(b"<memory>", lambda: file)]
    if isinstance(file, FileObject):
        return [CoreFile(file.label, file.open)]
    if isinstance(file, FilePart):
        return [_byte_range(file, settings)]
    path, is_url = location_of(file)
    if "\0" in path:
        raise ValueError(f"embedded null byte in the path {path!r}")  # the error of open()
    if is_url:
        objects = stored_objects(path, settings)
        if isinstance(file, ListedFile) and len(objects) == 1:
            objects = [objects[0]._replace(listed=file.bytes, listed_records=file.records)]
        return [CoreFile(match.url.encode(), object=match) for match in objects]
    if is_local_pattern(path):
        return [CoreFile(name.encode(_ENCODING, _ERRORS)) for name in files_matching(path)]
    if os.path.isdir(path):
        return [CoreFile(name.encode(_ENCODING, _ERRORS)) for name in files_below(path)]
    return [CoreFile(os.fsencode(path))]


def _byte_range(source: FilePart, settings: StoreSettings) -> CoreFile:
    bounds = None if source.end is None else (source.begin, source.first_record, source.end)
    if not location_of(source.file).is_url:
        source.check_local()
        stamp = source.bytes, int(source.version or 0)
        return CoreFile(
            os.fsencode(source.file), part=bounds, stamp=stamp, checkpoint=source.checkpoint, records=source.records
        )
    store, key = find_object(source.file, settings)
    match = StoredObject(public_url(source.file), store, key, source.bytes, cast("Any", source.version))
    return CoreFile(match.url.encode(), object=match, part=bounds, records=source.records)


def local_path(path: PathLike) -> bytes:
    (name,) = local_paths([path], patterns=False)
    return name


def local_paths(files: Files, patterns: bool = True) -> list[bytes]:
    """Return local paths as the core takes them, with patterns resolved."""
    flat = flatten(files)
    for file in flat:
        location = random_location(file)
        if location.is_url:
            raise ValueError(f"only local files support random access, got the URL {public_url(location.name)!r}")
    if not patterns:
        return [os.fsencode(random_location(file).name) for file in flat]
    return [file.name for file in core_files(flat)]


def random_location(file: File) -> Location:
    if not isinstance(file, str | Location):
        content = file.file if isinstance(file, FileObject) else file
        raise TypeError(f"only a path supports random access, got {type(content).__name__}")
    return location_of(file)
