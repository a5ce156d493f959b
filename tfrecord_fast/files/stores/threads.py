"""Request threads, so that waiting for a request can be interrupted."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from typing import TypeVar

from ...base.workers import NoThreadError, is_ending, start_thread

__all__ = ["TURN", "answered", "run"]

T = TypeVar("T")

_AT_EXIT = 2.0  # seconds
TURN = 0.5  # seconds of waiting between checks for the end of the interpreter
_here = threading.local()


def run(function: Callable[[], None]) -> None:
    """Run a function, which must not raise, on a thread; at the end of the interpreter, on this one.

    Raises:
      NoThreadError: the system has no more threads for this process.
    """
    if is_ending():
        function()
        return
    start_thread(_serve, function, name="tfrecord_fast request", patience=_AT_EXIT)


def _serve(function: Callable[[], None]) -> None:
    _here.serves = True
    function()


def answered(function: Callable[[], T]) -> T:
    """Call a function, which must not raise, on a thread and return its result.

    An exception raised by a signal handler interrupts the wait at once; the function continues unattended.

    Raises:
      OSError: (ECANCELED) the interpreter ends.
    """
    if getattr(_here, "serves", False):
        return function()
    done, results = threading.Event(), []

    def work() -> None:
        try:
            results.append(function())
        finally:
            done.set()

    try:
        run(work)
    except NoThreadError:
        return function()
    while not done.wait(TURN):
        if is_ending():
            raise OSError(errno.ECANCELED, "the interpreter ends")
    return results[0]
