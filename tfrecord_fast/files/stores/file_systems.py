"""Stores behind fsspec's file systems (the extra `fsspec`): every scheme that obstore has not, or is not asked for."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...base.process import Origin
from ..naming.addresses import public_url
from .errors import call, changed
from .store import Buffer, ObjectInfo, Upload

__all__ = ["FileSystemStore", "FileUpload"]

_OPEN_FILES = 32
_TAGS = ("ETag", "etag", "e_tag", "content-md5", "md5Hash", "generation")
_TIMES = ("mtime", "LastModified", "last_modified", "Last-Modified", "created", "updated", "modify", "date_time")


class FileSystemStore:
    """A file system of fsspec, as `Store` says. Its keys are the file system's paths.

    A file system that fetches ranges does so side by side. Of another one, files stay open and are read in turns.
    """

    def __init__(self, system: Any, base: type[Any], outer: str = "") -> None:
        self.system = system
        self._outer = outer  # of a chained URL, what follows the first "::"
        own = getattr(type(system), "cat_file", None)
        self.fetches = bool(getattr(system, "async_impl", False)) or own is not base.cat_file
        self._open = _OpenFiles(system)

    def __repr__(self) -> str:
        return f"FileSystemStore({type(self.system).__name__})"

    def __reduce__(self) -> Any:
        raise TypeError("a store belongs to its process; its URL and its options can be pickled")

    def url(self, key: str) -> str:
        return public_url(self.system.unstrip_protocol(key) + self._outer)

    def info(self, key: str) -> ObjectInfo:
        url = self.url(key)
        found = call(url, self._fresh_info, key)
        if found.get("type") == "directory":
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), url)
        if found.get("size") is None:
            raise OSError(errno.ENOTSUP, "the store does not say how large the object is", url)
        info = self._info_of(found, url)
        self._open.forget_unless(key, info.version)
        return info

    def _fresh_info(self, key: str) -> Any:
        folder = key.rpartition("/")[0]
        for name in {key, folder}:
            self.system.invalidate_cache(name)
        return self.system.info(key)

    def _info_of(self, found: Any, url: str) -> ObjectInfo:
        return ObjectInfo(url, int(found["size"] or 0), _version_of(found))

    def read(
        self, key: str, start: int, end: int, *, version: str | None = None, timeout: float | None = None
    ) -> Buffer:
        if start >= end:
            return b""
        url = self.url(key)
        data = call(url, self._read, key, start, end, version)
        if version is not None and call(url, self._version, key) != version:
            self._open.forget(key)
            raise changed(url)
        if len(data) != end - start:
            raise ConnectionError(errno.ECONNRESET, "the store gave less than was asked for", url)
        return data

    def _read(self, key: str, start: int, end: int, version: str | None) -> Buffer:
        parts, done = [], start
        while done < end:
            if self.fetches:
                data = self.system.cat_file(key, start=done, end=end)
            else:
                data = self._open.read(key, done, end, version)
            if len(data) == 0:
                break
            done += len(data)
            parts.append(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _version(self, key: str) -> str | None:
        return _version_of(self._fresh_info(key))

    def read_head(self, key: str, most: int, *, timeout: float | None = None) -> tuple[Buffer, ObjectInfo]:
        info = self.info(key)
        return self.read(key, 0, min(most, info.size), version=info.version, timeout=timeout), info

    def pieces(
        self, key: str, start: int, end: int, *, version: str | None = None, timeout: float | None = None
    ) -> Iterator[Buffer]:
        yield self.read(key, start, end, version=version, timeout=timeout)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        yield from self._below(prefix.rpartition("/")[0], prefix)

    def _below(self, folder: str, prefix: str) -> Iterator[ObjectInfo]:
        """Folder by folder, in the order of the keys, among which a folder counts with its "/"."""
        try:
            folders, objects = self._entries(folder)
        except FileNotFoundError:
            return
        entries: Iterable[tuple[str, ObjectInfo | None]] = sorted(
            [*((name, None) for name in folders), *objects], key=lambda entry: entry[0]
        )
        for key, info in entries:
            if info is None:
                if key.startswith(prefix) or prefix.startswith(key):
                    yield from self._below(key.rstrip("/"), prefix)
            elif key.startswith(prefix):
                yield info

    def folders(self, prefix: str) -> tuple[Sequence[str], Sequence[ObjectInfo]]:
        folders, objects = self._entries(prefix.rstrip("/"))
        return sorted(folders), sorted(info for _, info in objects)

    def _entries(self, folder: str) -> tuple[Sequence[str], Sequence[tuple[str, ObjectInfo]]]:
        """Keys of folders with a "/" at their end, and objects with their keys. A file is no folder."""
        found = call(self.url(folder), self._listed, folder)
        folders = [f"{one['name'].rstrip('/')}/" for one in found if one.get("type") == "directory"]
        files = [one for one in found if one.get("type") != "directory" and one["name"].rstrip("/") != folder]
        return folders, [(one["name"], self._info_of(one, self.url(one["name"]))) for one in files]

    def _listed(self, folder: str) -> Any:
        self.system.invalidate_cache(folder)
        return self.system.ls(folder, detail=True)

    def upload(self, key: str, *, overwrite: bool = True, beside: int = 1) -> Upload:
        return FileUpload(self.system, self.url(key), key, overwrite)

    def delete(self, key: str) -> None:
        call(self.url(key), self.system.rm_file, key)

    def copy(self, source: str, target: str) -> None:
        call(self.url(source), self.system.cp_file, source, target)

    def move(self, source: str, target: str) -> None:
        call(self.url(source), self.system.mv, source, target)

    def is_folder(self, key: str) -> bool:
        return bool(call(self.url(key), self.system.isdir, key))

    def make_folder(self, key: str, *, parents: bool) -> None:
        if parents:
            call(self.url(key), self.system.makedirs, key, exist_ok=True)
        elif not self.is_folder(key):
            call(self.url(key), self.system.mkdir, key, create_parents=False)

    def delete_below(self, key: str) -> None:
        call(self.url(key), self.system.rm, key, recursive=True)

    def open(self, key: str) -> Any:
        """The file, to be read from its start on."""
        file = call(self.url(key), self.system.open, key, "rb")
        with contextlib.suppress(AttributeError):  # a file that takes no attributes keeps what it needs by itself
            file.its_system = self.system  # a dropped archive, such as zip://, closes what its files are read from
        return file


class _OpenFiles:
    """Files that stay open between ranges, the least recently used of them first to go. Each is read in turns.

    A file that was replaced may still be readable where it is open. So one is read only as the version that it was
    opened as; where the store knows no versions, it is opened again whenever somebody asks for the object anew.
    """

    def __init__(self, system: Any) -> None:
        self._system = system
        self._files: OrderedDict[str, Any] = OrderedDict()
        self._versions: dict[str, str | None] = {}  # as which they were opened
        self._turn = threading.Lock()  # guards all, and the files' positions: many file systems know one thread only

    def forget(self, key: str) -> None:
        with self._turn:
            self._close(key)

    def forget_unless(self, key: str, version: str | None) -> None:
        """Forgets the file unless it is open as this version."""
        with self._turn:
            if version is None or self._versions.get(key) != version:
                self._close(key)

    def _close(self, key: str) -> None:
        self._versions.pop(key, None)
        file = self._files.pop(key, None)
        if file is not None:
            with contextlib.suppress(Exception):  # nothing was written, and what is asked for is another file
                file.close()

    def read(self, key: str, start: int, end: int, version: str | None = None) -> bytes:
        with self._turn:
            if self._versions.get(key) != version:
                self._close(key)
            file = self._files.get(key)
            if file is None or file.closed:
                file = self._files[key] = _opened(self._system, key)
                self._versions[key] = version
            self._files.move_to_end(key)
            while len(self._files) > _OPEN_FILES:
                self._close(next(iter(self._files)))
            try:
                file.seek(start)
                data: bytes = file.read(end - start)
            except BaseException:
                self._files.pop(key, None)
                raise
            return data


def _opened(system: Any, key: str) -> Any:
    try:
        return system.open(key, "rb", cache_type="none")
    except TypeError:
        return system.open(key, "rb")


def _version_of(found: Any) -> str | None:
    """A tag, or the time of the last change and the size."""
    tag = next((found[name] for name in _TAGS if found.get(name)), None)
    if tag is not None:
        return str(tag)
    time = next((found[name] for name in _TIMES if found.get(name)), None)
    if time is None:
        return None
    # A listing may have it as a number where `info` has a datetime.
    return f"modified {time.timestamp() if hasattr(time, 'timestamp') else time}, {found.get('size')} bytes"


# What is written there shows under its name at once. Elsewhere, in object stores, it appears when it is closed.
_SHOW_PARTS = {"arrow_hdfs", "file", "ftp", "hdfs", "local", "memory", "sftp", "smb", "ssh", "webdav", "webhdfs"}


class FileUpload:
    """A file that is being written, as `Upload` says. Where parts would show, it is written under a hidden name."""

    def __init__(self, system: Any, url: str, key: str, overwrite: bool) -> None:
        self._system, self._url, self._key, self._overwrite = system, url, key, overwrite
        self._origin = Origin()
        self._done = False
        self._check_free()
        self._draft = None
        if not _SHOW_PARTS.isdisjoint(_protocols(system)):
            folder, slash, name = key.rpartition("/")
            self._draft = f"{folder}{slash}.{name}.{os.urandom(8).hex()}.tmp"
        self._file = call(url, system.open, self._draft or key, "wb")

    def _check_free(self) -> None:
        if not self._overwrite and call(self._url, self._system.exists, self._key):
            raise FileExistsError(errno.EEXIST, "the object exists already", self._url)

    def write(self, data: Buffer) -> None:
        call(self._url, self._file.write, data)

    def complete(self) -> None:
        self._check_free()
        call(self._url, self._file.close)
        if self._draft is not None:
            call(self._url, self._system.mv, self._draft, self._key)
        self._done = True

    def abort(self) -> None:
        """Of a file in the process that a fork was made from, nothing is touched."""
        if self._done:
            return
        self._done = True
        here = self._origin.is_here()
        if here:
            with contextlib.suppress(Exception):
                self._file.discard()
        with contextlib.suppress(Exception):
            self._file.closed = True  # or else the file completes itself when it is dropped
        if self._draft is not None and here:
            with contextlib.suppress(Exception):
                self._file.close()
            with contextlib.suppress(Exception):
                self._system.rm_file(self._draft)


def _protocols(system: Any) -> set[str]:
    """Those of the file system, and of the one that it stands in front of (a cache, a folder)."""
    protocol, behind = system.protocol, getattr(system, "fs", None)
    found = {protocol} if isinstance(protocol, str) else set(protocol)
    return found if behind is None or behind is system else found | _protocols(behind)
