"""The files of an ExampleWriter: each is written under a temporary name, and then renamed."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from ... import _core
from ..naming.addresses import public_url
from ..naming.compression import TFRecordOptions
from ..naming.location import location_of
from ..system.drafts import Target, complete_file, targets_of
from ..system.url_writer import UrlWriter
from .writer import TFRecordWriter

_AT_ONCE = 16  # objects that are completed in parallel


class WrittenFile(NamedTuple):
    """One file that an ExampleWriter completed: its path, its number of records, its size in bytes."""

    path: str
    records: int
    bytes: int


class _ClosedWriter:
    def __init__(self, records_written: int) -> None:
        self.records_written = records_written

    def close(self) -> None:
        pass


class OutputFile:
    """One file, to which `writer` appends records."""

    path: str
    writer: TFRecordWriter
    is_draft: bool  # False once the file has its name
    opened: str  # the temporary name, which appears in errors

    def write(self, records: _core.RecordBatch | Sequence[bytes | str]) -> None:
        self.writer.write_batch(records)

    def complete(self, sync: bool) -> None:
        """Close the writer, before `publish`."""
        raise NotImplementedError

    def release(self) -> None:
        """Free the buffers, after `complete`."""
        self.writer = _ClosedWriter(self.writer.records_written)  # type: ignore[assignment]

    def publish(self) -> WrittenFile:
        """Give the file its name."""
        raise NotImplementedError

    def sync_name(self) -> str | None:
        """Return the folder to sync after `publish`, if any."""
        return None

    def discard(self) -> None:
        """Remove the written data. Does nothing after `publish`."""
        raise NotImplementedError

    def rename(self, target: Target) -> None:
        """Change the name that `publish` uses. Raises OSError if the file can't have that name."""
        raise NotImplementedError


def open_outputs(
    into: list[OutputFile],
    paths: Sequence[str],
    options: str | TFRecordOptions | None,
    num_threads: int,
    overwrite: bool,
    storage_options: Mapping[str, Any] | None,
) -> None:
    """Open the files of one writer. Each is appended to `into` once open, so that it is removed if the next fails."""
    threads = -(-num_threads // len(paths))
    if location_of(paths[0]).is_url:
        for path in paths:
            into.append(_RemoteFile(path, options, threads, overwrite, storage_options, len(paths)))
        return
    if not overwrite:
        for path in paths:
            if os.path.lexists(path):
                raise FileExistsError(17, "file already exists", path)
    for target in targets_of(paths):
        into.append(_LocalFile(target, options, threads, overwrite))


def open_unnamed(
    into: list[OutputFile], beside: Target, options: str | TFRecordOptions | None, num_threads: int
) -> None:
    """Open a local file under a hidden name, as a draft of the file `beside`, until `rename` sets its name.

    If this process is killed, the next writer of `beside` removes the draft.
    """
    draft = _core.find_target(os.fsencode(beside.path)).draft
    if draft is None:
        raise OSError(errno.EEXIST, "a device or a pipe has this name", beside.path)
    into.append(_LocalFile(beside._replace(draft=os.fsdecode(draft)), options, num_threads, overwrite=True))


def publish_all(shards: Sequence[OutputFile]) -> list[WrittenFile]:
    """Give all files their names: local files in order, objects in parallel."""
    if not isinstance(shards[0], _RemoteFile) or len(shards) == 1:
        return [shard.publish() for shard in shards]
    pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="tfrecord-fast-publish")
    try:
        return list(pool.map(lambda shard: shard.publish(), shards))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def write_manifest(name: str, files: Sequence[WrittenFile], storage_options: Mapping[str, Any] | None) -> None:
    """Write names (relative if possible), sizes and counts as JSON, to a file that appears once complete."""
    folder = name.rpartition("/")[0]
    listed = [{"name": _relative(file.path, folder), "bytes": file.bytes, "records": file.records} for file in files]
    text = json.dumps({"files": listed}, indent=1).encode() + b"\n"
    location = location_of(name)
    if location.is_url:
        out = UrlWriter(location.name, "wb", storage_options)
        out.write(text)
        out.close()
        return
    with complete_file(location.name) as draft, open(draft, "wb") as file:
        file.write(text)


def _relative(path: str, folder: str) -> str:
    if folder and path.startswith(f"{folder}/"):
        return path[len(folder) + 1 :]
    if location_of(path).is_url or os.path.isabs(path):
        return path
    return os.path.relpath(path, folder or ".") if not location_of(folder).is_url else os.path.abspath(path)


class _LocalFile(OutputFile):
    """A local file, written beside its final name and then renamed."""

    def __init__(
        self, target: Target, options: str | TFRecordOptions | None, num_threads: int, overwrite: bool
    ) -> None:
        self._target, self._overwrite = target, overwrite
        self.path, self.opened = target.path, target.written
        self.is_draft = target.draft is not None
        try:
            with target.named():
                self.writer = TFRecordWriter(target.written, options, num_threads=num_threads)
        except BaseException:
            target.discard()
            raise

    def write(self, records: _core.RecordBatch | Sequence[bytes | str]) -> None:
        with self._target.named():
            super().write(records)

    def complete(self, sync: bool) -> None:
        with self._target.named():
            self.writer.close()
            if sync and self.is_draft:
                with open(self._target.written, "rb") as file:
                    os.fsync(file.fileno())

    def publish(self) -> WrittenFile:
        with self._target.named():
            size = os.path.getsize(self._target.written)
        self._target.publish(self._overwrite)
        self.is_draft = False
        return WrittenFile(self.path, self.writer.records_written, size)

    def sync_name(self) -> str | None:
        return os.path.dirname(self._target.final) or "."

    def rename(self, target: Target) -> None:
        if target.draft is None:
            raise OSError(errno.EEXIST, "a device or a pipe has this name", target.path)
        with target.named():
            if os.stat(os.path.dirname(target.final) or ".").st_dev != os.stat(self._target.written).st_dev:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), target.path)
        self._target, self.path = target._replace(draft=self._target.draft), target.path

    def discard(self) -> None:
        with contextlib.suppress(Exception):  # an earlier error has been raised
            self.writer.close()
        if self.is_draft:
            self.is_draft = False
            self._target.discard()


class _RemoteFile(OutputFile):
    """An object, sent to a store in upload parts. It appears once they are combined."""

    def __init__(
        self,
        url: str,
        options: str | TFRecordOptions | None,
        num_threads: int,
        overwrite: bool,
        storage_options: Mapping[str, Any] | None,
        beside: int,
    ) -> None:
        self.path = self.opened = public_url(url)
        self.is_draft = True
        self._out = UrlWriter(url, "wb" if overwrite else "xb", storage_options, beside=beside)
        try:
            self.writer = TFRecordWriter(self._out, options, num_threads=num_threads)
        except BaseException:
            self._out.discard()
            raise

    def complete(self, sync: bool) -> None:
        self.writer.close()

    def publish(self) -> WrittenFile:
        self._out.close()
        self.is_draft = False
        return WrittenFile(self.path, self.writer.records_written, self._out.tell())

    def discard(self) -> None:
        self.is_draft = False
        self._out.discard()  # first, so that the writer's buffer is dropped
        with contextlib.suppress(Exception):
            self.writer.close()
