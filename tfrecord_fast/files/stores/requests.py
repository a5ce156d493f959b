"""A range of an object by as many requests as it takes: the one place that tries again, hedges, and gives up.

The first request for a range asks for all of it. If it fails in a way that may go away, the next one waits a little,
longer each time, and then goes on at the byte where the connection broke. A request that is slow gets a second one
beside it, and the first answer counts. What will not go away (no such object, no permission) is raised at once.
"""

from __future__ import annotations

import errno
import functools
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from ...base.workers import is_ending
from .errors import is_worth_another_try, of_store, too_late
from .settings import StoreSettings
from .store import Buffer, ObjectInfo, Store
from .threads import TURN, run

__all__ = ["read_head", "read_range"]

_FIRST_WAIT = 0.1  # seconds, doubled each time, up to
_LONGEST_WAIT = 8.0
_TRIES = 12


def read_range(
    store: Store, key: str, start: int, end: int, version: str | None = None, settings: StoreSettings | None = None
) -> Buffer:
    """The bytes [start, end) of an object, all of them and all of one version.

    Raises:
      OSError: as `Store.read` does, after as many tries as `settings` leaves time for; TimeoutError if that is over.
    """
    return _Range(store, key, start, end, version, settings or StoreSettings()).read()


def read_head(store: Store, key: str, most: int, settings: StoreSettings | None = None) -> tuple[Buffer, ObjectInfo]:
    """The first `most` bytes of an object, or all if there are fewer, with its size and version.

    Raises:
      OSError: as `read_range`.
    """
    head: tuple[Buffer, ObjectInfo] = _Head(store, key, 0, most, None, settings or StoreSettings()).read()
    return head


class _Range:
    """One range on its way."""

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
        tried = 0
        while True:
            try:
                return self._attempt(tried)
            except OSError as error:
                tried += 1
                left = self._deadline - time.monotonic()
                if not is_worth_another_try(error, tried) or tried >= _TRIES:
                    raise
                wait = min(_FIRST_WAIT * 2 ** (tried - 1), _LONGEST_WAIT) * (0.5 + os.urandom(1)[0] / 510)
                if left <= wait:
                    raise
            time.sleep(wait)

    def _attempt(self, tried: int) -> Any:
        if tried == 0:
            return self._raced(functools.partial(self._read, self._start, self._end))
        # What arrives before the connection breaks again is kept.
        got: list[Buffer] = []
        try:
            data = self._raced(functools.partial(self._gather, got, self._start))
        except OSError:
            taken = list(got)  # a request that was given up may still add to it
            self._pieces += taken
            self._start += sum(len(piece) for piece in taken)
            raise
        pieces = [*self._pieces, *(got if data is None else [data])]
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _read(self, start: int, end: int) -> Any:
        return self._store.read(self._key, start, end, version=self._version, timeout=self._settings.request_timeout)

    def _gather(self, got: list[Buffer], start: int) -> None:
        timeout = self._settings.request_timeout
        for piece in self._store.pieces(self._key, start, self._end, version=self._version, timeout=timeout):
            got.append(piece)

    def _raced(self, request: Callable[[], Any]) -> Any:
        """The answer to the request, or to the second one, for the same bytes, that is made when the first is slow."""
        race = _Race()
        started = time.monotonic()
        run(functools.partial(race.run, request))
        limit = min(self._deadline, started + self._settings.request_timeout)
        hedge = self._settings.hedge_after
        requests = 1
        if hedge is not None and started + hedge < limit and not race.ended(started + hedge, requests):
            run(functools.partial(race.run, functools.partial(self._read, self._start, self._end)))
            requests = 2
        race.ended(limit, requests)
        return race.answer(self._store.url(self._key), time.monotonic() - started)


class _Head(_Range):
    """The first bytes: each attempt asks for all of them, since what came before may be another version's."""

    def _attempt(self, tried: int) -> Any:
        return super()._attempt(0)

    def _read(self, start: int, end: int) -> Any:
        return self._store.read_head(self._key, end, timeout=self._settings.request_timeout)


class _Race:
    """Requests for the same bytes, of which the first answer counts. `_state` guards the rest."""

    def __init__(self) -> None:
        self._state = threading.Condition()
        self._answers: list[Any] = []
        self._errors: list[Exception] = []

    def run(self, request: Callable[[], Any]) -> None:
        try:
            answer = request()
        except Exception as error:
            with self._state:
                self._errors.append(error)
                self._state.notify_all()
        else:
            with self._state:
                if not self._answers:
                    self._answers.append(answer)
                self._state.notify_all()

    def ended(self, until: float, requests: int) -> bool:
        """Waits until there is an answer, or all requests have failed; False if the time is over.

        Raises OSError (ECANCELED) when the interpreter ends.
        """
        while (left := until - time.monotonic()) > 0:
            with self._state:
                if self._state.wait_for(
                    lambda: bool(self._answers) or len(self._errors) >= requests, timeout=min(left, TURN)
                ):
                    return True
            if is_ending():
                raise OSError(errno.ECANCELED, "the interpreter ends")
        return False

    def answer(self, url: str, seconds: float) -> Any:
        with self._state:
            if self._answers:
                return self._answers[0]
            errors, self._errors = self._errors, []
        if errors:
            raise of_store(errors[0])
        raise of_store(too_late(url, round(seconds, 1)))
