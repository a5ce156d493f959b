"""Whole objects on a local disk, so that the second epoch is local."""

from __future__ import annotations

import hashlib
import os
import threading
import time
import warnings
from collections.abc import Mapping
from typing import Any

from ...base.process import Origin
from ...base.workers import Workers
from ...errors import InvalidArgumentError
from ...typing import PathLike
from ..naming.addresses import unsigned
from ..naming.numbers import at_least
from .cache_folder import CacheError, Draft, Folder, NoRoomError, ObjectCopy
from .retrying import read_range
from .settings import StoreSettings
from .store import ObjectInfo, Store

PIECE = 4 << 20  # bytes of one request
_POLL = 0.02  # seconds between looks at an object that another thread or process fetches
_REST = 60.0  # seconds for which a folder that failed is not written to

# Options and variables that name the server of a bucket: a bucket's name alone does not.
_SERVER_OPTIONS = ("endpoint", "endpoint_url", "base_url", "account_name", "account_host", "profile")
_SERVER_VARIABLES = (
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT",
    "AWS_PROFILE",
    "AZURE_STORAGE_ACCOUNT_NAME",
    "AZURE_STORAGE_ENDPOINT",
    "STORAGE_EMULATOR_HOST",
)


class ObjectCache(os.PathLike[str]):
    """Copies of whole objects in a folder on a local disk, for `cache_dir=` of readers. A plain path as `cache_dir`
    means a cache without a limit.

    An object is fetched once, in parallel, by the first reader that needs it; other threads and processes wait for it.
    A copy belongs to one URL, size and version (entity tag) of an object. To use it, the reader needs these from a
    listing or by one request, but no request for data. Don't change files in the folder: a copy is trusted.

    Objects without a version, and objects larger than the whole cache, are not kept.

    When the disk is full or the folder can't be written to, a RuntimeWarning is issued once per folder, and objects are
    read from their store.

    Args:
      directory: a folder, created when needed. Several processes may share it.
      max_bytes: the limit; the least recently used copies are removed. None: no limit.

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
        """The limit, or None."""
        return self._folder.max_bytes

    def __fspath__(self) -> str:
        return self.directory

    def open(
        self, store: Store, key: str, info: ObjectInfo | None = None, settings: StoreSettings | None = None
    ) -> int | None:
        """Return a descriptor of a local copy. The caller closes it; it stays readable when the copy is removed.

        Args:
          store, key: as `find_store` returns them.
          info: the object's size and version; None: one request asks for them.
          settings: for the requests.

        Returns None if the object can't be kept here and must be read from the store.

        Raises:
          OSError: as a read from the store does; ESTALE: the object no longer matches `info`.
        """
        settings = settings or StoreSettings()
        copy = _object_copy(info or store.info(key), key, settings)
        return None if copy is None else self._opened(store, key, copy, settings)

    def local_path(
        self, store: Store, key: str, info: ObjectInfo | None = None, settings: StoreSettings | None = None
    ) -> str | None:
        """Return the path of a local copy; otherwise as `open`. The copy may be removed at any time to make room: open
        it at once, and if it is not there, call again."""
        settings = settings or StoreSettings()
        copy = _object_copy(info or store.info(key), key, settings)
        descriptor = None if copy is None else self._opened(store, key, copy, settings)
        if copy is None or descriptor is None:
            return None
        os.close(descriptor)
        return self._folder.path(copy.name, "data")

    def _opened(self, store: Store, key: str, copy: ObjectCopy, settings: StoreSettings) -> int | None:
        descriptor = self._folder.opened(copy)
        if descriptor is not None or time.monotonic() < self._resting_until:
            return descriptor
        if self.max_bytes is not None and copy.size > self.max_bytes:
            return None
        try:
            return self._fetched(store, key, copy, settings)
        except NoRoomError:
            return None
        except CacheError as error:
            self._resting_until = time.monotonic() + _REST
            _warn_once(self.directory, str(error))
            return None

    def _fetched(self, store: Store, key: str, copy: ObjectCopy, settings: StoreSettings) -> int | None:
        """Fetch the object, or wait until it is fetched; return None if the other fetch makes no progress."""
        seen, since = self._folder.progress(copy), time.monotonic()
        while (lock := self._folder.lock(copy)) is None:
            time.sleep(_POLL)
            now = self._folder.progress(copy)
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > settings.timeout:
                return None
        try:
            descriptor = self._folder.opened(copy)
            if descriptor is not None:
                return descriptor
            draft = self._folder.draft(copy)
            try:
                self._fill(draft, store, key, copy, settings)
                self._folder.publish(draft, copy)
            finally:
                draft.discard()
        finally:
            lock.release()
        return self._folder.opened(copy)

    def _fill(self, draft: Draft, store: Store, key: str, copy: ObjectCopy, settings: StoreSettings) -> None:
        slots = self._slots.setdefault(settings.max_requests, threading.BoundedSemaphore(settings.max_requests))

        def fetch(at: int) -> None:
            with slots:
                end = min(at + PIECE, copy.size)
                data = memoryview(read_range(store, key, at, end, copy.version, settings)).cast("B")
            draft.write(at, data)

        starts = range(0, copy.size, PIECE)
        if len(starts) <= 1:
            for start in starts:
                fetch(start)
            return
        workers = Workers(min(len(starts), settings.max_requests), "tfrecord_fast cache")
        try:
            for _ in workers.map(fetch, starts):
                pass
        finally:
            workers.stop()  # after an error, requests under way end by themselves and write nowhere

    def __reduce__(self) -> tuple[type[ObjectCache], tuple[str, int | None]]:
        return ObjectCache, (self.directory, self.max_bytes)

    def __repr__(self) -> str:
        bound = "" if self.max_bytes is None else f", max_bytes={self.max_bytes}"
        return f"ObjectCache({self.directory!r}{bound})"


def _object_copy(info: ObjectInfo, key: str, settings: StoreSettings) -> ObjectCopy | None:
    """Return the copy of an object, whose name is unique to server, URL, version and size; None without a version.

    The key is hashed as well: URLs that differ only in their query are equal without credentials. A known store's
    signature, which changes each time, is left out.
    """
    if info.version is None:
        return None
    servers = _servers(settings.storage_options or {})
    identity = "\0".join([*servers, info.url, unsigned(key), info.version, str(info.size)])
    name = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:40]
    return ObjectCopy(name, info.size, info.version)


def _servers(options: Mapping[str, Any]) -> list[str]:
    for nested in (options.get("client_kwargs"), options.get("client_options")):
        options = {**options, **(nested if isinstance(nested, Mapping) else {})}
    headers = options.get("headers") or options.get("default_headers") or {}  # a server may choose an object by them
    plain = {name.lower().removeprefix("aws_").removeprefix("azure_"): value for name, value in options.items()}
    servers = [f"{name}={str(plain[name]).rstrip('/')}" for name in _SERVER_OPTIONS if plain.get(name)]
    sent = sorted((str(name).lower(), str(value)) for name, value in headers.items())
    servers += [f"{name}={value}" for name, value in sent if name != "authorization"]
    return servers + [f"{name}={os.environ[name]}" for name in _SERVER_VARIABLES if os.environ.get(name)]


_lock = threading.Lock()
_origin = Origin()
_caches: dict[tuple[str, int | None], ObjectCache] = {}
_warned: set[str] = set()


def _warn_once(directory: str, reason: str) -> None:
    if directory not in _warned:
        _warned.add(directory)
        text = f"{directory}: cannot keep objects here ({reason}); reading without the cache"
        warnings.warn(text, RuntimeWarning, stacklevel=4)


def cache_of(settings: StoreSettings) -> ObjectCache | None:
    """Return the cache of these settings, which all readers of this process share; None without `cache_dir`."""
    global _lock, _origin, _caches
    if settings.cache_dir is None:
        if settings.cache_bytes is not None:
            raise InvalidArgumentError("cache_bytes requires cache_dir")
        return None
    if not _origin.is_here():  # the lock may be held by a thread that exists in the parent process only
        _lock, _origin, _caches = threading.Lock(), Origin(), {}
    with _lock:
        name = os.path.abspath(settings.cache_dir), settings.cache_bytes
        if name not in _caches:
            _caches[name] = ObjectCache(*name)
        return _caches[name]


STORE_OPTIONS = frozenset({"storage_options", "max_requests", "cache_dir"})


def settings_of(options: Mapping[str, Any]) -> StoreSettings:
    return store_settings(**{name: options[name] for name in STORE_OPTIONS & options.keys()})


def store_settings(
    storage_options: Mapping[str, Any] | None = None, max_requests: int = 16, cache_dir: PathLike | None = None
) -> StoreSettings:
    """Return the settings for a reader. `cache_dir` is a folder, or an ObjectCache with a limit."""
    folder = None if cache_dir is None else os.fsdecode(cache_dir)
    max_bytes = cache_dir.max_bytes if isinstance(cache_dir, ObjectCache) else None
    return StoreSettings(storage_options, max_requests, folder, max_bytes)
