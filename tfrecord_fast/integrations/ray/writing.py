"""A Ray dataset as TFRecord files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import pyarrow
import ray.data
from ray.data.block import Block, BlockAccessor
from ray.data.datasource import Datasink, WriteResult

from ...errors import InvalidArgumentError
from ...files.naming.compression import TFRecordOptions, as_options
from ...files.naming.keywords import checks_keywords
from ...files.rewriting.task_shards import TaskShards
from ...files.writing.output_files import WrittenFile
from ...typing import PathLike
from .tensors import as_lists, kinds_of


@checks_keywords
def write_tfrecords(
    dataset: ray.data.Dataset,
    path: PathLike,
    *,
    mode: Literal["error", "append", "overwrite"] = "error",
    compression: str | TFRecordOptions | None = None,
    storage_options: Mapping[str, Any] | None = None,
    concurrency: int | None = None,
    ray_remote_args: dict[str, Any] | None = None,
) -> list[WrittenFile]:
    """Write a dataset as Examples, one shard for each of Ray's write tasks.

    Args:
      dataset: its rows become Examples, and its columns features, as in `ExampleWriter.write` for an Arrow table.
        Tensors become lists of their values.
      path: a local folder, which all workers must reach, or a URL.
      mode: "error": FileExistsError unless the folder is empty; "append"; "overwrite": existing files are removed when
        all shards are complete.
      compression: as for ExampleWriter; None: none.
      storage_options: those of a URL's store.
      concurrency, ray_remote_args: as for Ray's own writers.

    Returns:
      Names, sizes and numbers of records of the shards, as in `_manifest.json` in the folder.

    In a local folder, the shards get their names when all tasks have succeeded. In a store, a shard appears when its
    task has succeeded, and the shards of a write that failed are deleted. A task that is retried, or runs twice, leaves
    one shard. If the driver is killed, the manifest is missing.

    Raises:
      FileExistsError: see `mode`.
      Exception: an error of a task, inside Ray's error.
    """
    sink = TFRecordDatasink(TaskShards(path, mode, as_options(compression), storage_options))
    sink.on_write_start()
    try:
        dataset.write_datasink(sink, concurrency=concurrency, ray_remote_args=ray_remote_args)
    except BaseException as error:  # Ray reports an Exception to the sink, but not an interrupt
        sink.on_write_failed(error)
        raise
    return sink.written


class TFRecordDatasink(Datasink[Any]):
    """The Datasink of `write_tfrecords`."""

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
        self.on_write_start()  # Ray has not called it if the dataset has no blocks
        kinds: dict[str, str] = {}
        for _, task_kinds in write_result.write_returns:
            _merge(kinds, task_kinds)
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


def _merge(kinds: dict[str, str], more: dict[str, str]) -> None:
    """Add the kinds of columns of more blocks. Blocks of one dataset may have different types."""
    for name, dtype in more.items():
        if kinds.setdefault(name, dtype) != dtype:
            raise InvalidArgumentError(
                f"column {name!r} has type {kinds[name]} in some blocks and {dtype} in others: cast it to one type"
            )
