"""Whole objects on a local disk, so that the second epoch is local."""

from __future__ import annotations

import hashlib
import os
import threading
import time
import warnings
from collections.abc import Mapping
from typing import Any

from ... import _core
from ...base.process import Origin
from ...base.workers import Workers
from ...errors import InvalidArgumentError
from ...typing import PathLike
from ..naming.addresses import unsigned
from ..naming.numbers import at_least
from .cache_folder import PIECE, CacheError, Draft, Folder, NoRoomError, Wanted
from .requests import read_range
from .settings import StoreSettings
from .store import ObjectInfo, Store

__all__ = ["STORE_OPTIONS", "ObjectCache", "cache_of", "settings_of", "store_settings"]

_POLL = 0.02  # seconds between looks at what somebody else fetches
_REST = 60.0  # seconds for which nothing is written to a folder that did not take it

# Options and variables that say which server a bucket is on: a name alone does not.
_PLACES = ("endpoint", "endpoint_url", "base_url", "account_name", "account_host")
_PLACES_OUTSIDE = (
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT",
    "AZURE_STORAGE_ACCOUNT_NAME",
    "AZURE_STORAGE_ENDPOINT",
    "STORAGE_EMULATOR_HOST",
)


class ObjectCache(os.PathLike[str]):
    """Copies of whole objects in a folder on a local disk: for `cache_dir=` of readers, where the folder's name alone
    stands for one without a bound.

    An object is fetched once, by parallel ranges, by whoever wants it first; other threads and processes wait for it. A
    copy is used for an object whose URL, size and version (its entity tag) are the copy's; so each use takes an
    `ObjectInfo`, that of a listing or of one request, and no request for data. A copy whose file has been changed since
    is compared with its checksums, and fetched again if it is damaged.

    Objects in stores without versions are not kept, nor those that are larger than the whole cache: nothing could tell
    that they have changed, or there is no room.

    When the disk is full, or the folder can't be written to, there is one RuntimeWarning for the folder, and objects
    are read from their store.

    Args:
      directory: a folder, made when needed. Several processes may share it.
      max_bytes: the bound on what it keeps; the copies that were not used for the longest time go. None: no bound.

    Raises:
      errors.InvalidArgumentError: `max_bytes` is less than 1.

    >>> import tempfile, tfrecord_fast as tf
    >>> cache = tf.ObjectCache(tempfile.mkdtemp(), max_bytes=500 << 30)
    >>> reader = tf.ShardReader("s3://bucket/a.tfrecord", cache_dir=cache)
    """

    def __init__(self, directory: PathLike, max_bytes: int | None = None) -> None:
        if max_bytes is not None:
            max_bytes = at_least(1, "max_bytes", max_bytes)
        self._folder = Folder(os.path.abspath(os.fsdecode(directory)), max_bytes)
        self._slots: dict[int, threading.BoundedSemaphore] = {}
        self._resting_until = 0.0

    @property
    def directory(self) -> str:
        """The folder's absolute path."""
        return self._folder.directory

    @property
    def max_bytes(self) -> int | None:
        """The bound, or None."""
        return self._folder.max_bytes

    def __fspath__(self) -> str:
        return self.directory

    def open(
        self, store: Store, key: str, info: ObjectInfo | None = None, settings: StoreSettings | None = None
    ) -> int | None:
        """A descriptor of a local copy, which the caller closes; it stays readable when the copy is removed.

        Args:
          store, key: as `find_store` gives them.
          info: the object's size and version, if they are known; if not, one request asks for them.
          settings: for the requests.

        Returns None if the object can't be kept here; then it is read from the store.

        Raises:
          OSError: as the store's reading does; ESTALE: the object is no longer that of `info`.
        """
        settings = settings or StoreSettings()
        wanted = _wanted(info or store.info(key), key, settings)
        return None if wanted is None else self._opened(store, key, wanted, settings)

    def _opened(self, store: Store, key: str, wanted: Wanted, settings: StoreSettings) -> int | None:
        descriptor = self._folder.opened(wanted)
        if descriptor is not None or time.monotonic() < self._resting_until:
            return descriptor
        if self.max_bytes is not None and wanted.size > self.max_bytes:
            return None
        try:
            return self._fetched(store, key, wanted, settings)
        except NoRoomError:
            return None
        except CacheError as error:
            self._resting_until = time.monotonic() + _REST
            _warn_once(self.directory, str(error))
            return None

    def local_path(
        self, store: Store, key: str, info: ObjectInfo | None = None, settings: StoreSettings | None = None
    ) -> str | None:
        """The path of a local copy, as `open` gives its descriptor. It may be removed at any time, to make room: open
        it at once, and if it is not there, ask again."""
        settings = settings or StoreSettings()
        wanted = _wanted(info or store.info(key), key, settings)
        descriptor = None if wanted is None else self._opened(store, key, wanted, settings)
        if wanted is None or descriptor is None:
            return None
        os.close(descriptor)
        return self._folder.path(wanted.name, "data")

    def _fetched(self, store: Store, key: str, wanted: Wanted, settings: StoreSettings) -> int | None:
        """Fetches the object, or waits until somebody else has; None if that one gets nowhere."""
        seen, since = self._folder.progress(wanted), time.monotonic()
        while (lock := self._folder.lock(wanted)) is None:
            time.sleep(_POLL)
            now = self._folder.progress(wanted)
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > settings.timeout:
                return None
        try:
            descriptor = self._folder.opened(wanted)
            if descriptor is not None:
                return descriptor  # somebody else has fetched it
            draft = self._folder.draft(wanted)
            try:
                self._folder.publish(draft, wanted, self._fill(draft, store, key, wanted, settings))
            finally:
                self._folder.discard(draft)
        finally:
            lock.release()
        return self._folder.opened(wanted)

    def _fill(self, draft: Draft, store: Store, key: str, wanted: Wanted, settings: StoreSettings) -> list[int]:
        """The checksums of the pieces, which it has written."""
        slots = self._slots.setdefault(settings.max_requests, threading.BoundedSemaphore(settings.max_requests))

        def fetch(at: int) -> int:
            with slots:
                end = min(at + PIECE, wanted.size)
                data = memoryview(read_range(store, key, at, end, wanted.version, settings)).cast("B")
            draft.write(at, data)
            checksum: int = _core.crc32c(data)
            return checksum

        places = range(0, wanted.size, PIECE)
        if len(places) <= 1:
            return [fetch(at) for at in places]
        workers = Workers(min(len(places), settings.max_requests), "tfrecord_fast cache")
        try:
            return list(workers.map(fetch, places))
        finally:
            workers.stop()  # what is under way ends by itself, and writes nowhere

    def __reduce__(self) -> tuple[type[ObjectCache], tuple[str, int | None]]:
        return ObjectCache, (self.directory, self.max_bytes)

    def __repr__(self) -> str:
        bound = "" if self.max_bytes is None else f", max_bytes={self.max_bytes}"
        return f"ObjectCache({self.directory!r}{bound})"


