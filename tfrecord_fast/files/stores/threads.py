"""Threads that requests run on, so that waiting for a request can be interrupted."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from typing import TypeVar

from ...base.workers import NoThreadError, is_ending, start_thread

__all__ = ["TURN", "answered", "run"]

T = TypeVar("T")

_AT_EXIT = 2.0  # seconds
TURN = 0.5  # of a wait, between looks whether the interpreter ends
_here = threading.local()


def run(function: Callable[[], None]) -> None:
    """Run a function, which raises nothing, on a thread; at the end of the interpreter on this one.

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
    """Return what the function, which raises nothing, returns; it is called on a thread.

    If a signal handler raises meanwhile, the wait ends at once, and the function goes on without being waited for. So
    the handler's exception is not mistaken for an error of the function's.

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
