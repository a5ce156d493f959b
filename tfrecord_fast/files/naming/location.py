"""A local path or a URL."""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

from ...typing import PathLike
from .addresses import public_url

# `scheme://…`, after any number of `scheme::`. One letter is a drive.
_URL = re.compile(r"([A-Za-z][\w.+-]*::)*[A-Za-z][\w.+-]+://")
_LOCAL = "file://"


class Location(NamedTuple):
    """A URL, or a local path without `file://`."""

    name: str
    is_url: bool


def location_of(path: PathLike | Location) -> Location:
    """Tell URLs from local paths. Unknown schemes are rejected on first use."""
    if isinstance(path, Location):
        return path
    name = os.fsdecode(path)
    if name.startswith(_LOCAL):
        return Location(name[len(_LOCAL) :], is_url=False)
    return Location(name, is_url=_URL.match(name) is not None)


def shown_name(file: Any) -> Any:
    """Return a URL without its credentials, and any other file unchanged."""
    if isinstance(file, Location | str | bytes | os.PathLike):
        location = location_of(file)
        if location.is_url:
            return public_url(location.name)
        return location.name if isinstance(file, Location) else file
    return file
