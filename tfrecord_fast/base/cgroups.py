"""The CPU quota of this process' control groups.

Linux lists the groups of a process in `/proc/self/cgroup`, and their folders in `/proc/self/mountinfo`. A quota also
applies to all levels below it: `cpu.max` (version 2), or `cpu.cfs_quota_us` over `cpu.cfs_period_us` (version 1).
"""

from __future__ import annotations

import math
import os
import posixpath
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["ROOT", "cpu_quota"]

ROOT = "/"


class _Mount(NamedTuple):
    """A mounted hierarchy of groups: `folder` is that of the group `root`."""

    version: int
    root: str
    folder: str


def cpu_quota(root: str | None = None) -> int | None:
    """Return the lowest quota of this process' groups, in processors, rounded up; None if there is no quota.

    Files that cannot be read or parsed set no limit.

    Args:
      root: the folder that holds /proc and /sys; by default, ROOT.
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
    """Return quota / period; None if there is no quota, as with "max" or -1."""
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
