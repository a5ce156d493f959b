"""The files of an ExampleWriter: each is written where nobody sees it, and then gets its name."""

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
from ..system.temporary import Target, complete_file, targets_of
from ..system.url_writer import UrlWriter
from .writer import TFRecordWriter

__all__ = ["Shard", "WrittenFile", "open_shards", "open_unnamed", "publish_all", "write_manifest"]

_AT_ONCE = 16  # objects that are completed side by side


class WrittenFile(NamedTuple):
    """One file that an ExampleWriter completed: its path, its number of records, its size in bytes."""

    path: str
    records: int
    bytes: int


class _Closed:
    """What is still asked of a writer that is closed, without its buffers."""

    def __init__(self, records_written: int) -> None:
        self.records_written = records_written

    def close(self) -> None:
        """Nothing is left to do."""


class Shard:
    """One file. Its records go to `writer`."""

    path: str
    writer: TFRecordWriter
    is_draft: bool  # whether nothing is under its name yet
    opened: str  # what errors call the file while it is written

    def write(self, records: _core.RecordBatch) -> None:
        """Appends records."""
        self.writer.write_batch(records)

    def complete(self, sync: bool) -> None:
        """Everything has left this process, or waits to be completed; nothing is under the name."""
        raise NotImplementedError

    def release(self) -> None:
        """Frees the buffers, after `complete`."""
        self.writer = _Closed(self.writer.records_written)  # type: ignore[assignment]

    def publish(self) -> WrittenFile:
        """Gives the file its name."""
        raise NotImplementedError

    def sync_name(self) -> str | None:
        """The folder to sync after that, if there is one."""
        return None

    def discard(self) -> None:
        """Removes what was written. Does nothing after `publish`."""
        raise NotImplementedError

    def rename(self, target: Target) -> None:
        """The file is to have another name.

        Raises:
          OSError: it can't have it.
        """
        raise NotImplementedError


def open_shards(
    into: list[Shard],
    paths: Sequence[str],
    options: str | TFRecordOptions | None,
    num_threads: int,
    overwrite: bool,
    storage_options: Mapping[str, Any] | None,
) -> None:
    """Opens the files of one writer. Each is in the list as soon as it is open, so that it is removed if the next
    fails."""
    threads = -(-num_threads // len(paths))
    if location_of(paths[0]).is_url:
        for path in paths:
            into.append(_RemoteShard(path, options, threads, overwrite, storage_options, len(paths)))
        return
    if not overwrite:
        for path in paths:
            if os.path.lexists(path):
                raise FileExistsError(17, "file already exists", path)
    for target in targets_of(paths):
        into.append(_LocalShard(target, options, threads, overwrite))


def open_unnamed(into: list[Shard], beside: Target, options: str | TFRecordOptions | None, num_threads: int) -> None:
    """Opens one more local file, which `rename` is to give its name. Until then it has a hidden one, as a draft of the
    file `beside`; the next writer of that file removes it, if this process is killed."""
    draft = _core.find_target(os.fsencode(beside.path)).draft
    if draft is None:
        raise OSError(errno.EEXIST, "there is a device or a pipe of this name", beside.path)
    into.append(_LocalShard(beside._replace(draft=os.fsdecode(draft)), options, num_threads, overwrite=True))


def publish_all(shards: Sequence[Shard]) -> list[WrittenFile]:
    """Gives all files their names: in order, but objects side by side."""
    if not isinstance(shards[0], _RemoteShard) or len(shards) == 1:
        return [shard.publish() for shard in shards]
    pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="tfrecord-fast-publish")
    try:
        return list(pool.map(lambda shard: shard.publish(), shards))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def write_manifest(name: str, files: Sequence[WrittenFile], storage_options: Mapping[str, Any] | None) -> None:
    """Writes names, sizes and counts as JSON, to a file that appears when it is complete. The names are relative to its
    folder where they can be."""
    folder = name.rpartition("/")[0]
    listed = [{"name": _relative(file.path, folder), "bytes": file.bytes, "records": file.records} for file in files]
    text = json.dumps({"files": listed}, indent=1).encode() + b"\n"
    place = location_of(name)
    if place.is_url:
        out = UrlWriter(place.name, "wb", storage_options)
        out.write(text)
        out.close()
        return
    with complete_file(place.name) as draft, open(draft, "wb") as file:
        file.write(text)


def _relative(path: str, folder: str) -> str:
    """The path as it is found from a folder; as it is, if it isn't below it."""
    if folder and path.startswith(f"{folder}/"):
        return path[len(folder) + 1 :]
    if location_of(path).is_url or os.path.isabs(path):
        return path
    return os.path.relpath(path, folder or ".") if not location_of(folder).is_url else os.path.abspath(path)


class _LocalShard(Shard):
    """Written beside its final name, then renamed."""

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

    def write(self, records: _core.RecordBatch) -> None:
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
            raise OSError(errno.EEXIST, "there is a device or a pipe of this name", target.path)
        with target.named():
            if os.stat(os.path.dirname(target.final) or ".").st_dev != os.stat(self._target.written).st_dev:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), target.path)
        self._target, self.path = target._replace(draft=self._target.draft), target.path

    def discard(self) -> None:
        with contextlib.suppress(Exception):  # whatever ended the writer has been raised
            self.writer.close()
        if self.is_draft:
            self.is_draft = False
            self._target.discard()


class _RemoteShard(Shard):
    """Sent to a store in parts, of which nothing shows until they are put together."""

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
        self._out.discard()  # what the writer still has then goes nowhere
        with contextlib.suppress(Exception):
            self.writer.close()
