"""Parquet: a column per feature, which holds values, or lists of them."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from ... import _core
from ...dtypes import as_dtype
from ...examples.features import FixedLenFeature
from ...typing import Column, Columns
from .base import BEYOND_FLOAT32, ROWS, Malformed, RowSink, Source, arrow, check_names

__all__ = ["ParquetSink", "ParquetSource"]


class ParquetSource(Source):
    """Integers, booleans, floats, text and bytes, and lists of them."""

    def batches_of(self, path: str) -> Iterator[_core.RecordBatch]:
        """The records of one file."""
        with arrow("pyarrow.parquet").ParquetFile(path) as file:
            check_names(path, file.schema_arrow.names)
            for field in file.schema_arrow:
                _check_type(path, field)
            size, rows = os.path.getsize(path), max(file.metadata.num_rows, 1)
            first = 0
            for batch in file.iter_batches(batch_size=ROWS):
                _check_floats(path, first, batch)
                yield self.encode_table(batch)
                first += batch.num_rows
                self.advance(size * batch.num_rows // rows)


def _check_type(path: str, field: Any) -> None:
    types = arrow("pyarrow.types")
    inner = field.type
    for is_list in (types.is_list, types.is_large_list, types.is_fixed_size_list):
        if is_list(field.type):
            inner = field.type.value_type
    if types.is_dictionary(inner):
        inner = inner.value_type
    plain = (
        types.is_integer, types.is_boolean, types.is_floating, types.is_null, types.is_string, types.is_large_string,
        types.is_binary, types.is_large_binary, types.is_fixed_size_binary,
    )  # fmt: skip
    if not any(is_type(inner) for is_type in plain):
        raise Malformed(
            f"{path}: column {field.name!r} of type {field.type} can't be written to Examples: their features are "
            "integers, floats, text or bytes, or lists of one of these"
        )


def _check_floats(path: str, first: int, batch: Any) -> None:
    """Doubles are rounded to float32, as everywhere; those beyond its range would be infinite."""
    pa = arrow("pyarrow")
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        values = getattr(column, "values", column)  # of lists
        values = getattr(values, "dictionary", values)
        if values.type != pa.float64():
            continue
        numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
        with np.errstate(invalid="ignore"):
            beyond = np.flatnonzero(np.isfinite(numbers) & (np.abs(numbers) >= BEYOND_FLOAT32))
        if len(beyond):
            where = f" (row {first + int(beyond[0])})" if values is column else f" (rows from {first})"
            raise Malformed(f"{path}: column {name!r}: {numbers[beyond[0]]} is beyond the range of float32{where}")


class ParquetSink(RowSink):
    """A feature with at most one value in any record is a column of values, not of lists."""

    compressions = ("", "GZIP", "ZSTD", "SNAPPY")

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[None]:
        """Writes a file of this name until the end."""
        parquet = arrow("pyarrow.parquet")
        level = self.level if self.compression else None
        compression = self.compression.lower() or "snappy"
        options = {"compression": compression, "compression_level": level}
        with open(name, "wb") as raw:
            with parquet.ParquetWriter(_Counted(raw), self._schema(), **options) as self._parquet:
                yield

    def write_rows(self, records: _core.RecordBatch, columns: Columns) -> None:
        """Writes records, given what they were parsed to."""
        arrays = [self._array(key, columns[key]) for key in self.features]
        self._parquet.write_batch(arrow("pyarrow").RecordBatch.from_arrays(arrays, schema=self._schema()))

    def _schema(self) -> Any:
        pa = arrow("pyarrow")
        fields = []
        for key, feature in self.features.items():
            name = as_dtype(feature.dtype).name
            type = {"int64": pa.int64(), "float32": pa.float32()}.get(name) or pa.large_binary()
            fields.append(pa.field(key, type if key in self.single else pa.large_list(type)))
        return pa.schema(fields)

    def _array(self, key: str, column: Column) -> Any:
        pa = arrow("pyarrow")
        if isinstance(self.features[key], FixedLenFeature):
            if key in self.single:
                return _flat(column)
            rows, count = column.shape
            return pa.LargeListArray.from_arrays(np.arange(rows + 1) * count, _flat(column.reshape(-1)))
        values, splits = _flat(column.values), column.row_splits
        missing = splits[:-1] == splits[1:]
        if key in self.single:
            return values.take(pa.array(splits[:-1], mask=missing))
        return pa.LargeListArray.from_arrays(pa.array(splits), values, mask=pa.array(missing))


def _flat(values: Any) -> Any:
    pa = arrow("pyarrow")
    array = pa.array(values)
    return array if isinstance(values, np.ndarray) else array.cast(pa.large_binary())


class _Counted(io.RawIOBase):
    """A file that knows its position without asking the system, which can't say it of a pipe."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._position = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._file.write(data)
        self._position += len(data)
        return len(data)

    def tell(self) -> int:
        return self._position
