"""The number of threads to use."""

from __future__ import annotations

import os
import time

from .cgroups import cpu_quota
from .ranks import local_ranks, worker_info

__all__ = ["available_cpus", "default_threads", "thread_count"]

_KEPT_SECONDS = 1.0  # reading the files of a group takes some 100 µs

_quota: tuple[float, int | None] = (-_KEPT_SECONDS, None)  # (time of reading, quota)
_default: tuple[float, int, int] = (-_KEPT_SECONDS, 0, 1)  # (time of computing, process, default)


def available_cpus() -> int:
    """Return the number of processors for this process, as limited by CPU affinity and cgroup quota."""
    global _quota
    now = time.monotonic()
    if now - _quota[0] >= _KEPT_SECONDS:
        _quota = now, cpu_quota()
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cpus if _quota[1] is None else min(cpus, _quota[1])


def default_threads() -> int:
    """Return the default number of threads for one operation: this process' share of the processors.

    The workers of a PyTorch DataLoader share the processors, and so do the ranks that a launcher started on this host.
    """
    info = worker_info()
    return max(1, available_cpus() // ((info.num_workers if info is not None else 1) * local_ranks()))


def thread_count(num_threads: int | None) -> int:
    """Return `num_threads`, or the default for None and 0; at least 1. Fast enough to be called for each batch.

    Raises:
      ValueError: a negative number.
    """
    global _default
    if num_threads is not None and num_threads < 0:
        raise ValueError(f"`num_threads` must not be negative, got {num_threads}")
    if num_threads:
        return num_threads
    now, process = time.monotonic(), os.getpid()
    if now - _default[0] >= _KEPT_SECONDS or _default[1] != process:
        _default = now, process, default_threads()
    return _default[2]
