"""Noticing a fork: the child has its parent's memory, but none of its threads, and does not own its files."""

from __future__ import annotations

import os

__all__ = ["Origin"]


class Origin:
    """The process that something was made in."""

    __slots__ = ("_process",)

    def __init__(self) -> None:
        self._process = os.getpid()

    def is_here(self) -> bool:
        """Whether this is still that process, and not one that was forked from it."""
        return self._process == os.getpid()
