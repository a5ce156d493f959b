"""Request threads, so that waiting for a request can be interrupted."""

from __future__ import annotations

import errno
import math
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeVar

from ...base.workers import NoThreadError, is_ending, make_call, start_thread

T = TypeVar("T")

_AT_EXIT = 2.0  # seconds
_TURN = 0.5  # seconds of waiting between checks for the end of the interpreter
_here = threading.local()


def start(function: Callable[..., T], *arguments: Any) -> Future[T]:
    """Call a function on a thread of its own; at the end of the interpreter, on this one."""
    future: Future[T] = Future()
    if is_ending():
        make_call(future, function, *arguments)
    else:
        start_thread(_serve, future, function, *arguments, name="tfrecord_fast request", patience=_AT_EXIT)
    return future


def _serve(*call: Any) -> None:
    _here.serves = True
    make_call(*call)


def has_answer(futures: Iterable[Future[Any]], until: float = math.inf) -> bool:
    """Wait until one of the futures has a result or all have failed; return False at the time `until`.

    Raises:
      OSError: (ECANCELED) the interpreter ends.
    """
    pending = set(futures)
    while (left := until - time.monotonic()) > 0:
        done, pending = wait(pending, min(left, _TURN), FIRST_COMPLETED)
        if not pending or any(future.exception() is None for future in done):
            return True
        if is_ending():
            raise OSError(errno.ECANCELED, "the interpreter ends")
    return False


def answered(function: Callable[[], T]) -> T:
    """Call a function, which must not raise, on a thread and return its result.

    An exception raised by a signal handler interrupts the wait at once; the function continues unattended.

    Raises:
      OSError: (ECANCELED) the interpreter ends.
    """
    if getattr(_here, "serves", False):
        return function()
    try:
        future = start(function)
    except NoThreadError:
        return function()
    has_answer([future])
    return future.result()
