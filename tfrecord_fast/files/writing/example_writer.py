"""ExampleWriter: columns in, shards out."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import warnings
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from ... import _core
from ...base.process import Origin
from ...base.threads import thread_count
from ...errors import FailedPreconditionError, InvalidArgumentError
from ...examples.encoding.columns import Nan, as_columns
from ...examples.encoding.encode import core_column, encode_example, encode_plain
from ...typing import PathLike, Records, Table
from ..naming.compression import COMPRESSION_OF, TFRecordOptions, as_options
from ..naming.keywords import checks_keywords
from ..naming.location import location_of, shown_name
from ..naming.numbers import at_least
from ..system.drafts import errors_named
from .output_files import OutputFile, WrittenFile, open_outputs, publish_all, write_manifest
from .writer import writer_text


def shard_paths(pattern: PathLike, num_shards: int) -> list[str]:
    """Return the names of the shards.

    A pattern may hold `{shard}` and `{num_shards}`, with a format (`{shard:05d}`) or without, which means five digits.
    A name without them is used unchanged for one shard; for several shards, `-00000-of-00016` is inserted before its
    extension.

    Raises:
      ValueError: two shards would have the same name, or num_shards is below 1.

    >>> shard_paths("train.tfrecord", 2)
    ['train-00000-of-00002.tfrecord', 'train-00001-of-00002.tfrecord']
    >>> shard_paths("part-{shard:03d}", 2)
    ['part-000', 'part-001']
    """
    num_shards = at_least(1, "num_shards", num_shards)
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
        raise ValueError(f"{pattern!r}: several of {num_shards} shards have the same name; add {{shard}}")
    return names


def _escape(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


class ExampleWriter:
    """Writes columns as Examples to one TFRecord file or several, which appear under their names once complete.

    Args:
      path_or_pattern: path, pattern or URL of the files; see `shard_paths` for patterns and default names.
      num_shards: number of files. Record i of the writer, counted over all calls, goes to shard i mod num_shards.
      compression: "GZIP", "ZLIB", "ZSTD", "SNAPPY" or "none", in any case, or TFRecordOptions, for a level; None: that
        of the extension, .gz, .zst or .snappy. The older spelling is `options`.
      num_threads: number of threads that encode and compress; None: as many as the process may use.
      sync: True calls fsync for each file before it is renamed, and for its folder afterwards, so that files survive a
        power failure. Otherwise they survive any end of the process, which is enough for most training data.
      overwrite: False raises FileExistsError if one of the files exists, at the latest in `close`.
      manifest: name or URL of a JSON file with the names, sizes and counts of the files, written last:
        `{"files": [{"name": …, "bytes": …, "records": …}, …]}`. A name without a folder is beside the files. A reader
        of the manifest needs no listing, and sees all the files or none.
      storage_options: credentials, an endpoint, `anon`, … for a URL's store. None: taken from the environment.

    Files are written under hidden temporary names in the target folder. `close` renames them, in order, and replaces
    existing files. A symbolic link stays, and its target is replaced; a device or a pipe is written to directly.
    `abort`, or an exception in a context manager, removes the temporary files. So does dropping the writer, or the end
    of the process, with a warning if records were written. A killed process leaves temporary files; the next writer of
    the same file on the same machine removes them. Safe to use from several threads.

    Objects behind URLs are uploaded while they are written. `close` completes the uploads once all shards are sent;
    otherwise the uploads are aborted. Each shard keeps some upload parts of 5 MiB or more in memory.

    Raises:
      OSError: a file can't be created, written or renamed (errno and filename are set). The temporary files are
        removed, and later calls raise FailedPreconditionError.
      FileExistsError: a file exists, and `overwrite` is False.
      ValueError: unknown compression, or a pattern that does not name each shard.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with ExampleWriter(folder + "/train.tfrecord", num_shards=2) as writer:
    ...     writer.write({"id": [1, 2, 3], "name": ["a", "b", "c"]})
    >>> [(os.path.basename(file.path), file.records) for file in writer.files]
    [('train-00000-of-00002.tfrecord', 2), ('train-00001-of-00002.tfrecord', 1)]
    """

    @checks_keywords
    def __init__(
        self,
        path_or_pattern: PathLike,
        *,
        num_shards: int = 1,
        compression: str | TFRecordOptions | None = None,
        num_threads: int | None = None,
        sync: bool = False,
        overwrite: bool = True,
        manifest: PathLike | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        self._lock = threading.RLock()  # guards everything below
        self._written: list[WrittenFile] | None = None
        self._shards: list[OutputFile] = []
        self._rows = 0
        self._kinds: dict[str, str] = {}  # of the columns written so far
        self._origin = Origin()
        self._num_threads = num_threads
        self._sync = sync
        self._storage_options = storage_options
        paths = shard_paths(path_or_pattern, num_shards)
        self._paths = [shown_name(path) for path in paths]
        if manifest is not None and not isinstance(manifest, str | bytes | os.PathLike):
            raise TypeError(f"manifest must be a path (str, bytes, PathLike) or URL, got {type(manifest).__name__}")
        self._manifest = None if manifest is None else _beside(os.fsdecode(manifest), paths)
        self._aborted = False  # last: from here on, `__del__` aborts
        _open.add(self)
        threads = thread_count(num_threads)
        if compression is None:
            compression = COMPRESSION_OF.get(os.path.splitext(paths[0])[1].lower())
        self._codec = TFRecordOptions.get_compression_type_string(options := as_options(compression))
        with self._cleanup():
            open_outputs(self._shards, paths, options, threads, overwrite, storage_options)
        self._drafts: dict[str | None, str] = {
            shard.opened: shard.path for shard in self._shards if shard.opened != shard.path
        }

    def write(self, columns: Table, *, nan: Nan = "missing", allow_rounding: bool = False) -> None:
        """Write one record per row; the arguments are those of `encode_examples`. All rows are checked first.

        Raises:
          TypeError, errors.InvalidArgumentError: as `encode_examples` does; then nothing was written.
        """
        named, rows = as_columns(columns, nan=nan, allow_rounding=allow_rounding)
        core_columns = [core_column(key, column) for key, column in named]
        kinds = {key: column.kind for key, column in named if column.has_values}
        self._check_process()
        with self._lock, self._cleanup(), self._named():
            self._check_open()
            self._check_kinds(kinds)
            writers = [shard.writer for shard in self._shards]
            _core.write_columns(writers, core_columns, rows or 0, self._rows, self._num_threads or 0)
            self._rows += rows or 0
            self._kinds.update(kinds)

    def _check_kinds(self, kinds: dict[str, str]) -> None:
        """Raise InvalidArgumentError for a column of another kind than before: no reader takes both."""
        for key, kind in kinds.items():
            before = self._kinds.get(key, kind)
            if kind != before:
                raise InvalidArgumentError(
                    f"column '{key}' has {kind} values, but had {before} values in an earlier write; convert it, or "
                    "choose another key"
                )

    def write_example(self, example: Mapping[str, object], *, allow_rounding: bool = False) -> None:
        """Write one record: a dict of values, lists of values or arrays. None omits the key.

        Raises:
          TypeError, errors.InvalidArgumentError: as `encode_examples` does; a float is an error if float32 changes it
            by half or more, unless `allow_rounding`.
        """
        plain = encode_plain(example, allow_rounding)
        if plain is None:
            self.write_batch(encode_example(example, allow_rounding))
            return
        self._check_process()
        with self._lock, self._cleanup(), self._named():
            self._check_open()
            self._shards[self._rows % len(self._shards)].writer.write(plain)
            self._rows += 1

    def write_batch(self, records: Records) -> None:
        """Write serialized records."""
        batch = records if isinstance(records, _core.RecordBatch) else _core.record_batch(records)
        self._check_process()
        with self._lock, self._cleanup():
            self._check_open()
            n = len(self._shards)
            for number, shard in enumerate(self._shards):
                # A slice is a view, without a copy.
                rows = batch[(number - self._rows) % n :: n] if n > 1 else batch
                if len(rows) > 0:
                    shard.write(rows)
            self._rows += len(batch)

    def close(self) -> list[WrittenFile]:
        """Complete and rename the files, and return their paths, counts and sizes. Later calls return the same.

        Raises:
          errors.FailedPreconditionError: the writer was aborted, or was created before this process was forked.
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
        """Remove the temporary files. Completed files stay."""
        if not self._origin.is_here():
            return  # the files belong to the parent process
        with self._lock:
            if self._written is None:
                self._aborted = True
                for shard in self._shards:
                    shard.discard()

    def _abort_at_exit(self) -> None:
        """Abort, unless another thread keeps writing: the interpreter must not wait for it."""
        if self._origin.is_here() and self._lock.acquire(timeout=1):
            try:
                self._drop()
            finally:
                self._lock.release()

    def _drop(self) -> None:
        """Abort, with a warning if records are lost."""
        loses_records = self._rows > 0 and not self.closed and self._origin.is_here()
        paths = [shard.path for shard in self._shards if shard.is_draft] if loses_records else []
        self.abort()
        if paths:
            others = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            warnings.warn(
                f"{shown_name(paths[0])}{others}: not closed, so nothing was written", RuntimeWarning, stacklevel=3
            )

    @property
    def files(self) -> list[WrittenFile]:
        """The paths, counts and sizes of the files, as `close` returns them; empty until the writer is closed."""
        return list(self._written or ())

    @property
    def closed(self) -> bool:
        """True if the writer was closed or aborted."""
        return self._aborted or self._written is not None

    def __repr__(self) -> str:
        return writer_text(self, self._paths, self._codec, self._rows)

    def __enter__(self) -> ExampleWriter:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *error: object) -> None:
        if error_type is not None:
            self.abort()
        elif not self.closed:
            self.close()

    def __del__(self) -> None:
        if hasattr(self, "_aborted") and not self.closed:
            self._drop()

    def _check_process(self) -> None:
        # Called before taking the lock, which a thread of the parent process may have held.
        if not self._origin.is_here():
            raise FailedPreconditionError("the writer belongs to the process that this one was forked from")

    def _check_open(self) -> None:
        if self._aborted:
            raise FailedPreconditionError("the writer was aborted: no file was written")
        if self._written is not None:
            raise FailedPreconditionError(f"Writer is closed. It wrote {self._paths[0]!r}; make another one")

    def _named(self) -> contextlib.AbstractContextManager[None]:
        """Replace temporary names in errors by those of the files."""
        return errors_named(self._drafts)

    @contextlib.contextmanager
    def _cleanup(self) -> Iterator[None]:
        """Abort after an error, since a batch may be half written, unless the caller's values were rejected.

        Values are checked before the first is written. A signal handler may raise the same types of errors at any time.
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


# Aborted at exit, while the interpreter still works; `__del__` may run too late.
_open: weakref.WeakSet[ExampleWriter] = weakref.WeakSet()


@atexit.register
def _abort_all() -> None:
    for writer in list(_open):
        with contextlib.suppress(Exception):  # continue with the other writers
            writer._abort_at_exit()


def _beside(manifest: str, paths: list[str]) -> str:
    folder, slash, _ = paths[0].rpartition("/")
    return manifest if "/" in manifest else f"{folder}{slash}{manifest}"


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
