"""Fetching objects for the core: threads that take what a stream wants, and deliver it.

The core says which ranges it wants, in the order of need (csrc/io/fetch_queue.h); what a request is, how often it is
tried, and where a cache keeps it, is the business of `stores/`. Threads are started as they are needed, up to
`max_requests`. They hold the queue and nothing of who reads, so a reader that is dropped ends them: its stream closes
the queue.
"""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from ... import _core
from ...base.workers import NoThreadError, start_thread
from ...errors import TFRecordError
from ..stores import Buffer, ObjectInfo, StoreSettings, cache_of, read_head, read_range
from ..stores.errors import changed, is_worth_another_try
from ..stores.objects import StoredObject
from .core_files import CoreFile, CoreObject

__all__ = ["PREFETCH_BYTES", "Fetching", "info_of", "open_stream"]

PREFETCH_BYTES = 128 << 20  # a default for objects, most of which is on its way
_LEAST_BLOCK, _LARGEST_BLOCK = 256 << 10, 8 << 20
_LEAST_CHUNKS, _MOST_CHUNKS = 1 << 20, 32 << 20
_AT_EXIT = 2.0  # seconds

# What an error without a number is.
_NUMBERS: list[tuple[type[OSError], int]] = [
    (FileNotFoundError, errno.ENOENT),
    (PermissionError, errno.EACCES),
    (TimeoutError, errno.ETIMEDOUT),
    (ConnectionError, errno.ECONNRESET),
]


