"""Writing an object through obstore, in upload parts that are sent in the background.

One thread per upload feeds obstore, which sends several parts at a time. It takes parts from a short queue, so that a
writer that is faster than the network waits. obstore aborts the upload when the source of its bytes raises.
"""

from __future__ import annotations

import contextlib
import errno
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...base.process import Origin
from .errors import call, os_error
from .store import Buffer

_LARGEST_PART, _SMALLEST_PART = 16 << 20, 5 << 20
_MOST_PARTS = 10_000  # the limit of S3 and GCS
_AT_ONCE = 4  # parts being sent
_WAITING = 1  # parts waiting to be sent
_ABORTING = 5.0  # seconds that `abort` waits for the store
_SHARED = 256 << 20  # bytes of parts in memory, of all concurrent uploads


class PartSizes(NamedTuple):
    part_bytes: int
    at_once: int  # parts being sent


def part_sizes(part_bytes: int | None, beside: int) -> PartSizes:
    """Return the sizes for one of `beside` concurrent uploads. All parts of an obstore upload have one size."""
    shared = _SHARED // beside // (_AT_ONCE + _WAITING + 2)
    size = part_bytes or min(max(shared, _SMALLEST_PART), _LARGEST_PART)
    return PartSizes(size, max(1, min(_AT_ONCE, 16 // beside)))


class _AbortError(Exception):
    """Raised into obstore to abort an upload."""


class ObjectUpload:
    """An `Upload`. An object of at most one part is sent by one request."""

    def __init__(self, library: Any, store: Any, url: str, key: str, overwrite: bool, sizes: PartSizes) -> None:
        self._part_bytes, self._at_once = sizes
        self._parts = 0
        self._library, self._store, self._url, self._key, self._overwrite = library, store, url, key, overwrite
        self._part = bytearray()
        self._sender: _Sender | None = None
        self._done = False
        self._origin = Origin()

    def write(self, data: Buffer) -> None:
        view = memoryview(data).cast("B")
        while len(view) > 0:
            if len(self._part) == self._part_bytes:
                self._send_part()
            room = self._part_bytes - len(self._part)
            self._part += view[:room]
            view = view[room:]

    def _send_part(self) -> None:
        if self._sender is None:
            self._check_free()
            self._sender = _Sender(self._library, self._store, self._url, self._key, self._part_bytes, self._at_once)
        if self._parts == _MOST_PARTS:
            limit = f"{self._part_bytes * _MOST_PARTS >> 30} GiB in parts of {self._part_bytes >> 20} MiB"
            raise OSError(errno.EFBIG, f"more than {limit}; set a larger part_bytes in storage_options", self._url)
        self._parts += 1
        full, self._part = self._part, bytearray()
        self._sender.put(full)

    def complete(self) -> None:
        if self._sender is None:
            self._put_whole()
        else:
            if self._part:
                self._send_part()
            self._check_free()
            self._sender.finish()
        self._done = True

    def _put_whole(self) -> None:
        options = {"mode": "overwrite" if self._overwrite else "create", "use_multipart": False}
        failure: OSError | None = None
        try:
            call(self._url, self._library.put, self._store, self._key, bytes(self._part), **options)
        except OSError as error:
            failure = error
        if failure is not None and failure.errno == errno.ESTALE and not self._overwrite:
            failure = self._exists()
        if failure is not None:
            raise failure

    def _exists(self) -> FileExistsError:
        return FileExistsError(errno.EEXIST, "the object already exists", self._url)

    def _check_free(self) -> None:
        """Look for the object before and at the end: obstore's multipart uploads have no precondition."""
        if self._overwrite:
            return
        with contextlib.suppress(FileNotFoundError):
            call(self._url, self._library.head, self._store, self._key)
            raise self._exists()

    def abort(self) -> None:
        self._part = bytearray()
        if self._done or self._sender is None or not self._origin.is_here():
            return
        self._done = True
        with contextlib.suppress(Exception):
            self._sender.abort()


class _Sender:
    """The thread that feeds obstore. `_state` guards the waiting parts and how the upload ended."""

    def __init__(self, library: Any, store: Any, url: str, key: str, part_bytes: int, at_once: int) -> None:
        self._url = url
        self._options = {"use_multipart": True, "chunk_size": part_bytes, "max_concurrency": at_once}
        self._state = threading.Condition()
        self._parts: deque[bytearray] = deque()
        self._complete = False
        self._aborted = False
        self._ended = False
        self._error: Exception | None = None
        self._thread = threading.Thread(
            target=self._run, args=(library, store, key), name="tfrecord-fast-upload", daemon=True
        )
        self._thread.start()

    def _run(self, library: Any, store: Any, key: str) -> None:
        failure: Exception | None = None
        try:
            library.put(store, key, self._taken(), **self._options)
        except Exception as error:
            failure = os_error(error, self._url)
        with self._state:
            self._error = failure
            self._ended = True
            self._parts.clear()
            self._state.notify_all()

    def _taken(self) -> Iterator[Buffer]:
        while True:
            with self._state:
                self._state.wait_for(lambda: self._parts or self._complete or self._aborted)
                if self._aborted:
                    raise _AbortError
                if not self._parts:
                    return
                next_part = self._parts.popleft()
                self._state.notify_all()
            yield next_part

    def put(self, full: bytearray) -> None:
        with self._state:
            self._wait(lambda: len(self._parts) < _WAITING or self._ended)
            self._raise()
            self._parts.append(full)
            self._state.notify_all()

    def finish(self) -> None:
        with self._state:
            self._complete = True
            self._state.notify_all()
            self._wait(lambda: self._ended)
        self._thread.join()
        self._raise()

    def abort(self) -> None:
        with self._state:
            self._aborted = True
            self._state.notify_all()
        self._thread.join(_ABORTING)  # a request without an answer is left behind

    def _wait(self, predicate: Any) -> None:
        """Wait in short turns, between which signal handlers run."""
        while not self._state.wait_for(predicate, timeout=0.5):
            pass

    def _raise(self) -> None:
        if self._ended and self._error is not None:
            raise self._error
        if self._ended and not self._complete:
            raise OSError(errno.EIO, "the upload ended too early", self._url)
