"""Objects in stores, by their URLs or by patterns of URLs."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...base.workers import Workers
from ..naming.addresses import WILD, address_of, is_pattern, names_several, public_url
from ..naming.folders import HIDDEN, record_names
from .finding import find_object, find_store
from .matching import matches_of, pattern_of
from .settings import StoreSettings
from .store import Store

_UNLISTED = ("http://", "https://")  # obstore can't list them; fsspec reads their pages


class StoredObject(NamedTuple):
    """An object in a store. `size` and `version` are None until they are requested. `listed` and `listed_records` are
    the size and the number of records according to a shard list."""

    url: str  # without credentials
    store: Store
    key: str
    size: int | None = None
    version: str | None = None
    listed: int | None = None
    listed_records: int | None = None

    @property
    def identity(self) -> tuple[str, str]:
        """A value that is unique to the object; its URL without credentials is not. The key is hashed, since it may
        contain a credential."""
        return self.url, hashlib.sha256(self.key.encode()).hexdigest()


def whole_url(origin: str, key: str, shown: str) -> str:
    """Return the URL of an object found by the pattern or folder `origin`, with the user name in that."""
    address = address_of(origin)
    return shown if "::" in origin or "://" in key else f"{address.scheme}://{address.bucket}/{key}"


def stored_objects(url: str, settings: StoreSettings) -> list[StoredObject]:
    """Return the object, the objects that match a pattern, or those of a folder, sorted by URL.

    As in a local file system, only a pattern with a leading dot matches hidden names, and an object that has the
    pattern itself as its name is preferred.
    """
    if not names_several(url):
        return [_stored(url, settings)]
    if not is_pattern(url):
        return _in_folder(url, settings)
    if "::" in url or url.startswith(_UNLISTED):
        return [_stored(name, settings) for name in matching_urls(url, settings.storage_options)]
    store, key = find_store(url, settings)
    matches = _without_markers(sorted(_listed(store, key)), settings)
    if not matches:
        raise FileNotFoundError(2, "no file matches the pattern", public_url(url))
    return next(([match] for match in matches if match.key == key), matches)


def _stored(url: str, settings: StoreSettings) -> StoredObject:
    return StoredObject(public_url(url), *find_object(url, settings))


def _in_folder(url: str, settings: StoreSettings) -> list[StoredObject]:
    store, folder = find_store(url, settings, lists=True)
    prefix = store.url(folder)
    if not prefix.endswith("/"):  # as fsspec shows local folders
        prefix, folder = f"{prefix}/", f"{folder}/"
    below = len(prefix)
    shown = {
        info.url: info
        for info in store.list(folder)
        if info.url.startswith(prefix)  # fsspec lists a file as its own folder
        and not any(name.startswith(HIDDEN) for name in info.url[below:].split("/"))
    }
    infos = map(shown.__getitem__, record_names(shown))
    found = [StoredObject(info.url, store, folder + info.url[below:], info.size, info.version) for info in infos]
    objects = _without_markers(found, settings)
    if not objects:
        raise FileNotFoundError(2, "no objects in the folder", prefix)
    return objects


def _listed(store: Store, key: str) -> Iterator[StoredObject]:
    """Yield the objects that match a pattern, and the one that has it as its name."""
    wild = WILD.search(key)
    before = key if wild is None else key[: wild.start()]
    folder = before[: before.rfind("/") + 1]
    shown, expression = store.url(folder), pattern_of(key)
    hides = not any(part.startswith(".") for part in key.split("/"))
    for info in store.list(before):
        name = folder + info.url[len(shown) :] if info.url.startswith(shown) else info.url
        is_hidden = hides and any(part.startswith(".") for part in name.split("/"))
        if name == key or (expression.fullmatch(name) and not is_hidden):
            yield StoredObject(info.url, store, name, info.size, info.version)


def _without_markers(objects: list[StoredObject], settings: StoreSettings) -> list[StoredObject]:
    """Drop the empty objects that mark folders; the store is asked about several at a time."""
    empty = [source for source in objects if not source.size]
    if not empty:
        return objects
    workers = Workers(min(settings.max_requests, len(empty)), "tfrecord_fast markers")
    try:
        marks = dict(zip(empty, workers.map(_is_marker, empty), strict=True))
    finally:
        workers.stop()
    return [source for source in objects if not marks.get(source)]


def _is_marker(source: StoredObject) -> bool:
    """Return True if an empty object in a listing marks a folder; its real key ends in "/"."""
    try:
        source.store.info(source.key)
    except FileNotFoundError:
        return True
    return False


def glob_urls(pattern: str, options: Mapping[str, Any] | None = None) -> list[str]:
    """Return the URLs that match, sorted. As in a local file system, only a pattern with a leading dot matches hidden
    names."""
    store, key = find_store(pattern, options, lists=True)
    urls = sorted(matches_of(store, key))
    if posixpath.basename(key).startswith("."):
        return urls
    return [url for url in urls if not posixpath.basename(url.partition("::")[0]).startswith(".")]


def matching_urls(url: str, options: Mapping[str, Any] | None = None) -> list[str]:
    """Return the URL, or the URLs that match a pattern, sorted."""
    if not is_pattern(url):
        return [url]
    urls = glob_urls(url, options)
    if not urls:
        raise FileNotFoundError(2, "no file matches the pattern", public_url(url))
    return urls
