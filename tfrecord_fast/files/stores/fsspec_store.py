"""Stores behind fsspec's file systems (the extra `fsspec`), for all schemes and options that obstore lacks."""

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
from .errors import NO_SIZE, call
from .fsspec_answers import is_http, request_of, tag_and_time
from .store import Answer, Buffer, CheckedReads, ObjectInfo, Upload, Version

_OPEN_FILES = 32


class FileSystemStore(CheckedReads):
    """A `Store` over a file system of fsspec, whose paths are the keys.

    A file system that can fetch ranges does so in parallel. The files of other file systems stay open and are read by
    one thread at a time.
    """

    def __init__(self, system: Any, base: type[Any], outer: str = "") -> None:
        self.system = system
        self._outer = outer  # the rest of a chained URL, from the first "::"
        own = getattr(type(system), "cat_file", None)
        self.fetches = bool(getattr(system, "async_impl", False)) or own is not base.cat_file
        self._open = _OpenFiles(system)
        self._ask = request_of(system)

    def __repr__(self) -> str:
        return f"FileSystemStore({type(self.system).__name__})"

    def __reduce__(self) -> Any:
        raise TypeError("a store cannot be pickled; pickle its URL and its options")

    def url(self, key: str) -> str:
        return public_url(self.system.unstrip_protocol(key) + self._outer)

    def info(self, key: str) -> ObjectInfo:
        url = self.url(key)
        details = call(url, self._details, key)
        if details.get("type") == "directory":
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), url)
        if details.get("size") is None:
            raise OSError(errno.ENOTSUP, NO_SIZE, url)
        info = self._info_of(details, url)
        self._open.forget_unless(key, info.version)
        return info

    def _details(self, key: str) -> Any:
        if self._ask is None or not is_http(self.system):
            return self._fresh_info(key)
        answer = self._ask(key, 0, 1)  # fsspec would report every status as a missing file
        size = self._fresh_info(key).get("size") if answer.size is None else answer.size  # None: of `bytes 0-0/*`
        return {"size": size, "etag": answer.tag, "mtime": answer.time}

    def _fresh_info(self, key: str) -> Any:
        for name in {key, key.rpartition("/")[0]}:
            self.system.invalidate_cache(name)
        return self.system.info(key)

    def _info_of(self, details: Any, url: str) -> ObjectInfo:
        size = int(details["size"] or 0)
        return ObjectInfo(url, size, Version.of(*tag_and_time(details), size))

    def request(self, key: str, start: int, end: int, version: str | None, streams: bool) -> Answer:
        if self._ask is not None:
            return self._ask(key, start, end)
        if version is None and start == 0:
            self._open.forget_unless(key, None)  # the name may be another file's now
        data = self._data(key, start, end, version)
        details = self._fresh_info(key)  # after the bytes, which are of this version or of an older one
        size, stamp = details.get("size"), tag_and_time(details)
        if version is not None:
            self._open.forget_unless(key, self._info_of(details, key).version)
        if len(data) == size:  # also where the range was ignored
            return Answer(0, size, size, *stamp, [data])
        if len(data) != end - start and not (size is not None and size < end):
            text = f"the store returned {len(data)} bytes instead of {end - start}"
            raise ConnectionError(errno.ECONNRESET, text, self.url(key))
        return Answer(start, end, size, *stamp, [data])

    def _data(self, key: str, start: int, end: int, version: str | None) -> Buffer:
        if self.fetches:
            return self.system.cat_file(key, start=start, end=end)
        pieces, done = [], start
        while done < end and (data := self._open.read(key, done, end, version)):
            done += len(data)
            pieces.append(data)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        yield from self._below(prefix.rpartition("/")[0], prefix)

    def _below(self, folder: str, prefix: str) -> Iterator[ObjectInfo]:
        """Yield objects folder by folder, in the order of their keys; a folder's key ends in "/"."""
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
        """Return the keys of folders, which end in "/", and the objects with their keys."""
        entries = call(self.url(folder), self._listed, folder)
        folders = [f"{entry['name'].rstrip('/')}/" for entry in entries if entry.get("type") == "directory"]
        files = [
            (entry["name"], self._info_of(entry, self.url(entry["name"])))
            for entry in entries
            if entry.get("type") != "directory" and entry["name"].rstrip("/") != folder  # the listing of a file
        ]
        return folders, files

    def _listed(self, folder: str) -> Any:
        self.system.invalidate_cache(folder)
        return self.system.ls(folder, detail=True)

    def upload(self, key: str, *, overwrite: bool = True, beside: int = 1) -> Upload:
        return FileUpload(self.system, self.url(key), key, overwrite)

    def delete(self, key: str) -> None:
        call(self.url(key), self.system.rm_file, key)

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
        file = call(self.url(key), self.system.open, key, "rb")
        with contextlib.suppress(AttributeError):
            file.its_system = self.system  # an archive, such as zip://, closes its files when it is dropped
        return file


