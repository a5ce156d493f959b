"""The machine, the versions, the date and the commit that a table belongs to."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import subprocess
from collections.abc import Iterable
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import TypedDict

from benchmarks.data.places import BENCHMARKS, IN_CHECKOUT, ROOT

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
    """Where a run took place. `load_average` is that of the minute before it began; `sources` and `extension` are short
    hashes of the code that is measured and of what measures it: Python files, and the compiled core."""

    date: str  # ISO 8601, UTC
    commit: str
    sources: str
    extension: str
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
        "sources": hash_of(sources()),
        "extension": hash_of(package().glob("_core*.so")),
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


def package() -> Path:
    """The folder of the package that is measured."""
    if IN_CHECKOUT:
        return ROOT / "tfrecord_fast"
    spec = importlib.util.find_spec("tfrecord_fast")
    return Path(spec.origin).parent if spec and spec.origin else ROOT / "tfrecord_fast"


def sources() -> list[Path]:
    """The package's Python files, and those of the rooms that measure; reports can be made otherwise meanwhile."""
    ours = [path for path in package().rglob("*.py") if "_bench" not in path.relative_to(package()).parts]
    rooms = [path for room in ("contenders", "data", "native", "running") for path in (BENCHMARKS / room).rglob("*.py")]
    return [*ours, *rooms]


def hash_of(files: Iterable[Path]) -> str:
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(str(path.name).encode() + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:12]


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
