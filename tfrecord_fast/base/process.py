"""Detection of forks: a child has its parent's memory, but not its threads, and does not own its files."""

from __future__ import annotations

import os


class Origin:
    __slots__ = ("_process",)

    def __init__(self) -> None:
        self._process = os.getpid()

    def is_here(self) -> bool:
        """Return True in that process, False in one that was forked from it."""
        return self._process == os.getpid()
