"""A progress bar on a terminal: that of rich if rich is installed, else a plain line."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..base.optional import optional

_DELAY_SECONDS = 0.5  # faster commands show no bar
_PLAIN_INTERVAL_SECONDS = 0.2


class Progress:
    """Counter of bytes read, from any thread; shown on standard error if that is a terminal.

    Args:
      total_bytes: None if unknown.
      lock: held while anything is printed. The caller of `hidden` holds it.
    """

    def __init__(self, total_bytes: int | None, lock: threading.Lock) -> None:
        self._total = total_bytes
        self._lock = lock
        self._done = 0
        self._visible = sys.stderr.isatty()
        self._started = time.monotonic()
        self._display: _Rich | _Plain | None = None

    @property
    def visible(self) -> bool:
        return self._visible

    def advance(self, read_bytes: int) -> None:
        if not self._visible:
            return
        with self._lock:
            self._done += read_bytes
            if self._display is None and time.monotonic() - self._started > _DELAY_SECONDS:
                self._display = _display(self._total)
            if self._display is not None:
                self._display.show(self._done)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Hide the bar while something else is printed."""
        if self._display is not None:
            self._display.hide()
        yield

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._visible = False
            if self._display is not None:
                self._display.hide()
                self._display = None


def _display(total: int | None) -> _Rich | _Plain:
    try:
        return _Rich(total)
    except ImportError:
        return _Plain(total)


class _Rich:
    def __init__(self, total: int | None) -> None:
        rich = optional("rich.progress", "a progress bar needs rich")
        console = optional("rich.console", "a progress bar needs rich").Console(stderr=True)
        columns = (rich.BarColumn(), rich.DownloadColumn(), rich.TransferSpeedColumn(), rich.TimeRemainingColumn())
        self._bar: Any = rich.Progress(*columns, console=console, transient=True, redirect_stdout=False)
        self._task = self._bar.add_task("", total=total)
        self._shown = False

    def show(self, done: int) -> None:
        self._bar.update(self._task, completed=done)
        if not self._shown:
            self._bar.start()
            self._shown = True

    def hide(self) -> None:
        if self._shown:
            self._bar.stop()
            self._shown = False


class _Plain:
    def __init__(self, total: int | None) -> None:
        self._total = total
        self._last_shown = 0.0
        self._width = 0

    def show(self, done: int) -> None:
        now = time.monotonic()
        if now - self._last_shown < _PLAIN_INTERVAL_SECONDS:
            return
        self._last_shown = now
        text = f"{done / 1e6:,.0f} MB"
        if self._total:
            text += f" of {self._total / 1e6:,.0f} ({min(done / self._total, 1):.0%})"
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def hide(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0
