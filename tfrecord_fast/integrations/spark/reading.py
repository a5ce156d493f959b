"""What a task of Spark reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow
from pyspark.sql.datasource import DataSourceReader, EqualTo, Filter, In, InputPartition, IsNotNull, IsNull
from pyspark.sql.pandas.types import to_arrow_schema, to_arrow_type
from pyspark.sql.types import StructType

from ...errors import InvalidArgumentError
from ...files.naming.byte_range import FilePart
from ...files.reading.byte_ranges import SPLIT_BYTES, Split, plan_splits
from ...files.reading.shard_reader import ShardReader
from ...files.reading.tables import TableSource
from ...files.stores.cache import store_settings
from ...files.streams.listing import listed_parts
from .folders import FolderValues, typed
from .options import SparkOptions
from .schemas import as_spark, check_bytes, features_of

__all__ = ["TFRecordReader"]

_OF_PLANS = ("max_record_bytes", "on_corrupt")


class FilesOfTask(InputPartition):
    """A task's parts of files, with the values of their folders."""

    def __init__(self, pieces: list[tuple[Split, tuple[Any, ...]]]) -> None:
        super().__init__(None)
        self.pieces = pieces


class TFRecordReader(DataSourceReader):
    """Divides the files, on the driver, and reads parts of them in tasks."""

    def __init__(self, options: SparkOptions, schema: StructType) -> None:
        self._options, self._schema = options, schema
        settings = store_settings(options.storage)
        files = listed_parts(options.paths, settings)
        folders = FolderValues(options.paths)
        said = [dict(folders.of(file)) for file in files]
        self._names = {key for one in said for key in one}
        self._folders = StructType([one for one in schema.fields if one.name in self._names])
        self._columns = StructType([one for one in schema.fields if one.name not in self._names])
        self._by_values: dict[tuple[Any, ...], list[FilePart]] = {}
        for file, pairs in zip(files, said, strict=True):
            self._by_values.setdefault(_values_of(file, pairs, self._folders), []).append(file)
        if options.record_type == "ByteArray":
            check_bytes(self._columns)
        else:
            features_of(self._columns, options.record_type)  # says what no record can hold

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_by_values": {}}  # it goes to every task, and there may be very many files

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
        """Tasks of about `split_bytes` each, whatever the folders are."""
        options = self._options
        settings = store_settings(options.storage)
        planned = {name: options.reader[name] for name in _OF_PLANS if name in options.reader}
        share = options.split_bytes or self._share()
        tasks: list[InputPartition] = []
        pieces: list[tuple[Split, tuple[Any, ...]]] = []
        size = 0
        for values, files in self._by_values.items():
            for split in plan_splits(files, split_bytes=share, settings=settings, **planned):
                stored = sum(part.part_bytes for part in split.parts)
                if pieces and size + stored > share:
                    tasks.append(FilesOfTask(pieces))
                    pieces, size = [], 0
                pieces.append((split, values))
                size += stored
        return [*tasks, FilesOfTask(pieces)] if pieces else tasks

    def _share(self) -> int:
        """Nobody says here how many cores there are: small data make a few tasks all the same."""
        stored = sum(file.bytes for files in self._by_values.values() for file in files)
        return min(max(-(-stored // _TASKS), _SMALLEST), SPLIT_BYTES)

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        # Where filters leave no folder, Spark makes a partition of its own.
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
        parts = list(split.parts)
        if not len(self._columns):  # only the number of records is wanted
            for batch in ShardReader(parts, batch_size=_BATCH, **options):
                yield pyarrow.RecordBatch.from_arrays([pyarrow.nulls(len(batch))], [""])
            return
        if self._options.record_type == "ByteArray":
            for batch in ShardReader(parts, batch_size=_BATCH, **options):
                records = pyarrow.array(batch.tolist(), pyarrow.binary())
                yield pyarrow.RecordBatch.from_arrays([records] * len(self._columns), self._columns.names)
            return
        features = features_of(self._columns, self._options.record_type)
        yield from TableSource(parts, features, nullable=True, **options)


_BATCH = 1024
_TASKS, _SMALLEST = 16, 8 << 20  # how many tasks there are at least, and bytes of one, where nobody says it


def _values_of(file: FilePart, pairs: dict[str, str], folders: StructType) -> tuple[Any, ...]:
    """Raises errors.InvalidArgumentError: the file is in folders of other columns than others are."""
    missing = [name for name in folders.names if name not in pairs]
    if missing:
        raise InvalidArgumentError(f"{file}: it is in no folder {missing[0]}=…, as others are")
    return tuple(typed(pairs[one.name], one.dataType) for one in folders.fields)


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
