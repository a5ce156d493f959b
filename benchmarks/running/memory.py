"""The peak of resident memory of a process and of those that it has started; shared pages count in each."""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path

from benchmarks.contenders import peak_memory
from benchmarks.running.cputime import descendants


def peaks() -> int:
    """The peaks of this process and of its descendants that live, summed; 0 where the system does not tell."""
    return peak_memory() + sum(map(peak_memory, descendants(os.getpid())))


def forget_peaks() -> None:
    """Sets the peaks to what is held now, after garbage has gone back to the system. Where the system can't do that,
    they are over the life of each process."""
    gc.collect()
    trim()
    for process in ("self", *descendants(os.getpid())):
        try:
            Path(f"/proc/{process}/clear_refs").write_text("5")
        except OSError:
            pass


def trim() -> None:
    """Gives memory that was freed back to the system, where the C library is glibc."""
    release = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if release is not None:
        release(0)
