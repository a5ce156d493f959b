"""Writing an object in parts, in the background, through obstore.

One thread per upload feeds obstore, which sends several parts at a time. What was written is taken from a short queue,
so that a writer that is faster than the line waits. obstore aborts the upload when the source of its bytes raises.

`_state` guards everything: the parts that wait, whether there are more to come, and how it ended. The thread ends when
it has taken the end, or the order to abort.
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

__all__ = ["ObjectUpload", "PartSizes", "part_sizes"]

_LARGEST_PART, _SMALLEST_PART = 16 << 20, 5 << 20
_MOST_PARTS = 10_000  # as S3 and GCS have it
_AT_ONCE = 4  # parts being sent
_WAITING = 1  # parts that wait to be sent
_ABORTING = 5.0  # seconds that stopping waits for the store
_SHARED = 256 << 20  # bytes of parts in memory, of uploads that go on side by side


class PartSizes(NamedTuple):
    """How an upload is cut."""

    part_bytes: int
    at_once: int  # parts being sent


def part_sizes(part_bytes: int | None, beside: int) -> PartSizes:
    """For one of some uploads that go on side by side. obstore's parts are all of one size."""
    shared = _SHARED // beside // (_AT_ONCE + _WAITING + 2)
    size = part_bytes or min(max(shared, _SMALLEST_PART), _LARGEST_PART)
    return PartSizes(size, max(1, min(_AT_ONCE, 16 // beside)))


class _AbortError(Exception):
    """Tells obstore to abort."""


class ObjectUpload:
    """An object that is being written, as `Upload` says. Up to a part, it is sent as one request."""

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
            most = f"{self._part_bytes * _MOST_PARTS >> 30} GiB in parts of {self._part_bytes >> 20} MiB"
            raise OSError(errno.EFBIG, f"more than {most}: say larger ones, storage_options part_bytes", self._url)
        self._parts += 1
        part, self._part = self._part, bytearray()
        self._sender.put(part)

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
        mode = "overwrite" if self._overwrite else "create"
        failed: OSError | None = None
        try:
            call(
                self._url, self._library.put, self._store, self._key, bytes(self._part), mode=mode, use_multipart=False
            )
        except OSError as error:
            failed = error
        if failed is not None and failed.errno == errno.ESTALE and not self._overwrite:
            failed = FileExistsError(errno.EEXIST, "the object exists already", self._url)
        if failed is not None:
            raise failed

    def _check_free(self) -> None:
        """A multipart upload of obstore has no precondition of its own, so it is looked at before and at the end."""
        if self._overwrite:
            return
        with contextlib.suppress(FileNotFoundError):
            call(self._url, self._library.head, self._store, self._key)
            raise FileExistsError(errno.EEXIST, "the object exists already", self._url)

    def abort(self) -> None:
        self._part = bytearray()
        if self._done or self._sender is None or not self._origin.is_here():
            return
        self._done = True
        with contextlib.suppress(Exception):
            self._sender.abort()


class _Sender:
    """The thread that feeds obstore, and what it is fed with."""

    def __init__(self, library: Any, store: Any, url: str, key: str, part_bytes: int, at_once: int) -> None:
        self._url = url
        self._how = {"use_multipart": True, "chunk_size": part_bytes, "max_concurrency": at_once}
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
        error: Exception | None = None
        try:
            library.put(store, key, self._taken(), **self._how)
        except Exception as one:
            error = os_error(one, self._url)
        with self._state:
            self._error = error
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
                part = self._parts.popleft()
                self._state.notify_all()
            yield part

    def put(self, part: bytearray) -> None:
        with self._state:
            self._wait(lambda: len(self._parts) < _WAITING or self._ended)
            self._raise()
            self._parts.append(part)
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
        self._thread.join(_ABORTING)  # a request that gets no answer goes on without whoever wanted to stop

    def _wait(self, predicate: Any) -> None:
        """In short turns, between which handlers of signals run."""
        while not self._state.wait_for(predicate, timeout=0.5):
            pass

    def _raise(self) -> None:
        if self._ended and self._error is not None:
            raise self._error
        if self._ended and not self._complete:
            raise OSError(errno.EIO, "the upload ended too early", self._url)
