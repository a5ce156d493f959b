"""Conversion of records to elements: bytes, the values of a coder, dicts, rows, or Arrow batches.

The converters pickle. `type` is Beam's type hint of an element, and `records` the maximum of records to convert at a
time. Each record is an element or, without `by_record`, all records converted together are one element. All records are
parsed when `of` returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow
from apache_beam import Row
from apache_beam.coders import Coder
from apache_beam.typehints import schemas
from apache_beam.typehints.arrow_type_compatibility import beam_schema_from_arrow_schema
from apache_beam.typehints.row_type import RowTypeConstraint

from ... import _core
from ...errors import InvalidArgumentError
from ...files.reading.tables import TableSource

_ROWS = 1024


class Raw:
    """Records as bytes, or as the values of a coder."""

    records, by_record = _ROWS, True

    def __init__(self, coder: Coder | None = None) -> None:
        self._coder = coder
        self.type: Any = bytes if coder is None else _coder_type(coder)

    def of(self, records: _core.RecordBatch) -> list[Any]:
        if self._coder is None:
            return records.tolist()
        return [self._coder.decode(record) for record in records]


class Dicts:
    """Records as dicts of values by the name of the feature."""

    type: Any = dict[str, Any]
    records, by_record = _ROWS, True

    def __init__(self, table: TableSource) -> None:
        self._table = table

    def of(self, records: _core.RecordBatch) -> Iterable[Any]:
        batch = self._table.parse(records)
        names = batch.schema.names
        rows = zip(*map(_values, batch.columns), strict=True)
        return (dict(zip(names, row, strict=True)) for row in rows)  # lazily: dicts are large


class Rows:
    """Records as Beam's rows, which have a schema: plain values and lists of them."""

    records, by_record = _ROWS, True

    def __init__(self, table: TableSource) -> None:
        self._table = table
        self.type: Any = _type_of_rows(table.schema)

    def of(self, records: _core.RecordBatch) -> Iterable[Any]:
        batch = self._table.parse(records)
        names = batch.schema.names
        plain = ([v.tolist() if isinstance(v, np.ndarray) else v for v in _values(column)] for column in batch.columns)
        rows = zip(*plain, strict=True)
        return (Row(**dict(zip(names, row, strict=True))) for row in rows)


class Batches:
    """Several records as a pyarrow.RecordBatch."""

    type: Any = pyarrow.RecordBatch
    by_record = False

    def __init__(self, table: TableSource, records: int) -> None:
        self._table, self.records = table, records

    def of(self, records: _core.RecordBatch) -> list[Any]:
        return [self._table.parse(records)]


Elements = Raw | Dicts | Rows | Batches


def _type_of_rows(schema: pyarrow.Schema) -> Any:
    """Return the type of rows. Raises errors.InvalidArgumentError: rows don't support a column's type or name."""
    try:
        fields = [field.with_type(_type_in_rows(field.type)) for field in schema]
        row_fields = beam_schema_from_arrow_schema(pyarrow.schema(fields)).fields
        return RowTypeConstraint.from_fields(
            [(field.name, schemas.typing_from_runner_api(field.type)) for field in row_fields]
        )
    except ValueError as error:
        raise InvalidArgumentError(f"Beam's rows don't support a column: {error}") from None


def _type_in_rows(arrow_type: pyarrow.DataType) -> pyarrow.DataType:
    types = pyarrow.types
    if types.is_fixed_size_list(arrow_type) or types.is_list(arrow_type):
        return pyarrow.list_(_type_in_rows(arrow_type.value_type))
    if types.is_struct(arrow_type):
        raise ValueError(f"type {arrow_type}")
    if (types.is_integer(arrow_type) and arrow_type.bit_width < 32) or types.is_uint32(arrow_type):
        return pyarrow.int64()
    return pyarrow.float32() if types.is_float16(arrow_type) else arrow_type


def _coder_type(coder: Coder) -> Any:
    try:
        return coder.to_type_hint()
    except NotImplementedError:
        return Any


def _values(column: Any) -> list[Any]:
    """Return the value of each row: None, a number, bytes, an array (read-only), or a list of bytes."""
    if column.null_count:
        values = iter(_values(column.drop_null()))
        return [next(values) if valid else None for valid in column.is_valid().to_pylist()]
    if pyarrow.types.is_fixed_size_list(column.type):
        return _fixed_values(column)
    if pyarrow.types.is_list(column.type):
        return list(_list_values(column))
    if pyarrow.types.is_primitive(column.type):
        plain: list[Any] = column.to_numpy(zero_copy_only=False).tolist()
        return plain
    rows: list[Any] = column.to_pylist()
    return rows


def _fixed_values(column: Any) -> list[Any]:
    shape = [len(column)]
    while pyarrow.types.is_fixed_size_list(column.type):
        shape.append(column.type.list_size)
        column = column.flatten()
    if pyarrow.types.is_primitive(column.type):
        return list(column.to_numpy(zero_copy_only=False).reshape(shape))
    values = np.empty(len(column), object)
    values[:] = column.to_pylist()
    nested: list[Any] = values.reshape(shape).tolist()
    return nested


def _list_values(column: Any) -> Iterator[Any]:
    inner = column.flatten()
    splits = column.offsets.to_numpy()
    is_number = pyarrow.types.is_primitive(inner.type) and not inner.null_count
    values = inner.to_numpy(zero_copy_only=False) if is_number else _values(inner)
    for begin, end in pairwise((splits - splits[0]).tolist()):
        yield values[begin:end]