class _OpenFiles:
    """Files that stay open between ranges, up to a limit; the least recently used file is closed first.

    An open file may still have the content of a replaced object, so it is read only as the version that it was opened
    as. Without versions, it is opened again after each request for the object's size.
    """

    def __init__(self, system: Any) -> None:
        self._system = system
        self._files: OrderedDict[str, Any] = OrderedDict()
        self._versions: dict[str, str | None] = {}
        # Guards everything, also the positions of the files: many file systems are not thread-safe.
        self._turn = threading.Lock()

    def forget_unless(self, key: str, version: str | None) -> None:
        with self._turn:
            if version is None or self._versions.get(key) != version:
                self._close(key)

    def _close(self, key: str) -> None:
        self._versions.pop(key, None)
        file = self._files.pop(key, None)
        if file is not None:
            with contextlib.suppress(Exception):
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


# Protocols whose files appear when they are opened. In object stores, they appear when they are closed.
_SHOW_INCOMPLETE_FILES = set("arrow_hdfs file ftp hdfs local memory sftp smb ssh webdav webhdfs".split())


class FileUpload:
    """An `Upload` to a file. Where an incomplete file would appear, it is written under a hidden name first."""

    def __init__(self, system: Any, url: str, key: str, overwrite: bool) -> None:
        self._system, self._url, self._key, self._overwrite = system, url, key, overwrite
        self._origin = Origin()
        self._done = False
        self._check_free()
        self._draft = None
        if not _SHOW_INCOMPLETE_FILES.isdisjoint(_protocols(system)):
            folder, slash, name = key.rpartition("/")
            self._draft = f"{folder}{slash}.{name}.{os.urandom(8).hex()}.tmp"
        self._file = call(url, system.open, self._draft or key, "wb")

    def _check_free(self) -> None:
        if not self._overwrite and call(self._url, self._system.exists, self._key):
            raise FileExistsError(errno.EEXIST, "the object already exists", self._url)

    def write(self, data: Buffer) -> None:
        call(self._url, self._file.write, data)

    def complete(self) -> None:
        self._check_free()
        call(self._url, self._file.close)
        if self._draft is not None:
            call(self._url, self._system.mv, self._draft, self._key)
        self._done = True

    def abort(self) -> None:
        if self._done:
            return
        self._done = True
        here = self._origin.is_here()  # a forked process leaves its parent's file alone
        if here:
            with contextlib.suppress(Exception):
                self._file.discard()
        with contextlib.suppress(Exception):
            self._file.closed = True  # otherwise the file is completed when it is dropped
        if self._draft is not None and here:
            with contextlib.suppress(Exception):
                self._file.close()
            with contextlib.suppress(Exception):
                self._system.rm_file(self._draft)


def _protocols(system: Any) -> set[str]:
    """Return the protocols of a file system, and of the one behind it if it is a cache or a folder."""
    protocol, behind = system.protocol, getattr(system, "fs", None)
    protocols = {protocol} if isinstance(protocol, str) else set(protocol)
    return protocols if behind is None or behind is system else protocols | _protocols(behind)
