"""Writing in Spark's tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pyarrow
import pyarrow.compute
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import ArrayType, StructType

from ... import _core
from ...errors import InvalidArgumentError
from ...examples.encoding.encode import encode_sequence_examples
from ...files.rewriting.task_shards import TaskShards
from ...files.writing.output_files import WrittenFile
from .folders import folder_name
from .options import SparkOptions


class WrittenShards(WriterCommitMessage):
    def __init__(self, files: list[WrittenFile]) -> None:
        self.files = files


class TFRecordWriter(DataSourceArrowWriter):
    """Writer of shards that appear when all tasks have succeeded; see files/rewriting/task_shards.py."""

    def __init__(self, options: SparkOptions, schema: StructType, overwrite: bool) -> None:
        if len(options.paths) != 1:
            raise InvalidArgumentError(f"expected one path to write to, got {len(options.paths)}")
        missing = [name for name in options.partition_by if name not in schema.names]
        if missing:
            raise InvalidArgumentError(f"partitionBy: column {missing[0]!r} does not exist")
        if options.partition_by and not set(schema.names) - set(options.partition_by):
            raise InvalidArgumentError("partitionBy names all columns: no column is left for the records")
        self._options = options
        self._lists = [
            field.name
            for field in schema.fields
            if isinstance(field.dataType, ArrayType) and isinstance(field.dataType.elementType, ArrayType)
        ]
        mode: Literal["append", "overwrite"] = "overwrite" if overwrite else "append"
        self._shards = TaskShards(options.paths[0], mode, options.compression, options.storage)
        self._shards.begin()

    def write(self, iterator: Iterator[pyarrow.RecordBatch]) -> WriterCommitMessage:
        context = TaskContext.get()
        assert context is not None
        return WrittenShards(self._shards.write(context.partitionId(), self._tables(iterator)))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        shards = [message for message in messages if isinstance(message, WrittenShards)]
        self._shards.commit(file for written in shards for file in written.files)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        self._shards.abort()

    def _tables(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[tuple[str, Any]]:
        for batch in batches:
            table = pyarrow.Table.from_batches([batch])
            for folder, rows in self._divided(table):
                yield folder, self._records(rows)

    def _records(self, table: pyarrow.Table) -> Any:
        if self._options.record_type == "ByteArray":
            return _core.record_batch(table.column(0).to_pylist())
        if self._options.record_type == "SequenceExample":
            lists = [name for name in table.column_names if name in self._lists]
            return encode_sequence_examples(
                table.drop_columns(lists), {name: table.column(name).to_pylist() for name in lists}
            )
        return table

    def _divided(self, table: pyarrow.Table) -> Iterator[tuple[str, pyarrow.Table]]:
        """Divide the rows by the values of the `partitionBy` columns, and name their folders."""
        by = list(self._options.partition_by)
        if not by or table.num_rows == 0:
            yield "", table
            return
        keys = [pyarrow.compute.dictionary_encode(table.column(name), "encode").combine_chunks() for name in by]
        codes = list(zip(*(key.indices.to_pylist() for key in keys), strict=True))
        rows: dict[tuple[int, ...], list[int]] = {}
        for row, code in enumerate(codes):
            rows.setdefault(code, []).append(row)
        rest = table.drop_columns(by)
        for code, numbers in rows.items():
            values = [key.dictionary[index].as_py() for key, index in zip(keys, code, strict=True)]
            yield "/".join(map(folder_name, by, values)), rest.take(numbers)
