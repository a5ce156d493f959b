"""A folder that keeps copies of objects: names, locks, room, and what proves that a copy is whole.

A copy has the name NAME.data, and NAME.info says what it is a copy of, with checksums. While it is being fetched, it is
NAME.part, and whoever fetches it has locked NAME.lock. The system takes a lock away when its process ends, however it
ends; so what is left of a killed process is a draft that nobody has locked, and is overwritten or removed. A copy
without an info, or with one that does not fit it, is none.

The order of writing: the draft and its bytes, to the disk; its name; the info, to the disk; its name. The room that
copies and drafts take is counted in `cache.bytes`, under `cache.lock`. What is counted too much (a killed process, a
copy that was replaced) is found when the room seems to be used up, and everything is counted again.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import json
import os
import re
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ... import _core
from ...base.file_stamp import FileStamp

__all__ = ["PIECE", "CacheError", "Draft", "Folder", "Lock", "NoRoomError", "Wanted"]

PIECE = 4 << 20  # bytes that have one checksum

_FORMAT = 1
_OURS = re.compile(r"([0-9a-f]{40})\.(data|info|note|part|lock)$")
_ROOM_WAIT = 30.0  # seconds; the folder is counted under the lock that is waited for


class CacheError(Exception):
    """The folder can't be used; the message says why."""


class NoRoomError(CacheError):
    """There is no room now: what others are fetching takes it."""


class Wanted(NamedTuple):
    """The object that a copy has to be of."""

    name: str  # of the copy's files
    url: str
    version: str
    size: int


@contextlib.contextmanager
def _local() -> Iterator[None]:
    """Errors of the local disk, which are never the store's."""
    try:
        yield
    except OSError as error:
        raise CacheError(error.strerror or type(error).__name__) from None


class Lock:
    """A lock on a file, held until it is released or this process ends."""

    def __init__(self, path: str, file: io.FileIO) -> None:
        self._path, self._file = path, file

    @classmethod
    def taken(cls, path: str) -> Lock | None:
        """The lock, or None if somebody has it."""
        while True:
            file = io.FileIO(path, "a", opener=_opener)  # closes itself if an exception comes in between
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                return None
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                    return cls(path, file)
            file.close()  # whoever had it has removed it: this one is nobody's

    def release(self, keep: bool = False) -> None:
        """Lets go; the file goes too, unless it is kept."""
        if not keep:
            with contextlib.suppress(OSError):
                os.unlink(self._path)
        with contextlib.suppress(OSError):
            fcntl.flock(self._file, fcntl.LOCK_UN)  # also for a child that was forked meanwhile
        self._file.close()


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)


class Draft:
    """A copy that is being written, by several threads. After `close`, late threads write nowhere."""

    def __init__(self, path: str, size: int) -> None:
        self.path = path
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        self._file: io.FileIO | None = io.FileIO(path, "x", opener=_opener)
        self._lock = threading.Lock()
        os.ftruncate(self._file.fileno(), size)

    def write(self, at: int, data: memoryview) -> None:
        """Writes all of the data.

        Raises:
          CacheError: the disk does not take it.
        """
        with self._lock, _local():
            while self._file is not None and data.nbytes:
                written = os.pwrite(self._file.fileno(), data, at)
                at, data = at + written, data[written:]

    def stamp_as(self, path: str) -> list[int]:
        """Gives it its name, when its bytes are on the disk."""
        assert self._file is not None
        os.fsync(self._file.fileno())
        os.rename(self.path, path)
        return _stamp(self._file.fileno())

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


def _stamp(descriptor: int) -> list[int]:
    """Return the stamp of an open file, as JSON has it."""
    return [*FileStamp.of(descriptor)]


