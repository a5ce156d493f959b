"""ExampleWriter: columns in, shards out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import TracebackType
from typing import Any, NamedTuple

from .. import _core
from ..columns import as_columns
from ..encode import core_column
from ..errors import FailedPreconditionError
from .writer import TFRecordOptions

__all__ = ["ExampleWriter", "WrittenFile", "shard_paths"]


class WrittenFile(NamedTuple):
    """One file that an ExampleWriter completed: its path, its number of records, its size in bytes."""

    path: str
    records: int
    bytes: int


def shard_paths(pattern: str | os.PathLike[str], num_shards: int) -> list[str]:
    """The names of the shards.

    A pattern may hold `{shard}` and `{num_shards}`, with a format (`{shard:05d}`) or without, which stands for five
    digits. A name without them is the only shard's own; of several it gets `-00000-of-00016` before its extension.

    Raises:
      ValueError: a pattern that gives two shards one name, or no positive number of shards.

    >>> shard_paths("train.tfrecord", 2)
    ['train-00000-of-00002.tfrecord', 'train-00001-of-00002.tfrecord']
    >>> shard_paths("part-{shard:03d}", 2)
    ['part-000', 'part-001']
    """
    if num_shards < 1:
        raise ValueError(f"num_shards must be at least 1, got {num_shards}")
    name = os.fspath(pattern)
    if "{shard" not in name and "{num_shards" not in name:
        if num_shards == 1:
            return [name]
        stem, dot, extension = os.path.basename(name).partition(".")
        stem = os.path.join(os.path.dirname(name), stem)
        name = f"{_escape(stem)}-{{shard}}-of-{{num_shards}}{_escape(dot + extension)}"
    name = name.replace("{shard}", "{shard:05d}").replace("{num_shards}", "{num_shards:05d}")
    try:
        names = [name.format(shard=shard, num_shards=num_shards) for shard in range(num_shards)]
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(f"{pattern!r}: a pattern may hold {{shard}} and {{num_shards}} only ({error!r})") from None
    if len(set(names)) < num_shards:
        raise ValueError(f"{pattern!r} gives the same name to several of {num_shards} shards: it lacks {{shard}}")
    return names


def _escape(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


class ExampleWriter:
    """Writes columns as Examples to one TFRecord file or several, which appear under their names only when complete.

    Args:
      path_or_pattern: of the files; see `shard_paths` for patterns and default names. Local paths only.
      num_shards: how many files. Record i of the writer, counted over all calls, goes to shard i mod num_shards.
      options: compression: None, "", "GZIP", "ZSTD", or TFRecordOptions with no more than a compression_level.
      num_threads: that encode, compress and write; None for as many as the process may use.
      sync: fsync each file before it gets its name, and its folder after, so that files outlive a loss of power;
        without it they outlive the process, whatever ends it, which is what most training data needs.

    Files are written under hidden temporary names in the targets' folder. `close` gives them their own, in order, and
    replaces what bore them. Used as a context manager, an exception removes the temporary files instead, and so does
    `abort`; a process that is killed leaves them behind. Safe to use from several threads.

    Raises:
      OSError: a file can't be created, written or renamed (errno and filename are set); any later call raises it
        again, and no file appears.
      ValueError: unknown compression, or one that is not written in blocks.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with ExampleWriter(folder + "/train.tfrecord", num_shards=2) as writer:
    ...     writer.write({"id": [1, 2, 3], "name": ["a", "b", "c"]})
    >>> [(os.path.basename(file.path), file.records) for file in writer.close()]
    [('train-00000-of-00002.tfrecord', 2), ('train-00001-of-00002.tfrecord', 1)]
    """

    def __init__(
        self,
        path_or_pattern: str | os.PathLike[str],
        *,
        num_shards: int = 1,
        options: str | TFRecordOptions | None = None,
        num_threads: int | None = None,
        sync: bool = False,
    ) -> None:
        compression, level = _compression_of(options)
        paths = [os.fsencode(path) for path in shard_paths(path_or_pattern, num_shards)]
        self._writer = _core.ShardWriter(paths, compression, level, num_threads or 0, sync)
        self._written: list[WrittenFile] | None = None

    def write(self, columns: Any) -> None:
        """Writes one record a row; columns as in `encode_examples`. All rows are checked before the first is written.

        Raises:
          TypeError, errors.InvalidArgumentError: as `encode_examples` does; nothing was written then.
        """
        named, rows = as_columns(columns)
        self._writer.write_rows([core_column(key, column) for key, column in named], rows or 0)

    def write_example(self, example: Mapping[str, Any]) -> None:
        """Writes one record: a dict of values, lists of values or arrays. A None leaves its key out."""
        named, _ = as_columns({key: [value] for key, value in example.items()}, "example")
        self._writer.write_rows([core_column(key, column) for key, column in named], 1)

    def write_batch(self, records: Any) -> None:
        """Writes serialized records: a RecordBatch or a sequence of bytes-like objects."""
        self._writer.write_batch(records)

    def close(self) -> list[WrittenFile]:
        """Completes the files, gives them their names and tells what was written; calls after the first tell it again.

        Raises:
          errors.FailedPreconditionError: the writer was aborted.
        """
        if self._written is None:
            if self._writer.closed:
                raise FailedPreconditionError("the writer was aborted: no file was written")
            self._written = [WrittenFile(os.fsdecode(path), *counts) for path, *counts in self._writer.close()]
        return list(self._written)

    def abort(self) -> None:
        """Removes the temporary files. What was closed already stays."""
        self._writer.abort()

    @property
    def closed(self) -> bool:
        """Whether the writer was closed or aborted."""
        return self._writer.closed

    def __enter__(self) -> ExampleWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self.abort()
        elif not self._writer.closed:
            self.close()


_UNSET = -1000  # CompressionOptions::kUnset of csrc/codec/codec.h


def _compression_of(options: str | TFRecordOptions | None) -> tuple[str, int]:
    compression = TFRecordOptions.get_compression_type_string(options)
    if compression == "ZLIB":
        raise ValueError('an ExampleWriter compresses in blocks, which "ZLIB" has no form for; use "GZIP" or "ZSTD"')
    if options is None or isinstance(options, str):
        return compression, _UNSET
    level, *others = TFRecordOptions._core_options(options)
    if any(other is not None for other in others):
        raise ValueError("an ExampleWriter compresses in blocks: only compression_level can be chosen")
    return compression, _UNSET if level is None else level
