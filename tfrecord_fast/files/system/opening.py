"""Files named by a URL: what is one, opening them, and the URLs that match a pattern."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...typing import PathLike
from ..naming.addresses import is_pattern, public_url
from ..stores.file_systems import FileSystemStore
from ..stores.finding import find_store
from ..stores.matching import matches_of
from .url_reader import UrlReader, has_a_size
from .url_writer import UrlWriter

__all__ = ["Place", "glob_urls", "matching_urls", "open_url", "place_of", "shown_name"]

# `scheme://…`, after any number of `scheme::`. One letter is a drive.
_URL = re.compile(r"([A-Za-z][\w.+-]*::)*[A-Za-z][\w.+-]+://")
_LOCAL = "file://"


class Place(NamedTuple):
    """Where a name leads: to a URL, or to a local path, which comes without `file://`."""

    name: str
    is_url: bool


def place_of(path: PathLike) -> Place:
    """The one answer to the question whether a name is a URL. A scheme that is not known shows when the URL is used."""
    name = os.fsdecode(path)
    if name.startswith(_LOCAL):
        return Place(name[len(_LOCAL) :], is_url=False)
    return Place(name, is_url=_URL.match(name) is not None)


def shown_name(file: Any) -> Any:
    """A file as it may be shown: a URL without what may be a credential, all else as it is."""
    if isinstance(file, str | bytes | os.PathLike):
        place = place_of(file)
        if place.is_url:
            return public_url(place.name)
    return file


def open_url(url: str, mode: str, options: Mapping[str, Any] | None = None) -> Any:
    """Opens a URL for bytes; to be written, as a UrlWriter.

    Raises:
      errors.InvalidArgumentError: no file system has the URL's scheme; a mode that objects don't have, such as "a".
      FileNotFoundError, OSError: when it is opened, or when it is read.
    """
    mode = mode.replace("b", "").replace("t", "") + "b"
    if mode != "rb":
        return UrlWriter(url, mode, options)
    store, key = find_store(url, options)
    if isinstance(store, FileSystemStore) and not (store.fetches and has_a_size(store, key)):
        return store.open(key)
    return UrlReader(store, key)


def glob_urls(pattern: str, options: Mapping[str, Any] | None = None) -> list[str]:
    """The URLs that match, sorted. As in a local file system, a pattern that does not begin with a dot matches no name
    that does."""
    store, key = find_store(pattern, options, lists=True)
    found = sorted(matches_of(store, key))
    if posixpath.basename(key).startswith("."):
        return found
    return [url for url in found if not posixpath.basename(url.partition("::")[0]).startswith(".")]


def matching_urls(url: str, options: Mapping[str, Any] | None = None) -> list[str]:
    """The URL; for a pattern, the URLs that match it, sorted.

    Raises:
      FileNotFoundError: a pattern matches nothing.
    """
    if not is_pattern(url):
        return [url]
    urls = glob_urls(url, options)
    if not urls:
        raise FileNotFoundError(2, "no file matches the pattern", public_url(url))
    return urls
