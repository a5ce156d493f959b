"""Telling what a handler of a signal has raised from what is wrong with files."""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Container
from types import CodeType
from typing import Any

from ...errors import TFRecordError

__all__ = ["interrupts", "is_of_signal", "ran_directly_in", "shows_a_handler"]


def is_of_signal(error: Exception) -> bool:
    """Whether a signal's handler may have raised it, and not the files or their records."""
    if threading.current_thread() is not threading.main_thread() or isinstance(error, TFRecordError | MemoryError):
        return False
    return not isinstance(error, OSError) or error.errno is None


def interrupts(error: BaseException) -> bool:
    """Whether it comes from outside, as what a signal's handler raises, so that what it met may lack elements now."""
    return not isinstance(error, Exception) or shows_a_handler(error)


def shows_a_handler(error: BaseException) -> bool:
    """Whether a function that is a signal's handler now is among those that the error passed."""
    found, codes = error.__traceback__, None
    while found is not None:
        codes = _codes_of_handlers() if codes is None else codes
        if found.tb_frame.f_code in codes:
            return True
        found = found.tb_next
    return False


def ran_directly_in(error: BaseException, modules: Container[str]) -> bool:
    """Whether a signal's handler has raised it while, below the caller, only functions of these modules ran."""
    found = error.__traceback__ and error.__traceback__.tb_next
    while found is not None and found.tb_frame.f_globals.get("__name__") in modules:
        found = found.tb_next
    if found is None:
        return isinstance(error, KeyboardInterrupt)  # Python's own handler of SIGINT has no frame
    return found.tb_frame.f_code in _codes_of_handlers()


def _codes_of_handlers() -> set[CodeType]:
    handlers = (signal.getsignal(number) for number in signal.valid_signals())
    return {code for handler in handlers if callable(handler) and (code := _code_of(handler)) is not None}


def _code_of(handler: Any) -> CodeType | None:
    """Of a function, a method, a partial or an object that can be called; None if it is not Python's."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    handler = getattr(handler, "__func__", handler)
    if not hasattr(handler, "__code__"):
        handler = getattr(type(handler), "__call__", None)  # noqa: B004 - its code is wanted
    code = getattr(handler, "__code__", None)
    return code if isinstance(code, CodeType) else None
