"""The data source "tfrecord"."""

from __future__ import annotations

from collections.abc import MutableMapping

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource
from pyspark.sql.types import BinaryType, StructField, StructType

from ...files.reading.tables import TableSource
from ...files.stores.cache import store_settings
from ...files.streams.listing import listed_parts
from .folders import FolderValues, folder_columns
from .options import options_of
from .reading import TFRecordReader
from .schemas import BYTE_ARRAY, check_written, schema_of
from .writing import TFRecordWriter


def register(spark: SparkSession) -> None:
    """Register the format of `spark.read.format("tfrecord")` and `df.write.format("tfrecord")`.

    Sets `spark.sql.python.filterPushdown.enabled` in the session, which Spark requires for data sources that take
    filters.
    """
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    spark.dataSource.register(TFRecordDataSource)


class TFRecordDataSource(DataSource):
    """`spark.read.format("tfrecord")`, after `register(spark)`.

    Options of spark-tensorflow-connector: `recordType` (Example, SequenceExample, ByteArray), `codec`. Others:
    `compression` (the same as `codec`), `partitionBy`, `inferRecords` (a number, or "all"), `splitBytes`, `verifyCrc`,
    `onCorrupt`, `maxRecordBytes`, `maxRequests`, and `storage.NAME` for options of the store of a URL.
    """

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._options = options_of(options)

    @classmethod
    def name(cls) -> str:
        return "tfrecord"

    def schema(self) -> StructType:
        """Infer the columns from some records and from names of folders."""
        options = self._options
        files = listed_parts(options.paths, store_settings(options.storage))
        folders = folder_columns(map(FolderValues(options.paths).of, files))
        if options.record_type == "ByteArray":
            return StructType([StructField(BYTE_ARRAY, BinaryType()), *folders.fields])
        source = TableSource(
            files, infer_records=options.infer_records, storage_options=options.storage, **options.reader
        )
        columns = schema_of(source.features)
        folder_names = {field.name for field in folders.fields}
        return StructType([*(field for field in columns.fields if field.name not in folder_names), *folders.fields])

    def reader(self, schema: StructType) -> TFRecordReader:
        return TFRecordReader(self._options, schema)

    def writer(self, schema: StructType, overwrite: bool) -> TFRecordWriter:
        data = StructType([field for field in schema.fields if field.name not in self._options.partition_by])
        check_written(data, self._options.record_type)
        return TFRecordWriter(self._options, schema, overwrite)
