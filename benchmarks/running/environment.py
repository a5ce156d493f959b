"""The machine, the versions, the date and the commit that a table belongs to."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import TypedDict

from benchmarks.data.places import IN_CHECKOUT, ROOT

INSTRUCTION_SETS = (
    "sse4_2",
    "pclmulqdq",
    "avx2",
    "bmi2",
    "avx512f",
    "avx512_vbmi2",
    "vpclmulqdq",
    "crc32",
    "pmull",
)


class Environment(TypedDict):
    """Where a run took place. `load_average` is that of the minute before it began."""

    date: str  # ISO 8601, UTC
    commit: str
    cpu: str
    cores: int | None
    instruction_sets: list[str]
    memory_bytes: int
    load_average: float
    system: str
    python: str
    numpy: str


def environment() -> Environment:
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": commit(),
        "cpu": cpu_field("model name", "CPU part"),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "instruction_sets": [x for x in INSTRUCTION_SETS if x in cpu_field("flags", "Features").split()],
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "load_average": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}, {' '.join(platform.libc_ver())}",
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
    }


def commit() -> str:
    """The commit that is checked out, followed by `+` if files differ; "" outside a checkout."""
    if not IN_CHECKOUT:
        return ""

    def git(*arguments: str) -> str:
        try:
            return subprocess.run(
                ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True
            ).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return ""

    return git("rev-parse", "--short=12", "HEAD") + ("+" if git("status", "--porcelain", "-uno") else "")


def cpu_field(*names: str) -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() in names:
            return value.strip()
    return ""
