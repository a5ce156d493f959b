"""The processor time of a process, its threads, and the processes that it has started."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path


def cpu_seconds() -> float:
    """Return the CPU time of this process with all threads, of ended children, and of live descendants."""
    times = os.times()
    living = sum(map(ticks_of, descendants(os.getpid())))
    return time.process_time() + times.children_user + times.children_system + living / os.sysconf("SC_CLK_TCK")


def descendants(process: int) -> Iterator[int]:
    """The processes that live, started by this one or by one of its own; none where the system does not tell."""
    for thread in threads_of(process):
        try:
            children = [int(number) for number in Path(f"/proc/{process}/task/{thread}/children").read_text().split()]
        except OSError:
            continue
        for child in children:
            yield child
            yield from descendants(child)


def threads_of(process: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{process}/task")
    except OSError:
        return []


def ticks_of(process: int) -> int:
    """Return the CPU time of a process and its ended children, or 0 if it is gone."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15]))
