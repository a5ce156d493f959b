"""What a task of Spark reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow
from pyspark.sql.datasource import DataSourceReader, EqualTo, Filter, In, InputPartition, IsNotNull, IsNull
from pyspark.sql.pandas.types import to_arrow_schema, to_arrow_type
from pyspark.sql.types import StructType

from ...files.listing import listed_parts
from ...files.parts import FilePart
from ...files.shard_reader import ShardReader
from ...files.splits import Split, plan_splits
from ...files.store_options import store_settings
from ...files.tables import TableSource
from .folders import folder_values, typed
from .options import SparkOptions
from .schemas import as_spark, features_of

__all__ = ["TFRecordReader"]

_OF_PLANS = ("max_record_bytes", "on_corrupt")


class FilesOfTask(InputPartition):
    """A task's parts of files, and the values of their folders."""

    def __init__(self, split: Split, values: tuple[Any, ...]) -> None:
        super().__init__(None)
        self.split, self.values = split, values


class TFRecordReader(DataSourceReader):
    """Divides the files, on the driver, and reads parts of them in tasks."""

    def __init__(self, options: SparkOptions, schema: StructType) -> None:
        self._options, self._schema = options, schema
        settings = store_settings(options.storage)
        files = listed_parts(options.paths, settings)
        self._names = {key for file in files for key, _ in folder_values(file, options.paths)}
        self._folders = StructType([one for one in schema.fields if one.name in self._names])
        self._columns = StructType([one for one in schema.fields if one.name not in self._names])
        self._by_values: dict[tuple[Any, ...], list[FilePart]] = {}
        for file in files:
            said = dict(folder_values(file, options.paths))
            values = tuple(typed(said[one.name], one.dataType) for one in self._folders.fields)
            self._by_values.setdefault(values, []).append(file)
        if options.record_type != "ByteArray":
            features_of(self._columns, options.record_type)  # says what no record can hold

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Takes those of columns that are names of folders: other folders are not read."""
        names = [one.name for one in self._folders.fields]
        for one in filters:
            holds = _condition(one, names)
            if holds is None:
                yield one
            else:
                self._by_values = {values: files for values, files in self._by_values.items() if holds(values)}

    def partitions(self) -> list[InputPartition]:
        options = self._options
        settings = store_settings(options.storage)
        planned = {name: options.reader[name] for name in _OF_PLANS if name in options.reader}
        return [
            FilesOfTask(split, values)
            for values, files in self._by_values.items()
            for split in plan_splits(files, split_bytes=options.split_bytes, settings=settings, **planned)
        ]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        assert isinstance(partition, FilesOfTask)
        schema = to_arrow_schema(self._schema)
        where = str(partition.split)
        for batch in self._batches(partition.split):
            columns = []
            for field in self._schema.fields:
                if field.name in self._names:
                    value = partition.values[self._folders.names.index(field.name)]
                    scalar = pyarrow.scalar(value, to_arrow_type(field.dataType))
                    columns.append(pyarrow.repeat(scalar, batch.num_rows))
                else:
                    columns.append(as_spark(batch.column(field.name), field, where))
            if batch.num_rows:
                yield pyarrow.RecordBatch.from_arrays(columns, schema=schema)

    def _batches(self, split: Split) -> Iterator[pyarrow.RecordBatch]:
        options = {**self._options.reader, "num_threads": 1, "storage_options": self._options.storage}
        parts = list(split.parts)
        if self._options.record_type == "ByteArray":
            name = self._columns.names[0]
            for batch in ShardReader(parts, batch_size=_BATCH, **options):
                yield pyarrow.RecordBatch.from_arrays([pyarrow.array(batch.tolist(), pyarrow.binary())], [name])
            return
        features = features_of(self._columns, self._options.record_type)
        yield from TableSource(parts, features, nullable=True, **options)


_BATCH = 1024


def _condition(one: Filter, names: list[str]) -> Any:
    """A function of the folders' values, if the filter is of one of their columns and one of those that are known."""
    if not isinstance(one, EqualTo | In | IsNull | IsNotNull) or len(one.attribute) != 1:
        return None
    if one.attribute[0] not in names:
        return None
    place = names.index(one.attribute[0])
    if isinstance(one, IsNull):
        return lambda values: values[place] is None
    if isinstance(one, IsNotNull):
        return lambda values: values[place] is not None
    wanted = {one.value} if isinstance(one, EqualTo) else set(one.value)
    return lambda values: values[place] is not None and values[place] in wanted