class Folder:
    """The folder `directory`. It is made when it is first written to.

    Args:
      directory: its path; files in it that are not the cache's are left alone.
      max_bytes: the room for copies and drafts; None for no bound.
    """

    def __init__(self, directory: str, max_bytes: int | None) -> None:
        self.directory = directory
        self.max_bytes = max_bytes
        self._is_tidy = False

    def path(self, name: str, kind: str) -> str:
        """The path of one of a copy's files."""
        return os.path.join(self.directory, f"{name}.{kind}")

    def opened(self, wanted: Wanted) -> int | None:
        """A descriptor of the copy, if there is a good one: the caller closes it."""
        try:
            said = self._said(wanted)
            descriptor = os.open(self.path(wanted.name, "data"), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except (OSError, ValueError):
            return None
        good = False
        try:
            good = self._is_good(wanted, said, descriptor)
        except (OSError, ValueError, KeyError, TypeError):
            pass
        finally:
            if not good:
                os.close(descriptor)
        if not good:
            return None
        with contextlib.suppress(OSError):
            os.utime(self.path(wanted.name, "info"))  # used now
        return descriptor

    def lock(self, wanted: Wanted) -> Lock | None:
        """The right to fetch the object; None if somebody else has it.

        Raises:
          CacheError.
        """
        with _local():
            os.makedirs(self.directory, exist_ok=True)
            return Lock.taken(self.path(wanted.name, "lock"))

    def progress(self, wanted: Wanted) -> object:
        """Something that changes while somebody fetches the object."""
        with contextlib.suppress(OSError):
            return FileStamp.of(self.path(wanted.name, "part"))
        return None

    def draft(self, wanted: Wanted) -> Draft:
        """Makes room, and a draft that takes it; the caller has the lock.

        Raises:
          CacheError: there is no room.
        """
        path = self.path(wanted.name, "part")
        with _local():
            room = self._room()
            try:
                self._unlink(wanted.name, "part", "note", "info", "data")  # no good, or there were no need of a draft
                used = self._used_after_making_room(wanted.size)
                draft = Draft(path, wanted.size)
                self._set_used(used)
                return draft
            finally:
                room.release(keep=True)

    def _used_after_making_room(self, size: int) -> int | None:
        """Bytes that are used with so many more; None if that does not matter here."""
        if self.max_bytes is None:
            if not self._is_tidy:
                self._is_tidy = True
                self._remove_remains(self._listed())
            return None
        used = self._used()
        if used is None or used + size > self.max_bytes:
            used = self._make_room(size, self.max_bytes)
        return used + size

    def publish(self, draft: Draft, wanted: Wanted, checksums: Sequence[int]) -> None:
        """Makes the draft a copy.

        Raises:
          CacheError.
        """
        with _local():
            stamp = draft.stamp_as(self.path(wanted.name, "data"))
            self._say(wanted, checksums, stamp)

    def discard(self, draft: Draft) -> None:
        """Removes the draft."""
        draft.close()
        with contextlib.suppress(OSError):
            os.unlink(draft.path)

    def _said(self, wanted: Wanted) -> Any:
        with open(self.path(wanted.name, "info"), encoding="utf-8") as file:
            return json.load(file)

    def _is_good(self, wanted: Wanted, said: Any, descriptor: int) -> bool:
        """Whether it is a copy of what is wanted, byte for byte. The bytes are looked at only if somebody may have
        changed them."""
        stamp = _stamp(descriptor)
        of = {"format": _FORMAT, "url": wanted.url, "version": wanted.version, "size": wanted.size, "piece": PIECE}
        if {name: said[name] for name in of} != of or stamp[0] != wanted.size:
            return False
        if said["stamp"] == stamp:
            return True
        checksums = [_core.crc32c(_piece(descriptor, at, wanted.size)) for at in range(0, wanted.size, PIECE)]
        if said["crc32c"] != checksums:
            return False
        with contextlib.suppress(OSError, CacheError):
            self._remember(wanted, checksums, stamp)
        return True

    def _remember(self, wanted: Wanted, checksums: Sequence[int], stamp: list[int]) -> None:
        """So that the bytes need not be looked at again."""
        lock = self.lock(wanted)
        if lock is not None:
            try:
                self._say(wanted, checksums, stamp)
            finally:
                lock.release()

    def _say(self, wanted: Wanted, checksums: Sequence[int], stamp: list[int]) -> None:
        of = {"format": _FORMAT, "url": wanted.url, "version": wanted.version, "size": wanted.size, "piece": PIECE}
        note = self.path(wanted.name, "note")
        with open(note, "w", encoding="utf-8") as file:
            json.dump({**of, "stamp": stamp, "crc32c": list(checksums)}, file)
            file.flush()
            os.fsync(file.fileno())
        os.rename(note, self.path(wanted.name, "info"))

    def _room(self) -> Lock:
        """The lock under which room is counted."""
        end = time.monotonic() + _ROOM_WAIT
        while (lock := Lock.taken(os.path.join(self.directory, "cache.lock"))) is None:
            if time.monotonic() > end:
                raise OSError(errno.EBUSY, "another process counts its room, and does not end")
            time.sleep(0.01)
        return lock

    def _used(self) -> int | None:
        """Bytes, at least as many as there are; None if nobody knows."""
        with contextlib.suppress(OSError, ValueError), open(os.path.join(self.directory, "cache.bytes")) as file:
            used = int(file.read())
            return used if used >= 0 else None
        return None

    def _set_used(self, used: int | None) -> None:
        path = os.path.join(self.directory, "cache.bytes")
        if used is None:  # who has a bound has to count again
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            return
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            os.pwrite(descriptor, b"%020d\n" % used, 0)  # always as long
        finally:
            os.close(descriptor)

    def _make_room(self, size: int, most: int) -> int:
        """Counts everything, and removes the copies that were not used for the longest time. Bytes used after that."""
        found = self._listed()
        self._remove_remains(found)
        used = sum(kinds.get(kind, 0) for kinds in found.values() for kind in ("data", "part"))
        if used + size <= most:
            return used
        goal = most - most // 10 - size  # a little more, so as not to count again for each object
        copies = [name for name, kinds in found.items() if "data" in kinds and "lock" not in kinds]
        for name in sorted(copies, key=self._used_at):
            if used <= max(goal, 0):
                break
            if self._removed(name):
                used -= found[name]["data"]
        if used + size > most:
            raise NoRoomError("no room")
        return used

    def _listed(self) -> dict[str, dict[str, int]]:
        """The files of each copy: kind and size."""
        found: dict[str, dict[str, int]] = {}
        with os.scandir(self.directory) as entries:
            for entry in entries:
                ours = _OURS.match(entry.name)
                if ours is not None:
                    with contextlib.suppress(FileNotFoundError):
                        found.setdefault(ours[1], {})[ours[2]] = entry.stat(follow_symlinks=False).st_size
        return found

    def _remove_remains(self, found: dict[str, dict[str, int]]) -> None:
        """Removes what killed processes left, from the folder and from what was found there."""
        for name, kinds in found.items():
            if kinds.keys() == {"data", "info"}:
                continue
            lock = Lock.taken(self.path(name, "lock"))
            if lock is None:
                continue  # somebody is at it
            try:
                whole = os.path.exists(self.path(name, "data")) and os.path.exists(self.path(name, "info"))
                remains = ("part", "note") if whole else ("part", "note", "info", "data")
                self._unlink(name, *remains)
                for kind in (*remains, "lock"):
                    kinds.pop(kind, None)
            finally:
                lock.release()

    def _unlink(self, name: str, *kinds: str) -> None:
        for kind in kinds:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path(name, kind))

    def _used_at(self, name: str) -> float:
        with contextlib.suppress(OSError):
            return os.stat(self.path(name, "info")).st_mtime_ns
        return 0.0

    def _removed(self, name: str) -> bool:
        """Removes a copy, unless somebody is fetching it again."""
        lock = Lock.taken(self.path(name, "lock"))
        if lock is None:
            return False
        try:
            self._unlink(name, "info", "data")
        finally:
            lock.release()
        return True


def _piece(descriptor: int, at: int, size: int) -> bytes:
    parts, end = [], min(at + PIECE, size)
    while at < end:
        part = os.pread(descriptor, end - at, at)
        if not part:
            raise ValueError("cut")
        parts.append(part)
        at += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
