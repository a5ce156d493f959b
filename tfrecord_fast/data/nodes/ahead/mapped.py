"""Iterators that call a function on several threads, in order, where that is worth it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from ....base.handlers import raised_by_handler
from ....base.process import Origin
from ....base.workers import NoThreadError, Workers, make_call
from ..base.turns import check_process, take_turns
from .trials import CHEAP_CALL, Timed, Trial, Verdict

_AT_EXIT = 0.2  # seconds
_CHEAP_CALLS = 64  # in a row, after which threads stop


class Mapped(Iterator[Any]):
    """The function's results, in the order of the elements, computed on `threads` threads while that is worth it.

    Args:
      verdict: starts threads only once the function has proved to be slow; None: they start at the beginning.
    """

    def __init__(
        self, elements: Iterator[Any], function: Callable[[Any], Any], threads: int, verdict: Verdict | None = None
    ) -> None:
        self._elements = elements
        self._timed = Timed(function)
        self._verdict = verdict or Verdict()
        self._trial = Trial(function, self._verdict, CHEAP_CALL)
        self._direct = verdict is not None and not verdict.slow  # threads get no more calls
        self._threads = threads
        self._pool: Workers | None = None
        self._futures: deque[Future[Any] | Exception] = deque()
        self._ended = False
        self._turn: Any  # guards everything here
        take_turns(self)
        self._origin = Origin()

    def __next__(self) -> Any:
        with self._turn:
            future = self._next_future()
            element = next(self._elements) if future is None else None
        if future is None:
            return self._trial(element)
        if isinstance(future, Exception):
            raise future
        return future.result()

    def _next_future(self) -> Future[Any] | Exception | None:
        """Return the next future, or the error in its place; None if the next call is made without threads."""
        if self._direct and self._verdict.slow:
            self._direct, self._timed.cheap_calls = False, 0
        if not self._direct:
            check_process(self._origin)
            while not self._ended and len(self._futures) < 2 * self._threads:
                self._submit()
            if self._timed.cheap_calls >= _CHEAP_CALLS and not self._ended:
                self._direct, self._verdict.slow = True, False
        if self._futures:
            return self._futures.popleft()
        if self._direct:
            return None
        if self._pool is not None:
            self._pool.end()
            self._pool = None
        raise StopIteration

    def _submit(self) -> None:
        try:
            element = next(self._elements)
        except StopIteration:
            self._ended = True
        except Exception as error:
            if raised_by_handler(error):
                raise
            self._futures.append(error)
        else:
            if self._pool is None:
                self._pool = Workers(self._threads, "tfrecord_fast.map", _AT_EXIT)
            self._futures.append(self._submitted(self._pool, element))

    def _submitted(self, pool: Workers, element: Any) -> Future[Any]:
        try:
            return pool.submit(self._timed, element)
        except NoThreadError:
            future: Future[Any] = Future()
            make_call(future, self._timed, element)
            return future

    def __del__(self) -> None:
        if self._pool is not None:
            self._pool.stop()


class Tried(Iterator[Any]):
    """The function's results, computed on demand while that is cheap, and by threads from then on.

    Most functions parse a batch that native threads have parsed already, or a single record. Handing these over to
    another Python thread takes longer than the call.

    Args:
      threaded: iterates over the results for the remaining elements.
      verdict: slow if an earlier iteration needed threads.
      cheap: seconds per call.
    """

    def __init__(
        self,
        elements: Iterator[Any],
        function: Callable[[Any], Any],
        threaded: Callable[[Iterator[Any]], Iterator[Any]],
        verdict: Verdict,
        cheap: float,
    ) -> None:
        self._elements = elements
        self._threaded = threaded
        self._verdict = verdict
        self._trial = Trial(function, verdict, cheap)
        self._turn: Any  # guards _elements and _rest
        take_turns(self)
        self._rest: Iterator[Any] | None = None

    def __next__(self) -> Any:
        with self._turn:
            if self._rest is None and self._verdict.slow:
                self._rest = self._threaded(self._elements)
            rest = self._rest
            element = next(self._elements) if rest is None else None
        return self._trial(element) if rest is None else next(rest)
