"""ExampleWriter: columns in, shards out."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import warnings
import weakref
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

from ... import _core
from ...base.process import Origin
from ...base.threads import thread_count
from ...errors import FailedPreconditionError
from ...examples.encoding.columns import Nan, as_columns
from ...examples.encoding.encode import core_column, encode_example, encode_plain
from ...typing import PathLike, Records, Table
from ..naming.compression import TFRecordOptions
from ..naming.location import location_of, shown_name
from .output_files import Shard, WrittenFile, open_shards, publish_all, write_manifest

__all__ = ["ExampleWriter", "WrittenFile", "shard_paths"]


def shard_paths(pattern: PathLike, num_shards: int) -> list[str]:
    """The names of the shards.

    A pattern may hold `{shard}` and `{num_shards}`, with a format (`{shard:05d}`) or without, which means five digits.
    A name without them is used as it is for one shard; for several it gets `-00000-of-00016` before its extension.

    Raises:
      ValueError: a pattern that gives two shards the same name, or num_shards below 1.

    >>> shard_paths("train.tfrecord", 2)
    ['train-00000-of-00002.tfrecord', 'train-00001-of-00002.tfrecord']
    >>> shard_paths("part-{shard:03d}", 2)
    ['part-000', 'part-001']
    """
    if num_shards < 1:
        raise ValueError(f"num_shards must be at least 1, got {num_shards}")
    name = location_of(pattern).name
    if "{shard" not in name and "{num_shards" not in name:
        if num_shards == 1:
            return [name]
        stem, dot, extension = os.path.basename(name).partition(".")
        stem = os.path.join(os.path.dirname(name), stem)
        name = f"{_escape(stem)}-{{shard}}-of-{{num_shards}}{_escape(dot + extension)}"
    name = name.replace("{shard}", "{shard:05d}").replace("{num_shards}", "{num_shards:05d}")
    try:
        names = [name.format(shard=shard, num_shards=num_shards) for shard in range(num_shards)]
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise ValueError(f"{pattern!r}: a pattern may hold {{shard}} and {{num_shards}} only ({error!r})") from None
    if len(set(names)) < num_shards:
        raise ValueError(f"{pattern!r} gives the same name to several of {num_shards} shards: it lacks {{shard}}")
    return names


def _escape(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


class ExampleWriter:
    """Writes columns as Examples to one TFRecord file or several, which appear under their names only when complete.

    Args:
      path_or_pattern: of the files, local or a URL; see `shard_paths` for patterns and default names.
      num_shards: how many files. Record i of the writer, counted over all calls, goes to shard i mod num_shards.
      options: as for TFRecordWriter.
      num_threads: how many encode and compress; None for as many as the process may use.
      sync: fsync each file before it gets its name, and its folder after, so that files survive a power failure.
        Without it they survive the end of the process, however it ends, which is enough for most training data.
      overwrite: False raises FileExistsError if one of the files exists, at the latest by `close`.
      manifest: the name of a JSON file, or its URL, for the names, sizes and counts of the files, written last:
        `{"files": [{"name": …, "bytes": …, "records": …}, …]}`. A name without a folder is beside the files. A reader
        that takes it needs no listing, and sees all the files or none.
      storage_options: of a URL's store: credentials, an endpoint, `anon`. None: the environment says them.

    Files are written under hidden temporary names in the target folder. `close` renames them, in order, and replaces
    files that had those names; a symbolic link stays, and the file that it leads to is replaced; a device or a pipe is
    written to directly. In a context manager, an exception removes the temporary files instead, and so does `abort`. So
    do being dropped and the end of the process, with a warning if records were written. A process that is killed leaves
    them behind; the next writer of the same file removes them, if it runs on the same machine. Safe to use from several
    threads.

    Objects behind URLs are sent in parts while they are written, and `close` puts the parts together when it has sent
    those of all shards. In all other cases the uploads are aborted. Each shard keeps some parts of 5 MiB or more in
    memory.

    Raises:
      OSError: a file can't be created, written or renamed (errno and filename are set). The temporary files are
        removed, and later calls raise FailedPreconditionError.
      FileExistsError: see `overwrite`.
      ValueError: unknown compression, or a pattern that does not name each shard.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with ExampleWriter(folder + "/train.tfrecord", num_shards=2) as writer:
    ...     writer.write({"id": [1, 2, 3], "name": ["a", "b", "c"]})
    >>> [(os.path.basename(file.path), file.records) for file in writer.close()]
    [('train-00000-of-00002.tfrecord', 2), ('train-00001-of-00002.tfrecord', 1)]
    """

    def __init__(
        self,
        path_or_pattern: PathLike,
        *,
        num_shards: int = 1,
        options: str | TFRecordOptions | None = None,
        num_threads: int | None = None,
        sync: bool = False,
        overwrite: bool = True,
        manifest: PathLike | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        self._lock = threading.RLock()  # guards everything below
        self._written: list[WrittenFile] | None = None
        self._shards: list[Shard] = []
        self._rows = 0
        self._origin = Origin()
        self._num_threads = num_threads
        self._sync = sync
        self._storage_options = storage_options
        paths = shard_paths(path_or_pattern, num_shards)
        self._manifest = None if manifest is None else _beside(os.fsdecode(manifest), paths)
        self._aborted = False  # the last: from here on `__del__` aborts
        _open.add(self)
        threads = thread_count(num_threads)
        with self._cleanup():
            open_shards(self._shards, paths, options, threads, overwrite, storage_options)

    def write(self, columns: Table, *, nan: Nan = "missing") -> None:
        """Writes one record per row; columns and `nan` as in `encode_examples`. All rows are checked first.

        Raises:
          TypeError, errors.InvalidArgumentError: as `encode_examples` does; then nothing was written.
        """
        named, rows = as_columns(columns, nan=nan)
        taken = [core_column(key, column) for key, column in named]
        self._check_process()
        with self._lock, self._cleanup(), self._named():
            self._check_open()
            writers = [shard.writer for shard in self._shards]
            _core.write_columns(writers, taken, rows or 0, self._rows, self._num_threads or 0)
            self._rows += rows or 0

    def write_example(self, example: Mapping[str, object]) -> None:
        """Writes one record: a dict of values, lists of values or arrays. A None leaves its key out."""
        plain = encode_plain(example)
        if plain is None:
            self.write_batch(encode_example(example))
            return
        self._check_process()
        with self._lock, self._cleanup(), self._named():
            self._check_open()
            self._shards[self._rows % len(self._shards)].writer.write(plain)
            self._rows += 1

    def write_batch(self, records: Records) -> None:
        """Writes serialized records."""
        rows = records if isinstance(records, _core.RecordBatch) else _core.record_batch(records)
        self._check_process()
        with self._lock, self._cleanup():
            self._check_open()
            n = len(self._shards)
            for number, shard in enumerate(self._shards):
                # Without a copy: a slice of a batch is a view.
                part = rows[(number - self._rows) % n :: n] if n > 1 else rows
                if len(part) > 0:
                    shard.write(part)
            self._rows += len(rows)

    def close(self) -> list[WrittenFile]:
        """Completes the files, gives them their names and returns what was written; further calls return the same.

        Raises:
          errors.FailedPreconditionError: the writer was aborted, or belongs to the process that this one was forked
            from.
        """
        if self._written is None:
            self._check_process()
        with self._lock:
            if self._written is None:
                with self._cleanup():
                    self._check_open()
                    for shard in self._shards:
                        shard.complete(self._sync)
                    written = publish_all(self._shards)
                    if self._sync:
                        for folder in {shard.sync_name() for shard in self._shards} - {None}:
                            _sync_folder(str(folder))
                    if self._manifest is not None:
                        write_manifest(self._manifest, written, self._storage_options)
                    self._written = written
            return list(self._written)

    def abort(self) -> None:
        """Removes the temporary files. Files that were completed stay."""
        if not self._origin.is_here():
            return  # the files belong to the process that this one was forked from
        with self._lock:
            if self._written is None:
                self._aborted = True
                for shard in self._shards:
                    shard.discard()

    def _abort_at_exit(self) -> None:
        """Aborts, unless a thread is still writing: that one may never end, and the interpreter has to."""
        if self._origin.is_here() and self._lock.acquire(timeout=1):
            try:
                self._drop()
            finally:
                self._lock.release()

    def _drop(self) -> None:
        """As `abort`, with a warning if that loses records."""
        lost = self._rows > 0 and not self.closed and self._origin.is_here()
        paths = [shard.path for shard in self._shards if shard.is_draft] if lost else []
        self.abort()
        if paths:
            others = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            warnings.warn(
                f"{shown_name(paths[0])}{others}: not closed, so nothing was written", RuntimeWarning, stacklevel=3
            )

    @property
    def closed(self) -> bool:
        """Whether the writer was closed or aborted."""
        return self._aborted or self._written is not None

    def __enter__(self) -> ExampleWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self.abort()
        elif not self.closed:
            self.close()

    def __del__(self) -> None:
        if hasattr(self, "_aborted") and not self.closed:
            self._drop()

    def _check_process(self) -> None:
        """Before the lock, which may be held by a thread that a forked process does not have."""
        if not self._origin.is_here():
            raise FailedPreconditionError("the writer belongs to the process that this one was forked from")

    def _check_open(self) -> None:
        if self._aborted:
            raise FailedPreconditionError("the writer was aborted: no file was written")
        if self._written is not None:
            raise FailedPreconditionError("Writer is closed.")

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Errors name the files that were asked for, not the temporary ones."""
        try:
            yield
        except OSError as error:
            names = {shard.opened: shard.path for shard in self._shards}
            name = names.get(error.filename, error.filename)
            if name == error.filename:
                raise
            raise OSError(error.errno, error.strerror, name) from error

    @contextlib.contextmanager
    def _cleanup(self) -> Iterator[None]:
        """Whatever comes from outside ends the writer, since a batch may be half written, and leaves no file behind.

        What is wrong with the caller's own values is found before the first of them is written. A signal's handler may
        raise the same kinds of errors, but at any time.
        """
        try:
            yield
        except (TypeError, ValueError, FailedPreconditionError):
            if sum(shard.writer.records_written for shard in self._shards) != self._rows:
                self.abort()
            raise
        except BaseException:
            self.abort()
            raise


# While the interpreter still has all that `abort` needs; `__del__` may come after that.
_open: weakref.WeakSet[ExampleWriter] = weakref.WeakSet()


@atexit.register
def _abort_all() -> None:
    for writer in list(_open):
        with contextlib.suppress(Exception):  # the others' files go all the same
            writer._abort_at_exit()


def _beside(manifest: str, paths: list[str]) -> str:
    """The manifest's name; without a folder, it is in that of the files."""
    folder, slash, _ = paths[0].rpartition("/")
    return manifest if "/" in manifest else f"{folder}{slash}{manifest}"


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
