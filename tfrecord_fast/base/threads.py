"""The number of threads to use."""

from __future__ import annotations

import math
import os
import posixpath
import time
from collections.abc import Iterator
from typing import NamedTuple

from .ranks import local_ranks, worker_info

_KEPT_SECONDS = 1.0  # reading the files of a group takes some 100 µs

_quota: tuple[float, int | None] = (-_KEPT_SECONDS, None)  # (time of reading, quota)
_default: tuple[float, int, int] = (-_KEPT_SECONDS, 0, 1)  # (time of computing, process, default)


def available_cpus() -> int:
    """Return the number of processors for this process, as limited by CPU affinity and cgroup quota."""
    global _quota
    now = time.monotonic()
    if now - _quota[0] >= _KEPT_SECONDS:
        _quota = now, cpu_quota()
    cpus = schedulable_cpus()
    return cpus if _quota[1] is None else min(cpus, _quota[1])


def schedulable_cpus() -> int:
    """Return the number of processors for this process, as limited by CPU affinity alone."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_threads() -> int:
    """Return the default number of threads for one operation: this process' share of the processors.

    The workers of a PyTorch DataLoader share the processors, and so do the ranks that a launcher started on this host.
    """
    info = worker_info()
    return max(1, available_cpus() // ((info.num_workers if info is not None else 1) * local_ranks()))


def thread_count(num_threads: int | None) -> int:
    """Return `num_threads`, or the default for None and 0; at least 1. Fast enough to be called for each batch."""
    global _default
    if num_threads is not None and num_threads < 0:
        raise ValueError(f"`num_threads` must not be negative, got {num_threads}")
    if num_threads:
        return num_threads
    now, process = time.monotonic(), os.getpid()
    if now - _default[0] >= _KEPT_SECONDS or _default[1] != process:
        _default = now, process, default_threads()
    return _default[2]


ROOT = "/"


class _Mount(NamedTuple):
    """A mounted hierarchy of groups: `folder` is that of the group `root`."""

    version: int
    root: str
    folder: str


def cpu_quota(root: str | None = None) -> int | None:
    """Return the lowest quota of this process' groups, in processors, rounded up; None without a quota.

    Files that cannot be read or parsed set no limit.
    """
    root = ROOT if root is None else root
    mounts = list(_mounts(root))
    quotas = [
        quota
        for version, group in _groups(root)
        for mount in mounts
        if mount.version == version
        for folder in _folders(mount, group)
        if (quota := _QUOTA[version](_inside(root, folder))) is not None
    ]
    return max(1, math.ceil(min(quotas))) if quotas else None


def _groups(root: str) -> Iterator[tuple[int, str]]:
    """Yield the version and the name of each group that may limit this process' processors."""
    for line in _lines(_inside(root, "/proc/self/cgroup")):
        number, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if number == "0" and not controllers:
            yield 2, group
        elif "cpu" in controllers.split(","):
            yield 1, group


def _mounts(root: str) -> Iterator[_Mount]:
    for line in _lines(_inside(root, "/proc/self/mountinfo")):
        mount, _, system = line.partition(" - ")
        mount_fields, system_fields = mount.split(" "), system.split(" ")
        if len(mount_fields) < 5 or len(system_fields) < 3:
            continue
        group, folder = map(_unescaped, mount_fields[3:5])
        if system_fields[0] == "cgroup2":
            yield _Mount(2, group, folder)
        elif system_fields[0] == "cgroup" and "cpu" in system_fields[2].split(","):
            yield _Mount(1, group, folder)


def _unescaped(name: str) -> str:
    """Decode a name in mountinfo, where white space and backslashes are octal numbers."""
    for character in " \t\n\\":
        name = name.replace(f"\\{ord(character):03o}", character)
    return name


def _folders(mount: _Mount, group: str) -> Iterator[str]:
    """Yield the folders of a group and of all groups above it, as far as they are mounted."""
    inside = posixpath.relpath(group, mount.root)
    if inside.startswith(".."):
        inside = "."  # the names are from another namespace, and the group itself is mounted
    while inside not in (".", ""):
        yield posixpath.join(mount.folder, inside)
        inside = posixpath.dirname(inside)
    yield mount.folder


def _quota_v2(folder: str) -> float | None:
    fields = " ".join(_lines(f"{folder}/cpu.max")).split()
    return _ratio(fields[0], fields[1] if len(fields) > 1 else "100000") if fields else None


def _quota_v1(folder: str) -> float | None:
    return _ratio(*("".join(_lines(f"{folder}/cpu.cfs_{name}_us")) for name in ("quota", "period")))


_QUOTA = {1: _quota_v1, 2: _quota_v2}


def _ratio(quota: str, period: str) -> float | None:
    """Return quota / period; None without a quota, as with "max" or -1."""
    try:
        used, total = int(quota), int(period)
    except ValueError:
        return None
    return used / total if used > 0 and total > 0 else None


def _inside(root: str, path: str) -> str:
    return os.path.join(root, path.lstrip("/"))


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read().splitlines()
    except OSError:
        return []
