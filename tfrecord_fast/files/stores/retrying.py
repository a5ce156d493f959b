"""Reading a range of an object: retries, hedging and time limits.

The first request asks for the whole range. After a transient error, the next request waits, longer each time, and
continues at the byte where the connection broke. A slow request gets a second one beside it, and the first answer
counts. Other errors (no such object, no permission) are raised at once.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .errors import is_worth_another_try, of_store, too_late
from .settings import StoreSettings
from .store import Buffer, ObjectInfo, Store
from .threads import has_answer, start

T = TypeVar("T")

_FIRST_WAIT = 0.1  # seconds, doubled each time, up to
_LONGEST_WAIT = 8.0
_TRIES = 12


def read_range(
    store: Store, key: str, start: int, end: int, version: str | None = None, settings: StoreSettings | None = None
) -> Buffer:
    """Return the bytes [start, end) of one version of an object.

    Raises:
      OSError: as `Store.read` does, when retries fail; TimeoutError when the time that `settings` allow is over.
    """
    return _Range(store, key, start, end, version, settings or StoreSettings()).read()


def read_head(store: Store, key: str, most: int, settings: StoreSettings | None = None) -> tuple[Buffer, ObjectInfo]:
    """Return at most the first `most` bytes of an object, with its size and version."""
    head: tuple[Buffer, ObjectInfo] = _Head(store, key, 0, most, None, settings or StoreSettings()).read()
    return head


def read_info(store: Store, key: str, settings: StoreSettings) -> ObjectInfo:
    """Return size and version of an object; raise as `read_range` does."""
    return _retried(lambda tried: store.info(key), time.monotonic() + settings.timeout)


def _retried(attempt: Callable[[int], T], deadline: float) -> T:
    """Return the result of `attempt(number)`, repeated after transient errors until the deadline."""
    tried = 0
    while True:
        try:
            return attempt(tried)
        except OSError as error:
            tried += 1
            wait = min(_FIRST_WAIT * 2 ** (tried - 1), _LONGEST_WAIT) * (0.5 + os.urandom(1)[0] / 510)
            is_over = tried >= _TRIES or time.monotonic() + wait >= deadline
            if is_over or not is_worth_another_try(error, tried):
                raise
        time.sleep(wait)


class _Range:
    def __init__(
        self, store: Store, key: str, start: int, end: int, version: str | None, settings: StoreSettings
    ) -> None:
        self._store, self._key, self._version, self._settings = store, key, version, settings
        self._start, self._end = start, end
        self._pieces: list[Buffer] = []
        self._deadline = time.monotonic() + settings.timeout

    def read(self) -> Any:
        if self._start >= self._end:
            return b""
        return _retried(self._attempt, self._deadline)

    def _attempt(self, tried: int) -> Any:
        if tried == 0:
            return self._raced(functools.partial(self._read, self._start, self._end))
        # Keep the bytes that arrive before the connection breaks again.
        arrived: list[Buffer] = []
        try:
            data = self._raced(functools.partial(self._gather, arrived, self._start))
        except OSError:
            kept = list(arrived)  # an abandoned request may still append to `arrived`
            self._pieces += kept
            self._start += sum(len(piece) for piece in kept)
            raise
        pieces = [*self._pieces, *(arrived if data is None else [data])]
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _read(self, start: int, end: int) -> Any:
        return self._store.read(self._key, start, end, version=self._version, timeout=self._settings.request_timeout)

    def _gather(self, arrived: list[Buffer], start: int) -> None:
        timeout = self._settings.request_timeout
        for piece in self._store.pieces(self._key, start, self._end, version=self._version, timeout=timeout):
            arrived.append(piece)

    def _raced(self, request: Callable[[], Any]) -> Any:
        """Return the answer to the request, or to a second one that is sent when the first is slow."""
        started = time.monotonic()
        limit = min(self._deadline, started + self._settings.request_timeout)
        hedge = self._settings.hedge_after
        futures = [start(request)]
        if hedge is not None and started + hedge < limit and not has_answer(futures, started + hedge):
            futures.append(start(self._read, self._start, self._end))
        has_answer(futures, limit)
        done = [future for future in futures if future.done()]
        for future in done:
            if future.exception() is None:
                return future.result()
        if done:
            raise of_store(cast(Exception, done[0].exception()))
        raise of_store(too_late(self._store.url(self._key), round(limit - started, 1)))


class _Head(_Range):
    """The first bytes. Each attempt asks for all of them, since the object may have changed in between."""

    def _attempt(self, tried: int) -> Any:
        return super()._attempt(0)

    def _read(self, start: int, end: int) -> Any:
        return self._store.read_head(self._key, end, timeout=self._settings.request_timeout)
