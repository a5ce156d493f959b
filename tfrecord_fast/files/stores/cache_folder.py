"""A folder that keeps copies of objects: names, locks and room.

NAME.data is a complete copy. While it is being fetched it is NAME.draft, and the process that fetches it holds a lock
on NAME.lock. The system releases a lock when its process ends, so an unlocked draft was left by a killed process and is
removed. A draft is written to the disk before it is renamed.

`cache.bytes`, guarded by `cache.lock`, is the number of bytes that copies and drafts use. It may be too high after a
process was killed; the folder is counted again when it seems to be full.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import re
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

from ...base.file_stamp import FileStamp
from ...base.side_files import open_regular, read_regular

_CACHE_FILE = re.compile(r"([0-9a-f]{40})\.(data|draft|lock)$")
_COUNT_BYTES = 21  # of cache.bytes
_ROOM_WAIT = 30.0  # seconds to wait for another process to count the folder


class CacheError(Exception):
    """The folder cannot be used; the message is the reason."""


class NoRoomError(CacheError):
    """The folder is full of objects that other threads and processes are fetching."""


class ObjectCopy(NamedTuple):
    """A copy of one version of an object. `name` is unique to the object, its version and its size."""

    name: str
    size: int
    version: str


@contextlib.contextmanager
def _local_errors() -> Iterator[None]:
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
        """Take the lock; return None if it is held already."""
        while True:
            file = io.FileIO(path, "a", opener=open_regular)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                return None
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                    return cls(path, file)
            file.close()  # its last holder has removed the file, so this lock excludes no one

    def release(self, keep: bool = False) -> None:
        if not keep:
            with contextlib.suppress(OSError):
                os.unlink(self._path)
        with contextlib.suppress(OSError):
            fcntl.flock(self._file, fcntl.LOCK_UN)  # a child that was forked meanwhile has the descriptor too
        self._file.close()


class Draft:
    """A copy that is being written by several threads. After `close`, late threads write nowhere."""

    def __init__(self, path: str, size: int) -> None:
        self.path = path
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        self._file: io.FileIO | None = io.FileIO(path, "x", opener=open_regular)
        self._lock = threading.Lock()
        os.ftruncate(self._file.fileno(), size)

    def write(self, at: int, data: memoryview) -> None:
        with self._lock, _local_errors():
            while self._file is not None and data.nbytes:
                written = os.pwrite(self._file.fileno(), data, at)
                at, data = at + written, data[written:]

    def publish(self, path: str) -> None:
        """Write the bytes to the disk, then rename the file."""
        assert self._file is not None
        with _local_errors():
            os.fsync(self._file.fileno())
            os.rename(self.path, path)

    def discard(self) -> None:
        """Close the file, and remove it if it was not published."""
        self.close()
        with contextlib.suppress(OSError):
            os.unlink(self.path)

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


class Folder:
    def __init__(self, directory: str, max_bytes: int | None) -> None:
        self.directory = directory
        self.max_bytes = max_bytes
        self._is_tidy = False

    def path(self, name: str, extension: str) -> str:
        return os.path.join(self.directory, f"{name}.{extension}")

    def opened(self, copy: ObjectCopy) -> int | None:
        """Open a copy; return its descriptor, which the caller closes, or None if the copy is missing."""
        try:
            descriptor = open_regular(self.path(copy.name, "data"), os.O_RDONLY)
        except OSError:
            return None
        status = os.fstat(descriptor)
        if status.st_size != copy.size:
            os.close(descriptor)
            return None
        with contextlib.suppress(OSError):
            os.utime(descriptor, ns=(time.time_ns(), status.st_mtime_ns))  # for `_make_room`
        return descriptor

    def lock(self, copy: ObjectCopy) -> Lock | None:
        """Take the right to fetch an object; return None if another thread or process has it."""
        with _local_errors():
            os.makedirs(self.directory, exist_ok=True)
            return Lock.taken(self.path(copy.name, "lock"))

    def progress(self, copy: ObjectCopy) -> object:
        """Return a value that changes while the object is being fetched."""
        with contextlib.suppress(OSError):
            return FileStamp.of(self.path(copy.name, "draft"))
        return None

    def draft(self, copy: ObjectCopy) -> Draft:
        """Make room and create a draft; the caller holds the lock."""
        with _local_errors():
            room = self._room()
            try:
                self._unlink(copy.name, "draft", "data")
                used = self._used_with(copy.size)
                draft = Draft(self.path(copy.name, "draft"), copy.size)
                self._set_used(used)
                return draft
            finally:
                room.release(keep=True)

    def publish(self, draft: Draft, copy: ObjectCopy) -> None:
        draft.publish(self.path(copy.name, "data"))

    def _used_with(self, size: int) -> int | None:
        """Make room for `size` bytes; return the bytes used with them, or None if they are not counted."""
        if self.max_bytes is None:
            if not self._is_tidy:
                self._is_tidy = True
                self._remove_remains(self._listed())
            return None
        used = self._used()
        if used is None or used + size > self.max_bytes:
            used = self._make_room(size, self.max_bytes)
        return used + size

    def _room(self) -> Lock:
        """Take the lock that guards the count."""
        end = time.monotonic() + _ROOM_WAIT
        while (lock := Lock.taken(os.path.join(self.directory, "cache.lock"))) is None:
            if time.monotonic() > end:
                raise OSError(errno.EBUSY, "another process has locked cache.lock for too long")
            time.sleep(0.01)
        return lock

    def _used(self) -> int | None:
        with contextlib.suppress(OSError, ValueError):
            used = int(read_regular(os.path.join(self.directory, "cache.bytes"), _COUNT_BYTES))
            return used if used >= 0 else None
        return None

    def _set_used(self, used: int | None) -> None:
        path = os.path.join(self.directory, "cache.bytes")
        if used is None:  # a cache with a limit must count again
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            return
        descriptor = open_regular(path, os.O_WRONLY | os.O_CREAT)
        try:
            os.pwrite(descriptor, b"%020d\n" % used, 0)
            os.ftruncate(descriptor, _COUNT_BYTES)
        finally:
            os.close(descriptor)

    def _make_room(self, size: int, limit: int) -> int:
        """Count the folder and remove the least recently used copies; return the bytes used after that."""
        listed = self._listed()
        self._remove_remains(listed)
        used = sum(sizes.get("data", 0) + sizes.get("draft", 0) for sizes in listed.values())
        if used + size <= limit:
            return used
        goal = limit - limit // 10 - size  # make some more room, so that the next objects need no count
        copies = [name for name, sizes in listed.items() if "data" in sizes and "lock" not in sizes]
        for name in sorted(copies, key=self._last_use):
            if used <= max(goal, 0):
                break
            if self._removed(name):
                used -= listed[name]["data"]
        if used + size > limit:
            raise NoRoomError("no room")
        return used

    def _listed(self) -> dict[str, dict[str, int]]:
        listed: dict[str, dict[str, int]] = {}
        with os.scandir(self.directory) as entries:
            for entry in entries:
                match = _CACHE_FILE.match(entry.name)
                if match is not None:
                    with contextlib.suppress(FileNotFoundError):
                        listed.setdefault(match[1], {})[match[2]] = entry.stat(follow_symlinks=False).st_size
        return listed

    def _remove_remains(self, listed: dict[str, dict[str, int]]) -> None:
        """Remove the drafts and locks of killed processes, also from `listed`."""
        for name, sizes in listed.items():
            lock = Lock.taken(self.path(name, "lock")) if sizes.keys() != {"data"} else None
            if lock is None:
                continue
            try:
                self._unlink(name, "draft")
            finally:
                lock.release()
            sizes.pop("draft", None)
            sizes.pop("lock", None)

    def _unlink(self, name: str, *extensions: str) -> None:
        for extension in extensions:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path(name, extension))

    def _last_use(self, name: str) -> int:
        with contextlib.suppress(OSError):
            return os.stat(self.path(name, "data")).st_atime_ns
        return 0

    def _removed(self, name: str) -> bool:
        """Remove a copy and return True, unless it is being fetched again."""
        lock = Lock.taken(self.path(name, "lock"))
        if lock is None:
            return False
        try:
            self._unlink(name, "data")
        finally:
            lock.release()
        return True
