"""Objects in stores, found by their URLs or by patterns of URLs."""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..naming.addresses import address_of, is_pattern, public_url
from .finding import find_store
from .matching import matches_of, pattern_of
from .settings import StoreSettings
from .store import Store

__all__ = ["StoredObject", "glob_urls", "matching_urls", "stored_objects", "whole_url"]

_WILD = re.compile(r"[*?\[]")
_UNLISTED = ("http://", "https://")  # servers of files: fsspec reads their pages


class StoredObject(NamedTuple):
    """An object in a store. `size` and `version` are None where nobody has asked for them yet; `listed` and
    `listed_records` are the size and the number of records that a list of files says, if one does."""

    url: str  # without credentials
    store: Store
    key: str
    size: int | None = None
    version: str | None = None
    listed: int | None = None
    listed_records: int | None = None

    @property
    def identity(self) -> tuple[str, str]:
        """The same for the same object, and only for it: URLs that show the same may lead to others. The key is told by
        a digest, since it may hold a credential."""
        return self.url, hashlib.sha256(self.key.encode()).hexdigest()


def whole_url(given: str, key: str, shown: str) -> str:
    """The URL that leads to an object which a pattern or a folder has: what names users in that stays."""
    address = address_of(given)
    return shown if "::" in given or "://" in key else f"{address.scheme}://{address.place}/{key}"


def stored_objects(url: str, settings: StoreSettings) -> list[StoredObject]:
    """The object; for a pattern, those that match it, sorted by URL.

    As in a local file system, a pattern whose last part does not begin with a dot matches no name that does, and what
    looks like a pattern is the object that has just this name, if there is one.

    Raises:
      FileNotFoundError: a pattern matches nothing.
      errors.InvalidArgumentError: there is no store for this URL.
    """
    if not is_pattern(url):
        return [_stored(url, settings)]
    if "::" in url or url.startswith(_UNLISTED):
        return [_stored(name, settings) for name in matching_urls(url, settings.storage_options)]
    store, key = find_store(url, settings)
    found = sorted(_listed(store, key))
    if not found:
        raise FileNotFoundError(2, "no file matches the pattern", public_url(url))
    return next(([one] for one in found if one.key == key), found)


def _stored(url: str, settings: StoreSettings) -> StoredObject:
    return StoredObject(public_url(url), *find_store(url, settings))


def _listed(store: Store, key: str) -> Iterator[StoredObject]:
    """Those that match the pattern, and the one that has it as its name."""
    wild = _WILD.search(key)
    before = key if wild is None else key[: wild.start()]
    folder = before[: before.rfind("/") + 1]
    shown, matches = store.url(folder), pattern_of(key)
    hides = not os.path.basename(key).startswith(".")
    for info in store.list(before):
        name = folder + info.url[len(shown) :] if info.url.startswith(shown) else info.url
        if name == key or (matches.fullmatch(name) and not (hides and os.path.basename(name).startswith("."))):
            if info.size == 0 and _is_marker(store, name):
                continue
            yield StoredObject(info.url, store, name, info.size, info.version)


def _is_marker(store: Store, key: str) -> bool:
    """Whether what a listing calls an empty object stands for a folder: its key ends in "/", which is not listed."""
    try:
        store.info(key)
    except FileNotFoundError:
        return True
    return False


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
