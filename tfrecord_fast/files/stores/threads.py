"""Threads that requests run on, so that who waits for one can stop waiting.

There are as many as there are requests at a time. One that has nothing to do for some seconds ends. At the end of the
interpreter all are told to end, and waited for shortly: one that hangs in a request is left.
"""

from __future__ import annotations

import atexit
import errno
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from ...base.process import Origin
from ...base.workers import NoThreadError, has_started

__all__ = ["TURN", "answered", "ends", "run"]

T = TypeVar("T")

_IDLE = 2.0  # seconds
_AT_EXIT = 2.0
TURN = 0.5  # of a wait, between looks whether the interpreter ends
_here = threading.local()


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
        if self._stopped:  # the interpreter ends, and no thread would take it
            function()
            return
        with self._state:
            self._waiting.append(function)
            if self._idle >= len(self._waiting):
                self._state.notify()
                return
            thread = threading.Thread(target=self._work, name="tfrecord-fast-request", daemon=True)
            self._all.add(thread)
        if has_started(thread):
            return
        with self._state:
            self._all.discard(thread)
            if function not in self._waiting:
                return  # another thread has taken it
            self._waiting.remove(function)
        raise NoThreadError("can't start new thread")

    def _work(self) -> None:
        _here.serves = True
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

    @property
    def stopped(self) -> bool:
        return self._stopped

    def stop(self) -> None:
        with self._state:
            self._stopped = True
            self._state.notify_all()
            threads = list(self._all)
        until = time.monotonic() + _AT_EXIT
        for thread in threads:
            if thread.ident is not None:
                thread.join(max(0.0, until - time.monotonic()))


_threads = _Threads()


def run(function: Callable[[], None]) -> None:
    """Runs a function, which raises nothing, on a thread."""
    global _threads
    if not _threads.origin.is_here():
        _threads = _Threads()
    _threads.run(function)


def answered(function: Callable[[], T]) -> T:
    """What the function, which raises nothing, gives. It is called on one of these threads.

    If the handler of a signal raises meanwhile, the wait ends at once, and the function goes on without being waited
    for; what the handler raises is not taken for an error of the function's.

    Raises:
      OSError: (ECANCELED) the interpreter ends.
    """
    if getattr(_here, "serves", False):
        return function()
    there, given = threading.Event(), []

    def work() -> None:
        try:
            given.append(function())
        finally:
            there.set()

    try:
        run(work)
    except NoThreadError:
        return function()
    while not there.wait(TURN):
        if ends():
            raise OSError(errno.ECANCELED, "the interpreter ends")
    return given[0]


def ends() -> bool:
    """Whether the interpreter does, so that nobody waits for an answer any more."""
    return _threads.origin.is_here() and _threads.stopped


@atexit.register  # after `base.workers`, and so before it: its threads wait for answers
def _stop() -> None:
    if _threads.origin.is_here():
        _threads.stop()
