"""Progress on standard error: a bar on a terminal, else a line for each table that is finished."""

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
        self.start = self.table_start = time.monotonic()
        self.shown = sys.stderr.isatty()

    def next(self, table: str) -> None:
        self.done += 1
        self.table = table
        self.table_start = time.monotonic()
        self.tell("")

    def finished(self) -> None:
        if not self.shown:
            elapsed = time.monotonic() - self.table_start
            print(f"{self.done + 1}/{self.total} {self.table}: {elapsed:.0f} s", file=sys.stderr, flush=True)

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
