"""Signal handlers: Ctrl-C while the package is imported, and exceptions that handlers raise."""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any


@contextmanager
def delayed_interrupts() -> Iterator[None]:
    """Return a context manager that delays Ctrl-C until its end, since NumPy and the core can't be imported in halves.

    The command `tfrecord-fast` dies of Ctrl-C at once instead, without a traceback, until `catch_interrupts`.
    """
    handler, interrupts = signal.getsignal(signal.SIGINT), []
    try:
        if callable(handler):
            signal.signal(signal.SIGINT, signal.SIG_DFL if _is_command() else lambda *_: interrupts.append(True))
    except ValueError:  # signals are handled in the main thread, and this is another one
        handler = None
    try:
        yield
    finally:
        if callable(handler) and not _is_command():
            signal.signal(signal.SIGINT, handler)
            if interrupts:
                signal.raise_signal(signal.SIGINT)


def catch_interrupts() -> None:
    """Make Ctrl-C a KeyboardInterrupt, also after `delayed_interrupts` in the command."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_command() -> bool:
    program = os.path.basename((getattr(sys, "argv", None) or [""])[0])
    return program == "tfrecord-fast" or (program == "-m" and "tfrecord_fast" in sys.orig_argv)


def raised_by_handler(error: BaseException) -> bool:
    """Return True if a signal handler raised the error: it is not an Exception, or its traceback has a handler in it.

    Python's own handler of SIGINT has no frame, so KeyboardInterrupt is known by its class.
    """
    if not isinstance(error, Exception):
        return True
    traceback, handlers = error.__traceback__, _handler_codes()
    while traceback is not None and traceback.tb_frame.f_code not in handlers:
        traceback = traceback.tb_next
    return traceback is not None


def _handler_codes() -> set[CodeType | None]:
    handlers = map(signal.getsignal, signal.valid_signals())
    return {_code_of(handler) for handler in handlers if callable(handler)}


def _code_of(handler: Any) -> CodeType | None:
    while isinstance(handler, functools.partial):
        handler = handler.func
    handler = getattr(handler, "__func__", handler)
    if not hasattr(handler, "__code__"):
        handler = getattr(type(handler), "__call__", None)  # noqa: B004 - its code is wanted
    return getattr(handler, "__code__", None)
