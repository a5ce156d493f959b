"""How many processors' worth of time the control groups of this process allow it.

Linux says in `/proc/self/cgroup` which groups a process is in, and in `/proc/self/mountinfo` where their folders are. A
quota of any level holds for all levels below it: `cpu.max` (version 2), or `cpu.cfs_quota_us` over `cpu.cfs_period_us`
(version 1).
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
    """Where a hierarchy of groups is seen: the folder `place` shows the group `root`."""

    version: int
    root: str
    place: str


def cpu_quota(root: str | None = None) -> int | None:
    """The least quota of this process' groups, in processors, rounded up; None if there is none.

    What can't be read or understood sets no limit.

    Args:
      root: the folder to look for /proc and /sys in; by default, ROOT.
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
    """The version and the name of each group of this process that may limit its processors."""
    for line in _lines(_inside(root, "/proc/self/cgroup")):
        number, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if number == "0" and not controllers:
            yield 2, group
        elif "cpu" in controllers.split(","):
            yield 1, group


def _mounts(root: str) -> Iterator[_Mount]:
    for line in _lines(_inside(root, "/proc/self/mountinfo")):
        place, _, system = line.partition(" - ")
        places, systems = place.split(" "), system.split(" ")
        if len(places) < 5 or len(systems) < 3:
            continue
        shown, folder = (_plain(name) for name in places[3:5])
        if systems[0] == "cgroup2":
            yield _Mount(2, shown, folder)
        elif systems[0] == "cgroup" and "cpu" in systems[2].split(","):
            yield _Mount(1, shown, folder)


def _plain(name: str) -> str:
    """A name of mountinfo, which writes blanks and backslashes as octal numbers."""
    for character in " \t\n\\":
        name = name.replace(f"\\{ord(character):03o}", character)
    return name


def _folders(mount: _Mount, group: str) -> Iterator[str]:
    """The folders of a group and of all above it, as far as they are mounted."""
    inside = posixpath.relpath(group, mount.root)
    if inside.startswith(".."):
        inside = "."  # the names are those of another namespace; its own group is what is mounted
    while inside not in (".", ""):
        yield posixpath.join(mount.place, inside)
        inside = posixpath.dirname(inside)
    yield mount.place


def _quota_v2(folder: str) -> float | None:
    parts = " ".join(_lines(f"{folder}/cpu.max")).split()
    return _ratio(parts[0], parts[1] if len(parts) > 1 else "100000") if parts else None


def _quota_v1(folder: str) -> float | None:
    return _ratio(*("".join(_lines(f"{folder}/cpu.cfs_{name}_us")) for name in ("quota", "period")))


_QUOTA = {1: _quota_v1, 2: _quota_v2}


def _ratio(quota: str, period: str) -> float | None:
    """None if there is no quota: "max", or -1."""
    try:
        microseconds, of = int(quota), int(period)
    except ValueError:
        return None
    return microseconds / of if microseconds > 0 and of > 0 else None


def _inside(root: str, path: str) -> str:
    return os.path.join(root, path.lstrip("/"))


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read().splitlines()
    except OSError:
        return []