def _wanted(info: ObjectInfo, key: str, settings: StoreSettings) -> Wanted | None:
    """What a copy has to be of, under a name of its own for each server, URL, version and size; None: can't be kept.

    The URL without credentials may be that of several objects, which a query tells apart; a signature, which is another
    each time, does not."""
    if info.version is None:
        return None
    parts = [*_places(settings.storage_options or {}), info.url, unsigned(key), info.version, str(info.size)]
    name = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:40]
    return Wanted(name, info.url, info.version, info.size)


def _places(options: Mapping[str, Any]) -> list[str]:
    nested = options.get("client_kwargs")
    options = {**options, **(nested if isinstance(nested, Mapping) else {})}
    said = {name.lower().removeprefix("aws_").removeprefix("azure_"): value for name, value in options.items()}
    inside = [f"{name}={str(said[name]).rstrip('/')}" for name in _PLACES if said.get(name)]
    return inside + [f"{name}={os.environ[name]}" for name in _PLACES_OUTSIDE if os.environ.get(name)]


_lock = threading.Lock()
_origin = Origin()
_caches: dict[tuple[str, int | None], ObjectCache] = {}
_warned: set[str] = set()


def _warn_once(directory: str, why: str) -> None:
    if directory not in _warned:
        _warned.add(directory)
        text = f"{directory}: objects can't be kept here ({why}), and are read without the cache"
        warnings.warn(text, RuntimeWarning, stacklevel=4)


def cache_of(settings: StoreSettings) -> ObjectCache | None:
    """The cache that the settings ask for, the same one for all readers of this process; None if they ask for none.

    Raises:
      errors.InvalidArgumentError: `cache_bytes` without `cache_dir`, or less than 1.
    """
    global _lock, _origin, _caches
    most = settings.cache_bytes
    if settings.cache_dir is None:
        if most is not None:
            raise InvalidArgumentError("cache_bytes is the bound of cache_dir, which is missing")
        return None
    if not _origin.is_here():  # a thread that is not in this process may hold a lock
        _lock, _origin, _caches = threading.Lock(), Origin(), {}
    with _lock:
        name = os.path.abspath(settings.cache_dir), most
        if name not in _caches:
            _caches[name] = ObjectCache(*name)
        return _caches[name]


STORE_OPTIONS = frozenset({"storage_options", "max_requests", "cache_dir"})


def settings_of(options: Mapping[str, Any]) -> StoreSettings:
    """Return the settings that a reader's options contain. Other options are ignored."""
    return store_settings(**{name: options[name] for name in STORE_OPTIONS & options.keys()})


def store_settings(
    storage_options: Mapping[str, Any] | None = None, max_requests: int = 16, cache_dir: PathLike | None = None
) -> StoreSettings:
    """The settings for a reader. `cache_dir` is a folder, or an ObjectCache, which has a bound.

    Raises:
      TypeError, ValueError: an argument that can't be.
    """
    folder = None if cache_dir is None else os.fsdecode(cache_dir)
    most = cache_dir.max_bytes if isinstance(cache_dir, ObjectCache) else None
    return StoreSettings(storage_options, max_requests, folder, most)
