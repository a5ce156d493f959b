"""What users may give as files, and how the core opens it.

The core takes a file as a plain path or as a `CoreFile`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, cast

import numpy as np

from ... import _core
from ...errors import InvalidArgumentError
from ...typing import Files, PathLike
from ...values.columns.conversion import plain
from ..naming.addresses import is_pattern, public_url
from ..naming.byte_range import FilePart
from ..naming.file_objects import FileObject
from ..naming.location import location_of
from ..naming.patterns import is_local_pattern, matching_paths
from ..stores import StoreSettings, find_store
from ..stores.objects import StoredObject, stored_objects, whole_url
from .shard_lists import ListedFile

__all__ = [
    "DEFAULT_SETTINGS",
    "CoreFile",
    "CoreObject",
    "File",
    "core_files",
    "flatten",
    "has_urls",
    "resolved",
    "stream_files",
]


class CoreObject(NamedTuple):
    """An object in a store as the core takes it: its number among those that are fetched, and its bytes if known."""

    number: int
    size: int | None


class CoreFile(NamedTuple):
    """A file as the core takes it.

    `name` is opened if there is neither an `opener` nor an `object`. Otherwise it is only named in errors, and what is
    read is what `opener()` returns (a binary file object, a descriptor, or an object with the buffer protocol), or the
    object, whose bytes are fetched: `open_stream` gives it its number. Of a `part`, only its records are read.
    """

    name: bytes
    opener: Callable[[], object] | None = None
    object: StoredObject | CoreObject | None = None
    part: tuple[int, int, int] | None = None  # where it begins, that record's number, and where it ends
    stamp: tuple[int, int] | None = None  # bytes and time of change that the local file has to have still
    records: int | None = None  # how many there are, if somebody has counted them

    @property
    def is_local(self) -> bool:
        """Whether `name` is the path of a local file, all of which is read."""
        return self.opener is None and self.object is None and self.part is None and self.stamp is None


File = PathLike | bytearray | memoryview | FileObject | FilePart


DEFAULT_SETTINGS = StoreSettings()

_ENCODING, _ERRORS = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()


def flatten(filenames: Files | FileObject) -> list[File]:
    """A flat list of paths and readable objects, in order; raises for what can't be a file.

    Objects with `read` become FileObjects, which can be read more than once.

    Raises:
      TypeError: an element is neither a path nor readable.
      ValueError: `filenames` is an iterator, which could be read only once.
    """
    if _is_one_file(filenames):
        one: Any = filenames
        return [FileObject(one) if hasattr(one, "read") else one]
    if isinstance(filenames, Iterator):
        raise ValueError("filenames is an iterator, which can be read only once; pass a list")
    given = plain(filenames)
    if isinstance(given, np.ndarray):
        given = given.ravel().tolist()
    elif _is_one_file(given):  # a tensor of one
        return [given]
    if not isinstance(given, Iterable) or isinstance(given, dict):
        raise TypeError(f"filenames must be paths (str, bytes, PathLike), got {type(given).__name__}")
    elements: list[Any] = list(given)
    are_paths: bool = _core.are_plain_paths(elements)
    if are_paths:  # there may be tens of thousands
        return elements
    return [file for element in elements for file in flatten(element)]


def _is_one_file(value: object) -> bool:
    kinds = (str, bytes, bytearray, memoryview, os.PathLike, FileObject, FilePart)
    return isinstance(value, kinds) or hasattr(value, "read")


def has_urls(files: list[File]) -> bool:
    """Whether there is a URL in a list that `flatten` made."""
    if _core.are_plain_paths(files):
        return False
    names = (file.file if isinstance(file, FilePart) else file for file in files)
    return any(location_of(name).is_url for name in names if isinstance(name, str | bytes | os.PathLike))


def core_files(files: list[File], settings: StoreSettings = DEFAULT_SETTINGS) -> list[CoreFile]:
    """Resolves globs and URLs in a list that `flatten` made.

    Args:
      files: the list.
      settings: of the stores that URLs lead to.

    Raises:
      FileNotFoundError: a pattern matches nothing. A plain path is not looked up until it is opened.
    """
    if _core.are_plain_paths(files):
        return [CoreFile(file.encode(_ENCODING, _ERRORS)) for file in files]
    return [found for file in files for found in _core_files_of(file, settings)]


def stream_files(files: list[File], settings: StoreSettings = DEFAULT_SETTINGS) -> list[str] | list[CoreFile]:
    """The same for a `RecordStream`, which takes plain paths as they are."""
    return files if _core.are_plain_paths(files) else core_files(files, settings)


def resolved(file: File, settings: StoreSettings) -> list[File]:
    """The file, or those that a pattern stands for, under names by which they can be opened anew.

    Raises:
      FileNotFoundError: a pattern matches nothing.
      errors.InvalidArgumentError: a file object or memory, which has no name.
    """
    if isinstance(file, FilePart):
        return [file]
    if not isinstance(file, str | bytes | os.PathLike):
        name = os.fsdecode(file.label) if isinstance(file, FileObject) else "<memory>"
        raise InvalidArgumentError(f"{name}: a file object or memory has no path")
    url, is_url = location_of(file)
    if not is_url:
        return [os.fsdecode(found.name) for found in _core_files_of(file, settings)]
    if not is_pattern(url):
        return [file]
    return [whole_url(url, found.key, found.url) for found in stored_objects(url, settings)]


def _core_file_of_part(part: FilePart, settings: StoreSettings) -> CoreFile:
    places = None if part.end is None else (part.begin, part.first_record, part.end)
    if not location_of(part.file).is_url:
        part.check_local()
        stamp = part.bytes, int(part.version or 0)
        return CoreFile(os.fsencode(part.file), part=places, stamp=stamp, records=part.records)
    found = StoredObject(public_url(part.file), *find_store(part.file, settings), part.bytes, cast("Any", part.version))
    return CoreFile(found.url.encode(), object=found, part=places, records=part.records)


def _core_files_of(file: File, settings: StoreSettings) -> list[CoreFile]:
    if isinstance(file, (bytearray, memoryview)):
        return [CoreFile(b"<memory>", lambda: file)]
    if isinstance(file, FileObject):
        return [CoreFile(file.label, file.open)]
    if isinstance(file, FilePart):
        return [_core_file_of_part(file, settings)]
    path, is_url = location_of(file)
    if "\0" in path:
        raise ValueError(f"embedded null byte in the path {path!r}")  # as open() says
    if is_url:
        found = stored_objects(path, settings)
        if isinstance(file, ListedFile) and len(found) == 1:
            found = [one._replace(listed=file.bytes, listed_records=file.records) for one in found]
        return [CoreFile(one.url.encode(), object=one) for one in found]
    if is_local_pattern(path):
        paths = matching_paths(path, recursive=True)
        if not paths:
            raise FileNotFoundError(2, "no file matches the pattern", path)
        return [CoreFile(name.encode(_ENCODING, _ERRORS)) for name in paths]
    return [CoreFile(os.fsencode(path))]