def open_stream(
    files: Sequence[str] | Sequence[CoreFile],
    settings: StoreSettings,
    *arguments: Any,
    prefetch_bytes: int | None = None,
    on_open: Callable[[StoredObject], object] | None = None,
    **options: Any,
) -> _core.RecordStream:
    """The core's stream over files, with threads that fetch the objects among them.

    Args:
      files: as `stream_files` gives them.
      settings: of the stores.
      arguments, options: the others of RecordStream.
      prefetch_bytes: how much may be read ahead, of objects and of records together; None for a default.
      on_open: called, on a thread that fetches, with each object whose size and version were not known, when they are.

    Raises:
      NoThreadError: the system has no thread to fetch with.
    """
    objects = [file.object for file in files if isinstance(file, CoreFile) and isinstance(file.object, StoredObject)]
    given: list[Any] = files  # type: ignore[assignment]
    if not objects:
        if prefetch_bytes is not None:
            options["prefetch_bytes"] = prefetch_bytes
        return _core.RecordStream(given, *arguments, **options)
    total = PREFETCH_BYTES if prefetch_bytes is None else prefetch_bytes
    chunks = min(max(total // 8, _LEAST_CHUNKS), _MOST_CHUNKS)
    fetching = Fetching(objects, settings, max(total - chunks, _LEAST_BLOCK), on_open)
    numbers = iter(range(len(objects)))
    given = [_numbered(file, numbers) for file in files]
    stream = _core.RecordStream(given, *arguments, prefetch_bytes=chunks, fetches=fetching.queue, **options)
    fetching.start()
    return stream


def _numbered(file: Any, numbers: Any) -> Any:
    if not isinstance(file, CoreFile) or file.object is None:
        return file
    return file._replace(object=CoreObject(next(numbers), file.object.size))


class Fetching:
    """The threads that fetch for one stream, and what they know of its objects."""

    def __init__(
        self,
        objects: Sequence[StoredObject],
        settings: StoreSettings,
        most_bytes: int,
        on_open: Callable[[StoredObject], object] | None = None,
    ) -> None:
        requests = settings.max_requests
        # Three quarters as many blocks as are on their way may wait for their turn.
        block = min(max(4 * most_bytes // (7 * requests), _LEAST_BLOCK), _LARGEST_BLOCK)
        self.queue = _core.FetchQueue(bytes=most_bytes, block_bytes=block, requests=requests)
        self._objects = list(objects)
        self._settings = settings
        self._cache = cache_of(settings)
        self._on_open = on_open
        self._lock = threading.Lock()  # guards `_threads`, `_busy`, and what `_objects` learns
        self._threads: list[threading.Thread] = []
        self._busy = 0

    def start(self) -> None:
        """Starts another thread, unless there are enough."""
        with self._lock:
            number = len(self._threads)
            if number >= self._settings.max_requests:
                return
            name = f"tfrecord_fast fetch_{number}"
            try:
                thread = start_thread(_fetch_all, self, name=name, stop=self.queue.close, patience=_AT_EXIT)
                self._threads.append(thread)
            except NoThreadError:
                if number == 0:
                    raise

    def work(self, wanted: _core.Wanted) -> None:
        """Fetches what was taken. Meanwhile another thread waits for what comes: the stream can't start one."""
        with self._lock:
            self._busy += 1
            nobody_waits = self._busy == len(self._threads)
        try:
            if wanted.more or nobody_waits:
                self.start()
            self._fetch(wanted)
        finally:
            with self._lock:
                self._busy -= 1

    def _fetch(self, wanted: _core.Wanted) -> None:
        """Delivers what is wanted, or says why not."""
        try:
            data, size = self._read(wanted)
        except OSError as error:
            self.queue.fail(wanted.number, _number_of(error), error.strerror or type(error).__name__)
        except TFRecordError as error:
            self.queue.fail(wanted.number, errno.EINVAL, str(error))
        except BaseException as error:  # whoever waits for it must not wait for ever
            self.queue.fail(wanted.number, errno.EIO, f"{type(error).__name__} while it was fetched")
        else:
            self.queue.deliver(wanted.number, data, size)

    def _read(self, wanted: _core.Wanted) -> tuple[Buffer, int | None]:
        found = self._objects[wanted.object]
        if found.size is None and wanted.opens and wanted.start == 0 and self._cache is None:
            data, info = read_head(found.store, found.key, wanted.end, self._settings)
            self._opened(wanted.object, info)
            return data, info.size
        if found.size is None:
            found = self._opened(wanted.object, info_of(found, self._settings))
        assert found.size is not None
        end = min(wanted.end, found.size) if wanted.opens else wanted.end
        data = self._kept(found, wanted.start, end)
        if data is None:
            data = read_range(found.store, found.key, wanted.start, end, found.version, self._settings)
        return data, found.size if wanted.opens else None

    def _opened(self, number: int, info: ObjectInfo) -> StoredObject:
        """The object with the size and the version that it has."""
        found = self._objects[number]
        if found.listed not in (None, info.size):
            said = f"it has {info.size} bytes, and {found.listed} by the list of files"
            raise OSError(errno.ESTALE, said, found.url)
        with self._lock:
            known = self._objects[number]
            if known.size is None:
                known = self._objects[number] = found._replace(size=info.size, version=info.version)
        if (known.size, known.version) != (info.size, info.version):  # another request was quicker
            raise changed(found.url)
        if self._on_open is not None:
            self._on_open(known)
        return known

    def _kept(self, found: StoredObject, start: int, end: int) -> Buffer | None:
        """The bytes from the copy in the cache, which is made now if there is none; None without a cache."""
        if self._cache is None or found.size is None:
            return None
        info = ObjectInfo(found.url, found.size, found.version)
        descriptor = self._cache.open(found.store, found.key, info, self._settings)
        if descriptor is None:
            return None
        with open(descriptor, "rb", buffering=0) as copy:
            copy.seek(start)
            data = bytearray(end - start)
            view = memoryview(data)
            while view and (got := copy.readinto(view)):
                view = view[got:]
        return None if view else data  # cut off since it was looked at: the store has all of it

    def close(self) -> None:
        """Ends the threads; one that waits for an answer ends when it has come."""
        self.queue.close()


def _fetch_all(fetching: Fetching) -> None:
    while (wanted := fetching.queue.take()) is not None:
        fetching.work(wanted)


def _number_of(error: OSError) -> int:
    if error.errno is not None:
        return error.errno
    return next((number for kind, number in _NUMBERS if isinstance(error, kind)), errno.EIO)


def info_of(found: StoredObject, settings: StoreSettings) -> ObjectInfo:
    """Size and version, tried again as ranges are."""
    deadline, tried = time.monotonic() + settings.timeout, 0
    while True:
        try:
            return found.store.info(found.key)
        except OSError as error:
            tried += 1
            wait = min(0.1 * 2**tried, 8.0)
            if not is_worth_another_try(error, tried) or time.monotonic() + wait > deadline:
                raise
        time.sleep(wait)
