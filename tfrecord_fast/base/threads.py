"""How many threads there are to be, and room for."""

from __future__ import annotations

import os

__all__ = ["available_cpus", "thread_count"]


def available_cpus() -> int:
    """The number of processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(num_threads: int | None) -> int:
    """As the core takes it: 0 for as many as it sees fit.

    Raises:
      ValueError: a negative number.
    """
    if num_threads is not None and num_threads < 0:
        raise ValueError(f"`num_threads` must not be negative, got {num_threads}")
    return num_threads or 0
