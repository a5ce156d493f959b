"""Paths for random access."""

from __future__ import annotations

import os

from ...typing import Files, PathLike
from ..naming.addresses import public_url
from ..naming.file_objects import FileObject
from ..naming.location import Location, location_of
from .core_files import File, core_files, flatten

__all__ = ["local_path", "local_paths", "random_location"]


def local_path(path: PathLike) -> bytes:
    """Return a local path as the core takes it."""
    (name,) = local_paths([path], patterns=False)
    return name


def local_paths(files: Files, patterns: bool = True) -> list[bytes]:
    """Return local paths as the core takes them, with patterns resolved.

    Raises:
      TypeError: a file object or memory, which has no path.
      ValueError: a URL.
    """
    flat = flatten(files)
    for file in flat:
        location = random_location(file)
        if location.is_url:
            raise ValueError(f"only local files support random access, got the URL {public_url(location.name)!r}")
    if not patterns:
        return [os.fsencode(random_location(file).name) for file in flat]
    return [file.name for file in core_files(flat)]


def random_location(file: File) -> Location:
    """Return the location of a file for random access.

    Raises:
      TypeError: a file object or memory, which has no path.
    """
    if not isinstance(file, str | Location):
        content = file.file if isinstance(file, FileObject) else file
        raise TypeError(f"only a path supports random access, got {type(content).__name__}")
    return location_of(file)
