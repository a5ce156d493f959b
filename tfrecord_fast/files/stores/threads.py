"""Threads that requests run on, so that who waits for one can stop waiting.

There are as many as there are requests at a time. One that has nothing to do for some seconds ends. At the end of the
interpreter all are told to end, and waited for shortly: one that hangs in a request is left.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections import deque
from collections.abc import Callable

from ...base.process import Origin

__all__ = ["run"]

_IDLE = 2.0  # seconds
_AT_EXIT = 2.0


class _Threads:
    """`_state` guards everything below it."""

    def __init__(self) -> None:
        self.origin = Origin()
        self._state = threading.Condition()
        self._waiting: deque[Callable[[], None]] = deque()
        self._idle = 0
        self._all: set[threading.Thread] = set()
        self._stopped = False

    def run(self, function: Callable[[], None]) -> None:
        with self._state:
            self._waiting.append(function)
            if self._idle >= len(self._waiting):
                self._state.notify()
                return
            thread = threading.Thread(target=self._work, name="tfrecord-fast-request", daemon=True)
            self._all.add(thread)
        thread.start()

    def _work(self) -> None:
        try:
            while True:
                function = self._next()
                if function is None:
                    return
                function()
                del function
        finally:
            with self._state:
                self._all.discard(threading.current_thread())

    def _next(self) -> Callable[[], None] | None:
        with self._state:
            self._idle += 1
            try:
                self._state.wait_for(lambda: self._waiting or self._stopped, timeout=_IDLE)
            finally:
                self._idle -= 1
            return self._waiting.popleft() if self._waiting and not self._stopped else None

    def stop(self) -> None:
        with self._state:
            self._stopped = True
            self._state.notify_all()
            threads = list(self._all)
        until = time.monotonic() + _AT_EXIT
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))


_threads = _Threads()


def run(function: Callable[[], None]) -> None:
    """Runs a function, which raises nothing, on a thread."""
    global _threads
    if not _threads.origin.is_here():
        _threads = _Threads()
    _threads.run(function)


@atexit.register
def _stop() -> None:
    if _threads.origin.is_here():
        _threads.stop()
