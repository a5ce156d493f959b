"""Drops files from the page cache, for cold runs, and tells whether that worked; brings them there in one way, for warm
runs."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterable
from pathlib import Path

IN_MEMORY = ("tmpfs", "ramfs", "hugetlbfs")
BLOCK = 128 << 10  # of `settle`: larger ones gave other times from one reading to the next
MOST_LEFT = 0.05  # the part of a file's pages that may stay


def why_not(files: Iterable[str]) -> str | None:
    """Why these files can't be read cold, in words; None if they can, which is tried out."""
    if not hasattr(os, "posix_fadvise"):
        return "this system has no posix_fadvise"
    for path in files:
        system = file_system(path)
        if system in IN_MEMORY:
            return f"{path} lies on {system}, in memory, and on no device (--data names another folder)"
        drop([path])
        left = resident(path)
        if left is not None and left > MOST_LEFT:
            return f"{path}: {left:.0%} of it stayed in the page cache ({system or 'unknown file system'})"
    return None


def file_system(path: str) -> str:
    """Its type, by the mount that the path lies under; "" where the system does not tell."""
    try:
        lines = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return ""
    real = os.path.realpath(path)
    mounts = [
        (mount, system)
        for _, mount, system, *_ in map(str.split, lines)
        if real == mount or real.startswith(mount.rstrip("/") + "/")
    ]
    longest = max((len(mount) for mount, _ in mounts), default=0)
    return next((system for mount, system in reversed(mounts) if len(mount) == longest), "")


def drop(files: Iterable[str]) -> None:
    """Makes the system forget the pages of these files, except for those that a process has mapped."""
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)  # pages that are not written yet are not forgotten
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def settle(files: Iterable[str]) -> None:
    """Brings the files into the page cache anew, all in the same way, whatever it holds of them.

    How the pages of a file came there decides how fast they are read: those of a file that was just written lie side by
    side, and those that came back one by one, after others were in their place, were seen to take more than twice as
    long. Two runs compare the same only after this. Nothing is done where the system can't drop pages."""
    if not hasattr(os, "posix_fadvise"):
        return
    block = bytearray(BLOCK)
    files = list(files)
    kinds = {folder: file_system(folder) for folder in {os.path.dirname(path) for path in files}}
    for path in files:
        if kinds[os.path.dirname(path)] in IN_MEMORY:
            continue
        drop([path])
        with open(path, "rb", buffering=0) as file:
            while file.readinto(block):
                pass


def resident(path: str) -> float | None:
    """The part of the file's pages that are in the page cache; None where the system does not tell."""
    size = os.path.getsize(path)
    if size == 0:
        return 0.0
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    pages = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
    descriptor = os.open(path, os.O_RDONLY)
    try:
        address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    finally:
        os.close(descriptor)
    if address in (None, ctypes.c_void_p(-1).value):
        return None
    failed = libc.mincore(address, size, pages)
    libc.munmap(address, size)
    return None if failed else sum(byte & 1 for byte in pages.raw) / len(pages)


def maps(process: int, files: Iterable[str]) -> bool:
    """Return True if the process has one of the files mapped, as far as the system reports."""
    try:
        mapped = Path(f"/proc/{process}/maps").read_text()
    except OSError:
        return False
    return any(os.path.realpath(path) in mapped for path in files)


def device_bytes() -> int:
    """The bytes that devices read for this process and its children that have ended; 0 where the system does not
    tell."""
    try:
        lines = Path("/proc/self/io").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("read_bytes")), 0)
