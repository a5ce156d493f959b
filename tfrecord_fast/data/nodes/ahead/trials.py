"""Measurements of functions: whether calling one on threads is worth handing elements over."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from .... import _core

# The most seconds that a cheap call takes: about the cost of handing an element to a pool of threads, or to one thread
# that works ahead. Batches of records are few and large, so the second limit holds for both.
CHEAP_CALL = 30e-6
CHEAP_AHEAD = 150e-6
# Threads start after this many slow calls in a row, or after two or more that took this long together.
_SLOW_CALLS = 8
_SLOW_SECONDS = 0.02
# The same for a batch of records: the first few of a stream are parsed by the call, later ones ahead by the stream.
_SLOW_SECONDS_OF_BATCHES = 0.25


class Verdict:
    """Result of a trial, kept from one iteration to the next."""

    slow = False


class Trial:
    """A function called on demand; sets `verdict.slow` once it proves to be slow.

    `cheap` is in seconds per call. With several threads, slow calls are counted roughly.
    """

    def __init__(self, function: Callable[[Any], Any], verdict: Verdict, cheap: float) -> None:
        self._function = function
        self._verdict = verdict
        self._cheap = cheap
        self._calls = 0  # slow ones, in a row
        self._seconds = 0.0

    def __call__(self, element: Any) -> Any:
        start = perf_counter()
        try:
            return self._function(element)
        finally:
            spent = perf_counter() - start
            if spent > self._cheap:
                self._judge(spent, type(element) is _core.RecordBatch)
            else:
                self._calls = 0

    def _judge(self, spent: float, batch: bool) -> None:
        if batch and spent <= CHEAP_AHEAD:
            self._calls = 0
            return
        self._seconds = spent if self._calls == 0 else self._seconds + spent
        self._calls += 1
        long = self._calls > 1 and self._seconds > (_SLOW_SECONDS_OF_BATCHES if batch else _SLOW_SECONDS)
        if long or (self._calls >= _SLOW_CALLS and not batch):
            self._verdict.slow = True
            self._calls = 0


class Timed:
    """A function that counts its latest cheap calls in a row; with several threads, roughly."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.cheap_calls = 0

    def __call__(self, element: Any) -> Any:
        start = perf_counter()
        try:
            return self.function(element)
        finally:
            cheap = perf_counter() - start < (CHEAP_AHEAD if type(element) is _core.RecordBatch else CHEAP_CALL)
            self.cheap_calls = self.cheap_calls + 1 if cheap else 0
