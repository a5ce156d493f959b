"""A progress line on the terminal; nothing if standard error is not a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType


class Progress:
    """Counts tables; `tell` shows what is going on in the current one."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = -1
        self.table = ""
        self.start = time.monotonic()
        self.shown = sys.stderr.isatty()

    def next(self, table: str) -> None:
        self.done += 1
        self.table = table
        self.tell("")

    def tell(self, text: str) -> None:
        if self.shown:
            elapsed = time.monotonic() - self.start
            filled = 20 * max(self.done, 0) // max(self.total, 1)
            bar = "█" * filled + "░" * (20 - filled)
            what = " · ".join(filter(None, [self.table, text]))
            sys.stderr.write(f"\r\x1b[K{bar} {self.done + 1}/{self.total} {elapsed:4.0f} s  {what}"[:110])
            sys.stderr.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
