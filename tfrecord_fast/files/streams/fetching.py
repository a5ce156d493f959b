"""Threads that fetch byte ranges of objects for the core.

The core requests ranges in the order in which it needs them (csrc/io/fetch_queue.h). `stores/` has requests, retries
and the cache. Threads are started as needed, up to `max_requests`. They hold the queue but no reader. A reader that is
dropped closes its stream, the stream closes the queue, and the threads end.
"""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Sequence
from typing import Any

from ... import _core
from ...base.workers import NoThreadError, start_thread
from ...errors import TFRecordError
from ..stores import Buffer, ObjectInfo, StoreSettings, cache_of, read_head, read_info, read_range
from ..stores.errors import changed
from ..stores.objects import StoredObject
from .core_files import CoreFile, CoreObject

PREFETCH_BYTES = 128 << 20  # the default for objects
_LEAST_BLOCK, _LARGEST_BLOCK = 256 << 10, 8 << 20
_LEAST_CHUNKS, _MOST_CHUNKS = 1 << 20, 32 << 20
_AT_EXIT = 2.0  # seconds

# For errors without a number.
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
    """Return the core's stream over files, with threads that fetch the objects among them.

    Args:
      files: as `stream_files` returns them.
      settings: of the stores.
      arguments, options: other arguments of RecordStream.
      prefetch_bytes: the limit for reading ahead, of objects and records together; None for a default.
      on_open: called on a fetching thread with each object when its unknown size and version become known.

    Raises:
      NoThreadError: the system has no more threads for this process.
    """
    objects = [file.object for file in files if isinstance(file, CoreFile) and isinstance(file.object, StoredObject)]
    if not objects:
        if prefetch_bytes is not None:
            options["prefetch_bytes"] = prefetch_bytes
        plain: Any = files
        return _core.RecordStream(plain, *arguments, **options)
    total = PREFETCH_BYTES if prefetch_bytes is None else prefetch_bytes
    chunks = min(max(total // 8, _LEAST_CHUNKS), _MOST_CHUNKS)
    fetching = Fetching(objects, settings, max(total - chunks, _LEAST_BLOCK), on_open)
    numbers = iter(range(len(objects)))
    numbered = [_numbered(file, numbers) for file in files]
    stream = _core.RecordStream(numbered, *arguments, prefetch_bytes=chunks, fetches=fetching.queue, **options)
    fetching.start()
    return stream


def _numbered(file: Any, numbers: Any) -> Any:
    if not isinstance(file, CoreFile) or file.object is None:
        return file
    return file._replace(object=CoreObject(next(numbers), file.object.size))


class Fetching:
    """The threads that fetch for one stream, and the known sizes and versions of its objects."""

    def __init__(
        self,
        objects: Sequence[StoredObject],
        settings: StoreSettings,
        most_bytes: int,
        on_open: Callable[[StoredObject], object] | None = None,
    ) -> None:
        requests = settings.max_requests
        # The memory holds `requests` blocks under way, and three quarters as many that are ready.
        block = min(max(4 * most_bytes // (7 * requests), _LEAST_BLOCK), _LARGEST_BLOCK)
        self.queue = _core.FetchQueue(bytes=most_bytes, block_bytes=block, requests=requests)
        self._objects = list(objects)
        self._settings = settings
        self._cache = cache_of(settings)
        self._on_open = on_open
        self._lock = threading.Lock()  # guards `_threads`, `_busy` and `_objects`
        self._threads: list[threading.Thread] = []
        self._busy = 0

    def start(self) -> None:
        """Start another thread, up to the limit."""
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
        """Fetch a range. First start a thread that waits for the next one, if there is none: the core can't do it."""
        with self._lock:
            self._busy += 1
            all_busy = self._busy == len(self._threads)
        try:
            if wanted.more or all_busy:
                self.start()
            self._fetch(wanted)
        finally:
            with self._lock:
                self._busy -= 1

    def _fetch(self, wanted: _core.Wanted) -> None:
        try:
            data, size = self._read(wanted)
        except OSError as error:
            self.queue.fail(wanted.number, _error_number(error), error.strerror or type(error).__name__)
        except TFRecordError as error:
            self.queue.fail(wanted.number, errno.EINVAL, str(error))
        except BaseException as error:  # otherwise the stream would wait forever
            self.queue.fail(wanted.number, errno.EIO, f"{type(error).__name__} while fetching")
        else:
            self.queue.deliver(wanted.number, data, size)

    def _read(self, wanted: _core.Wanted) -> tuple[Buffer, int | None]:
        source = self._objects[wanted.object]
        if source.size is None and wanted.opens and wanted.start == 0 and self._cache is None:
            data, info = read_head(source.store, source.key, wanted.end, self._settings)
            self._opened(wanted.object, info)
            return data, info.size
        if source.size is None:
            source = self._opened(wanted.object, read_info(source.store, source.key, self._settings))
        assert source.size is not None
        end = min(wanted.end, source.size) if wanted.opens else wanted.end
        data = self._kept(source, wanted.start, end)
        if data is None:
            data = read_range(source.store, source.key, wanted.start, end, source.version, self._settings)
        return data, source.size if wanted.opens else None

    def _opened(self, number: int, info: ObjectInfo) -> StoredObject:
        source = self._objects[number]
        if source.listed not in (None, info.size):
            problem = f"the object has {info.size} bytes, but the shard list specifies {source.listed}"
            raise OSError(errno.ESTALE, problem, source.url)
        with self._lock:
            known = self._objects[number]
            if known.size is None:
                known = self._objects[number] = source._replace(size=info.size, version=info.version)
        if (known.size, known.version) != (info.size, info.version):  # an earlier request
            raise changed(source.url)
        if self._on_open is not None:
            self._on_open(known)
        return known

    def _kept(self, source: StoredObject, start: int, end: int) -> Buffer | None:
        """Return bytes of the copy in the cache, which is fetched first if it is missing; None without a cache."""
        if self._cache is None or source.size is None:
            return None
        info = ObjectInfo(source.url, source.size, source.version)
        descriptor = self._cache.open(source.store, source.key, info, self._settings)
        if descriptor is None:
            return None
        with open(descriptor, "rb", buffering=0) as copy:
            copy.seek(start)
            data = bytearray(end - start)
            view = memoryview(data)
            while view and (size := copy.readinto(view)):
                view = view[size:]
        return None if view else data  # a shortened copy is ignored

    def close(self) -> None:
        """End the threads; requests under way are completed first."""
        self.queue.close()


def _fetch_all(fetching: Fetching) -> None:
    while (wanted := fetching.queue.take()) is not None:
        fetching.work(wanted)


def _error_number(error: OSError) -> int:
    if error.errno is not None:
        return error.errno
    return next((number for error_class, number in _NUMBERS if isinstance(error, error_class)), errno.EIO)
