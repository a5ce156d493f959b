"""Telling exceptions that a signal handler has raised from other errors."""

from __future__ import annotations

import functools
import signal
from types import CodeType
from typing import Any


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
