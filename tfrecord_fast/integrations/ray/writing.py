"""A Ray dataset as TFRecord files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import pyarrow
import ray.data
from ray.data.block import Block, BlockAccessor
from ray.data.datasource import Datasink, WriteResult

from ...errors import InvalidArgumentError
from ...files.naming.compression import TFRecordOptions
from ...files.rewriting.task_shards import TaskShards
from ...files.writing.output_files import WrittenFile
from ...typing import PathLike
from .tensors import as_lists, kinds_of

__all__ = ["TFRecordDatasink", "write_tfrecords"]


def write_tfrecords(
    dataset: ray.data.Dataset,
    path: PathLike,
    *,
    mode: Literal["error", "append", "overwrite"] = "error",
    options: str | TFRecordOptions | None = None,
    storage_options: Mapping[str, Any] | None = None,
    concurrency: int | None = None,
    ray_remote_args: dict[str, Any] | None = None,
) -> list[WrittenFile]:
    """Writes a dataset as Examples, one shard for each of Ray's write tasks.

    Args:
      dataset: its rows become Examples, its columns features, as `ExampleWriter.write` takes an Arrow table; tensors
        become lists of their values.
      path: a folder, local (which all workers reach) or a URL.
      mode: "error": FileExistsError unless there is nothing in it; "append"; "overwrite": what was there is removed
        when all shards are complete.
      options: as for TFRecordWriter.
      storage_options: of a URL's store.
      concurrency, ray_remote_args: as for Ray's own writers.

    Returns what was written: names, sizes and numbers of records, as `_manifest.json` in the folder has them.

    In a local folder, the shards get their names when all tasks have succeeded. In a store a shard appears when its
    task has succeeded, and those of a write that failed are deleted. A task that is tried again, or runs twice, leaves
    one shard. If the driver is killed there is no manifest.

    Raises:
      FileExistsError: see `mode`.
      Exception: whatever a task raises, inside Ray's error.
    """
    sink = TFRecordDatasink(TaskShards(path, mode, options, storage_options))
    sink.on_write_start()
    try:
        dataset.write_datasink(sink, concurrency=concurrency, ray_remote_args=ray_remote_args)
    except BaseException as error:  # Ray tells the sink of an Exception only, not of an interrupt
        sink.on_write_failed(error)
        raise
    return sink.written


class TFRecordDatasink(Datasink[Any]):
    """What `write_tfrecords` gives to Ray."""

    def __init__(self, shards: TaskShards) -> None:
        self._shards = shards
        self._has_begun = False
        self.written: list[WrittenFile] = []

    def get_name(self) -> str:
        return "TFRecord"

    def on_write_start(self, schema: object | None = None) -> None:
        if not self._has_begun:
            self._shards.begin()
            self._has_begun = True

    def write(self, blocks: Iterable[Block], ctx: Any) -> _Written:
        kinds: dict[str, str] = {}
        files = self._shards.write(ctx.task_idx, _tables(blocks, kinds))
        return files, kinds

    def on_write_complete(self, write_result: WriteResult[Any]) -> None:
        self.on_write_start()  # of a dataset without a block, Ray has not said so
        kinds: dict[str, str] = {}
        for _, found in write_result.write_returns:
            _merge(kinds, found)
        self.written = self._shards.commit(file for files, _ in write_result.write_returns for file in files)

    def on_write_failed(self, error: BaseException) -> None:
        if self._has_begun:
            self._shards.abort()


_Written = tuple[list[WrittenFile], dict[str, str]]  # the shards of a task, and the kinds of its columns


def _tables(blocks: Iterable[Block], kinds: dict[str, str]) -> Iterator[pyarrow.Table]:
    for block in blocks:
        table = BlockAccessor.for_block(block).to_arrow()
        if table.num_rows:
            table = as_lists(table)
            _merge(kinds, kinds_of(table))
            yield table


def _merge(kinds: dict[str, str], found: dict[str, str]) -> None:
    """Blocks of one dataset may differ in their types. No reader could read a feature of two kinds.

    Raises:
      errors.InvalidArgumentError: a column is of another kind than before.
    """
    for name, kind in found.items():
        if kinds.setdefault(name, kind) != kind:
            raise InvalidArgumentError(
                f"column {name!r} is of kind {kinds[name]} in some blocks and of kind {kind} in others: cast it to one"
            )
