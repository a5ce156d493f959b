"""Casts of Arrow types that features lack (times, dates, decimals) to text or integers, and casts to a schema."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from .base import Unsuitable, arrow

CASTS = ("text", "int")
_DAYS = 32  # bits of dates, and of times of day in seconds or milliseconds


def read_schema(path: str) -> Any:
    pa = arrow("pyarrow")
    try:
        if path.endswith((".parquet", ".pq")):
            return arrow("pyarrow.parquet").read_schema(path)
        with pa.memory_map(path) as file:
            return pa.ipc.open_file(file).schema
    except pa.ArrowInvalid as error:
        raise Unsuitable(f"{path}: cannot read the schema: {error}") from None


def cast_to_plain(path: str, batch: Any, how: str) -> Any:
    """Convert times, dates and decimals of a batch to text or integers; `how` is one of CASTS.

    Integers are those that Arrow stores: units since 1970 for a timestamp, the digits without the point for a decimal.
    """
    pa = arrow("pyarrow")
    fields, columns = [], []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        plain = _plain(path, field.name, column, how)
        fields.append(pa.field(field.name, plain.type, metadata=field.metadata))
        columns.append(plain)
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def _plain(path: str, name: str, column: Any, how: str) -> Any:
    pa, types = arrow("pyarrow"), arrow("pyarrow.types")
    type = column.type
    if types.is_decimal(type) and how == "int":
        digits = [None if value is None else int(value.scaleb(type.scale)) for value in column.to_pylist()]
        if any(value is not None and not -(2**63) <= value < 2**63 for value in digits):
            raise Unsuitable(f"{path}: column {name!r}: a decimal exceeds int64; use --cast text")
        return pa.array(digits, pa.int64())
    if not (types.is_temporal(type) or types.is_decimal(type)):
        return column
    if how == "text" and not types.is_duration(type):
        texts = column.cast(pa.string())
        if not _is_reversible(column, texts):
            raise Unsuitable(f"{path}: column {name!r}: a {type} is too large for text; use --cast int")
        return texts
    return column.cast(pa.int32() if type.bit_width == _DAYS else pa.int64())


def _is_reversible(column: Any, texts: Any) -> bool:
    """Return True if texts can be cast back: Arrow writes invalid times for some distant years."""
    try:
        return bool(_as_type(texts, column.type).equals(column))
    except (arrow("pyarrow").ArrowInvalid, ValueError):
        return False


def cast_to_schema(path: str, batch: Any, schema: Any) -> Any:
    pa = arrow("pyarrow")
    for name in batch.schema.names:
        if name not in schema.names:
            raise Unsuitable(f"{path}: feature {name!r} is not in the schema")
    columns = []
    for field in schema:
        if field.name not in batch.schema.names:
            columns.append(pa.nulls(batch.num_rows, field.type))
            continue
        column = batch.column(field.name)
        try:
            columns.append(_as_type(column, field.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            raise Unsuitable(f"{path}: column {field.name!r} of {column.type} as {field.type}: {error}") from None
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _as_type(column: Any, type: Any) -> Any:
    pa, types = arrow("pyarrow"), arrow("pyarrow.types")
    is_number = types.is_integer(column.type)
    if types.is_null(column.type):
        return pa.nulls(len(column), type)
    if types.is_large_binary(column.type) and not types.is_binary(type) and not types.is_large_binary(type):
        column = column.cast(pa.large_string() if not types.is_fixed_size_binary(type) else column.type)
    if types.is_decimal(type) and is_number:
        digits = column.to_pylist()
        return pa.array([None if value is None else Decimal(value).scaleb(-type.scale) for value in digits], type)
    if types.is_time(type) and not is_number:
        time = np.datetime64  # for its ISO 8601 parser
        texts = column.to_pylist()
        units = [
            None if value is None else int(time(f"1970-01-01T{value}", type.unit).astype("int64")) for value in texts
        ]
        return pa.array(units, pa.int64()).cast(pa.int32() if type.bit_width == _DAYS else pa.int64()).cast(type)
    if types.is_temporal(type) and is_number and type.bit_width == _DAYS:
        column = column.cast(pa.int32())
    if types.is_dictionary(type):
        return _as_type(column, type.value_type).dictionary_encode().cast(type)
    cast = column.cast(type)
    if not _is_same(column, cast):
        raise ValueError("a value would change")
    return cast


def _is_same(column: Any, cast: Any) -> bool:
    """Return True if casting back restores the numbers, or texts that were cast to numbers."""
    types = arrow("pyarrow.types")
    if types.is_large_list(column.type):
        column, cast = column.flatten(), cast.flatten()
    if types.is_floating(column.type):
        values, others = (array.to_numpy(zero_copy_only=False) for array in (column, cast.cast(column.type)))
        return np.array_equal(values, others, equal_nan=True)
    is_text = types.is_string(column.type) or types.is_large_string(column.type)
    if types.is_integer(column.type) or (is_text and (types.is_integer(cast.type) or types.is_boolean(cast.type))):
        return bool(cast.cast(column.type).equals(column))
    return True
