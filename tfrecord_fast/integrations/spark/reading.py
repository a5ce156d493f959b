"""Reading in Spark's tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow
from pyspark.sql.datasource import DataSourceReader, EqualTo, Filter, In, InputPartition, IsNotNull, IsNull
from pyspark.sql.pandas.types import to_arrow_schema, to_arrow_type
from pyspark.sql.types import BinaryType, StringType, StructType

from ...errors import InvalidArgumentError
from ...files.naming.file_part import FilePart
from ...files.reading.shard_reader import ShardReader
from ...files.reading.tables import TableSource
from ...files.reading.task_splits import PLAN_OPTIONS, SPLIT_BYTES, Split, plan_splits
from ...files.stores.cache import store_settings
from ...files.streams.listing import listed_parts
from .folders import FolderValues, typed
from .options import SparkOptions
from .schemas import as_spark, check_bytes, features_of

_BATCH = 1024  # records
_TASKS, _SMALLEST = 16, 8 << 20  # the minimum of tasks, and of bytes of a task, unless the user sets splitBytes


class FilesOfTask(InputPartition):
    """Byte ranges of files for one task, with the values of their folders."""

    def __init__(self, pieces: list[tuple[Split, tuple[Any, ...]]]) -> None:
        super().__init__(None)
        self.pieces = pieces


class TFRecordReader(DataSourceReader):
    """Reader that divides the files on the driver, and reads byte ranges of them in tasks."""

    def __init__(self, options: SparkOptions, schema: StructType) -> None:
        self._options, self._schema = options, schema
        settings = store_settings(options.storage)
        files = listed_parts(options.paths, settings)
        folders = FolderValues(options.paths)
        folder_values = [dict(folders.of(file)) for file in files]
        self._names = {key for values in folder_values for key in values}
        self._folders = StructType([field for field in schema.fields if field.name in self._names])
        self._columns = StructType([field for field in schema.fields if field.name not in self._names])
        self._by_values: dict[tuple[Any, ...], list[FilePart]] = {}
        for file, pairs in zip(files, folder_values, strict=True):
            self._by_values.setdefault(_values_of(file, pairs, self._folders), []).append(file)
        if options.record_type == "ByteArray":
            check_bytes(self._columns, BinaryType, StringType)
        else:
            features_of(self._columns, options.record_type)  # raises an error for types that records can't hold

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_by_values": {}}  # sent to every task, so the list of all files is left out

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Apply the filters on columns of folders, so that other folders are not read. Yield the other filters."""
        names = [field.name for field in self._folders.fields]
        for spark_filter in filters:
            holds = _condition(spark_filter, names)
            if holds is None:
                yield spark_filter
            else:
                self._by_values = {values: files for values, files in self._by_values.items() if holds(values)}

    def partitions(self) -> list[InputPartition]:
        """Return tasks of about `split_bytes` each. A task may read several folders."""
        options = self._options
        settings = store_settings(options.storage)
        plan_options = {name: options.reader[name] for name in PLAN_OPTIONS & options.reader.keys()}
        share = options.split_bytes or self._share()
        tasks: list[InputPartition] = []
        pieces: list[tuple[Split, tuple[Any, ...]]] = []
        size = 0
        for values, files in self._by_values.items():
            for split in plan_splits(files, split_bytes=share, settings=settings, **plan_options):
                stored = sum(file_part.part_bytes for file_part in split.parts)
                if pieces and size + stored > share:
                    tasks.append(FilesOfTask(pieces))
                    pieces, size = [], 0
                pieces.append((split, values))
                size += stored
        return [*tasks, FilesOfTask(pieces)] if pieces else tasks

    def _share(self) -> int:
        """Return the bytes of a task. The number of cores is not known here; small data are divided among few tasks."""
        stored = sum(file.bytes for files in self._by_values.values() for file in files)
        return min(max(-(-stored // _TASKS), _SMALLEST), SPLIT_BYTES)

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        # If filters exclude all folders, Spark passes a partition of its own.
        for split, values in partition.pieces if isinstance(partition, FilesOfTask) else []:
            yield from self._rows(split, values)

    def _rows(self, split: Split, values: tuple[Any, ...]) -> Iterator[pyarrow.RecordBatch]:
        schema = to_arrow_schema(self._schema)
        where = str(split)
        for batch in self._batches(split):
            columns = []
            for field in self._schema.fields:
                if field.name in self._names:
                    value = values[self._folders.names.index(field.name)]
                    scalar = pyarrow.scalar(value, to_arrow_type(field.dataType))
                    columns.append(pyarrow.repeat(scalar, batch.num_rows))
                else:
                    columns.append(as_spark(batch.column(field.name), field, where))
            if batch.num_rows:
                yield pyarrow.RecordBatch.from_arrays(columns, schema=schema)

    def _batches(self, split: Split) -> Iterator[pyarrow.RecordBatch]:
        options = {**self._options.reader, "num_threads": 1, "storage_options": self._options.storage}
        files = list(split.parts)
        if not len(self._columns):  # the query needs only the number of records
            for batch in ShardReader(files, batch_size=_BATCH, **options):
                yield pyarrow.RecordBatch.from_arrays([pyarrow.nulls(len(batch))], [""])
            return
        if self._options.record_type == "ByteArray":
            for batch in ShardReader(files, batch_size=_BATCH, **options):
                records = pyarrow.array(batch.tolist(), pyarrow.binary())
                yield pyarrow.RecordBatch.from_arrays([records] * len(self._columns), self._columns.names)
            return
        features = features_of(self._columns, self._options.record_type)
        yield from TableSource(files, features, nullable=True, **options)


def _values_of(file: FilePart, pairs: dict[str, str], folders: StructType) -> tuple[Any, ...]:
    """Return the values of a file's folders. Raises errors.InvalidArgumentError: a column is missing."""
    missing = [name for name in folders.names if name not in pairs]
    if missing:
        raise InvalidArgumentError(f"{file} is not in a folder {missing[0]}=…, unlike other files")
    return tuple(typed(pairs[field.name], field.dataType) for field in folders.fields)


def _condition(spark_filter: Filter, names: list[str]) -> Any:
    """Return the filter as a function of the folders' values; None if it is another kind of filter."""
    if not isinstance(spark_filter, EqualTo | In | IsNull | IsNotNull) or len(spark_filter.attribute) != 1:
        return None
    if spark_filter.attribute[0] not in names:
        return None
    index = names.index(spark_filter.attribute[0])
    if isinstance(spark_filter, IsNull):
        return lambda values: values[index] is None
    if isinstance(spark_filter, IsNotNull):
        return lambda values: values[index] is not None
    accepted = {spark_filter.value} if isinstance(spark_filter, EqualTo) else set(spark_filter.value)
    return lambda values: values[index] is not None and values[index] in accepted
