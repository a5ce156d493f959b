"""Paths of local files, for random access."""

from __future__ import annotations

import os

from ...typing import Files, PathLike
from ..naming.file_objects import FileObject
from ..naming.location import location_of
from .core_files import core_files, flatten

__all__ = ["local_path", "local_paths"]


def local_path(path: PathLike) -> bytes:
    """A local path as the core takes it."""
    (one,) = local_paths([path], patterns=False)
    return one


def local_paths(files: Files, patterns: bool = True) -> list[bytes]:
    """Local paths, with patterns resolved."""
    flat = flatten(files)
    paths: list[str] = []
    for file in flat:
        if not isinstance(file, (str, bytes, os.PathLike)):
            given = file.file if isinstance(file, FileObject) else file
            raise TypeError(f"only a path can be read at random, got {type(given).__name__}")
        name, is_url = location_of(file)
        if is_url:
            raise ValueError(f"only local files can be read at random, got the URL {name!r}")
        paths.append(name)
    if not patterns:
        return [os.fsencode(path) for path in paths]
    return [file.name for file in core_files(flat)]
